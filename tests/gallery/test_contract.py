"""One contract, two stores: a file and a database do the same, to the same answers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from gallery_people import digest, draw_people, fill, make_verifier

from benchmarks.postgres import PostgresServer
from mien.errors import (
    GalleryDamagedError,
    GalleryError,
    GalleryFormatError,
    GalleryKeyError,
    InputError,
    MissingDataError,
)
from mien.gallery import (
    Consent,
    Gallery,
    _postgres_candidates,
    _postgres_schema,
    move_gallery,
    remove_gallery,
)
from mien.gallery._addresses import parse_address
from mien.gallery._row_store import RowStore
from mien.verification import Verifier
from tests.near import assert_near

X = draw_people(40, 4, seed=13)
Store = tuple[Callable[[], str], bytes | None]


def test_the_same_answers(store: Store, verifier: Verifier, gallery: Gallery) -> None:
    """Beside a plain file: people, faces, candidates, calibration, the trail."""
    place, key = store
    with Gallery.create(place(), verifier, key=key) as other:
        for one in (gallery, other):
            fill(one, X[:30, :3])
            assert one.enrol("person 1", X[1, :1], digests=[digest(1, 0)]).already == 1
            with pytest.raises(InputError, match="belongs to 'person 1'"):
                one.enrol("Ann", X[1, :1], digests=[digest(1, 0)])
            one.delete("person 3")
            one.delete_source(digest(4, 0))
            one.delete_face(one.faces("person 4")[0].id)
            one.merge("person 5", "person 6")
            one.set_model(verifier)
            one.revert_model()
            assert one.check() == []
        for search in ("exact", "approximate"):
            for probes in (X[:10, 3], [X[0, 2:4], X[35, :3], X[1, 3:]]):
                mine, theirs = (
                    one.identify(probes, search=search, apart="all") for one in (gallery, other)
                )
                assert [a.person for a in mine] == [b.person for b in theirs]
                assert_near([a.log_ratio for a in mine], [b.log_ratio for b in theirs], 1e-4)
                assert [a.threshold for a in mine] == pytest.approx([b.threshold for b in theirs])
        assert [(p.name, p.number, p.templates) for p in gallery.people()] == [
            (p.name, p.number, p.templates) for p in other.people()
        ]
        for person in (None, "person 4", "person 6"):
            assert [(f.id, f.digest, f.person) for f in gallery.faces(person)] == [
                (f.id, f.digest, f.person) for f in other.faces(person)
            ]
        page = other.faces(limit=4)
        assert other.faces(after=page[-1].id) == other.faces()[4:]
        assert [p.name for p in other.list_people(containing="1", limit=3)] == [
            p.name for p in gallery.list_people(containing="1", limit=3)
        ]
        assert [(e.action, e.person, e.templates) for e in gallery.audit()] == [
            (e.action, e.person, e.templates) for e in other.audit()
        ]


def test_it_opens_again_with_its_key_only(store: Store, verifier: Verifier) -> None:
    place, key = store
    where = place()
    with pytest.raises(MissingDataError):
        Gallery.open(where)
    with Gallery.create(where, verifier, key=key) as gallery:
        fill(gallery, X[:5, :2])
    with pytest.raises(GalleryError, match="already exists"):
        Gallery.create(where, verifier, key=key)
    for wrong in (None, b"w" * 32) if key else (b"w" * 32,):
        with pytest.raises(GalleryKeyError):
            Gallery.open(where, key=wrong)
    # An address that went through a path is understood.
    with Gallery.open(Path(where), key=key, read_only=True) as gallery:
        assert [p.name for p in gallery.people()] == [f"person {i}" for i in range(5)]
        assert gallery.identify(X[:1, 3])[0].person == "person 0"
        with pytest.raises(GalleryError, match="read_only"):
            gallery.delete("person 1")
    remove_gallery(where, key=key)
    with pytest.raises(MissingDataError):
        Gallery.open(where, key=key)


def test_an_export_goes_from_one_store_to_the_other(
    store: Store, verifier: Verifier, tmp_path: Path
) -> None:
    place, key = store
    with Gallery.create(place(), verifier, key=key) as gallery:
        fill(gallery, X[:5, :3])
        gallery.add_person("faceless")
        file = gallery.export(tmp_path / "export.mien")
        people = [(p.name, p.templates) for p in gallery.people()]
    for target in (place(), str(tmp_path / "other.gallery")):
        with Gallery.import_from(file, target, key=key) as taken:
            assert [(p.name, p.templates) for p in taken.people()] == people
            assert taken.check() == []


def test_what_was_altered_is_noticed(store: Store, verifier: Verifier) -> None:
    place, key = store
    with Gallery.create(place(), verifier, key=key) as gallery:
        fill(gallery, X[:5, :2])
        for statement in (
            "UPDATE template SET quality = 1.0 WHERE person = 3",
            "UPDATE person SET added = 0.0 WHERE id = 3",
            "DELETE FROM audit WHERE id = 2",
            "DELETE FROM template WHERE person = 4",
        ):
            before = gallery._store.find_faults()
            gallery._store.connection.execute(statement)
            assert gallery._store.find_faults() != before, statement
        with pytest.raises(GalleryDamagedError):
            gallery.identify(X[:2, 3])


def test_what_one_enrols_the_other_names_at_once(store: Store, verifier: Verifier) -> None:
    place, key = store
    where = place()
    with Gallery.create(where, verifier, key=key) as one, Gallery.open(where, key=key) as other:
        for search in ("exact", "approximate"):
            fill(one, X[:5, :3])
            assert other.identify(X[[2], 3], search=search)[0].person == "person 2"
            one.rename("person 2", "Ann")
            assert other.identify(X[[2], 3], search=search)[0].person == "Ann"
            other.delete("Ann")
            found = one.identify(X[[2], 3], search=search)[0]
            assert "Ann" not in dict(found.candidates)
        assert one.check() == other.check() == []


def test_writers_wait_for_each_other(store: Store, verifier: Verifier) -> None:
    place, key = store
    where = place()
    Gallery.create(where, verifier, key=key).close()
    errors: list[BaseException] = []

    def work(start: int) -> None:
        try:
            with Gallery.open(where, key=key) as gallery:
                for i in range(start, 24, 3):
                    gallery.enrol(f"person {i}", X[i, :2], digests=[digest(i, j) for j in (0, 1)])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with Gallery.open(where, key=key) as gallery:
        assert (len(gallery), len(gallery.faces())) == (24, 48)
        assert gallery.check() == []


KILLED = """
import sys
sys.path.insert(0, sys.argv[3])
from gallery_people import draw_people, digest
from mien.gallery import Gallery
X = draw_people(40, 4, seed=13)
with Gallery.open(sys.argv[1], key=bytes.fromhex(sys.argv[2]) or None) as gallery:
    for i in range(40):
        gallery.enrol(f"person {i}", X[i, :2], digests=[digest(i, j) for j in (0, 1)])
        print(i, flush=True)
