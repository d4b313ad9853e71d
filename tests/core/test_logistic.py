"""Weighted logistic regression: the minimum, and weights that stay above zero."""

from __future__ import annotations

import numpy as np
import pytest

from mien._core.logistic import balance_classes, fit_logistic


def test_the_logistic_solver_finds_the_minimum():
    rng = np.random.default_rng(3)
    same = rng.random(4000) < 0.3
    scores = np.column_stack([3.0 * same + rng.standard_normal(4000) * 2, rng.random(4000)])
    weights = balance_classes(same)
    assert weights[same].sum() == pytest.approx(0.5)
    coefficients, offset = fit_logistic(scores, same, weights, ridge=0)
    # Two Gaussians of equal variance: the ratio is (μ₁ − μ₀)/σ² (s − mean), here 3/4 (s − 1.5).
    assert coefficients[0] == pytest.approx(0.75, abs=0.08)
    assert coefficients[1] >= 0
    assert offset == pytest.approx(-0.75 * 1.5, abs=0.3)
    margin = scores @ coefficients + offset
    gradient = weights * (1 / (1 + np.exp(-margin)) - same)
    assert abs(gradient.sum()) < 1e-6
    assert abs(gradient @ scores[:, 0]) < 1e-5
    negative = fit_logistic(-scores[:, :1], same, weights)[0]
    assert negative == pytest.approx([0.0])
