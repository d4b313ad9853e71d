"""PSNR and SSIM against their formulae and scikit-image."""

from __future__ import annotations

import json

import numpy as np
import pytest
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from mien.errors import InputError
from mien.evaluation import evaluate_completion, psnr, ssim


def draw(shape=(4, 16, 20), seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(shape)
    return truth, np.clip(truth + 0.1 * rng.normal(size=shape), 0, 1)


@pytest.mark.parametrize("shape", [(4, 16, 20), (3, 16, 16, 3)])
def test_equal_scikit_image(shape) -> None:
    truth, completed = draw(shape)
    for k, value in enumerate(psnr(truth, completed)):
        theirs = peak_signal_noise_ratio(truth[k], completed[k], data_range=1.0)
        assert value == pytest.approx(theirs, abs=1e-4)
    axis = -1 if len(shape) == 4 else None
    for k, value in enumerate(ssim(truth, completed)):
        theirs = structural_similarity(
            truth[k],
            completed[k],
            data_range=1.0,
            channel_axis=axis,
            gaussian_weights=True,
            sigma=1.5,
            use_sample_covariance=False,
        )
        assert value == pytest.approx(theirs, abs=1e-4)


def test_bytes_and_cover() -> None:
    truth, completed = np.zeros((1, 12, 12), np.uint8), np.zeros((1, 12, 12), np.uint8)
    completed[0, :6] = 51
    cover = np.zeros((12, 12), bool)
    cover[:6] = True
    assert psnr(truth, completed, cover=cover)[0] == pytest.approx(-20 * np.log10(0.2), abs=1e-5)
    assert psnr(truth, completed, cover=~cover)[0] == np.inf
    result = evaluate_completion(truth, completed, cover=cover)
    assert result["psnr_covered"]["value"] == pytest.approx(-20 * np.log10(0.2), abs=1e-5)


def test_evaluate() -> None:
    truth, completed = draw((6, 16, 16))
    completed[0] = truth[0]
    result = evaluate_completion(truth, completed, people=list("aabbcc"), failures=2)
    json.dumps(result, allow_nan=False)
    values = psnr(truth, completed)[1:]
    assert result["n_identical"] == 1
    assert result["psnr"]["value"] == pytest.approx(values.mean())
    assert result["psnr"]["std"] == pytest.approx(values.std(ddof=1))
    assert result["psnr"]["low"] < values.mean() < result["psnr"]["high"]
    same = evaluate_completion(truth, truth)
    assert same["psnr"]["value"] is None
    assert same["ssim"]["value"] == pytest.approx(1)
    assert evaluate_completion(truth[:, :8, :8], completed[:, :8, :8])["ssim"] is None


def test_bad_input() -> None:
    truth, completed = draw()
    with pytest.raises(InputError, match="one shape"):
        psnr(truth, completed[:, :10])
    with pytest.raises(InputError, match=r"\[0, 1\]"):
        psnr(truth, completed * 255)
    with pytest.raises(InputError, match="11 × 11"):
        ssim(truth[:, :8], completed[:, :8])
    with pytest.raises(InputError, match="cover"):
        psnr(truth, completed, cover=np.ones(3))
