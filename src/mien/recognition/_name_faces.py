"""Names without places: whose face is whose, and a model that learns from the sure ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mien.errors import NotEnoughDataError
from mien.gallery import FaceModel
from mien.recognition._adapt import Adaptation, adapt_to
from mien.verification import WeakNames

__all__ = ["NamedFaces", "name_faces"]


@dataclass(frozen=True)
class NamedFaces:
    """Who every face is, by which model, and whether that model learned from them.

    Attributes
    ----------
    names : WeakNames
        Fitted: ``labels_`` and ``probabilities_`` of every face.
    model : FaceModel
        The model that decided: the one that was given, or the adapted one.
    adaptation : Adaptation or None
        What adapting to the sure faces would bring; None where it was not asked for, or where
        fewer than four people have two sure faces. Its ``better`` says whether it was used.
    """

    names: WeakNames
    model: FaceModel
    adaptation: Adaptation | None


def name_faces(
    model: FaceModel,
    vectors: Any,
    bags: Any,
    names: Sequence[Iterable[Hashable]],
    *,
    groups: Any = None,
    absent: Sequence[Iterable[Hashable]] | None = None,
    min_probability: float = 0.95,
    adapt: bool = False,
) -> NamedFaces:
    """Give names without places to faces; on request let the model learn from the sure ones.

    Parameters
    ----------
    model : FaceModel
        What compares the faces.
    vectors : (n_faces, d)
        Of all faces.
    bags : (n_faces,)
        The picture of each face.
    names : sequence of collections
        The names that each picture lists.
    groups : (n_faces,) or None
        Faces that are one person, as of a track; -1 is "in no group".
    absent : sequence of collections or None
        People whom no face of a picture can be, for each picture.
    min_probability : float
        A face gets a name if it has it with at least this probability.
    adapt : bool
        Move the model to the faces whose names are sure, by transfer, and look again. The moved
        model is used only if it is better on people held out of the move
        (:func:`mien.recognition.adapt_to`).

    Notes
    -----
    The sure faces are the easy ones: a model that is calibrated on them alone is too sure of
    itself, and people held out of the move are easy as well. The check has therefore to show a
    gain, and did not on masked or small faces of LFW; see the guide to photo applications.
    """
    X = np.asarray(vectors, dtype=np.float64)
    weak = WeakNames(model.verifier, min_probability=min_probability)
    weak.fit(X, bags, names, groups=groups, absent=absent)
    if not adapt:
        return NamedFaces(weak, model, None)
    sure = np.asarray([label is not None for label in weak.labels_], dtype=bool)
    numbers = {name: k for k, name in enumerate(weak.people_)}
    people = np.asarray([numbers[label] for label in weak.labels_[sure]], dtype=np.int64)
    try:
        learned = adapt_to(model, X[sure], people, [])
    except NotEnoughDataError:
        return NamedFaces(weak, model, None)
    if not learned.better or not learned.moved:
        return NamedFaces(weak, model, learned)
    again = WeakNames(learned.model.verifier, min_probability=min_probability)
    again.fit(X, bags, names, groups=groups, absent=absent)
    return NamedFaces(again, learned.model, learned)
