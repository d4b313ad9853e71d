"""One file that carries a gallery from place to place: a model file, with its checks."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mien.errors import GalleryDamagedError, GalleryFormatError, GalleryKeyError, ModelDamagedError
from mien.files import load, load_bytes, save, save_bytes
from mien.gallery._face_model import FaceModel
from mien.gallery._protocol import GalleryStore
from mien.gallery._row_codec import RowCodec, seal_identity
from mien.gallery._sealing import Sealer, open_seal

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
    """Templates as an export holds them, one entry each; sealed or not.

    ``model`` is a model file, as bytes in an array. A sealed export has a keyed ``check`` of all
    the rest, so that nobody without the key can change anything, the model included.
    """

    features: str
    uuid: str | None
    model: Any
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
    check: np.ndarray | None = None

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
        rows = cls(**content)
        n = len(rows.owners)
        parts = (rows.digests, rows.faces, rows.vectors, rows.sources, rows.qualities, rows.added)
        if any(len(part) != n for part in parts) or len(rows.names) != len(rows.numbers):
            raise ModelDamagedError("the parts of the export do not fit each other")
        if rows.digests.shape != (n, 32) or rows.vectors.ndim != 2:
            raise ModelDamagedError("the digests or vectors of the export have a wrong shape")
        return rows

    def digest(self, key: bytes) -> np.ndarray:
        """A keyed checksum of everything but itself."""
        digest = hashlib.blake2b(key=key, digest_size=32)
        for name, value in sorted(self.to_arrays().items()):
            if name == "check":
                continue
            parts = value if isinstance(value, dict) else {"": value}
            for part, held in sorted(parts.items()):
                if isinstance(held, np.ndarray):
                    kind = f"{held.dtype.str}{held.shape}"
                    content = np.ascontiguousarray(held).tobytes()
                else:
                    kind, content = type(held).__name__, str(held).encode("utf-8")
                head = f"{name}\x00{part}\x00{kind}\x00{len(content)}\x00"
                digest.update(head.encode("utf-8") + content)
        return np.frombuffer(digest.digest(), dtype=np.uint8)


@dataclass(frozen=True)
class GalleryExport:
    """What an export holds once it was opened: one entry for each template."""

    model: FaceModel
    people: list[str]
    faceless: list[str]
    vectors: np.ndarray
    digests: list[str]
    faces: list[int]
    sources: list[str | None]
    qualities: list[float | None]
    added: list[float]


def write_export(store: GalleryStore, model: FaceModel, path: Path, *, plaintext: bool) -> int:
    """Write all people and templates; gives the number of templates."""
    people, rows = store.all_rows()
    sealed = store.sealed and not plaintext
    codec = store.codec
    n = len(rows)
    vectors = codec.show_vectors(rows).copy() if n else np.zeros((0, store.dimension), np.float32)
    # An export is sealed with the gallery's own key: data keys of people stay where they are.
    target = RowCodec(
        codec.where,
        codec.features,
        codec.dimension,
        codec.sealer if sealed else None,
        codec.seal_names,
        codec.uuid,
    )
    names: list[bytes | None] = [
        target.hide_name(codec.show_name(name, number), number) for number, name in people
    ]
    sources = [
        target.hide_source(codec.show_source(row[4], row[0], row[1]), row[0], row[1])
        for row in rows
    ]
    if sealed:
        joined = b"".join(
            target.hide_vector(vector, *row[:3]) for row, vector in zip(rows, vectors, strict=True)
        )
        vectors = (
            np.frombuffer(joined, dtype=np.uint8).reshape(n, -1) if n else np.zeros((0, 1), "u1")
        )
    export = ExportedRows(
        features=store.features,
        uuid=codec.uuid,
        model=np.frombuffer(save_bytes(model), dtype=np.uint8),
        seal=store.seal_text() if sealed else None,
        seal_names=sealed and codec.seal_names,
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
    if sealed and codec.sealer is not None:
        export.check = export.digest(codec.sealer.row_key)
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
    sealer = _open_sealed(path, rows, key)
    model = _read_model(path, rows)
    reader = RowCodec(
        str(path), rows.features, model.n_features, sealer, rows.seal_names, rows.uuid
    )
    try:
        names = {number: reader.show_name(name or b"", number) for number, name in named.items()}
        digests = [row.tobytes() for row in rows.digests]
        faces, owners = rows.faces.tolist(), rows.owners.tolist()
        vectors = rows.vectors
        if rows.seal is not None and len(digests):
            stored = [row.tobytes() for row in rows.vectors]
            vectors = reader.show_vectors(list(zip(owners, digests, faces, stored, strict=True)))
        return GalleryExport(
            model=model,
            people=[names[owner] for owner in owners],
            faceless=sorted(names[number] for number in set(named) - set(owners)),
            vectors=vectors,
            digests=[digest.hex() for digest in digests],
            faces=faces,
            sources=[
                reader.show_source(*row) for row in zip(rows.sources, owners, digests, strict=True)
            ],
            qualities=[None if np.isnan(q) else q for q in rows.qualities.tolist()],
            added=rows.added.tolist(),
        )
    except UnicodeDecodeError as error:
        raise ModelDamagedError(f"{path}: a name or source is not text") from error


def _open_sealed(path: Path, rows: ExportedRows, key: bytes | str | None) -> Sealer | None:
    if rows.seal is None:
        return None
    if key is None:
        raise GalleryKeyError(f"{path} is sealed: give its key")
    identity = seal_identity(rows.features, rows.uuid)
    sealer = open_seal(key, rows.seal, identity, str(path))
    if rows.uuid is not None and (
        rows.check is None
        or not hmac.compare_digest(rows.check.tobytes(), rows.digest(sealer.row_key).tobytes())
    ):
        raise GalleryDamagedError(
            f"{path} was altered after it was exported: its seal does not fit"
        )
    return sealer


def _read_model(path: Path, rows: ExportedRows) -> FaceModel:
    model = rows.model
    if isinstance(model, np.ndarray):
        model = load_bytes(model.tobytes(), f"the model in {path}")
    if not FaceModel.takes(model):
        raise ModelDamagedError(f"{path}: a {type(model).__name__} cannot compare faces")
    model = FaceModel.of(model)
    if model.features != rows.features:
        raise ModelDamagedError(f"{path}: its model is for other vectors")
    return model
