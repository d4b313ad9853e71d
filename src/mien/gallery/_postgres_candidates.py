"""Candidates of a probe by pgvector's graph, and keeping its table up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mien._core.progress import report
from mien._core.validation import require_module
from mien.gallery._approximate import Directions
from mien.gallery._postgres_schema import DIRECTIONS, GRAPH, ROLE, find_partition
from mien.gallery._protocol import PeopleBatch

if TYPE_CHECKING:
    from mien.gallery._postgres_store import PostgresStore

__all__ = ["SharedIndex", "follow"]

_SEARCH_WIDTH = 400
# From so many people on the graph is built at the end, which takes a fraction of the time.
_MANY = 5_000
# Bytes of the graph per person while it is built; more memory than this is not asked for.
_BYTES, _MOST_MEMORY = 1_200, 2**31


class SharedIndex:
    """Candidates of probes by pgvector's graph, under the filter of the gallery."""

    def __init__(self, store: PostgresStore, directions: Directions) -> None:
        self._store = store
        self._directions = directions

    def candidates(self, X: np.ndarray, depth: int) -> list[np.ndarray]:
        """Numbers of the likely best people of each probe X (n, d)."""
        found = []
        store = self._store
        with store.reading():
            store.execute(f"SET LOCAL hnsw.ef_search = {max(_SEARCH_WIDTH, depth)}")
            store.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
            for row in _places(store, self._directions, X):
                people = store.query(
                    "SELECT person FROM candidate ORDER BY place <#> ?::halfvec LIMIT ?",
                    (_text(row), depth),
                )
                found.append(np.asarray([number for (number,) in people], dtype=np.int64))
        return found


def _places(store: PostgresStore, directions: Directions, X: np.ndarray) -> np.ndarray:
    rows = directions.rows(X)
    return rows if store.rotation is None else store.rotation.turn_places(rows)


def _text(row: np.ndarray) -> str:
    # As text: one representation that every version of pgvector reads.
    row = np.pad(row, (0, DIRECTIONS - len(row)))
    return "[" + ",".join([f"{value:.5g}" for value in row.tolist()]) + "]"


def follow(store: PostgresStore, directions: Directions, mark: str) -> None:
    """Bring the table of candidates up to date; one transaction."""
    with store.writing() as revision:
        held, _, seen = (store.index_state() or " -1").partition(" ")
        if held == mark:
            for number in store.gone_since(int(seen)):
                store.execute("DELETE FROM candidate WHERE person = ?", (number,))
            for batch in list(store.people_batches(after=int(seen))):
                ids = batch.ids.tolist()
                store.execute("DELETE FROM candidate WHERE person = ANY(?)", (ids,))
                _put(store, directions, batch)
        else:
            _fill(store, directions)
        store.set_meta("index", f"{mark} {revision}")


def _fill(store: PostgresStore, directions: Directions) -> None:
    """Everybody anew; the graph at the end if nobody else needs it meanwhile."""
    n, done = store.count_people(), 0
    table = f"mien.candidate_{find_partition(store.connection, store.tenant)}"
    alone = n >= _MANY and _is_alone(store.connection, table, store.tenant)
    if alone:
        _as_owner(store, f"TRUNCATE {table}", f"DROP INDEX IF EXISTS {table}_graph")
    else:
        store.execute("DELETE FROM candidate")
    for batch in store.people_batches():
        _put(store, directions, batch)
        done += len(batch.ids)
        report("indexing people", done, n)
    if alone:
        _build_graph(store, table, n)


def _is_alone(connection: Any, table: str, tenant: int) -> bool:
    """Whether we may change a partition, and no other gallery has candidates in it."""
    ((owner,),) = connection.execute(
        "SELECT pg_has_role(session_user, relowner, 'USAGE') FROM pg_class "
        "WHERE oid = %s::regclass",
        (table,),
    ).fetchall()
    if not owner:
        return False
    others = connection.execute("SELECT id FROM mien.gallery WHERE id != %s", (tenant,)).fetchall()
    try:
        for (other,) in others:
            if find_partition(connection, other) == int(table[-1]):
                connection.execute("SELECT set_config('mien.tenant', %s, false)", (str(other),))
                if connection.execute("SELECT 1 FROM candidate LIMIT 1").fetchall():
                    return False
    finally:
        connection.execute("SELECT set_config('mien.tenant', %s, false)", (str(tenant),))
    return True


def _as_owner(store: PostgresStore, *statements: str) -> None:
    store.execute("RESET ROLE")
    for statement in statements:
        store.execute(statement)
    store.execute(f"SET ROLE {ROLE}")


def _build_graph(store: PostgresStore, table: str, n: int) -> None:
    """Build it at once; without helpers where the server has no memory to share with them."""
    psycopg = require_module("psycopg", "postgresql", "a gallery in PostgreSQL")
    memory = min(_MOST_MEMORY, n * _BYTES) // 1024
    ((held,),) = store.query(
        "SELECT setting::bigint FROM pg_settings WHERE name = 'maintenance_work_mem'"
    )
    build = f"CREATE INDEX {table.partition('.')[2]}_graph ON {table} USING {GRAPH}"
    settings = f"SET LOCAL maintenance_work_mem = {max(memory, held)}"
    store.execute("SAVEPOINT graph")
    try:
        _as_owner(store, settings, build)
    except psycopg.OperationalError:
        if store.connection.closed or store.connection.broken:
            raise
        store.execute("ROLLBACK TO SAVEPOINT graph")
        _as_owner(store, settings, "SET LOCAL max_parallel_maintenance_workers = 0", build)
    _as_owner(store, f"ANALYZE {table}")


def _put(store: PostgresStore, directions: Directions, batch: PeopleBatch) -> None:
    rows = _places(store, directions, batch.sums / batch.counts[:, None].astype(np.float32))
    with store.connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE IF NOT EXISTS new_candidate (person bigint, place text)")
        with cursor.copy("COPY new_candidate FROM STDIN") as copy:
            for number, row in zip(batch.ids.tolist(), rows, strict=True):
                copy.write_row((number, _text(row)))
        cursor.execute(
            "INSERT INTO candidate (person, place) SELECT person, place::halfvec FROM new_candidate"
        )
        cursor.execute("TRUNCATE new_candidate")
