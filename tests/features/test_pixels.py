"""Local normalisation against a loop over windows."""

from __future__ import annotations

import numpy as np
import pytest

import mien
from mien.errors import InputError
from mien.features import PixelFeatures, normalise_locally
from tests.near import assert_near


def test_it_is_zero_mean_and_unit_variance_in_the_window():
    image = np.random.default_rng(0).random((1, 12, 14))
    got = normalise_locally(image, window=5)
    patch = image[0, 3:8, 4:9].astype(np.float32).astype(float)
    want = (patch[2, 2] - patch.mean()) / patch.std()
    assert got[0, 5, 6] == pytest.approx(want, abs=1e-5)
    assert got.dtype == np.float32


def test_light_that_scales_and_shifts_is_gone():
    image = np.random.default_rng(1).random((2, 10, 10))
    np.testing.assert_allclose(
        normalise_locally(0.3 * image + 0.2), normalise_locally(image), atol=1e-4
    )


def test_flat_regions_are_not_amplified():
    flat = np.full((1, 9, 9), 0.4) + 1e-5 * np.random.default_rng(2).random((1, 9, 9))
    assert np.abs(normalise_locally(flat)).max() < 0.01


def test_pixels_as_vectors(tmp_path):
    X = (np.random.default_rng(3).random((5, 8, 6)) * 255).astype(np.uint8)
    plain = PixelFeatures(window=None).fit(X)
    assert_near(plain.transform(X), X.reshape(5, -1) / 255, digits=5)
    local = PixelFeatures().fit(X)
    assert_near(local.transform(X).reshape(X.shape), normalise_locally(X), digits=5)
    mien.save(local, tmp_path / "p.mien")
    assert_near(mien.load(tmp_path / "p.mien").transform(X), local.transform(X), digits=5)
    with pytest.raises(InputError, match="must be"):
        local.transform(X[:, :4])
    with pytest.raises(InputError, match="odd"):
        normalise_locally(X, window=4)
