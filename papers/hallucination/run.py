"""Methods and measures of the hallucination experiment."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from mien._core.progress import track
from mien.completion import FaceCompleter, make_completer, make_cover
from mien.datasets import split_people
from mien.errors import NotEnoughDataError
from mien.evaluation import evaluate_completion, evaluate_verification, psnr, roc
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
    """A row of the paper's tables, or one of ours: a completer, and what the paper reports.

    ``params`` are those of the completer; a dictionary also takes the sizes of the set.
    """

    name: str
    completer: str
    params: dict[str, Any]
    psnr: float | None = None
    std: float | None = None
    vr: float | None = None
    eer: float | None = None


#: The six of the paper with its numbers, then ours.
ROWS = (
    Row("PCA", "pca", {}, 12.7439, 2.1288, 0.046, 0.452),
    Row("K-SVD", "ksvd", {}, 14.0720, 2.0532, 0.438, 0.165),
    Row("DW-KSVD", "dictionary", {"beta": 100.0}, 17.6402, 2.3757, 0.826, 0.056),
    Row(
        "Fastfood 5×, de-kernelised",
        "fastfood",
        {"expansion": 5, "dekernelize": "atoms"},
        17.7842,
        2.2480,
        0.848,
        0.050,
    ),
    Row("Fastfood 5×", "fastfood", {"expansion": 5}, 18.9251, 2.3213, 0.919, 0.033),
    Row("Fastfood 10×", "fastfood", {"expansion": 10}, 20.1496, 2.4243, 0.951, 0.025),
    Row("Fastfood 5×, sine alone", "fastfood", {"expansion": 5, "functions": "sin"}),
    Row("DW-KSVD, β chosen", "dictionary", {}),
    Row("ridge", "ridge", {}),
    Row("ridge on Fastfood features", "feature-ridge", {"expansion": 5}),
    Row("mixture of PCCA", "mixture", {}),
    Row("best or blend of these three", "auto", {}),
)
_DICTIONARIES = ("ksvd", "dictionary", "fastfood")
_SEEDED = ("ksvd", "dictionary", "fastfood", "feature-ridge", "mixture", "auto")


def run_row(
    row: Row, faces: Faces, seed: int, learned: dict[tuple[Any, ...], FaceCompleter] | None = None
) -> dict[str, Any]:
    """Learn and complete: the result with PSNR of every test face, times and pictures.

    ``learned`` keeps Fastfood dictionaries by expansion and functions: the rows that differ in how
    features are inverted share one.
    """
    kept = None
    key = row.params.get("expansion"), row.params.get("functions")
    if learned and row.completer == "fastfood":
        kept = learned.get(key)
    start = time.perf_counter()
    if kept is not None:
        model = copy.copy(kept)
        dictionary: Any = copy.copy(kept.completer_)
        model.completer_ = dictionary.invert(row.params.get("dekernelize", "result"))
    else:
        params = dict(row.params)
        if row.completer in _DICTIONARIES:
            params |= faces.settings
        if row.completer in _SEEDED:
            params["random_state"] = seed
        model = FaceCompleter(make_completer(row.completer, **params), keep_visible=False)
        model.fit(faces.train.images, people=faces.train.people)
        if learned is not None and row.completer == "fastfood":
            learned[key] = model
    seconds = time.perf_counter() - start
    completed = np.asarray(model.complete(faces.test.images))
    cover = make_cover("below-eyes", (SIZE, SIZE))
    measures = evaluate_completion(
        faces.test.images, completed, cover=cover, people=faces.test.people
    )
    inverse = np.unique(faces.test.people, return_inverse=True)[1]
    decibels = psnr(faces.test.images, completed)
    return {
        "row": row,
        "completed": completed,
        "psnr": decibels,
        "measures": measures,
        "people": np.bincount(inverse, decibels) / np.bincount(inverse),
        "seconds": seconds,
        "atoms": model.get_pictures(),
        "confidence": model.complete(faces.test.images[:1], details=True).confidence,
    }


#: Atoms per face, and extra weight of the visible part, in the study.
STUDY = tuple((k, beta) for k in (5, 10, 20, 40) for beta in (30.0, 100.0, 1000.0, 10000.0))


def study_dictionaries(faces: Faces, seed: int) -> list[dict[str, Any]]:
    """PSNR of DW-KSVD and Fastfood 2× over K and β, on people held out of the training set."""
    train, test = split_people(faces.train.people, 0.1, random_state=seed + 1)
    pictures, held = faces.train.images[train[:3000]], faces.train.images[test[:500]]
    rows = []
    for n_nonzero_coefs, beta in track(STUDY, "study of K and β"):
        row: dict[str, Any] = {"K": n_nonzero_coefs, "β": beta}
        sizes = {
            "n_nonzero_coefs": n_nonzero_coefs,
            "beta": beta,
            "n_atoms": 400,
            "max_iter": 4,
            "random_state": seed,
        }
        for name, completer in (
            ("DW-KSVD", make_completer("dictionary", **sizes)),
            ("Fastfood 2×", make_completer("fastfood", expansion=2, **sizes)),
        ):
            model = FaceCompleter(completer, mirror=False, keep_visible=False).fit(pictures)
            row[name] = round(float(psnr(held, model.complete(held)).mean()), 2)
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
        ``own``, ``other`` and ``all``, each with ``vr`` at 1 % FAR and ``eer`` as (value, low,
        high) and ``roc``. "own" asks whether a face is matched to the very picture it was made
        from, "other" to other pictures of the same person, "all" to either, as the paper counts.
    """
    n = len(probes)
    gallery = faces.test.vectors()
    scores = matcher.score_matrix(probes.reshape(n, -1).astype(gallery.dtype), gallery)
    same = faces.test.people[:, None] == faces.test.people[None]
    impostor = scores[~same]
    found = {}
    own = np.eye(n, dtype=bool)
    for kind, pairs in (("own", own), ("other", same & ~own), ("all", same)):
        genuine = scores[pairs]
        result = evaluate_verification(genuine, impostor, fars=[0.01])
        rate = result["verification_rates"][0]
        found[kind] = {
            "vr": (rate["value"], rate["low"], rate["high"]),
            "eer": tuple(result["eer"][part] for part in ("value", "low", "high")),
            "roc": roc(genuine, impostor),
        }
    return found
