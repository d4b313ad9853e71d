"""The container: a safetensors file whose header is checked, and whose digest covers all of it."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import numpy as np

from mien._core import regular
from mien.errors import MissingDataError, ModelDamagedError, ModelFormatError

__all__ = [
    "DTYPES",
    "Container",
    "open_model_file",
    "read_container",
    "whole",
    "write",
    "write_bytes",
]

#: A header of this many bytes at most, and of so many parts that reading it stays below the memory.
_HEADER_LIMIT = 32 * 2**20
_HEADER_MEMORY = 256 * 2**20
# What one part of a JSON text (an entry of a list or an object) takes at most once it is read.
_PART = 130
_DIGEST_KEY = "mien.sha256"
_DOCUMENT_KEY = "mien.model"
_BLANK = "0" * 64
#: What an array may be made of, by the names that safetensors gives.
DTYPES = {
    "BOOL": "?",
    "U8": "u1",
    "I8": "i1",
    "U16": "<u2",
    "I16": "<i2",
    "U32": "<u4",
    "I32": "<i4",
    "U64": "<u8",
    "I64": "<i8",
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
}


# ------------------------------------------------------------------------------------ writing


def write(path: Path, arrays: dict[str, np.ndarray], document: str) -> None:
    """Write arrays and their JSON document to ``path``, with the digest of the whole file."""
    with open(path, "wb") as file:
        for part in _parts(arrays, document):
            file.write(part)


def write_bytes(arrays: dict[str, np.ndarray], document: str) -> bytes:
    """What :func:`write` would write; the same model gives the same bytes."""
    return b"".join(_parts(arrays, document))


def _parts(arrays: dict[str, np.ndarray], document: str) -> Iterator[bytes | memoryview]:
    """Length, header and arrays, one after the other; arrays of large numbers come first."""
    codes = {np.dtype(code): name for name, code in DTYPES.items()}
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    header: dict[str, Any] = {"__metadata__": {_DOCUMENT_KEY: document, _DIGEST_KEY: _BLANK}}
    contents = []
    place = 0
    for name in order:
        array = np.ascontiguousarray(arrays[name])
        content = array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
        shape, end = list(arrays[name].shape), place + content.nbytes
        header[name] = {
            "dtype": codes[array.dtype],
            "shape": shape,
            "data_offsets": [place, end],
        }
        contents.append(content)
        place = end
    text = json.dumps(header, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    length = len(text).to_bytes(8, "little")
    digest = hashlib.sha256(length + text)
    for content in contents:
        digest.update(content)
    start = _find_digest(text)
    yield length
    yield text[:start] + digest.hexdigest().encode("ascii") + text[start + len(_BLANK) :]
    yield from contents


def _find_digest(header: bytes) -> int:
    """Where the 64 characters of the digest begin in the header."""
    marker = f'"{_DIGEST_KEY}":"'.encode("ascii")
    if header.count(marker) != 1:
        raise ModelDamagedError("the header of the model file has no place for its digest")
    return header.index(marker) + len(marker)


# ------------------------------------------------------------------------------------ reading


@contextmanager
def open_model_file(path: Path) -> Iterator[BufferedIOBase]:
    """Open a regular file for reading, once; nothing else is ever waited for."""
    try:
        opened = regular.open_regular(path)
    except FileNotFoundError as error:
        raise MissingDataError(f"no model file at {path}") from error
    except regular.NotRegularError as error:
        raise ModelFormatError(f"{path} is not a file") from error
    except OSError as error:
        raise ModelFormatError(f"{path} cannot be read: {error.strerror or error}") from error
    with opened as file:
        yield file


class Container:
    """A file whose header was found to be possible; its arrays are read when the digest fits."""

    def __init__(self, where: str, size: int, raw: bytes, entries: dict[str, Any]) -> None:
        self.where = where
        self.size = size
        self.raw = raw
        self.metadata = entries.get("__metadata__", {})
        self.entries = {k: v for k, v in entries.items() if k != "__metadata__"}
        self._rest: np.ndarray | None = None

    @property
    def digest(self) -> str:
        return str(self.metadata[_DIGEST_KEY])

    @property
    def document(self) -> str:
        return str(self.metadata[_DOCUMENT_KEY])

    def check_digest(self, file: BufferedIOBase) -> None:
        """Read the arrays, and refuse a file of which any byte has changed since it was written."""
        start = 8 + len(self.raw)
        rest = np.empty(self.size - start, np.uint8)  # not filled with zeros first
        file.seek(start)
        if file.readinto(rest.data) != len(rest) or file.read(1):
            raise ModelDamagedError(f"{self.where} was changed while it was read")
        digest = hashlib.sha256(len(self.raw).to_bytes(8, "little"))
        place = _find_digest(self.raw)
        digest.update(self.raw[:place] + _BLANK.encode("ascii") + self.raw[place + len(_BLANK) :])
        digest.update(rest.data)
        if digest.hexdigest() != self.digest:
            raise ModelDamagedError(
                f"{self.where} was altered or damaged after it was written: its digest does not "
                "match"
            )
        self._rest = rest

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays, over one block of memory; :meth:`check_digest` has read it."""
        if self._rest is None:
            raise RuntimeError("call check_digest first")
        found = {}
        for name, entry in self.entries.items():
            dtype = np.dtype(DTYPES[entry["dtype"]])
            start, end = entry["data_offsets"]
            array = self._rest[start:end].view(dtype).reshape(entry["shape"])
            if dtype.kind == "b":
                # Any other byte than 0 and 1 is true here and false there.
                array = array.view(np.uint8) != 0
            found[name] = array if array.flags.aligned else array.copy()
        return found


