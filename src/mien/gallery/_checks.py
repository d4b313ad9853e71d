"""What a gallery takes, and whether what it holds is whole."""

from __future__ import annotations

import re
import stat
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from mien.errors import GalleryDamagedError, InputError
from mien.gallery._schema import translating
from mien.gallery._store import Store

__all__ = ["check_digests", "check_name", "check_probes", "check_vectors", "find_faults"]

_DIGEST = re.compile(r"[0-9a-f]{64}")
_LONGEST_NAME = 200
# Stored as float32: a length may be this far from one.
_UNIT = 1e-3
_MOST_FAULTS = 20


def check_name(name: str) -> str:
    """A name in one spelling (NFC), without blanks around it, or an error."""
    if not isinstance(name, str):
        raise InputError(f"a name must be a string; got {type(name).__name__}")
    cleaned = unicodedata.normalize("NFC", str(name)).strip()
    if not cleaned or len(cleaned) > _LONGEST_NAME:
        raise InputError(f"a name has 1 to {_LONGEST_NAME} characters; got {len(cleaned)}")
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in cleaned):
        raise InputError(f"a name may not hold control characters; got {cleaned!r}")
    return cleaned


def check_vectors(vectors: Any, dimension: int) -> np.ndarray:
    """Vectors (n, d) as float32 of unit length, or an error."""
    X = np.asarray(vectors)
    if X.ndim != 2 or X.shape[1] != dimension or X.dtype.kind not in "fiu":
        raise InputError(
            f"vectors must be numbers of the shape (n, {dimension}); got {X.dtype} of {X.shape}"
        )
    if len(X) == 0:
        raise InputError("there are no vectors: a failure to acquire is not enrolled")
    X = X.astype(np.float32, copy=False)
    lengths = np.linalg.norm(X.astype(np.float64), axis=1)
    # Written so that NaN fails it.
    if not np.all(np.abs(lengths - 1) <= _UNIT):
        worst = int(np.argmax(~(np.abs(lengths - 1) <= _UNIT)))
        raise InputError(
            "vectors must have unit length, as the engines give them; "
            f"vector {worst} has the length {lengths[worst]:.4g}"
        )
    return X


def check_probes(probes: Any, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures a probe (n,) and their sums (n, d), from an array or a list of arrays."""
    if isinstance(probes, np.ndarray) and probes.ndim == 2:
        return np.ones(len(probes), dtype=np.int64), check_vectors(probes, dimension)
    if isinstance(probes, (str, bytes)) or not hasattr(probes, "__iter__"):
        raise InputError(f"probes must be vectors; got {type(probes).__name__}")
    sets = [np.atleast_2d(np.asarray(probe)) for probe in probes]
    if not sets:
        raise InputError("there are no probes")
    checked = [check_vectors(probe, dimension) for probe in sets]
    counts = np.asarray([len(probe) for probe in checked])
    return counts, np.stack([probe.sum(axis=0) for probe in checked])


def check_digests(
    digests: Sequence[str], faces: Sequence[int] | None, n: int
) -> tuple[list[bytes], list[int]]:
    """Raw digests and numbers of faces, as many as there are vectors."""
    if isinstance(digests, str) or len(digests) != n:
        raise InputError(f"give one digest a vector, {n} in all; got {len(digests)}")
    for digest in digests:
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise InputError(
                "a digest is the SHA-256 of the picture file, 64 hexadecimal digits; "
                f"got {digest!r:.80}"
            )
    which = [0] * n if faces is None else [int(face) for face in faces]
    if len(which) != n or any(not 0 <= face < 2**31 for face in which):
        raise InputError(f"faces must be {n} numbers from 0; got {len(which)}")
    return [bytes.fromhex(digest) for digest in digests], which


def find_faults(store: Store) -> list[str]:
    """Everything that is wrong with the file, one sentence each."""
    faults: list[str] = []
    try:
        with store.reading():
            for (text,) in store.query("PRAGMA integrity_check"):
                if text != "ok":
                    faults.extend(str(text).splitlines())
            for row in store.query("PRAGMA foreign_key_check"):
                faults.append(f"a row of {row[0]} belongs to nobody")
            faults.extend(_faults_of_people(store))
            faults.extend(_faults_of_templates(store))
    except GalleryDamagedError as error:
        faults.append(str(error))
    mode = stat.S_IMODE(store.path.stat().st_mode)
    if mode & 0o077:
        faults.append(f"others may read the file (its mode is {mode:o}, not 600)")
    return faults[:_MOST_FAULTS]


def _faults_of_people(store: Store) -> list[str]:
    faults = []
    last = store.number("next_person")
    for number, tag, name in store.query("SELECT id, tag, name FROM person"):
        if store.tag(store.show_name(name, number)) != tag or not 1 <= number < last:
            faults.append(f"person {number} has a name that does not fit its row")
    return faults


def _faults_of_templates(store: Store) -> list[str]:
    faults: list[str] = []
    with translating(store.path):
        cursor = store.connection.execute(
            "SELECT person, digest, face, vector FROM template ORDER BY person"
        )
        while rows := cursor.fetchmany(10_000):
            lengths = np.linalg.norm(store.show_vectors(rows).astype(np.float64), axis=1)
            for row in np.flatnonzero(~(np.abs(lengths - 1) <= _UNIT)):
                faults.append(f"a template of person {rows[row][0]} is not of unit length")
    return faults
