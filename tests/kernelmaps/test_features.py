"""Fastfood and Kitchen Sinks: the matrix, the kernel, the way back."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.spatial.distance import cdist

from mien.errors import InputError, NumericsWarning
from mien.kernelmaps import Fastfood, RandomKitchenSinks
from mien.kernelmaps._base import _write_features
from mien.kernelmaps._fastfood import _project_numpy
from tests.near import assert_near

MAPS = [Fastfood, RandomKitchenSinks]


def _explicit_matrix(fastfood: Fastfood) -> np.ndarray:
    """The rows of V from the definition: S H G Π H B / (σ √d), block under block."""
    d = fastfood.signs_.shape[1]
    H = hadamard(d)
    blocks = []
    for B, order, G, S in zip(
        fastfood.signs_, fastfood.order_, fastfood.gains_, fastfood.scales_, strict=True
    ):
        permutation = np.eye(d)[order]
        block = np.diag(S) @ H @ np.diag(G) @ permutation @ H @ np.diag(B)
        blocks.append(block / (fastfood.sigma_ * np.sqrt(d)))
    V = np.concatenate(blocks)[: fastfood.n_frequencies_]
    return V[:, : fastfood.n_features_in_]


def _features(V: np.ndarray, X: np.ndarray, features: str) -> np.ndarray:
    parts = {"sincos": (np.cos, np.sin), "sin": (np.sin,), "cos": (np.cos,)}[features]
    return np.concatenate([part(X @ V.T) for part in parts], axis=1) / np.sqrt(len(V))


@pytest.mark.parametrize("features", ["sincos", "sin", "cos"])
@pytest.mark.parametrize(("width", "expansion"), [(1, 3), (5, 2), (64, 1), (100, 2.3), (33, 0.5)])
def test_fastfood_equals_the_explicit_matrix(width: int, expansion: float, features: str) -> None:
    X = np.random.default_rng(width).normal(size=(7, width))
    fastfood = Fastfood(expansion, sigma=1.7, functions=features, random_state=3).fit(X)
    V = _explicit_matrix(fastfood)
    expected = _features(V, X, features)
    assert_near(fastfood.transform(X), expected, digits=8)
    single = fastfood.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, atol=1e-5)
    twin = _project_numpy(X, *fastfood._diagonals(X.dtype), fastfood.n_frequencies_)
    assert_near(twin, X @ V.T, digits=8)
    assert_near(fastfood._project(X), X @ V.T, digits=8)


def test_rows_of_fastfood_are_as_long_as_gaussian_ones() -> None:
    fastfood = Fastfood(8, sigma=1.0, random_state=0).fit(np.zeros((2, 128)))
    squares = np.sum(_explicit_matrix(fastfood) ** 2, axis=1)
    # chi-squared with 128 degrees: mean 128, variance 256
    assert abs(squares.mean() - 128) < 4 * np.sqrt(256 / squares.size)
    assert 0.7 < squares.var() / 256 < 1.4


@pytest.mark.parametrize("features", ["sincos", "sin"])
def test_polynomials_hold_for_large_angles(features: str) -> None:
    angles = np.random.default_rng(0).uniform(-3000, 3000, size=(4, 3000)).astype(np.float32)
    sinks = RandomKitchenSinks(3000, sigma=1.0, functions=features).fit(np.zeros((1, 1)))
    sinks.frequencies_ = np.ones((3000, 1))
    out = np.empty((4, sinks._n_features_out), np.float32)
    sinks._project = lambda X: angles
    sinks._transform_into(np.zeros((4, 1), np.float32), out)
    expected = np.empty(out.shape)
    _write_features(angles.astype(np.float64), features, expected)
    assert_near(out * np.sqrt(3000), expected * np.sqrt(3000), digits=5)


@pytest.mark.parametrize("cls", MAPS)
def test_kernel_error_falls_with_the_root_of_the_frequencies(cls: Any) -> None:
    X = np.random.default_rng(0).normal(size=(40, 64))
    sigma = np.sqrt(64)
    exact = np.exp(-cdist(X, X, "sqeuclidean") / (2 * sigma**2))
    errors = {}
    for expansion in (1, 16):
        squares = []
        for seed in range(12):
            Z = cls(expansion, sigma=sigma, random_state=seed).fit_transform(X)
            squares.append(np.mean((Z @ Z.T - exact) ** 2))
        errors[expansion] = np.sqrt(np.mean(squares))
    assert 3.2 < errors[1] / errors[16] < 5  # √16 = 4
    # Var[cos(w·Δ)] = (1 + k(2Δ)) / 2 − k², averaged over the pairs: the Gaussian matrix's level
    variance = np.mean((1 + exact**4) / 2 - exact**2)
    # the rows of a Fastfood block are not independent, which costs a third more error
    ceiling = 1.45 if cls is Fastfood else 1.15
    assert 0.85 < errors[16] / np.sqrt(variance / (16 * 64)) < ceiling


def test_sine_alone_is_not_the_kernel() -> None:
    X = np.random.default_rng(0).normal(size=(30, 32))
    sigma = 6.0
    Z = Fastfood(200, sigma=sigma, functions="sin", random_state=0).fit_transform(X)
    minus = np.exp(-cdist(X, X, "sqeuclidean") / (2 * sigma**2))
    plus = np.exp(-cdist(X, -X, "sqeuclidean") / (2 * sigma**2))
    np.testing.assert_allclose(Z @ Z.T, (minus - plus) / 2, atol=0.06)
    assert np.abs(Z @ Z.T - minus).max() > 0.3


@pytest.mark.parametrize("cls", MAPS)
@pytest.mark.parametrize("features", ["sincos", "sin"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_round_trip_is_exact_inside_the_domain(cls: Any, features: str, dtype: type) -> None:
    X = np.random.default_rng(0).uniform(size=(20, 100)).astype(dtype)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    maps = cls(4, sigma="invertible", functions=features, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = maps.inverse_transform(maps.transform(X))
    assert back.dtype == dtype
    np.testing.assert_allclose(back, X, atol=1e-5)


@pytest.mark.parametrize("features", ["sincos", "sin"])
def test_outside_the_domain_the_share_is_told(features: str) -> None:
    X = np.random.default_rng(0).normal(size=(20, 64))
    maps = Fastfood(4, sigma=2.0, functions=features, random_state=0).fit(X)
    with pytest.warns(NumericsWarning, match=r"\d+\.\d+% of the entries"):
        maps.inverse_transform(maps.transform(X))


def test_the_way_back_says_what_it_needs() -> None:
    X = np.random.default_rng(0).normal(size=(10, 64))
    cosines = Fastfood(2, functions="cos", random_state=0).fit(X)
    with pytest.raises(InputError, match="sign"):
        cosines.inverse_transform(cosines.transform(X))
    few = Fastfood(0.5, random_state=0).fit(X)
    with pytest.raises(InputError, match="32 frequencies cannot determine 64"):
        few.inverse_transform(few.transform(X))
    with pytest.raises(InputError, match="64 columns"):
        few.inverse_transform(X[:, :7])
    one = Fastfood(1, sigma="invertible", random_state=0).fit(X)
    with pytest.warns(NumericsWarning, match="badly conditioned"):
        one.inverse_transform(one.transform(X))


@pytest.mark.parametrize("cls", MAPS)
def test_sigma_and_seeds(cls: Any) -> None:
    X = np.random.default_rng(0).normal(size=(200, 10))
    median = cls(2, random_state=0).fit(X)
    assert median.sigma_ == pytest.approx(np.median(cdist(X, X)[np.triu_indices(200, 1)]))
    assert_near(median.transform(X), cls(2, random_state=0).fit(X).transform(X), digits=5)
    assert not np.allclose(median.transform(X), cls(2, random_state=1).fit(X).transform(X))
    assert cls(2, sigma="median").fit(np.ones((3, 4))).sigma_ == 1.0


def test_streams_give_what_the_whole_gives() -> None:
    X = np.random.default_rng(0).normal(size=(50, 20)).astype(np.float32)
    fastfood = Fastfood(2, random_state=0)
    for batch in np.split(X, 5):
        fastfood.partial_fit(batch)
    parts = np.concatenate(list(fastfood.iter_transform(np.split(X, 5))))
    assert_near(parts, fastfood.transform(X), digits=5)
    with pytest.raises(ValueError, match="features"):
        fastfood.partial_fit(X[:, :3])
