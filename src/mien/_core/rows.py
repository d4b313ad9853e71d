"""The door for rows of numbers: what scikit-learn checks, and a range in which squares are safe.

Estimators call these two instead of scikit-learn's ``validate_data`` and ``check_array``. Both give
arrays whose entries are finite, and zero or between a smallest and a largest magnitude, so that
products, sums of squares and quotients of such numbers neither overflow nor become 0 / 0, in
single precision too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mien.errors import InputError, InputTypeError

__all__ = [
    "check_rows",
    "check_sets",
    "is_dask_array",
    "refuse_dask",
    "settle_range",
    "validate_rows",
]

#: Precision -> magnitudes that are taken: what is smaller becomes zero, what is larger is refused.
#: Fourth powers stay finite and above zero in both.
RANGES = {np.dtype(np.float64): (1e-15, 1e15), np.dtype(np.float32): (1e-9, 1e9)}
# Entries that are looked at together: their magnitudes stay in the cache.
_BLOCK = 2**14
_NUMBERS = (int, float, np.number, np.bool_)


def validate_rows(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """scikit-learn's ``validate_data``, for real numbers within a safe range.

    Parameters
    ----------
    estimator : estimator
        Whose ``n_features_in_`` and names of features are set (``reset=True``) or compared.
    X : array-like (n, d)
        Numbers. Half and extended precision, integers, truth values and objects that are numbers
        are converted; text, dates, complex numbers and sparse matrices are refused.
    y : array-like (n,)
        As for scikit-learn: given, X and y come back.
    **options
        Those of ``validate_data``, and ``largest`` of :func:`settle_range`; with
        ``ensure_all_finite=False`` NaN passes, but no infinity.
    """
    from sklearn.utils.validation import validate_data

    name = options.pop("input_name", "X")
    finite = options.pop("ensure_all_finite", True)
    largest = options.pop("largest", None)
    X = _refuse_others(name, X)
    with _one_sentence(name, X), np.errstate(over="ignore"):
        made = validate_data(estimator, X, y, ensure_all_finite=False, **options)
    wanted = {"largest": largest, "nan": not finite, "fitting": options.get("reset", True)}
    if isinstance(made, tuple):
        return settle_range(name, made[0], **wanted), made[1]
    return settle_range(name, made, **wanted)


def check_rows(X: Any, *, input_name: str = "X", **options: Any) -> np.ndarray:
    """scikit-learn's ``check_array``, for real numbers within a safe range."""
    from sklearn.utils.validation import check_array

    finite = options.pop("ensure_all_finite", True)
    largest = options.pop("largest", None)
    X = _refuse_others(input_name, X)
    with _one_sentence(input_name, X), np.errstate(over="ignore"):
        made = check_array(X, input_name=input_name, ensure_all_finite=False, **options)
    if hasattr(made, "indptr"):
        made.data = settle_range(input_name, made.data, largest=largest, nan=not finite)
        return made
    return settle_range(input_name, made, largest=largest, nan=not finite)


def check_sets(name: str, sets: Any) -> list[np.ndarray]:
    """Sets of rows, each (n_i, d) or (d,), as arrays of one width and at least one row each.

    What stands in them is left to the door of the rows together.
    """
    if not hasattr(sets, "__len__") or isinstance(sets, (str, bytes, dict)) or hasattr(sets, "nnz"):
        raise InputTypeError(f"{name} must be a list of arrays; got {type(sets).__name__}")
    arrays: list[np.ndarray] = []
    for i, rows in enumerate(sets):
        try:
            array = np.atleast_2d(np.asarray(_refuse_others(f"set {i} of {name}", rows)))
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"set {i} of {name} has rows of several lengths") from error
        if array.ndim != 2 or array.size == 0:
            raise InputError(
                f"set {i} of {name} must be (n, d) with at least one row; got {array.shape}"
            )
        if array.dtype.kind not in "biufO" or array.shape[1] != (arrays or [array])[0].shape[1]:
            raise InputError(
                f"set {i} of {name} has the shape {array.shape} and the type {array.dtype}, and "
                f"does not fit the sets before it"
            )
        arrays.append(array)
    if not arrays:
        raise InputError(f"{name} is empty: at least one set is needed")
    return arrays


