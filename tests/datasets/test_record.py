"""The record: what does not fit together is refused, and a part is a set of its own."""

from __future__ import annotations

import numpy as np
import pytest

from mien.datasets import FaceSet
from mien.errors import InputError
from tests.near import assert_near


def _faces() -> FaceSet:
    images = np.arange(4 * 2 * 3, dtype=np.uint8).reshape(4, 2, 3)
    return FaceSet(images, ["a", "b", "a", "c"], {"n": [1, 2, 3, 4]}, "here", "free", ["x: lost"])


def test_parts_keep_everything() -> None:
    part = _faces().select(np.array([True, False, True, False]))
    assert part.people.tolist() == ["a", "a"]
    assert part.metadata["n"].tolist() == [1, 3]
    assert (part.source, part.licence, part.skipped) == ("here", "free", ["x: lost"])
    assert _faces().select(slice(1, 3)).metadata["n"].tolist() == [2, 3]
    assert _faces().select([3, 0]).people.tolist() == ["c", "a"]


def test_vectors_are_rows_in_the_unit_range() -> None:
    vectors = _faces().vectors()
    assert vectors.dtype == np.float32
    assert_near(vectors[1], np.arange(6, 12) / 255, digits=5)
    rendered = FaceSet(np.full((2, 2, 2, 3), 0.5, np.float32), [1, 2])
    assert rendered.colour
    assert rendered.vectors().shape == (2, 12)
    assert repr(_faces()) == "FaceSet(4 pictures of 2×3 pixels, grey, 3 people, 1 skipped)"


def test_what_does_not_fit_is_refused() -> None:
    images = np.zeros((2, 4, 4), np.uint8)
    with pytest.raises(InputError, match="people has 3 entries for 2"):
        FaceSet(images, [1, 2, 3])
    with pytest.raises(InputError, match=r"images must have the shape"):
        FaceSet(images[0], [1, 2])
    with pytest.raises(InputError, match=r"metadata\['n'\] must have one row"):
        FaceSet(images, [1, 2], {"n": [1]})
