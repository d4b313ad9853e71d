"""Other sets: what is level, what the other sets choose, and going on from what is kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mien.errors import InputError
from mien.multiview import Bags
from papers.other_sets import bags, parts, report
from papers.other_sets.data import light_from_sides
from papers.other_sets.parts import PARTS, Part, Scores, Work
from papers.other_sets.report import compare_on_other_sets, judge, leave_one_set_out
from papers.super_vector.data import PairedSet
from tests.near import assert_near

_PART = Part(
    "made up", "error %", ("a", "b, same", "b, new", "c"), ("x", "y"), ("z",), lambda s, w: {}
)


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ([1.0, 2.0, 3.0], [1.2, 2.1, 3.3], "level"),
        ([1.0, 2.0, 3.0], [5.0, 6.1, 7.2], "ahead"),
        ([5.0, 6.1, 7.2], [1.0, 2.0, 3.0], "behind"),
        ([1.0, 9.0, 1.0], [5.0, 1.0, 2.0], "not told apart"),
    ],
)
def test_a_default_is_ahead_only_beyond_chance(
    ours: list[float], theirs: list[float], verdict: str
) -> None:
    found = judge(_PART, {"x": ours, "y": ours, "z": theirs})
    assert found["verdict"] == verdict
    better = judge(replace(_PART, higher=True), {"x": theirs, "y": ours, "z": ours})
    assert better["verdict"] == verdict


def test_a_set_has_no_say_about_itself() -> None:
    good, bad = [1.0, 1.0], [2.0, 2.0]
    found: dict[str, Scores] = {
        "a": {"x": good, "y": bad, "z": good},
        "b, same": {"x": bad, "y": good, "z": good},
        "b, new": {"x": bad, "y": good, "z": good},
    }
    rows = {row["set left out"]: row for row in leave_one_set_out(_PART, found)}
    assert rows["a"]["chosen by the others"] == "y"
    # Both ways of dividing b are left out together: a alone decides.
    assert rows["b, same"]["chosen by the others"] == "x"
    assert rows["b, same"]["error %"] == 2.0
    assert rows["b, same"]["best of ours there"] == "y 1.00"


def test_what_is_kept_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def run(name: str, work: Work) -> Scores:
        asked.append(name)
        return {"x": [1.0] * work.draws, "y": [2.0] * work.draws, "z": [3.0] * work.draws}

    monkeypatch.setitem(PARTS, "votes", replace(_PART, run=run))
    for _ in range(2):
        made = compare_on_other_sets(parts=["votes"], sets=["a", "c"], draws=3, cache=tmp_path)
    assert asked == ["a", "c"]
    assert len(list(tmp_path.glob("*.json"))) == 2
    kept = json.loads((tmp_path / "votes-a-3-0.json").read_text(encoding="utf-8"))
    assert kept["z"] == [3.0] * 3
    tables = [part for part in made.to_dict()["parts"] if part["kind"] == "table"]
    assert [row["verdict"] for row in tables[0]["rows"]] == ["ahead", "ahead"]
    with pytest.raises(InputError, match="elsewhere"):
        compare_on_other_sets(parts=["votes"], sets=["a", "elsewhere"])


def test_every_part_compares_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(8), 8)
    X = rng.random((8, 64))[people] + 0.2 * rng.random((64, 64))
    monkeypatch.setattr(parts, "load_vectors", lambda *given: (np.clip(X, 0, 1), people))
    work = Work(None, 1, 0, quick=True)
    for name in ("groups", "scale", "committee", "votes"):
        part = PARTS[name]
        scores = part.run(part.sets[0], work)
        assert {*part.ours, *part.others} <= set(scores)
        assert len({len(values) for values in scores.values()}) == 1
        assert judge(part, scores)["verdict"]
    assert report.leave_one_set_out(PARTS["votes"], {"a": scores}) == []


def test_side_lights_darken_and_keep_the_range() -> None:
    X = np.full((5, 64), 0.5)
    lit = light_from_sides(X, 0)
    assert lit.shape == X.shape
    assert np.all(lit <= 0.5)
    assert np.all(lit.min(axis=1) < 0.3)


def _paired_set(n_bags: int = 48, per_bag: int = 40) -> PairedSet:
    """Bags of two classes, which differ in the mean of what both views share."""
    rng = np.random.default_rng(0)
    labels = np.arange(n_bags) % 2
    shared = rng.normal(size=(n_bags, per_bag, 2)) + 1.2 * labels[:, None, None]
    offsets = np.arange(n_bags + 1) * per_bag
    first, second = (
        Bags(
            (shared @ rng.normal(size=(2, 10)) + 0.3 * rng.normal(size=(n_bags, per_bag, 10)))
            .reshape(-1, 10)
            .astype(np.float32),
            offsets,
        )
        for _ in range(2)
    )
    half = n_bags // 2
    splits = [(np.arange(half), np.arange(half, n_bags))]
    return PairedSet("made up", first, second, labels, splits, 2, "")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_settings_of_encodings_are_chosen_without_the_other_half() -> None:
    data = _paired_set()
    scores = bags.score_chosen(data, 0, (1, 2))
    assert {*bags.CHOSEN[0], *bags.CHOSEN[1]} <= set(scores)
    assert all(scores[name][0] > 80 for name in ("Z", "Z + G"))
    # With other bags to test on, everything that was chosen is the same.
    other = data.first.descriptors.copy()
    other[len(other) // 2 :] = 0
    changed = replace(data, first=Bags(other, data.first.offsets))
    again = bags.score_chosen(changed, 0, (1, 2))
    chosen = set(scores) - {*bags.CHOSEN[0], *bags.CHOSEN[1]}
    assert len(chosen) > 10
    assert {name: scores[name] for name in chosen} == {name: again[name] for name in chosen}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_inner_products_classify_as_the_vectors_do() -> None:
    data = _paired_set()
    train, test = data.splits[0]
    encoded = bags._Encoded(data, train, 0)
    parts = encoded.parts(2)["Z"]
    vectors = np.sign(parts) * np.sqrt(np.abs(parts))
    vectors = vectors.reshape(len(vectors), -1)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert_near(encoded.products("Z", 2, (False, 0.5)), vectors @ vectors.T, digits=4)
    machine = bags._machine().fit(vectors[train], data.labels[train])
    wanted = machine.score(vectors[test], data.labels[test])
    assert encoded.accuracy(vectors @ vectors.T, test) == pytest.approx(wanted, abs=0.05)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_encodings_by_default() -> None:
    scores = bags.score_defaults(_paired_set(), 0)
    assert {*PARTS["bags"].ours, *PARTS["bags"].others} == set(scores)
    assert scores["Z + G"][0] > 80
