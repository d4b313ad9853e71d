"""Tables of galleries in a PostgreSQL database, and bringing them up to date; one version table.

Every row belongs to a gallery (``tenant``), which is filled in and filtered by row-level security
from the setting ``mien.tenant`` of the connection: statements need not name it, and cannot reach
another gallery. Large tables are hash partitions by gallery.
"""

from __future__ import annotations

from typing import Any

from mien._core.validation import require_module
from mien.errors import GalleryError, GalleryFormatError
from mien.gallery._approximate import DIRECTIONS

__all__ = ["DIRECTIONS", "GRAPH", "ROLE", "TENANT_TABLES", "VERSION", "find_partition", "migrate"]

#: Of the tables in a database; grows by one entry of ``_STEPS``.
VERSION = 2
#: Without rights of its own: galleries are read and written in this role, so that row-level
#: security also binds whoever is exempt from it.
ROLE = "mien_gallery"
_PARTITIONS = 8
#: Of the graph over candidates.
GRAPH = "hnsw (place halfvec_ip_ops) WITH (m = 16, ef_construction = 64)"
_LOCK = 0x6D69656E

_TENANT = "tenant bigint NOT NULL DEFAULT current_setting('mien.tenant')::bigint"
#: Columns, primary key without the tenant, other unique columns, whether it is partitioned.
_TABLES: dict[str, tuple[str, str, str, bool]] = {
    "meta": ('key text NOT NULL, value bytea NOT NULL, "check" bytea', "key", "", False),
    "person": (
        "id bigint NOT NULL, tag bytea NOT NULL, name bytea NOT NULL, "
        "added double precision NOT NULL, revision bigint NOT NULL, hidden bigint NOT NULL, "
        'consent bytea, retain_until double precision, "check" bytea',
        "id",
        "tag",
        True,
    ),
    "person_key": (
        'person bigint NOT NULL, wrapped bytea NOT NULL, "check" bytea', "person", "", True
    ),
    "template": (
        "person bigint NOT NULL, digest bytea NOT NULL, face bigint NOT NULL, "
        "vector bytea NOT NULL, source bytea, quality double precision, "
        'added double precision NOT NULL, revision bigint NOT NULL, "check" bytea',
        "digest, face",
        "",
        True,
    ),
    "thumbnail": (
        "person bigint NOT NULL, digest bytea NOT NULL, face bigint NOT NULL, "
        'content bytea NOT NULL, "check" bytea',
        "digest, face",
        "",
        True,
    ),
    "removed": (
        "change bigint NOT NULL, person bigint NOT NULL, digest bytea NOT NULL, "
        "face bigint NOT NULL, vector bytea NOT NULL, source bytea, quality double precision, "
        "added double precision NOT NULL, revision bigint NOT NULL, thumbnail bytea, "
        '"check" bytea',
        "change, digest, face",
        "",
        False,
    ),
    "link": (
        "id bigint NOT NULL, kind text NOT NULL, digest bytea NOT NULL, face bigint NOT NULL, "
        "other bytea, other_face bigint, person bigint, added double precision NOT NULL, "
        '"check" bytea',
        "id",
        "",
        False,
    ),
    "change": (
        "id bigint NOT NULL, time double precision NOT NULL, action text NOT NULL, "
        "people bigint NOT NULL, faces bigint NOT NULL, content bytea NOT NULL, "
        'undone double precision, "check" bytea',
        "id",
        "",
        False,
    ),
    "usage": ('person bigint NOT NULL, day bigint NOT NULL, "check" bytea', "person", "", False),
    "audit": (
        "id bigint NOT NULL, time double precision NOT NULL, action text NOT NULL, "
        "person bigint, people bigint NOT NULL, templates bigint NOT NULL, "
        'revision bigint NOT NULL, "check" bytea',
        "id",
        "",
        False,
    ),
    "candidate": (
        f"person bigint NOT NULL, place halfvec({DIRECTIONS}) NOT NULL", "person", "", True
    ),
}  # fmt: skip
#: Tables whose rows belong to a gallery.
TENANT_TABLES = tuple(_TABLES)
_INDEXES = (
    "CREATE INDEX person_revision ON mien.person (tenant, revision)",
    "CREATE INDEX template_person ON mien.template (tenant, person)",
    "CREATE INDEX template_revision ON mien.template (tenant, revision)",
    "CREATE INDEX link_face ON mien.link (tenant, digest, face)",
    "CREATE INDEX audit_revision ON mien.audit (tenant, revision)",
    f"CREATE INDEX candidate_place ON mien.candidate USING {GRAPH}",
)


