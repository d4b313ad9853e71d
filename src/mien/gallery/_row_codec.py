"""How the values of a row are stored: as they are, or sealed into their row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mien.errors import GalleryDamagedError
from mien.gallery._sealing import Sealer

__all__ = ["RowCodec", "seal_identity"]


# Of a row of templates: person, digest, face, stored vector.
_KINDS = (int, bytes, int, bytes)


def seal_identity(features: str) -> bytes:
    """What the check of a key belongs to."""
    return b"gallery\x00" + features.encode("utf-8")


class RowCodec:
    """Names, vectors and sources to bytes and back.

    Parameters
    ----------
    where : str
        What to call the file in errors.
    features : str
        What the vectors are.
    dimension : int
        Their length.
    sealer : Sealer or None
        None stores everything as it is.
    seal_names : bool
        Whether names and sources are sealed too.
    """

    def __init__(
        self, where: str, features: str, dimension: int, sealer: Sealer | None, seal_names: bool
    ) -> None:
        self.where = where
        self.features = features
        self.dimension = dimension
        self.sealer = sealer
        self.seal_names = seal_names

    def tag(self, name: str) -> bytes:
        if self.seal_names and self.sealer is not None:
            return self.sealer.tag(name)
        return name.encode("utf-8")

    def hide_name(self, name: str, number: int) -> bytes:
        content = name.encode("utf-8")
        if self.seal_names and self.sealer is not None:
            return self.sealer.seal(content, b"name\x00%d" % number)
        return content

    def show_name(self, stored: bytes, number: int) -> str:
        if type(stored) is not bytes or type(number) is not int:
            raise GalleryDamagedError(f"{self.where} is damaged: a name is none")
        content = stored
        if self.seal_names and self.sealer is not None:
            content = self.sealer.unseal(stored, b"name\x00%d" % number, f"name {number}")
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise GalleryDamagedError(f"{self.where} is damaged: name {number}") from error

    def hide_vector(self, vector: np.ndarray, person: int, digest: bytes, face: int) -> bytes:
        content = np.ascontiguousarray(vector, dtype="<f4").tobytes()
        if self.sealer is None:
            return content
        return self.sealer.seal(content, self._identity(person, digest, face))

    def show_vectors(self, rows: Sequence[Any]) -> np.ndarray:
        """Vectors (n, d) of rows (person, digest, face, stored)."""
        if not all(tuple(map(type, row)) == _KINDS for row in rows):
            raise GalleryDamagedError(f"{self.where} is damaged: a row of templates is none")
        if self.sealer is None:
            contents = [row[3] for row in rows]
        else:
            contents = [
                self.sealer.unseal(stored, self._identity(person, digest, face), "a template")
                for person, digest, face, stored in rows
            ]
        size = 4 * self.dimension
        if any(len(content) != size for content in contents):
            raise GalleryDamagedError(f"{self.where} is damaged: a template has the wrong length")
        vectors = np.frombuffer(b"".join(contents), dtype="<f4").reshape(-1, self.dimension)
        # Written so that NaN fails it; also keeps squares of garbage from overflowing.
        if not np.all(np.abs(vectors) <= 1.01):
            raise GalleryDamagedError(f"{self.where} is damaged: a template is not of unit length")
        return vectors.astype(np.float32, copy=False)

    def hide_source(self, source: str | None, digest: bytes) -> bytes | None:
        if source is None:
            return None
        content = source.encode("utf-8", "surrogateescape")
        if self.seal_names and self.sealer is not None:
            return self.sealer.seal(content, b"source\x00" + digest)
        return content

    def show_source(self, stored: bytes | None, digest: bytes) -> str | None:
        if stored is None:
            return None
        content = stored
        if self.seal_names and self.sealer is not None:
            content = self.sealer.unseal(stored, b"source\x00" + digest, "a source")
        return content.decode("utf-8", "surrogateescape")

    def _identity(self, person: int, digest: bytes, face: int) -> bytes:
        # A template opens in its own row only: nobody can give one person another's face.
        return b"%s\x00%d\x00%s\x00%d" % (self.features.encode(), person, digest, face)
