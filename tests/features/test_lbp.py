"""LBP on grids and at landmarks, against counts made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

import mien
from mien.errors import InputError
from mien.features import GridLBP, LandmarkLBP
from mien.features._lbp import N_CODES, lbp_codes
from tests.near import assert_near


def faces(n=4, size=24, seed=0):
    return np.random.default_rng(seed).random((n, size, size)).astype(np.float32)


def test_codes_are_the_uniform_patterns_of_a_flat_and_of_a_bright_pixel():
    flat = lbp_codes(np.full((5, 5), 0.5), 1.0)
    assert np.unique(flat[1:-1, 1:-1]).size == 1  # equal neighbours count as brighter
    spot = np.zeros((5, 5))
    spot[2, 2] = 1.0
    assert lbp_codes(spot, 1.0)[2, 2] != flat[2, 2]
    assert lbp_codes(faces(1)[0], 2.0).max() < N_CODES


def test_a_grid_counts_every_pixel_once():
    X = faces()
    out = GridLBP(radii=(1.0,), grids=(3,)).fit_transform(X)
    assert out.shape == (4, 9 * N_CODES)
    shares = (out**2).reshape(4, 9, N_CODES)
    assert_near(shares.sum(axis=2), 1, digits=5)
    codes = lbp_codes(X[0], 1.0)
    want = np.bincount(codes[8:16, 16:24].ravel(), minlength=N_CODES) / 64
    assert_near(shares[0, 5], want, digits=5)


def test_light_that_scales_the_picture_changes_nothing():
    X = np.round(faces(3) * 100) / 255
    describe = GridLBP(radii=(1.0,), grids=(2,)).fit(X)
    assert_near(describe.transform(X * 2), describe.transform(X), digits=6)


def test_scales_and_grids_are_stacked_and_workers_agree():
    X = faces(130)
    one = GridLBP(radii=(1.0, 2.0), grids=(2, 4)).fit(X)
    assert one.transform(X).shape == (130, one.n_features_out_)
    two = GridLBP(radii=(1.0, 2.0), grids=(2, 4), n_jobs=2).fit_transform(X)
    assert_near(one.transform(X), two, digits=5)


def test_landmark_patches_are_where_the_landmarks_are():
    X = faces(2, 48)
    points = np.array([[[20.0, 24.0], [30.0, 10.0]]] * 2)
    out = LandmarkLBP(scales=(1.0,), grid=2, cell=4).fit_transform(X, landmarks=points)
    out = (out**2).reshape(2, 2, 2, 2, N_CODES)
    codes = lbp_codes(X[1], 1.0)
    # The patch is 8×8 around (x=30, y=10); its lower right cell starts at the landmark.
    want = np.bincount(codes[10:14, 30:34].ravel(), minlength=N_CODES) / 16
    assert_near(out[1, 1, 1, 1], want, digits=5)


def test_landmarks_outside_are_moved_to_the_edge():
    X = faces(1, 32)
    describe = LandmarkLBP(scales=(1.0, 0.5), grid=2, cell=3).fit(X, landmarks=[[[5, 5]]])
    far, edge = (describe.transform(X, landmarks=[[[x, 5]]]) for x in (900.0, 31.0))
    np.testing.assert_array_equal(far[:, : 4 * N_CODES], edge[:, : 4 * N_CODES])


def test_it_fits_into_a_pipeline_and_a_file(tmp_path):
    X = faces(30)
    pipeline = make_pipeline(GridLBP(grids=(2,)), PCA(3, svd_solver="full")).fit(X)
    mien.save(pipeline, tmp_path / "p.mien")
    loaded = mien.load(tmp_path / "p.mien")
    assert_near(loaded.transform(X), pipeline.transform(X), digits=5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: GridLBP(grids=(99,)).fit(X), "empty ones"),
        (lambda X: GridLBP(radii=()).fit(X), "positive"),
        (lambda X: GridLBP().fit(X).transform(X[:, :9]), "must be"),
        (lambda X: LandmarkLBP().fit(X, landmarks=np.zeros((4, 5))), "k, 2"),
        (lambda X: LandmarkLBP(scales=(2.0,)).fit(X, landmarks=np.zeros((4, 5, 2))), "scales"),
        (lambda X: GridLBP().fit(X * 300), "in \\[0, 1\\]"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call(faces())
