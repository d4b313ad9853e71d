"""Committees on cut-out faces: learn one from a folder, and name faces with it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import Normalizer

from mien._core.progress import track
from mien._core.validation import check_choice
from mien.committee import RandomSamplingLDA, decide
from mien.datasets import FaceSet, load_folder
from mien.errors import DataError, InputError
from mien.evaluation import bootstrap_mean_interval
from mien.features import LightNormalizer
from mien.media import find_pictures, read_image

__all__ = ["identify", "train_committee"]


#: What may be done to pictures before a committee sees them.
_LIGHTS: dict[str, Any] = {
    "none": None,
    "length": Normalizer(),
    "local": LightNormalizer(),
    "smooth": LightNormalizer(smooth=1.0),
}
# Pictures that a person needs for a choice: some are learned from, others tried.
_FOR_A_CHOICE = 3


def train_committee(
    folder: str | os.PathLike[str], *, size: int = 64, light: str = "auto", **parameters: Any
) -> tuple[RandomSamplingLDA, dict[str, Any]]:
    """Fit a committee to a folder with one folder per person, and test it on held-out pictures.

    Parameters
    ----------
    folder : path
        As :func:`mien.datasets.load_folder` takes it; pictures that cannot be read are skipped.
    size : int
        Pictures are brought to ``size`` × ``size`` grey pixels.
    light : {"auto", "none", "length", "local", "smooth"}
        What is done to the pixels first: nothing, unit length, the local light taken out, or that
        blurred by a pixel. ``"auto"`` takes what errs least on pictures left out, and nothing where
        nobody has the three pictures that this needs.
    **parameters
        Of :class:`mien.committee.RandomSamplingLDA`.

    Returns
    -------
    model : RandomSamplingLDA
        Fitted to all pictures; ``picture_size_`` says what it expects.
    summary : dict
        What was read, what was chosen, and the check: the last pictures of everybody with three or
        more are named by a committee that never saw them.
    """
    check_choice("light", light, ("auto", *_LIGHTS))
    faces = load_folder(folder, size=size, on_error="skip")
    X = faces.vectors()
    model = _learn(X, faces.people, light, parameters)
    model.picture_size_ = [int(side) for side in faces.size]
    summary = {
        "people": faces.n_people,
        "pictures": len(faces),
        "skipped": list(faces.skipped),
        "members": len(model.columns_),
        "eigenfaces of a member": f"{model.n_fixed_} fixed + {model.n_random_} random",
        "discriminants": model.n_discriminants_,
        "light": [_in_words(row) for row in model.choice_],
    }
    return model, summary | _check(faces, X, light, parameters)


def _learn(
    X: np.ndarray, people: np.ndarray, light: str, parameters: dict[str, Any]
) -> RandomSamplingLDA:
    """A committee whose preparation is given, or chosen where there are pictures to choose by."""
    preparation = _LIGHTS.get(light)
    counts = np.unique(people, return_counts=True)[1]
    if light == "auto" and counts.max() >= _FOR_A_CHOICE:
        preparation = list(_LIGHTS.values())
    return RandomSamplingLDA(**parameters, preparation=preparation).fit(X, people)


def _in_words(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the choice with the name that the verb has for the preparation."""
    words = {str(value): name for name, value in _LIGHTS.items() if value is not None}
    return row | {"preparation": words.get(row["preparation"], "none")}


def _check(faces: FaceSet, X: np.ndarray, light: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Hold out one picture of everybody with three or more."""
    people = faces.people
    names, counts = np.unique(people, return_counts=True)
    held = np.array([np.flatnonzero(people == name)[-1] for name in names[counts >= 3]], dtype=int)
    if held.size == 0:
        return {"held out": 0}
    rest = np.setdiff1d(np.arange(len(X)), held)
    try:
        model = _learn(X[rest], people[rest], light, parameters)
    except InputError:  # legal for all pictures, not without those held out
        return {"held out": 0}
    right = model.predict(X[held]) == people[held]
    low, high = bootstrap_mean_interval(right, people[held], random_state=0)
    return {"held out": len(held), "named rightly": [float(right.mean()), low, high]}


def _list_pictures(paths: Sequence[str | os.PathLike[str]]) -> list[Path]:
    """Files as given, and every picture in or below the folders given, in order of name."""
    found = [file for path in paths for file in find_pictures(path)]
    if not found:
        raise DataError("no pictures were found: give files, or folders of pictures")
    return found


def identify(
    model: Any, paths: Sequence[str | os.PathLike[str]], *, threshold: float = 0.8
) -> list[dict[str, Any]]:
    """Name who is on each picture, or "unknown" where the posterior is below the threshold.

    Parameters
    ----------
    model : RandomSamplingLDA
        From :func:`train_committee`.
    paths : list of paths
        Pictures, or folders of pictures. One that cannot be read gets an ``error``.
    threshold : float
        In [0, 1].

    Returns
    -------
    list of dict
        ``picture``, ``person``, ``posterior``, and the ``likeliest`` two with their posteriors.
    """
    size = getattr(model, "picture_size_", None)
    if not isinstance(model, RandomSamplingLDA) or size is None:
        raise InputError(
            "this model does not record the size of its pictures: make one with "
            "`mien crops train committee`"
        )
    if not 0 <= threshold <= 1:
        raise InputError(f"threshold is a probability between 0 and 1; got {threshold}")
    results: list[dict[str, Any]] = []
    vectors = []
    for path in track(_list_pictures(paths), "reading pictures"):
        row: dict[str, Any] = {"picture": str(path)}
        try:
            pixels = read_image(path, size=(size[0], size[1]))
        except DataError as error:
            results.append(row | {"error": str(error)})
            continue
        vectors.append(pixels.reshape(-1).astype(np.float32) / np.float32(255))
        results.append(row)
    if not vectors:
        return results
    posteriors = model.predict_proba(np.stack(vectors))
    people = decide(posteriors.astype(np.float64), model.classes_, threshold=threshold)
    best = np.argsort(-posteriors, axis=1, kind="stable")[:, :2]
    readable = (row for row in results if "error" not in row)
    for row, person, order, posterior in zip(readable, people, best, posteriors, strict=True):
        row["person"] = person.item()
        row["posterior"] = float(posterior[order[0]])
        row["likeliest"] = [[model.classes_[k].item(), float(posterior[k])] for k in order]
    return results
