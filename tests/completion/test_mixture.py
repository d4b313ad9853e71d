"""A mixture of probabilistic CCA as a completer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import mien
from mien.completion import FaceCompleter, MixtureCompleter, RidgeCompleter
from mien.datasets import make_faces
from tests.near import assert_near


def test_covered_pixels_are_expected_from_visible_ones(tmp_path: Path) -> None:
    faces = make_faces(120, 3, size=16, random_state=0)
    known, new = faces.images[:300], faces.images[300:]
    model = FaceCompleter(MixtureCompleter(random_state=0), mirror=False).fit(known)
    found = model.complete(new)
    cover = model.cover_
    error = np.square(found - new)[:, cover].mean()
    mean_face = np.square(known.mean(axis=0) - new)[:, cover].mean()
    assert error < 0.7 * mean_face
    covered = np.where(cover, np.nan, new)
    assert_near(model.complete(covered), found, digits=5, note="covered pixels are never read")
    again = mien.load(mien.save(model, tmp_path / "m"))
    assert_near(again.complete(new), found, digits=5)


def _crossed(n: int) -> np.ndarray:
    """Two groups, in which the second half follows the first with opposite signs."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, n)[:, None]
    first = rng.normal(size=(n, 3)) + 4 * group
    second = np.where(group == 1, first - 4, -first) + 0.1 * rng.normal(size=(n, 3))
    return np.concatenate([first, second], axis=1)


def test_likelihood_finds_the_groups_that_one_gaussian_misses() -> None:
    X = _crossed(600)
    model = MixtureCompleter(n_starts=2, random_state=0).fit(X[:500])
    assert model.n_components_ > 1
    best: Any = max(model.likelihoods_, key=lambda pair: model.likelihoods_[pair])
    assert best == (model.n_components_, model.n_latent_)
    ridge = RidgeCompleter().fit(X[:500])
    assert model.score(X[500:]) > 0.3 * ridge.score(X[500:])
    # The estimate is the mean over the starts.
    seen = X[500:, :3]
    values = []
    for mixture in model.mixtures_:
        alone = MixtureCompleter()
        alone.__dict__.update(model.__dict__)
        alone.mixtures_ = [mixture]
        values.append(alone.estimate(seen).values)
    assert_near(model.estimate(seen).values, np.mean(values, axis=0))
