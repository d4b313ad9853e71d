"""Methods and measures of the hallucination experiment."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from mien._core.progress import track
from mien.datasets import split_people
from mien.errors import NotEnoughDataError
from mien.evaluation import evaluate_reconstruction, evaluate_verification, psnr, roc
from mien.reconstruction import FaceHallucinator, make_mask
from mien.subspace import ClassDependenceFeatures
from papers.hallucination.data import SIZE, Faces

__all__ = [
    "ROWS",
    "Row",
    "run_row",
    "study_dictionaries",
    "train_matcher",
    "verify",
]

_MATCHER_PICTURES = 2000


@dataclass(frozen=True)
class Row:
    """A row of the paper's tables, or one of ours: settings, and what the paper reports."""

    name: str
    settings: dict[str, Any]
    psnr: float | None = None
    std: float | None = None
    vr: float | None = None
    eer: float | None = None


_FASTFOOD = {"method": "fastfood"}
#: The six of the paper with its numbers, then ours.
ROWS = (
    Row("PCA", {"method": "pca"}, 12.7439, 2.1288, 0.046, 0.452),
    Row("K-SVD", {"method": "ksvd"}, 14.0720, 2.0532, 0.438, 0.165),
    Row("DW-KSVD", {"method": "dw-ksvd"}, 17.6402, 2.3757, 0.826, 0.056),
    Row(
        "Fastfood 5×, de-kernelised",
        {**_FASTFOOD, "expansion": 5, "dekernelize": "dictionary"},
        17.7842,
        2.2480,
        0.848,
        0.050,
    ),
    Row("Fastfood 5×", {**_FASTFOOD, "expansion": 5}, 18.9251, 2.3213, 0.919, 0.033),
    Row("Fastfood 10×", {**_FASTFOOD, "expansion": 10}, 20.1496, 2.4243, 0.951, 0.025),
    Row("ridge", {"method": "ridge"}),
    Row("ridge on Fastfood features", {"method": "feature-ridge", "expansion": 5}),
    Row("blend of the two ridges", {"method": "blend", "expansion": 5}),
)


def run_row(
    row: Row, faces: Faces, seed: int, learned: dict[float, FaceHallucinator] | None = None
) -> dict[str, Any]:
    """Learn and complete: the result with PSNR of every test face, times and pictures.

    ``learned`` keeps Fastfood dictionaries by expansion: the rows that differ in how features are
    turned back share one.
    """
    settings = {**faces.settings, **row.settings}
    kept = None
    if learned and settings["method"] == "fastfood":
        kept = learned.get(settings["expansion"])
    start = time.perf_counter()
    if kept is not None:
        model = copy.copy(kept).set_params(
            dekernelize=settings.get("dekernelize", "reconstruction")
        )
        dictionary: Any = copy.copy(kept.completer_)
        model.completer_ = dictionary.turn(model.dekernelize)
    else:
        model = FaceHallucinator(**settings, keep_visible=False, random_state=seed)
        model.fit(faces.train.images, mask="periocular")
        if learned is not None and model.method == "fastfood":
            learned[model.expansion] = model
    seconds = time.perf_counter() - start
    restored = np.asarray(model.reconstruct(faces.test.images))
    mask = make_mask("periocular", (SIZE, SIZE))
    measures = evaluate_reconstruction(
        faces.test.images, restored, mask=mask, people=faces.test.people
    )
    inverse = np.unique(faces.test.people, return_inverse=True)[1]
    decibels = psnr(faces.test.images, restored)
    return {
        "row": row,
        "restored": restored,
        "psnr": decibels,
        "measures": measures,
        "people": np.bincount(inverse, decibels) / np.bincount(inverse),
        "seconds": seconds,
        "atoms": model.atoms(),
        "confidence": model.reconstruct(faces.test.images[:1], details=True).confidence,
    }


#: Atoms a face may use, and extra weight of what is seen, in the study.
STUDY = tuple((k, beta) for k in (5, 10, 20, 40) for beta in (30.0, 100.0, 1000.0, 10000.0))


def study_dictionaries(faces: Faces, seed: int) -> list[dict[str, Any]]:
    """PSNR of DW-KSVD and Fastfood 2× over K and β, on people held out of the training set."""
    train, test = split_people(faces.train.people, 0.1, random_state=seed + 1)
    pictures, held = faces.train.images[train[:3000]], faces.train.images[test[:500]]
    rows = []
    for n_nonzero, beta in track(STUDY, "study of K and β"):
        row: dict[str, Any] = {"K": n_nonzero, "β": beta}
        for name, method in (("DW-KSVD", "dw-ksvd"), ("Fastfood 2×", "fastfood")):
            model = FaceHallucinator(
                method,
                n_nonzero=n_nonzero,
                beta=beta,
                n_atoms=400,
                max_iter=4,
                expansion=2,
                mirror=False,
                keep_visible=False,
                random_state=seed,
            ).fit(pictures)
            row[name] = round(float(psnr(held, model.reconstruct(held)).mean()), 2)
        rows.append(row)
    return rows


def train_matcher(faces: Faces, seed: int) -> ClassDependenceFeatures:
    """KCFA on original pictures of people with three pictures or more, none of them tested."""
    train = faces.train
    names, counts = np.unique(train.people, return_counts=True)
    rows = np.flatnonzero(np.isin(train.people, names[counts >= 3]))
    if rows.size < 20:
        raise NotEnoughDataError(f"too few people with three pictures in {faces.name}")
    if rows.size > _MATCHER_PICTURES:
        rows = np.sort(np.random.default_rng(seed).choice(rows, _MATCHER_PICTURES, replace=False))
    chosen = train.select(rows)
    return ClassDependenceFeatures(regularization=0.01).fit(chosen.vectors(), chosen.people)


def verify(matcher: ClassDependenceFeatures, probes: np.ndarray, faces: Faces) -> dict[str, Any]:
    """Every probe against every original: rates with its own picture, and with others.

    Returns
    -------
    dict
        ``own`` and ``other``, each with ``vr`` at 1 % FAR and ``eer`` as (value, low, high) and
        ``roc``. "own" asks whether a face is matched to the very picture it was made from,
        "other" to other pictures of the same person.
    """
    n = len(probes)
    gallery = faces.test.vectors()
    scores = matcher.score_matrix(probes.reshape(n, -1).astype(gallery.dtype), gallery)
    same = faces.test.people[:, None] == faces.test.people[None]
    impostor = scores[~same]
    found = {}
    for kind, pairs in (("own", np.eye(n, dtype=bool)), ("other", same & ~np.eye(n, dtype=bool))):
        genuine = scores[pairs]
        result = evaluate_verification(genuine, impostor, fars=[0.01])
        rate = result["verification_rates"][0]
        found[kind] = {
            "vr": (rate["value"], rate["low"], rate["high"]),
            "eer": tuple(result["eer"][part] for part in ("value", "low", "high")),
            "roc": roc(genuine, impostor),
        }
    return found
