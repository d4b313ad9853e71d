"""Everything can be undone but deleting; what was said about a face is kept and respected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from gallery_people import digest, draw_people, fill

from mien.errors import ConsentError, GalleryDamagedError, InputError
from mien.gallery import Consent, FaceKey, Gallery
from mien.verification import Verifier

X = draw_people(8, 4, seed=31)
JPEG = b"\xff\xd8\xff picture"
CONSENT = Consent(1.0, "doors", "text 3", None)


@pytest.fixture
def people(
    some_store: tuple[Callable[[], str], bytes | None], verifier: Verifier
) -> Iterator[Gallery]:
    place, key = some_store
    with Gallery.create(place(), verifier, key=key) as gallery:
        gallery.set_policy(thumbnails=True)
        fill(gallery, X[:4, :3])
        gallery.set_thumbnail(gallery.faces("person 1")[0].id, JPEG)
        yield gallery


def _state(gallery: Gallery) -> list[Any]:
    faces = gallery.faces()
    links = [(c.kind, c.face, c.other, c.person) for c in gallery.constraints()]
    ratios = [dict(found.candidates) for found in gallery.identify(X[:4, 3])]
    vectors = [gallery._store.read_vector(face.id).tobytes() for face in faces]
    thumbnails = [gallery.thumbnail(face.id) for face in faces]
    return [gallery.people(), faces, links, ratios, vectors, thumbnails]


def _faces(gallery: Gallery, person: str) -> list[str]:
    return [face.id for face in gallery.faces(person)]


CHANGES: dict[str, Callable[[Gallery], object]] = {
    "enrol": lambda g: g.enrol("new", X[6], digests=[digest(6, j) for j in range(4)]),
    "enrol more": lambda g: g.enrol("person 1", X[1, 3:], thumbnails=[JPEG], consent=CONSENT),
    "add": lambda g: g.add_person("faceless"),
    "rename": lambda g: g.rename("person 1", "somebody"),
    "merge": lambda g: g.merge("person 1", "person 2"),
    "move": lambda g: g.move_faces(_faces(g, "person 1")[:2], "person 2"),
    "move all": lambda g: g.move_faces(_faces(g, "person 1"), "somebody"),
    "split": lambda g: g.split(_faces(g, "person 1")[:1], "somebody"),
    "remove": lambda g: g.remove_faces(_faces(g, "person 1")),
    "hide": lambda g: g.hide("person 1"),
    "consent": lambda g: g.set_consent("person 1", CONSENT),
    "retention": lambda g: g.set_retention("person 1", 5.0),
    "same": lambda g: g.add_constraint(
        "same-person", _faces(g, "person 1")[0], other=_faces(g, "person 2")[0]
    ),
    "no face": lambda g: g.add_constraint("not-a-face", ("ab" * 32, 3)),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:the gallery has:mien.errors.MienWarning")
def test_each_change_is_undone_exactly(people: Gallery) -> None:
    """One after the other, then all of them back."""
    states = [_state(people)]
    for change in CHANGES.values():
        change(people)
        states.append(_state(people))
        assert states[-1] != states[-2]
        people.undo()
        states.pop()
        assert _plain(_state(people)) == _plain(states[-1])
    assert people.check() == []


def _plain(state: list[Any]) -> list[Any]:
    """Without what cannot come back: ratios are equal to rounding."""
    return [*state[:3], [{k: round(v, 3) for k, v in one.items()} for one in state[3]], *state[4:]]


def test_a_row_of_changes_is_undone_from_the_last(people: Gallery) -> None:
    names = ["rename", "hide2", "merge2", "split2", "enrol", "remove2"]
    steps: dict[str, Callable[[Gallery], object]] = {
        "hide2": lambda g: g.hide("somebody"),
        "merge2": lambda g: g.merge("somebody", "person 0"),
        "split2": lambda g: g.split(_faces(g, "person 0")[1:4], "half"),
        "remove2": lambda g: g.remove_faces(_faces(g, "half")[:1]),
    }
    states = []
    for name in names:
        states.append(_plain(_state(people)))
        (steps.get(name) or CHANGES[name])(people)
    history = people.history()
    assert [change.action for change in history[:3]] == ["remove-face", "enrol", "split"]
    assert history[5].names == ("person 1",)
    with pytest.raises(InputError, match="the last change"):
        people.undo(history[1].number)
    # Deleting somebody else in between is no hindrance, and stays.
    people.delete("person 3")
    for name, state in zip(reversed(names), reversed(states), strict=True):
        done = people.undo()
        assert done.undone is not None, name
        state[0] = [person for person in state[0] if person.name != "person 3"]
        state[1] = [face for face in state[1] if face.person != "person 3"]
        got = _plain(_state(people))
        assert got[:3] == state[:3], name
    assert people.check() == []


def test_nothing_to_undo(people: Gallery) -> None:
    people.clear_history()
    with pytest.raises(InputError, match="nothing in the history"):
        people.undo()


def test_an_enrolment_that_is_undone_is_gone_from_the_bytes(gallery: Gallery) -> None:
    fill(gallery, X[:4])
    gallery.enrol("Wilhelmina", X[6], digests=[digest(6, j) for j in range(4)])
    gallery.undo()
    content = b"".join(p.read_bytes() for p in gallery.path.parent.iterdir())
    assert b"Wilhelmina" not in content
    assert X[6, 0].tobytes()[:16] not in content


# Constraints.


def test_who_was_excluded_is_no_candidate(people: Gallery) -> None:
    probe = X[[1], 3]
    key = FaceKey(digest("probe"), 2)
    assert people.identify(probe, faces=[key])[0].person == "person 1"
    people.add_constraint("not-this-person", key, person="person 1")
    found = people.identify(probe, faces=[key])[0]
    assert found.person is None
    assert "person 1" not in dict(found.candidates)
    assert people.identify(probe)[0].person == "person 1"  # another picture
    assert people.identify(np.repeat(probe, 2, 0), faces=[None, key], apart="all")[0].person


def test_two_faces_of_one_person_or_of_two(people: Gallery) -> None:
    key = FaceKey(digest("probe"))
    mine, theirs = _faces(people, "person 1")[0], _faces(people, "person 2")[0]
    people.add_constraint("different-people", key, other=mine)
    assert people.identify(X[[1], 3], faces=[key])[0].person is None
    # The later answer holds; and what was said counts, whatever the ratio is.
    people.add_constraint("same-person", key, other=mine)
    assert [c.kind for c in people.constraints()] == ["same-person"]
    assert people.identify(X[[7], 3], faces=[key])[0].person == "person 1"
    number = people.add_constraint("different-people", key, other=theirs)
    assert people.add_constraint("different-people", theirs, other=key) == number
    people.remove_constraint(number)
    with pytest.raises(InputError, match="no constraint"):
        people.remove_constraint(number)
    people.add_constraint("not-a-face", key)
    assert people.identify(X[[1], 3], faces=[key])[0].candidates == []


def test_enrolling_again_does_not_overrule_what_was_said(people: Gallery) -> None:
    wrong, other = people.faces("person 1")[:2]
    people.remove_face(wrong.id)
    people.move_face(other.id, "person 2")
    before = _state(people)
    result = people.enrol("person 1", X[1, :3], digests=[digest(1, j) for j in range(3)])
    assert (result.added, result.already, result.refused) == (0, 1, 2)
    assert _state(people)[:2] == before[:2]
    # Saying the opposite later is allowed.
    people.move_face(other.id, "person 1")
    assert not any(c.face.digest == other.digest and c.person == "person 1"
                   for c in people.constraints())  # fmt: skip


def test_impossible_constraints(people: Gallery) -> None:
    face = _faces(people, "person 1")[0]
    for given in (
        {"kind": "not-a-face", "face": face, "person": "person 1"},
        {"kind": "same-person", "face": face},
        {"kind": "same-person", "face": face, "other": face},
        {"kind": "not-this-person", "face": face, "person": "nobody at all"},
        {"kind": "else", "face": face},
        {"kind": "not-a-face", "face": "no id"},
        {"kind": "not-a-face", "face": ("short", 1)},
        {"kind": "not-a-face", "face": 7},
    ):
        with pytest.raises(InputError):
            people.add_constraint(**given)  # type: ignore[arg-type]
    assert people.constraints() == []


# Consent, thumbnails.


def test_consent_is_demanded_where_the_policy_says_so(people: Gallery) -> None:
    people.set_policy(consent=True)
    with pytest.raises(ConsentError, match="no consent of 'new'"):
        people.enrol("new", X[6])
    assert "new" not in [person.name for person in people.people()]
    people.enrol("new", X[6], consent=CONSENT)
    people.set_consent("new", Consent(1.0, "doors", "text 3", until=2.0))
    with pytest.raises(ConsentError, match="expired"):
        people.enrol("new", X[7])
    people.set_consent("new", Consent(1.0, "doors", "text 4"))
    assert people.enrol("new", X[7]).added == 4
    (held,) = [person for person in people.people() if person.name == "new"]
    assert held.consent == Consent(1.0, "doors", "text 4")


def test_thumbnails_are_kept_only_where_asked_for(people: Gallery) -> None:
    face = _faces(people, "person 1")[0]
    assert people.thumbnail(face) == JPEG
    assert people.thumbnail(_faces(people, "person 2")[0]) is None
    people.set_policy(thumbnails=False)
    assert people.thumbnail(face) is None
    with pytest.raises(InputError, match="keeps no thumbnails"):
        people.set_thumbnail(face, JPEG)
    with pytest.raises(InputError, match="keeps no thumbnails"):
        people.enrol("new", X[6, :1], thumbnails=[JPEG])
    people.set_policy(thumbnails=True)
    for bad in (b"GIF89a", JPEG * 100_000, "text"):
        with pytest.raises(InputError, match="thumbnail"):
            people.set_thumbnail(face, bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("table", ["person_key", "thumbnail", "removed", "link", "change"])
def test_rows_of_the_new_tables_cannot_be_left_out(people: Gallery, table: str) -> None:
    people.add_constraint("not-a-face", ("ab" * 32, 3))
    people.remove_face(_faces(people, "person 2")[0])
    people._store.connection.execute(f"DELETE FROM {table}")
    sealed = people.sealed or table != "person_key"
    try:
        assert (people.check() != []) == sealed
    except GalleryDamagedError:
        assert sealed