def read_container(file: BufferedIOBase, where: str, max_bytes: int) -> Container:
    """Read the header of an open file, and check that what it says is possible."""
    size = file.seek(0, os.SEEK_END)
    if size > max_bytes:
        raise ModelFormatError(f"{where} has {size:,} bytes; at most {max_bytes:,} are read")
    file.seek(0)
    prefix = file.read(8)
    if len(prefix) < 8:
        raise ModelFormatError(f"{where} is not a model file: it has only {size} bytes")
    length = int.from_bytes(prefix, "little")
    if not 2 <= length <= _HEADER_LIMIT:
        raise ModelFormatError(
            f"{where} is not a model file: its first eight bytes announce a header of "
            f"{length:,} bytes, and at most {_HEADER_LIMIT:,} are read"
        )
    if length > size - 8:
        raise ModelDamagedError(f"{where} is truncated: it ends within its header")
    raw = file.read(length)
    _check_header_memory(raw, where)
    try:
        entries = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{where} is not a model file: its header is not JSON") from error
    if not isinstance(entries, dict) or not isinstance(entries.get("__metadata__"), dict):
        raise ModelFormatError(f"{where} is not a model file of mien: it has no metadata")
    container = Container(where, size, raw, entries)
    for key in (_DOCUMENT_KEY, _DIGEST_KEY):
        if not isinstance(container.metadata.get(key), str):
            raise ModelFormatError(f"{where} is not a model file of mien: its metadata lack {key}")
    _check_layout(container)
    return container


def _check_header_memory(raw: bytes, where: str) -> None:
    """Refuse a text of very many tiny parts, each of which takes far more once it is read."""
    parts = raw.count(b",") + raw.count(b"[") + raw.count(b"{")
    needed = 4 * len(raw) + _PART * parts
    if needed > _HEADER_MEMORY:
        raise ModelFormatError(
            f"{where}: its description has {parts:,} parts and would take about "
            f"{needed / 2**20:,.0f} MiB of memory; at most {_HEADER_MEMORY // 2**20} are allowed"
        )


def _check_layout(container: Container) -> None:
    """Every array must lie within the file, fit its shape, and follow the one before it."""
    where = container.where
    spans = []
    for name, entry in container.entries.items():
        try:
            dtype = np.dtype(DTYPES[entry["dtype"]])
            shape = [whole(n) for n in entry["shape"]]
            start, end = (whole(n) for n in entry["data_offsets"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelDamagedError(
                f"{where}: the entry of array {name[:80]!r} is damaged"
            ) from error
        if len(shape) > 8 or math.prod(shape) * dtype.itemsize != end - start:
            raise ModelDamagedError(
                f"{where}: array {name[:80]!r} of shape {tuple(shape[:9])} does not fit its "
                f"{end - start:,} bytes"
            )
        if max(shape, default=0) >= 2**48:
            raise ModelDamagedError(f"{where}: array {name[:80]!r} has an impossible shape")
        spans.append((start, end))
    expected = 0
    for start, end in sorted(spans):
        if start != expected:
            raise ModelDamagedError(f"{where}: its arrays overlap or leave gaps")
        expected = end
    held = container.size - 8 - len(container.raw)
    if held < expected:
        raise ModelDamagedError(
            f"{where} is truncated: {expected:,} bytes of arrays are announced, {held:,} are there"
        )
    if held > expected:
        raise ModelDamagedError(f"{where} has {held - expected:,} bytes too many")


def whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r:.80} is not a size")
    return value
