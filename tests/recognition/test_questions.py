"""The question that most faces should gain from comes first."""

from __future__ import annotations

import numpy as np
import pytest

from mien.evaluation import b_cubed
from mien.gallery import Gallery
from mien.recognition import (
    OWNER_ODDS,
    ask_gallery,
    choose_questions,
    doubt_faces,
    faces_concerned,
    link_faces,
    load_model,
    rate_pairs,
    score_sets,
)
from mien.verification import JointBayesian, Verifier
from tests.near import assert_near

N_MODEL = 150


@pytest.fixture(scope="module")
def people() -> tuple[np.ndarray, np.ndarray, Verifier]:
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(N_MODEL + 40), 6)
    X = 2.5 * rng.standard_normal((N_MODEL + 40, 20))[y] + rng.standard_normal((len(y), 20))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    half = 6 * N_MODEL // 2
    model = JointBayesian().fit(X[:half], y[:half])
    verifier = Verifier(model, random_state=0).fit(X[half : 2 * half], y[half : 2 * half])
    return X[2 * half :], y[2 * half :] - N_MODEL, verifier


def sums_of(X: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sums = np.zeros((labels.max() + 1, X.shape[1]))
    np.add.at(sums, labels, X)
    return np.bincount(labels), sums


@pytest.mark.parametrize(("a", "b"), [(1, 1), (3, 1), (5, 7)])
def test_faces_concerned_is_the_change_of_b_cubed(a: int, b: int) -> None:
    truth = np.zeros(a + b, dtype=int)
    apart = np.repeat([0, 1], [a, b])
    change = (1 - b_cubed(truth, apart).recall) * (a + b)
    assert_near(faces_concerned(np.array(a), np.array(b)), change)
    joined = (1 - b_cubed(apart, truth).precision) * (a + b)
    assert_near(faces_concerned(np.array(a), np.array(b)), joined)


def test_scores_of_sets_are_symmetric_in_who_is_larger(
    people: tuple[np.ndarray, np.ndarray, Verifier],
) -> None:
    X, y, verifier = people
    labels = np.where(y == 0, 0, 1 + np.arange(len(y)) % 7)
    counts, sums = sums_of(X, labels)
    scores = score_sets(verifier, counts, sums, np.arange(len(counts)))
    for i in range(len(counts)):
        for j in range(len(counts)):
            if counts[i] < counts[j]:
                assert_near(scores[i, j], scores[j, i])


def test_probabilities_share_out_what_is_certain() -> None:
    totals = np.log(np.array([1 + np.exp(9.0), 1 + np.exp(9.0)]))
    one, nine = np.array([1]), np.array([9.0])
    chance = rate_pairs(nine, totals[:1], totals[1:], one, one)
    assert 0.99 < chance[0] < 1
    torn = np.array([np.log(1 + 2 * np.exp(9.0))])
    assert_near(rate_pairs(nine, torn, torn, one, one), 0.5, 2.5)
    # Of two sets the smaller one is asked: a large one may have many parts.
    assert_near(rate_pairs(nine, torn, totals[:1], one, 5 * one), 0.5, 2.5)
    assert_near(rate_pairs(nine, totals[:1], torn, 5 * one, one), 0.5, 2.5)


def test_the_largest_split_person_is_asked_about_first(
    people: tuple[np.ndarray, np.ndarray, Verifier],
) -> None:
    X, y, verifier = people
    labels = 2 * y
    labels[(y == 7) & (np.arange(len(y)) % 2 == 0)] += 1  # three and three
    labels[np.flatnonzero(y == 9)[:1]] += 1  # one and five
    counts, sums = sums_of(X, labels)
    there = np.flatnonzero(counts)
    found = choose_questions(verifier, counts[there], sums[there], n_questions=2)
    asked = [{int(there[one.a]), int(there[one.b])} for one in found]
    assert asked == [{14, 15}, {18, 19}]
    assert found[0].gain > found[1].gain > 0
    pair = (found[0].a, found[0].b)
    again = choose_questions(verifier, counts[there], sums[there], apart=[pair], n_questions=1)
    assert {int(there[again[0].a]), int(there[again[0].b])} == {18, 19}


def test_it_agrees_with_all_pairs_computed_at_once(
    people: tuple[np.ndarray, np.ndarray, Verifier],
) -> None:
    X, _, verifier = people
    labels = link_faces(verifier, X, 12.0).labels
    counts, sums = sums_of(X, labels)
    g = len(counts)
    scores = score_sets(verifier, counts, sums, np.arange(g)).astype(float)
    np.fill_diagonal(scores, -np.inf)
    totals = np.log(counts * (g - 1) / OWNER_ODDS + np.exp(scores).sum(axis=1))
    sizes = counts[:, None], counts[None, :]
    chances = rate_pairs(scores, totals[:, None], totals[None, :], *sizes)
    gains = np.triu(chances * faces_concerned(counts[:, None], counts[None, :]), 1)
    best = np.unravel_index(gains.argmax(), gains.shape)
    found = choose_questions(verifier, counts, sums, n_questions=3)
    assert_near(found[0].gain, gains[best], 3)


@pytest.mark.parametrize("n", [0, 1])
def test_nobody_to_ask_about(n: int, people: tuple[np.ndarray, np.ndarray, Verifier]) -> None:
    _, _, verifier = people
    assert choose_questions(verifier, np.ones(n, dtype=int), np.ones((n, 20))) == []


def test_a_gallery_asks_and_remembers_answers(tmp_path: object) -> None:
    rng = np.random.default_rng(1)
    centres = rng.standard_normal((4, 128))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)

    def draw(who: int, n: int) -> np.ndarray:
        noise = rng.standard_normal((n, 128))
        return centres[who] + 0.7 * noise / np.linalg.norm(noise, axis=1, keepdims=True)

    with Gallery.create(f"{tmp_path}/g.gallery", load_model(None, "sface")) as gallery:
        assert ask_gallery(gallery) == []
        for name, who, n in (("Ann", 0, 4), ("Ann again", 0, 3), ("Bob", 1, 4), ("Cleo", 2, 2)):
            gallery.enrol(name, draw(who, n))
        number = {person.name: person.number for person in gallery.people()}
        first = ask_gallery(gallery)[0]
        pair = {number["Ann"], number["Ann again"]}
        assert {first.a, first.b} == pair
        assert first.probability > 0.9
        a, b = (gallery.faces(name)[0].id for name in ("Ann", "Ann again"))
        said = gallery.add_constraint("different-people", a, other=b)
        assert gallery.people_apart() == {tuple(sorted(pair))}
        assert all({one.a, one.b} != pair for one in ask_gallery(gallery))
        gallery.remove_constraint(said)
        assert {ask_gallery(gallery)[0].a, ask_gallery(gallery)[0].b} == pair

        stranger = draw(3, 1)
        gallery.enrol("Bob", stranger)
        doubts = doubt_faces(gallery, "Bob")
        worst = min(doubts, key=lambda one: one[1])[0]
        assert_near(
            gallery.read_vectors([worst.id])[0], stranger[0] / np.linalg.norm(stranger), 2.5
        )
