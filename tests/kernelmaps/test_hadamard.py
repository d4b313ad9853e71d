"""The Walsh-Hadamard transform against the explicit matrix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import hadamard

from mien.errors import InputError
from mien.kernelmaps import hadamard_transform
from mien.kernelmaps._hadamard import _transform_numpy
from tests.near import assert_near


@pytest.mark.parametrize("d", [1, 2, 4, 8, 64, 512])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_the_matrix(d: int, dtype: type) -> None:
    X = np.random.default_rng(0).normal(size=(3, 2, d)).astype(dtype)
    result = hadamard_transform(X)
    assert result.dtype == dtype
    assert result.shape == X.shape
    np.testing.assert_allclose(result, X @ hadamard(d), rtol=0, atol=1e-5 * d)


@pytest.mark.parametrize("d", [64, 1 << 14])
def test_long_rows_and_the_numpy_twin_agree(d: int) -> None:
    X = np.random.default_rng(1).normal(size=(3, d))
    expected = X.copy()
    _transform_numpy(expected)
    assert_near(hadamard_transform(X), expected, digits=8)


def test_in_place_and_its_own_inverse() -> None:
    X = np.random.default_rng(2).normal(size=(4, 256)).astype(np.float32)
    kept = X.copy()
    assert hadamard_transform(X, overwrite=True, normalize=True) is X
    assert not np.allclose(X, kept)
    hadamard_transform(X, overwrite=True, normalize=True)
    np.testing.assert_allclose(X, kept, atol=1e-5)


def test_the_input_is_kept_and_integers_are_taken() -> None:
    X = np.arange(8)
    assert hadamard_transform(X)[0] == 28
    np.testing.assert_array_equal(X, np.arange(8))


@pytest.mark.parametrize(
    ("X", "overwrite", "message"),
    [
        (np.zeros((2, 6)), False, "power of two"),
        (np.zeros((2, 0)), False, "power of two"),
        (np.float64(3.0), False, "one axis"),
        (np.zeros((4, 4), dtype=int), True, "overwrite"),
        (np.zeros((4, 4)).T[::2], True, "overwrite"),
        ([1.0, 2.0], True, "overwrite"),
    ],
)
def test_bad_input_is_refused(X: object, overwrite: bool, message: str) -> None:
    with pytest.raises(InputError, match=message):
        hadamard_transform(X, overwrite=overwrite)  # type: ignore[arg-type]
