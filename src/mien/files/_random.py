"""Random generators from a file: NumPy trusts the places in their states, so they are checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from mien.errors import ModelDamagedError, ModelFormatError

__all__ = ["build_generator", "build_random_state"]

_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def build_random_state(state: Any) -> np.random.RandomState:
    """A ``RandomState`` that goes on where the saved one was."""
    name, key, place, has_gauss, gauss = state
    if name != "MT19937" or has_gauss not in (0, 1) or not abs(float(gauss)) < 100:
        raise ModelDamagedError("the state of a random generator is damaged")
    _check_words(key, 624)
    _check_place(place, 624)
    made = np.random.RandomState()
    made.set_state((name, key, int(place), int(has_gauss), float(gauss)))
    return made


def build_generator(state: Any) -> np.random.Generator:
    """A ``Generator`` that goes on where the saved one was."""
    name = state["bit_generator"]
    if name not in _BIT_GENERATORS:
        raise ModelFormatError(f"there is no random generator {name!r:.40}")
    inner = state["state"]
    if name == "MT19937":
        _check_words(inner["key"], 624)
        _check_place(inner["pos"], 624)
    if name == "Philox":
        _check_place(state["buffer_pos"], 4)
        _check_words(state["buffer"], 4)
        _check_words(inner["counter"], 4)
        _check_words(inner["key"], 2)
    if name == "SFC64":
        _check_words(inner["state"], 4)
    bits = getattr(np.random, name)()
    bits.state = state
    return np.random.Generator(bits)


def _check_words(words: Any, n: int) -> None:
    array = np.asarray(words)
    if array.shape != (n,) or array.dtype.kind not in "iu":
        raise ModelDamagedError("the state of a random generator is damaged")


def _check_place(place: Any, most: int) -> None:
    if isinstance(place, bool) or not isinstance(place, (int, np.integer)):
        raise ModelDamagedError("the state of a random generator is damaged")
    if not 0 <= int(place) <= most:
        raise ModelDamagedError(f"a random generator is at position {int(place):.6g} of {most}")
