"""Kills at every point of every change of a gallery: nothing left over, nothing untrue said.

A child makes one change and says when it is confirmed. It is killed with SIGKILL by itself, just
before or just after one call that can change a file: each call of SQLite, of a file and of the
operating system is such a point. Then the gallery must open, its check must be clean, what was
confirmed must be there, what was deleted must be in no byte of any file, and beside the gallery
there must be nothing but what a gallery keeps. A machine that loses power is another matter: the
system's cache survives a kill.
"""

from __future__ import annotations

import gc
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.forged.run import Item
from mien.errors import GalleryKeyError, MienError
from mien.gallery import Gallery, PictureIndex, SeenPicture, Sighting
from tests.sweep import quiet

_TESTS = Path(__file__).parents[2] / "tests" / "gallery"
_KEPT = {"-wal", "-shm", "-index", "-reserve", ""}
_KEPT |= {"-pictures"}  # no name and no template
_SECRET = "Zarathustra Quux"
_KEYS = {"plain": None, "sealed": bytes(range(32))}
_NEW_KEY = bytes(range(32, 64))
_ONLY = {"rotate": "sealed", "change_key": "sealed", "look": "plain"}
# Modules, and modules of classes, whose functions written in C may change a file ...
_CHANGING = {"posix", "io", "_io", "sqlite3", "fcntl", "usearch.compiled"}
# ... and those among them that never do.
_HARMLESS = {"fspath", "stat", "lstat", "fstat", "getpid", "scandir", "listdir", "urandom"}
_HARMLESS |= {"fetchall", "fetchone", "read", "readinto", "tell", "seek", "getvalue", "access"}

Say = Callable[[], None]
Change = Callable[[Path, Say], None]


def prepare(seed: int, folder: Path) -> Item:
    sys.path.insert(0, str(_TESTS))
    from gallery_people import draw_people, fill, make_verifier

    X = draw_people(40, 3, seed=5)
    other = make_verifier(seed=6)
    for kind, key in _KEYS.items():
        with quiet(), Gallery.create(folder / kind, make_verifier(), key=key) as gallery:
            fill(gallery, X[:20, :2])
            gallery.enrol(_SECRET, X[30])
            gallery.export(folder / f"{kind}.export")

    def enrol(place: Path, say: Say) -> None:
        with Gallery.open(place, key=key_of(place)) as gallery:
            gallery.enrol("newcomer", X[31])
            say()

    def delete(place: Path, say: Say) -> None:
        with Gallery.open(place, key=key_of(place)) as gallery:
            gallery.delete(_SECRET)
            say()

    def rename(place: Path, say: Say) -> None:
        with Gallery.open(place, key=key_of(place)) as gallery:
            gallery.rename(_SECRET, "Somebody Else")
            say()

    def merge(place: Path, say: Say) -> None:
        with Gallery.open(place, key=key_of(place)) as gallery:
            gallery.merge("person 3", into="person 4")
            say()

    def index(place: Path, say: Say) -> None:
        with Gallery.open(place, key=key_of(place)) as gallery:
            gallery.identify(X[:2, 2], search="approximate")
            say()

    def export(place: Path, say: Say) -> None:
        with Gallery.open(place, key=key_of(place)) as gallery:
            gallery.export(place.with_name("work.out"))
            say()

    def take_in(place: Path, say: Say) -> None:
        place.unlink()
        source = folder / f"{place.parent.name}.export"
        Gallery.import_from(source, place, key=key_of(place)).close()
        say()

    def set_model(place: Path, say: Say) -> None:
        with Gallery.open(place, key=key_of(place)) as gallery:
            gallery.set_model(other)
            say()

    def undo(place: Path, say: Say) -> None:
        with Gallery.open(place, key=key_of(place)) as gallery:
            gallery.undo()  # the one who was enrolled last
            say()

    def rotate(place: Path, say: Say) -> None:
        with Gallery.open(place, key=key_of(place)) as gallery:
            gallery.rotate()
            say()

    def change_key(place: Path, say: Say) -> None:
        with Gallery.open(place, key=key_of(place)) as gallery:
            gallery.change_key(_NEW_KEY)
            say()

    def look(place: Path, say: Say) -> None:
        seen = Sighting(1, (0.1, 0.1, 0.2, 0.2), 0.9, False)
        pictures = [SeenPicture(Path(f"/{k}.jpg"), "0" * 64, sightings=(seen,)) for k in range(3)]
        with PictureIndex(place) as found:
            found.remember(pictures)
        say()

    changes: list[Change] = [enrol, delete, rename, merge, index, export, take_in]
    changes += [set_model, undo, rotate, change_key, look]
    points: list[tuple[str, Change, int]] = []

    def prepare_room(kind: str) -> Path:
        room = folder / "rooms" / kind
        shutil.rmtree(room, ignore_errors=True)
        room.mkdir(parents=True)
        shutil.copy(folder / kind, room / "work")
        return room / "work"

    def find_points() -> None:
        """How many points each change has: it is made once and only counted."""
        for change in changes:
            for kind in _KEYS:
                if _ONLY.get(change.__name__, kind) != kind:
                    continue
                said, confirmed = _run(change, prepare_room(kind), -1)
                if not confirmed:
                    raise RuntimeError(f"{change.__name__} does not work: {said!r}")
                points.extend((kind, change, at) for at in range(int(said)))
        random.Random(seed).shuffle(points)

    def item(k: int) -> tuple[str, str]:
        if not points:
            find_points()
        kind, change, at = points[k % len(points)]
        place = prepare_room(kind)
        _, confirmed = _run(change, place, at)
        where = f"{kind}, {change.__name__}, point {at} of {len(points):,}"
        with quiet():
            outcome, words = _look(change.__name__, place, confirmed, X[30], folder)
        return outcome, f"{where}: {words}"

    return item


