"""The file: what is refused and how it is said, damage, keys, exports, other processes, kills."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from gallery_people import digest, draw_people, fill

import mien
from mien.errors import (
    GalleryBusyError,
    GalleryDamagedError,
    GalleryError,
    GalleryFormatError,
    GalleryKeyError,
    InputError,
    MienError,
    MissingDataError,
    ModelDamagedError,
)
from mien.gallery import Gallery
from mien.verification import JointBayesian, Verifier

ROOT = Path(__file__).parents[2]
X = draw_people(60, 4, seed=31)
KEY = bytes(range(32))


def test_what_is_not_a_gallery(tmp_path: Path, verifier: Verifier) -> None:
    with pytest.raises(MissingDataError, match="no gallery"):
        Gallery.open(tmp_path / "nothing")
    with pytest.raises(GalleryFormatError, match="not a file"):
        Gallery.open(tmp_path)
    for content in (b"", b"hello", b"\x89PNG" * 100):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(GalleryFormatError, match="not a gallery"):
            Gallery.open(tmp_path / "other")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE person (id)")
    other.commit()
    other.close()
    with pytest.raises(GalleryFormatError, match="not a gallery of mien"):
        Gallery.open(tmp_path / "other.db")
    with pytest.raises(GalleryError, match="already exists"):
        Gallery.create(tmp_path / "other.db", verifier)


def test_a_newer_format_is_refused(gallery: Gallery) -> None:
    gallery.close()
    raw = sqlite3.connect(gallery.path)
    raw.execute("PRAGMA user_version = 4")
    raw.close()
    with pytest.raises(GalleryFormatError, match="format 4, and"):
        Gallery.open(gallery.path)


def test_a_verifier_must_say_its_features(tmp_path: Path, verifier: Verifier) -> None:
    people = np.repeat(np.arange(60), 4)
    model = JointBayesian().fit(X.reshape(-1, 16), people)
    mute = Verifier(model, sizes=(1,)).fit(X.reshape(-1, 16), people)
    with pytest.raises(InputError, match="features="):
        Gallery.create(tmp_path / "g", mute)
    for bad in (model, Verifier(model)):
        with pytest.raises(InputError, match="fitted Verifier"):
            Gallery.create(tmp_path / "g", bad)  # type: ignore[arg-type]
    assert not (tmp_path / "g").exists()


def test_a_locked_gallery_says_so(gallery: Gallery) -> None:
    other = sqlite3.connect(gallery.path)
    other.execute("BEGIN IMMEDIATE")
    with (
        Gallery.open(gallery.path, timeout=0.05) as second,
        pytest.raises(GalleryBusyError, match="in use"),
    ):
        second.enrol("Ann", X[0, :1], digests=[digest(0)])
    other.execute("ROLLBACK")
    other.close()


def test_damage_is_an_error_and_nothing_else(gallery: Gallery, tmp_path: Path) -> None:
    fill(gallery, X)
    gallery.close()
    content = gallery.path.read_bytes()
    draw = random.Random(int(os.environ.get("MIEN_FUZZ_SEED", "0")))
    outcomes = {"fine": 0, "refused": 0}
    rounds = 60 * int(os.environ.get("MIEN_FUZZ", "1"))
    for _ in range(rounds):
        broken = bytearray(content)
        how = draw.random()
        if how < 0.2:
            del broken[draw.randrange(len(broken)) :]
        else:
            for _ in range(draw.choice((1, 8, 64))):
                broken[draw.randrange(len(broken))] = draw.randrange(256)
        path = tmp_path / "broken.gallery"
        path.write_bytes(broken)
        path.chmod(0o600)
        try:
            with Gallery.open(path, timeout=0.1) as opened:
                faults = opened.check()
                opened.identify(X[:2, 3])
                opened.people()
            outcomes["refused" if faults else "fine"] += 1
        except MienError:
            outcomes["refused"] += 1
        for suffix in ("-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
    assert outcomes["refused"] > rounds // 2


def test_an_altered_verifier_or_index_is_refused(gallery: Gallery) -> None:
    fill(gallery, X)
    expected = gallery.identify(X[:1, 3], search="approximate")[0].log_ratio
    gallery.close()
    index = Path(f"{gallery.path}-index")
    content = bytearray(index.read_bytes())
    content[len(content) // 2] ^= 1
    index.write_bytes(content)
    with Gallery.open(gallery.path) as opened:
        (fault,) = opened.check()
        assert "the index beside the gallery was altered" in fault
        got = opened.identify(X[:1, 3], search="approximate")[0].log_ratio
        assert got == pytest.approx(expected)
    raw = sqlite3.connect(gallery.path)
    (model,) = raw.execute("SELECT value FROM meta WHERE key = 'verifier'").fetchone()
    raw.execute("UPDATE meta SET value = ? WHERE key = 'verifier'", (model[:-1] + b"\x00",))
    raw.commit()
    raw.close()
    with pytest.raises(GalleryDamagedError, match="a row of meta was altered"):
        Gallery.open(gallery.path)


# Keys.


@pytest.mark.parametrize("key", [KEY, "correct horse battery staple"], ids=["bytes", "passphrase"])
def test_a_sealed_gallery(tmp_path: Path, verifier: Verifier, key: bytes | str) -> None:
    path = tmp_path / "g"
    with Gallery.create(path, verifier, key=key) as gallery:
        fill(gallery, X[:20, :3])
        gallery.merge("person 4", "person 5")
        gallery.rename("person 6", "Ann")
        expected = gallery.identify(X[:20, 3], fpir=0.2)
        assert gallery.sealed
        assert gallery.check() == []
    content = path.read_bytes()
    for person in X[:20, :3]:
        for vector in person:
            assert vector.tobytes()[:8] not in content
    assert b"person 1" not in content
    with Gallery.open(path, key=key) as gallery:
        assert gallery.identify(X[:20, 3], fpir=0.2) == expected
        assert "Ann" in [person.name for person in gallery.people()]
    wrong = ["another", b"\x01" * 32, None]
    for bad in wrong:
        with pytest.raises(GalleryKeyError):
            Gallery.open(path, key=bad)
    with pytest.raises(GalleryKeyError, match="does not fit"):
        Gallery.open(path, key="other" if isinstance(key, str) else b"\x02" * 32)


def test_keys_are_checked(tmp_path: Path, gallery: Gallery, verifier: Verifier) -> None:
    for bad in (b"short", "", 5):
        with pytest.raises(InputError, match=r"key|passphrase"):
            Gallery.create(tmp_path / "g", verifier, key=bad)  # type: ignore[arg-type]
    with pytest.raises(GalleryKeyError, match="not sealed"):
        Gallery.open(gallery.path, key=KEY)


def test_names_may_stay_in_clear(tmp_path: Path, verifier: Verifier) -> None:
    with Gallery.create(tmp_path / "g", verifier, key=KEY, seal_names=False) as gallery:
        gallery.enrol("Ann", X[0, :1], digests=[digest(0)])
    content = (tmp_path / "g").read_bytes()
    assert b"Ann" in content
    assert X[0, 0].tobytes()[:8] not in content


def test_sealed_rows_cannot_be_exchanged(tmp_path: Path, verifier: Verifier) -> None:
    path = tmp_path / "g"
    with Gallery.create(path, verifier, key=KEY) as gallery:
        fill(gallery, X[:2, :1])
    raw = sqlite3.connect(path)
    rows = raw.execute("SELECT person, vector FROM template ORDER BY person").fetchall()
    for (person, _), (_, vector) in zip(rows, rows[::-1], strict=True):
        raw.execute("UPDATE template SET vector = ? WHERE person = ?", (vector, person))
    raw.commit()
    raw.close()
    with Gallery.open(path, key=KEY) as gallery:
        assert any("a row of template was altered" in fault for fault in gallery.check())
        with pytest.raises(GalleryDamagedError, match="a row of template was altered"):
            gallery.identify(X[:1, 3])


def test_every_seal_has_its_own_nonce(tmp_path: Path, verifier: Verifier) -> None:
    path = tmp_path / "g"
    with Gallery.create(path, verifier, key=KEY) as gallery:
        gallery.enrol(
            "Ann", np.repeat(X[0, :1], 50, axis=0), digests=[digest(i) for i in range(50)]
        )
    raw = sqlite3.connect(path)
    sealed = [row[0] for row in raw.execute("SELECT vector FROM template")]
    raw.close()
    assert len({content[:12] for content in sealed}) == len(sealed) == 50


# Exports.


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "sealed"])
def test_there_and_back(tmp_path: Path, verifier: Verifier, key: bytes | None) -> None:
    with Gallery.create(tmp_path / "g", verifier, key=key) as gallery:
        fill(gallery, X[:20, :3])
        gallery.enrol("Ann", X[30, :1], digests=[digest("a")], sources=["x/ä.jpg"], qualities=[0.5])
        expected = gallery.identify(X[:25, 3])
        file = gallery.export(tmp_path / "export.mien")
        with pytest.raises(MienError):
            Gallery.import_from(file, tmp_path / "g", key=key)
    assert (X[0, 0].tobytes()[:8] in file.read_bytes()) == (key is None)
    with Gallery.import_from(file, tmp_path / "h", key=key) as again:
        assert again.identify(X[:25, 3]) == expected
        assert again.check() == []
        assert again.enrol("Ann", X[30, :1], digests=[digest("a")]).already == 1
        # And once more, to the same content.
        rows = again._store.query("SELECT digest, face, source, quality, added FROM template")
    with Gallery.open(tmp_path / "g", key=key) as first:
        wanted = first._store.query("SELECT digest, face, source, quality, added FROM template")
    if key is None:
        assert sorted(rows) == sorted(wanted)
    else:
        with pytest.raises(GalleryKeyError, match="give its key"):
            Gallery.import_from(file, tmp_path / "i")
        with pytest.raises(GalleryKeyError, match="does not fit"):
            Gallery.import_from(file, tmp_path / "i", key=b"\x01" * 32)
        assert not (tmp_path / "i").exists()


def test_a_sealed_gallery_in_plain_text_only_when_asked(tmp_path: Path, verifier: Verifier) -> None:
    with Gallery.create(tmp_path / "g", verifier, key=KEY) as gallery:
        fill(gallery, X[:3, :2])
        file = gallery.export(tmp_path / "export.mien", plaintext=True)
    assert X[0, 0].tobytes() in file.read_bytes()
    with Gallery.import_from(file, tmp_path / "h") as again:
        assert not again.sealed
        assert len(again) == 3


def test_a_damaged_export_is_refused(tmp_path: Path, gallery: Gallery) -> None:
    fill(gallery, X[:3, :2])
    file = gallery.export(tmp_path / "export.mien")
    content = bytearray(file.read_bytes())
    content[-5] ^= 1
    file.write_bytes(content)
    with pytest.raises(ModelDamagedError):
        Gallery.import_from(file, tmp_path / "h")
    model = mien.save(gallery.model.verifier, tmp_path / "model.mien")
    with pytest.raises(GalleryFormatError, match="not an exported gallery"):
        Gallery.import_from(model, tmp_path / "h")
    assert not (tmp_path / "h").exists()


# Other processes.


def _enrol_some(path: str, first: int) -> None:
    with Gallery.open(path) as gallery:
        for i in range(first, first + 15):
            gallery.enrol(f"person {i}", X[i, :2], digests=[digest(i, 0), digest(i, 1)])


def test_two_processes_enrol_while_one_asks(gallery: Gallery) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=_enrol_some, args=(str(gallery.path), first)) for first in (0, 15)
    ]
    with Gallery.open(gallery.path, read_only=True) as reader:
        for writer in writers:
            writer.start()
        seen = [0]
        while any(writer.is_alive() for writer in writers):
            reader.identify(X[:3, 3])
            seen.append(len(reader))
            time.sleep(0.05)
        for writer in writers:
            writer.join()
            assert writer.exitcode == 0
        assert seen == sorted(seen)
        found = reader.identify(X[:30, 3], fpir=0.2)
        assert sum(f.person == f"person {i}" for i, f in enumerate(found)) >= 28
    assert len(gallery) == 30
    assert gallery.check() == []


OTHER = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1])
other.execute("CREATE TABLE other (x)")
other.commit()
other.close()
"""


