"""A server in a process of its own, for the tests, the load test and the faults."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import httpx

__all__ = ["PATIENCE", "Server", "attack", "encode", "free_port", "make_portraits"]

#: Seconds that a client waits for an answer: a machine may do other things as well.
PATIENCE = 300
_START_SECONDS = 4 * PATIENCE
# Below the ports that systems give to outgoing connections: nobody takes one while a server that
# was killed is started again.
_PORTS = range(20_000, 32_000)
_CODE = """
import sys
from pathlib import Path
from mien.service import Limits, Settings, serve

place, port, workers, file_bytes, log = Path(sys.argv[1]), *map(int, sys.argv[2:6])
if file_bytes:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, resource.RLIM_INFINITY))
limits = dict(one.split("=") for one in sys.argv[7:])
limits = {name: float(value) if "." in value else int(value) for name, value in limits.items()}
# A busy machine is no reason to give up a picture or a body, where a test is not about that.
limits = {"seconds": 300.0, "body_seconds": 300.0} | limits
photos = tuple(one for one in [place / "Photos"] if one.is_dir())
galleries = Path(sys.argv[6]) if sys.argv[6] else place / "galleries"
serve(Settings(galleries, place / "state", port=port, workers=workers, photos=photos,
               limits=Limits(**limits)), log_requests=bool(log))
"""


def free_port() -> int:
    """A port that nobody uses at this moment, or is likely to take before it is used."""
    draw = random.SystemRandom()  # processes that begin alike must not draw alike
    while True:
        port = draw.choice(_PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


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
    gallery : str
        Address of the only gallery, instead of a folder of galleries.
    log : bool
        Whether it writes a line per request.
    """

    folder: Path
    port: int
    options: tuple[str, ...] = ()
    workers: int = 1
    file_bytes: int = 0
    gallery: str = ""
    log: bool = False
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, **options: Any) -> httpx.Client:
        """A client that waits as long as it takes."""
        import httpx

        return httpx.Client(base_url=self.url, timeout=PATIENCE, **options)

    def start(self) -> None:
        """Start it, and wait until it can analyse pictures."""
        import httpx

        (self.folder / "galleries").mkdir(parents=True, exist_ok=True)
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        numbers = (self.port, self.workers, self.file_bytes, int(self.log))
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                _CODE,
                str(self.folder),
                *map(str, numbers),
                self.gallery,
                *self.options,
            ],
            env=environment,
        )
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise RuntimeError("the server did not start")
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/readyz", timeout=PATIENCE).status_code == 200:
                    return
            time.sleep(0.1)  # it does not listen yet, or its workers are not ready
        self.stop(kill=True)
        raise RuntimeError("the server is not ready")

    def stop(self, *, kill: bool = False) -> None:
        """End it, gently or not."""
        if self.process is not None:
            if kill:
                self.process.kill()
            else:
                self.process.terminate()
            self.process.wait(PATIENCE)
            self.process = None


def attack(
    run: Callable[[int, Server], dict[int, int]], about: str, n_requests: int, *options: str
) -> str:
    """Run an attack by its command line (``--requests``); gives how often which status came."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--requests", type=int, default=n_requests)
    n_requests = parser.parse_args().requests
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        limits = ("requests_per_minute=10000000", *options)
        server = Server(Path(folder), free_port(), limits)
        server.start()
        try:
            statuses = run(n_requests, server)
        finally:
            server.stop(kill=True)
    counts = ", ".join(f"{status}: {n:,}" for status, n in sorted(statuses.items()))
    return f"{n_requests:,} requests in {time.perf_counter() - start:.0f} s, answered with {counts}"


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
