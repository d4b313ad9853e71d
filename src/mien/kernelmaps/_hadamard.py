"""The Walsh-Hadamard transform along the last axis, in place where asked."""

from __future__ import annotations

import numpy as np

from mien._core.jit import load_kernels
from mien.errors import InputError

__all__ = ["hadamard_transform"]

# Rows up to this length stay in the cache of a core; longer ones are done as a matrix of them.
_ROW = 4096


def _transform_numpy(X: np.ndarray) -> None:
    """Transform the rows of X (n, d) in place: the twin of the compiled kernel."""
    n, d = X.shape
    step = 1
    while step < d:
        pairs = X.reshape(n, d // (2 * step), 2, step)
        sums = pairs[:, :, 0] + pairs[:, :, 1]
        pairs[:, :, 1] = pairs[:, :, 0] - pairs[:, :, 1]
        pairs[:, :, 0] = sums
        step *= 2


def _transform_compiled(X: np.ndarray) -> None:
    """Transform the rows of X (n, d) in place on all cores."""
    kernels = load_kernels("mien.kernelmaps._fourier_numba")
    if kernels is None:
        _transform_numpy(X)
        return
    n, d = X.shape
    if d <= _ROW:
        kernels.transform_rows(X)
        return
    # H of d = m·r is (H of m along the rows) after (H of r within each row) of an (m, r) matrix.
    kernels.transform_rows(X.reshape(n * (d // _ROW), _ROW))
    kernels.transform_middle(X.reshape(n, d // _ROW, _ROW))


def hadamard_transform(
    X: np.ndarray, *, normalize: bool = False, overwrite: bool = False
) -> np.ndarray:
    """Multiply the last axis by the Walsh-Hadamard matrix in natural order, in O(d log d).

    Parameters
    ----------
    X : (..., d)
        Any leading shape; d a power of two. float32 and float64 are kept, anything else is
        taken as float64.
    normalize : bool
        Divide by √d, which makes the transform orthonormal and its own inverse.
    overwrite : bool
        Work in place. X must then be a C-contiguous float32 or float64 array.

    Returns
    -------
    (..., d)
        X itself when ``overwrite``, otherwise a new array.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.kernelmaps import hadamard_transform
    >>> hadamard_transform(np.array([1.0, 0.0, 0.0, 2.0]))
    array([ 3., -1., -1.,  3.])
    """
    given = np.asarray(X)
    if given.ndim == 0:
        raise InputError("the transform needs at least one axis; got a single number")
    d = given.shape[-1]
    if d == 0 or d & (d - 1):
        raise InputError(f"the last axis must be a power of two; got {d}: pad it with zeros")
    if overwrite:
        if (
            given is not X
            or given.dtype not in (np.dtype(np.float32), np.dtype(np.float64))
            or not given.flags.c_contiguous
            or not given.flags.writeable
        ):
            raise InputError(
                "overwrite needs a writable C-contiguous array of float32 or float64; "
                f"got {getattr(X, 'dtype', type(X).__name__)}"
            )
        result = given
    else:
        dtype = given.dtype if given.dtype in (np.float32, np.float64) else np.float64
        result = np.array(given, dtype=dtype, order="C")
    _transform_compiled(result.reshape(-1, d))
    if normalize:
        result *= result.dtype.type(1 / np.sqrt(d))
    return result
