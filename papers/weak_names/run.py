"""WeakNames beside three simpler ways, on the same albums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from mien.gallery import FaceModel
from mien.recognition import adapt_vectors, name_faces
from mien.verification import WeakNames
from papers.weak_names.data import Album

__all__ = ["ADAPTING", "METHODS", "Judgement", "judge"]


class Judgement(NamedTuple):
    """Shares: of faces of named people right and left open, of all faces with a wrong name."""

    right: float
    open: float
    wrong: float


def judge(labels: np.ndarray, album: Album) -> Judgement:
    """How the labels of the faces compare with the truth."""
    named = np.asarray([name is not None for name in album.truth])
    given = np.asarray([label is not None for label in labels])
    same = np.asarray([a == b for a, b in zip(labels, album.truth, strict=True)])
    return Judgement(
        float(same[named].mean()), float((~given)[named].mean()), float((given & ~same).mean())
    )


def _alone(album: Album) -> np.ndarray:
    """(a) Pictures with one face and one name."""
    sizes = np.bincount(album.bags, minlength=len(album.names))
    labels = np.full(len(album.bags), None, dtype=object)
    for face, b in enumerate(album.bags.tolist()):
        if sizes[b] == 1 and len(album.names[b]) == 1:
            labels[face] = next(iter(album.names[b]))
    return labels


def _nearest(album: Album, verifier: Any, prior: float = 0.05) -> np.ndarray:
    """(b) After (a), every other face gets the name of its nearest person, if that is likely."""
    labels = _alone(album)
    known = sorted({name for name in labels if name is not None})
    if not known:
        return labels
    sets = [album.faces[labels == name] for name in known]
    scores = verifier.score_sets([face[None] for face in album.faces], sets)
    chance = 1 / (1 + np.exp(-np.clip(scores, -50, 50)) * (1 - prior) / prior)
    for face in np.flatnonzero([label is None for label in labels]):
        best = int(np.argmax(chance[face]))
        if chance[face, best] >= 0.95:
            labels[face] = known[best]
    return labels


def _classifier(album: Album, verifier: Any) -> np.ndarray:
    """(c) A classifier trained on every face with every name of its picture."""
    rows, targets = [], []
    for face, b in enumerate(album.bags.tolist()):
        for name in sorted(album.names[b]):
            rows.append(face)
            targets.append(name)
    model = LogisticRegression(C=10.0, max_iter=300).fit(album.faces[rows], targets)
    chance = model.predict_proba(album.faces)
    column = {name: k for k, name in enumerate(model.classes_)}
    labels = np.full(len(album.bags), None, dtype=object)
    members: list[list[int]] = [[] for _ in album.names]
    for face, b in enumerate(album.bags.tolist()):
        members[b].append(face)
    for mine, listed in zip(members, album.names, strict=True):
        for name in sorted(listed):
            left = [face for face in mine if labels[face] is None]
            if left:
                labels[max(left, key=lambda face: chance[face, column.get(name, 0)])] = name
    return labels


def _weak_names(album: Album, verifier: Any) -> np.ndarray:
    return WeakNames(verifier).fit_predict(album.faces, album.bags, album.names)


METHODS: dict[str, Callable[[Album, Any], np.ndarray]] = {
    "WeakNames": _weak_names,
    "(a) one face and one name": lambda album, verifier: _alone(album),
    "(b) nearest after (a)": _nearest,
    "(c) classifier on all candidates": _classifier,
}


def _adapting(album: Album, verifier: Any) -> np.ndarray:
    """The verifier moves to the sure faces where that is better on people held out."""
    model = FaceModel.of(verifier)
    return name_faces(model, album.faces, album.bags, album.names, adapt=True).names.labels_


def _always_moved(album: Album, verifier: Any) -> np.ndarray:
    """The verifier moves to the sure faces whatever people held out say."""
    labels = _weak_names(album, verifier)
    sure = np.asarray([label is not None for label in labels])
    people = np.asarray([str(label) for label in labels[sure]])
    moved = adapt_vectors(FaceModel.of(verifier), album.faces[sure], people)
    return _weak_names(album, moved)


#: What learning from the sure faces brings, on vectors of another kind than the model's.
ADAPTING: dict[str, Callable[[Album, Any], np.ndarray]] = {
    "WeakNames": _weak_names,
    "moved if held-out people gain": _adapting,
    "moved always": _always_moved,
}
