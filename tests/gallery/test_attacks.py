"""What was done to galleries by scripts that meant harm, and by several processes that did not."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import tracemalloc
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gallery_people import digest, draw_people, fill, make_verifier

import mien
from mien.errors import (
    GalleryDamagedError,
    GalleryError,
    GalleryFormatError,
    GalleryKeyError,
    InputError,
    MienError,
)
from mien.files import save_bytes
from mien.gallery import FaceModel, Gallery, PictureIndex, _sqlite_file
from mien.gallery._sealing import _SCRYPT
from mien.verification import Verifier

X = draw_people(30, 4, seed=5)
KEY = bytes(range(32))


@pytest.fixture
def sealed(tmp_path: Path, verifier: Verifier) -> Path:
    path = tmp_path / "sealed.gallery"
    with Gallery.create(path, verifier, key=KEY) as gallery:
        fill(gallery, X[:8, :2])
    return path


# Making.


def _create_and_enrol(path: str, model: str, number: int, answers: Any) -> None:
    try:
        with Gallery.create(path, mien.load(model)) as gallery:
            gallery.enrol(f"person {number}", X[number, :1], digests=[digest(number)])
        answers.put(number)
    except GalleryError:
        answers.put(None)


def test_of_several_processes_one_makes_the_gallery(tmp_path: Path, verifier: Verifier) -> None:
    model = mien.save(FaceModel.of(verifier), tmp_path / "model.mien")
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    path = tmp_path / "g"
    processes = [
        context.Process(target=_create_and_enrol, args=(str(path), str(model), i, answers))
        for i in range(4)
    ]
    for process in processes:
        process.start()
    confirmed = [answers.get(timeout=600) for _ in processes]
    for process in processes:
        process.join()
    winners = [number for number in confirmed if number is not None]
    assert len(winners) == 1
    with Gallery.open(path) as gallery:
        assert [person.name for person in gallery.people()] == [f"person {winners[0]}"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["g", "g-reserve", "model.mien"]


def test_a_stale_journal_brings_nobody_back(tmp_path: Path, verifier: Verifier) -> None:
    path = tmp_path / "g"
    with Gallery.create(path, verifier) as gallery:
        fill(gallery, X[:5, :2])
        stale = Path(f"{path}-wal").read_bytes()
    assert len(stale) > 0
    content = path.read_bytes()
    path.unlink()
    Path(f"{path}-wal").write_bytes(stale)
    with Gallery.create(path, verifier) as gallery:
        assert len(gallery) == 0
        assert gallery.check() == []
    # And beside a gallery of another origin that took the name.
    with Gallery.create(tmp_path / "other", verifier) as other:
        other.enrol("Ann", X[9, :1])
    shutil.copy(tmp_path / "other", path)
    Path(f"{path}-wal").write_bytes(stale)
    with Gallery.open(path) as gallery:
        assert [person.name for person in gallery.people()] == ["Ann"]
        assert gallery.check() == []
    assert len(content) > 0


def test_links_are_not_written_through(tmp_path: Path, verifier: Verifier) -> None:
    path, mine = tmp_path / "g", tmp_path / "mine"
    with Gallery.create(path, verifier) as gallery:
        fill(gallery, X[:5, :2])
    mine.write_bytes(b"not for you")
    Path(f"{path}-index").symlink_to(mine)
    with Gallery.open(path) as gallery:
        gallery.identify(X[:1, 3], search="approximate")
        gallery.delete("person 1")
    assert mine.read_bytes() == b"not for you"
    os.symlink(path, tmp_path / "link")
    with pytest.raises(GalleryError, match="is a link"):
        Gallery.open(tmp_path / "link")
    with Gallery.open(tmp_path / "link", read_only=True) as gallery:
        assert len(gallery) == 4
    Path(f"{path}-wal").unlink(missing_ok=True)
    Path(f"{path}-wal").symlink_to(mine)
    with pytest.raises(GalleryError, match="is a link, which no gallery makes"):
        Gallery.open(path)
    with pytest.raises(GalleryError, match="already exists"):
        Gallery.create(tmp_path / "link", verifier)
    assert mine.read_bytes() == b"not for you"


def test_an_index_from_elsewhere_is_made_again(gallery: Gallery) -> None:
    fill(gallery, X)
    expected = gallery.identify(X[:3, 3], search="approximate")
    gallery.close()
    index = Path(f"{gallery.path}-index")
    assert index.exists()
    # The key of another user: the gallery came with its index from somewhere else.
    key = Path(os.environ["XDG_STATE_HOME"]) / "mien" / "index.key"
    assert key.stat().st_mode & 0o077 == 0
    held = key.read_bytes()
    key.write_bytes(bytes(32))
    index.write_bytes(index.read_bytes()[:32] + b"usearch" + bytes(5000))
    try:
        with Gallery.open(gallery.path) as again:
            assert "not ours" in again.check()[0]
            found = again.identify(X[:3, 3], search="approximate")
            assert [f.person for f in found] == [f.person for f in expected]
    finally:
        key.write_bytes(held)


MAKER = """
import os, sys, time
from mien.gallery import Gallery, _sqlite_store
source, path, after = sys.argv[1], sys.argv[2], int(sys.argv[3])
import sqlite3
class Counting(sqlite3.Connection):
    left = after
    def execute(self, *given):
        Counting.left -= 1
        if Counting.left == 0:
            os.kill(os.getpid(), 9)
        return super().execute(*given)
