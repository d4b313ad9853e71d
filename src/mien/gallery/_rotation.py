"""A secret rotation of all vectors of a gallery: ratios and cosines stay, places do not."""

from __future__ import annotations

import hashlib
import hmac

import numpy as np

__all__ = ["SECRET", "Rotation"]

#: Bytes of the secret.
SECRET = 32


class Rotation:
    """An orthogonal matrix made of a secret, drawn uniformly from all of them.

    Parameters
    ----------
    secret : bytes of length 32
        From which it is made, the same on every machine up to rounding.
    dimension : int
        Of the vectors.

    Notes
    -----
    Gaussian numbers from SHAKE-256 of the secret fill a square matrix, whose orthogonal factor
    (with the signs that make it unique) has Haar's distribution.
    """

    def __init__(self, secret: bytes, dimension: int) -> None:
        self._secret = secret
        self._matrices: dict[tuple[bytes, int], np.ndarray] = {}
        self._dimension = dimension
        #: Names the rotation without telling anything of it.
        self.mark = hmac.digest(secret, b"mien rotation mark", "sha256")[:8]

    def _matrix(self, label: bytes, n: int) -> np.ndarray:
        made = self._matrices.get((label, n))
        if made is None:
            made = self._matrices[label, n] = _draw_orthogonal(self._secret, label, n)
        return made

    def turn(self, X: np.ndarray) -> np.ndarray:
        """Vectors (n, d) or one (d,) as they are stored."""
        turned = np.asarray(X, dtype=np.float64) @ self._matrix(b"vectors", self._dimension)
        return turned.astype(np.float32)

    def turn_back(self, X: np.ndarray) -> np.ndarray:
        """What :meth:`turn` was given, to rounding."""
        turned = np.asarray(X, dtype=np.float64) @ self._matrix(b"vectors", self._dimension).T
        return turned.astype(np.float32)

    def turn_places(self, rows: np.ndarray) -> np.ndarray:
        """Rows (n, r) by which candidates are found, turned by another matrix."""
        matrix = self._matrix(b"places", rows.shape[1]).astype(np.float32)
        turned: np.ndarray = rows @ matrix
        return turned


def _draw_orthogonal(secret: bytes, label: bytes, n: int) -> np.ndarray:
    size = n * n + n * n % 2
    content = hashlib.shake_256(b"mien rotation\x00" + label + b"\x00" + secret).digest(8 * size)
    uniform = (np.frombuffer(content, dtype="<u8") >> 11).astype(np.float64) * 2.0**-53
    # Box and Muller; 1 − u is never zero.
    radius = np.sqrt(-2 * np.log1p(-uniform[: size // 2]))
    angle = 2 * np.pi * uniform[size // 2 :]
    normal = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[: n * n]
    Q, R = np.linalg.qr(normal.reshape(n, n))
    matrix: np.ndarray = Q * np.where(np.diagonal(R) < 0, -1.0, 1.0)
    return matrix
