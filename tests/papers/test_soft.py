"""The tables of the soft null space and of preparations, on small made-up sets."""

from __future__ import annotations

import numpy as np
import pytest

from papers.committee.preparation import compare_preparations
from papers.weak_labels.soft import RULES, compare_projections, leave_one_set_out


def _made_up(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(12), 10)
    scale = 1 / np.sqrt(np.arange(1, 65))
    X = rng.normal(size=(12, 64))[people] * scale
    return X + 1.2 * rng.normal(size=(120, 64)) * np.roll(scale, 20), people


@pytest.mark.filterwarnings("ignore::mien.errors.NumericsWarning")
def test_every_method_has_a_row_and_the_soft_one_is_not_behind() -> None:
    sets = {("a", "pixels"): _made_up(0)}
    rows = compare_projections(sets, 2, 0, kernel=False)
    found = {(r["protocol"], r["method"]): r["error %"] for r in rows}
    assert len(found) == 10
    for protocol in ("same people", "new people"):
        best = min(value for (p, _), value in found.items() if p == protocol)
        assert found[protocol, "soft null space"] <= best + 5


def test_the_rule_is_chosen_by_the_other_sets() -> None:
    sets = {(name, "pixels"): _made_up(seed) for seed, name in enumerate("abc")}
    rows = leave_one_set_out(sets, 1, 0)
    assert [row["set left out"] for row in rows] == ["a", "b", "c"]
    for row in rows:
        assert row["error %"] == row[row["chosen by the others"]]
        assert row["best rule there"] == min(row[rule] for rule in RULES)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_was_chosen_is_told() -> None:
    rows = compare_preparations({"a": _made_up(3)}, 1, 3, 0)
    assert len(rows) == 6
    assert all(0 <= row["a, error %"] <= 100 for row in rows)
    assert "a, mostly" in rows[3]