"""


def test_a_process_killed_while_it_writes(store: Store, verifier: Verifier) -> None:
    place, key = store
    where = place()
    Gallery.create(where, verifier, key=key).close()
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, where, (key or b"").hex(), str(Path(__file__).parent)],
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            confirmed = int(line)
            if confirmed == 3:
                os.kill(process.pid, signal.SIGKILL)
    with Gallery.open(where, key=key) as gallery:
        assert gallery.check() == []
        names = {person.name: person.templates for person in gallery.people()}
        assert all(names[f"person {i}"] == 2 for i in range(confirmed + 1))
        assert set(names.values()) == {2}
        gallery.enrol("person 39", X[39, :2], digests=[digest(39, j) for j in (0, 1)])


# PostgreSQL alone.


def _address(server: PostgresServer, name: str) -> str:
    return f"{server.address}&gallery={name}"


def test_two_galleries_of_one_database_do_not_see_each_other(
    server: PostgresServer, verifier: Verifier
) -> None:
    import psycopg

    with (
        Gallery.create(_address(server, "one"), verifier) as one,
        Gallery.create(_address(server, "two"), verifier) as two,
    ):
        fill(one, X[:20, :2])
        fill(two, X[20:25, :2], first=20)
        for search in ("exact", "approximate"):
            found = two.identify(X[:25, 3], search=search, top=40)
            seen = {name for one_found in found for name, _ in one_found.candidates}
            assert seen <= {f"person {i}" for i in range(20, 25)}
            assert found[22].person == "person 22"
        connection = two._store.connection
        # Whatever a statement says, rows of another gallery are not reached.
        ((n,),) = connection.execute("SELECT count(*) FROM mien.template").fetchall()
        assert n == 10
        assert (
            connection.execute("DELETE FROM mien.person WHERE tenant > 0 AND id > 5").rowcount == 0
        )
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO mien.usage (person, day, tenant) VALUES (1, 1, 0)")
        assert one.check() == two.check() == []


@pytest.fixture
def fresh(server: PostgresServer) -> str:
    """Address of a new, empty database of the server, for one test."""
    import psycopg

    name = f"fresh_{uuid4().hex}"
    with psycopg.connect(server.address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.address.replace("/postgres?", f"/{name}?")


def test_older_tables_are_brought_up_to_date(
    fresh: str, verifier: Verifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    where = f"{fresh}&gallery=old"
    with monkeypatch.context() as older:
        older.setattr(_postgres_schema, "VERSION", 1)
        with Gallery.create(where, verifier) as gallery:
            fill(gallery, X[:10, :2])
            gallery.identify(X[:1, 3], search="approximate")
    with Gallery.open(where) as gallery, psycopg.connect(fresh) as connection:
        versions = connection.execute("SELECT number FROM mien.version ORDER BY 1").fetchall()
        assert versions == [(1,), (2,)]
        found = gallery.identify(X[:10, 3], search="approximate")
        assert [one.person for one in found] == [f"person {i}" for i in range(10)]
        assert gallery.check() == []
        connection.execute("INSERT INTO mien.version (number) VALUES (3)")
        connection.commit()
        with pytest.raises(GalleryFormatError, match="upgrade mien"):
            Gallery.open(where)
        connection.execute("DELETE FROM mien.version WHERE number = 3")


@pytest.mark.parametrize("shared", [False, True], ids=["alone", "shared"])
def test_the_graph_of_many_people_is_built_at_the_end(
    fresh: str, verifier: Verifier, monkeypatch: pytest.MonkeyPatch, shared: bool
) -> None:
    """Without others in the partition it is dropped and built anew; with others it is kept."""
    import psycopg

    monkeypatch.setattr(_postgres_candidates, "_MANY", 10)
    if shared:
        monkeypatch.setattr(_postgres_candidates, "_is_alone", lambda *_: False)
    with Gallery.create(f"{fresh}&gallery=many-{shared}", verifier) as gallery:
        fill(gallery, X[:30, :2])
        found = gallery.identify(X[:30, 3], search="approximate", top=5)
        assert [one.person for one in found] == [f"person {i}" for i in range(30)]
        fill(gallery, X[30:, :2], first=30)
        found = gallery.identify(X[:, 3], search="approximate")
        assert [one.person for one in found] == [f"person {i}" for i in range(40)]
        # A new model: everybody anew.
        gallery.set_model(make_verifier(seed=5))
        found = gallery.identify(X[:, 3], search="approximate")
        assert [one.person for one in found] == [f"person {i}" for i in range(40)]
        assert gallery.check() == []
    with psycopg.connect(fresh) as connection:
        ((n,),) = connection.execute(
            "SELECT count(*) FROM pg_indexes WHERE indexname LIKE 'candidate%graph'"
        ).fetchall()
        assert n == 8


def test_the_database_is_restarted(server: PostgresServer, verifier: Verifier) -> None:
    where = _address(server, "restarted")
    with Gallery.create(where, verifier) as gallery:
        fill(gallery, X[:5, :2])
        for kill in (False, True):
            server.stop(kill=kill)
            server.start()
            assert gallery.identify(X[:1, 3])[0].person == "person 0"
            server.stop()
            starter = threading.Timer(0.3, server.start)
            starter.start()
            # A change waits for the server, and is made once.
            gallery.enrol(f"new {kill}", X[30 + kill, :1])
            starter.join()
        assert len(gallery) == 7
        assert gallery.check() == []


def test_conflicts_are_tried_again(server: PostgresServer, verifier: Verifier) -> None:
    """What the database refuses through nobody's fault is made again, once."""
    tried: list[str] = []

    def change(store: RowStore, code: str) -> None:
        with store.writing() as revision:
            store.record(f"change {code}", revision, None, 0, 0)
            tried.append(code)
            if tried.count(code) < 3:
                store.execute(f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}'; END $$")

    with Gallery.create(_address(server, "conflicts"), verifier) as gallery:
        store = gallery._store
        assert isinstance(store, RowStore)
        for code in ("40001", "40P01"):  # serialisation, deadlock
            store.run(change, code)
            assert tried.count(code) == 3
        assert [e.action for e in gallery.audit()] == ["create", "change 40001", "change 40P01"]
        with pytest.raises(GalleryError, match="nothing was changed"):
            store.run(change, "22000")
        assert tried.count("22000") == 1
        assert gallery.check() == []


