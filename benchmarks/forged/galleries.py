"""Forged galleries, exports, indexes and journals: opened, searched, changed, checked."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.forged.pictures import mutate
from benchmarks.forged.run import Item, refused
from mien.errors import MienError
from mien.faces._journal import Journal
from mien.gallery import Gallery
from tests.forge import forge, forgeries, take_apart
from tests.sweep import find_not_finite, quiet

_TESTS = Path(__file__).parents[2] / "tests" / "gallery"
_KEY = bytes(range(32))
_NASTY: list[Any] = [None, 0, -1, 2**62, -(2**62), 1e300, float("nan"), float("inf"), "", "x" * 999]
_NASTY += ["\x1b[2J", b"", b"\0" * 7, b"\xff" * 64, "ann\u202ebob", 1.5]


def prepare(seed: int, folder: Path) -> Item:
    sys.path.insert(0, str(_TESTS))
    from gallery_people import draw_people, fill, make_verifier

    X = draw_people(12, 3, seed=5)
    verifier = make_verifier()
    kinds = {"plain": None, "sealed": _KEY}
    for kind, key in kinds.items():
        with quiet(), Gallery.create(folder / kind, verifier, key=key) as gallery:
            fill(gallery, X[:, :2])
            gallery.identify(X[:2, 2], search="approximate")
            gallery.export(folder / f"{kind}.export")
    exports = {kind: take_apart(folder / f"{kind}.export") for kind in kinds}
    journal = folder / "good.journal"
    record = _result()
    with Journal(journal, {"engine": "sface"}) as book:
        for name in ("a.jpg", "b.jpg"):
            book._write({"stamp": None, "result": record | {"path": name}})
    lines = journal.read_bytes().splitlines()

    def use(gallery: Gallery) -> Any:
        made: list[Any] = [len(gallery), [p.name for p in gallery.people()]]
        made.append(gallery.check())
        found = gallery.identify(X[:2, 2], search="exact")
        made.append([getattr(one, "log_ratio", 0.0) for one in found])
        gallery.audit()
        gallery.enrol("newcomer", X[0, :1])
        gallery.rename("newcomer", "renamed")
        gallery.delete("renamed")
        return made

    def gallery_bytes(draw: random.Random, kind: str, place: Path) -> None:
        data = (folder / kind).read_bytes()
        place.write_bytes(mutate(data, np.random.RandomState(draw.randrange(2**31))))

    def gallery_values(draw: random.Random, kind: str, place: Path) -> None:
        shutil.copy(folder / kind, place)
        database = sqlite3.connect(place)
        try:
            tables = [
                row[0]
                for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                if not row[0].startswith("sqlite_")
            ]
            for _ in range(draw.choice((1, 1, 2, 3))):
                table = draw.choice(tables)
                columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
                column, value = draw.choice(columns), draw.choice(_NASTY)
                rows = database.execute(f"SELECT {columns[0]} FROM {table}").fetchall()
                if not rows:
                    continue
                try:
                    database.execute(
                        f"UPDATE {table} SET {column} = ? WHERE {columns[0]} = ?",
                        (value, draw.choice(rows)[0]),
                    )
                except (sqlite3.Error, OverflowError):
                    continue
            database.commit()
        finally:
            database.close()

    def beside(draw: random.Random, kind: str, place: Path) -> None:
        shutil.copy(folder / kind, place)
        for suffix in ("-wal", "-shm", "-index", "-reserve", "-journal"):
            if draw.random() < 0.5:
                source = Path(f"{folder / kind}{suffix}")
                data = source.read_bytes() if source.exists() else bytes(draw.randrange(5000))
                data = data or bytes(range(200))
                changed = mutate(data, np.random.RandomState(draw.randrange(2**31)))
                Path(f"{place}{suffix}").write_bytes(changed)

    def item(k: int) -> tuple[str, str]:
        draw = random.Random(seed * 1_000_003 + k)
        kind = ("plain", "sealed")[k % 2]
        what = ("bytes", "values", "beside", "export", "journal")[k // 2 % 5]
        place = folder / "forged"
        for left in folder.glob("forged*"):
            left.unlink()
        made: Any = None
        with quiet():
            try:
                if what == "export":
                    parts = next(iter(forgeries(exports[kind], 1, draw.randrange(2**31))))
                    forge(folder / "forged.export", parts)
                    source = folder / "forged.export"
                    with Gallery.import_from(source, place, key=kinds[kind]) as gallery:
                        made = use(gallery)
                elif what == "journal":
                    made = _read_journal(lines, draw, folder / "forged.journal")
                else:
                    make = {"bytes": gallery_bytes, "values": gallery_values, "beside": beside}
                    make[what](draw, kind, place)
                    with Gallery.open(place, key=kinds[kind], timeout=2.0) as gallery:
                        made = use(gallery)
            except MienError as error:
                return refused(error, f"{what}: ")
        bad = find_not_finite(made)
        return ("silent NaN", f"{what} {kind}: {bad}") if bad else ("worked", "")

    return item


def _result() -> dict[str, Any]:
    import base64

    vector = base64.b64encode(np.full(128, 0.1, "<f4").tobytes()).decode()
    quality = dict.fromkeys(
        ("eye_distance", "sharpness", "yaw", "pitch", "roll", "lower_face_covered", "score"), 0.5
    )
    face = {
        "box": [1, 2, 30, 40],
        "landmarks": [[1, 2], [9, 2], [5, 5], [2, 8], [8, 8]],
        "confidence": 0.9,
        "vector": vector,
        "quality": quality,
    }
    return {
        "path": "",
        "digest": "0" * 64,
        "size": [100, 100],
        "error": None,
        "left_out": 0,
        "faces": [face],
    }


def _read_journal(lines: list[bytes], draw: random.Random, place: Path) -> Any:
    """A line with one value replaced and a right check sum, or with bytes changed."""
    lines = list(lines)
    picture = place.with_name("forged.a.jpg")
    picture.write_bytes(b"x")
    from mien.faces._journal import stamp

    value = json.loads(lines[1][9:])
    value["stamp"], value["result"]["path"] = stamp(picture), str(picture)
    if draw.random() < 0.7:
        node: Any = value
        for _ in range(draw.randrange(1, 6)):
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            if not keys:
                break
            key = draw.choice(keys)
            if isinstance(node[key], (dict, list)) and node[key] and draw.random() < 0.7:
                node = node[key]
                continue
            node[key] = draw.choice([n for n in _NASTY if not isinstance(n, bytes)] + [[], {}])
            break
    text = json.dumps(value).encode()
    lines[1] = b"%08x %s" % (zlib.crc32(text), text)
    data = b"\n".join(lines) + b"\n"
    if draw.random() < 0.3:
        data = mutate(data, np.random.RandomState(draw.randrange(2**31)))
    place.write_bytes(data)
    with Journal(place, {"engine": "sface"}) as book:
        found = book.find(picture)
    return [] if found is None else [face.vector for face in found.faces]
