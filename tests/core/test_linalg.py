"""Ranks, thin decompositions, null spaces and two forms at once."""

from __future__ import annotations

import numpy as np
import pytest

from mien._core.linalg import (
    gram_svd,
    null_space,
    numerical_rank,
    simultaneous_diagonalisation,
    symmetrize,
    thin_svd,
)
from mien.errors import InputError
from tests.near import assert_near


def _low_rank(n: int, d: int, rank: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d))


@pytest.mark.parametrize(("n", "d", "rank"), [(8, 20, 3), (20, 8, 8), (9, 9, 1), (5, 7, 5)])
def test_thin_svd_keeps_the_range(n: int, d: int, rank: int) -> None:
    X = _low_rank(n, d, rank, 0)
    U, s, Vt = thin_svd(X)
    assert s.shape == (rank,)
    assert_near(U * s @ Vt, X, digits=8)
    assert_near(Vt @ Vt.T, np.eye(rank), digits=8)
    assert np.all(Vt[np.arange(rank), np.abs(Vt).argmax(axis=1)] > 0)
    again = thin_svd(-X)
    assert_near(again.Vt, Vt, digits=8)


@pytest.mark.parametrize(("n", "d", "rank"), [(8, 30, 7), (30, 8, 8), (9, 12, 4)])
def test_the_quick_decomposition_agrees_with_the_exact_one(n: int, d: int, rank: int) -> None:
    X = _low_rank(n, d, rank, 4)
    quick, exact = gram_svd(X), thin_svd(X)
    assert quick.s.shape == exact.s.shape == (rank,)
    assert_near(quick.s, exact.s, digits=6)
    assert_near(quick.Vt, exact.Vt, digits=6)
    assert_near(quick.U * quick.s @ quick.Vt, X, digits=6)


@pytest.mark.parametrize(("n", "d", "rank"), [(8, 20, 3), (20, 8, 5), (4, 6, 4)])
def test_null_space_is_orthonormal_and_null(n: int, d: int, rank: int) -> None:
    X = _low_rank(n, d, rank, 1)
    basis = null_space(X)
    assert basis.shape == (d, d - rank)
    assert_near(X @ basis, 0, digits=8, scale=1)
    assert_near(basis.T @ basis, np.eye(d - rank), digits=8)


def test_zero_and_empty_matrices_have_rank_zero() -> None:
    assert numerical_rank(np.zeros(3), 1e-9) == 0
    assert numerical_rank(np.zeros(0), 1e-9) == 0
    assert thin_svd(np.zeros((3, 4))).s.size == 0
    assert null_space(np.zeros((3, 4))).shape == (4, 4)


@pytest.mark.parametrize("within_rank", [6, 4])
def test_two_forms_at_once(within_rank: int) -> None:
    root = _low_rank(6, 6, within_rank, 2)
    within = root.T @ root
    between = symmetrize(_low_rank(6, 6, 3, 3))
    between = between @ between.T
    V, ratios = simultaneous_diagonalisation(within, between)
    assert V.shape == (6, within_rank)
    assert_near(V.T @ within @ V, np.eye(within_rank), digits=8)
    scale = np.abs(ratios).max()
    assert_near(V.T @ between @ V / scale, np.diag(ratios) / scale, digits=8)
    assert np.all(np.diff(ratios) <= 0)
    assert np.all(ratios >= 0)


def test_no_within_variation_is_refused() -> None:
    with pytest.raises(InputError, match="is zero"):
        simultaneous_diagonalisation(np.zeros((3, 3)), np.eye(3))
