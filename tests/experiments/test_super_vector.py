"""The super vector's experiment: intervals, budgets, and a set that one view cannot tell."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mien.cli._app import app
from mien.errors import InputError
from mien.experiments._super_vector_data import PairedSet
from mien.experiments.super_vector import (
    METHODS,
    compare_encoders,
    corrected_interval,
    run_super_vector,
)
from mien.multiview import Bags


def test_intervals_know_that_divisions_share_samples() -> None:
    values = np.array([0.8, 0.9, 0.85, 0.95])
    mean, low, high = corrected_interval(values, 1.0)
    assert mean == pytest.approx(0.875)
    # t(3) = 3.182; variance 0.0041667 times (1/4 + 1).
    assert high - mean == pytest.approx(3.18245 * np.sqrt(1.25 * values.var(ddof=1)), rel=1e-5)
    assert mean - low == pytest.approx(high - mean)
    assert np.isnan(corrected_interval(np.array([0.5]), 1.0)[1])


def _planted() -> PairedSet:
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 2
    X = rng.normal(size=(40, 60, 2))
    Y = np.where(labels, 1, -1)[:, None, None] * X + 0.3 * rng.normal(size=X.shape)
    offsets = np.arange(41) * 60
    bags = [Bags(view.reshape(-1, 2), offsets) for view in (X, Y)]
    splits = [(np.arange(20), np.arange(20, 40))]
    return PairedSet("planted", *bags, labels, splits, 4, "planted", n_latent=2)


def test_the_super_vector_sees_what_separate_views_cannot() -> None:
    found = compare_encoders(_planted())
    accuracy = {name: values.mean() for name, values in found["accuracy"].items()}
    assert accuracy["super vector Z + G"] > 0.9
    assert accuracy["Fisher vector, view 1"] < 0.8
    assert accuracy["both, concatenated"] < 0.8
    budget = found["dimensions"]["joint vector"]
    for name in METHODS:
        assert 0.7 * budget <= found["dimensions"][name] <= 1.3 * budget, name


def test_a_quick_run_on_a_real_set(data_home: Path, tmp_path: Path) -> None:
    arguments = ["reproduce", "super-vector", "--quick", "--set", "handwritten", "--json"]
    arguments += ["--data", str(data_home), "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["sets"][0]["rows"]
    assert [row["method"] for row in rows] == list(METHODS)
    assert rows[2]["accuracy"][0] > 0.9
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Handwritten digits" in page


def test_unknown_sets_are_named(data_home: Path) -> None:
    with pytest.raises(InputError, match="set must be one of"):
        run_super_vector(["nothing"], home=data_home)
