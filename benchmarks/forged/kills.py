"""Kills at random moments of every change of a gallery: nothing left over, nothing untrue said.

A child makes one change and says when it is confirmed. It is killed with SIGKILL somewhere in
between. Then the gallery must open, its check must be clean, what was confirmed must be there,
what was deleted must be in no byte of any file, and beside the gallery there must be nothing but
what a gallery keeps.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.forged.run import Item
from mien.errors import MienError
from mien.gallery import Gallery
from tests.sweep import quiet

_TESTS = Path(__file__).parents[2] / "tests" / "gallery"
_KEPT = {"-wal", "-shm", "-index", "-reserve", ""}
_SECRET = "Zarathustra Quux"


def prepare(seed: int, folder: Path) -> Item:
    sys.path.insert(0, str(_TESTS))
    from gallery_people import draw_people, fill, make_verifier

    X = draw_people(40, 3, seed=5)
    base = folder / "base"
    with quiet(), Gallery.create(base, make_verifier()) as gallery:
        fill(gallery, X[:20, :2])
        gallery.enrol(_SECRET, X[30])
        gallery.export(folder / "good.export")

    def enrol(place: Path) -> None:
        with Gallery.open(place) as gallery:
            gallery.enrol("newcomer", X[31])

    def delete(place: Path) -> None:
        with Gallery.open(place) as gallery:
            gallery.delete(_SECRET)

    def rename(place: Path) -> None:
        with Gallery.open(place) as gallery:
            gallery.rename(_SECRET, "Somebody Else")

    def merge(place: Path) -> None:
        with Gallery.open(place) as gallery:
            gallery.merge("person 3", into="person 4")

    def index(place: Path) -> None:
        with Gallery.open(place) as gallery:
            gallery.identify(X[:2, 2], search="approximate")

    def export(place: Path) -> None:
        with Gallery.open(place) as gallery:
            gallery.export(place.with_name("work.out"))

    def take_in(place: Path) -> None:
        place.unlink()
        Gallery.import_from(folder / "good.export", place).close()

    changes: list[Callable[[Path], None]] = [enrol, delete, rename, merge, index, export, take_in]
    lengths: dict[str, float] = {}

    def item(k: int) -> tuple[str, str]:
        draw = random.Random(seed * 1_000_003 + k)
        change = changes[k % len(changes)]
        room = folder / "room"
        shutil.rmtree(room, ignore_errors=True)
        room.mkdir()
        place = room / "work"
        shutil.copy(base, place)
        start = time.monotonic()
        longest = lengths.setdefault(change.__name__, 0.3)
        confirmed = _kill(change, place, draw.uniform(0, 1.2 * longest))
        if confirmed:
            lengths[change.__name__] = min(longest, max(0.02, time.monotonic() - start))
        with quiet():
            return _look(change.__name__, place, room, confirmed, X[30])

    return item


def _kill(change: Callable[[Path], None], place: Path, wait: float) -> bool:
    """Whether the change was confirmed before the kill."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            with quiet():
                os.write(write, b"ready\n")
                change(place)
                os.write(write, b"done\n")
                time.sleep(60)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        pipe.readline()
        time.sleep(wait)
        os.kill(child, signal.SIGKILL)
        said = pipe.read()
    os.waitpid(child, 0)
    return said == b"done\n"


def _look(
    change: str, place: Path, room: Path, confirmed: bool, secret: np.ndarray
) -> tuple[str, str]:
    where = f"{change}, {'confirmed' if confirmed else 'not confirmed'}"
    if change == "take_in" and (not place.exists() or place.stat().st_size == 0):
        # The name is taken before the gallery is made: an empty file, which gives way again.
        if confirmed:
            return "untrue", f"{where}: there is no gallery"
        try:
            Gallery.import_from(room.parent / "good.export", place).close()
        except MienError as error:
            return "left over", f"{where}: it cannot be made again: {error!s:.120}"
        return _leftovers(room, where)
    try:
        with Gallery.open(place) as gallery:
            faults = gallery.check()
            names = {person.name for person in gallery.people()}
    except MienError as error:
        return "untrue", f"{where}: {error!s:.160}"
    if faults:
        return "untrue", f"{where}: {faults}"
    there = {
        "enrol": "newcomer" in names,
        "delete": _SECRET not in names,
        "rename": "Somebody Else" in names and _SECRET not in names,
        "merge": "person 3" not in names,
        "take_in": len(names) == 21,
    }.get(change, len(names) == 21)
    if confirmed and not there:
        return "untrue", f"{where}: it is not there"
    if not confirmed and not there and len(names) != 21:
        return "untrue", f"{where}: it is half there, {len(names)} people"
    if change in ("delete", "rename") and there:
        for file in room.iterdir():
            data = file.read_bytes()
            if _SECRET.encode() in data or (
                change == "delete" and secret[0].astype("<f4").tobytes() in data
            ):
                return "left over", f"{where}: bytes of the deleted person in {file.name}"
    return _leftovers(room, where)


def _leftovers(room: Path, where: str) -> tuple[str, str]:
    kept: set[Any] = {f"work{suffix}" for suffix in _KEPT} | {"work.out"}
    strange = sorted(file.name for file in room.iterdir() if file.name not in kept)
    temporary = [name for name in strange if not name.endswith(".lock")]
    return ("left over", f"{where}: {temporary}") if temporary else ("worked", "")
