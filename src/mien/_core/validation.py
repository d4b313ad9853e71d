"""Checks that turn bad input into a clear error before any work is done."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np

from mien._core.rows import settle_range
from mien.errors import InputError, MissingDependencyError

__all__ = [
    "check_array",
    "check_at_least_one_of",
    "check_choice",
    "check_finite",
    "check_groups",
    "check_images",
    "check_integer",
    "check_labels",
    "check_scores",
    "find_unknown",
    "require_module",
]

NO_GROUP = -1
# What NumPy, pandas and CSV files make of a missing label among strings.
_MISSING_TEXTS = ("", "-1", "nan", "NaN", "NaT", "None", "<NA>")


def require_module(module: str, extra: str, purpose: str) -> ModuleType:
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


def check_array(
    name: str,
    values: Any,
    *,
    shape: tuple[int | str, ...] | None = None,
    largest: float | None = None,
    allow_empty: bool = True,
) -> np.ndarray:
    """The one door for arrays: real, finite numbers within a safe range, or an error.

    Integers and truth values become double precision, as do half and extended precision; numbers
    too small for their squares become zero. Text, dates, objects, complex numbers and sparse
    matrices are refused.

    Parameters
    ----------
    name : str
        What to call them in the error.
    values : array-like
        Numbers.
    shape : tuple of int or str, or None
        Lengths that must be met; a string is any length, and says what it is.
    largest : float or None
        Largest magnitude that is taken; None leaves it to the precision (``_core/rows.py``).
    allow_empty : bool
        Whether an array without entries is fine.

    Returns
    -------
    ndarray
        Single precision stays single; everything else is double.
    """
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        raise InputError(f"{name} is a sparse matrix: give a dense one, with .toarray()")
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array: fill or drop the masked entries first")
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":
            array = _numbers_of_objects(name, array)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{name} must be an array of numbers, all rows of one length; got {_kind(values)}"
        ) from error
    if array.dtype.kind not in "biuf":
        kinds = {"U": "text", "S": "text", "M": "dates", "m": "times", "c": "complex numbers"}
        got = kinds.get(array.dtype.kind, str(array.dtype))
        raise InputError(f"{name} must be real numbers; got {got} ({array.dtype})")
    if shape is not None and (
        array.ndim != len(shape)
        or any(isinstance(n, int) and n != m for n, m in zip(shape, array.shape, strict=True))
    ):
        wanted = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
        raise InputError(f"{name} must have the shape ({wanted}); got {array.shape}")
    if array.size == 0 and not allow_empty:
        raise InputError(f"{name} is empty: its shape is {array.shape}")
    if array.dtype not in (np.float32, np.float64):
        with np.errstate(over="ignore"):
            array = array.astype(np.float64)
    return settle_range(name, array, largest=largest)


def _numbers_of_objects(name: str, array: np.ndarray) -> np.ndarray:
    flat = array.ravel()
    if not all(isinstance(x, (int, float, np.number, np.bool_)) for x in flat):
        strange = next(x for x in flat if not isinstance(x, (int, float, np.number, np.bool_)))
        raise InputError(f"{name} must be numbers; got a {type(strange).__name__} among them")
    return array.astype(np.float64)


def check_finite(name: str, values: np.ndarray) -> np.ndarray:
    """Results on their way out: no NaN leaves without an error."""
    if values.dtype.kind == "f" and not np.all(np.isfinite(values)):
        bad = int(np.count_nonzero(~np.isfinite(values)))
        raise InputError(
            f"{name} came out with {bad} NaN or infinite values among {values.size}: the input is "
            "too far from what the model was fitted on, or the model is damaged"
        )
    return values


def _kind(values: Any) -> str:
    """What was given, without repeating any of it: it may be somebody's template."""
    if isinstance(values, np.ndarray):
        return f"an array of the type {values.dtype} and the shape {values.shape}"
    return f"a {type(values).__name__}"


