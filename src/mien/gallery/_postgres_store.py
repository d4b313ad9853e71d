"""A gallery in a PostgreSQL database that several servers share; alone knows ``psycopg``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mien._core.validation import require_module
from mien.errors import (
    GalleryBusyError,
    GalleryDamagedError,
    GalleryError,
    MissingDataError,
)
from mien.gallery._addresses import DatabaseAddress
from mien.gallery._approximate import Directions
from mien.gallery._person_keys import PersonKeys
from mien.gallery._postgres_candidates import SharedIndex, follow
from mien.gallery._postgres_schema import ROLE, TENANT_TABLES, find_partition, migrate
from mien.gallery._protocol import Removed
from mien.gallery._row_codec import RowCodec, seal_identity
from mien.gallery._row_faults import MOST_FAULTS, find_row_faults
from mien.gallery._row_store import RowStore
from mien.gallery._sealing import Sealer, given_key, open_seal
from mien.gallery._sqlite_store import new_settings

if TYPE_CHECKING:
    from mien.verification import Scorer

__all__ = ["PostgresStore"]

T = TypeVar("T")
# Rows are given back in one vacuum up to this size; larger tables are left to the operator.
_MOST_REWRITTEN = 512 * 2**20
_ATTEMPTS = 8


def _psycopg() -> Any:
    return require_module("psycopg", "postgresql", "a gallery in PostgreSQL")


def _pack(value: Any) -> bytes:
    if type(value) is int:
        return b"i%d" % value
    if type(value) is str:
        return b"s" + value.encode("utf-8")
    if type(value) is bytes:
        return b"b" + value
    raise RuntimeError("a setting is a number, a text or bytes")


def _unpack(stored: bytes) -> Any:
    kind, rest = stored[:1], stored[1:]
    if kind == b"i":
        return int(rest)
    return rest.decode("utf-8") if kind == b"s" else rest


class _Unknown(Exception):
    """The connection was lost while a change was confirmed."""


class PostgresStore(RowStore):
    """One gallery of a database.

    Parameters
    ----------
    address : DatabaseAddress
        The server and the name of the gallery.
    key : bytes, str or None
        Of a sealed one.
    read_only : bool
        Change nothing.
    timeout : float
        How long to wait for the server and for other writers, in seconds.

    Notes
    -----
    A change locks its gallery's row, so that changes of one gallery come one after another,
    whichever server makes them. A connection that is lost is made again; a change is repeated
    unless it is known to have been confirmed.
    """

    def __init__(
        self,
        address: DatabaseAddress,
        key: bytes | str | None,
        *,
        read_only: bool,
        timeout: float,
    ) -> None:
        super().__init__()
        self.address = address
        self.where = address.shown
        self.path = Path(address.shown)
        self.read_only = read_only
        self.timeout = timeout
        self.closed = False
        self._depth = 0
        self._directions: tuple[str, Directions] | None = None
        self.connection: Any = None
        try:
            self._connect()
            self.unlock(key)
            self.check_settings()
        except BaseException:
            self.close()
            raise

    # ------------------------------------------------------------------------ making

    @staticmethod
    def make(
        address: DatabaseAddress,
        features: str,
        dimension: int,
        model: bytes,
        key: bytes | str | None,
        seal_names: bool,
        timeout: float,
    ) -> None:
        """Make an empty gallery in the database, and its tables if they are not there."""
        psycopg = _psycopg()
        codec, meta = new_settings(address.shown, features, dimension, model, key, seal_names)
        with _translating(address.shown, "the gallery was not made"):
            connection = _open(address, timeout)
            try:
                migrate(connection, address.shown)
                with connection.transaction():
                    try:
                        ((tenant,),) = connection.execute(
                            "INSERT INTO mien.gallery (name) VALUES (%s) RETURNING id",
                            (address.gallery,),
                        ).fetchall()
                    except psycopg.errors.UniqueViolation as error:
                        raise GalleryError(
                            f"{address.shown} already exists: open it, or choose another name"
                        ) from error
                    _enter(connection, tenant)
                    with connection.cursor() as cursor:
                        cursor.executemany(
                            'INSERT INTO meta (key, value, "check") VALUES (%s, %s, %s)',
                            [
                                (k, _pack(v), codec.check_row(b"meta", k, v))
                                for k, v in meta.items()
                            ],
                        )
            finally:
                connection.close()

    @staticmethod
    def exists(address: DatabaseAddress, timeout: float = 30.0) -> bool:
        """Whether the database has a gallery of this name."""
        with _translating(address.shown):
            connection = _open(address, timeout)
            try:
                if connection.execute("SELECT to_regclass('mien.gallery')").fetchone()[0] is None:
                    return False
                found = connection.execute(
                    "SELECT 1 FROM mien.gallery WHERE name = %s", (address.gallery,)
                ).fetchall()
                return bool(found)
            finally:
                connection.close()

    @staticmethod
    def remove(address: DatabaseAddress, timeout: float = 30.0) -> None:
        """Delete a gallery with everybody in it."""
        with _translating(address.shown):
            connection = _open(address, timeout)
            try:
                with connection.transaction():
                    ((tenant,),) = connection.execute(
                        "SELECT id FROM mien.gallery WHERE name = %s FOR UPDATE",
                        (address.gallery,),
                    ).fetchall()
                    _enter(connection, tenant)
                    for table in TENANT_TABLES:
                        connection.execute(f"DELETE FROM {table}")
                    connection.execute("RESET ROLE")
                    connection.execute("DELETE FROM mien.gallery WHERE id = %s", (tenant,))
                _vacuum(connection, None)
            finally:
                connection.close()

    def _connect(self) -> None:
        with _translating(self.where):
            self.connection = _open(self.address, self.timeout)
            if self.connection.execute("SELECT to_regclass('mien.gallery')").fetchone()[0] is None:
                raise MissingDataError(f"no gallery at {self.where}: the database has none")
            if not self.read_only:
                migrate(self.connection, self.where)
            rows = self.connection.execute(
                "SELECT id FROM mien.gallery WHERE name = %s", (self.address.gallery,)
            ).fetchall()
            if not rows:
                raise MissingDataError(f"no gallery at {self.where}")
            self.tenant = int(rows[0][0])
            _enter(self.connection, self.tenant)
            milliseconds = int(1000 * self.timeout)
            self.connection.execute(f"SET lock_timeout = {milliseconds}")
            # A plan made while a table was nearly empty must not be kept while it is filled.
            self.connection.execute("SET plan_cache_mode = force_custom_plan")
            self.connection.execute(f"SET idle_in_transaction_session_timeout = {milliseconds}")

    def unlock(self, key: bytes | str | None) -> None:
        """Become able to read rows: the settings are checked once the key is known."""
        raw: dict[str, Any] = {}
        for name in ("uuid", "features", "dimension", "seal_names", "seal"):
            found = self.raw_meta(name)
            raw[name] = None if found is None else found[0]
        kinds = {"uuid": str, "features": str, "dimension": int, "seal_names": int}
        for name, kind in kinds.items():
            if type(raw[name]) is not kind:
                raise self.corrupted(f"it does not say its {name}")
        sealer: Sealer | None = None
        keys: PersonKeys | None = None
        key = given_key(raw["seal"], key, self.where)
        if key is not None:
            identity = seal_identity(raw["features"], raw["uuid"])
            sealer = open_seal(key, str(raw["seal"]), identity, self.where)
            keys = PersonKeys(sealer, raw["uuid"].encode(), self.wrapped_keys, self.where)
        names = bool(raw["seal_names"])
        RowCodec.__init__(
            self, self.where, raw["features"], raw["dimension"], sealer, names, raw["uuid"], keys
        )

    def check_settings(self) -> None:
        """Refuse settings that were altered."""
        for name, value, check in self.query('SELECT key, value, "check" FROM meta'):
            self.require_row(check, b"meta", name, _unpack(value))
        if self.sealer is not None and self.meta("seal") is None:
            raise self.corrupted("its seal settings are missing")
        self.load_rotation()

    def close(self) -> None:
        """Let the connection go."""
        with self.lock:
            self.closed = True
            if self.connection is not None:
                self.connection.close()

    # ------------------------------------------------------------------------ statements

    def _alive(self) -> None:
        """Connect again if the server went away; not within a transaction."""
        if self.closed:
            raise GalleryError(f"{self.where} is closed")
        if not (self.connection.closed or self.connection.broken):
            return
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                self._connect()
                return
            except GalleryBusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Confirmed when the block ends well; changes of one gallery wait for each other."""
        with self.lock, _translating(self.where):
            self._alive()
            self.connection.execute("BEGIN")
            self._depth = 1
            try:
                # Who holds this row is the only one who changes the gallery.
                ((xid, _),) = self.connection.execute(
                    "SELECT pg_current_xact_id()::text, id FROM mien.gallery "
                    "WHERE id = %s FOR UPDATE",
                    (self.tenant,),
                ).fetchall() or [(None, None)]
                if xid is None:
                    raise MissingDataError(f"{self.where} was deleted")
                yield
                self._commit(xid)
            except BaseException:
                with suppress(Exception):
                    if not (self.connection.closed or self.connection.broken):
                        self.connection.execute("ROLLBACK")
                raise
            finally:
                self._depth = 0

    def _commit(self, xid: str) -> None:
        """Confirm; if the connection is lost meanwhile, ask the server what became of it."""
        psycopg = _psycopg()
        try:
            self.connection.execute("COMMIT")
            return
        except psycopg.OperationalError as error:
            if not (self.connection.closed or self.connection.broken):
                raise
            self._depth = 0
            self._alive()
            ((status,),) = self.connection.execute(
                "SELECT pg_xact_status(%s::xid8)", (xid,)
            ).fetchall()
            if status == "committed":
                return
            raise _Unknown from error

    def run(self, function: Callable[..., T], *values: Any) -> T:
        """Make a change; again, if the server went away or two changes were in each other's way."""
        psycopg = _psycopg()
        again = (
            psycopg.errors.SerializationFailure,
            psycopg.errors.DeadlockDetected,
            psycopg.errors.AdminShutdown,
            psycopg.errors.CrashShutdown,
        )
        for attempt in range(_ATTEMPTS):
            try:
                return function(self, *values)
            except (GalleryError, _Unknown) as error:
                cause = error if isinstance(error, _Unknown) else error.__cause__
                lost = self.connection.closed or self.connection.broken
                if self.closed or attempt == _ATTEMPTS - 1:
                    raise
                if not (lost or isinstance(cause, (_Unknown, *again))):
                    raise
                time.sleep(0.05 * 2**attempt)
        raise RuntimeError("unreachable")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read in the block is of one moment."""
        with self.lock, _translating(self.where):
            if self._depth:
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1
                return
            self._alive()
            self.connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            self._depth = 1
            try:
                yield
            finally:
                self._depth = 0
                with suppress(Exception):
                    self.connection.execute("ROLLBACK")

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a statement; outside of a transaction asked again if the server went away."""
        psycopg = _psycopg()
        text = statement.replace("?", "%s")
        with self.lock, _translating(self.where):
            if not self._depth:
                self._alive()
            try:
                return list(self.connection.execute(text, values or None).fetchall())
            except psycopg.OperationalError:
                if self._depth or not (self.connection.closed or self.connection.broken):
                    raise
                self._alive()
                return list(self.connection.execute(text, values or None).fetchall())

    def execute(self, statement: str, values: Sequence[Any] = ()) -> None:
        """A change, within a transaction."""
        self.connection.execute(statement.replace("?", "%s"), values or None)

    def execute_many(self, statement: str, values: Iterable[Sequence[Any]]) -> int:
        """The same change with many values; gives how many rows were changed."""
        rows = list(values)
        if not rows:
            return 0
        with self.connection.cursor() as cursor:
            if statement.startswith("INSERT INTO") and len(rows) > 50:
                return self._copy(cursor, statement, rows)
            cursor.executemany(statement.replace("?", "%s"), rows)
            return int(cursor.rowcount)

    def _copy(self, cursor: Any, statement: str, rows: list[Sequence[Any]]) -> int:
        """Many rows by way of a table of their own, which is quicker than one by one."""
        table = statement.split()[2]
        columns = [
            row[0]
            for row in cursor.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 "
                "AND NOT attisdropped AND attname != 'tenant' ORDER BY attnum",
                (f"mien.{table}",),
            ).fetchall()
        ]
        names = ", ".join(f'"{name}"' for name in columns)
        cursor.execute(
            f"CREATE TEMP TABLE IF NOT EXISTS new_{table} AS SELECT {names} FROM {table} LIMIT 0"
        )
        kinds = [
            row[0]
            for row in cursor.execute(
                "SELECT atttypid::regtype::text FROM pg_attribute WHERE attrelid = %s::regclass "
                "AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                (f"new_{table}",),
            ).fetchall()
        ]
        with cursor.copy(f"COPY new_{table} FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(kinds)
            for row in rows:
                copy.write_row(row)
        end = " ON CONFLICT DO NOTHING" if "ON CONFLICT" in statement else ""
        cursor.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM new_{table}{end}")
        count = int(cursor.rowcount)
        cursor.execute(f"TRUNCATE new_{table}")
        return count

    def fetch_in_parts(
        self, statement: str, values: Sequence[Any], size: int
    ) -> Iterator[list[Any]]:
        """Rows of a statement, some at a time."""
        with self.reading(), self.connection.cursor(name="mien_rows", binary=True) as cursor:
            cursor.execute(statement.replace("?", "%s"), values or None)
            while rows := cursor.fetchmany(size):
                yield rows

    def raw_meta(self, key: str) -> tuple[Any, Any] | None:
        """A setting and its checksum."""
        rows = self.query('SELECT value, "check" FROM meta WHERE key = ?', (key,))
        return (_unpack(rows[0][0]), rows[0][1]) if rows else None

    def put_meta(self, key: str, value: Any, check: bytes | None) -> None:
        """Write a setting; None deletes it."""
        if value is None:
            self.execute("DELETE FROM meta WHERE key = ?", (key,))
        else:
            self.execute(
                'INSERT INTO meta (key, value, "check") VALUES (?, ?, ?) ON CONFLICT (tenant, key) '
                'DO UPDATE SET value = excluded.value, "check" = excluded."check"',
                (key, _pack(value), check),
            )

    # ------------------------------------------------------------------------ candidates

    def index_key(self) -> bytes | None:
        """No index lies beside a database."""
        return None

    def forget_index(self, people: Iterable[int] | None) -> None:
        """What candidates tell about people goes at once; whoever is still there comes back."""
        if people is None:
            self.execute("DELETE FROM candidate")
            self.set_meta("index", None)
        else:
            self.execute("DELETE FROM candidate WHERE person = ANY(?)", (sorted(people),))

    def shared_index(self, scorer: Scorer, mark: str) -> SharedIndex | None:
        """The index of candidates in the database, brought up to date.

        A sealed gallery has none, because places of people in it would be templates in the clear;
        unless they are turned by a secret rotation.
        """
        if self.read_only or (self.sealed and not self.rotated):
            return None
        if self._directions is None or self._directions[0] != mark:
            self._directions = mark, Directions(scorer, self.dimension)
        state = f"{mark} {self.revision()}"
        if self.index_state() != state:
            self.run(follow, self._directions[1], mark)
        return SharedIndex(self, self._directions[1])

    # ------------------------------------------------------------------------ forgetting

    def needs_purge(self) -> bool:
        """Whether rows are to be given back; large tables are left to the operator."""
        if not super().needs_purge():
            return False
        part = str(find_partition(self.connection, self.tenant))
        return sum(size for _, size in _find_tables(self.connection, part)) <= _MOST_REWRITTEN

    def purge(self, removed: Removed | None) -> None:
        """Give freed rows back; the server writes tables anew as long as they are small."""
        if self.read_only:
            raise GalleryError(f"{self.where} was opened with read_only=True")
        with self.lock, _translating(self.where, "the change was made, but not cleaned up"):
            self._alive()
            part = str(find_partition(self.connection, self.tenant))
            self.connection.execute("RESET ROLE")
            try:
                done = _vacuum(self.connection, part, everything=removed is None)
            finally:
                _enter(self.connection, self.tenant)
        if done:
            self.run(_clear_purge)

    def find_faults(self) -> list[str]:
        """What is wrong, one sentence each."""
        faults: list[str] = []
        try:
            with self.reading():
                faults.extend(find_row_faults(self))
                ((orphans,),) = self.query(
                    "SELECT count(*) FROM template WHERE NOT EXISTS "
                    "(SELECT 1 FROM person WHERE person.id = template.person)"
                )
                if orphans:
                    faults.append(f"{orphans:,} rows of template belong to nobody")
                self.check_settings()
        except GalleryDamagedError as error:
            faults.append(str(error))
        return faults[:MOST_FAULTS]


def _clear_purge(store: PostgresStore) -> None:
    with store.writing():
        store.set_meta("purge", None)


def _open(address: DatabaseAddress, timeout: float) -> Any:
    psycopg = _psycopg()
    return psycopg.connect(
        address.server,
        autocommit=True,
        connect_timeout=max(2, min(int(timeout), 10)),
        application_name="mien",
    )


def _enter(connection: Any, tenant: int) -> None:
    """From here on only one gallery is seen."""
    connection.execute(f"SET ROLE {ROLE}")
    connection.execute("SET search_path = mien, public")
    connection.execute("SELECT set_config('mien.tenant', %s, false)", (str(tenant),))


def _find_tables(connection: Any, part: str | None) -> list[tuple[str, int]]:
    """Tables with rows of galleries, or of those in the partitions with a number; their bytes."""
    found = connection.execute(
        "SELECT c.relname, pg_total_relation_size(c.oid) FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'mien' "
        "AND c.relkind = 'r' AND c.relname NOT IN ('version', 'gallery')"
    ).fetchall()
    return [
        (name, size)
        for name, size in found
        if part is None or not name[-1].isdecimal() or name.endswith(f"_{part}")
    ]


def _vacuum(connection: Any, part: str | None, *, everything: bool = False) -> bool:
    """Rewrite the tables in which a gallery has rows, if they are small; whether they were.

    Tables of one gallery are the partitions with one number (``part``); None is all of them.
    """
    tables = _find_tables(connection, part)
    whole = everything or sum(size for _, size in tables) <= _MOST_REWRITTEN
    for name, _ in tables:
        connection.execute(f"VACUUM {'(FULL)' if whole else ''} mien.{name}")
    return bool(whole)


@contextmanager
def _translating(where: str, done: str = "nothing was changed") -> Iterator[None]:
    """Turn what the server says into an error that says what to do, and what was ``done``."""
    psycopg = _psycopg()
    try:
        yield
    except psycopg.errors.LockNotAvailable as error:
        raise GalleryBusyError(
            f"{where} is being changed by another process; {done}: try again"
        ) from error
    except psycopg.OperationalError as error:
        text = " ".join(str(error).split())
        raise GalleryBusyError(f"{where} cannot be reached ({text:.300}); {done}") from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise GalleryError(f"{where}: {str(error).splitlines()[0]}; {done}") from error
    except psycopg.Error as error:
        raise GalleryError(f"{where}: {str(error).splitlines()[0]}; {done}") from error
