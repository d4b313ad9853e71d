"""Committees on other sets: light and length by out-of-bag error, other members, and rivals."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import LinearSVC

from mien._core.progress import track
from mien.committee import Committee, RandomSamplingLDA
from mien.datasets import split_pictures
from mien.features import LightNormalizer
from mien.subspace import NearestNeighbourIdentifier, NullSpaceLDA

__all__ = ["CANDIDATES", "compare_preparations"]

#: Vectors as they are, of unit length, without their light, and that blurred by a pixel.
CANDIDATES = (None, Normalizer(), LightNormalizer(), LightNormalizer(smooth=1.0))


def _methods(n_members: int, seed: int) -> dict[str, Any]:
    choice = list(CANDIDATES)
    return {
        "ridge classifier": make_pipeline(StandardScaler(with_std=False), RidgeClassifier(1.0)),
        "soft null-space LDA, cosine": make_pipeline(NullSpaceLDA(), NearestNeighbourIdentifier()),
        "committee of LDA": RandomSamplingLDA(n_members, random_state=seed),
        "committee of LDA, preparation chosen": RandomSamplingLDA(
            n_members, preparation=choice, random_state=seed
        ),
        "committee of ridge, preparation chosen": Committee(
            RidgeClassifier(1.0), n_members, pca=True, preparation=choice, random_state=seed
        ),
        "committee of linear SVM, preparation chosen": Committee(
            LinearSVC(), n_members, pca=True, preparation=choice, random_state=seed
        ),
    }


def compare_preparations(
    sets: dict[str, tuple[np.ndarray, np.ndarray]],
    n_splits: int,
    n_members: int,
    random_state: int,
    *,
    n_train: int = 5,
) -> list[dict[str, Any]]:
    """Error in per cent of each method on each set, and what was chosen how often."""
    rows: dict[str, dict[str, Any]] = {}
    for name, (X, people) in sets.items():
        errors: dict[str, list[float]] = {}
        chosen: dict[str, list[str]] = {}
        splits = list(split_pictures(people, n_train, n_splits, random_state))
        for number, (train, test) in enumerate(track(splits, f"{name}: preparations")):
            for method, model in _methods(n_members, random_state + number).items():
                model.fit(X[train], people[train])
                wrong = np.mean(model.predict(X[test]) != people[test])
                errors.setdefault(method, []).append(100 * float(wrong))
                for row in getattr(model, "choice_", []):
                    if row["chosen"]:
                        chosen.setdefault(method, []).append(row["preparation"])
        for method, values in errors.items():
            row = rows.setdefault(method, {"method": method})
            row[f"{name}, error %"] = round(float(np.mean(values)), 1)
            if method in chosen:
                names, counts = np.unique(chosen[method], return_counts=True)
                row[f"{name}, mostly"] = str(names[counts.argmax()])
    return list(rows.values())