def test_a_second_gallery_of_the_process_drops_no_locks(gallery: Gallery) -> None:
    """Another process would take itself for the last one, and remove the journal under us."""
    fill(gallery, X[:5, :2])
    Gallery.open(gallery.path).close()
    with Gallery.open(gallery.path) as second:
        second.delete("person 2")
    subprocess.run([sys.executable, "-c", OTHER, str(gallery.path)], check=True)
    assert Path(f"{gallery.path}-wal").exists()
    assert gallery._store.query("SELECT * FROM other") == []
    assert gallery.check() == []


def test_a_copy_opens_read_only_in_a_place_that_cannot_be_written(
    gallery: Gallery, tmp_path: Path
) -> None:
    fill(gallery, X[:5, :2])
    gallery.close()
    place = tmp_path / "place"
    place.mkdir()
    copy = Path(shutil.copy(gallery.path, place / "copy.gallery"))
    copy.chmod(0o400)
    place.chmod(0o500)
    try:
        with Gallery.open(copy, read_only=True) as opened:
            assert len(opened) == 5
        if os.geteuid() != 0:
            with pytest.raises(GalleryError, match="read-only"):
                Gallery.open(copy)
    finally:
        place.chmod(0o700)


def test_kills_lose_nothing() -> None:
    """The whole of it is ``python -m benchmarks.kill_gallery``: 300 kills."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.kill_gallery", "--kills", "15"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "none was lost, every check was clean" in done.stdout