real = sqlite3.connect
sqlite3.connect = lambda *a, **k: real(*a, factory=Counting, **k)
Gallery.import_from(source, path).close()
print("done")
"""


def test_an_index_of_a_killed_process_goes_at_the_next_open(gallery: Gallery) -> None:
    """It was written, and its note was not: it holds vectors, and nobody would remove it."""
    fill(gallery, X)
    gallery.identify(X[:3, 3], search="approximate")
    gallery.close()
    path, index = gallery.path, Path(f"{gallery.path}-index")
    assert index.exists()
    with Gallery.open(path) as opened:
        assert opened.check() == []
        assert index.exists()
        with opened._store.writing():
            opened._store.set_meta("index", None)
    with Gallery.open(path, read_only=True) as opened:
        assert opened.check() == ["an index lies beside the gallery that it does not know"]
    with Gallery.open(path) as opened:
        assert opened.check() == []
        assert not index.exists()


def test_a_killed_import_leaves_no_gallery(gallery: Gallery, tmp_path: Path) -> None:
    fill(gallery, X[:10, :3])
    source = gallery.export(tmp_path / "export.mien")
    gallery.close()
    secrets = [X[3, 0].tobytes()[:16], b"person 3"]
    finished = 0
    for after in (1, 8, 40, 60, 400):
        place = tmp_path / "new"
        place.mkdir()
        ended = subprocess.run(
            [sys.executable, "-c", MAKER, str(source), str(place / "g"), str(after)],
            capture_output=True,
            check=False,
        )
        if ended.returncode == 0:
            finished += 1
            with Gallery.open(place / "g") as made:
                assert len(made) == 10
        else:
            assert ended.returncode == -signal.SIGKILL, ended.stderr
            path = place / "g"
            if path.exists() and path.stat().st_size:
                # Killed after the file got its name: then it is whole.
                with Gallery.open(path) as made:
                    assert len(made) == 10
                    assert made.check() == []
            else:
                if path.exists():
                    with pytest.raises(GalleryFormatError, match="it is empty"):
                        Gallery.open(path)
                # The name is free, and making it again leaves nothing of the first attempt.
                with Gallery.create(path, make_verifier()) as made:
                    assert len(made) == 0
                left = {p.name: p.read_bytes() for p in place.iterdir()}
                assert set(left) <= {"g", "g-reserve"}
                assert not any(secret in c for c in left.values() for secret in secrets)
        shutil.rmtree(place)
    assert finished < 5


# What is stored.


def test_every_flipped_bit_in_a_template_is_found(gallery: Gallery) -> None:
    fill(gallery, X[:6, :2])
    gallery.close()
    draw = random.Random(3)
    raw = sqlite3.connect(gallery.path)
    rows = raw.execute("SELECT digest, vector FROM template").fetchall()
    for _ in range(60):
        which, vector = draw.choice(rows)
        broken = bytearray(vector)
        broken[draw.randrange(len(broken))] ^= 1 << draw.randrange(8)
        raw.execute("UPDATE template SET vector = ? WHERE digest = ?", (bytes(broken), which))
        raw.commit()
        with Gallery.open(gallery.path) as opened:
            assert opened.check() != []
            with pytest.raises(GalleryDamagedError, match="row of template was altered"):
                opened.identify(X[:1, 3])
        raw.execute("UPDATE template SET vector = ? WHERE digest = ?", (vector, which))
        raw.commit()
    raw.close()


def _tamper(path: Path, statement: str, *values: Any) -> None:
    raw = sqlite3.connect(path)
    raw.execute(statement, values)
    raw.commit()
    raw.close()


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        ("UPDATE meta SET value = 0 WHERE key = 'seal_names'", ()),
        ("UPDATE meta SET value = 99 WHERE key = 'next_person'", ()),
        ("UPDATE meta SET value = ? WHERE key = 'verifier'", ("model",)),
        ("DELETE FROM audit WHERE id = 2", ()),
        ("DELETE FROM audit WHERE id = (SELECT max(id) FROM audit)", ()),
        ("UPDATE audit SET templates = 0 WHERE id = 2", ()),
        ("DELETE FROM template WHERE person = 3", ()),
        ("UPDATE template SET quality = 1.0 WHERE person = 3", ()),
        ("UPDATE template SET added = 0.0 WHERE person = 3", ()),
        ("UPDATE person SET added = 0.0 WHERE id = 3", ()),
        ("UPDATE template SET person = 4 WHERE person = 3", ()),
        ("DELETE FROM person WHERE id = 3", ()),
    ],
)
def test_nothing_in_a_sealed_gallery_can_be_altered(
    sealed: Path, statement: str, values: tuple[Any, ...]
) -> None:
    if values == ("model",):
        values = (save_bytes(FaceModel.of(make_verifier(seed=9))),)
    _tamper(sealed, statement, *values)
    try:
        with Gallery.open(sealed, key=KEY) as gallery:
            assert gallery.check() != []
    except GalleryDamagedError:
        pass


def test_rows_of_another_gallery_are_refused(
    tmp_path: Path, sealed: Path, verifier: Verifier
) -> None:
    """The same key, the same features, another gallery: nothing can be carried over."""
    with Gallery.create(tmp_path / "other", verifier, key=KEY) as other:
        other.enrol("Mallory", X[20, :2], digests=[digest(20, j) for j in range(2)])
    raw = sqlite3.connect(sealed)
    raw.execute("ATTACH ? AS other", (str(tmp_path / "other"),))
    raw.execute("DELETE FROM template WHERE person = 1")
    raw.execute("INSERT INTO template SELECT * FROM other.template WHERE person = 1")
    raw.commit()
    raw.close()
    with Gallery.open(sealed, key=KEY) as gallery:
        assert gallery.check() != []
        with pytest.raises(GalleryDamagedError):
            gallery.identify(X[20, 2:3])


def test_an_older_row_brought_back_is_noticed(sealed: Path) -> None:
    raw = sqlite3.connect(sealed)
    old = raw.execute("SELECT * FROM template WHERE person = 1").fetchall()
    raw.close()
    with Gallery.open(sealed, key=KEY) as gallery:
        gallery.delete_source(digest(0, 0))
    raw = sqlite3.connect(sealed)
    raw.executemany("INSERT OR IGNORE INTO template VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", old)
    raw.commit()
    raw.close()
    with Gallery.open(sealed, key=KEY) as gallery:
        assert any("when it was last changed" in fault for fault in gallery.check())
        with pytest.raises(GalleryDamagedError, match="when it was last changed"):
            gallery.identify(X[:1, 3])


def test_a_sealed_export_cannot_be_altered(
    tmp_path: Path, sealed: Path, verifier: Verifier
) -> None:
    with Gallery.open(sealed, key=KEY) as gallery:
        file = gallery.export(tmp_path / "export.mien")
    export = mien.load(file)
    export.model = np.frombuffer(save_bytes(FaceModel.of(make_verifier(seed=4))), np.uint8)
    mien.save(export, file)
    with pytest.raises(GalleryDamagedError, match="altered after it was exported"):
        Gallery.import_from(file, tmp_path / "new", key=KEY)
    assert not (tmp_path / "new").exists()


# Keys.


def test_weak_passphrases_are_refused_and_spellings_are_one(
    tmp_path: Path, verifier: Verifier
) -> None:
    for weak in ("a", "password", "aaaaaaaaaaaa", "123456789012", "abcdabcdabcd"):
        with pytest.raises(InputError, match="passphrase"):
            Gallery.create(tmp_path / "g", verifier, key=weak)
    assert not (tmp_path / "g").exists()
    phrase = "Zoë über ﬁve words"
    Gallery.create(tmp_path / "g", verifier, key=unicodedata.normalize("NFD", phrase)).close()
    Gallery.open(tmp_path / "g", key=unicodedata.normalize("NFKC", phrase)).close()
    with pytest.raises(GalleryKeyError, match="does not fit"):
        Gallery.open(tmp_path / "g", key="Zoe uber five words")
    seal = _meta(tmp_path / "g", "seal")
    assert json.loads(seal)["n"] == _SCRYPT["n"] == 2**17


def test_numbers_that_would_take_all_memory_are_refused(tmp_path: Path, verifier: Verifier) -> None:
    path = tmp_path / "g"
    Gallery.create(path, verifier, key="four or five random words").close()
    seal = json.loads(_meta(path, "seal"))
    for change in ({"n": 2**30}, {"r": 2**20}, {"p": 10**6}, {"n": 12345}, {"n": "x"}, {"n": -1}):
        forged = json.dumps(seal | change)
        _tamper(path, "UPDATE meta SET value = ? WHERE key = 'seal'", forged)
        with pytest.raises(MienError):
            Gallery.open(path, key="four or five random words")


def test_a_model_that_would_take_all_memory_does_not_open(
    tmp_path: Path, verifier: Verifier
) -> None:
    """Millions of tiny parts in the description of the stored model."""
    path = tmp_path / "g"
    Gallery.create(path, verifier).close()
    header = b'{"__metadata__":{"mien.model":"{}","mien.sha256":"' + b"0" * 64 + b'"},"a":['
    header += b"{}," * 4_000_000 + b"0]}"
    _tamper(
        path,
        "UPDATE meta SET value = ? WHERE key = 'verifier'",
        len(header).to_bytes(8, "little") + header,
    )
    tracemalloc.start()
    with pytest.raises(MienError) as raised, Gallery.open(path) as opened:
        opened.identify(X[0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "\n" not in str(raised.value)
    assert peak < 128 * 2**20


def test_no_template_or_model_goes_through_the_temporary_folder(
    tmp_path: Path, verifier: Verifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a kill would leave there nobody ever removes."""
    made: list[Any] = []

    def refuse(*args: Any, **kwargs: Any) -> Any:
        made.append((args, kwargs))
        raise AssertionError("a temporary file was made outside the gallery's folder")

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    path = tmp_path / "g"
    with Gallery.create(path, verifier) as gallery:
        fill(gallery, X[:5, :2])
        gallery.set_model(FaceModel.of(verifier))
        gallery.identify(X[:2, 2], search="approximate")
        gallery.export(tmp_path / "export")
        gallery.delete("person 1")
    with Gallery.open(path) as gallery:
        assert gallery.check() == []
    Gallery.import_from(tmp_path / "export", tmp_path / "again").close()
    assert made == []
    known = {"g", "again", "export"}
    assert all(
        any(file.name == name or file.name.startswith(f"{name}-") for name in known)
        for file in tmp_path.iterdir()
    )


