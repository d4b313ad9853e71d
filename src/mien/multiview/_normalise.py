"""The normalisations of encoded bags: component by component, power, length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["join_parts", "normalise", "power", "unit_length"]


def power(vectors: np.ndarray, exponent: float) -> np.ndarray:
    """``sign(v) |v|^exponent``; an exponent of one changes nothing."""
    if exponent == 1:
        return vectors
    return np.sign(vectors) * np.abs(vectors) ** exponent


def unit_length(vectors: np.ndarray) -> np.ndarray:
    """Divide by the l2 length along the last axis; zero stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def normalise(
    vectors: np.ndarray, n_components: int, intra: bool, exponent: float, l2: bool
) -> np.ndarray:
    """Normalise encodings (n, K * m) in the order intra, power, l2."""
    if intra:
        blocks = vectors.reshape(len(vectors), n_components, -1)
        vectors = unit_length(blocks).reshape(vectors.shape)
    vectors = power(vectors, exponent)
    return unit_length(vectors) if l2 else vectors


def join_parts(
    parts: Sequence[np.ndarray], joint: bool, intra: bool, exponent: float, l2: bool
) -> np.ndarray:
    """Parts (n, K, m) of encodings as one (n, sum of K m), normalised as one or each on its own."""
    K = parts[0].shape[1]
    if intra:
        parts = [unit_length(part) for part in parts]
    flat = [part.reshape(len(part), -1) for part in parts]
    if joint:
        return normalise(np.concatenate(flat, axis=1), K, False, exponent, l2)
    both = np.concatenate([normalise(part, K, False, exponent, l2) for part in flat], axis=1)
    return both / np.sqrt(len(parts)) if l2 else both
