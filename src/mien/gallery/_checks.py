"""What a gallery takes, and whether what it holds is whole."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from mien._core.text import check_name
from mien._core.validation import check_array, check_integer
from mien.errors import InputError
from mien.gallery._records import Consent

__all__ = [
    "UNIT",
    "check_consent",
    "check_digest",
    "check_digests",
    "check_name",
    "check_probes",
    "check_quality",
    "check_thumbnail",
    "check_vectors",
    "scale_vectors",
]

_DIGEST = re.compile(r"[0-9a-f]{64}")
#: Stored as float32: a length may be this far from one.
UNIT = 1e-3
_LARGEST_THUMBNAIL = 256 * 1024
_PICTURES = (b"\xff\xd8\xff", b"\x89PNG\r\n", b"RIFF")


def scale_vectors(vectors: Any, dimension: int) -> np.ndarray:
    """Vectors (n, d) as float32, scaled to unit length, or an error."""
    X = check_array("vectors", vectors, shape=("n", dimension))
    if len(X) == 0:
        raise InputError("there are no vectors: a failure to acquire cannot be enrolled")
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

    Without digests each vector counts as its own picture: the same vector is the same picture.
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


def check_consent(consent: Consent) -> str:
    """A consent as text, or an error."""
    if not isinstance(consent, Consent):
        raise InputError(f"a consent is a mien.gallery.Consent; got {type(consent).__name__}")
    for label in ("purpose", "text"):
        value = getattr(consent, label)
        if not isinstance(value, str) or not value.strip() or len(value) > 10_000:
            raise InputError(f"the {label} of a consent is a text of at most 10,000 characters")
    times = [consent.given] + ([] if consent.until is None else [consent.until])
    if not all(isinstance(t, (int, float)) and abs(t) < 1e12 for t in times):
        raise InputError("times of a consent are seconds since 1970")
    return json.dumps(asdict(consent))


def check_thumbnail(content: Any) -> bytes:
    """The bytes of a small picture, or an error."""
    if not isinstance(content, bytes) or not content.startswith(_PICTURES):
        raise InputError("a thumbnail is a JPEG, PNG or WebP picture, as bytes")
    if len(content) > _LARGEST_THUMBNAIL:
        raise InputError(
            f"a thumbnail has at most {_LARGEST_THUMBNAIL // 1024} KiB; got {len(content):,} bytes"
        )
    return content


def check_quality(quality: Any) -> float:
    """The quality of a face, or an error."""
    try:
        value = float(quality)
    except (TypeError, ValueError) as error:
        raise InputError(f"a quality is a number between 0 and 1; got {quality!r:.40}") from error
    if not -1e6 <= value <= 1e6:
        raise InputError(f"a quality is a number between 0 and 1; got {value:.4g}")
    return value
