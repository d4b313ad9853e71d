"""What somebody said about faces is respected when they are grouped, named and adapted to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mien.gallery import Constraint, FaceKey, Gallery
from mien.media import write_image
from mien.recognition import cluster, enrol, identify, load_model, sample_people
from mien.recognition._adapt import _read_faces
from mien.recognition._constraints import constrain, relabel
from mien.recognition._people import digest_file

KEYS = [(f"{k:064x}", 0) for k in range(5)]


def _said(kind: str, a: int, b: int | None = None, person: str | None = None) -> Constraint:
    other = None if b is None else FaceKey(*KEYS[b])
    return Constraint(1, kind, FaceKey(*KEYS[a]), other, person, 0.0)


def test_an_answer_holds_against_a_burst_and_for_copies() -> None:
    none = np.zeros((0, 2), np.int64)
    burst = np.array([7, 7, 7, -1, -1])
    found = constrain([_said("different-people", 0, 2)], KEYS, burst, none)
    assert found.groups.tolist() == [-1] * 5
    assert found.apart.tolist() == [[0, 2]]
    copies = [KEYS[0], KEYS[0], KEYS[1], KEYS[2], ("", 0)]
    given = [_said("not-a-face", 0), _said("same-person", 1, 2)]
    found = constrain(given, copies, np.full(5, -1), none)
    assert found.keep.tolist() == [False, False, True, True, True]
    assert found.groups[2] == found.groups[3] >= 0
    apart = constrain([_said("different-people", 0, 1)], copies, np.full(5, -1), none).apart
    assert {tuple(pair) for pair in apart.tolist()} == {(0, 2), (1, 2)}


def test_names_are_corrected_by_answers() -> None:
    names = np.array(["Ann", "Ann", "Bob", "Cleo", "Cleo"])
    given = [
        _said("not-this-person", 0, person="Ann"), _said("not-this-person", 1, person="Bob"),
        _said("same-person", 1, 2), _said("different-people", 3, 4),
    ]  # fmt: skip
    keep, found = relabel(given, KEYS, names)
    assert keep.tolist() == [False, True, True, False, False]
    assert found.tolist() == ["Ann", "Ann", "Ann", "Cleo", "Cleo"]
    keep, found = relabel([_said("not-a-face", 4), _said("not-sure", 0, 2)], KEYS, names)
    assert keep.tolist() == [True] * 4 + [False]
    assert found.tolist() == names.tolist()
    keep, found = relabel(given, [], np.asarray([]))
    assert len(keep) == len(found) == 0


@pytest.fixture
def folder(pictures: dict[str, list[np.ndarray]], tmp_path: Path) -> Path:
    for name, k in (("Ann", 0), ("Ann", 1), ("Bob", 0), ("Bob", 1)):
        (tmp_path / "photos" / name).mkdir(parents=True, exist_ok=True)
        write_image(tmp_path / "photos" / name / f"{name}{k}.png", pictures[name][k])
    return tmp_path / "photos"


def _key(folder: Path, name: str) -> tuple[str, int]:
    (place,) = folder.rglob(name)
    digest = digest_file(place)
    assert digest is not None
    return digest, 0


@pytest.mark.needs("faces")
def test_cluster_respects_the_gallery_s_answers(folder: Path, tmp_path: Path) -> None:
    with Gallery.create(tmp_path / "g", load_model(None, "sface")) as gallery:
        ann, bob = _key(folder, "Ann0.png"), _key(folder, "Bob0.png")
        gallery.add_constraint("same-person", ann, other=bob)
        gallery.add_constraint("different-people", ann, other=_key(folder, "Ann1.png"))
        gallery.add_constraint("not-a-face", _key(folder, "Bob1.png"))
    with Gallery.open(tmp_path / "g", read_only=True) as gallery:
        found = cluster(folder, gallery=gallery, n_jobs=1, min_faces=1)
    assert found.observed is None  # nothing is written into a gallery that is only read
    people = {face.path.name: int(k) for face, k in zip(found.faces, found.people, strict=True)}
    assert sorted(people) == ["Ann0.png", "Ann1.png", "Bob0.png"]
    assert people["Ann0.png"] == people["Bob0.png"] != people["Ann1.png"]
    assert [(f.path.name, f.reason) for f in found.failures] == [("Bob1.png", "no face")]

    # A face that is not a person is apart from all faces of that person.
    with Gallery.open(tmp_path / "g") as gallery:
        for one in gallery.constraints():
            gallery.remove_constraint(one.number)
        enrol(folder / "Ann" / "Ann0.png", gallery, person="Ann", n_jobs=1)
        gallery.add_constraint("not-this-person", _key(folder, "Ann1.png"), person="Ann")
        found = cluster(folder / "Ann", gallery=gallery, n_jobs=1, min_faces=1)
    assert found.n_people == 2


@pytest.mark.needs("faces")
def test_identify_and_adapt_respect_the_gallery_s_answers(folder: Path, tmp_path: Path) -> None:
    with Gallery.create(tmp_path / "g", load_model(None, "sface")) as gallery:
        enrol(folder, gallery, n_jobs=1)
        picture = folder / "Ann" / "Ann0.png"
        key = _key(folder, "Ann0.png")

        def ask() -> str | None:
            return identify(picture, gallery, fpir=0.2, n_jobs=1)[0].faces[0].person

        assert ask() == "Ann"
        said = gallery.add_constraint("not-this-person", key, person="Ann")
        assert ask() != "Ann"
        gallery.remove_constraint(said)
        gallery.remove_face(next(f.id for f in gallery.faces("Ann") if f.digest == key[0]))
        for one in gallery.constraints():  # taking a face out says who it is not
            gallery.remove_constraint(one.number)
        said = gallery.add_constraint("same-person", key, other=_key(folder, "Bob0.png"))
        assert ask() == "Bob"
        gallery.remove_constraint(said)
        gallery.add_constraint("not-a-face", key)
        assert ask() is None

        X, people, failures = _read_faces(folder, "sface", 1, gallery.constraints(), None)
        assert people.tolist() == ["Ann", "Bob", "Bob"]
        assert len(X) == 3
        assert [(f.path.name, f.reason) for f in failures] == [("Ann0.png", "refused")]

        assert len(set(sample_people(gallery)[1].tolist())) == 2
        gallery.add_constraint(
            "same-person", _key(folder, "Ann1.png"), other=_key(folder, "Bob1.png")
        )
        X, numbers = sample_people(gallery)
        assert (len(X), len(set(numbers.tolist()))) == (3, 1)
