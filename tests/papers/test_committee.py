"""The committee's experiments on small data, and what the paper claims on ORL."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mien.committee import RandomSamplingLDA
from mien.datasets import FaceSet, make_faces
from papers.committee import run as study
from papers.committee.data import load_halved_orl
from tests.near import assert_near


@pytest.fixture(scope="module")
def faces() -> FaceSet:
    return make_faces(12, 8, 24, random_state=0)


def test_comparison_has_every_method_and_pairs_errors(faces: FaceSet) -> None:
    rows = study.compare_methods(faces, 2, 4, 0, "rendered")
    names = [row["method"] for row in rows]
    for wanted in ("Eigenfaces", "Fisherfaces", "null-space", "bagging of LDA"):
        assert any(wanted in name for name in names), wanted
    for rule in study.RULES:
        assert f"committee, subspace: {rule}" in names
    for sampling in ("people", "images", "both"):
        assert f"committee, {sampling}: sum" in names
    by_name = {row["method"]: row for row in rows}
    ours = by_name["committee, subspace: sum"]["error %"]
    for row in rows:
        value, low, high = row["error %"]
        assert low - 1e-9 <= value <= high + 1e-9
        if row["above ours"] is not None:
            gap = row["above ours"][0]
            assert_near(gap, value - ours[0], digits=8, scale=1)


def test_dials_and_strangers(faces: FaceSet, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = study.sweep_members(faces, 1, 0, most=5)
    assert [row["T"] for row in rows][:4] == [1, 2, 3, 5]
    assert rows[0]["E_com"] == pytest.approx(rows[0]["E_av"])
    assert all(row["E_com"] <= row["E_av"] + 1e-9 for row in rows)
    strangers = study.meet_strangers(faces, 2, 0)
    named = [row["strangers named %"] for row in strangers]
    assert named == sorted(named, reverse=True)


def test_orl_committee_is_below_its_mean_member_and_below_plain_lda(data_home: Path) -> None:
    faces = load_halved_orl(data_home)
    assert faces.images.shape == (400, 56, 46)
    X, y = faces.vectors().astype(np.float64), faces.people
    together, alone, plain, limit = [], [], [], []
    for number, (train, test) in enumerate(study.draw_splits(y, 4, 0)):
        model = RandomSamplingLDA(20, random_state=number).fit(X[train], y[train])
        choices = model.classes_[model.member_proba(X[test]).argmax(axis=2)]
        alone.append(np.mean(choices != y[test]))
        together.append(1 - model.score(X[test], y[test]))
        for m, errors in ((60, plain), (160, limit)):
            one = RandomSamplingLDA(1, n_fixed=m, n_random=0, **study.PLAIN)
            errors.append(1 - one.fit(X[train], y[train]).score(X[test], y[test]))
    assert np.mean(together) < np.mean(alone)
    assert np.mean(together) < np.mean(plain)
    assert np.mean(together) < 0.05
    assert np.mean(limit) > 0.3, "at N - c exactly Fisherfaces overfit badly"
