"""The front end on real photographs, and what the report is made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mien.datasets._lfw import EMBEDDINGS
from mien.errors import DataError, InputError, MissingDataError
from papers.covered.run import _blocks, _calibrate, _Crops, _paint, _split_people, _truth
from papers.photos.data import read_boxes
from papers.photos.report import ENGINES, reproduce_photos
from papers.photos.videos import match_boxes
from tests.near import assert_near

XML = """<?xml version='1.0'?><dataset><images><image file='a.jpg'>
<box top='10' left='20' width='30' height='40'>{parts}</box></image></images></dataset>"""


def test_boxes_are_matched_best_first_and_once() -> None:
    truth = np.array([[0, 0, 10, 10], [4, 0, 10, 10]], float)
    found = np.array([[4, 0, 10, 10], [1, 0, 10, 10], [90, 0, 10, 10]], float)
    pairs = match_boxes(truth, found)
    assert [(r, c) for r, c, _ in pairs] == [(1, 0), (0, 1)]
    assert_near([overlap for _, _, overlap in pairs], [1, 90 / 110], digits=7)
    assert match_boxes(truth, np.zeros((0, 4))) == []


def test_points_and_boxes_of_an_xml_file(tmp_path: Path) -> None:
    parts = "".join(f"<part name='{k:02d}' x='{k}' y='{2 * k}'/>" for k in range(68))
    for name in ("training", "testing"):
        path = tmp_path / f"{name}_with_face_landmarks.xml"
        path.write_text(XML.format(parts=parts))
    boxes, points = read_boxes(tmp_path)["a.jpg"]
    assert boxes.tolist() == [[20, 10, 30, 40]]
    assert points[0, :, 0].tolist() == [38.5, 44.5, 30, 48, 54]
    path.write_text(XML.format(parts=""))
    with pytest.raises(DataError, match="testing_with_face_landmarks"):
        read_boxes(tmp_path)
    path.write_text("<dataset>")
    with pytest.raises(DataError, match="cannot be read"):
        read_boxes(tmp_path)
    path.unlink()
    with pytest.raises(MissingDataError, match="does not exist"):
        read_boxes(tmp_path)


def test_unknown_parts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="part must be one of"):
        reproduce_photos(tmp_path, parts=["holiday"])


def test_group_photographs(data_home: Path) -> None:
    report = reproduce_photos(data_home, parts=["detection"], engines=["sface"]).to_dict()
    (row,) = next(part for part in report["parts"] if part["kind"] == "table")["rows"]
    assert row["boxes"] == 43
    assert row["missed"] <= 2
    assert row["false alarms"] <= 2
    assert row["left eye: offset"] < 0.2


def test_painted_faces_have_their_truth() -> None:
    rs = np.random.RandomState(0)
    images = rs.randint(60, 200, (6, 112, 112, 3)).astype(np.uint8)
    crops = _Crops(images, np.array(list("aabbcc")), np.array([True, True, False] * 2))
    painted, masks, kinds = _paint(crops, [], 40, rs)
    assert painted.shape == (40, 112, 112, 3)
    assert not masks[kinds == "clean"].any()
    assert all(mask.any() for mask in masks[kinds != "clean"])
    assert _truth(masks)[kinds == "half"].all()
    assert not _truth(masks)[kinds == "glasses"].any()
    half = np.zeros((1, 112, 112), bool)
    half[:, 56:] = True
    assert _blocks(half).reshape(14, 14).sum(axis=1).tolist() == [0] * 7 + [14] * 7


def test_people_stay_on_one_side_and_odds_are_calibrated() -> None:
    people = np.repeat([f"p{k}" for k in range(200)], 3)
    part = _split_people(people)
    assert all(len(set(part[people == name])) == 1 for name in set(people))
    assert set(part) == {0, 1, 2}
    rs = np.random.RandomState(0)
    share = rs.uniform(0.02, 0.98, 4000)
    truth = rs.rand(4000) < share**2 / (share**2 + (1 - share) ** 2)  # log odds are doubled
    scale, offset = _calibrate(share, truth)
    assert abs(scale - 2) < 0.25
    assert abs(offset) < 0.2


def test_every_engine_of_the_whole_run_has_its_threshold() -> None:
    assert set(ENGINES) <= set(EMBEDDINGS)
