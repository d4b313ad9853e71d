"""Dictionaries and feature maps in model files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mien
from mien.kernelmaps import Fastfood, RandomKitchenSinks
from mien.sparse import KSVD, WeightedKSVD
from tests.near import assert_near


@pytest.mark.parametrize(
    "model",
    [
        KSVD(12, n_nonzero_coefs=2, max_iter=2, random_state=0),
        WeightedKSVD(12, beta=2.0, n_nonzero_coefs=2, max_iter=2, random_state=0),
        Fastfood(2, random_state=0),
        RandomKitchenSinks(2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_round_trip(model: Any, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 10)).astype(np.float32)
    model.fit(X)
    again = mien.load(mien.save(model, tmp_path / "model.mien"))
    first, second = model.transform(X), again.transform(X)
    dense = [a.toarray() if hasattr(a, "toarray") else a for a in (first, second)]
    assert_near(*dense, digits=5)
    assert_near(model.inverse_transform(first), again.inverse_transform(second), digits=5)


def test_a_stream_goes_on_after_loading(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(100, 10))
    model = KSVD(12, n_nonzero_coefs=2, random_state=0)
    for batch in np.split(X[:60], 3):
        model.partial_fit(batch)
    again = mien.load(mien.save(model, tmp_path / "model.mien"))
    assert_near(
        again.partial_fit(X[60:]).components_, model.partial_fit(X[60:]).components_, digits=5
    )
