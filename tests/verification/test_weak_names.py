"""Names without places: against all matchings written out, and on people with known names."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from mien.errors import InputError
from mien.verification import JointBayesian, Verifier, WeakNames
from mien.verification._weak_names import assignment_marginals
from tests.near import assert_near

DIMENSION = 24


def naive_marginals(weights: np.ndarray) -> np.ndarray:
    """Every partial matching, one after the other."""
    n_faces, n_names = weights.shape
    total, found = 0.0, np.zeros(weights.shape)
    for choice in product(range(-1, n_names), repeat=n_faces):
        named = [p for p in choice if p >= 0]
        if len(set(named)) < len(named):
            continue
        weight = float(np.exp(sum(weights[i, p] for i, p in enumerate(choice) if p >= 0)))
        total += weight
        for i, p in enumerate(choice):
            if p >= 0:
                found[i, p] += weight
    return found / total


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (3, 2), (4, 4), (5, 1), (1, 5)])
def test_marginals_are_those_of_all_matchings(shape: tuple[int, int]) -> None:
    weights = np.random.default_rng(sum(shape)).normal(0, 3, (3, *shape))
    expected = np.stack([naive_marginals(one) for one in weights])
    assert_near(assignment_marginals(weights), expected, digits=9)


def test_marginals_of_nobody_and_of_very_many() -> None:
    assert assignment_marginals(np.zeros((0, 3))).shape == (0, 3)
    assert assignment_marginals(np.zeros((3, 0))).shape == (3, 0)
    many = np.full((3, 14), -20.0)
    many[[0, 1, 2], [4, 9, 13]] = 20.0
    found = assignment_marginals(many)
    assert np.all(found[[0, 1, 2], [4, 9, 13]] > 0.999)
    assert np.all(found.sum(axis=0) <= 1 + 1e-9)


def make_people(n: int, m: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = 2.5 * rng.standard_normal((n, 1, DIMENSION)) + rng.standard_normal((n, m, DIMENSION))
    return X / np.linalg.norm(X, axis=2, keepdims=True)


@pytest.fixture(scope="module")
def verifier() -> Any:
    X = make_people(400, 6, 0)
    y = np.repeat(np.arange(200), 6)
    model = JointBayesian().fit(X[:200].reshape(-1, DIMENSION), y)
    return Verifier(model, random_state=0).fit(X[200:].reshape(-1, DIMENSION), y)


def make_album(seed: int, missing: float, wrong: float) -> tuple[Any, ...]:
    """Thirty people in pictures of one to three, one stranger in five pictures."""
    rng = np.random.default_rng(seed)
    X = make_people(130, 6, 100 + seed)
    left = [list(range(6)) for _ in range(30)]
    stranger = iter(range(30, 130))
    faces, bags, names, truth = [], [], [], []
    while any(left):
        here = rng.permutation([p for p in range(30) if left[p]])[: rng.integers(1, 4)]
        listed = {f"P{p}" for p in here if rng.random() >= missing}
        for p in here:
            faces.append(X[p, left[p].pop()])
            bags.append(len(names))
            truth.append(f"P{p}")
        if rng.random() < 0.2:
            faces.append(X[next(stranger), 0])
            bags.append(len(names))
            truth.append(None)
        if rng.random() < wrong:
            listed.add(f"P{rng.integers(30)}")
        names.append(listed)
    return np.stack(faces), np.asarray(bags), names, np.asarray(truth, dtype=object)


def shares(labels: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Right of the faces of named people, and wrong of all."""
    named = np.asarray([name is not None for name in truth])
    same = np.asarray([a == b for a, b in zip(labels, truth, strict=True)])
    given = np.asarray([label is not None for label in labels])
    return float(same[named].mean()), float((given & ~same).mean())


@pytest.mark.parametrize(("missing", "wrong"), [(0.0, 0.0), (0.2, 0.05)])
def test_faces_get_their_names(verifier: Any, missing: float, wrong: float) -> None:
    faces, bags, names, truth = make_album(1, missing, wrong)
    right, mistaken = shares(WeakNames(verifier).fit_predict(faces, bags, names), truth)
    assert right > 0.9
    assert mistaken < 0.02


def test_labels_do_not_depend_on_the_order_of_faces_and_names(verifier: Any) -> None:
    faces, bags, names, _ = make_album(2, 0.2, 0.05)
    first = WeakNames(verifier).fit(faces, bags, names)
    order = np.random.default_rng(0).permutation(len(faces))
    shuffled = [sorted(listed, reverse=True) for listed in names]
    second = WeakNames(verifier).fit(faces[order], bags[order], shuffled)
    assert second.labels_.tolist() == first.labels_[order].tolist()


