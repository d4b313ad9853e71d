"""Interpreters that can be found, and virtual environments that are made once and kept."""

from __future__ import annotations

import codecs
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

__all__ = ["ROOT", "TESTING", "InstallError", "find_python", "make_environment", "run", "stream"]

ROOT = Path(__file__).resolve().parents[1]
# What the tests need beside the package and its extras.
TESTING = ["pytest", "pytest-xdist", "psutil", "httpx", "safetensors"]
KEPT = ROOT / ".venv-everywhere"


class InstallError(Exception):
    """A variant's packages cannot be installed here."""


def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command without a terminal and give back its output as text."""
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, encoding="utf-8", errors="replace", **options,
    )  # fmt: skip


def stream(command: list[str], *, seconds: float, **options: object) -> tuple[int, str]:
    """Run a command, show what it says at once, and end it and its children after a time.

    Returns the code, which is negative where time was up, and the words.
    """
    said: list[str] = []
    with subprocess.Popen(  # type: ignore[call-overload]
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        process_group=0, **options,
    ) as process:  # fmt: skip
        over = threading.Timer(seconds, os.killpg, (process.pid, signal.SIGKILL))
        over.start()
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            while chunk := os.read(process.stdout.fileno(), 65536):
                words = decoder.decode(chunk)
                said.append(words)
                sys.stdout.write(words)
                sys.stdout.flush()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            over.cancel()
    return process.returncode, "".join(said)


def _is_version(python: str, version: str) -> bool:
    code = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    try:
        done = run([python, "-c", code], timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.strip() == version


def find_python(version: str) -> str | None:
    """Path of a Python of this version ("3.12"): this one, the PATH's, pyenv's or uv's."""
    candidates = [sys.executable]
    if found := shutil.which(f"python{version}"):
        candidates.append(found)
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates += sorted(map(str, home.glob(f"versions/{version}*/bin/python")), reverse=True)
    if uv := shutil.which("uv"):
        candidates.append(run([uv, "python", "find", version]).stdout.strip())
    return next((python for python in candidates if python and _is_version(python, version)), None)


def make_environment(
    name: str, python: str, packages: list[str], *, constraints: Path | None = None
) -> Path:
    """Path of the Python of a virtual environment that holds these packages.

    It is kept under ``.venv-everywhere`` and made again when the packages, ``pyproject.toml`` or
    the constraints change.
    """
    what = "\n".join([python, *packages, (ROOT / "pyproject.toml").read_text(encoding="utf-8")])
    if constraints is not None:
        what += constraints.read_text(encoding="utf-8")
    digest = hashlib.sha256(what.encode()).hexdigest()
    folder = KEPT / name
    inside = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "made-of"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
        return inside
    shutil.rmtree(folder, ignore_errors=True)
    made = run([python, "-m", "venv", "--without-pip", str(folder)])
    if made.returncode != 0:
        raise InstallError(f"no virtual environment: {made.stdout[-2000:]}")
    command = [sys.executable, "-m", "pip", "--python", str(inside), "install", "--quiet"]
    # What is imported is compiled then; most is not.
    command += ["--disable-pip-version-check", "--no-input", "--no-compile"]
    if constraints is not None:
        command += ["--constraint", str(constraints)]
    installed = run([*command, *packages], cwd=ROOT)
    if installed.returncode != 0:
        raise InstallError(installed.stdout[-3000:])
    stamp.write_text(digest, encoding="utf-8")
    return inside