def key_of(place: Path) -> bytes | None:
    return _KEYS[place.parent.name]


class _Points:
    """Counts the calls that can change a file, and kills its own process at one of them.

    Parameters
    ----------
    at : int
        Which point, each call having two: before it and after it. -1 kills nothing.
    """

    def __init__(self, at: int) -> None:
        self.at = at
        self.n = 0

    def __call__(self, frame: Any, event: str, function: Any) -> None:
        if event not in ("c_call", "c_return"):
            return
        owner = getattr(function, "__self__", None)
        module = getattr(owner, "__name__", "") or type(owner).__module__
        if module not in _CHANGING or getattr(function, "__name__", "") in _HARMLESS:
            return
        if self.n == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.n += 1


def _run(change: Change, place: Path, at: int) -> tuple[bytes, bool]:
    """Make a change in a child that is killed at a point: its number of points, if confirmed."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        counter = _Points(at)

        def say() -> None:
            sys.setprofile(None)
            os.write(write, b"done\n")
            sys.setprofile(counter)

        try:
            with quiet():
                gc.disable()
                sys.setprofile(counter)
                change(place, say)
                sys.setprofile(None)
                os.write(write, str(counter.n).encode())
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said.removeprefix(b"done\n"), said.startswith(b"done\n")


def _look(
    change: str, place: Path, confirmed: bool, secret: np.ndarray, folder: Path
) -> tuple[str, str]:
    room, key = place.parent, key_of(place)
    where = "confirmed" if confirmed else "not confirmed"
    if change == "take_in" and (not place.exists() or place.stat().st_size == 0):
        # The name is taken before the gallery is made: an empty file, which gives way again.
        if confirmed:
            return "untrue", f"{where}: there is no gallery"
        try:
            Gallery.import_from(folder / f"{room.name}.export", place, key=key).close()
        except MienError as error:
            return "left over", f"{where}: it cannot be made again: {error!s:.120}"
        return _leftovers(room, where)
    try:
        if change == "change_key" and (confirmed or not _opens(place, key)):
            key = _NEW_KEY
        with Gallery.open(place, key=key) as gallery:
            faults = gallery.check()
            names = {person.name for person in gallery.people()}
            found = gallery.identify(secret[:1])[0].candidates[0][0]
        if change == "look":
            with PictureIndex(place) as pictures:
                n = len(pictures.pictures())
            if n not in ((3,) if confirmed else (0, 3)):
                return "untrue", f"{where}: {n} pictures were remembered"
    except MienError as error:
        return "untrue", f"{where}: {error!s:.160}"
    if _SECRET in names and found != _SECRET:
        return "untrue", f"{where}: somebody else is named"
    if faults:
        return "untrue", f"{where}: {faults}"
    there = {
        "enrol": "newcomer" in names,
        "delete": _SECRET not in names,
        "rename": "Somebody Else" in names and _SECRET not in names,
        "merge": "person 3" not in names,
        "undo": _SECRET not in names,
        "take_in": len(names) == 21,
    }.get(change, len(names) == 21)
    if confirmed and not there:
        return "untrue", f"{where}: it is not there"
    if not confirmed and not there and len(names) != 21:
        return "untrue", f"{where}: it is half there, {len(names)} people"
    if change == "export" and (confirmed or (room / "work.out").exists()):
        try:
            with Gallery.import_from(room / "work.out", folder / "again", key=key) as again:
                n = len({person.name for person in again.people()})
        except MienError as error:
            return "untrue", f"{where}: the export cannot be read: {error!s:.160}"
        finally:
            for file in folder.glob("again*"):
                file.unlink()
        if n != 21:
            return "untrue", f"{where}: the export has {n} people"
    if change in ("delete", "rename") and there:
        for file in room.iterdir():
            data = file.read_bytes()
            if _SECRET.encode() in data or (
                change == "delete" and secret[0].astype("<f4").tobytes() in data
            ):
                return "left over", f"{where}: bytes of the deleted person in {file.name}"
    return _leftovers(room, where)


def _opens(place: Path, key: bytes | None) -> bool:
    try:
        Gallery.open(place, key=key).close()
    except GalleryKeyError:
        return False
    return True


def _leftovers(room: Path, where: str) -> tuple[str, str]:
    kept: set[Any] = {f"work{suffix}" for suffix in _KEPT} | {"work.out"}
    strange = sorted(file.name for file in room.iterdir() if file.name not in kept)
    temporary = [name for name in strange if not name.endswith(".lock")]
    return ("left over", f"{where}: {temporary}") if temporary else ("worked", "")
