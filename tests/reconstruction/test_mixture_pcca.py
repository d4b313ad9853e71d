"""A mixture of probabilistic CCA as a hallucinator."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mien
from mien.datasets import make_faces
from mien.reconstruction import FaceHallucinator
from tests.near import assert_near


def test_hidden_pixels_are_expected_from_visible_ones(tmp_path: Path) -> None:
    faces = make_faces(120, 3, size=16, random_state=0)
    known, new = faces.images[:300], faces.images[300:]
    model = FaceHallucinator("mixture-pcca", mirror=False, random_state=0).fit(known)
    found = model.reconstruct(new)
    hidden = ~model.mask_
    error = np.square(found - new)[:, hidden].mean()
    mean_face = np.square(known.mean(axis=0) - new)[:, hidden].mean()
    assert error < 0.7 * mean_face
    covered = np.where(model.mask_, new, np.nan)
    assert_near(model.reconstruct(covered), found, digits=5, note="hidden pixels are never read")
    again = mien.load(mien.save(model, tmp_path / "m"))
    assert_near(again.reconstruct(new), found, digits=5)
