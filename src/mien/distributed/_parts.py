"""Vectors in parts: arrays, Dask arrays, files of ``.npy``, Parquet and Zarr, and iterables."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from mien._core.rows import is_dask_array
from mien._core.validation import require_module
from mien.errors import DataError, InputError, MissingDataError

__all__ = ["Part", "Parts", "find_parts", "read_part"]

#: Bytes of a part, where a file is cut: small enough for many workers, large enough for a product.
PART_BYTES = 2**26
_SUFFIXES = (".npy", ".parquet", ".zarr")
_VECTOR_COLUMNS = ("vector", "embedding", "X")
_ZARR_DOCUMENTS = ("zarr.json", ".zarray")
_LARGEST_DOCUMENT = 2**22
# Of all codecs those that only pack bytes; one of the others would read a pickle.
_CODECS = {
    "blosc", "bytes", "bz2", "crc32c", "delta", "endian", "gzip", "lz4", "lzma", "sharding_indexed",
    "shuffle", "transpose", "zlib", "zstd",
}  # fmt: skip


class Part(Protocol):
    """A piece of the data that a worker reads by itself."""

    @property
    def name(self) -> str:
        """What to call it in an error."""

    def read(self) -> tuple[np.ndarray, Any]:
        """Vectors (n, d), and their labels (n,) or None."""


@dataclass(frozen=True)
class Parts:
    """The parts in order, and how many there are where that is known."""

    parts: Iterable[Part]
    n: int | None


def _compute(values: Any) -> Any:
    """A block of Dask in this thread, which is a worker's; other values as they are."""
    if not hasattr(values, "compute"):
        return values
    with warnings.catch_warnings():
        # Older versions of Dask warn of what is meant here.
        warnings.filterwarnings("ignore", "Running on a single-machine scheduler", UserWarning)
        return values.compute(scheduler="synchronous")


def read_part(part: Part) -> tuple[np.ndarray, Any]:
    """Read a part; what goes wrong is said with its name."""
    try:
        X, y = part.read()
    except (InputError, DataError) as error:
        raise DataError(f"{part.name} cannot be used: {error}") from error
    except MemoryError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise DataError(f"{part.name} cannot be read: {reason:.300}") from error
    X = np.asarray(X) if not isinstance(X, np.ndarray) else X
    if X.ndim != 2:
        raise DataError(f"{part.name} must hold vectors (n, d); got the shape {X.shape}")
    if y is not None and len(y) != len(X):
        raise DataError(f"{part.name} has {len(X)} vectors and {len(y)} labels")
    return X, y


@dataclass(frozen=True)
class _Array:
    name: str
    X: Any
    y: Any

    def read(self) -> tuple[np.ndarray, Any]:
        return np.asarray(self.X), self.y


@dataclass(frozen=True)
class _Delayed:
    """A block of a Dask array, computed where the part is read."""

    name: str
    X: Any
    y: Any

    def read(self) -> tuple[np.ndarray, Any]:
        return np.asarray(_compute(self.X)), _compute(self.y)


@dataclass(frozen=True)
class _Npy:
    name: str
    path: str
    start: int
    stop: int
    y: Any

    def read(self) -> tuple[np.ndarray, Any]:
        rows = np.load(self.path, mmap_mode="r", allow_pickle=False)[self.start : self.stop]
        return rows, _read_labels(self.y, self.start, self.stop)


@dataclass(frozen=True)
class _Parquet:
    name: str
    path: str
    group: int
    label: str | None
    y: Any

    def read(self) -> tuple[np.ndarray, Any]:
        parquet = require_module("pyarrow.parquet", "distributed", "reading Parquet")
        table = parquet.ParquetFile(self.path).read_row_group(self.group)
        y = self.y
        if self.label is not None:
            if self.label not in table.column_names:
                raise InputError(f"there is no column {self.label!r} of labels")
            column = table.column(self.label)
            nested = "list" in str(column.type)
            y = _read_lists(column) if nested else column.to_numpy(zero_copy_only=False)
            table = table.drop_columns([self.label])
        held = next((name for name in _VECTOR_COLUMNS if name in table.column_names), None)
        if held is None:
            return np.column_stack([column.to_numpy() for column in table.columns]), y
        return _read_lists(table.column(held)), y


def _read_lists(chunks: Any) -> np.ndarray:
    """The vectors (n, d) of a column of lists."""
    column = chunks.combine_chunks()
    if column.null_count:
        raise InputError(f"{column.null_count} vectors are missing")
    values = column.flatten().to_numpy(zero_copy_only=False)
    if len(column) == 0 or values.size % len(column):
        raise InputError("its vectors have several lengths")
    lengths = np.diff(column.offsets.to_numpy()) if hasattr(column, "offsets") else [0]
    if len(np.unique(lengths)) > 1:
        raise InputError("its vectors have several lengths")
    return np.asarray(values.reshape(len(column), -1))


