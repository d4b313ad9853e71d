"""Directions of most variance in a few passes over data of any size."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state

from mien._core.progress import report
from mien.subspace._base import row_batches

__all__ = ["randomized_directions"]

_PASSES = 6  # of the power iteration


def randomized_directions(
    X: np.ndarray, n_directions: int, *, random_state: object = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Block power iteration on the total scatter, without ever forming it.

    Parameters
    ----------
    X : (n, d)
        An array or a memory map; it is read in batches, seven times.
    n_directions : int
        Number of directions; a few more are computed for accuracy.

    Returns
    -------
    mean : (d,)
    directions : (d, k)
        Orthonormal, most variance first; k is ``n_directions`` or the most there are.
    scales : (k,)
        Root of the scatter along each.
    """
    n, d = X.shape
    rng = check_random_state(random_state)
    k = min(n_directions + 12, n, d)
    rows = np.zeros(n, dtype=np.int8)
    mean = np.zeros(d)
    for batch, _ in row_batches(X, rows):
        mean += batch.sum(axis=0, dtype=np.float64)
    mean /= n
    basis = linalg.qr(rng.standard_normal((d, k)), mode="economic", check_finite=False)[0]
    for done in range(1, _PASSES + 1):
        image = np.zeros((d, k))
        for batch, _ in row_batches(X, rows):
            centred = batch - mean
            image += centred.T @ (centred @ basis)
        # The last pass gives Rayleigh quotients, so its basis is rotated and not replaced.
        if done < _PASSES:
            basis = linalg.qr(image, mode="economic", check_finite=False)[0]
        report("directions of most variance", done, _PASSES)
    values, rotation = linalg.eigh(basis.T @ image, check_finite=False)
    order = np.argsort(values)[::-1][:n_directions]
    return mean, basis @ rotation[:, order], np.sqrt(np.maximum(values[order], 0))
