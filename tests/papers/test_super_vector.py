"""The super vector's experiment: intervals, budgets, and a set that one view cannot tell."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mien.errors import InputError
from mien.multiview import Bags
from papers.__main__ import main
from papers.super_vector.data import PairedSet, divide_within
from papers.super_vector.methods import Budget, Division, Setting
from papers.super_vector.run import (
    METHODS,
    compare_encoders,
    corrected_interval,
    run_super_vector,
    shared_variance,
)

MIXTURES = {name for name, method in METHODS.items() if method.latent[0] is not None}


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
    return PairedSet("planted", *bags, labels, splits, 4, "planted")


def test_the_super_vector_sees_what_separate_views_cannot() -> None:
    found = compare_encoders(_planted())
    accuracy = {name: values.mean() for name, values in found["accuracy"].items()}
    assert accuracy["super vector Z + G"] >= 0.9
    assert accuracy["Fisher vector, view 1"] < 0.8
    assert accuracy["both, concatenated"] < 0.8
    for name, chosen in found["settings"].items():
        assert chosen[0].endswith(("power 0.5", "power 1")), name
        assert ("q = " in chosen[0]) == (name in MIXTURES), name


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_all_methods_get_the_same_budget_of_dimensions() -> None:
    data = _planted()
    learn, judge = data.splits[0]
    budget = Budget(4, 2, 2)
    division = Division(data.first, data.second, learn, budget, 0)
    for name, method in METHODS.items():
        setting = Setting(latent=method.latent[-1], scaling=method.scalings[0])
        found, size = method.accuracy(division, setting, data.labels, judge)
        assert 0 <= found <= 1
        if "full" in name:  # a full covariance wants descriptors, and 1,200 are for three
            assert size <= 1.3 * budget.dimensions
        else:
            assert 0.7 * budget.dimensions <= size <= 1.3 * budget.dimensions, name


def test_the_choice_of_settings_sees_no_test_bag() -> None:
    data = _planted()
    train, test = data.splits[0]
    for learn, judge in divide_within(data, train, 3, 0):
        assert set(learn) | set(judge) == set(train)
        assert not set(learn) & set(judge)
        assert len(judge) == 8
    # Wrong labels of the test half change the accuracy and nothing else.
    wrong = data.labels.copy()
    wrong[test] = 1 - wrong[test]
    name = ["joint vector"]
    right, other = (
        compare_encoders(replace(data, labels=labels), name) for labels in (data.labels, wrong)
    )
    assert right["settings"] == other["settings"]
    assert right["accuracy"]["joint vector"] == pytest.approx(1 - other["accuracy"]["joint vector"])
    blocks = replace(data, groups=np.arange(40) % 5)
    for learn, judge in divide_within(blocks, train, 3, 0):
        assert not set(blocks.groups[learn]) & set(blocks.groups[judge])


@pytest.mark.needs("faces", "plots")
def test_a_quick_run_on_a_real_set(
    data_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["super-vector", "--quick", "--set", "handwritten", "--json"]
    arguments += ["--data-home", str(data_home), "--out", str(tmp_path)]
    assert main(arguments) == 0
    parts = json.loads(capsys.readouterr().out)["parts"]
    rows = next(part["rows"] for part in parts if part["kind"] == "table")
    assert [row["method"] for row in rows] == list(METHODS)
    assert rows[2]["accuracy"][0] > 0.9
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Handwritten digits" in page


def test_unknown_sets_are_named(data_home: Path) -> None:
    with pytest.raises(InputError, match="set must be one of"):
        run_super_vector(["nothing"], home=data_home)


def test_what_a_line_from_the_other_view_predicts() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    Y = np.hstack([X[:, :1], rng.normal(size=(4000, 1))])
    first, second = (Bags(view, np.arange(0, 4001, 100)) for view in (X, Y))
    found = shared_variance(first, second, np.arange(30), np.arange(30, 40))
    assert found == pytest.approx((1 / 2, 1 / 3), abs=0.03)
    alone = Bags(rng.normal(size=(4000, 2)), first.offsets)
    assert max(shared_variance(first, alone, np.arange(30), np.arange(30, 40))) < 0.01
