"""What an estimator asks for beside X and y is kept in its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline

import mien
from mien.files._requests import read_requests
from mien.files._vocabulary import Mismatch
from mien.subspace import NearestNeighbourIdentifier, NullSpaceProjection


def test_a_pipeline_with_routed_groups_is_saved_and_fitted_again(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(8), 3)
    people = groups // 2
    X = rng.normal(size=(4, 40))[people] + 0.3 * rng.normal(size=(24, 40))
    with config_context(enable_metadata_routing=True):
        projection = NullSpaceProjection().set_fit_request(groups=True)
        model = make_pipeline(projection, NearestNeighbourIdentifier()).fit(
            X, people, groups=groups
        )
        again = mien.load(mien.save(model, tmp_path / "model.mien"))
        assert again.predict(X).tolist() == people.tolist()
        again.fit(X, people, groups=groups)
    assert again[0].get_metadata_routing().fit.requests == {"groups": True}


@pytest.mark.parametrize(
    "forged",
    [
        {"fit": {"groups": 3}},
        {"fit": {"groups": "no name"}},
        {"fit": {"nothing": True}},
        {"fit": [True]},
        {"params": {"deep": True}},
        [],
    ],
)
def test_forged_requests_are_refused(forged: object) -> None:
    with pytest.raises(Mismatch):
        read_requests(NullSpaceProjection(), forged)