def test_a_change_whose_confirmation_was_lost_is_made_once(
    server: PostgresServer, verifier: Verifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection ends before or after the commit: the store asks what became of it."""
    with Gallery.create(_address(server, "lost"), verifier) as gallery:
        store = gallery._store
        for n, commits in enumerate((True, False)):
            connection = store.connection

            class Losing:
                def __init__(self, real: object, commits: bool) -> None:
                    self.real, self.commits = real, commits

                def __getattr__(self, name: str) -> object:
                    return getattr(self.real, name)

                def execute(self, statement: str, *given: object) -> object:
                    if statement == "COMMIT":
                        import psycopg

                        if self.commits:
                            self.real.execute("COMMIT")  # type: ignore[attr-defined]
                        self.real.close()  # type: ignore[attr-defined]
                        raise psycopg.OperationalError("the connection was lost")
                    return self.real.execute(statement, *given)  # type: ignore[attr-defined]

            store.connection = Losing(connection, commits)
            gallery.enrol(f"person {n}", X[n, :2], digests=[digest(n, j) for j in (0, 1)])
            assert len(gallery) == n + 1
        assert [e.action for e in gallery.audit()] == ["create", "enrol", "enrol"]
        assert gallery.check() == []


@pytest.mark.parametrize("key", [None, b"k" * 32], ids=["plain", "sealed"])
def test_nothing_is_left_in_the_tables(
    server: PostgresServer, verifier: Verifier, key: bytes | None
) -> None:
    """Of tables and indexes; the log of changes (WAL) keeps what was not sealed: see the docs."""
    secret = "Wilhelmina Quartermaine" if key is None else "Theodora Blackthorne"
    # A face that no other test puts into this database.
    Y = draw_people(1, 3, seed=90 + (key is None))[0]
    names = [digest("secret", key, i) for i in range(3)]
    where = _address(server, f"bytes{key is None}")
    picture = b"\xff\xd8\xff" + os.urandom(3_000)
    with Gallery.create(where, verifier, key=key) as gallery:
        gallery.set_policy(thumbnails=True)
        fill(gallery, X[1:40, :3])
        gallery.enrol(secret, Y, digests=names, sources=[f"{secret}/1.jpg"] * 3,
                      thumbnails=[picture] * 3)  # fmt: skip
        gallery.identify(Y, search="approximate")
        gallery.remove_face(gallery.faces(secret)[0].id)
        traces = [secret.encode(), picture[500:540], secret.encode().hex().encode()]
        for i, one in enumerate(names):
            traces += [Y[i].tobytes()[:12], bytes.fromhex(one), one.encode()]
        _checkpoint(server)
        held = _find(server, "base", traces)
        assert (secret.encode() in held) == (key is None)
        assert bytes.fromhex(names[0]) in held
        gallery.delete(secret)
        gallery.identify(Y, search="approximate")
        _checkpoint(server)
        assert _find(server, "base", traces) == set()
        if key is not None:
            # What the log keeps of the person is sealed with a key that is gone.
            assert _find(server, "pg_wal", [secret.encode(), picture[500:540]]) == set()
            assert _find(server, "pg_wal", [v.tobytes()[:12] for v in Y]) == set()
        assert gallery.check() == []


def _checkpoint(server: PostgresServer) -> None:
    import psycopg

    with psycopg.connect(server.address, autocommit=True) as connection:
        connection.execute("CHECKPOINT")


def _find(server: PostgresServer, folder: str, traces: list[bytes]) -> set[bytes]:
    found = set()
    for file in (server.data / folder).rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            found |= {trace for trace in traces if trace in content}
    return found


@pytest.mark.parametrize(
    ("text", "server", "name"),
    [
        ("postgresql://ann:pw@h:5433/db?gallery=x", "postgresql://ann:pw@h:5433/db", "x"),
        ("postgresql://h/db", "postgresql://h/db", "people"),
        ("postgres://h/db?sslmode=require", "postgres://h/db?sslmode=require", "people"),
        ("postgresql:///db?host=/run/pg", "postgresql:///db?host=/run/pg", "people"),
        ("postgresql://a@/db?host=/run/pg", "postgresql://a@/db?host=/run/pg", "people"),
    ],
)
def test_addresses(text: str, server: str, name: str) -> None:
    for given in (text, Path(text)):
        found = parse_address(given)
        assert found is not None
        assert (found.server, found.gallery) == (server, name)
        assert "pw" not in found.shown
    assert parse_address("people.gallery") is None
    with pytest.raises(InputError, match="a gallery's name"):
        parse_address("postgresql://h/db?gallery=../x")
    assert re.search("gallery=", found.shown)


def test_a_server_that_is_not_there_is_named() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(GalleryError, match="cannot be reached"):
        Gallery.open("postgresql://mien@127.0.0.1:1/db?gallery=x&password=hush", timeout=2)
    with pytest.raises(GalleryError) as raised:
        Gallery.create("postgresql://mien:hush@127.0.0.1:1/db", make_verifier(), timeout=2)
    assert "hush" not in str(raised.value)


def _rich(gallery: Gallery) -> None:
    """Something in every table."""
    gallery.set_policy(thumbnails=True)
    fill(gallery, X[:6, :3])
    gallery.set_thumbnail(gallery.faces("person 1")[0].id, b"\xff\xd8\xff picture")
    gallery.set_consent("person 1", Consent(1.0, "doors", "v1"))
    gallery.add_constraint("not-a-face", ("ab" * 32, 3))
    gallery.remove_face(gallery.faces("person 1")[0].id)
    gallery.merge("person 2", "person 3")
    gallery.rename("person 4", "Ann")


def _everything(gallery: Gallery) -> list[object]:
    return [gallery.people(), gallery.faces(), gallery.constraints(), gallery.history()]


def test_another_key_without_enrolling_again(store: Store, verifier: Verifier) -> None:
    place, key = store
    where, new = place(), b"n" * 32
    with Gallery.create(where, verifier, key=key) as gallery:
        _rich(gallery)
        before = _everything(gallery)
        if key is None:
            with pytest.raises(InputError, match="not sealed"):
                gallery.change_key(new)
            return
        old = gallery._store.seal_text()
        gallery.change_key(new)
        assert _everything(gallery) == before
        assert gallery.check() == []
        assert gallery._store.seal_text() != old
    with pytest.raises(GalleryKeyError):
        Gallery.open(where, key=key)
    with Gallery.open(where, key=new) as gallery:
        assert gallery.check() == []
        assert gallery.identify(X[:1, 3])[0].person == "person 0"
        gallery.undo()
        gallery.undo()
        assert {"person 2", "person 4"} <= {person.name for person in gallery.people()}
        gallery.enrol("new", X[8, :2])
        assert gallery.check() == []


def test_rows_that_a_backup_kept_are_unreadable_once_the_data_key_is_deleted(
    store: Store, verifier: Verifier
) -> None:
    """Even to whoever has the gallery's key: each person has a data key of their own."""
    place, key = store
    if key is None:
        return
    with Gallery.create(place(), verifier, key=key) as gallery:
        fill(gallery, X[:5, :2])
        rows = gallery._store
        kept = rows.query("SELECT person, digest, face, vector FROM template ORDER BY person")
        kept = [(a, bytes(b), c, bytes(d)) for a, b, c, d in kept]
        with_key = {person for (person,) in rows.query("SELECT person FROM person_key")}
        assert len(rows.codec.show_vectors(kept)) == 10
        number = next(p for p, name in rows.query("SELECT id, name FROM person ORDER BY id")
                      if rows.codec.show_name(bytes(name), p) == "person 1")  # fmt: skip
        gallery.delete("person 1")
        left = {person for (person,) in rows.query("SELECT person FROM person_key")}
        assert left == with_key - {number}
        theirs = [row for row in kept if row[0] == number]
        assert len(theirs) == 2
        with pytest.raises(GalleryDamagedError, match="has no key any more"):
            rows.codec.show_vectors(theirs)
        # Nobody else's key opens them either.
        for other in left:
            with pytest.raises(GalleryDamagedError):
                rows.codec.show_vectors([(other, *row[1:]) for row in theirs])


@pytest.mark.parametrize("target_key", [None, b"t" * 32], ids=["to plain", "to sealed"])
def test_a_gallery_is_moved_with_everything(
    store: Store, verifier: Verifier, target_key: bytes | None, tmp_path: Path
) -> None:
    place, key = store
    where = place()
    with Gallery.create(where, verifier, key=key) as gallery:
        _rich(gallery)
        before = _everything(gallery)
        trail = gallery.audit()
    kinds = [str(tmp_path / "moved.gallery")]
    if where.startswith("postgresql"):
        kinds.append(place())
    for target in kinds:
        n = move_gallery(where, target, key=key, target_key=target_key)
        assert n > 20
        with Gallery.open(target, key=target_key) as moved:
            assert _everything(moved) == before
            assert moved.audit()[:-1] == trail
            assert moved.check() == []
            assert moved.identify(X[:1, 3])[0].person == "person 0"
            moved.undo()
            moved.undo()
            moved.undo()
            assert {"person 2", "person 4"} <= {person.name for person in moved.people()}
            assert len(moved.faces("person 1")) == 3
            assert moved.check() == []
        with pytest.raises(GalleryError, match="already exists"):
            move_gallery(where, target, key=key, target_key=target_key)


def test_who_is_due_for_purging(store: Store, verifier: Verifier) -> None:
    place, key = store
    now = 1e9
    with Gallery.create(place(), verifier, key=key) as gallery:
        fill(gallery, X[:4, :2])
        assert gallery.due(now) == []
        gallery.set_retention("person 1", now - 1)
        gallery.set_consent("person 2", Consent(1.0, "doors", "v1", until=now - 1))
        assert [person.name for person in gallery.due(now)] == ["person 1"]
        for name in ("person 0", "person 1", "person 3"):
            gallery.set_consent(name, Consent(1.0, "doors", "v1"))
        gallery.set_policy(consent=True)
        assert [person.name for person in gallery.due(now)] == ["person 1", "person 2"]
        gallery.set_policy(consent=False, retain_days=30)
        later = time.time() + 40 * 86_400
        assert len(gallery.due(later)) == 4
        assert [person.name for person in gallery.due()] == ["person 1"]
        gallery.identify(X[[3], 3])
        (used,) = [person.used for person in gallery.people() if person.name == "person 3"]
        assert used is not None
        assert abs(used - time.time()) < 2 * 86_400
