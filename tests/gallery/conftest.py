"""Fixtures of this room; its tests import ``gallery_people``."""

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from gallery_people import make_verifier

from benchmarks.postgres import PostgresServer
from mien.gallery import Gallery
from mien.verification import Verifier

KEY = b"k" * 32


@pytest.fixture(scope="session")
def verifier() -> Verifier:
    return make_verifier()


@pytest.fixture
def gallery(tmp_path: Path, verifier: Verifier) -> Iterator[Gallery]:
    with Gallery.create(tmp_path / "people.gallery", verifier) as made:
        yield made


@pytest.fixture(scope="session")
def server(database: PostgresServer) -> PostgresServer:
    """A PostgreSQL server for all tests of a process."""
    return database


_numbers = itertools.count()


Place = tuple[Callable[[], str], bytes | None]


def find_place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """How to get the place of a new gallery in the store that was asked for, and its key."""
    kind, _, sealed = request.param.partition(" ")

    def place() -> str:
        number = next(_numbers)
        if kind == "sqlite":
            return str(tmp_path / f"people-{number}.gallery")
        return f"{request.getfixturevalue('server').address}&gallery=g{number}"

    if kind == "postgresql":
        request.getfixturevalue("server")
    return place, KEY if sealed else None


@pytest.fixture(params=["sqlite", "sqlite sealed", "postgresql", "postgresql sealed"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return find_place(request, tmp_path)


@pytest.fixture(params=["sqlite", "sqlite sealed", "postgresql"])
def some_store(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """For what does not depend on where values are sealed."""
    return find_place(request, tmp_path)