def _meta(path: Path, key: str) -> Any:
    raw = sqlite3.connect(path)
    ((value,),) = raw.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchall()
    raw.close()
    return value


def test_an_open_waits_for_whoever_makes_the_gallery(
    tmp_path: Path, verifier: Verifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "import sys, mien\n"
        "from mien.gallery import Gallery, _gallery\n"
        "make = Gallery._make.__func__\n"
        "def slowly(cls, *given):\n"
        "    made = make(cls, *given)\n"
        "    print('half', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    return made\n"
        "Gallery._make = classmethod(slowly)\n"
        "Gallery.create(sys.argv[1], mien.load(sys.argv[2])).close()\n"
    )
    model = mien.save(FaceModel.of(verifier), tmp_path / "m")
    path = tmp_path / "g"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path), str(model)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as maker:  # fmt: skip
        go_on, said = maker.stdin, maker.stdout
        assert go_on is not None
        assert said is not None
        said.readline()
        assert path.stat().st_size == 0
        pauses = []

        def pause(seconds: float, sleep: Callable[[float], None] = time.sleep) -> None:
            pauses.append(seconds)
            if len(pauses) == 3:  # from here on the gallery is made
                go_on.write(b"\n")
                go_on.flush()
            sleep(seconds)

        monkeypatch.setattr(_sqlite_file.time, "sleep", pause)
        with Gallery.open(path, timeout=600) as gallery:
            assert len(gallery) == 0
        assert len(pauses) >= 3
        assert maker.wait(600) == 0


