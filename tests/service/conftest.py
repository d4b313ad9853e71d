"""A real server in a process of its own, with rendered people, for the tests of the service."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.service_server import PATIENCE, Server, encode, free_port, make_portraits
from tests.extras import skip_without

__all__ = ["PATIENCE", "PEOPLE", "Server", "encode", "free_port"]

collect_ignore = ["clients"]  # scripts for other interpreters
PEOPLE = ("Ann", "Bob", "Cleo")


@pytest.fixture(scope="session")
def portraits() -> dict[str, list[bytes]]:
    """Three pictures each of three people who do not exist."""
    made = make_portraits(3, 3)
    return {name: [encode(one) for one in made[k]] for k, name in enumerate(PEOPLE)}


@pytest.fixture(scope="session")
def group(portraits: dict[str, list[bytes]]) -> bytes:
    """Ann and Bob in one picture."""
    from PIL import Image

    both = [np.asarray(Image.open(io.BytesIO(portraits[name][2]))) for name in PEOPLE[:2]]
    return encode(np.hstack(both))


@pytest.fixture(scope="session")
def meadow() -> bytes:
    """A picture without a face."""
    return encode(np.full((90, 120, 3), 120, np.uint8))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    skip_without("service", "faces")
    started = Server(tmp_path_factory.mktemp("server"), free_port())
    started.start()
    yield started
    started.stop()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """A server that a test may kill."""
    skip_without("service", "faces")
    made = Server(tmp_path / "server", free_port())
    yield made
    made.stop(kill=True)
