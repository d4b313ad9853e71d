"""A stream of files: broken ones, order, the journal, and mutated pictures."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mien._core.progress import listening
from mien.errors import DataError, InputError, MissingDataError
from mien.faces import FaceEngine, FoundFace, PictureResult, analyse_pictures
from mien.faces import _analyse as analyse_module
from mien.faces._worker import ProcessWorker
from mien.media import find_pictures
from tests.near import relative_difference


def _same(first: PictureResult, second: PictureResult) -> bool:
    """Everything but the crops: the text and counts exactly, numbers in four digits."""
    if (first.path, first.digest, first.size, first.error) != (
        second.path,
        second.digest,
        second.size,
        second.error,
    ):
        return False
    return len(first.faces) == len(second.faces) and all(
        relative_difference(first_part, second_part) < 1e-4
        for a, b in zip(first.faces, second.faces, strict=True)
        for first_part, second_part in zip(_parts(a), _parts(b), strict=True)
    )


def _parts(face: FoundFace) -> list[Any]:
    measured = [] if face.quality is None else [astuple(face.quality)]
    found = face.face
    return [face.vector, found.box, found.landmarks, found.confidence, *measured]


def test_pictures_are_found_in_a_fixed_order(album: Path) -> None:
    (album / "below" / "loop").symlink_to(album)
    names = [path.relative_to(album).as_posix() for path in find_pictures(album)]
    assert names == [
        *("a.png", "b.png", "below/c.jpg", "empty.png", "half.jpg", "lost.png"),
        *("nobody.png", "noise.webp", "text.jpg", "tiny.png"),
    ]
    assert find_pictures(album / "notes.txt") == [album / "notes.txt"]
    with pytest.raises(MissingDataError, match="does not exist"):
        find_pictures(album / "elsewhere")


def test_broken_files_are_results_and_the_rest_goes_on(album: Path) -> None:
    paths = find_pictures(album)
    seen: list[tuple[int, int | None]] = []
    with listening(lambda what, done, total: seen.append((done, total))):
        results = list(analyse_pictures(paths, keep_crops=True))
    assert [result.path for result in results] == paths
    assert seen == [(k, 10) for k in range(1, 11)]
    reasons = {result.path.name: result.error for result in results if result.error}
    assert sorted(reasons) == ["empty.png", "half.jpg", "lost.png", "noise.webp", "text.jpg"]
    assert "is empty" in reasons["empty.png"]
    assert "cannot be decoded" in reasons["half.jpg"]
    assert "does not exist" in reasons["lost.png"]
    assert "is not a picture" in reasons["text.jpg"]
    usable = {result.path.name: result for result in results if not result.error}
    assert {name: len(r.faces) for name, r in usable.items()} == {
        **{"a.png": 1, "b.png": 1, "c.jpg": 1},
        **{"nobody.png": 0, "tiny.png": 0},
    }
    assert not usable["nobody.png"].acquired
    first = usable["a.png"]
    assert first.digest == hashlib.sha256(first.path.read_bytes()).hexdigest()
    assert first.size == (256, 256)
    assert first.faces[0].crop is not None
    assert first.faces[0].crop.shape == (112, 112, 3)
    assert first.faces[0].quality is not None
    assert first.faces[0].vector @ usable["c.jpg"].faces[0].vector > 0.9


def test_jobs_do_not_change_the_result(album: Path) -> None:
    paths = find_pictures(album)
    one, two = (list(analyse_pictures(paths, n_jobs=n)) for n in (1, 2))
    assert all(map(_same, one, two))


def test_dlib_in_processes_gives_what_it_gives_alone(album: Path, dlib_engine: FaceEngine) -> None:
    paths = [album / name for name in ("a.png", "half.jpg", "nobody.png")]
    alone = list(analyse_pictures(paths, "dlib", n_jobs=1, keep_crops=True))
    together = list(analyse_pictures(paths, "dlib", n_jobs=2, keep_crops=True))
    assert all(map(_same, alone, together))
    np.testing.assert_array_equal(alone[0].faces[0].crop, together[0].faces[0].crop)


@pytest.mark.needs("faces")
def test_a_picture_that_takes_too_long_costs_one_picture(
    album: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = ProcessWorker("sface", 1)
    try:
        monkeypatch.setattr("mien.faces._worker._MAX_SECONDS", 0.05)
        worker._process.send_signal(signal.SIGSTOP)  # it will never answer
        monkeypatch.setattr(worker, "_start", lambda: worker._process)
        result = worker.analyse(album / "a.png", False)
        assert "took too long" in (result.error or "")
        assert worker._process.poll() is not None
    finally:
        worker.close()


@pytest.mark.needs("faces")
def test_a_picture_that_ends_its_process_costs_one_picture(album: Path) -> None:
    worker = ProcessWorker("sface", 1)
    try:
        worker._process.kill()
        result = worker.analyse(album / "a.png", False)
        assert "ended the process that analysed it" in (result.error or "")
        assert worker.analyse(album / "a.png", False).acquired
    finally:
        worker.close()


def test_only_a_few_files_are_ahead(album: Path) -> None:
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield album / "nobody.png"

    results = analyse_pictures(endless(), n_jobs=2)
    for _ in range(30):
        next(results)
    assert taken <= 30 + 8
    results.close()


def test_arguments_are_checked_before_any_work(album: Path) -> None:
    with pytest.raises(InputError, match="n_jobs"):
        analyse_pictures([], n_jobs=0)
    with pytest.raises(InputError, match="max_faces"):
        analyse_pictures([], max_faces=0)
    with pytest.raises(InputError, match="find_pictures"):
        analyse_pictures(str(album))
    with pytest.raises(InputError, match="engine must be one of"):
        analyse_pictures([], "arcface")
    assert list(analyse_pictures([])) == []


def test_a_huge_file_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mien.media._decoding._MAX_FILE_BYTES", 1000)
    (tmp_path / "big.png").write_bytes(bytes(2000))
    (result,) = analyse_pictures([tmp_path / "big.png"], n_jobs=1)
    assert "is larger than 1,000 bytes" in (result.error or "")


class TestJournal:
    def _run(self, album: Path, journal: Path, **options: object) -> list[PictureResult]:
        paths = find_pictures(album)
        return list(analyse_pictures(paths, journal=journal, n_jobs=1, **options))

    def test_a_second_run_computes_nothing(
        self, album: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        journal = tmp_path / "run.journal"
        first = self._run(album, journal)
        assert journal.stat().st_mode & 0o777 == 0o600
        size = journal.stat().st_size

        def fail(*args: object) -> None:
            raise AssertionError("analysed again")

        monkeypatch.setattr(analyse_module, "_describe", fail)
        second = self._run(album, journal, keep_crops=True)
        assert all(map(_same, first, second))
        assert second[0].faces[0].crop is not None
        assert journal.stat().st_size - size < 2000  # the lost link has no stamp: looked at again

    def test_an_interrupted_run_goes_on(self, album: Path, tmp_path: Path) -> None:
        journal = tmp_path / "run.journal"
        whole = self._run(album, journal)
        lines = journal.read_bytes().splitlines(keepends=True)
        for torn in (b"", lines[3][: len(lines[3]) // 2], lines[3][:-1]):
            journal.write_bytes(b"".join(lines[:3]) + torn)
            os.chmod(journal, 0o644)
            assert all(map(_same, whole, self._run(album, journal)))
            assert journal.stat().st_mode & 0o777 == 0o600
            assert len(journal.read_bytes().splitlines()) == len(lines)

    def test_a_changed_file_is_analysed_again(
        self, album: Path, tmp_path: Path, astronaut: np.ndarray
    ) -> None:
        journal = tmp_path / "run.journal"
        before = self._run(album, journal)
        Image.fromarray(astronaut[:300, 50:400]).save(album / "a.png")
        after = self._run(album, journal)
        assert before[0].digest != after[0].digest
        assert after[0].size == (300, 350)
        assert all(map(_same, before[1:], after[1:]))

    def test_a_damaged_or_foreign_journal_is_refused(self, album: Path, tmp_path: Path) -> None:
        journal = tmp_path / "run.journal"
        self._run(album, journal)
        with pytest.raises(DataError, match=r"is of another run .*max_faces 1"):
            self._run(album, journal, max_faces=1)
        data = bytearray(journal.read_bytes())
        data[len(data) // 2] ^= 4
        journal.write_bytes(data)
        with pytest.raises(DataError, match=r"line \d+ of the journal .* is damaged"):
            self._run(album, journal)
        with pytest.raises(DataError, match="is damaged, or the file is not a journal"):
            self._run(album, album / "notes.txt")
        assert (album / "notes.txt").read_text() == "left out by its name"
        with pytest.raises(DataError, match="cannot open the journal"):
            self._run(album, tmp_path / "no" / "folder")

    def test_two_runs_do_not_share_a_journal(self, album: Path, tmp_path: Path) -> None:
        results = analyse_pictures(find_pictures(album), journal=tmp_path / "run.journal", n_jobs=1)
        next(results)
        with pytest.raises(DataError, match="in use by another run"):
            self._run(album, tmp_path / "run.journal")
        results.close()
        self._run(album, tmp_path / "run.journal")

    @pytest.mark.needs("faces")
    def test_a_killed_run_goes_on(self, album: Path, tmp_path: Path) -> None:
        """The process dies without a word in the middle; what was flushed is there."""
        journal = tmp_path / "run.journal"
        code = (
            "import os, sys\n"
            "from mien.faces import analyse_pictures, _journal\n"
            "from mien.media import find_pictures\n"
            "_journal._FLUSH_EVERY = 1\n"
            "paths = find_pictures(sys.argv[1])\n"
            "results = analyse_pictures(paths, journal=sys.argv[2], n_jobs=1)\n"
            "for k, result in enumerate(results):\n"
            "    if k == 4: os._exit(9)\n"
        )
        done = subprocess.run([sys.executable, "-c", code, str(album), str(journal)], check=False)
        assert done.returncode == 9
        lines = journal.read_bytes().splitlines()
        assert len(lines) == 6  # the header and five results
        assert json.loads(lines[1][9:])["result"]["faces"][0]["vector"]
        whole = analyse_pictures(find_pictures(album), n_jobs=1)
        assert all(map(_same, whole, self._run(album, journal)))


_KINDS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF", "PPM")


def _mutate(data: bytes, rng: np.random.RandomState) -> bytes:
    """Flip bytes, most of them in the header, and sometimes cut the end off."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 9)):
        out[rng.randint(min(len(out), 80) if rng.rand() < 0.6 else len(out))] = rng.randint(256)
    if rng.rand() < 0.25:
        del out[rng.randint(1, len(out)) :]
    return bytes(out)


def test_mutated_files_never_raise(astronaut: np.ndarray, tmp_path: Path) -> None:
    """Some hundred here; `python -m benchmarks mutated` does ten thousand."""
    rng = np.random.RandomState(3)
    small = Image.fromarray(astronaut[40:200, 140:300]).resize((80, 80))
    paths = []
    for kind in _KINDS:
        buffer = io.BytesIO()
        small.save(buffer, kind)
        for k in range(40):
            paths.append(tmp_path / f"{kind}{k}.bin")
            paths[-1].write_bytes(_mutate(buffer.getvalue(), rng))
    results = list(analyse_pictures(paths))
    assert [result.path for result in results] == paths
    refused = sum(result.error is not None for result in results)
    assert 80 < refused < 240
    assert not any("cannot be analysed" in (result.error or "") for result in results)
