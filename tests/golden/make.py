"""Made the golden files of format 1, with the code of commit 1b369ad, before anything was renamed.

Kept to show what is in them; it does not run with later code, whose names differ. For the next
format number write a new one (see "When the format changes" on the page of model files):
``python tests/golden/make.py tests/golden/format1``.
"""

# mypy: ignore-errors

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

KEY = "the golden passphrase of 2026"


def _vectors(n_people: int, m: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(n_people), m)
    X = 3 * rng.standard_normal((n_people, d))[people] + rng.standard_normal((n_people * m, d))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).round(5), people


def make_models() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Name of the file -> fitted model and the inputs of its calls."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression
    from sklearn.mixture import GaussianMixture
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import LabelBinarizer, MinMaxScaler, Normalizer, StandardScaler
    from sklearn.svm import SVC, LinearSVC

    from mien import subspace
    from mien.committee import Committee, RandomSamplingLDA
    from mien.datasets import make_faces
    from mien.evaluation import LogisticCalibration
    from mien.features import GridLBP, LandmarkLBP, PairedDescriptors, PixelFeatures
    from mien.kernelmaps import Fastfood, RandomKitchenSinks
    from mien.multiview import (
        BagClassifier,
        BagEncoder,
        FisherVector,
        MixturePCCA,
        MultiViewSuperVector,
    )
    from mien.recognition import FaceVerifier
    from mien.reconstruction import FaceHallucinator
    from mien.sparse import KSVD, WeightedKSVD
    from mien.verification import (
        CalibratedVerifier,
        JointBayesian,
        JointBayesianStatistics,
        OpenSetVerifier,
        TransferJointBayesian,
    )

    rng = np.random.default_rng(0)
    X, people = _vectors(12, 4, 10, 1)
    names = np.asarray([f"person {i}" for i in people])
    probe = {"X": X[::5]}
    models: dict[str, tuple[Any, dict[str, Any]]] = {}

    for cls in (subspace.Eigenfaces, subspace.Fisherfaces, subspace.RelevantComponents):
        models[cls.__name__] = cls(4).fit(X, names), probe
    wide = rng.normal(size=(12, 30)).round(4)
    few = np.repeat(np.asarray(["a", "b", "c", "d"]), 3)
    for cls in (subspace.NullSpaceLDA, subspace.NullSpaceProjection):
        models[cls.__name__] = cls().fit(wide, few), {"X": wide[::5]}
    for cls in (subspace.KernelNullSpaceProjection, subspace.KernelRelevantComponents):
        models[cls.__name__] = cls(3, sigma="median").fit(X, people), probe
    models["ClassDependenceFeatures"] = subspace.ClassDependenceFeatures().fit(X, names), probe
    models["NearestNeighbourIdentifier"] = (
        subspace.NearestNeighbourIdentifier().fit(X, names),
        probe,
    )
    models["ConstrainedClustering"] = subspace.ConstrainedClustering(4).fit(X), {}
    models["GroupStatistics"] = subspace.GroupStatistics(10).update(X, people), {}

    many, who = _vectors(160, 6, 6, 2)
    model = JointBayesian(features="golden vectors").fit(many[:480], who[:480])
    scored = {"X": many[::11][:12]}
    models["JointBayesian"] = model, scored
    models["JointBayesianStatistics"] = JointBayesianStatistics().update(X, names), {"X": X[::5]}
    transfer = TransferJointBayesian(model, strength=10.0).fit(many[480:], who[480:])
    models["TransferJointBayesian"] = transfer, scored
    models["CalibratedVerifier"] = (
        CalibratedVerifier(model, far=0.01, random_state=0).fit(many[480:], who[480:]),
        scored,
    )
    verifier = OpenSetVerifier(model, sizes=(1, 2, 3), random_state=0).fit(many[480:], who[480:])
    models["OpenSetVerifier"] = verifier, scored
    card = {"people": 160, "pictures": 960, "limits": ["drawn"]}
    models["FaceVerifier"] = FaceVerifier(verifier, "sface", card), scored
    moved = OpenSetVerifier(transfer, sizes=(1, 2), random_state=0).fit(many[:480], who[:480])
    models["FaceVerifier-transfer"] = FaceVerifier(moved, "dlib", card), scored
    scores = np.r_[rng.normal(2, 1, 60), rng.normal(0, 1, 200)].round(3)
    same = np.r_[np.ones(60, bool), np.zeros(200, bool)]
    models["LogisticCalibration"] = (
        LogisticCalibration().fit(scores, same),
        {"scores": scores[::20]},
    )

    models["Committee"] = (
        Committee(LinearSVC(), 3, n_features=5, random_state=0).fit(X, names),
        probe,
    )
    models["RandomSamplingLDA"] = RandomSamplingLDA(3, random_state=0).fit(X, names), probe

    models["Fastfood"] = Fastfood(3, sigma="invertible", random_state=0).fit(X), probe
    models["RandomKitchenSinks"] = RandomKitchenSinks(2, sigma=2.0, random_state=0).fit(X), probe
    models["KSVD"] = KSVD(12, n_nonzero=2, max_iter=3, random_state=0).fit(X), probe
    models["WeightedKSVD"] = (
        WeightedKSVD(12, beta=4.0, n_nonzero=2, max_iter=3, random_state=0).fit(
            X, mask=np.arange(10) < 5
        ),
        probe,
    )

    bags = [rng.normal(size=(20, 3)).round(4) + 2 * (i % 2) for i in range(8)]
    second = [(bag[:, :2] + 0.1 * rng.normal(size=(20, 2))).round(4) for bag in bags]
    odd = ["odd" if i % 2 else "even" for i in range(8)]
    fisher = FisherVector(2, random_state=0)
    models["FisherVector"] = fisher.fit(bags), {"bags": bags[:2]}
    models["BagClassifier"] = (
        BagClassifier(FisherVector(2, random_state=0)).fit(bags, odd),
        {"bags": bags[:3]},
    )
    mixture = MixturePCCA(2, 1, tol=0.01, random_state=0)
    models["MixturePCCA"] = mixture.fit(np.vstack(bags), np.vstack(second)), {"X": bags[0][:6]}
    models["MultiViewSuperVector"] = (
        MultiViewSuperVector(MixturePCCA(2, 1, tol=0.01, random_state=0)).fit(bags, second),
        {"bags": bags[:2], "Y": second[:2]},
    )

    pictures = rng.random((6, 24, 24)).round(3)
    models["PairedDescriptors"] = (
        PairedDescriptors(n_components=4, random_state=0).fit(pictures),
        {"pictures": pictures[:1]},
    )
    models["BagEncoder"] = (
        BagEncoder(
            PairedDescriptors(n_components=4, random_state=0), FisherVector(2, random_state=0)
        ).fit(pictures),
        {"pictures": pictures[:1]},
    )
    models["GridLBP"] = GridLBP((1.0,), (2,)).fit(pictures), {"X": pictures[:1]}
    points = np.full((6, 5, 2), 12.0)
    models["LandmarkLBP"] = (
        LandmarkLBP((1.0,), grid=2).fit(pictures, landmarks=points),
        {"X": pictures[:1], "landmarks": points[:1]},
    )
    models["PixelFeatures"] = PixelFeatures().fit(pictures), {"X": pictures[:1]}

    faces = make_faces(12, 3, size=16, random_state=0).images
    options = {
        "n_components": 6,
        "n_atoms": 12,
        "n_nonzero": 2,
        "max_iter": 2,
        "expansion": 1,
        "random_state": 0,
    }
    shown = np.asarray(faces[:2], dtype=float).round(3)
    for method in (
        "ridge",
        "low-rank",
        "pca",
        "ksvd",
        "dw-ksvd",
        "fastfood",
        "feature-ridge",
        "blend",
    ):
        every = (
            2 if method in ("ridge", "feature-ridge", "blend") else 1
        )  # of few pixels: large models
        fitted = FaceHallucinator(method, **options).fit(
            faces[:, ::every, ::every], mask="periocular"
        )
        models[f"FaceHallucinator-{method}"] = fitted, {"faces": shown[:, ::every, ::every]}
    more = make_faces(40, 3, size=16, random_state=0).images
    fitted = FaceHallucinator("mixture-pcca", **options).fit(more, mask="periocular")
    models["FaceHallucinator-mixture-pcca"] = fitted, {"faces": shown}

    models["sklearn-GaussianMixture"] = GaussianMixture(2, random_state=0).fit(X), probe
    models["sklearn-KMeans"] = KMeans(3, n_init=1, random_state=0).fit(X), probe
    models["sklearn-LDA"] = LinearDiscriminantAnalysis().fit(X, names), probe
    models["sklearn-LabelBinarizer"] = LabelBinarizer().fit(names), {"y": names[::5]}
    models["sklearn-LinearSVC"] = LinearSVC().fit(X, names), probe
    models["sklearn-LogisticRegression"] = LogisticRegression().fit(X, names), probe
    models["sklearn-MinMaxScaler"] = MinMaxScaler().fit(X), probe
    models["sklearn-Normalizer"] = Normalizer().fit(X), probe
    models["sklearn-OneVsRestClassifier"] = OneVsRestClassifier(LinearSVC()).fit(X, names), probe
    models["sklearn-PCA"] = PCA(3, random_state=0).fit(X), probe
    models["sklearn-Pipeline"] = (
        make_pipeline(StandardScaler(), PCA(0.9), LinearDiscriminantAnalysis()).fit(X, names),
        probe,
    )
    models["sklearn-SVC"] = SVC().fit(X, names), probe
    models["sklearn-StandardScaler"] = StandardScaler().fit(X), probe
    return models


