"""A file beside a long run: what was analysed already, so that a second run goes on from there."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
import time
import zlib
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from mien._core.atomic import lock_descriptor
from mien.errors import DataError
from mien.faces._face import Face, FoundFace, PictureResult
from mien.faces._quality import FaceQuality

__all__ = ["Journal", "from_record", "stamp", "to_record"]

_FORMAT = 2
_FLUSH_EVERY = 32
_FLUSH_SECONDS = 2.0


def _pack(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f4").tobytes()).decode("ascii")


def _unpack(text: str) -> np.ndarray:
    vector = np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4").astype(np.float32)
    if not np.all(np.abs(vector) < 1e9):
        raise ValueError("a vector has NaN, infinite or very large numbers")
    return vector


def to_record(result: PictureResult) -> dict[str, Any]:
    """A result without its crops, as plain values; vectors keep every bit."""
    faces = [
        {
            "box": found.face.box.tolist(),
            "landmarks": found.face.landmarks.tolist(),
            "confidence": found.face.confidence,
            "vector": _pack(found.vector),
            "quality": None if found.quality is None else vars(found.quality),
        }
        for found in result.faces
    ]
    return {
        "path": str(result.path),
        "digest": result.digest,
        "size": list(result.size),
        "error": result.error,
        "left_out": result.left_out,
        "faces": faces,
    }


def from_record(record: dict[str, Any]) -> PictureResult:
    """The result that `to_record` was given."""
    faces = [
        FoundFace(
            Face(face["box"], face["landmarks"], face["confidence"]),
            _unpack(face["vector"]),
            None if face["quality"] is None else FaceQuality(**face["quality"]),
        )
        for face in record["faces"]
    ]
    height, width = (int(side) for side in record["size"])
    path = Path(record["path"])
    for face in faces:
        if face.quality is not None and not np.all(np.isfinite(list(vars(face.quality).values()))):
            raise ValueError("a quality is not a number")
    said = record["error"]
    if not (said is None or isinstance(said, str)) or not isinstance(record["digest"], str):
        raise ValueError("a result has an error or a digest that is not text")
    if not isinstance(record["left_out"], int):
        raise ValueError("a result counts faces with something other than a number")
    return PictureResult(
        path, record["digest"], (height, width), faces, record["error"], record["left_out"]
    )


def stamp(path: Path) -> str | None:
    """Size and time of a file, to see that it is the one that was analysed."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return f"{status.st_size}-{status.st_mtime_ns}"


class Journal:
    """JSON lines with a check sum each; owner only, since they hold templates.

    The first line says what was asked for; a run that asks for something else is refused. A last
    line that was torn by a killed process is cut off.
    """

    def __init__(self, path: str | os.PathLike[str], asked: dict[str, Any]) -> None:
        self.path = Path(path)
        self._asked = {"mien journal": _FORMAT, **asked}
        self._places: dict[bytes, int] = {}  # where the line of a path begins
        self._unflushed = 0
        self._flushed_at = time.monotonic()
        try:
            # Never through a link, and a pipe or a device is not waited for.
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            descriptor = os.open(self.path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)
        except OSError as error:
            raise DataError(f"cannot open the journal {self.path}: {error}") from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise DataError(f"the journal {self.path} is not a regular file")
        self._file = os.fdopen(descriptor, "r+b")
        try:
            if lock_descriptor(self._file.fileno()) is False:
                raise DataError(f"the journal {self.path} is in use by another run")
            os.fchmod(self._file.fileno(), 0o600)
            self._read()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._flush()
        self._file.close()

    def __len__(self) -> int:
        return len(self._places)

    def find(self, path: Path) -> PictureResult | None:
        """The result of a picture that was analysed and has not changed since, or None."""
        place = self._places.get(_key(str(path)))
        if place is None:
            return None
        end = self._file.seek(0, os.SEEK_END)
        self._file.seek(place)
        value = _parse(self._file.readline())
        self._file.seek(end)
        if value is None or value.get("stamp") is None or value["stamp"] != stamp(path):
            return None
        try:
            return from_record(value["result"])
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise DataError(
                f"the journal {self.path} is damaged: its line about {str(path)!r} is not a "
                "result; remove the file to start again"
            ) from error

    def add(self, result: PictureResult, stamp: str | None) -> None:
        """Append a result; the disk has it after at most 32 of them or two seconds."""
        self._write({"stamp": stamp, "result": to_record(result)})
        self._unflushed += 1
        now = time.monotonic()
        if self._unflushed >= _FLUSH_EVERY or now - self._flushed_at > _FLUSH_SECONDS:
            self._flush()

    def _flush(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._unflushed = 0
        self._flushed_at = time.monotonic()

    def _write(self, value: dict[str, Any]) -> None:
        self._file.write(_line(value))

    def _read(self) -> None:
        whole = 0
        for number, line in enumerate(self._file, start=1):
            value = _parse(line)
            if value is None:
                foreign = number == 1 and not _line(self._asked).startswith(line)
                if foreign or line.endswith(b"\n"):
                    raise DataError(
                        f"line {number} of the journal {self.path} is damaged, or the file "
                        "is not a journal: remove it to start again"
                    )
                break  # torn by the end of the process that wrote it
            if number == 1 and value != self._asked:
                raise DataError(
                    f"the journal {self.path} is of another run ({_words(value)}; now "
                    f"{_words(self._asked)}): remove it, or name another file"
                )
            if number > 1:
                held = value.get("result")
                if not isinstance(held, dict) or not isinstance(held.get("path"), str):
                    raise DataError(
                        f"line {number} of the journal {self.path} is not a result: remove the "
                        "file to start again"
                    )
                self._places[_key(held["path"])] = whole
            whole += len(line)
        self._file.seek(whole)
        self._file.truncate()
        if whole == 0:
            self._write(self._asked)
            self._flush()


def _line(value: dict[str, Any]) -> bytes:
    text = json.dumps(value, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _key(path: str) -> bytes:
    """Sixteen bytes for a path of any length: a million of them fit into memory."""
    return hashlib.blake2b(path.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _parse(line: bytes) -> dict[str, Any] | None:
    """One line, or None where it is not whole."""
    try:
        if line[8:9] != b" " or not line.endswith(b"\n"):
            return None
        text = line[9:-1]
        if int(line[:8], 16) != zlib.crc32(text):
            return None
        value = json.loads(text)
    except (RecursionError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def _words(asked: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in asked.items())
