"""Fixtures for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from benchmarks.postgres import PostgresServer
    from mien.verification import Verifier

_SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(autouse=True, scope="session")
def _own_state_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What mien keeps for a user, such as the key of indexes, is not the developer's own."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def data_home() -> Path:
    """The folder of real data: MIEN_DATA, or the one beside a developer's checkout."""
    home = Path(os.environ.get("MIEN_DATA", _SHARED))
    if not home.is_dir():
        pytest.skip("the real data are not here: set MIEN_DATA to their folder")
    return home


@pytest.fixture(scope="session")
def verifier() -> Verifier:
    """A small verifier of vectors (n, 8) of unit length; modules with their own override it."""
    import numpy as np

    from mien.verification import JointBayesian, Verifier

    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(60), 4)
    X = 3 * rng.standard_normal((60, 8))[people] + rng.standard_normal((240, 8))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    model = JointBayesian(features="drawn").fit(X[:120], people[:120])
    return Verifier(model, sizes=(1,), random_state=0).fit(X[120:], people[120:])


@pytest.fixture(scope="session")
def database() -> Iterator[PostgresServer]:
    """A PostgreSQL server for all tests of a process."""
    from benchmarks.postgres import PostgresServer, why_not

    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    started = PostgresServer(fsync="off", full_page_writes="off")
    yield started
    started.remove()
