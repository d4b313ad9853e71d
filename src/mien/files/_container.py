"""The container: a safetensors file whose header is checked, and whose digest covers all of it."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from mien.errors import MissingDataError, ModelDamagedError, ModelFormatError

__all__ = ["DTYPES", "Header", "check_digest", "read_arrays", "read_header", "whole", "write"]

_HEADER_LIMIT = 64 * 2**20
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


def write(path: Path, arrays: dict[str, np.ndarray], document: str) -> None:
    """Write arrays and their JSON document to ``path``, with the digest of the whole file."""
    from safetensors.numpy import save_file

    save_file(arrays, path, metadata={_DOCUMENT_KEY: document, _DIGEST_KEY: _BLANK})
    with open(path, "r+b") as file:
        length = int.from_bytes(file.read(8), "little")
        start = 8 + _find_digest(file.read(length))
        digest = _digest_with_blank(path, start)
        file.seek(start)
        file.write(digest.encode("ascii"))


class Header:
    """What the first bytes of a file say, once they were found to be possible."""

    def __init__(self, size: int, raw: bytes, entries: dict[str, Any]) -> None:
        self.size = size
        self.raw = raw
        self.metadata = entries.get("__metadata__", {})
        self.arrays = {k: v for k, v in entries.items() if k != "__metadata__"}

    @property
    def data_start(self) -> int:
        return 8 + len(self.raw)

    @property
    def digest(self) -> str:
        return str(self.metadata[_DIGEST_KEY])

    @property
    def document(self) -> str:
        return str(self.metadata[_DOCUMENT_KEY])


def read_header(path: Path, max_bytes: int) -> Header:
    if not path.exists():
        raise MissingDataError(f"no model file at {path}")
    if not path.is_file():
        raise ModelFormatError(f"{path} is not a file")
    size = path.stat().st_size
    if size > max_bytes:
        raise ModelFormatError(f"{path} has {size:,} bytes; at most {max_bytes:,} are read")
    with open(path, "rb") as file:
        prefix = file.read(8)
        if len(prefix) < 8:
            raise ModelFormatError(f"{path} is not a model file: it has only {size} bytes")
        length = int.from_bytes(prefix, "little")
        if not 2 <= length <= _HEADER_LIMIT:
            raise ModelFormatError(
                f"{path} is not a model file: its first eight bytes announce a header of "
                f"{length:,} bytes"
            )
        raw = file.read(length)
    if len(raw) < length:
        raise ModelDamagedError(f"{path} is truncated: it ends within its header")
    try:
        entries = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{path} is not a model file: its header is not JSON") from error
    if not isinstance(entries, dict) or not isinstance(entries.get("__metadata__"), dict):
        raise ModelFormatError(f"{path} is not a model file of mien: it has no metadata")
    header = Header(size, raw, entries)
    for key in (_DOCUMENT_KEY, _DIGEST_KEY):
        if not isinstance(header.metadata.get(key), str):
            raise ModelFormatError(f"{path} is not a model file of mien: its metadata lack {key}")
    _check_layout(path, header)
    return header


def _check_layout(path: Path, header: Header) -> None:
    """Every array must lie within the file, fit its shape, and follow the one before it."""
    spans = []
    for name, entry in header.arrays.items():
        try:
            dtype = np.dtype(DTYPES[entry["dtype"]])
            shape = [whole(n) for n in entry["shape"]]
            start, end = (whole(n) for n in entry["data_offsets"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelDamagedError(f"{path}: the entry of array {name!r} is damaged") from error
        if math.prod(shape) * dtype.itemsize != end - start:
            raise ModelDamagedError(
                f"{path}: array {name!r} of shape {tuple(shape)} does not fit its "
                f"{end - start:,} bytes"
            )
        spans.append((start, end))
    expected = 0
    for start, end in sorted(spans):
        if start != expected:
            raise ModelDamagedError(f"{path}: its arrays overlap or leave gaps")
        expected = end
    held = header.size - header.data_start
    if held < expected:
        raise ModelDamagedError(
            f"{path} is truncated: {expected:,} bytes of arrays are announced, {held:,} are there"
        )
    if held > expected:
        raise ModelDamagedError(f"{path} has {held - expected:,} bytes too many")


def whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is not a size")
    return value


def check_digest(path: Path, header: Header) -> None:
    """Refuse a file of which any byte has changed since it was written."""
    if _digest_with_blank(path, 8 + _find_digest(header.raw)) != header.digest:
        raise ModelDamagedError(
            f"{path} was altered or damaged after it was written: its digest does not match"
        )


def _find_digest(header: bytes) -> int:
    """Where the 64 characters of the digest begin in the header."""
    marker = f'"{_DIGEST_KEY}":"'.encode("ascii")
    if header.count(marker) != 1:
        raise ModelDamagedError("the header of the model file has no place for its digest")
    return header.index(marker) + len(marker)


def _digest_with_blank(path: Path, start: int) -> str:
    """SHA-256 of a file in which the digest itself, from ``start``, counts as zeros."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        digest.update(file.read(start))
        digest.update(_BLANK.encode("ascii"))
        file.seek(start + len(_BLANK))
        while chunk := file.read(2**20):
            digest.update(chunk)
    return digest.hexdigest()


def read_arrays(path: Path, header: Header) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_tensor(name) for name in header.arrays}
    except SafetensorError as error:
        raise ModelDamagedError(f"{path}: its arrays cannot be read ({error})") from error
