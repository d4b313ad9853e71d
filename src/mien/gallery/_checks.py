"""What a gallery takes, and whether what it holds is whole."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from mien._core.text import check_name
from mien._core.validation import check_array, check_integer
from mien.errors import InputError

__all__ = [
    "UNIT",
    "check_digest",
    "check_digests",
    "check_name",
    "check_probes",
    "check_vectors",
    "scale_vectors",
]

_DIGEST = re.compile(r"[0-9a-f]{64}")
#: Stored as float32: a length may be this far from one.
UNIT = 1e-3


def scale_vectors(vectors: Any, dimension: int) -> np.ndarray:
    """Vectors (n, d) as float32, scaled to unit length, or an error."""
    X = check_array("vectors", vectors, shape=("n", dimension))
    if len(X) == 0:
        raise InputError("there are no vectors: a failure to acquire is not enrolled")
    X = X.astype(np.float64)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    if not np.all(lengths > 0):
        worst = int(np.argmin(lengths))
        raise InputError(f"vector {worst} is zero, and has no direction")
    # What has unit length already stays as it is, to the bit.
    scaled = np.where(np.abs(lengths - 1) <= UNIT, X, X / lengths)
    return scaled.astype(np.float32)


def check_vectors(vectors: Any, dimension: int) -> np.ndarray:
    """Vectors (n, d) as float32 of unit length, as they are stored, or an error."""
    X = scale_vectors(vectors, dimension)
    if not np.allclose(np.asarray(vectors, dtype=np.float64), X, atol=2 * UNIT, rtol=0):
        raise InputError("vectors must have unit length, as a gallery stores them")
    return X


def check_probes(probes: Any, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures a probe (n,) and their sums (n, d), from an array or a list of arrays."""
    if isinstance(probes, np.ndarray) and probes.ndim == 2:
        return np.ones(len(probes), dtype=np.int64), scale_vectors(probes, dimension)
    if isinstance(probes, (str, bytes)) or not hasattr(probes, "__iter__"):
        raise InputError(f"probes must be vectors; got {type(probes).__name__}")
    sets = [np.atleast_2d(np.asarray(probe)) for probe in probes]
    if not sets:
        raise InputError("there are no probes")
    checked = [scale_vectors(probe, dimension) for probe in sets]
    counts = np.asarray([len(probe) for probe in checked])
    return counts, np.stack([probe.sum(axis=0) for probe in checked])


def check_digests(
    digests: Sequence[str] | None, faces: Sequence[int] | None, vectors: np.ndarray
) -> tuple[list[bytes], list[int]]:
    """Raw digests and numbers of faces, one for each vector (n, d).

    Without digests each vector stands for its own picture: the same vector is the same picture.
    """
    n = len(vectors)
    which = [0] * n if faces is None else [check_integer("faces", face) for face in faces]
    if len(which) != n or any(not 0 <= face < 2**31 for face in which):
        raise InputError(f"faces must be {n} numbers from 0; got {len(which)}")
    if digests is None:
        rows = np.ascontiguousarray(vectors, dtype="<f4")
        return [hashlib.sha256(b"vector\x00" + row.tobytes()).digest() for row in rows], which
    if isinstance(digests, str) or len(digests) != n:
        raise InputError(f"give one digest for each vector, {n} in all; got {len(digests)}")
    return [check_digest(digest) for digest in digests], which


def check_digest(digest: Any) -> bytes:
    """A SHA-256 in hexadecimal as bytes, or an error."""
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise InputError(
            "a digest is the SHA-256 of the picture file, 64 hexadecimal digits; "
            f"got {digest!r:.80}"
        )
    return bytes.fromhex(digest)
