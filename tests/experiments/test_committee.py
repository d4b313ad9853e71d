"""The committee's experiments on small data, and what the paper claims on ORL."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mien.committee import RandomSamplingLDA
from mien.datasets import FaceSet, make_faces
from mien.errors import DataError, InputError, MissingDataError
from mien.experiments import _committee_study as study
from mien.experiments.committee import identify_pictures, list_pictures, train_on_folder
from mien.experiments.demo import DemoData
from mien.experiments.demo._committee import show_committee
from mien.media import write_image


@pytest.fixture(scope="module")
def faces() -> FaceSet:
    return make_faces(12, 8, 24, random_state=0)


@pytest.fixture(scope="module")
def folder(faces: FaceSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("people")
    for number, (image, person) in enumerate(zip(faces.images, faces.people, strict=True)):
        (root / f"p{person}").mkdir(exist_ok=True)
        write_image(root / f"p{person}" / f"{number:03d}.png", np.uint8(np.round(255 * image)))
    return root


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
            assert gap == pytest.approx(value - ours[0], abs=1e-9)


def test_dials_and_strangers(faces: FaceSet, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = study.sweep_members(faces, 1, 0, most=5)
    assert [row["T"] for row in rows][:4] == [1, 2, 3, 5]
    assert rows[0]["E_com"] == pytest.approx(rows[0]["E_av"])
    assert all(row["E_com"] <= row["E_av"] + 1e-12 for row in rows)
    strangers = study.meet_strangers(faces, 2, 0)
    named = [row["strangers named %"] for row in strangers]
    assert named == sorted(named, reverse=True)


def test_folder_to_model_to_names(folder: Path) -> None:
    model, summary = train_on_folder(folder, size=24, n_members=8, random_state=0)
    assert (summary["people"], summary["pictures"], summary["held out"]) == (12, 96, 12)
    assert 0 <= summary["named rightly"][0] <= 1
    assert model.picture_size_ == [24, 24]
    rows = identify_pictures(model, [folder / "p3"], threshold=0.5)
    assert len(rows) == 8
    assert np.mean([row["person"] == "p3" for row in rows]) > 0.8
    strict = identify_pictures(model, [folder / "p3"], threshold=1.0)
    assert {row["person"] for row in strict} <= {"unknown", "p3"}
    (folder.parent / "bad.png").write_bytes(b"no picture")
    mixed = identify_pictures(model, [folder.parent / "bad.png", folder / "p3"])
    assert "no picture" in mixed[0]["error"]
    assert mixed[1]["likeliest"][0][0] == rows[0]["likeliest"][0][0]


def test_identify_refuses_what_it_cannot_use(folder: Path) -> None:
    X, y = np.random.default_rng(0).normal(size=(12, 9)), np.repeat([0, 1], 6)
    with pytest.raises(InputError, match="size of its pictures"):
        identify_pictures(RandomSamplingLDA(2, random_state=0).fit(X, y), [folder])
    model, _ = train_on_folder(folder, size=16, n_members=2, random_state=0)
    with pytest.raises(InputError, match="0 … 1"):
        identify_pictures(model, [folder / "p3"], threshold=2)
    with pytest.raises(MissingDataError, match="not there"):
        list_pictures([folder / "nobody"])
    with pytest.raises(DataError, match="no pictures"):
        list_pictures([folder])


def test_demo_section(faces: FaceSet) -> None:
    from mien.reports import Report

    report, data = Report("demo"), DemoData(faces, make_faces(4, 3, 24, random_state=1))
    show_committee(data, report)
    kinds = [part["kind"] for part in report.to_dict()["parts"]]
    assert {"table", "figure"} <= set(kinds)
    assert data.summary[0]["measure"] == "named rightly"


def test_orl_committee_is_below_its_mean_member_and_below_plain_lda(data_home: Path) -> None:
    faces = study.load_halved_orl(data_home)
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
