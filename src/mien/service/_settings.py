"""Settings of a server; nothing is read from the environment at import time."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mien.errors import InputError

__all__ = ["Limits", "Settings", "is_loopback"]

MIB = 2**20


@dataclass(frozen=True)
class Limits:
    """What one request, one client and one server may cost.

    Attributes
    ----------
    body_bytes : int
        Maximum size of a request body.
    body_seconds : float
        Maximum time in which a request body arrives; of an archive, each part of it.
    archive_bytes : int
        Maximum size of an archive or a video that a job is given; it goes to the disk as it comes.
    picture_bytes : int
        Maximum size of one picture.
    pictures : int
        Maximum number of pictures per request.
    faces : int
        Maximum number of faces per picture; the largest are kept.
    seconds : float
        Maximum time for one picture in a worker; the worker is then ended and replaced.
    worker_bytes : int
        Maximum address space of a worker process.
    waiting : int
        Maximum number of requests with pictures that wait for a worker; more are answered with 429.
    requests_per_minute : int
        Per key, or per address where no key is used; more are answered with 429.
    keep_seconds : float
        How long results of jobs and idempotency keys are kept.
    streams : int
        Maximum number of cameras at the same time.
    stream_seconds : float
        After this time without a frame a camera has ended.
    """

    body_bytes: int = 64 * MIB
    body_seconds: float = 60.0
    archive_bytes: int = 4096 * MIB
    picture_bytes: int = 32 * MIB
    pictures: int = 64
    faces: int = 100
    seconds: float = 30.0
    worker_bytes: int = 4096 * MIB
    waiting: int = 64
    requests_per_minute: int = 6000
    keep_seconds: float = 86_400.0
    streams: int = 16
    stream_seconds: float = 60.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise InputError(f"{name} must be greater than 0; got {value!r}")


@dataclass(frozen=True)
class Settings:
    """One server.

    Attributes
    ----------
    galleries : Path
        A gallery file, which the server then serves under the name of the file without its
        suffix, or a folder of ``*.gallery`` files, in which galleries can be created as well.
    state : Path
        A folder for keys, jobs and idempotency records; readable by its owner only.
    host, port : str, int
        Where to listen.
    workers : int
        Processes that decode pictures and find faces.
    engine : str
        The engine of new galleries, and of requests that name no gallery.
    fpir : float
        Maximum share of unknown faces that may wrongly get a name.
    far : float
        False accept rate at which two pictures are decided to show one person.
    secret_key : bytes, str or None
        Of sealed galleries.
    photos : tuple of Path
        Folders of pictures that the page may import and show; nothing else of the disk is read.
    certificate, private_key : Path or None
        TLS.
    trusted_proxies : tuple of str
        Addresses whose ``X-Forwarded-For`` is believed.
    strangers_days : float
        How long people without a name are remembered, so that they have a number; 0 is as long as
        the server runs.
    webhook, webhook_secret : str or None
        Address to which events are posted, and what signs them.
    mqtt, mqtt_prefix : str or None, str
        Broker to which events are published, and the first part of the topics.
    limits : Limits
        What a request may cost.
    """

    galleries: Path
    state: Path
    host: str = "127.0.0.1"
    port: int = 8080
    workers: int = 2
    engine: str = "sface"
    fpir: float = 0.01
    far: float = 0.001
    secret_key: bytes | str | None = None
    photos: tuple[Path, ...] = ()
    certificate: Path | None = None
    private_key: Path | None = None
    trusted_proxies: tuple[str, ...] = ()
    strangers_days: float = 0.0
    webhook: str | None = None
    webhook_secret: str | None = None
    mqtt: str | None = None
    mqtt_prefix: str = "mien"
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        if not 0 < self.port < 65536:
            raise InputError(f"port must be between 1 and 65535; got {self.port}")
        if self.workers < 1:
            raise InputError(f"workers must be at least 1; got {self.workers}")
        for name in ("fpir", "far"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(f"{name} must be between 0 and 1; got {getattr(self, name)!r}")
        for folder in self.photos:
            if not folder.is_dir():
                raise InputError(f"photos must be folders; {str(folder)!r} is not one")
        if (self.certificate is None) != (self.private_key is None):
            raise InputError("TLS needs both a certificate and its private key")
        if self.strangers_days < 0:
            raise InputError(f"strangers_days must not be negative; got {self.strangers_days!r}")
        if (self.webhook is None) != (self.webhook_secret is None):
            raise InputError("a webhook needs a secret that signs what is posted")


@lru_cache(maxsize=64)
def is_loopback(host: str) -> bool:
    """Whether a host, with or without a port, can only be this machine."""
    name = host.strip()
    if name.startswith("["):
        name = name[1:].partition("]")[0]
    elif name.count(":") == 1:
        name = name.partition(":")[0]
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
