"""Checks that turn bad input into a clear error before any work is done."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np

from mien.errors import InputError, MissingDependencyError

__all__ = [
    "check_at_least_one_of",
    "check_choice",
    "check_groups",
    "check_images",
    "check_labels",
    "check_scores",
    "require",
]

NO_GROUP = -1


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import a package that belongs to an extra, or say which extra to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(module.split(".")[0], extra, purpose) from error


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the choices."""
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def check_at_least_one_of(**arguments: Any) -> None:
    """Refuse a call in which every one of the named arguments is None."""
    if all(value is None for value in arguments.values()):
        raise InputError(f"give at least one of {', '.join(arguments)}")


def check_scores(name: str, scores: Any) -> np.ndarray:
    """Return scores as a flat float64 array, or say what is wrong with them.

    Parameters
    ----------
    name : str
        What to call them in the error, such as ``"genuine"``.
    scores : array-like (n,)
        Finite numbers, at least one.
    """
    try:
        array = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers; got {scores!r:.80}") from error
    if array.ndim != 1:
        raise InputError(f"{name} must have one dimension; got the shape {array.shape}")
    if array.size == 0:
        raise InputError(f"{name} is empty: at least one score is needed")
    bad = int(np.count_nonzero(np.isnan(array)))
    if bad:
        raise InputError(
            f"{name} has {bad} NaN among {array.size} scores; "
            "count failures to acquire apart, do not score them"
        )
    return array


def check_labels(name: str, labels: Any, n_samples: int | None = None) -> np.ndarray:
    """Return labels as an array with one dimension: integers or strings, gaps and all."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise InputError(f"{name} must have one dimension; got the shape {array.shape}")
    if array.dtype.kind == "O":
        array = np.asarray([str(label) for label in array])
    if array.dtype.kind == "f":
        if not np.all(np.isfinite(array)) or np.any(array != np.round(array)):
            raise InputError(f"{name} must be integers or strings; got fractions or NaN")
        array = array.astype(np.int64)
    if array.dtype.kind not in "iubU":
        raise InputError(f"{name} must be integers or strings; got {array.dtype}")
    if n_samples is not None and array.size != n_samples:
        raise InputError(f"{name} has {array.size} entries for {n_samples} samples")
    return array


def check_groups(groups: Any, n_samples: int, *, at_least: int = 1) -> np.ndarray:
    """Return group labels as integers, -1 for points in no group.

    Parameters
    ----------
    groups : array-like (n_samples,)
        Integers with -1 for "no group", or strings (then every point is in a group).
    n_samples : int
        How many there must be.
    at_least : int
        Fewest groups with two points or more.

    Returns
    -------
    (n_samples,) int64
        Strings are numbered in the order of ``numpy.unique``; integers are kept.
    """
    array = check_labels("groups", groups, n_samples)
    if array.dtype.kind == "U":
        array = np.unique(array, return_inverse=True)[1]
    array = array.astype(np.int64)
    _, counts = np.unique(array[array != NO_GROUP], return_counts=True)
    useful = int(np.count_nonzero(counts >= 2))
    if useful < at_least:
        raise InputError(
            f"at least {at_least} group(s) of two or more points are needed; got {useful} "
            f"among {counts.size} groups of {n_samples} points"
        )
    return array


def check_images(name: str, images: Any, *, colour: bool | None = None) -> np.ndarray:
    """Return pictures as float32 in [0, 1] of shape (n, h, w) or (n, h, w, 3).

    Parameters
    ----------
    name : str
        What to call them in the error.
    images : array-like
        ``uint8`` is divided by 255; floats must be in [0, 1] already.
    colour : bool or None
        True wants three channels, False none, None takes both.
    """
    array = np.asarray(images)
    wanted = {True: "(n, h, w, 3)", False: "(n, h, w)", None: "(n, h, w) or (n, h, w, 3)"}[colour]
    is_colour = array.ndim == 4 and array.shape[-1] == 3
    if not (is_colour or array.ndim == 3) or (colour is not None and colour != is_colour):
        raise InputError(f"{name} must have the shape {wanted}; got {array.shape}")
    if array.size == 0:
        raise InputError(f"{name} is empty: the shape is {array.shape}")
    if array.dtype == np.uint8:
        return array.astype(np.float32) / np.float32(255)
    if array.dtype.kind != "f":
        raise InputError(f"{name} must be uint8, or floats in [0, 1]; got {array.dtype}")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{name} has NaN or infinite pixels")
    low, high = float(array.min()), float(array.max())
    if low < -1e-6 or high > 1 + 1e-6:
        raise InputError(f"{name} must be in [0, 1]; got [{low:.4g}, {high:.4g}]")
    return np.clip(array.astype(np.float32, copy=False), 0, 1)