_HALF = """
import os, sys
from mien.gallery import PictureIndex

index = PictureIndex(sys.argv[1])
file = index._file
file.execute("PRAGMA cache_size = 1")  # so that half of the change is in the file already
file.execute("BEGIN")
file.executemany(
    "INSERT INTO picture (path, digest) VALUES (?, ?)",
    ((f"/photos/{k}.jpg", "x" * 64) for k in range(5000)),
)
os._exit(9)
"""


@pytest.mark.parametrize("index", ["half", "whole", "none"])
def test_the_journal_of_the_pictures_goes_at_the_next_open(tmp_path: Path, index: str) -> None:
    place = tmp_path / "g"
    Gallery.create(place, make_verifier()).close()
    pictures, journal = tmp_path / "g-pictures", tmp_path / "g-pictures-journal"
    with PictureIndex(place):
        pass
    before = pictures.read_bytes()
    if index == "half":
        subprocess.run([sys.executable, "-c", _HALF, str(place)], check=False)
        assert pictures.read_bytes() != before
    else:
        journal.write_bytes(b"")
    if index == "none":
        pictures.unlink()
    assert journal.exists()
    Gallery.open(place).close()
    assert not journal.exists()
    if index != "none":
        with PictureIndex(place) as opened:
            assert len(opened) == 0


def test_the_journal_of_a_change_that_goes_on_stays(tmp_path: Path) -> None:
    place = tmp_path / "g"
    Gallery.create(place, make_verifier()).close()
    with PictureIndex(place) as opened:
        opened._file.execute("BEGIN")
        opened._file.execute("INSERT INTO picture (path, digest) VALUES ('/a.jpg', 'x')")
        assert (tmp_path / "g-pictures-journal").exists()
        Gallery.open(place).close()
        assert (tmp_path / "g-pictures-journal").exists()
        opened._file.execute("COMMIT")
        assert len(opened) == 1
