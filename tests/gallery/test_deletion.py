"""What is deleted is gone: from the rows, from the answers, and from the bytes of every file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from gallery_people import digest, draw_people, fill

from mien.errors import GalleryBusyError, InputError
from mien.gallery import Consent, Gallery
from mien.gallery import _sqlite_purge as purging
from mien.gallery._approximate import ApproximateIndex
from mien.gallery._making import wipe_file
from mien.gallery._protocol import PeopleBatch
from mien.gallery._sqlite_store import SqliteStore as Store
from mien.verification import Scorer, Verifier

X = draw_people(600, 3, seed=21)
SECRET = "Wilhelmina Quartermaine"


def _traces(vectors: np.ndarray, digests: list[str], scorer: Scorer) -> list[bytes]:
    """Byte strings that would betray the templates, each by parts of it."""
    whole = [SECRET.encode(), *(bytes.fromhex(name) for name in digests)]
    for vector in vectors:
        for kind in (np.float32, np.float16, np.float64):
            whole.append(vector.astype(kind).tobytes())
    batch = PeopleBatch(np.array([1]), np.array([len(vectors)]), vectors.sum(axis=0)[None])
    folded, *_ = scorer.index_people(batch.counts, batch.sums)
    row = ApproximateIndex(scorer, vectors.shape[1])._rows(vectors.mean(axis=0)[None])
    for values in (batch.sums, folded, row):
        whole += [values.astype(kind).tobytes() for kind in (np.float32, np.float16)]
    return [part for w in whole for part in ((w,) if len(w) <= 32 else (w[:12], w[-12:], w[20:32]))]


def _find(folder: Path, traces: list[bytes]) -> list[str]:
    return [
        f"{file.name}: {trace!r}"
        for file in sorted(folder.iterdir())
        for trace in traces
        if trace in file.read_bytes()
    ]


@pytest.mark.parametrize("key", [None, b"k" * 32], ids=["plain", "sealed"])
def test_nothing_is_left_in_any_file(tmp_path: Path, verifier: Verifier, key: bytes | None) -> None:
    path = tmp_path / "people.gallery"
    names = [digest("secret", i) for i in range(3)]
    with Gallery.create(path, verifier, key=key) as gallery:
        traces = _traces(X[0], names, gallery.model.scorer)
        # Before and after others, so that pages are split around it and filled again.
        fill(gallery, X[1:300])
        gallery.enrol(SECRET, X[0], digests=names, sources=[f"{SECRET}/{i}.jpg" for i in range(3)])
        fill(gallery, X[300:], first=300)
        gallery.identify(X[:3, 0], search="approximate")
        gallery._search.save()
        held = _find(tmp_path, traces)
        assert {line.split(":")[0] for line in held} >= (
            {"people.gallery-wal", "people.gallery-index"} if key is None else set()
        )
        assert gallery.delete(SECRET) == 3
        assert _find(tmp_path, traces) == []
        gallery.identify(X[:3, 0], search="approximate")
    # Closed: the index is written again, without the one who was deleted.
    assert (tmp_path / "people.gallery-index").exists()
    assert _find(tmp_path, traces) == []
    with Gallery.open(path, key=key) as gallery:
        assert gallery.check() == []
        assert SECRET not in [person.name for person in gallery.people()]
        found = gallery.identify(X[0], search="approximate", top=8)
        assert all(name != SECRET for answer in found for name, _ in answer.candidates)


def test_many_deletions_leave_nothing(gallery: Gallery) -> None:
    """Whatever the order: rows that were moved between pages leave copies if nobody looks."""
    fill(gallery, X[:200])
    rng = np.random.default_rng(0)
    for i in rng.choice(200, 25, replace=False):
        gallery.delete(f"person {i}")
        traces = [part for v in X[i] for part in (v.tobytes()[:12], v.tobytes()[-12:])]
        traces += [bytes.fromhex(digest(int(i), j)) for j in range(3)]
        assert _find(gallery.path.parent, traces) == []
    assert len(gallery) == 175
    assert gallery.check() == []


def test_the_check_of_the_bytes_finds_what_is_left(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With SQLite's own cleaning off, the look at the bytes must bring the rewriting about."""
    fill(gallery, X[:50])
    gallery._store.connection.execute("PRAGMA secure_delete = OFF")
    looked: list[bool] = []
    original = purging._is_left

    def look(store: Store, patterns: list[bytes]) -> bool:
        looked.append(original(store, patterns))
        return looked[-1]

    monkeypatch.setattr(purging, "_is_left", look)
    gallery.delete("person 7")
    assert looked == [True]
    assert _find(gallery.path.parent, [v.tobytes()[:12] for v in X[7]]) == []


