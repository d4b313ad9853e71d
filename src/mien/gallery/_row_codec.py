"""How the values of a row are stored: as they are, or sealed into their row; with a checksum."""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from mien.errors import GalleryDamagedError
from mien.gallery._person_keys import PersonKeys
from mien.gallery._rotation import Rotation
from mien.gallery._sealing import Cipher, Sealer

__all__ = ["CHECK", "RowCodec", "seal_identity"]

#: Bytes of the checksum of a row.
CHECK = 16
# Of a row of templates: person, digest, face, stored vector.
_KINDS = (int, bytes, int, bytes)


def seal_identity(features: str, uuid: str | None) -> bytes:
    """What the key of a gallery belongs to; format 1 named no gallery."""
    return b"gallery\x00" + (uuid or "").encode("ascii", "replace") + features.encode("utf-8")


class RowCodec:
    """Names, vectors and sources to bytes and back, and the checksums of rows.

    A checksum covers every value of its row, its table and its gallery. In a sealed gallery it
    is keyed: nobody without the key can change a row, or bring one from another gallery. The *sum*
    of all rows of a table, also keyed, tells when one was left out, added or exchanged.

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
    uuid : str or None
        Of the gallery; None is format 1, whose rows have no checksum.
    keys : PersonKeys or None
        Data keys of people, which seal what belongs to a person; None seals with the gallery's
        own key, as formats 1 and 2 and exports do.
    rotation : Rotation or None
        Turns vectors before they are sealed, and back when they are read.
    """

    def __init__(
        self,
        where: str,
        features: str,
        dimension: int,
        sealer: Sealer | None,
        seal_names: bool,
        uuid: str | None,
        keys: PersonKeys | None = None,
        rotation: Rotation | None = None,
    ) -> None:
        self.where = where
        self.features = features
        self.dimension = dimension
        self.sealer = sealer
        self.seal_names = seal_names
        self.uuid = uuid
        self.keys = keys
        self.rotation = rotation
        plain = hashlib.sha256(b"mien gallery\x00" + (uuid or "").encode("utf-8")).digest()
        self._row_key = plain if sealer is None else sealer.row_key
        self._sum_key = plain if sealer is None else sealer.sum_key
        self._own = (uuid or "").encode("utf-8")

    # ------------------------------------------------------------------------ values

    def _cipher(self, person: int) -> Cipher:
        """What seals the values of a person."""
        if self.keys is not None:
            return self.keys.cipher(person)
        if self.sealer is None:
            raise RuntimeError("nothing is sealed here")
        return self.sealer

    @property
    def _seals_names(self) -> bool:
        return self.seal_names and self.sealer is not None

    def tag(self, name: str) -> bytes:
        if self.seal_names and self.sealer is not None:
            return self.sealer.tag(name)
        return name.encode("utf-8")

    def hide_name(self, name: str, number: int) -> bytes:
        return self.hide_text(name, number, b"name")

    def show_name(self, stored: bytes, number: int) -> str:
        return self.show_text(stored, number, b"name")

    def hide_text(self, text: str, number: int, what: bytes) -> bytes:
        """A name, or another text about a person; sealed where names are."""
        content = text.encode("utf-8")
        if self._seals_names:
            return self._cipher(number).seal(content, self._own + what + b"\x00%d" % number)
        return content

    def show_text(self, stored: bytes, number: int, what: bytes) -> str:
        if type(stored) is not bytes or type(number) is not int:
            raise self.corrupted("invalid person record")
        content = stored
        if self._seals_names:
            identity = self._own + what + b"\x00%d" % number
            where = f"{self.where}: {what.decode()} {number}"
            content = self._cipher(number).unseal(stored, identity, where)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.corrupted(f"{what.decode()} {number} is not text") from error

    def hide_vector(self, vector: np.ndarray, person: int, digest: bytes, face: int) -> bytes:
        if self.rotation is not None:
            vector = self.rotation.turn(vector)
        content = np.ascontiguousarray(vector, dtype="<f4").tobytes()
        if self.sealer is None:
            return content
        return self._cipher(person).seal(content, self._vector_identity(person, digest, face))

    def show_vectors(self, rows: Sequence[Any]) -> np.ndarray:
        """Vectors (n, d) of rows (person, digest, face, stored, …)."""
        if not all(tuple(map(type, row[:4])) == _KINDS for row in rows):
            raise self.corrupted("invalid template record")
        try:
            contents = self._open_vectors(rows)
        except GalleryDamagedError:
            # Another process may have turned all vectors anew.
            if not self.load_rotation():
                raise
            contents = self._open_vectors(rows)
        size = 4 * self.dimension
        if any(len(content) != size for content in contents):
            raise self.corrupted("a template has the wrong length")
        vectors = np.frombuffer(b"".join(contents), dtype="<f4").reshape(-1, self.dimension)
        # Written so that NaN fails it; also keeps squares of garbage from overflowing.
        if not np.all(np.abs(vectors) <= 1.01):
            raise self.corrupted("a template is not of unit length")
        if self.rotation is not None:
            return self.rotation.turn_back(vectors)
        return vectors.astype(np.float32, copy=False)

    def _open_vectors(self, rows: Sequence[Any]) -> list[bytes]:
        if self.sealer is None:
            return [row[3] for row in rows]
        if self.keys is not None:
            self.keys.load({row[0] for row in rows})
        what = f"{self.where}: a template"
        return [
            self._cipher(row[0]).unseal(row[3], self._vector_identity(*row[:3]), what)
            for row in rows
        ]

    def load_rotation(self) -> bool:
        """Take over another rotation if there is one; whether there was."""
        return False

    def hide_source(self, source: str | None, person: int, digest: bytes) -> bytes | None:
        if source is None:
            return None
        content = source.encode("utf-8", "surrogateescape")
        if self._seals_names:
            return self._cipher(person).seal(content, self._own + b"source\x00" + digest)
        return content

    def show_source(self, stored: bytes | None, person: int, digest: bytes) -> str | None:
        if stored is None:
            return None
        if type(stored) is not bytes or type(digest) is not bytes or type(person) is not int:
            raise self.corrupted("invalid source of a template")
        content = stored
        if self._seals_names:
            identity = self._own + b"source\x00" + digest
            content = self._cipher(person).unseal(stored, identity, f"{self.where}: a source")
        return content.decode("utf-8", "surrogateescape")

    def hide_picture(self, content: bytes, person: int, digest: bytes, face: int) -> bytes:
        """A thumbnail, sealed wherever templates are."""
        if self.sealer is None:
            return content
        identity = b"thumbnail\x00" + self._identity(person, digest, face)
        return self._cipher(person).seal(content, identity)

    def show_picture(self, stored: bytes, person: int, digest: bytes, face: int) -> bytes:
        if self.sealer is None:
            return stored
        identity = b"thumbnail\x00" + self._identity(person, digest, face)
        return self._cipher(person).unseal(stored, identity, f"{self.where}: a thumbnail")

    def _identity(self, person: int, digest: bytes, face: int) -> bytes:
        # A template opens in its own row only: nobody can give one person another's face.
        own = self._own + self.features.encode()
        return b"%s\x00%d\x00%s\x00%d" % (own, person, digest, face)

    def _vector_identity(self, person: int, digest: bytes, face: int) -> bytes:
        # A vector that was turned by another rotation does not open: it would be nonsense.
        mark = b"" if self.rotation is None else b"\x00rotation\x00" + self.rotation.mark
        return self._identity(person, digest, face) + mark

    # ------------------------------------------------------------------------ checksums

    def check_row(self, table: bytes, *values: Any) -> bytes:
        """The checksum of a row: of its table, its gallery and every value."""
        parts = [table, self._own]
        for value in values:
            if value is None:
                parts.append(b"\x00")
            elif type(value) is int:
                parts.append(b"i%d" % value)
            elif type(value) is float:
                parts.append(b"f" + struct.pack("<d", value))
            elif type(value) is bytes:
                parts.append(b"b%d:" % len(value) + value)
            elif type(value) is str:
                content = value.encode("utf-8", "surrogatepass")
                parts.append(b"s%d:" % len(content) + content)
            else:
                raise self.corrupted("invalid value in a row")
        content = b"\x1f".join(parts)
        return hashlib.blake2b(content, key=self._row_key, digest_size=CHECK).digest()

    def require_row(self, check: Any, table: bytes, *values: Any) -> None:
        """Refuse a row that is not as it was written; rows of format 1 have no checksum."""
        if self.uuid is None:
            return
        wanted = self.check_row(table, *values)
        if type(check) is not bytes or not hmac.compare_digest(check, wanted):
            raise self.corrupted(f"a row of {table.decode()} was altered")

    def term(self, check: bytes) -> int:
        """What a row adds to the sum of its table."""
        content = hashlib.blake2b(check, key=self._sum_key, digest_size=32).digest()
        return int.from_bytes(content, "little")

    def corrupted(self, what: str) -> GalleryDamagedError:
        return GalleryDamagedError(f"{self.where} is corrupted: {what}")