def settle_range(
    name: str,
    array: np.ndarray,
    *,
    largest: float | None = None,
    nan: bool = False,
    fitting: bool = False,
) -> np.ndarray:
    """Refuse what is not finite or too large, and make zero what is too small.

    Parameters
    ----------
    name : str
        What to call it in an error.
    array : ndarray of single or double precision
        A memory map is read once, in small parts.
    largest : float or None
        Largest magnitude, where less than the precision allows is wanted.
    nan : bool
        Whether NaN may stay, for data with missing entries.
    fitting : bool
        Whether a scale is learned from it: then all of it must not be too small.

    Returns
    -------
    ndarray
        The same array where nothing had to become zero.
    """
    if array.dtype not in RANGES or array.size == 0:
        return array
    smallest, limit = RANGES[array.dtype]
    limit = min(limit, largest or limit)
    high, tiny = 0.0, False
    for part in _parts(array):
        size = np.abs(part)
        if nan:
            top, low = float(np.fmax.reduce(size, axis=None)), 0.0
            top = 0.0 if top != top else top
        else:
            top, low = float(size.max()), float(size.min())
        if not top <= limit:
            raise InputError(_describe(name, array, limit, nan))
        high = max(high, top)
        if low < smallest and not tiny:
            tiny = bool(np.any((size < smallest) & (size > 0)))
    if tiny and fitting and high < smallest:
        raise InputError(
            f"{name} has no value beyond ±{high:.3g}; below {smallest:.0e} squares underflow: "
            "scale the values first"
        )
    if tiny:
        return np.where(np.abs(array) < smallest, array.dtype.type(0), array)
    return array


def _parts(array: np.ndarray) -> Any:
    """The entries in parts that fit the cache, without a copy of the whole."""
    if array.size <= _BLOCK:
        return (array,)
    if array.flags.c_contiguous or array.flags.f_contiguous:
        flat = array.ravel(order="K")
        return (flat[low : low + _BLOCK] for low in range(0, flat.size, _BLOCK))
    rows = max(1, _BLOCK * len(array) // array.size)
    return (array[low : low + rows] for low in range(0, len(array), rows))


def _describe(name: str, array: np.ndarray, limit: float, nan: bool) -> str:
    missing = int(np.count_nonzero(np.isnan(array)))
    infinite = int(np.count_nonzero(np.isinf(array)))
    if infinite or (missing and not nan):
        found = "NaN or infinite" if infinite else "NaN"
        number = infinite if nan else infinite + missing
        return (
            f"{name} has {number} {found} entries among {array.size}; leave them out or fill them"
        )
    return (
        f"{name} has values up to {float(np.nanmax(np.abs(array))):.3g} in magnitude; beyond "
        f"±{limit:.0e} products are not safe from overflow: scale them first"
    )


def _refuse_others(name: str, X: Any) -> Any:
    """Refuse text, dates and objects that are not numbers, which scikit-learn would convert."""
    X = refuse_dask(name, X)
    if hasattr(X, "indptr") and X.dtype.kind not in "biuf":
        raise InputError(f"{name} must be real numbers; got {X.dtype}")
    if isinstance(X, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array: fill or drop the masked entries first")
    if isinstance(X, (list, tuple)):
        try:
            X = np.asarray(X)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"{name} must be an array of numbers with rows of one length"
            ) from error
    kind = X.dtype.kind if isinstance(X, np.ndarray) else ""
    if kind == "c":
        raise InputError(f"{name}: Complex data not supported; give real numbers")
    if kind in "USMmV" and kind:
        kinds = {"U": "text", "S": "text", "M": "dates", "m": "times", "V": "records"}
        raise InputError(f"{name} must be real numbers; got {kinds[kind]} ({X.dtype})")
    if kind == "O":
        strange = next((x for x in X.ravel() if not isinstance(x, _NUMBERS)), None)
        if isinstance(strange, (str, bytes, complex)):
            raise InputError(
                f"{name} must be real numbers; got a {type(strange).__name__} among them"
            )
    return X


def is_dask_array(X: Any) -> bool:
    """Whether X is a collection of Dask, without importing it."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "compute")


def refuse_dask(name: str, X: Any) -> Any:
    """Refuse a Dask array, which NumPy and scikit-learn would read as a whole without a word."""
    if is_dask_array(X):
        raise InputTypeError(
            f"{name} is a Dask array, and would be pulled into memory as a whole: use "
            "mien.distributed.fit(model, X, y), which reads it in parts, or X.compute() if it is "
            "small"
        )
    return X


class _one_sentence:
    """Errors of scikit-learn in one line, without the numbers that they are about."""

    def __init__(self, name: str, X: Any) -> None:
        self.name, self.X = name, X

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, OverflowError):
            raise InputError(f"{self.name} has a number too large for double precision") from error
        if not isinstance(error, (TypeError, ValueError)) or isinstance(error, InputError):
            return
        text = " ".join(str(error).split())
        if isinstance(error, TypeError):
            raise InputTypeError(f"{self.name}: {text:.300}") from error
        if text.startswith("Expected 2D array, got"):
            shape = np.shape(self.X)
            raise InputError(
                f"{self.name}: Expected 2D array, got {len(shape)}D array instead, of shape "
                f"{shape}. Reshape your data with .reshape(-1, 1) for one feature, or "
                ".reshape(1, -1) for one sample"
            ) from None
        raise InputError(f"{text:.300}") from error
