"""Dense paired descriptors of pictures and of video, against loops and known pictures."""

from __future__ import annotations

import numpy as np
import pytest

from mien.errors import InputError
from mien.features._dense import (
    PairedDescriptors,
    colour_statistics,
    gradient_histograms,
    lbp_histograms,
    orientation_channels,
    sum_cells,
)
from mien.features._video import motion_descriptors
from tests.near import assert_near


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_cells_are_summed_as_by_loops(rng: np.random.Generator) -> None:
    channels = rng.random((20, 25, 3))
    corners = np.array([[0, 0], [4, 13], [12, 17]])
    found = sum_cells(channels, corners, cells=2, cell=4)
    for corner, patch in zip(corners, found, strict=True):
        for cell in range(4):
            r, c = corner + 4 * np.array(divmod(cell, 2))
            assert_near(patch[cell], channels[r : r + 4, c : c + 4].sum((0, 1)), digits=7)


def test_orientations_share_their_length_between_two_bins() -> None:
    angles = np.linspace(0, 2 * np.pi, 33)[None, :-1]
    channels = orientation_channels(3 * np.cos(angles), 3 * np.sin(angles), 8)
    assert_near(channels.sum(axis=2), 3, digits=7)
    assert np.all((channels > 1e-12).sum(axis=2) <= 2)
    assert_near(channels[0, 4], [0, 3, 0, 0, 0, 0, 0, 0], digits=8)


def test_a_ramp_has_one_orientation() -> None:
    ramp = np.tile(np.arange(32) / 40, (32, 1))
    found = gradient_histograms(ramp).reshape(-1, 16, 8)
    assert found.shape == (9, 16, 8)
    assert_near(found[:, :, 0], 0.25, digits=6)
    assert_near(found[:, :, 1:], 0, digits=6, scale=1)
    assert not gradient_histograms(np.full((32, 32), 0.5)).any()


def test_histograms_are_roots_of_shares(rng: np.random.Generator) -> None:
    picture = rng.random((24, 40))
    for found in (gradient_histograms(picture), lbp_histograms(picture)):
        assert_near(np.square(found).sum(axis=1), 1, digits=5)
        assert found.dtype == np.float32
    # A pattern knows only which neighbour is brighter: not how much, and not by which light.
    dim = rng.integers(0, 128, (24, 40)) / 255
    assert_near(lbp_histograms(2 * dim), lbp_histograms(dim), digits=6)
    assert np.abs(lbp_histograms(1 - dim) - lbp_histograms(dim)).max() > 0.1


def test_colours_are_means_and_deviations() -> None:
    red = np.zeros((16, 16, 3))
    red[..., 0] = 1
    found = colour_statistics(red).reshape(16, 6)
    np.testing.assert_allclose(found[:, :3], [[0.5324, 0.8009, 0.6720]] * 16, atol=1e-3)
    np.testing.assert_allclose(found[:, 3:], 0, atol=1e-4)


def test_pictures_of_different_sizes_become_bags(rng: np.random.Generator) -> None:
    pictures = [rng.random((32, 40, 3)), rng.random((48, 32, 3))]
    model = PairedDescriptors("gradients", "colour", n_components=8, random_state=0)
    (X, offsets), (Y, same) = model.fit_transform(pictures)
    assert offsets.tolist() == same.tolist() == [0, 12, 27]
    again_X, again_Y = model.transform(pictures)
    assert_near(again_X[0], X, digits=6)
    assert_near(again_Y[0], Y, digits=6)
    raw = PairedDescriptors(n_components=None).fit_transform([p.mean(2) for p in pictures])
    assert raw[0][0].shape[1] == 128
    assert raw[1][0].shape[1] == 236


def test_large_pictures_are_reduced_first() -> None:
    ramp = np.tile(np.arange(120) / 150, (64, 1))
    model = PairedDescriptors(side=32, n_components=None)
    (found, offsets), _ = model.fit_transform([ramp, ramp[:32, :40]])
    assert np.diff(offsets).tolist() == [3 * 6, 3 * 4]
    inner = found[1].reshape(16, 8)
    np.testing.assert_allclose(inner[:, 0], 0.25, atol=1e-3)


def test_bad_pictures_are_named(rng: np.random.Generator) -> None:
    grey = rng.random((2, 32, 32))
    for model, pictures, said in [
        (PairedDescriptors(), [], "no pictures"),
        (PairedDescriptors(), rng.random((1, 8, 8)), "no patch of 16"),
        (PairedDescriptors(second="colour"), grey, "picture 0 is grey"),
        (PairedDescriptors(), np.full((1, 32, 32), np.nan), "picture 0 has NaN"),
        (PairedDescriptors(), [np.zeros((3, 32, 32, 3))], "picture 0 must be"),
        (PairedDescriptors(n_components=60), grey, "allows 18"),
    ]:
        with pytest.raises(InputError, match=said):
            model.fit(pictures)


def _moving_square(direction: tuple[int, int]) -> np.ndarray:
    texture = np.random.default_rng(1).integers(80, 255, size=(24, 24)).astype(np.uint8)
    frames = np.zeros((20, 90, 90), dtype=np.uint8)
    for t in range(20):
        r, c = 30 + direction[0] * t, 30 + direction[1] * t
        frames[t, r : r + 24, c : c + 24] = texture
    return frames


def test_motion_tells_directions_apart_and_shape_does_not() -> None:
    pytest.importorskip("cv2")
    right = motion_descriptors(_moving_square((0, 1)))
    down = motion_descriptors(_moving_square((1, 0)))
    assert right[0].shape[1] == 96
    assert right[1].shape[1] == 108
    assert len(right[0]) == len(right[1]) > 5
    bins = [np.square(d[1]).reshape(-1, 12, 9).sum(axis=(0, 1))[:8].argmax() for d in (right, down)]
    assert bins == [0, 2]
    still = motion_descriptors(_moving_square((0, 0)))
    assert still[0].shape == (0, 96)


def test_motion_boundaries_ignore_a_moving_camera() -> None:
    pytest.importorskip("cv2")
    kinds = ("boundaries-x", "boundaries-y")
    square = motion_descriptors(_moving_square((0, 1)), kinds=kinds)
    assert [part.shape[1] for part in square] == [108, 108]
    wide = np.random.default_rng(1).integers(0, 256, (45, 60)).repeat(2, 0).repeat(2, 1)
    camera = np.stack([wide[:, k : k + 90] for k in range(20)]).astype(np.uint8)
    flow = motion_descriptors(camera, kinds=("flow", "boundaries-x"))
    shares = [
        np.square(part).reshape(-1, 12, 9)[..., 8].sum(axis=1).mean() for part in (*flow, square[0])
    ]
    # The share of pixels without motion, without a boundary, and without one around a square.
    assert shares[0] < 0.1
    assert shares[1] > 0.9
    assert shares[2] < shares[1]


def test_bad_videos_are_named() -> None:
    for frames, said in [
        (np.zeros((20, 90, 90)), "uint8"),
        (np.zeros((10, 90, 90), np.uint8), "10 frames are too few"),
        (np.zeros((20, 20, 90), np.uint8), "no room"),
    ]:
        with pytest.raises(InputError, match=said):
            motion_descriptors(frames)
    with pytest.raises(InputError, match="multiple of three"):
        motion_descriptors(np.zeros((20, 90, 90), np.uint8), length=10)
    for kinds, said in [(("flow", "sound"), "sound"), (("flow",), "two kinds")]:
        with pytest.raises(InputError, match=said):
            motion_descriptors(np.zeros((20, 90, 90), np.uint8), kinds=kinds)
