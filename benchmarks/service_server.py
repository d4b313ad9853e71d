"""A server in a process of its own, for the tests, the load test and the faults."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["Server", "encode", "free_port", "make_portraits"]

_START_SECONDS = 240
_CODE = """
import sys
from pathlib import Path
from mien.service import Limits, Settings, serve

place, port, workers, file_bytes = Path(sys.argv[1]), *map(int, sys.argv[2:5])
if file_bytes:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, resource.RLIM_INFINITY))
limits = dict(one.split("=") for one in sys.argv[5:])
limits = {name: float(value) if "." in value else int(value) for name, value in limits.items()}
photos = tuple(one for one in [place / "Photos"] if one.is_dir())
serve(Settings(place / "galleries", place / "state", port=port, workers=workers, photos=photos,
               limits=Limits(**limits)))
"""


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Server:
    """Where a server listens, and how to start and end it.

    Attributes
    ----------
    folder : Path
        For galleries and state; the page may show what lies in its folder ``Photos``.
    port : int
        On loopback.
    options : tuple of str
        Limits, as ``name=value``.
    workers : int
        Processes for pictures.
    file_bytes : int
        Size beyond which no file of the server can grow, as on a full disk; 0 is no limit.
    """

    folder: Path
    port: int
    options: tuple[str, ...] = ()
    workers: int = 1
    file_bytes: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it can analyse pictures."""
        import httpx

        (self.folder / "galleries").mkdir(parents=True, exist_ok=True)
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        numbers = (self.port, self.workers, self.file_bytes)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _CODE, str(self.folder), *map(str, numbers), *self.options],
            env=environment,
        )
        for _ in range(_START_SECONDS * 10):
            if self.process.poll() is not None:
                raise RuntimeError("the server did not start")
            try:
                if httpx.get(f"{self.url}/readyz", timeout=30).status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        raise RuntimeError("the server is not ready")

    def stop(self, *, kill: bool = False) -> None:
        """End it, gently or not."""
        if self.process is not None:
            if kill:
                self.process.kill()
            else:
                self.process.terminate()
            self.process.wait(120)
            self.process = None


def encode(image: np.ndarray, kind: str = "PNG") -> bytes:
    """A picture as a file."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, kind)
    return buffer.getvalue()


def make_portraits(n_people: int, n_pictures: int, size: int = 96) -> list[list[np.ndarray]]:
    """Pictures (h, w, 3) of people who do not exist, with a margin around the face."""
    from mien.datasets import make_faces

    faces = make_faces(n_people, n_pictures, size, colour=True, random_state=4)
    images = np.round(255 * faces.images).astype(np.uint8)
    edge = size // 4
    padded = [np.pad(one, ((edge, edge), (edge, edge), (0, 0)), mode="edge") for one in images]
    return [padded[k * n_pictures : (k + 1) * n_pictures] for k in range(n_people)]