def make_galleries(folder: Path, verifier: Any) -> dict[str, Any]:
    """Galleries of five people with three pictures each: plain, sealed, with an index; exports."""
    from mien.gallery import Gallery

    X, people = _vectors(6, 4, 6, 5)
    expected: dict[str, Any] = {"probes": X[3::4].tolist(), "key": KEY}
    kinds: dict[str, dict[str, Any]] = {
        "plain": {},
        "sealed": {"key": KEY},
        "sealed-names-in-clear": {"key": KEY, "seal_names": False},
        "with-index": {},
        "sealed-with-index": {"key": KEY},
    }
    for name, options in kinds.items():
        path = folder / f"{name}.gallery"
        with Gallery.create(path, verifier, **options) as gallery:
            for person in range(5):
                rows = np.flatnonzero(people == person)[:3]
                gallery.enrol(
                    f"Zoë {person}",
                    X[rows].astype(np.float32),
                    digests=[hashlib.sha256(bytes([row])).hexdigest() for row in rows],
                    faces=[0, 1, 0],
                    sources=[f"photos/{row}.jpg" for row in rows],
                    qualities=[None, 0.5, 0.75],
                )
            gallery.enrol("gone", X[20:21].astype(np.float32), digests=["ab" * 32])
            gallery.delete("gone")
            search = "approximate" if "index" in name else "exact"
            found = gallery.identify(X[3::4], fpir=0.1, search=search)
            answers = [[a.person, round(a.log_ratio, 4)] for a in found]
            if "index" not in name and name != "sealed-names-in-clear":
                gallery.export(folder / f"{name}.export.mien")
            audit = [[e.action, e.people, e.templates] for e in gallery.audit()]
        expected[name] = {
            "people": [[p.name, p.templates] for p in gallery_people(path, options)],
            "answers": answers,
            "audit": audit,
            "sealed": "key" in options,
        }
    return expected