def test_one_picture(gallery: Gallery) -> None:
    fill(gallery, X[:5])
    assert gallery.delete_source(digest(2, 1)) == 1
    assert _find(gallery.path.parent, [X[2, 1].tobytes()[:16]]) == []
    assert [p.templates for p in gallery.people()] == [3, 3, 2, 3, 3]
    expected = gallery.model.verifier.score_sets([X[2, 1:2]], [X[2, [0, 2]]])[0, 0]
    got = dict(gallery.identify(X[2, 1:2])[0].candidates)["person 2"]
    assert got == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("how", ["rename", "merge"])
def test_an_old_name_is_gone_with_the_history(gallery: Gallery, how: str) -> None:
    """To be undone, a change keeps the old name; clearing the history erases it."""
    fill(gallery, X[:5])
    gallery.enrol(SECRET, X[9], digests=[digest(9, j) for j in range(3)])
    if how == "rename":
        gallery.rename(SECRET, "somebody")
    else:
        gallery.merge(SECRET, "person 1")
    traces = [SECRET.encode(), SECRET.encode().hex().encode()]
    assert _find(gallery.path.parent, traces) != []
    gallery.clear_history()
    assert _find(gallery.path.parent, traces) == []
    assert gallery.history() == []
    assert gallery.check() == []


@pytest.mark.parametrize("key", [None, b"k" * 32], ids=["plain", "sealed"])
def test_history_thumbnails_and_merged_names_go_with_a_person(
    tmp_path: Path, verifier: Verifier, key: bytes | None
) -> None:
    picture = b"\xff\xd8\xff" + os.urandom(3_000)
    digests = [digest("secret", i) for i in range(3)]
    with Gallery.create(tmp_path / "g", verifier, key=key) as gallery:
        gallery.set_policy(thumbnails=True)
        fill(gallery, X[1:30])
        gallery.enrol(
            SECRET, X[0, :2], digests=digests[:2], sources=[f"{SECRET}.jpg"] * 2,
            thumbnails=[picture] * 2,
        )  # fmt: skip
        gallery.enrol("another name", X[0, 2:], digests=digests[2:], thumbnails=[picture])
        gallery.set_consent(SECRET, Consent(1.0, f"doors of {SECRET}", "v1"))
        gallery.add_constraint("not-this-person", (digest(1, 0), 0), person=SECRET)
        gallery.remove_face(gallery.faces(SECRET)[0].id)
        gallery.hide(SECRET)
        gallery.rename(SECRET, "Quartermaine")
        gallery.merge("Quartermaine", "another name")
        names = [name.encode() for name in (SECRET, "Quartermaine", "another name")]
        traces = [*names, *(name.hex().encode() for name in names), picture[500:540]]
        for i, one in enumerate(digests):
            vector = X[0, i].tobytes()
            traces += [vector[:12], vector[-12:], bytes.fromhex(one), one.encode()]
        assert _find(tmp_path, traces) != []
        gallery.delete("another name")
        assert _find(tmp_path, traces) == []
        assert gallery.check() == []
        assert gallery.constraints() == []
        # Nothing of it can be undone; what concerns others still can.
        assert [change.action for change in gallery.history() if change.names] == []
        if key is not None:
            assert len(gallery._store.rows("person_key")) == len(gallery)


def test_a_process_that_died_in_between_is_made_up_for(gallery: Gallery) -> None:
    fill(gallery, X[:50])
    # As if the process had died after the deletion was confirmed, before the cleaning up.
    gallery._purge = lambda removed: None  # type: ignore[method-assign]
    gallery.delete("person 7")
    traces = [v.tobytes()[:12] for v in X[7]]
    assert _find(gallery.path.parent, traces) != []
    Gallery.open(gallery.path).close()
    assert _find(gallery.path.parent, traces) == []


def test_a_reader_of_an_older_state_is_told_about(gallery: Gallery, verifier: Verifier) -> None:
    fill(gallery, X[:20])
    gallery._store.timeout = 0.1
    with Gallery.open(gallery.path, read_only=True) as reader:
        with reader._store.reading():
            reader.people()
            with pytest.raises(GalleryBusyError, match="purge"):
                gallery.delete("person 3")
        gallery.purge()
        assert _find(gallery.path.parent, [X[3, 0].tobytes()[:16]]) == []
        assert len(reader) == 19
    with pytest.raises(InputError, match="nobody"):
        gallery.delete("person 3")


def test_a_wiped_file_was_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(os.urandom(3_000_000))
    with open(file, "rb") as still:
        wipe_file(file)
        assert not file.exists()
        assert still.read() == bytes(3_000_000)


def test_what_a_link_leads_to_is_never_wiped(tmp_path: Path) -> None:
    target = tmp_path / "target"
    for make in (os.symlink, os.link):
        target.write_bytes(b"mine")
        make(target, tmp_path / "link")
        wipe_file(tmp_path / "link")
        assert target.read_bytes() == b"mine"
        assert not (tmp_path / "link").is_symlink()
