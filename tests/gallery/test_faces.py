"""Single faces: ids, pages, moving, deleting."""

from __future__ import annotations

import uuid
from pathlib import Path

import numpy as np
import pytest
from gallery_people import digest, draw_people, fill

from mien.errors import InputError
from mien.gallery import Gallery


def test_every_face_has_a_stable_id(gallery: Gallery, tmp_path: Path) -> None:
    fill(gallery, draw_people(3, 4, 1))
    faces = gallery.faces()
    assert len(faces) == 12
    assert len({face.id for face in faces}) == 12
    for face in faces:
        assert uuid.UUID(face.id).version == 8
        assert gallery.get_face(face.id) == face
        assert gallery.find_face(face.digest, face.face) == face
    with Gallery.open(gallery.path, read_only=True) as again:
        assert again.faces() == faces


def test_faces_of_one_picture_have_their_own_ids(gallery: Gallery) -> None:
    X = draw_people(2, 1, 2)
    for i, name in enumerate(["Ann", "Bob"]):
        gallery.enrol(name, X[i], digests=[digest("both")], faces=[300 * i])
    first, second = gallery.faces()
    assert first.id != second.id
    assert [gallery.get_face(one.id).person for one in (first, second)] == ["Ann", "Bob"]  # type: ignore[union-attr]


@pytest.mark.parametrize("limit", [1, 5, 7, 100])
def test_pages_give_every_face_once(gallery: Gallery, limit: int) -> None:
    fill(gallery, draw_people(4, 5, 3))
    found, after = [], None
    while page := gallery.faces(after=after, limit=limit):
        found += page
        after = page[-1].id
    assert found == gallery.faces()
    mine = gallery.faces("person 2")
    assert [face.person for face in mine] == ["person 2"] * 5


def test_a_page_goes_on_after_a_face_that_was_deleted(gallery: Gallery) -> None:
    fill(gallery, draw_people(2, 5, 4))
    faces = gallery.faces()
    gallery.delete_face(faces[3].id)
    assert gallery.faces(after=faces[3].id) == faces[4:]


def test_a_moved_face_counts_for_its_new_owner(gallery: Gallery) -> None:
    X = draw_people(2, 3, 5)
    fill(gallery, X)
    wrong = gallery.faces("person 1")[0]
    moved = gallery.move_face(wrong.id, "person 0")
    assert moved.id == wrong.id
    assert moved.person == "person 0"
    assert {p.name: p.templates for p in gallery.people()} == {"person 0": 4, "person 1": 2}
    assert gallery.check() == []


def test_whoever_loses_the_last_face_is_forgotten(gallery: Gallery) -> None:
    fill(gallery, draw_people(2, 1, 6))
    (only,) = gallery.faces("person 1")
    gallery.move_face(only.id, "somebody new")
    assert [person.name for person in gallery.people()] == ["person 0", "somebody new"]
    gallery.delete_face(only.id)
    assert [person.name for person in gallery.people()] == ["person 0"]
    assert b"somebody new" not in gallery.path.read_bytes()


def test_a_deleted_face_is_not_in_the_bytes(gallery: Gallery) -> None:
    X = draw_people(2, 2, 7)
    fill(gallery, X)
    face = gallery.find_face(digest(1, 0))
    assert face is not None
    content = X[1, 0].astype("<f4").tobytes()
    gallery.purge()
    assert content in gallery.path.read_bytes()
    gallery.delete_face(face.id)
    assert content not in gallery.path.read_bytes()
    assert gallery.get_face(face.id) is None


def test_scores_against_one_face(gallery: Gallery) -> None:
    X = draw_people(3, 2, 8)
    fill(gallery, X)
    face = gallery.find_face(digest(1, 0))
    assert face is not None
    ratios = gallery.score_face(face.id, X[:, 1])
    expected = gallery.model.verifier.score_pairs(
        np.repeat(X[1, :1].astype(float), 3, axis=0), X[:, 1].astype(float)
    )
    assert np.allclose(ratios, expected, atol=1e-3)
    assert np.argmax(ratios) == 1


def test_a_person_without_faces_is_listed_and_never_an_answer(gallery: Gallery) -> None:
    X = draw_people(2, 2, 9)
    assert gallery.add_person("Ann")
    assert not gallery.add_person("Ann")
    assert [(p.name, p.templates) for p in gallery.people()] == [("Ann", 0)]
    assert gallery.identify(X[0])[0].person is None
    fill(gallery, X)
    assert all(one.person != "Ann" for one in gallery.identify(X.reshape(4, -1)))
    assert gallery.check() == []


@pytest.mark.parametrize("identifier", ["", "no id", str(uuid.UUID(int=7)), "../../etc"])
def test_unknown_ids(gallery: Gallery, identifier: str) -> None:
    fill(gallery, draw_people(1, 1, 10))
    assert gallery.get_face(identifier) is None
    with pytest.raises(InputError, match="no face"):
        gallery.delete_face(identifier)
    with pytest.raises(InputError, match="no face"):
        gallery.move_face(identifier, "Ann")
    assert len(gallery.faces()) == 1


def test_people_are_read_in_pages(gallery: Gallery) -> None:
    """By name whatever the case; a page is as what is listed whole, also after a change."""
    for name in ("zoe", "Ann", "ann b", "Bob", "Zed"):
        gallery.add_person(name)
    names = [person.name for person in gallery.people()]
    found: list[str] = []
    after = None
    while page := gallery.list_people(after=after, limit=2):
        found += [person.name for person in page]
        after = page[-1].name.casefold(), page[-1].number
    assert found == names == ["Ann", "ann b", "Bob", "Zed", "zoe"]
    assert [person.name for person in gallery.list_people(containing="AN")] == ["Ann", "ann b"]
    bob = gallery.find_person("Bob")
    assert bob is not None
    assert gallery.get_person(bob.number) == bob
    gallery.delete("Bob")
    assert gallery.get_person(bob.number) is None
    assert gallery.get_person(2**70) is None
    assert gallery.find_person("Bob") is None
    assert len(gallery.list_people()) == 4
