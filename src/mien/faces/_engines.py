"""Engines that find faces and turn them into vectors, behind one small protocol."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

import numpy as np

from mien._core.validation import check_choice
from mien.errors import InputError
from mien.faces._face import Face

__all__ = ["ENGINES", "FaceEngine", "borrow_engine", "check_features", "load_engine"]

ENGINES = ("sface", "dlib", "sface+dlib")
"""Names that `load_engine` takes."""


@runtime_checkable
class FaceEngine(Protocol):
    """What an engine does: find faces, and turn each into a vector.

    Attributes
    ----------
    name : str
        ``"sface"``, ``"dlib"`` or ``"sface+dlib"``.
    features : str
        What its vectors are: engine, weights by their digest, dimension. Models and galleries
        carry it, so that vectors of two engines never meet.
    dimension : int
        Length of the vectors.

    Notes
    -----
    An engine belongs to one thread at a time; each thread loads its own.
    """

    @property
    def name(self) -> str:
        """Name for `load_engine`."""

    @property
    def features(self) -> str:
        """What the vectors are."""

    @property
    def dimension(self) -> int:
        """Length of the vectors."""

    def detect(self, image: np.ndarray) -> list[Face]:
        """Find the faces of a picture (h, w, 3) uint8 RGB, the largest first."""

    def embed(self, image: np.ndarray, face: Face) -> np.ndarray:
        """Turn a face that this engine found into a vector (dimension,) float32 of unit length."""


def load_engine(name: str = "sface") -> FaceEngine:
    """Load the networks of an engine.

    Parameters
    ----------
    name : {"sface", "dlib", "sface+dlib"}
        ``"sface"``: YuNet and SFace by OpenCV (extra ``faces``). ``"dlib"``: dlib's frontal face
        detector, five-point predictor and residual network (extra ``dlib``). ``"sface+dlib"``:
        YuNet's faces with the vectors of both networks: a third fewer misses on LFW, for the time
        of both.

    Returns
    -------
    FaceEngine
        For one thread at a time.

    Raises
    ------
    MissingDependencyError
        If the engine or the package with its weights is not installed.
    DataError
        If a weight file is missing or does not have the SHA-256 that mien was tested with.
        There is no second choice: no other file is tried and nothing is fetched.

    Notes
    -----
    Weight files are read into memory, checked, and loaded from these bytes.

    Examples
    --------
    >>> from mien.faces import load_engine
    >>> load_engine("sface").features
    'sface (YuNet 49f000ec, SFace fb143eea), 128 dimensions, unit length'
    """
    check_choice("engine", name, ENGINES)
    if name == "dlib":
        from mien.faces._dlib import DlibEngine

        return DlibEngine()
    if name == "sface+dlib":
        from mien.faces._fused import FusedEngine

        return FusedEngine()
    from mien.faces._sface import SFaceEngine

    return SFaceEngine()


def check_features(expected: str, got: str) -> None:
    """Refuse to compare vectors of two kinds.

    Examples
    --------
    >>> from mien.faces import check_features
    >>> check_features("sface", "dlib")
    Traceback (most recent call last):
        ...
    mien.errors.InputError: vectors of two kinds cannot be compared: expected 'sface', got 'dlib';
    ...
    """
    if expected != got:
        raise InputError(
            f"vectors of two kinds cannot be compared: expected {expected!r}, got {got!r}; use the "
            "engine that the model or gallery was made with"
        )


def scale_to_unit(vector: Any, engine: str) -> np.ndarray:
    """Scale a network's output to unit length, float32; refuse what has no direction."""
    array = np.asarray(vector, dtype=np.float64).ravel()
    norm = float(np.linalg.norm(array))
    if not np.isfinite(norm) or norm == 0:
        raise InputError(f"{engine} gave no usable vector for this face (its length is {norm})")
    return (array / norm).astype(np.float32)


# Networks of an engine take some 40 MB (sface), 130 MB (dlib) or both.
_MAX_IDLE = 4

_lock = threading.Lock()
_idle: dict[str, list[FaceEngine]] = {}


@contextmanager
def borrow_engine(name: str = "sface") -> Iterator[FaceEngine]:
    """Use an engine that was loaded before, or load one and keep it for the next.

    Parameters
    ----------
    name : {"sface", "dlib", "sface+dlib"}
        As for `load_engine`.

    Yields
    ------
    FaceEngine
        Nobody else uses it inside the ``with`` block; two threads get two engines. Up to four of
        each name are kept for the rest of the process.

    See Also
    --------
    load_engine : an engine of one's own.

    Examples
    --------
    >>> from mien.faces import borrow_engine
    >>> with borrow_engine("sface") as first:
    ...     pass
    >>> with borrow_engine("sface") as second:
    ...     first is second
    True
    """
    with _lock:
        idle = _idle.get(name)
        engine = idle.pop() if idle else None
    if engine is None:
        engine = load_engine(name)
    try:
        yield engine
    finally:
        with _lock:
            idle = _idle.setdefault(name, [])
            if len(idle) < _MAX_IDLE:
                idle.append(engine)


def _forget() -> None:
    """A forked child must not use networks whose threads stayed in the parent."""
    global _lock
    _lock = threading.Lock()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
