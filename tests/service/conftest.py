"""A real server in a process of its own, with rendered people, for the tests of the service."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.extras import skip_without

collect_ignore = ["clients"]  # scripts for other interpreters
PEOPLE = ("Ann", "Bob", "Cleo")
_START_SECONDS = 120


def encode(image: np.ndarray, kind: str = "PNG") -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, kind)
    return buffer.getvalue()


@pytest.fixture(scope="session")
def portraits() -> dict[str, list[bytes]]:
    """Three pictures each of three people who do not exist."""
    from mien.datasets import make_faces

    faces = make_faces(3, 3, 96, colour=True, random_state=4)
    images = np.round(255 * faces.images).astype(np.uint8)
    padded = [np.pad(one, ((24, 24), (24, 24), (0, 0)), mode="edge") for one in images]
    return {
        name: [encode(one) for one in padded[3 * k : 3 * k + 3]] for k, name in enumerate(PEOPLE)
    }


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


@dataclass
class Server:
    """Where a server listens, and how to start and end it."""

    folder: Path
    port: int
    options: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        code = (
            "import sys; from pathlib import Path;"
            "from mien.service import Limits, Settings, serve;"
            "place = Path(sys.argv[1]);"
            "limits = eval('dict(' + ','.join(sys.argv[3:]) + ')');"
            "serve(Settings(place / 'galleries', place / 'state', port=int(sys.argv[2]),"
            " workers=1, limits=Limits(**limits)))"
        )
        (self.folder / "galleries").mkdir(parents=True, exist_ok=True)
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(self.folder), str(self.port), *self.options],
            env=environment,
        )
        import httpx

        for _ in range(_START_SECONDS * 10):
            if self.process.poll() is not None:
                raise RuntimeError("the server did not start")
            try:
                if httpx.get(f"{self.url}/readyz", timeout=5).status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        raise RuntimeError("the server is not ready")

    def stop(self, *, kill: bool = False) -> None:
        if self.process is not None:
            if kill:
                self.process.kill()
            else:
                self.process.terminate()
            self.process.wait(60)
            self.process = None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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