@dataclass(frozen=True)
class _Zarr:
    name: str
    path: str
    start: int
    stop: int
    y: Any

    def read(self) -> tuple[np.ndarray, Any]:
        rows = np.asarray(_open_zarr(self.path)[self.start : self.stop])
        return rows, _read_labels(self.y, self.start, self.stop)


@dataclass(frozen=True)
class _Rows:
    """Labels that lie in a file beside the vectors."""

    path: str

    def open(self) -> Any:
        """All of them, not yet read."""
        if _is_zarr(Path(self.path)):
            return _open_zarr(self.path)
        return np.load(self.path, mmap_mode="r", allow_pickle=False)


def _read_labels(y: Any, start: int, stop: int) -> Any:
    if not isinstance(y, _Rows):
        return y
    return np.asarray(y.open()[start:stop])


def _open_zarr(path: str) -> Any:
    """Open an array for reading; no codec is reached but those that only compress."""
    zarr = require_module("zarr", "distributed", "reading Zarr")
    for place in (Path(path, name) for name in _ZARR_DOCUMENTS):
        if place.is_file():
            with open(place, "rb") as file:
                document = json.loads(file.read(_LARGEST_DOCUMENT))
            if strange := sorted(_find_codecs(document) - _CODECS):
                raise DataError(f"it is encoded by {strange[0]!r:.60}, which mien does not read")
    return zarr.open_array(path, mode="r")


def _find_codecs(document: Any) -> set[str]:
    """The names of all codecs in the document of a Zarr array, also of those inside others."""
    found: set[str] = set()
    if isinstance(document, dict):
        for key in ("codecs", "index_codecs", "filters", "compressor"):
            held = document.get(key)
            for one in held if isinstance(held, list) else [held]:
                if isinstance(one, dict):
                    name = one.get("name", one.get("id"))
                    found |= {str(name).removeprefix("numcodecs.")}
                    found |= _find_codecs(one.get("configuration")) | _find_codecs(one)
                elif one is not None:
                    found.add(str(one))
    return found


def find_parts(X: Any, y: Any = None) -> Parts:
    """The parts of what a user gave; see :func:`mien.distributed.fit`."""
    if is_dask_array(X):
        return _from_dask(X, y)
    if isinstance(X, np.ndarray):
        return _from_array(X, y)
    if isinstance(X, (str, os.PathLike)) or _is_list_of_paths(X):
        return _from_files(_list_files(X), y)
    if isinstance(X, Iterable):
        if y is not None:
            raise InputError("an iterable gives (X, y) for each part: leave y out")
        return Parts(_from_iterable(X), len(X) if isinstance(X, (list, tuple)) else None)
    raise InputError(
        "X must be an array, a Dask array, a path or a list of paths to .npy, Parquet or Zarr, or "
        f"an iterable of (X, y); got {type(X).__name__}"
    )


def _is_list_of_paths(X: Any) -> bool:
    return (
        isinstance(X, (list, tuple))
        and len(X) > 0
        and all(isinstance(one, (str, os.PathLike)) for one in X)
    )


def _from_array(X: np.ndarray, y: Any) -> Parts:
    if X.ndim != 2:
        raise InputError(f"X must be (n, d); got {X.shape}")
    labels = None if y is None else np.asarray(y)
    if labels is not None and len(labels) != len(X):
        raise InputError(f"X has {len(X)} rows and y has {len(labels)} labels")
    if isinstance(X, np.memmap) and X.filename is not None and X.flags.c_contiguous:
        path = str(X.filename)
        if path.endswith(".npy") and np.load(path, mmap_mode="r").shape == X.shape:
            return _from_files([Path(path)], y)
    cuts = _cut(len(X), X.shape[1] * X.dtype.itemsize)
    parts = [
        _Array(f"rows {low} to {high} of X", X[low:high], None if y is None else labels[low:high])  # type: ignore[index]
        for low, high in cuts
    ]
    return Parts(parts, len(parts))


def _from_iterable(items: Iterable[Any]) -> Iterator[Part]:
    for k, item in enumerate(items):
        X, y = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        yield _Array(f"part {k}", X, y)


def _from_dask(X: Any, y: Any) -> Parts:
    if X.ndim != 2:
        raise InputError(f"X must be (n, d); got a Dask array of shape {X.shape}")
    if any(np.isnan(side) for side in X.shape):
        raise InputError(
            "the Dask array does not know its number of rows: call compute_chunk_sizes() first"
        )
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    blocks = X.to_delayed().ravel().tolist()
    edges = np.concatenate([[0], np.cumsum(X.chunks[0])]).astype(int)
    if y is None:
        labels: list[Any] = [None] * len(blocks)
    elif is_dask_array(y):
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.shape[0] != X.shape[0] or y.ndim > 2:
            raise InputError(f"X has {X.shape[0]} rows and y has the shape {y.shape}")
        blocked = y.rechunk({0: X.chunks[0], 1: -1} if y.ndim == 2 else (X.chunks[0],))
        labels = blocked.to_delayed().ravel().tolist()
    else:
        known = np.asarray(y)
        if len(known) != X.shape[0]:
            raise InputError(f"X has {X.shape[0]} rows and y has {len(known)} labels")
        labels = [known[low:high] for low, high in pairwise(edges)]
    parts = [
        _Delayed(f"block {k} of the Dask array", block, label)
        for k, (block, label) in enumerate(zip(blocks, labels, strict=True))
    ]
    return Parts(parts, len(parts))