def test_probabilities_of_a_face_and_of_a_name_are_at_most_one(verifier: Any) -> None:
    faces, bags, names, _ = make_album(3, 0.2, 0.05)
    weak = WeakNames(verifier).fit(faces, bags, names)
    assert all(sum(options.values()) <= 1 + 1e-6 for options in weak.probabilities_)
    for b in range(len(names)):
        mine = np.flatnonzero(bags == b)
        for name in {name for face in mine for name in weak.probabilities_[face]}:
            assert sum(weak.probabilities_[face].get(name, 0.0) for face in mine) <= 1 + 1e-6


def test_two_who_are_only_listed_together_stay_open(verifier: Any) -> None:
    X = make_people(2, 5, 11)
    faces = X.transpose(1, 0, 2).reshape(-1, DIMENSION)
    weak = WeakNames(verifier).fit(faces, np.repeat(np.arange(5), 2), [["Ann", "Bob"]] * 5)
    assert weak.labels_.tolist() == [None] * 10


def test_one_clear_picture_settles_a_couple(verifier: Any) -> None:
    X = make_people(2, 6, 12)
    faces = np.vstack([X[:, :5].transpose(1, 0, 2).reshape(-1, DIMENSION), X[0, 5:]])
    bags = np.append(np.repeat(np.arange(5), 2), 5)
    weak = WeakNames(verifier).fit(faces, bags, [["Ann", "Bob"]] * 5 + [["Ann"]])
    assert weak.labels_.tolist() == ["Ann", "Bob"] * 5 + ["Ann"]


def test_a_name_that_the_picture_does_not_list(verifier: Any) -> None:
    X = make_people(1, 6, 13)[0]
    names: list[list[str]] = [["Ann"]] * 5 + [[]]
    weak = WeakNames(verifier).fit(X, np.arange(6), names)
    assert weak.labels_[5] == "Ann"
    listed_only = WeakNames(verifier, unlisted=0).fit(X, np.arange(6), names)
    assert listed_only.labels_[5] is None
    assert listed_only.labels_[:5].tolist() == ["Ann"] * 5


def test_faces_of_a_group_help_each_other(verifier: Any) -> None:
    X = make_people(1, 8, 14)[0]
    blurred = 0.35 * X[5:] + 0.65 * make_people(3, 1, 15)[:, 0]
    faces = np.vstack([X[:5], blurred / np.linalg.norm(blurred, axis=1, keepdims=True)])
    bags, names = np.arange(8), [["Ann"]] * 8
    alone = WeakNames(verifier).fit(faces, bags, names)
    together = WeakNames(verifier).fit(faces, bags, names, groups=[-1] * 5 + [7] * 3)
    before = np.mean([alone.probabilities_[i]["Ann"] for i in (5, 6, 7)])
    assert np.mean([together.probabilities_[i]["Ann"] for i in (5, 6, 7)]) > before


def test_nothing_to_do(verifier: Any) -> None:
    X = make_people(1, 3, 16)[0]
    weak = WeakNames(verifier).fit(X, [0, 0, 1], [[], []])
    assert weak.labels_.tolist() == [None] * 3
    assert len(weak.people_) == 0


def test_a_face_is_nobody_whose_face_is_known(verifier: Any) -> None:
    """A twin beside Ann, whose own face was marked and is a picture of its own."""
    faces = make_people(1, 5, 23)[0]
    faces = np.vstack([faces, faces[-1:]])  # the last two are of one photograph
    bags, names = [0, 1, 2, 3, 4, 5], [["Ann"]] * 5 + [[]]
    assert WeakNames(verifier).fit(faces, bags, names).labels_[-1] == "Ann"
    apart = WeakNames(verifier).fit(faces, bags, names, absent=[[]] * 5 + [["Ann", "Nobody"]])
    assert apart.labels_.tolist() == ["Ann"] * 5 + [None]
    with pytest.raises(InputError, match="one collection per picture"):
        WeakNames(verifier).fit(faces, bags, names, absent=[["Ann"]])
    with pytest.raises(InputError, match="picture 0 lists somebody"):
        WeakNames(verifier).fit(faces, bags, names, absent=[["Ann"]] + [[]] * 5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bags": [0, 1]}, "shape"),
        ({"bags": [0, 1, 5]}, "whole numbers"),
        ({"bags": [0.0, 1.0, 1.0]}, "whole numbers"),
        ({"groups": [1, 2]}, "groups"),
        ({"min_probability": 1.5}, "min_probability"),
        ({"missing": 0}, "missing"),
        ({"strangers": 0}, "strangers"),
        ({"max_iter": 0}, "max_iter"),
        ({"verifier": object()}, "verifier"),
        ({"X": np.full((3, DIMENSION), np.nan)}, "NaN"),
    ],
)
def test_bad_input(verifier: Any, change: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"X": make_people(1, 3, 17)[0], "bags": [0, 1, 1], "groups": None}
    parameters = {name: value for name, value in change.items() if name not in given}
    given |= {name: value for name, value in change.items() if name in given}
    weak = WeakNames(**{"verifier": verifier, **parameters})
    with pytest.raises((InputError, ValueError), match=words):
        weak.fit(given["X"], given["bags"], [["Ann"], ["Bob"]], groups=given["groups"])
