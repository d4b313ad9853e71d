"""Data frames in and out: completers keep names, and their inner maps give arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn import config_context

from mien.completion import COMPLETERS, FaceCompleter, make_completer
from mien.datasets import make_faces
from mien.kernelmaps import Fastfood
from mien.sparse import KSVD
from tests.near import assert_near

pandas = pytest.importorskip("pandas")


@pytest.fixture
def frames() -> Iterator[None]:
    with config_context(transform_output="pandas"):
        yield


@pytest.mark.parametrize("name", COMPLETERS)
def test_completers_under_pandas_output(name: str, frames: Any) -> None:
    X = np.random.default_rng(0).normal(size=(120, 3)) @ np.random.default_rng(1).normal(
        size=(3, 8)
    )
    table = pandas.DataFrame(X, columns=list("abcdefgh"))
    model = make_completer(name).fit(table)
    covered = table.copy()
    covered.iloc[:, 4:] = np.nan
    whole = model.transform(covered)
    assert list(whole.columns) == list("abcdefgh")
    assert_near(whole.to_numpy()[:, :4], X[:, :4])
    assert np.isfinite(whole.to_numpy()).all()


def test_the_rooms_below_and_faces_above(frames: Any) -> None:
    X = np.random.default_rng(0).normal(size=(60, 8))
    assert list(Fastfood(1, random_state=0).fit_transform(X).columns[:1]) == ["fastfood0"]
    codes = KSVD(10, n_nonzero_coefs=2, max_iter=2, random_state=0).fit_transform(X)
    assert codes.shape == (60, 10)
    faces = make_faces(30, 2, size=16, random_state=0).images
    for name in ("blend", "fastfood"):
        completed = FaceCompleter(name).fit(faces).complete(faces[:3])
        assert isinstance(completed, np.ndarray)