def check_integer(name: str, value: Any, low: int | None = None, high: int | None = None) -> int:
    """A whole number, within limits, or an error."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise InputError(f"{name} must be an integer; got {value!r:.40}")
    if (low is not None and value < low) or (high is not None and value > high):
        wanted = f"at least {low}" if high is None else f"from {low} to {high}"
        raise InputError(f"{name} must be {wanted}; got {value}")
    return int(value)


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
        raise InputError(f"{name} must be numbers; got {_kind(scores)}") from error
    if array.ndim != 1:
        raise InputError(f"{name} must have one dimension; got the shape {array.shape}")
    if array.size == 0:
        raise InputError(f"{name} is empty: at least one score is needed")
    bad = int(np.count_nonzero(np.isnan(array)))
    if bad:
        raise InputError(
            f"{name} has {bad} NaN among {array.size} scores; "
            "count failures to acquire separately; do not score them"
        )
    return array


def check_labels(
    name: str, labels: Any, n_samples: int | None = None, *, missing: str = "refuse"
) -> np.ndarray:
    """Return labels as an array with one dimension: integers or strings, in any order.

    Parameters
    ----------
    name : str
        What to call them in the error.
    labels : array-like (n,) or (n, 1)
        Integers, whole floats or strings. None, NaN, NaT, pandas' NA and -1 say "unknown", and
        so do the texts that a conversion makes of them ("-1", "nan", "NaT", "None", "<NA>") and
        the empty text: a missing label never becomes a label.
    n_samples : int or None
        How many there must be.
    missing : {"refuse", "unknown", "class"}
        What happens to unknown labels. "refuse" is an error. "unknown" keeps them: as -1 among
        integers and as "-1" among strings (see :func:`find_unknown`). "class" is for classifiers
        and for numbers that are no people: -1 is a label like any other, as in scikit-learn, and
        everything else that is missing is an error.
    """
    check_choice("missing", missing, ("refuse", "unknown", "class"))
    array = np.asarray(labels)
    if array.dtype.kind == "U" and isinstance(labels, (list, tuple)):
        # NumPy has turned whatever stood among the strings into text.
        array = np.asarray(labels, dtype=object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"{name} must have one dimension; got the shape {array.shape}")
    if n_samples is not None and array.size != n_samples:
        raise InputError(f"{name} has {array.size} entries for {n_samples} samples")
    array, unknown = _read_labels(name, array, minus_one=missing != "class")
    if missing != "unknown" and unknown.any():
        first = int(np.flatnonzero(unknown)[0])
        minus_one = ", -1" if missing == "refuse" else ""
        raise InputError(
            f"{name} has {int(unknown.sum())} missing label(s) among {array.size}, the first in "
            f"row {first}: None, NaN, NaT{minus_one} and empty text are not labels; leave those "
            "rows out, or label them"
        )
    return array


def find_unknown(labels: np.ndarray) -> np.ndarray:
    """Which (n,) of the labels of ``check_labels(..., missing="unknown")`` are unknown."""
    unknown: np.ndarray = labels == (str(NO_GROUP) if labels.dtype.kind == "U" else NO_GROUP)
    return unknown


def _read_labels(name: str, array: np.ndarray, *, minus_one: bool) -> tuple[np.ndarray, np.ndarray]:
    """Integers or strings, unknown ones as -1 or "-1", and which are unknown."""
    kind = array.dtype.kind
    if kind == "O":
        unknown = np.asarray([_is_missing(label, minus_one) for label in array], dtype=bool)
        known = [label for label, gone in zip(array, unknown, strict=True) if not gone]
        if all(isinstance(label, (int, float, np.number, np.bool_)) for label in known):
            numbers = np.where(unknown, float(NO_GROUP), array).astype(np.float64)
            # Large integers lose digits as floats.
            if all(isinstance(label, (int, np.integer)) for label in known):
                return np.where(unknown, NO_GROUP, array).astype(np.int64), unknown
            return _as_integers(name, numbers), unknown
        texts = [
            str(NO_GROUP) if gone else str(label)
            for label, gone in zip(array, unknown, strict=True)
        ]
        return np.asarray(texts), unknown
    if kind == "f":
        unknown = np.isnan(array)
        whole = _as_integers(name, np.where(unknown, NO_GROUP, array))
        return whole, unknown | (whole == NO_GROUP if minus_one else False)
    if kind == "U":
        missing = [text for text in _MISSING_TEXTS if minus_one or text != str(NO_GROUP)]
        unknown = np.isin(array, missing)
        if not unknown.any():
            return array, unknown
        return np.where(unknown, str(NO_GROUP), array), unknown
    if kind not in "iub":
        raise InputError(f"{name} must be integers or strings; got {array.dtype}")
    if kind == "i" and minus_one:
        return array, array == NO_GROUP
    return array, np.zeros(array.size, dtype=bool)


def _is_missing(label: Any, minus_one: bool) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(label, str):
        return label in _MISSING_TEXTS and (minus_one or label != str(NO_GROUP))
    return bool(label != label) or (minus_one and bool(label == NO_GROUP))


def _as_integers(name: str, array: np.ndarray) -> np.ndarray:
    if not np.all(np.isfinite(array)) or np.any(array != np.round(array)):
        raise InputError(f"{name} must be integers or strings; got fractions or infinity")
    return array.astype(np.int64)


def check_groups(groups: Any, n_samples: int, *, at_least: int = 1) -> np.ndarray:
    """Return group labels as integers, -1 for points in no group.

    Parameters
    ----------
    groups : array-like (n_samples,)
        Integers or strings; whatever :func:`check_labels` takes for unknown is in no group.
    n_samples : int
        How many there must be.
    at_least : int
        Minimum number of groups with two points or more.

    Returns
    -------
    (n_samples,) int64
        Strings are numbered in the order of ``numpy.unique``; integers are kept.
    """
    array = check_labels("groups", groups, n_samples, missing="unknown")
    if array.dtype.kind == "U":
        alone = find_unknown(array)
        numbers = np.full(array.size, NO_GROUP)
        numbers[~alone] = np.unique(array[~alone], return_inverse=True)[1]
        array = numbers
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
    if isinstance(images, np.ma.MaskedArray):
        raise InputError(f"{name} are masked: fill the masked pixels first")
    try:
        array = np.asarray(images)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an array of pictures of one size") from error
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
