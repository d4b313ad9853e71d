"""People and settings of a gallery: each function that changes something is one transaction."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mien.errors import InputError
from mien.gallery._protocol import Removed
from mien.gallery._records import Consent, Person

if TYPE_CHECKING:
    from mien.gallery._row_store import RowStore

__all__ = [
    "add_people",
    "add_person",
    "all_names",
    "hide_person",
    "list_people",
    "note_action",
    "note_use",
    "rename_person",
    "set_model",
    "set_policy",
    "set_setting",
    "set_terms",
    "show_consent",
]


def list_people(store: RowStore, numbers: Sequence[int] | None = None) -> list[Person]:
    """Everybody, or some by number."""
    marks = "" if numbers is None else ",".join("?" * len(numbers))
    which, whose = (
        ("1 = 1",) * 2 if numbers is None else (f"id IN ({marks})", f"person IN ({marks})")
    )
    values = numbers or ()
    with store.reading():
        counts = dict(
            store.query(
                f"SELECT person, count(*) FROM template WHERE {whose} GROUP BY person", values
            )
        )
        used = dict(store.rows("usage", whose, values))
        rows = store.rows("person", which, values)
        if store.keys is not None:
            store.keys.load([row[0] for row in rows])
    return [
        Person(
            store.show_name(name, number),
            number,
            counts.get(number, 0),
            added,
            bool(hidden),
            show_consent(store, consent, number),
            retain_until,
            used[number] * 86_400.0 if number in used else None,
        )
        for number, _, name, added, _, hidden, consent, retain_until in rows
    ]


def all_names(store: RowStore) -> dict[int, str]:
    """Names of everybody by number."""
    with store.reading():
        rows = store.rows("person")
        if store.keys is not None:
            store.keys.load([row[0] for row in rows])
    return {row[0]: store.show_name(row[2], row[0]) for row in rows}


def show_consent(store: RowStore, stored: bytes | None, number: int) -> Consent | None:
    """What a person agreed to."""
    if stored is None:
        return None
    try:
        return Consent(**json.loads(store.show_text(stored, number, b"consent")))
    except (ValueError, TypeError) as error:
        raise store.corrupted(f"the consent of person {number} is not readable") from error


def add_people(store: RowStore, names: Sequence[str], revision: int) -> dict[str, int]:
    """Numbers of the people, new ones for those who were not there; within a transaction."""
    now = time.time()
    first = store.number("next_person")
    found = store.find_people(names)
    new = [name for name in dict.fromkeys(names) if name not in found]
    if new:
        if store.keys is not None:
            keys = store.keys
            store.insert_rows(
                "person_key", ((number, keys.make(number)) for number, _ in enumerate(new, first))
            )
        store.insert_rows(
            "person",
            (
                (number, store.tag(name), store.hide_name(name, number), now, revision, 0, None,
                 None)
                for number, name in enumerate(new, first)
            ),
        )  # fmt: skip
        store.set_meta("next_person", first + len(new))
        if store.journal is not None:
            store.journal.created = [first, first + len(new) - 1]
    return found | {name: number for number, name in enumerate(new, first)}


def add_person(store: RowStore, name: str) -> bool:
    """Somebody without faces; False where the name is there already."""
    with store.writing("add-person") as revision:
        if store.find_person(name) is not None:
            return False
        number = add_people(store, [name], revision)[name]
        store.record("add-person", revision, number, 1, 0)
    return True


def rename_person(store: RowStore, old: str, new: str) -> None:
    """Give a person another name."""
    with store.writing("rename") as revision:
        number = store.require_person(old)
        if store.find_person(new) not in (None, number):
            raise InputError(f"{new!r} is already in the gallery: merge the two, if they are one")
        (row,) = store.rows("person", "id = ?", (number,))
        store.replace_person(
            (number, store.tag(new), store.hide_name(new, number), row[3], revision, *row[5:])
        )
        store.record("rename", revision, number, 1, 0)


def hide_person(store: RowStore, name: str, hidden: bool) -> None:
    """Whether a person is left out of lists."""
    with store.writing("hide" if hidden else "unhide") as revision:
        number = store.require_person(name)
        (row,) = store.rows("person", "id = ?", (number,))
        if bool(row[5]) == hidden:
            return
        store.replace_person((*row[:4], revision, int(hidden), *row[6:]))
        store.record("hide" if hidden else "unhide", revision, number, 1, 0)


def set_terms(store: RowStore, name: str, consent: str | None, retain_until: float | None) -> None:
    """What a person agreed to, and until when the faces are kept."""
    with store.writing("set-terms") as revision:
        number = store.require_person(name)
        (row,) = store.rows("person", "id = ?", (number,))
        hidden = None if consent is None else store.hide_text(consent, number, b"consent")
        store.replace_person((*row[:4], revision, row[5], hidden, retain_until))
        store.record("set-terms", revision, number, 1, 0)


def note_use(store: RowStore, numbers: Iterable[int], day: int) -> None:
    """People were recognised on a day; nothing is written twice a day."""
    known = dict(store.rows("usage"))
    late = [number for number in numbers if known.get(number, -1) < day]
    if not late:
        return
    with store.writing():
        for number in store.names_of(late):
            store.replace_row("usage", (number, day))


def set_model(store: RowStore, content: bytes) -> None:
    """Replace the model, and keep the one before."""
    with store.writing() as revision:
        store.set_meta("verifier_before", store.model())
        store.set_meta("verifier", content)
        store.set_meta("verifier_mark", hashlib.sha256(content).hexdigest())
        store.forget_index(None)
        store.record("set-model", revision, None, 0, 0)


def set_setting(store: RowStore, key: str, value: str) -> None:
    """Store a setting."""
    with store.writing():
        store.set_meta(key, value)


def set_policy(store: RowStore, text: str, thumbnails: bool) -> Removed:
    """Set what the gallery keeps and demands; thumbnails that it does not keep are erased."""
    secrets: list[bytes] = []
    with store.writing() as revision:
        store.set_meta("policy", text)
        if not thumbnails:
            secrets = [row[3] for row in store.rows("thumbnail")]
            secrets += [row[9] for row in store.rows("removed", "thumbnail IS NOT NULL")]
            store.drop_rows("thumbnail", "1 = 1", ())
            for row in store.rows("removed", "thumbnail IS NOT NULL"):
                store.replace_row("removed", (*row[:9], None))
        if secrets:
            store.set_meta("purge", 1)
        store.record("set-policy", revision, None, 0, len(secrets))
    return Removed(len(secrets), secrets, [])


def note_action(store: RowStore, action: str, people: int, templates: int) -> None:
    """Add to the audit trail."""
    with store.writing() as revision:
        store.record(action, revision, None, people, templates)
