"""Compile every kernel once, so that no first call takes seconds."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import numpy as np

from mien._core.progress import track
from mien.errors import MissingDependencyError

__all__ = ["warm_kernels"]


def _render() -> None:
    from mien.datasets import make_faces

    for colour in (False, True):
        make_faces(1, 2, size=16, colour=colour, camera="second", random_state=0)


def _expand() -> None:
    from mien.kernelmaps import Fastfood, RandomKitchenSinks, hadamard_transform

    for dtype in (np.float32, np.float64):
        X = np.ones((4, 8), dtype=dtype)
        hadamard_transform(X)
        for method in (Fastfood, RandomKitchenSinks):
            method(16, random_state=0).fit_transform(X)


def _code() -> None:
    from mien.sparse import KSVD, orthogonal_matching_pursuit

    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        X = rng.normal(size=(40, 6)).astype(dtype)
        model = KSVD(8, n_nonzero_coefs=2, max_iter=2, random_state=0).fit(X)
        orthogonal_matching_pursuit(X, model.components_, tol=0.5)


def _compare(X: np.ndarray) -> None:
    from mien.evaluation import evaluate_all_pairs, iter_score_blocks

    blocks = iter_score_blocks(lambda rows, columns: X[rows] @ X[columns].T, len(X))
    evaluate_all_pairs(blocks, np.repeat(np.arange(len(X) // 2), 2))


def _count() -> None:
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        X = rng.normal(size=(20, 4)).astype(dtype)
        _compare(X)


#: What is compiled, by the words that the progress bar shows.
_JOBS: dict[str, Callable[[], None]] = {
    "rendered people": _render,
    "random features": _expand,
    "sparse coding": _code,
    "pairs of scores": _count,
}


def warm_kernels() -> list[str]:
    """Compile the kernels and keep them beside the package, or where numba keeps its cache.

    Each method that has a compiled kernel is used once on a few numbers. What is compiled already
    is loaded, which takes less than a second.

    Returns
    -------
    list of str
        What is ready now.

    Raises
    ------
    MissingDependencyError
        Where numba is not installed: everything works without it, on slower NumPy twins.
    """
    if importlib.util.find_spec("numba") is None:
        raise MissingDependencyError("numba", "fast", "compiling kernels")
    for name in track(list(_JOBS), "compiling kernels"):
        _JOBS[name]()
    return list(_JOBS)
