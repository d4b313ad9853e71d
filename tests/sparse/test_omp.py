"""Orthogonal matching pursuit against scikit-learn and the definition."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import orthogonal_mp

from mien._core.parallel import map_threads
from mien.errors import InputError
from mien.sparse import _omp, orthogonal_matching_pursuit
from mien.sparse._omp import _normalise, _pursue_block, _pursue_numpy, gram_matrix
from tests.near import assert_near


def _problem(seed: int, n: int, d: int, n_atoms: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    dictionary = rng.normal(size=(n_atoms, d))
    dictionary /= np.linalg.norm(dictionary, axis=1, keepdims=True)
    return rng.normal(size=(n, d)), dictionary


def _reference(X: np.ndarray, dictionary: np.ndarray, **options: Any) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        codes = orthogonal_mp(dictionary.T, X.T, **options)
    return codes.T.reshape(len(X), len(dictionary))


@pytest.mark.parametrize("seed", range(40))
def test_equals_scikit_learn(seed: int) -> None:
    """Fifty signals each: two thousand problems of all shapes, wide and tall."""
    rng = np.random.default_rng(1000 + seed)
    d, n_atoms = int(rng.integers(3, 60)), int(rng.integers(2, 120))
    n_nonzero_coefs = int(rng.integers(1, min(d, n_atoms, 15) + 1))
    X, dictionary = _problem(seed, 50, d, n_atoms)
    codes = orthogonal_matching_pursuit(X, dictionary, n_nonzero_coefs=n_nonzero_coefs)
    expected = _reference(X, dictionary, n_nonzero_coefs=n_nonzero_coefs)
    assert_near(codes.toarray(), expected, digits=6)
    assert codes.has_canonical_format


def test_more_atoms_than_a_block() -> None:
    X, dictionary = _problem(0, 20, 100, 1300)
    codes = orthogonal_matching_pursuit(X, dictionary, n_nonzero_coefs=12)
    expected = _reference(X, dictionary, n_nonzero_coefs=12)
    assert_near(codes.toarray(), expected, digits=8)


@pytest.mark.parametrize("tol", [0.5, 3.0])
def test_stops_at_the_tolerance_as_scikit_learn_does(tol: float) -> None:
    X, dictionary = _problem(1, 100, 20, 50)
    codes, energy = orthogonal_matching_pursuit(X, dictionary, tol=tol, return_energy=True)
    assert_near(codes.toarray(), _reference(X, dictionary, tol=tol), digits=8)
    residual = ((X - codes @ dictionary) ** 2).sum(axis=1)
    assert_near(energy, residual, digits=8)
    assert energy.max() <= tol
    # with both rules, whichever holds first stops
    both = orthogonal_matching_pursuit(X, dictionary, tol=tol, n_nonzero_coefs=3)
    counts = np.minimum(np.diff(codes.indptr), 3)
    np.testing.assert_array_equal(np.diff(both.indptr), counts)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernel_and_twin_agree(dtype: type) -> None:
    X, dictionary = (a.astype(dtype) for a in _problem(2, 30, 40, 90))
    _, _, gram = _normalise(dictionary)
    energy = np.einsum("ij,ij->i", X, X)
    stops = (0.0, 1e-6, 1e-5)
    supports, values, left = _pursue_numpy(X @ dictionary.T, energy, gram, stops, 8)
    found = _pursue_block(X @ dictionary.T, energy, gram, stops, 8)
    assert found[1].dtype == dtype
    np.testing.assert_array_equal(found[0], np.concatenate(supports))
    np.testing.assert_allclose(found[1], np.concatenate(values), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(found[3], left, atol=1e-3)


def test_atoms_of_any_length_give_the_same_support_and_fit() -> None:
    X, dictionary = _problem(3, 50, 30, 60)
    lengths = np.random.default_rng(0).uniform(0.01, 100, size=60)
    codes = orthogonal_matching_pursuit(X, dictionary, n_nonzero_coefs=5)
    scaled = orthogonal_matching_pursuit(X, dictionary * lengths[:, None], n_nonzero_coefs=5)
    assert_near(scaled.toarray() * lengths, codes.toarray(), digits=8)


def test_duplicate_and_zero_atoms_are_passed_over() -> None:
    X, dictionary = _problem(4, 40, 8, 5)
    doubled = np.concatenate([dictionary, dictionary, np.zeros((2, 8))])
    codes = orthogonal_matching_pursuit(X, doubled, n_nonzero_coefs=8).toarray()
    assert np.count_nonzero(codes, axis=1).max() <= 5
    assert not codes[:, 10:].any()
    best = np.linalg.lstsq(dictionary.T, X.T)[0].T
    assert_near(codes[:, :5] + codes[:, 5:10], best, digits=8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_explained_signals_stop_early(dtype: type) -> None:
    X, dictionary = _problem(5, 4, 30, 60)
    X[0] = 0
    X[1] = 3 * dictionary[7]
    X[2] = dictionary[7] - 2 * dictionary[11]
    codes = orthogonal_matching_pursuit(
        X.astype(dtype), dictionary.astype(dtype), n_nonzero_coefs=10
    ).toarray()
    assert not codes[0].any()
    np.testing.assert_array_equal(np.flatnonzero(codes[1]), [7])
    assert_near(codes[1, 7], 3, digits=5)
    np.testing.assert_allclose(codes[2] @ dictionary, X[2], atol=1e-4)
    assert np.count_nonzero(codes[3]) == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "n_nonzero_coefs, tol"),
        ({"n_nonzero_coefs": 0}, "between 1 and the 9 atoms"),
        ({"n_nonzero_coefs": 10}, "between 1 and the 9 atoms"),
        ({"tol": -1.0}, "negative"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        orthogonal_matching_pursuit(np.ones((2, 4)), np.eye(9, 4), **options)


def test_bad_arrays_are_refused() -> None:
    with pytest.raises(InputError, match="signals of 4"):
        orthogonal_matching_pursuit(np.ones((2, 4)), np.eye(5), n_nonzero_coefs=1)
    with pytest.raises(ValueError, match="NaN"):
        orthogonal_matching_pursuit(np.full((2, 4), np.nan), np.eye(4), n_nonzero_coefs=1)


def test_gram_matrix_in_blocks_is_the_product() -> None:
    atoms = np.random.default_rng(0).normal(size=(1100, 7))
    gram = gram_matrix(atoms)
    assert_near(gram, atoms @ atoms.T, digits=8)
    np.testing.assert_array_equal(gram, gram.T)


def test_blocks_in_threads_give_what_one_thread_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X, atoms = rng.normal(size=(700, 40)), rng.normal(size=(60, 40))
    monkeypatch.setattr(_omp, "_BLOCK_BYTES", 1)
    alone = orthogonal_matching_pursuit(X, atoms, n_nonzero_coefs=5)
    monkeypatch.setattr(_omp, "map_threads", partial(map_threads, n_threads=3))
    together = orthogonal_matching_pursuit(X, atoms, n_nonzero_coefs=5)
    assert_near(together.toarray(), alone.toarray(), digits=6)
