"""What an error says about what was changed is true, whatever fails and whenever."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gallery_people import digest, draw_people, fill

from mien.errors import GalleryError, GalleryKeyError, MienWarning
from mien.gallery import Gallery
from mien.verification import Verifier

X = draw_people(12, 4, seed=77)

CHANGES: dict[str, Callable[[Gallery], object]] = {
    "enrol": lambda g: g.enrol("new", X[9, :2], digests=[digest(9, 0), digest(9, 1)]),
    "rename": lambda g: g.rename("person 1", "somebody"),
    "merge": lambda g: g.merge("person 1", "person 2"),
    "delete": lambda g: g.delete("person 1"),
    "delete-source": lambda g: g.delete_source(digest(1, 0)),
    "delete-face": lambda g: g.delete_face(g.faces("person 1")[0].id),
    "move-face": lambda g: g.move_face(g.faces("person 1")[0].id, "person 2"),
    "add-person": lambda g: g.add_person("faceless"),
    "remove-face": lambda g: g.remove_face(g.faces("person 1")[0].id),
    "undo": lambda g: g.undo(),
    "set-model": lambda g: g.set_model(g.model),
    "hide": lambda g: g.hide("person 1"),
    "split": lambda g: g.split([g.faces("person 1")[0].id], "new"),
    "set-retention": lambda g: g.set_retention("person 1", 4e9),
    "rotate": lambda g: g.rotate(),
    "change-key": lambda g: g.change_key(NEW_KEY),
}
KEY, NEW_KEY = bytes(range(32)), bytes(range(32, 64))
SEALED = {"rotate", "change-key"}  # what only a sealed gallery can do
FAULTS = {"full": "SQLITE_FULL", "busy": "SQLITE_BUSY", "broken": "SQLITE_IOERR_WRITE"}


class Failing:
    """A connection of which one statement fails: the n-th that could write."""

    def __init__(self, connection: sqlite3.Connection, n: int, fault: str) -> None:
        self._connection = connection
        self._left = n
        self._fault = fault
        self.failed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def _count(self, statement: str) -> None:
        quiet = ("SELECT", "ROLLBACK", "PRAGMA busy_timeout", "BEGIN")
        if statement.lstrip().startswith(quiet) and statement != "BEGIN IMMEDIATE":
            return
        self._left -= 1
        if self._left == 0:
            self.failed = True
            error = sqlite3.OperationalError("made to fail")
            error.sqlite_errorname = self._fault
            raise error

    def execute(self, statement: str, *values: Any) -> Any:
        self._count(statement)
        return self._connection.execute(statement, *values)

    def executemany(self, statement: str, values: Any) -> Any:
        self._count(statement)
        return self._connection.executemany(statement, values)


def _find_key(path: Path, keys: tuple[bytes | None, ...]) -> bytes | None:
    """The key that opens a gallery: one of them must."""
    for key in keys[:-1]:
        with contextlib.suppress(GalleryKeyError), Gallery.open(path, key=key, read_only=True):
            return key
    return keys[-1]


def _state(path: Path, key: bytes | None) -> list[Any]:
    with Gallery.open(path, key=key, read_only=True) as gallery:
        people = [(p.name, p.templates, p.hidden, p.retain_until) for p in gallery.people()]
        faces = [(face.digest, face.face, face.person) for face in gallery.faces()]
        return [people, faces, gallery._store.model_mark(), gallery.rotated, key]


def _fill(path: Path, verifier: Verifier, key: bytes | None) -> bytes:
    with Gallery.create(path, verifier, key=key) as gallery:
        fill(gallery, X[:5])
    return path.read_bytes()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, verifier: Verifier) -> bytes:
    return _fill(tmp_path_factory.mktemp("filled") / "g", verifier, None)


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory, verifier: Verifier) -> bytes:
    return _fill(tmp_path_factory.mktemp("sealed") / "g", verifier, KEY)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.filterwarnings("ignore:traces of what was deleted:mien.errors.MienWarning")
def test_every_fault_point(
    filled: bytes, sealed: bytes, tmp_path: Path, change: str, fault: str
) -> None:
    path = tmp_path / "g"
    content, key = (sealed, KEY) if change in SEALED else (filled, None)
    keys = (KEY, NEW_KEY) if change in SEALED else (None,)
    path.write_bytes(content)
    path.chmod(0o600)
    before = _state(path, key)
    with Gallery.open(path, key=key) as gallery:
        CHANGES[change](gallery)
    after = _state(path, _find_key(path, keys))
    assert after != before or change == "set-model"
    said = set()
    for n in range(1, 100):
        path.write_bytes(content)
        with Gallery.open(path, key=key, timeout=0.05) as gallery:
            failing = Failing(gallery._store.connection, n, FAULTS[fault])
            gallery._store.connection = failing
            try:
                CHANGES[change](gallery)
                message = None
            except GalleryError as error:
                message = str(error)
            gallery._store.connection = failing._connection
        key_now = _find_key(path, keys)
        now = _state(path, key_now)
        if message is None:
            # The reserve was given up, and the second attempt went well.
            assert now == after
        elif "nothing was changed" in message:
            assert now == before, message
            said.add("nothing")
        else:
            assert "the change was made" in message, message
            assert now == after, message
            said.add("made")
        with Gallery.open(path, key=key_now) as gallery:
            assert gallery.check() == []
            found = gallery.identify(X[2:4, 3])
            assert [one.person for one in found] == (
                ["person 2", "person 3"] if now[0] else [None] * 2
            )
            if "delete" in change and message is not None and "nothing" in message:
                CHANGES[change](gallery)  # and it can be done again
        if not failing.failed:
            break
    assert n < 99
    assert "nothing" in said or fault == "full"


def test_a_full_disk_lets_one_open_and_delete(
    filled: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever needs more room than the reserve fails; deleting needs the reserve only."""
    path = tmp_path / "g"
    path.write_bytes(filled)
    path.chmod(0o600)
    reserve = Path(f"{path}-reserve")
    Gallery.open(path).close()
    assert reserve.stat().st_size == 512 * 1024

    class Full(Failing):
        def _count(self, statement: str) -> None:
            writes = statement.lstrip().startswith(("INSERT", "UPDATE", "DELETE", "VACUUM"))
            if writes and (reserve.exists() or statement == "VACUUM"):
                self._left = 1
                super()._count(statement)

    monkeypatch.setattr("mien.gallery._sqlite_purge.keep_reserve", lambda path: None)
    with Gallery.open(path) as gallery:
        gallery._store.connection = Full(gallery._store.connection, 10**9, "SQLITE_FULL")
        with pytest.raises(GalleryError, match="the disk is full; nothing was changed"):
            gallery.enrol("new", X[9, :1], digests=[digest(9, 0)])
        gallery.delete("person 1")
        assert not reserve.exists()
        assert len(gallery) == 4
        gallery._store.connection = gallery._store.connection._connection
    with Gallery.open(path) as gallery:
        assert gallery.check() == []


def test_what_could_not_be_cleaned_up_is_no_reason_not_to_open(
    filled: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "g"
    path.write_bytes(filled)
    with Gallery.open(path) as gallery:
        monkeypatch.setattr(gallery, "_purge", lambda removed: None)
        gallery.delete("person 1")

    def fail(store: Any, removed: Any) -> None:
        raise GalleryError("the disk is full")

    monkeypatch.setattr("mien.gallery._sqlite_purge.purge", fail)
    with pytest.warns(MienWarning, match="traces of what was deleted earlier"):
        gallery = Gallery.open(path)
    with gallery:
        assert len(gallery) == 4
        assert np.isfinite(gallery.identify(X[:1, 3])[0].log_ratio)
