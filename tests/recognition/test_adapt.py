"""Adapting: what it brings on people held out, and what few people cannot say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mien.errors import InputError, NotEnoughDataError
from mien.gallery import Gallery
from mien.recognition import FaceModel, _adapt, load_model, load_source, name_faces
from mien.recognition._adapt import _Decisions, _gain, _Held, adapt_to, adapt_vectors
from mien.verification import TransferJointBayesian
from tests.near import assert_near


def shifted_people(
    n_people: int, n_pictures: int, seed: int = 0, shift: float = 0.12
) -> tuple[np.ndarray, np.ndarray]:
    """People drawn from the source model and moved, all in one direction: another camera."""
    model = load_source("sface").source
    rng = np.random.default_rng(seed)
    identity = rng.multivariate_normal(np.zeros(128), model.identity_covariance_, n_people)
    y = np.repeat([f"p{k:02d}" for k in range(n_people)], n_pictures)
    noise = rng.multivariate_normal(np.zeros(128), model.variation_covariance_, len(y))
    X = model.mean_ + np.repeat(identity, n_pictures, axis=0) + noise
    X += shift * np.random.default_rng(7).choice([-1, 1], 128)
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def test_a_shift_is_undone_on_people_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_adapt, "_FOLDS", 3)
    X, y = shifted_people(14, 2)
    result = adapt_to(load_source("sface"), X, y, [])
    assert result.before is not None
    assert result.after is not None
    assert result.gain is not None
    assert result.before["cllr"]["value"] > 1  # it misleads
    assert result.after["cllr"]["value"] < 0.3
    assert 0 < result.gain[1] < result.gain[0] < result.gain[2]
    assert_near(
        result.gain[0], result.before["cllr"]["value"] - result.after["cllr"]["value"], digits=6
    )
    assert result.moved  # a shift of all vectors is more than a calibration can undo
    # It is calibrated as it was judged, so that the file decides at the rate of the table.
    assert result.model.calibrate().evidence
    assert isinstance(result.model.verifier.model_, TransferJointBayesian)
    assert result.model.source is load_source("sface").source
    assert result.warnings[0].startswith("only 14 people")
    # Others of the same kind, never seen: strangers are below zero, the same people above.
    T, who = shifted_people(30, 2, seed=5)
    scores = result.model.verifier.score_pairs(T[::2], T[1::2])
    others = result.model.verifier.score_pairs(T[:-2:2], T[3::2])
    assert np.mean(scores > 0) > 0.9
    assert np.mean(others < 0) > 0.9
    assert who[0] == who[1]


def test_few_people_are_said_to_be_few() -> None:
    X, y = shifted_people(5, 3)
    result = adapt_to(load_source("sface"), X, y, [])
    assert result.before is None
    assert result.rows() == []
    assert "too few to hold anybody out" in result.warnings[0]
    assert "only 5 people" in result.warnings[1]


def test_too_few_people() -> None:
    X, y = shifted_people(4, 3)
    y[9:] = ["x", "y", "z"]  # three people with several pictures, three with one
    with pytest.raises(NotEnoughDataError, match=r"at least 4 people.*got 3"):
        adapt_vectors(load_source("sface"), X, y)


def test_an_adapted_verifier_is_saved_with_its_source() -> None:
    X, y = shifted_people(8, 3)
    verifier = adapt_vectors(load_source("sface"), X, y)
    result = FaceModel("sface", verifier, {})
    again = FaceModel.from_arrays(result.to_arrays())
    scores = [one.verifier.score_pairs(X[:10], X[10:20]) for one in (again, result)]
    np.testing.assert_allclose(*scores, atol=1e-3)
    assert_near(again.source.variance_ratios_, result.source.variance_ratios_, digits=5)


def test_the_interval_of_a_gain_by_hand() -> None:
    """Two verifiers that differ by the same on every pair have an interval without width."""
    who = np.array([["a", "a"], ["b", "b"], ["c", "c"], ["a", "b"], ["b", "c"], ["a", "c"]])
    same = who[:, 0] == who[:, 1]
    flat = np.zeros(6)
    better = np.where(same, 2.0, -2.0)
    value, low, high = _gain(np.stack([flat, better]), who, same)
    expected = 1 - np.log2(1 + np.exp(-2))
    assert_near([value, low, high], expected, digits=7)


def test_a_tail_of_few_trials_is_mostly_the_source_s() -> None:
    source = load_source("sface").verifier.thresholds_
    few = adapt_vectors(load_source("sface"), *shifted_people(6, 3))
    borrowed = source.tail_scale[0, 0]
    n = np.maximum(2, np.minimum(200, few.n_impostor_ // 10))
    scale = few.thresholds_.tail_scale
    assert n.max() < 20
    # At least 20 of n + 20 parts, before the 1.64 standard errors that are added.
    assert np.all(scale / (1 + 1.64 / np.sqrt(n + 20)) > borrowed * 20 / (n + 20))
    assert np.all(scale < 5 * borrowed)


def test_people_like_those_of_the_source_only_calibrate() -> None:
    source = load_source("sface")
    X, y = shifted_people(12, 3, shift=0.0)
    result = adapt_to(source, X, y, [])
    assert not result.moved
    assert result.source_weight == 1
    assert result.model.verifier is source.verifier
    own = result.model.calibrate()
    assert own.evidence[0].n_people == 12
    prior = source.prior().with_pictures(np.full(12, 3))
    assert own.prior == source.camera.expect(prior, X, y)
    again = FaceModel.from_arrays(result.model.to_arrays())
    assert again.calibrate().to_dict() == own.to_dict()
    # What the people say moves the threshold: they are less alike than those that are feared.
    table = source.verifier.thresholds_
    assert own.threshold(table, 0.001, size=1) < source.calibrate().threshold(table, 0.001, size=1)


def test_decisions_are_worse_only_if_no_broken_rate_is_mended() -> None:
    before = _Decisions(900, 1000, 5, 10_000)
    assert not _Decisions(895, 1000, 5, 10_000).worsen(before)
    assert _Decisions(400, 1000, 0, 10_000).worsen(before)  # names are lost
    assert _Decisions(950, 1000, 100, 10_000).worsen(before)  # the rate breaks
    assert not _Decisions(800, 1000, 10, 10_000).worsen(_Decisions(950, 1000, 200, 10_000))
    assert not _Decisions(6, 7, 1, 60).worsen(_Decisions(7, 7, 0, 60))  # of few, one is chance


def test_a_gallery_keeps_its_verifier_where_nothing_is_gained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = load_source("sface")
    X, y = shifted_people(8, 3, shift=0.0)
    place = tmp_path / "people.gallery"
    Gallery.create(place, source).close()
    monkeypatch.setattr(_adapt, "_read_faces", lambda *_: (X, y, []))
    good, bad = _Decisions(70, 72, 0, 1000), _Decisions(28, 72, 0, 1000)

    def held_out(gain: tuple[float, float, float], after: _Decisions) -> bool:
        found = _Held({}, {}, gain, False, (good, after))
        monkeypatch.setattr(_adapt, "_compare", lambda *_: found)
        return _adapt.adapt("photos", gallery=place, out=tmp_path / "m.mien").better

    assert not held_out((0.01, -0.01, 0.03), good)  # within chance
    assert not held_out((0.20, 0.10, 0.30), bad)  # better ratios, fewer names
    assert (tmp_path / "m.mien").is_file()  # asked for by name
    with Gallery.open(place, read_only=True) as gallery:
        assert gallery.model.card["name"] == source.card["name"]
        with pytest.raises(InputError, match="never replaced"):
            gallery.revert_model()
    assert held_out((0.20, 0.10, 0.30), good)
    with Gallery.open(place, read_only=True) as gallery:
        assert gallery.model.card["name"] == "adapted verifier"


def test_nobody_at_all() -> None:
    with pytest.raises(NotEnoughDataError, match="got 0"):
        adapt_to(load_model(), np.zeros((0, 128)), np.zeros(0, dtype=np.int64), [])


def test_names_without_places_move_the_model_only_if_held_out_people_gain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_adapt, "_FOLDS", 3)
    source = load_source("sface")
    X, y = shifted_people(14, 4)
    alone = [[name] for name in y]  # a picture each: nothing to choose
    found = name_faces(source, X, np.arange(len(X)), alone, adapt=True)
    assert found.adaptation is not None
    assert found.adaptation.moved
    assert found.model is found.adaptation.model
    assert np.mean([a == b for a, b in zip(found.names.labels_, y, strict=True)]) > 0.9
    assert all(a in (b, None) for a, b in zip(found.names.labels_, y, strict=True))
    assert name_faces(source, X, np.arange(len(X)), alone).model is source

    same, who = shifted_people(12, 3, shift=0.0)  # as the source: nothing to move
    stays = name_faces(source, same, np.arange(36), [[name] for name in who], adapt=True)
    assert stays.adaptation is not None
    assert not stays.adaptation.moved
    assert stays.model is source
    few = name_faces(source, X[:8], np.arange(8), alone[:8], adapt=True)
    assert few.adaptation is None
    assert few.model is source
