"""Names of other programs: places find their faces, and names without places are given out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mien.errors import DataError
from mien.gallery import Gallery
from mien.media import NamedRegion, read_image, write_image, write_sidecar
from mien.recognition import _enrol_names as module_of_names
from mien.recognition import _name_faces as module
from mien.recognition import enrol_names, report_names

pytestmark = pytest.mark.needs("faces")


def make_pair(folder: Path, pictures: dict[str, list[np.ndarray]], k: int = 0) -> Path:
    """Ann on the left, Bob on the right."""
    path = folder / f"pair{k}.png"
    write_image(path, np.hstack([pictures["Ann"][k], pictures["Bob"][k]]))
    return path


def test_a_name_goes_to_the_face_at_its_place(
    pictures: dict[str, list[np.ndarray]], tmp_path: Path
) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(2):
        path = make_pair(folder, pictures, k)
        left, right = (0.1, 0.2, 0.3, 0.6), (0.6, 0.2, 0.3, 0.6)
        write_sidecar(path, [NamedRegion("Bob", right), NamedRegion("Ann", left)])
    lonely = make_pair(folder, pictures, 2)
    write_sidecar(lonely, [NamedRegion("Cy", (0.0, 0.0, 0.02, 0.02))])
    result = enrol_names(folder, tmp_path / "people.gallery", n_jobs=1)
    by_place = [face for face in result.faces if face.how == "place"]
    assert [face.person for face in by_place] == ["Ann", "Bob"] * 2 or {
        (face.person, face.box[0] < 140) for face in by_place
    } == {("Ann", True), ("Bob", False)}
    for face in by_place:
        assert (face.person == "Ann") == (face.box[0] + face.box[2] / 2 < 144)
    assert result.unplaced == [(lonely, "Cy")]
    assert result.sources == {"xmp": 3}
    with Gallery.open(tmp_path / "people.gallery", read_only=True) as gallery:
        assert {person.name for person in gallery.people()} >= {"Ann", "Bob"}
        assert {face.source for face in gallery.faces("Ann")} >= {"pair0.png", "pair1.png"}
    again = enrol_names(folder, tmp_path / "people.gallery", n_jobs=1)
    assert again.added == 0
    assert again.already == result.added
    page = report_names(result).write(tmp_path / "page")
    assert "pair0.png" in page.read_text(encoding="utf-8")


def test_a_name_that_no_face_got_is_listed(
    pictures: dict[str, list[np.ndarray]], tmp_path: Path
) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    path = make_pair(folder, pictures)
    write_sidecar(path, [NamedRegion("Ann", (0.1, 0.2, 0.3, 0.6))])
    said = {"title": path.name, "people": [{"name": name} for name in ("Ann", "Bob", "Cy", "Di")]}
    (folder / f"{path.name}.json").write_text(json.dumps(said), encoding="utf-8")
    result = enrol_names(folder, tmp_path / "people.gallery", n_jobs=1)
    # Three names for one face that is left: nothing tells whose it is.
    assert result.unmatched == [(path, name) for name in ("Bob", "Cy", "Di")]
    found = report_names(result).to_dict()["parts"]
    tables = {part["title"]: part["rows"] for part in found if part["kind"] == "table"}
    assert [row["source"] for row in tables["What was used"]] == ["xmp", "takeout"]
    assert [row["number"] for row in tables["How faces got a name"]] == [1, 0, 1]
    assert len(tables["Names that no face of their picture got"]) == 3


def test_faces_of_a_burst_are_one_person_to_the_learner(
    pictures: dict[str, list[np.ndarray]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy is the surest burst: its faces are grouped, also where one of them has a place."""
    first = make_pair(tmp_path, pictures)
    copy = tmp_path / "copy.png"
    copy.write_bytes(first.read_bytes())
    make_pair(tmp_path, pictures, 1)
    write_sidecar(first, [NamedRegion("Bob", (0.6, 0.2, 0.3, 0.6))])
    asked: list[tuple[np.ndarray, np.ndarray]] = []

    def name_faces(model: Any, X: np.ndarray, *rest: Any, groups: Any, **options: Any) -> Any:
        asked.append((X, groups))
        return module.name_faces(model, X, *rest, groups=groups, **options)

    monkeypatch.setattr(module_of_names, "name_faces", name_faces)
    result = enrol_names(tmp_path, tmp_path / "g.gallery", n_jobs=1)
    ((X, groups),) = asked
    assert len(result.faces) == len(X) == 6
    copied = np.flatnonzero((np.linalg.norm(X[:, None] - X, axis=2) < 1e-6).sum(axis=1) == 2)
    assert len(copied) == 4
    assert np.all(groups[copied] >= 0)
    alike = np.linalg.norm(X[copied, None] - X[copied], axis=2) < 1e-6
    assert np.array_equal(groups[copied, None] == groups[copied], alike)


def test_nobody_named_is_said(pictures: dict[str, list[np.ndarray]], tmp_path: Path) -> None:
    make_pair(tmp_path, pictures)
    with pytest.raises(DataError, match="nobody is named"):
        enrol_names(tmp_path, tmp_path / "g.gallery", n_jobs=1)
    assert not (tmp_path / "g.gallery").exists()


@pytest.fixture(scope="module")
def takeout(
    data_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, list[Any]]]:
    """Pictures of one to three of five real people side by side, with Takeout's files beside."""
    if not (data_home / "photos" / "five_people").is_dir():
        pytest.skip("the photographs of five people are not here")
    people = {
        folder.name: sorted(folder.iterdir())[:9]
        for folder in sorted((data_home / "photos" / "five_people").iterdir())
        if folder.is_dir()
    }
    root = tmp_path_factory.mktemp("takeout")
    rng = np.random.default_rng(0)
    left = {name: list(files) for name, files in people.items()}
    truth: dict[str, list[Any]] = {}
    while any(left.values()):
        names = [name for name in left if left[name]]
        chosen = [names[i] for i in rng.permutation(len(names))[: rng.integers(1, 4)]]
        shown = []
        for name in chosen:
            image = read_image(left[name].pop(), colour=True, size=(240, 200))
            shown.append(
                image if image.dtype == np.uint8 else np.round(255 * image).astype(np.uint8)
            )
        file = f"IMG_{len(truth):04d}.png"
        write_image(root / file, np.hstack(shown))
        said = [{"name": name} for name in sorted(chosen) if rng.random() > 0.15]
        content = {"title": file, "people": said}
        (root / f"{file}.supplemental-metadata.json").write_text(json.dumps(content))
        truth[file] = chosen
    return root, truth


def test_takeout_of_five_real_people(
    takeout: tuple[Path, dict[str, list[Any]]], tmp_path: Path
) -> None:
    root, truth = takeout
    result = enrol_names(root, tmp_path / "people.gallery", n_jobs=2)
    right = wrong = 0
    for face in result.faces:
        column = int((face.box[0] + face.box[2] / 2) // 200)
        owner = truth[face.path.name][column]
        right += face.person == owner
        wrong += face.person not in (None, owner)
    assert wrong == 0
    assert right >= 0.8 * len(result.faces)
    assert set(result.sources) == {"takeout"}
