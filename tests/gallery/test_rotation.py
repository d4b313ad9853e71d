"""A secret rotation of all vectors: the same answers, places that tell nothing across galleries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gallery_people import draw_people, fill

from mien.errors import GalleryDamagedError, InputError
from mien.gallery import Gallery, move_gallery
from mien.gallery._rotation import Rotation
from mien.verification import Verifier
from tests.near import assert_near

X = draw_people(12, 4, seed=21)
Store = tuple[Callable[[], str], bytes | None]


def _stored(gallery: Gallery) -> np.ndarray:
    """Vectors as they stand under the seal, by person and picture."""
    store = gallery._store
    rotation, store.rotation = store.rotation, None  # type: ignore[attr-defined]
    mark = b"" if rotation is None else b"\x00rotation\x00" + rotation.mark
    rows = store.rows("template", order="person, digest")  # type: ignore[attr-defined]
    codec = store.codec
    opened = [
        codec._cipher(row[0]).unseal(row[3], codec._identity(*row[:3]) + mark, "a test")
        for row in rows
    ]
    store.rotation = rotation  # type: ignore[attr-defined]
    return np.frombuffer(b"".join(opened), "<f4").reshape(len(rows), -1)


def _vectors(gallery: Gallery) -> np.ndarray:
    return np.concatenate([gallery._store.read_vector(face.id) for face in gallery.faces()])


def _answers(gallery: Gallery, search: str) -> list[tuple[str | None, dict[str, float]]]:
    found = gallery.identify(X[:, 3], search=search)
    found += gallery.identify([X[0, 2:4], X[1, 2:4]])
    return [(one.person, dict(one.candidates)) for one in found]


def test_a_rotation_is_orthogonal_and_made_of_its_secret() -> None:
    for n in (1, 2, 7, 48):
        first, second = (Rotation(bytes([i]) * 32, n) for i in (1, 2))
        Q = first._matrix(b"vectors", n)
        assert_near(Q @ Q.T, np.eye(n), 1e-12)
        assert_near(Q, Rotation(bytes([1]) * 32, n)._matrix(b"vectors", n), 1e-12)
        assert first.mark != second.mark
        Y = draw_people(5, 1, seed=n, dimension=max(n, 1))[:, 0]
        assert_near(first.turn_back(first.turn(Y)), Y, 1e-6)
        if n > 2:
            assert np.abs(Q - second._matrix(b"vectors", n)).max() > 0.1
            assert np.abs(Q - first._matrix(b"places", n)).max() > 0.1
    # Uniform over all rotations: entries have mean 0 and variance 1 / n.
    entries = np.concatenate([Rotation(bytes([i]) * 32, 16)._matrix(b"", 16) for i in range(40)])
    assert abs(entries.mean()) < 0.02
    assert abs(16 * entries.var() - 1) < 0.05


def test_the_same_answers_and_other_places(store: Store, verifier: Verifier) -> None:
    place, key = store
    where = place()
    with Gallery.create(where, verifier, key=key) as gallery:
        fill(gallery, X[:10, :3])
        gallery.remove_face(gallery.faces("person 9")[0].id)
        if key is None:
            with pytest.raises(InputError, match="not sealed"):
                gallery.rotate()
            assert not gallery.rotated
            return
        before = {search: _answers(gallery, search) for search in ("exact", "approximate")}
        vectors, places = _vectors(gallery), [_stored(gallery)]
        with (
            Gallery.open(where, key=key) as other,
            Gallery.open(where, key=key, read_only=True) as reader,
        ):
            for _ in range(2):  # the first, and a renewal
                assert gallery.rotate() == 29
                # Whoever has it open goes on, reading and writing.
                for one in (gallery, other, reader):
                    assert one.rotated
                    assert_near(_vectors(one), vectors, 1e-6)
                places.append(_stored(gallery))
                for search, answers in before.items():
                    for mine, theirs in zip(_answers(other, search), answers, strict=True):
                        assert mine[0] == theirs[0]
                        names = sorted(set(mine[1]) & set(theirs[1]))
                        assert names
                        assert_near(
                            [mine[1][n] for n in names], [theirs[1][n] for n in names], 1e-3
                        )
            other.enrol("late", X[10, :2])
            assert gallery.identify(X[[10], 3])[0].person == "late"
            gallery.undo()  # of the enrolment
            gallery.undo()  # the face that was taken out comes back through both rotations
            assert len(gallery.faces("person 9")) == 3
            assert [e.action for e in gallery.audit()].count("rotate") == 2
            assert gallery.check() == other.check() == []
        for i, first in enumerate(places):
            for second in places[:i]:
                # Cosines within one state stay; across two they are those of chance.
                assert_near(first @ first.T, second @ second.T, 1e-5)
                assert np.abs(np.sum(first * second, axis=1)).max() < 0.95
    with Gallery.open(where, key=key) as gallery:
        assert gallery.identify(X[:1, 3])[0].person == "person 0"
        gallery.change_key(b"n" * 32)
        assert gallery.rotated
        assert gallery.check() == []
    with Gallery.open(where, key=b"n" * 32) as gallery:
        assert gallery.identify(X[:1, 3])[0].person == "person 0"
        gallery.enrol("new", X[11, :2])
        assert gallery.check() == []


def test_it_is_moved_and_exported(some_store: Store, verifier: Verifier, tmp_path: Path) -> None:
    place, key = some_store
    key = key or b"k" * 32
    where = place()
    with Gallery.create(where, verifier, key=key) as gallery:
        gallery.rotate()
        fill(gallery, X[:6, :2])
        vectors = _vectors(gallery)
        file = gallery.export(tmp_path / "export.mien")
    for target_key in (None, b"t" * 32):
        target = str(tmp_path / f"to {target_key is None}")
        move_gallery(where, target, key=key, target_key=target_key)
        with Gallery.open(target, key=target_key) as moved, Gallery.open(where, key=key) as old:
            assert moved.rotated == (target_key is not None)
            assert_near(_vectors(moved), vectors, 1e-6)
            assert moved.check() == []
            if target_key is not None:
                assert np.abs(_stored(moved) - _stored(old)).max() > 0.05
    with Gallery.import_from(file, tmp_path / "imported", key=key) as taken:
        assert_near(_vectors(taken), vectors, 1e-6)


def test_a_rotation_that_was_exchanged_is_noticed(tmp_path: Path, verifier: Verifier) -> None:
    with Gallery.create(tmp_path / "g", verifier, key=b"k" * 32) as gallery:
        fill(gallery, X[:3, :2])
        gallery.rotate()
        store = gallery._store
        old = store.meta("rotation")  # type: ignore[attr-defined]
        gallery.rotate()
        store.connection.execute("UPDATE meta SET value = ? WHERE key = 'rotation'", (old,))  # type: ignore[attr-defined]
        with pytest.raises(GalleryDamagedError):
            store.load_rotation()  # type: ignore[attr-defined]


def test_a_database_searches_a_sealed_gallery_by_turned_places(
    request: pytest.FixtureRequest, verifier: Verifier
) -> None:
    server = request.getfixturevalue("server")
    with (
        Gallery.create(f"{server.address}&gallery=turned", verifier, key=b"k" * 32) as gallery,
        Gallery.create(f"{server.address}&gallery=clear", verifier) as plain,
    ):
        rows = "SELECT place::text FROM candidate ORDER BY person"
        places = []
        for one in (gallery, plain):
            fill(one, X[:10, :2])
        gallery.identify(X[:1, 3], search="approximate")
        assert gallery._store.query(rows) == []  # type: ignore[attr-defined]
        for _ in range(2):
            gallery.rotate()
            found = gallery.identify(X[:10, 3], search="approximate")
            assert [one.person for one in found] == [f"person {i}" for i in range(10)]
            places.append(_read(gallery, rows))
        plain.identify(X[:1, 3], search="approximate")
        places.append(_read(plain, rows))
        for i, first in enumerate(places):
            for second in places[:i]:
                assert_near(first @ first.T, second @ second.T, 2e-3)
                assert np.abs(np.sum(first * second, axis=1)).max() < 0.95
        # Whoever is deleted leaves the table at once, and with one's key.
        gallery.delete("person 3")
        assert len(_read(gallery, rows)) == 9
        assert "person 3" not in dict(
            gallery.identify(X[3:4, 3], search="approximate")[0].candidates
        )


def _read(gallery: Gallery, statement: str) -> np.ndarray:
    rows = gallery._store.query(statement)  # type: ignore[attr-defined]
    return np.asarray([[float(value) for value in row[0][1:-1].split(",")] for row in rows])
