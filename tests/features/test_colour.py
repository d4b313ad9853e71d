"""Colour and texture features against skimage and SciPy's full DCT."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.fft import dctn
from skimage.color import rgb2luv

from mien.errors import InputError
from mien.features import block_dct, colour_texture, luv_histogram
from tests.near import assert_near


def _pictures() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (3, 32, 64, 3), dtype=np.uint8)


def test_histogram_counts_pixels_of_each_colour() -> None:
    two = np.zeros((1, 4, 4, 3), np.uint8)
    two[:, :, :1] = [255, 0, 0]
    histogram = luv_histogram(two)[0]
    assert histogram.shape == (4096,)
    assert sorted(histogram[histogram > 0].tolist()) == [0.25, 0.75]
    assert_near(luv_histogram(_pictures()).sum(axis=1), 1, digits=6)


def test_every_srgb_colour_is_inside_the_range() -> None:
    steps = np.linspace(0, 1, 18)
    cube = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(1, -1, 3)
    luv = rgb2luv(cube)[0]
    assert luv[:, 1].min() > -84
    assert luv[:, 1].max() < 176
    assert luv[:, 2].min() > -135
    assert luv[:, 2].max() < 108


def test_blocks_equal_the_full_transform() -> None:
    pictures = _pictures()
    tall = block_dct(pictures[:, :, :32], grid=8).reshape(3, 8, 8, 4)
    block = rgb2luv(pictures[1])[..., 0][4:8, 8:12] / 100
    full = dctn(block, norm="ortho") / 4
    expected = [full[0, 0], full[0, 1], full[1, 0], full[2, 0]]
    np.testing.assert_allclose(tall[1, 1, 2], expected, atol=1e-5)


def test_size_does_not_change_a_smooth_picture() -> None:
    ramp = np.linspace(0, 1, 64)[None, :, None, None] * np.ones((1, 1, 64, 3))
    large = block_dct(np.repeat(np.repeat(ramp, 2, axis=1), 2, axis=2))
    np.testing.assert_allclose(block_dct(ramp)[0, ::4], large[0, ::4], atol=0.02)


def test_pictures_of_different_sizes_and_the_whole_vector() -> None:
    pictures = [_pictures()[0], _pictures()[1][:20, :50]]
    features = colour_texture(pictures)
    assert features.shape == (2, 5120)
    assert_near(features[:, :4096], luv_histogram(pictures), digits=7)
    assert_near(features[:, 4096:], block_dct(pictures), digits=7)


def test_grey_and_empty_are_refused() -> None:
    with pytest.raises(InputError, match="h, w, 3"):
        colour_texture(np.zeros((2, 8, 8), np.uint8))
    with pytest.raises(InputError, match="empty"):
        luv_histogram([])
    with pytest.raises(InputError, match="n_coefficients"):
        block_dct(_pictures(), n_coefficients=11)
