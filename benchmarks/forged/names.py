"""Forged XMP packets, Takeout files, Picasa's lists, tables, archives and checkpoints."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.forged.pictures import mutate
from benchmarks.forged.run import Item, refused
from mien.datasets._lfw import _list_archive
from mien.errors import MienError
from mien.media import NamedRegion, read_names, write_sidecar
from mien.sparse._checkpoint import read_state
from tests.sweep import find_not_finite, quiet

_BITS = [
    "<a>" * 2000,
    "&lol;",
    "]]>",
    "\0",
    "\ud800",
    "1e999",
    "9" * 5000,
    "-0",
    "NaN",
    "<!DOCTYPE a>",
]
_BITS += [
    "[" * 3000,
    '{"a":' * 2000,
    "rect64(ffffffffffffffff),ffff",
    "../" * 50,
    "\u202e",
    "'",
    '"',
]


def prepare(seed: int, folder: Path) -> Item:
    album = folder / "album"
    album.mkdir()
    picture = album / "IMG_1.jpg"
    Image.new("RGB", (40, 30)).save(picture)
    write_sidecar(picture, [NamedRegion("Ann", (0.1, 0.1, 0.3, 0.4))], keywords=True)
    sidecar = album / "IMG_1.jpg.xmp"
    packet = sidecar.read_bytes()
    sidecar.unlink()
    takeout = json.dumps({"title": "IMG_1.jpg", "people": [{"name": "Ann"}]}).encode()
    picasa = b"[Contacts2]\nabc=Ann;;\n[IMG_1.jpg]\nfaces=rect64(3f845bcb59418507),abc\n"
    contacts = b'<contacts><contact id="abc" name="Ann"/></contacts>'
    table = b"file,people\nIMG_1.jpg,Ann;Bob\n"
    with zipfile.ZipFile(folder / "good.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Ann/Ann_0001.jpg", picture.read_bytes())
    archived = (folder / "good.zip").read_bytes()
    np.savez(folder / "good.npz", atoms=np.eye(3), header=np.array(json.dumps(_HEADER)))
    checkpoint = (folder / "good.npz").read_bytes()

    def item(k: int) -> tuple[str, str]:
        draw = random.Random(seed * 1_000_003 + k)
        for left in (*album.glob("*"), *folder.glob("forged*")):
            if left != picture:
                left.unlink()
        what = ("xmp", "takeout", "picasa", "contacts", "table", "zip", "checkpoint")[k % 7]
        made: Any = None
        with quiet():
            try:
                if what == "xmp":
                    sidecar.write_bytes(_spoil(packet, draw))
                    made = _boxes(read_names(album)[0])
                    write_sidecar(picture, [NamedRegion("Bob", (0.5, 0.5, 0.2, 0.2))])
                elif what == "takeout":
                    place = album / "IMG_1.jpg.supplemental-metadata.json"
                    place.write_bytes(_spoil(takeout, draw))
                    made = _boxes(read_names(album)[0])
                elif what in ("picasa", "contacts"):
                    (album / ".picasa.ini").write_bytes(
                        _spoil(picasa, draw) if what == "picasa" else picasa
                    )
                    (album / "contacts.xml").write_bytes(
                        _spoil(contacts, draw) if what == "contacts" else contacts
                    )
                    made = _boxes(read_names(album)[0])
                elif what == "table":
                    place = folder / "forged.csv"
                    place.write_bytes(_spoil(table, draw))
                    made = _boxes(read_names(place)[0])
                elif what == "zip":
                    place = folder / "forged.zip"
                    place.write_bytes(
                        mutate(archived, np.random.RandomState(draw.randrange(2**31)))
                    )
                    made = len(_list_archive(place).files)
                else:
                    place = folder / "forged.npz"
                    place.write_bytes(
                        mutate(checkpoint, np.random.RandomState(draw.randrange(2**31)))
                    )
                    state = read_state(place, _HEADER["identity"])
                    made = None if state is None else state.atoms
            except MienError as error:
                return refused(error, f"{what}: ")
        bad = find_not_finite(made)
        return ("silent NaN", f"{what}: {bad}") if bad else ("worked", "")

    return item


_HEADER: dict[str, Any] = {
    "identity": {"n_atoms": 3},
    "iteration": 2,
    "objective": [1.0, 0.5],
    "n_replaced": 0,
}


def _boxes(pictures: list[Any]) -> list[Any]:
    return [[region.box for region in one.regions] for one in pictures]


def _spoil(data: bytes, draw: random.Random) -> bytes:
    """Bytes changed, or a strange piece put in."""
    if draw.random() < 0.5:
        return mutate(data, np.random.RandomState(draw.randrange(2**31)))
    out = data
    for _ in range(draw.choice((1, 1, 2))):
        at = draw.randrange(len(out) + 1)
        until = min(len(out), at + draw.choice((0, 0, 1, 4, 20)))
        out = out[:at] + draw.choice(_BITS).encode("utf-8", "surrogatepass") + out[until:]
    return out