def _first_step() -> list[str]:
    statements = [
        "CREATE EXTENSION IF NOT EXISTS vector",
        "CREATE TABLE mien.gallery (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
        "name text NOT NULL UNIQUE)",
    ]
    for name, (columns, key, unique, parted) in _TABLES.items():
        keys = f"PRIMARY KEY (tenant, {key})"
        if unique:
            keys += f", UNIQUE (tenant, {unique})"
        made = f"CREATE TABLE mien.{name} ({columns}, {_TENANT}, {keys})"
        statements.append(made + (" PARTITION BY HASH (tenant)" if parted else ""))
        if parted:
            statements += [
                f"CREATE TABLE mien.{name}_{i} PARTITION OF mien.{name} "
                f"FOR VALUES WITH (MODULUS {_PARTITIONS}, REMAINDER {i})"
                for i in range(_PARTITIONS)
            ]
        statements += [
            f"ALTER TABLE mien.{name} ENABLE ROW LEVEL SECURITY",
            f"ALTER TABLE mien.{name} FORCE ROW LEVEL SECURITY",
            f"CREATE POLICY own ON mien.{name} "
            "USING (tenant = current_setting('mien.tenant')::bigint)",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON mien.{name} TO {ROLE}",
        ]
    return [*statements, *_INDEXES, f"GRANT SELECT, INSERT, UPDATE ON mien.gallery TO {ROLE}"]


def _second_step() -> list[str]:
    """A graph per partition that can be dropped and built anew without the others."""
    return ["DROP INDEX mien.candidate_place"] + [
        f"CREATE INDEX candidate_{i}_graph ON mien.candidate_{i} USING {GRAPH}"
        for i in range(_PARTITIONS)
    ]


_STEPS = {1: _first_step, 2: _second_step}


def find_partition(connection: Any, tenant: int) -> int:
    """Number of the partitions that hold the rows of a gallery."""
    rows = connection.execute(
        "SELECT i FROM generate_series(0, %s) i WHERE satisfies_hash_partition("
        "'mien.candidate'::regclass, %s, i, %s::bigint)",
        (_PARTITIONS - 1, _PARTITIONS, tenant),
    ).fetchall()
    return int(rows[0][0])


def migrate(connection: Any, where: str) -> None:
    """Bring the tables of a database up to date; of several servers one does it."""
    psycopg = require_module("psycopg", "postgresql", "a gallery in PostgreSQL")
    number = connection.info.server_version
    if number < 150_000:
        raise GalleryError(f"{where} runs PostgreSQL {number // 10_000}: at least 15 is needed")
    if _version(connection) == VERSION:
        return
    try:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            connection.execute("CREATE SCHEMA IF NOT EXISTS mien")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS mien.version "
                "(number int PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())"
            )
            if not connection.execute(
                "SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)
            ).fetchall():
                connection.execute(f"CREATE ROLE {ROLE} NOLOGIN")
                connection.execute(f"GRANT {ROLE} TO CURRENT_USER")
            connection.execute(f"GRANT USAGE ON SCHEMA mien TO {ROLE}")
            for step in range(_version(connection) + 1, VERSION + 1):
                for statement in _STEPS[step]():
                    connection.execute(statement)
                connection.execute("INSERT INTO mien.version (number) VALUES (%s)", (step,))
    except psycopg.Error as error:
        raise GalleryError(
            f"the tables of {where} could not be made ({str(error).splitlines()[0]}); nothing was "
            "changed. It takes a user who may create a schema and a role, and pgvector 0.8 or newer"
        ) from error
    if _version(connection) > VERSION:
        raise GalleryFormatError(
            f"{where} has tables of version {_version(connection)}, and this mien knows up to "
            f"{VERSION}: upgrade mien"
        )


def _version(connection: Any) -> int:
    if connection.execute("SELECT to_regclass('mien.version')").fetchone()[0] is None:
        return 0
    return int(
        connection.execute("SELECT coalesce(max(number), 0) FROM mien.version").fetchone()[0]
    )
