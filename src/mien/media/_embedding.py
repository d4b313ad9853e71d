"""Names written into the picture itself, by exiftool; the picture before is kept beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from mien.errors import DataError, InputError
from mien.media._regions import NamedRegion
from mien.media._xmp import SidecarChange, merge_packet

__all__ = ["embed_names", "find_exiftool"]

_SECONDS = 120


def find_exiftool() -> str:
    """Where the program exiftool is; an error where it is not installed."""
    found = shutil.which("exiftool")
    if found is None:
        raise InputError(
            "writing into pictures needs the program exiftool, which is not installed: install it "
            "(Debian and Ubuntu: libimage-exiftool-perl; macOS: brew install exiftool), or write "
            "sidecars"
        )
    return found


def embed_names(
    path: str | os.PathLike[str], regions: Sequence[NamedRegion], *, keywords: bool = False
) -> SidecarChange:
    """Write names and places of faces into a picture; ``NAME.EXT_original`` keeps it as it was.

    Parameters
    ----------
    path : path
        The picture. Only its XMP packet changes.
    regions, keywords
        As in :func:`write_sidecar`.

    Returns
    -------
    SidecarChange
        Its ``path`` is the picture. Nothing is written where nothing is new; a backup that is
        there already stays as it is.
    """
    program, path = find_exiftool(), Path(path).absolute()
    if path.is_symlink():
        path = path.resolve()  # exiftool would replace the link by a file
    before = _run([program, "-config", "", "-b", "-xmp", os.fspath(path)], path)
    packet, change = merge_packet(path, before or None, regions, keywords=keywords, place=path)
    if not change.added:
        return change
    with tempfile.TemporaryDirectory(prefix="mien-") as folder:
        place = Path(folder) / "names.xmp"
        place.write_bytes(packet)
        _run([program, "-config", "", "-q", "-m", f"-xmp<={place}", os.fspath(path)], path)
    return change


def _run(command: list[str], path: Path) -> bytes:
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_SECONDS, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DataError(f"exiftool did not finish with {str(path)!r}: {error}") from error
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = words[0] if words else f"exit code {done.returncode}"
        raise DataError(f"exiftool cannot write names into {str(path)!r}: {reason}")
    return done.stdout