def _list_files(X: Any) -> list[Path]:
    """The files that a path, a folder or a list of paths stands for, in order."""
    paths = [Path(X)] if isinstance(X, (str, os.PathLike)) else [Path(one) for one in X]
    files: list[Path] = []
    for path in paths:
        if not path.exists():
            raise MissingDataError(f"{str(path)!r} does not exist")
        if not path.is_dir() and not path.is_file():
            raise InputError(f"{str(path)!r} is not a regular file")
        if path.is_dir() and not _is_zarr(path):
            inside = sorted(
                one
                for one in path.iterdir()
                if one.suffix in _SUFFIXES and (one.is_file() or _is_zarr(one))
            )
            if not inside:
                raise MissingDataError(
                    f"there is no .npy, .parquet or .zarr in the folder {str(path)!r}"
                )
            files += inside
        elif path.suffix in _SUFFIXES or _is_zarr(path):
            files.append(path)
        else:
            raise InputError(f"{str(path)!r} is not a file of .npy, Parquet or Zarr")
    return files


def _is_zarr(path: Path) -> bool:
    return path.is_dir() and any((path / name).is_file() for name in _ZARR_DOCUMENTS)


def _from_files(files: list[Path], y: Any) -> Parts:
    """Parts of files; y is the name of a column, one array, or files beside those of X."""
    beside: list[Path] | None = None
    label = y if isinstance(y, str) and all(file.suffix == ".parquet" for file in files) else None
    if label is None and (isinstance(y, (str, os.PathLike)) or _is_list_of_paths(y)):
        beside = _list_files(y)
        if len(beside) != len(files):
            raise InputError(f"X has {len(files)} files and y has {len(beside)}: one each")
    known = None if y is None or label is not None or beside is not None else np.asarray(y)
    parts: list[Part] = []
    seen = 0
    for k, file in enumerate(files):
        labels = None if beside is None else _Rows(str(beside[k].resolve()))
        made, n = _parts_of(file, label, labels, None if known is None else known[seen:])
        if labels is not None and (m := _count_labels(labels)) != n:
            raise InputError(f"{str(file)!r} has {n} rows and {labels.path!r} has {m} labels")
        parts += made
        seen += n
    if known is not None and len(known) != seen:
        raise InputError(f"the files have {seen} rows and y has {len(known)} labels")
    return Parts(parts, len(parts))


def _count_labels(labels: _Rows) -> int:
    try:
        shape = labels.open().shape
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{labels.path!r} cannot be read: {error}") from error
    if len(shape) != 1:
        raise InputError(f"{labels.path!r} must hold one label per row; got the shape {shape}")
    return int(shape[0])


def _parts_of(
    file: Path, label: str | None, labels: _Rows | None, known: np.ndarray | None
) -> tuple[list[Part], int]:
    """The parts of one file, and its number of rows; known labels begin with its first row."""
    name, path = repr(str(file)), str(file.resolve())
    try:
        if file.suffix == ".parquet":
            parquet = require_module("pyarrow.parquet", "distributed", "reading Parquet")
            metadata = parquet.ParquetFile(path).metadata
            sizes = [metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)]
            edges = np.concatenate([[0], np.cumsum(sizes)]).astype(int).tolist()
            parts: list[Part] = [
                _Parquet(
                    f"row group {g} of {name}",
                    path,
                    g,
                    label,
                    None if known is None else known[edges[g] : edges[g + 1]],
                )
                for g in range(len(sizes))
                if sizes[g]
            ]
            return parts, edges[-1]
        if file.suffix == ".npy":
            array = np.load(path, mmap_mode="r", allow_pickle=False)
            kind: Any = _Npy
            step = 1
        else:
            array = _open_zarr(path)
            kind, step = _Zarr, int(array.chunks[0])
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{name} cannot be read: {error}") from error
    if array.ndim != 2:
        raise InputError(f"{name} must hold vectors (n, d); got the shape {array.shape}")
    beside = None if labels is None else labels
    cuts = _cut(array.shape[0], array.shape[1] * array.dtype.itemsize, step)
    parts = [
        kind(
            f"rows {low} to {high} of {name}" if len(cuts) > 1 else name,
            path,
            low,
            high,
            beside if known is None else known[low:high],
        )
        for low, high in cuts
    ]
    return parts, int(array.shape[0])


def _cut(n: int, row_bytes: int, step: int = 1) -> list[tuple[int, int]]:
    """Ranges of rows of about ``PART_BYTES``, at multiples of ``step``, whoever works on them."""
    rows = max(1, PART_BYTES // max(row_bytes, 1))
    rows = max(step, rows // step * step)
    return [(low, min(low + rows, n)) for low in range(0, n, rows)]