def gallery_people(path: Path, options: dict[str, Any]) -> Any:
    from mien.gallery import Gallery

    with Gallery.open(path, key=options.get("key")) as gallery:
        return gallery.people()


def _plain(value: Any) -> Any:
    array = np.asarray(value)
    if array.dtype.kind == "f":
        return [[float(f"{x:.6g}") for x in array.ravel().tolist()], list(array.shape)]
    return [array.ravel().tolist(), list(array.shape)]


def main(folder: Path) -> None:
    from calls import CALLS

    import mien

    folder.mkdir(parents=True, exist_ok=True)
    expected: dict[str, Any] = {}
    models = make_models()
    assert set(models) == set(CALLS), set(models) ^ set(CALLS)
    for name, (model, given) in models.items():
        path = mien.save(model, folder / f"{name}.mien")
        given = {key: np.asarray(value) for key, value in given.items()}
        made = CALLS[name](mien.load(path), given)
        expected[name] = {
            "inputs": {key: _plain(value) for key, value in given.items()},
            "outputs": {key: _plain(value) for key, value in made.items()},
        }
    (folder / "expected.json").write_text(json.dumps(expected, separators=(",", ":")))
    galleries = make_galleries(folder, models["OpenSetVerifier"][0])
    (folder / "galleries.json").write_text(json.dumps(galleries, separators=(",", ":")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
