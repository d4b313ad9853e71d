"""Compiled kernels refuse what would read or write outside their arrays."""

from __future__ import annotations

import numpy as np
import pytest

from mien.errors import InputError

pytest.importorskip("numba")

D, N = 8, 3


def _fastfood(**changed: np.ndarray) -> None:
    from mien.kernelmaps import _fourier_numba as kernels

    given = {
        "X": np.ones((N, 5)),
        "signs": np.ones((2, D)),
        "order": np.tile(np.arange(D), (2, 1)),
        "gains": np.ones((2, D)),
        "scales": np.ones((2, D)),
        "frequencies": 16,
        "amplitude": 1.0,
        "at": (0, 16),
        "single": False,
        "out": np.zeros((N, 32)),
    } | changed
    kernels.fastfood_features(*given.values())
    assert np.all(np.isfinite(given["out"]))


@pytest.mark.parametrize(
    "changed",
    [
        {"order": np.full((2, D), 2**30)},
        {"order": np.full((2, D), -1)},
        {"order": np.zeros((2, D))},
        {"order": np.zeros((1, D), int)},
        {"out": np.zeros((N, 1))},
        {"out": np.zeros((N - 1, 32))},
        {"at": (0, 17)},
        {"at": (-1, -1)},
        {"frequencies": 17},
        {"frequencies": 8},
        {"X": np.ones((N, D + 1))},
        {"gains": np.ones((2, D - 1))},
        {"signs": np.ones((2, 6)), "order": np.zeros((2, 6), int)},
    ],
    ids=str,
)
def test_fastfood(changed: dict[str, np.ndarray]) -> None:
    _fastfood()
    with pytest.raises(InputError):
        _fastfood(**changed)


def test_hadamard() -> None:
    from mien.kernelmaps import _fourier_numba as kernels

    with pytest.raises(InputError, match="power of two"):
        kernels.transform_rows(np.ones((2, 6)))
    with pytest.raises(InputError, match="power of two"):
        kernels.transform_middle(np.ones((2, 3, 4)))
    with pytest.raises(InputError, match="do not fit"):
        kernels.angle_features(np.ones((2, 3)), 1.0, (0, 3), False, np.ones((2, 5)))


@pytest.mark.parametrize(
    "changed",
    [
        {"indices": np.array([0, 4])},
        {"indices": np.array([0, -1])},
        {"pointers": np.array([0, 1, 2, 3])},
        {"pointers": np.array([0, 2, 1, 2])},
        {"pointers": np.array([0, 2])},
        {"pointers": np.array([-1, 0, 1, 2])},
        {"values": np.ones(1)},
        {"atoms": np.ones((4, 4))},
        {"out": np.zeros((2, 5))},
    ],
    ids=str,
)
def test_codes(changed: dict[str, np.ndarray]) -> None:
    from mien.sparse import _ksvd_numba as kernels

    good = {
        "X": np.ones((3, 5)),
        "pointers": np.array([0, 1, 2, 2]),
        "indices": np.array([0, 3]),
        "values": np.ones(2),
        "atoms": np.ones((4, 5)),
        "out": np.zeros((3, 5)),
    }
    kernels.residual(*good.values())
    assert good["out"].sum() == pytest.approx(5.0)
    with pytest.raises(InputError):
        kernels.residual(*(good | changed).values())
    if "out" not in changed and "values" not in changed:
        given = good | changed
        rows = given["indices"] - (given["indices"] == 3)  # 3 is a row too many
        pointers = np.array([0, 1, 2, 2, 2])
        kernels.sweep(np.ones((3, 5)), pointers, np.array([0, 2]), np.ones(2), np.ones((4, 5)), 0.0)
        with pytest.raises(InputError):
            kernels.sweep(np.ones((3, 5)), given["pointers"], rows, np.ones(2), given["atoms"], 0.0)


def test_pursuit() -> None:
    from mien.sparse import _omp_numba as kernels

    def call(n_atoms: int, n_gram: int, n_left: int) -> None:
        alpha = np.zeros((2, n_atoms))
        kernels.pursue_all(
            alpha,
            alpha.view(np.int64),
            np.int64(2**63 - 1),
            np.ones(2),
            np.eye(n_gram),
            (0.0, 1e-12, 1e-12),
            np.zeros((2, 2), np.int32),
            np.zeros((2, 2)),
            np.zeros(2, np.int64),
            np.zeros(n_left),
        )

    call(4, 4, 2)
    for wrong in ((4, 3, 2), (4, 4, 1), (0, 0, 2)):
        with pytest.raises(InputError):
            call(*wrong)


def test_scores_beyond_the_promised_range_stay_in_the_table() -> None:
    from mien.evaluation import _streaming_numba as kernels

    scores = np.array([[0.5, 1e9, -1e9, 3.5]])
    tables = np.zeros((1, 6), np.uint32)
    kernels.count_block(scores, np.array([0]), 1.0, 0, (0.0, 4.0), True, tables)
    assert tables.sum() == 4
    for starts in (np.array([5]), np.array([-1]), np.array([0, 0])):
        with pytest.raises(InputError):
            kernels.count_block(scores, starts, 1.0, 0, (0.0, 4.0), True, tables)


def test_rendered_faces() -> None:
    from mien.datasets._rendered import _shade_numba as kernels

    with pytest.raises(InputError, match="rows has the shape"):
        kernels.render(
            np.zeros((1, 3)),
            np.zeros(1, np.uint64),
            np.zeros((64, 64)),
            np.zeros((0, 0)),
            np.zeros((1, 8, 8, 1)),
        )


def test_single_precision_far_from_zero() -> None:
    from mien.kernelmaps import Fastfood

    X = np.full((2, 4), 1e8, np.float32)
    model = Fastfood(sigma=1.0, random_state=0).fit(X / np.float32(1e8))
    bound = model.transform(X / np.float32(1e8)).shape[1] ** -0.5 * 2
    assert np.all(np.abs(model.transform(X)) <= bound)
