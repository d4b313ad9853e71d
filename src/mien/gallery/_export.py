"""One file that carries a gallery from place to place: a model file, with its checks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mien.errors import GalleryFormatError, GalleryKeyError, ModelDamagedError
from mien.files import load, save
from mien.gallery._face_model import FaceModel
from mien.gallery._row_codec import RowCodec, seal_identity
from mien.gallery._sealing import open_seal
from mien.gallery._store import Store

__all__ = ["ExportedRows", "GalleryExport", "read_export", "write_export"]


def _pack(values: list[bytes | None]) -> dict[str, np.ndarray]:
    """Byte strings as one array and the length of each; None has the length -1."""
    lengths = np.asarray([-1 if value is None else len(value) for value in values], np.int64)
    joined = b"".join(value for value in values if value is not None)
    return {"bytes": np.frombuffer(joined, dtype=np.uint8), "lengths": lengths}


def _unpack(packed: dict[str, np.ndarray]) -> list[bytes | None]:
    lengths = np.asarray(packed["lengths"], dtype=np.int64)
    ends = np.cumsum(np.maximum(lengths, 0))
    content = np.asarray(packed["bytes"], dtype=np.uint8).tobytes()
    if len(content) != (int(ends[-1]) if len(ends) else 0):
        raise ModelDamagedError("the names or sources of the export do not fit their lengths")
    return [
        None if length < 0 else content[end - length : end]
        for length, end in zip(lengths.tolist(), ends.tolist(), strict=True)
    ]


@dataclass
class ExportedRows:
    """Templates as an export holds them, one entry each; sealed or not."""

    features: str
    model: FaceModel
    seal: str | None
    seal_names: bool
    owners: np.ndarray
    names: list[bytes | None]
    numbers: np.ndarray
    digests: np.ndarray
    faces: np.ndarray
    vectors: np.ndarray
    sources: list[bytes | None]
    qualities: np.ndarray
    added: np.ndarray

    def to_arrays(self) -> dict[str, Any]:
        """Plain values that :meth:`from_arrays` takes back."""
        content = dict(vars(self))
        return content | {"names": _pack(self.names), "sources": _pack(self.sources)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> ExportedRows:
        """Build it again; the numbers of rows must agree."""
        content = dict(arrays)
        if set(content) != set(cls.__dataclass_fields__):
            raise ModelDamagedError("the export lacks a part")
        content |= {"names": _unpack(content["names"]), "sources": _unpack(content["sources"])}
        content["model"] = FaceModel.of(content["model"])
        rows = cls(**content)
        n = len(rows.owners)
        parts = (rows.digests, rows.faces, rows.vectors, rows.sources, rows.qualities, rows.added)
        if any(len(part) != n for part in parts) or len(rows.names) != len(rows.numbers):
            raise ModelDamagedError("the parts of the export do not fit each other")
        if rows.digests.shape != (n, 32) or rows.vectors.ndim != 2:
            raise ModelDamagedError("the digests or vectors of the export have a wrong shape")
        return rows


@dataclass(frozen=True)
class GalleryExport:
    """What an export holds once it was opened: one entry a template."""

    model: FaceModel
    people: list[str]
    vectors: np.ndarray
    digests: list[str]
    faces: list[int]
    sources: list[str | None]
    qualities: list[float | None]
    added: list[float]


def write_export(store: Store, model: FaceModel, path: Path, *, plaintext: bool) -> int:
    """Write all people and templates; gives the number of templates."""
    people = store.query("SELECT id, name FROM person ORDER BY id")
    rows = store.query(
        "SELECT person, digest, face, vector, source, quality, added FROM template "
        "ORDER BY person, digest, face"
    )
    sealed = store.sealer is not None and not plaintext
    n = len(rows)
    if sealed:
        joined = b"".join(row[3] for row in rows)
        vectors = (
            np.frombuffer(joined, dtype=np.uint8).reshape(n, -1) if n else np.zeros((0, 1), "u1")
        )
        names = [name for _, name in people]
        sources = [row[4] for row in rows]
    else:
        vectors = (
            store.show_vectors([row[:4] for row in rows]).copy()
            if n
            else np.zeros((0, store.dimension), np.float32)
        )
        names = [store.show_name(name, number).encode("utf-8") for number, name in people]
        shown = [store.show_source(row[4], row[1]) for row in rows]
        sources = [
            None if source is None else source.encode("utf-8", "surrogateescape")
            for source in shown
        ]
    export = ExportedRows(
        features=store.features,
        model=model,
        seal=store.text("seal") if sealed else None,
        seal_names=sealed and store.seal_names,
        owners=np.asarray([row[0] for row in rows], dtype=np.int64),
        names=names,
        numbers=np.asarray([number for number, _ in people], dtype=np.int64),
        digests=np.frombuffer(b"".join(row[1] for row in rows), np.uint8).reshape(n, 32),
        faces=np.asarray([row[2] for row in rows], dtype=np.int64),
        vectors=vectors,
        sources=sources,
        qualities=np.asarray([np.nan if row[5] is None else row[5] for row in rows], float),
        added=np.asarray([row[6] for row in rows], dtype=float),
    )
    save(export, path)
    return n


def read_export(path: Path, key: bytes | str | None) -> GalleryExport:
    """Read and, where it is sealed, open an export."""
    rows = load(path)
    if not isinstance(rows, ExportedRows):
        raise GalleryFormatError(
            f"{path} is a model file of a {type(rows).__name__}, and not an exported gallery"
        )
    named = dict(zip(rows.numbers.tolist(), rows.names, strict=True))
    if not set(rows.owners.tolist()) <= set(named) or None in rows.names:
        raise ModelDamagedError(f"{path}: a template belongs to nobody")
    reader = _reader(path, rows, key)
    try:
        names = {number: reader.show_name(name or b"", number) for number, name in named.items()}
        digests = [row.tobytes() for row in rows.digests]
        faces, owners = rows.faces.tolist(), rows.owners.tolist()
        vectors = rows.vectors
        if rows.seal is not None and len(digests):
            stored = [row.tobytes() for row in rows.vectors]
            vectors = reader.show_vectors(list(zip(owners, digests, faces, stored, strict=True)))
        return GalleryExport(
            model=rows.model,
            people=[names[owner] for owner in owners],
            vectors=vectors,
            digests=[digest.hex() for digest in digests],
            faces=faces,
            sources=[reader.show_source(*pair) for pair in zip(rows.sources, digests, strict=True)],
            qualities=[None if np.isnan(q) else q for q in rows.qualities.tolist()],
            added=rows.added.tolist(),
        )
    except UnicodeDecodeError as error:
        raise ModelDamagedError(f"{path}: a name or source is not text") from error


def _reader(path: Path, rows: ExportedRows, key: bytes | str | None) -> RowCodec:
    sealer = None
    if rows.seal is not None:
        if key is None:
            raise GalleryKeyError(f"{path} is sealed: give its key")
        sealer = open_seal(key, rows.seal, seal_identity(rows.features), str(path))
    dimension = rows.model.n_features
    return RowCodec(str(path), rows.features, dimension, sealer, rows.seal_names)
