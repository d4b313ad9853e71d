"""One door for arrays: nasty ones through every public method of every estimator."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest
from scipy import sparse

from mien._core.rows import check_rows, check_sets, settle_range
from mien.errors import InputError, InputTypeError
from mien.subspace import Eigenfaces
from tests.sweep import Sweep, estimators, find_calls, public_methods, trials

# All of them: python -m benchmarks forged arrays
MANY = int(os.environ.get("MIEN_FUZZ", "1"))
SEED = int(os.environ.get("MIEN_FUZZ_SEED", "15"))
SAMPLE = 300 * MANY


@pytest.fixture(scope="module")
def sweep() -> Sweep:
    return Sweep()


def test_every_public_method_is_swept() -> None:
    for estimator in estimators().values():
        for method in public_methods(estimator):
            assert find_calls(estimator, method), (type(estimator).__name__, method)


def test_a_sample_of_the_sweep(sweep: Sweep) -> None:
    # Another sample for every state of the code would hide what fails: the draw is fixed.
    every = list(trials(SEED))
    drawn = random.Random(SEED).sample(every, min(SAMPLE, len(every)))
    faults = [(t, *sweep.run(t)) for t in sorted(drawn)]
    assert [f for f in faults if f[1] not in ("worked", "refused")] == []
    assert sum(f[1] == "worked" for f in faults) > len(faults) // 10


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_range(dtype: type) -> None:
    X = np.array([[1.0, 1e-20], [-2.0, 0.0]], dtype)
    settled = settle_range("X", X)
    assert settled.dtype == dtype
    assert settled.tolist() == [[1.0, 0.0], [-2.0, 0.0]]
    fine = np.array([[1.0, 0.5]], dtype)
    assert settle_range("X", fine) is fine
    with pytest.raises(InputError, match=r"up to 1e\+2\d in magnitude"):
        settle_range("X", np.array([1.0, -1e20], dtype))
    with pytest.raises(InputError, match="1 NaN entries among 2"):
        settle_range("X", np.array([1.0, np.nan], dtype))
    with pytest.raises(InputError, match="NaN or infinite"):
        settle_range("X", np.array([np.inf, np.nan], dtype), nan=True)
    assert np.isnan(settle_range("X", np.array([1e-20, np.nan], dtype), nan=True)).sum() == 1
    with pytest.raises(InputError, match="scale the values first"):
        settle_range("X", np.full(3, 1e-20, dtype), fitting=True)


def test_range_of_what_lies_anyhow_in_memory() -> None:
    X = np.ones((300, 200))
    for view in (X[::2, ::3], X.T, X[:, ::-1]):
        assert settle_range("X", view) is view
    X[299, 199] = 1e16
    for view in (X[1::2, 1::3], X.T, X[:, ::-1]):
        with pytest.raises(InputError, match="overflow"):
            settle_range("X", view)


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (sparse.eye(3).tocsr(), InputTypeError, "dense"),
        (np.zeros((2, 2), "M8[s]"), InputError, "dates"),
        (np.array([["1", "2"]]), InputError, "text"),
        ([[1, 2], [3]], InputError, "one length"),
        (np.ma.masked_array([[1.0, 2.0]], [[True, False]]), InputError, "masked"),
        (np.array([[1j, 2]]), InputError, "Complex"),
        (np.array([[{}, 1]], dtype=object), InputTypeError, "argument must be a string or a"),
        (np.array([[10**400, 1]], dtype=object), InputError, "too large"),
        (np.array([["a", 1]], dtype=object), InputError, "str among them"),
    ],
)
def test_other_things_are_refused_in_one_sentence(X: object, error: type, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        check_rows(X)
    assert "\n" not in str(caught.value)


def test_errors_do_not_repeat_the_vectors() -> None:
    model = Eigenfaces().fit(np.random.default_rng(0).normal(size=(9, 4)))
    secret = np.full(4, 0.12345678)
    with pytest.raises(InputError, match="Reshape your data") as caught:
        model.transform(secret)
    assert "12345" not in str(caught.value)


def test_sets() -> None:
    assert [a.shape for a in check_sets("probes", [np.ones(3), np.ones((2, 3))])] == [
        (1, 3),
        (2, 3),
    ]
    for bad in ([], None, [np.ones((0, 3))], [np.ones(3), np.ones(2)], [np.ones((1, 1, 3))]):
        with pytest.raises(InputError):
            check_sets("probes", bad)
