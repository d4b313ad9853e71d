"""Photographs into a gallery: known people, strangers with numbers, nothing twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mien.errors import MissingDataError
from mien.gallery import Gallery
from mien.media import write_image
from mien.recognition import (
    enrol,
    import_photos,
    is_placeholder,
    load_model,
    make_thumbnails,
)

pytestmark = pytest.mark.needs("faces")


def test_placeholders_are_the_names_that_cluster_writes() -> None:
    assert is_placeholder("person-001")
    assert is_placeholder("person-1234")
    assert not is_placeholder("person-")
    assert not is_placeholder("Ann")
    assert not is_placeholder("person-001 and Ann")


def test_import(album: Path, pictures: dict[str, list[np.ndarray]], tmp_path: Path) -> None:
    place = tmp_path / "g.gallery"
    known = tmp_path / "known" / "Ann"
    known.mkdir(parents=True)
    for k in (0, 1):
        write_image(known / f"{k}.png", pictures["Ann"][k])
    enrol(known.parent, place)
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    write_image(fresh / "two.png", np.hstack([pictures["Ann"][2], pictures["Bob"][0]]))
    write_image(fresh / "meadow.png", np.full((90, 120, 3), 120, np.uint8))
    (fresh / "torn.jpg").write_bytes(b"\xff\xd8\xff\xe0 and no more")
    with Gallery.open(place) as gallery:
        gallery.set_policy(thumbnails=True)
    found = import_photos(fresh, place, fpir=0.2)
    assert found.pictures == 3
    assert found.known + found.unknown == 2
    assert {failure.reason for failure in found.failures} == {"no face", "unreadable"}
    assert {Path(f["file"]).name for f in found.to_dict()["failures"]} == {"meadow.png", "torn.jpg"}
    with Gallery.open(place) as gallery:
        assert len(gallery.faces()) == 4
        strangers = [p for p in gallery.people() if is_placeholder(p.name)]
        assert sum(person.templates for person in strangers) == found.unknown
        new = [face for face in gallery.faces() if str(face.source).endswith("two.png")]
        assert len({face.person for face in new}) == 2  # two faces of one picture are two people
        assert all((gallery.thumbnail(face.id) or b"").startswith(b"\xff\xd8") for face in new)

        assert make_thumbnails(gallery, [tmp_path / "fresh"]) == 0
        assert make_thumbnails(gallery, [known.parent]) == 2
        assert all(gallery.thumbnail(face.id) for face in gallery.faces("Ann"))
        assert make_thumbnails(gallery, [known.parent]) == 0

        again = import_photos(fresh, gallery)
        assert (again.known, again.unknown, again.already) == (0, 0, 2)
        assert len(gallery.faces()) == 4


def test_what_was_said_about_a_face_is_respected(
    pictures: dict[str, list[np.ndarray]], tmp_path: Path
) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    write_image(photos / "a.png", pictures["Ann"][0])
    with Gallery.create(tmp_path / "g.gallery", load_model(None, "sface")) as gallery:
        assert import_photos(photos, gallery).unknown == 1
        (face,) = gallery.faces()
        key = face.digest, face.face
        gallery.rename(face.person, "Bob")
        gallery.add_constraint("not-this-person", face.id, person="Bob")
        gallery.move_face(face.id, "person-009")
        gallery.remove_face(face.id)
        found = import_photos(photos, gallery)
        assert found.people == {}
        back = gallery.find_face(*key)
        assert back is None or back.person != "Bob"


def test_a_folder_without_pictures_is_an_error(tmp_path: Path) -> None:
    with (
        Gallery.create(tmp_path / "g.gallery", load_model(None, "sface")) as gallery,
        pytest.raises(MissingDataError, match="no picture"),
    ):
        import_photos(tmp_path, gallery)


def test_answers_become_groups_and_pairs() -> None:
    from mien.gallery import Constraint, FaceKey
    from mien.recognition._constraints import constrain

    keys = [(f"{k:064x}", 0) for k in range(6)]

    def said(number: int, kind: str, a: int, b: int | None = None) -> Constraint:
        other = None if b is None else FaceKey(*keys[b])
        return Constraint(number, kind, FaceKey(*keys[a]), other, None, 0.0)

    none = np.full(6, -1)
    apart = np.array([[4, 5]])
    given = [
        said(1, "same-person", 0, 1), said(2, "same-person", 1, 2), said(3, "not-a-face", 3),
        said(4, "different-people", 0, 4), said(5, "not-sure", 2, 5),
        said(6, "same-person", 2, 4),  # 0, 1 and 2 are one, and 4 is not 0: left out
        said(7, "same-person", 0, 5),
    ]  # fmt: skip
    found = constrain(given, keys, none, apart)
    assert found.keep.tolist() == [True, True, True, False, True, True]
    together = found.groups[[0, 1, 2, 5]]
    assert together[0] >= 0
    assert len(set(together.tolist())) == 1
    assert found.groups[[3, 4]].tolist() == [-1, -1]
    assert {tuple(pair) for pair in found.apart.tolist()} == {(4, 5), (0, 4)}
    later = constrain([*given, said(8, "same-person", 0, 4)], keys, none, np.zeros((0, 2), int))
    assert later.groups[4] == later.groups[0]


def test_a_photograph_is_found_only_below_the_folders(tmp_path: Path) -> None:
    from mien.recognition import find_photo

    album, other = tmp_path / "album", tmp_path / "other"
    album.mkdir()
    other.mkdir()
    (album / "a.jpg").write_bytes(b"a")
    (other / "b.jpg").write_bytes(b"b")
    (album / "link.jpg").symlink_to(other / "b.jpg")
    assert find_photo("a.jpg", [album]) == (album / "a.jpg").resolve()
    assert find_photo(str(album / "a.jpg"), [album]) == (album / "a.jpg").resolve()
    for source in (None, "b.jpg", "../other/b.jpg", str(other / "b.jpg"), "link.jpg", "\0", ""):
        assert find_photo(source, [album]) is None
    assert find_photo("a.jpg", []) is None
