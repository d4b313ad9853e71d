"""A committee from a folder of cut-out faces, and the names it gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mien.committee import RandomSamplingLDA
from mien.crops import identify, train_committee
from mien.crops._committee import _list_pictures
from mien.datasets import FaceSet, make_faces
from mien.errors import DataError, InputError, MissingDataError
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


def test_folder_to_model_to_names(folder: Path) -> None:
    model, summary = train_committee(folder, size=24, n_members=8, random_state=0)
    assert (summary["people"], summary["pictures"], summary["held out"]) == (12, 96, 12)
    assert 0 <= summary["named rightly"][0] <= 1
    assert model.picture_size_ == [24, 24]
    rows = identify(model, [folder / "p3"], threshold=0.5)
    assert len(rows) == 8
    assert np.mean([row["person"] == "p3" for row in rows]) > 0.8
    strict = identify(model, [folder / "p3"], threshold=1.0)
    assert {row["person"] for row in strict} <= {"unknown", "p3"}
    (folder.parent / "bad.png").write_bytes(b"no picture")
    mixed = identify(model, [folder.parent / "bad.png", folder / "p3"])
    assert "not a picture" in mixed[0]["error"]
    assert mixed[1]["likeliest"][0][0] == rows[0]["likeliest"][0][0]


def test_identify_refuses_what_it_cannot_use(folder: Path, tmp_path: Path) -> None:
    X, y = np.random.default_rng(0).normal(size=(12, 9)), np.repeat([0, 1], 6)
    with pytest.raises(InputError, match="size of its pictures"):
        identify(RandomSamplingLDA(2, random_state=0).fit(X, y), [folder])
    model, _ = train_committee(folder, size=16, n_members=2, random_state=0)
    with pytest.raises(InputError, match="between 0 and 1"):
        identify(model, [folder / "p3"], threshold=2)
    with pytest.raises(MissingDataError, match="does not exist"):
        _list_pictures([folder / "nobody"])
    with pytest.raises(DataError, match="no pictures"):
        _list_pictures([tmp_path])
