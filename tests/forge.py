"""Forged model files: every value of a good file replaced by something else, one at a time.

The digest is right, so that only statements and checks stand between such a file and its use.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mien.files import _container

__all__ = ["forge", "forgeries", "take_apart"]

Parts = tuple[dict[str, np.ndarray], Any]

_SCALARS: list[Any] = [
    None,
    0,
    1,
    -1,
    2**31,
    2**62,
    -(2**62),
    1.5,
    1e300,
    1e-300,
    {"$": "float", "value": "nan"},
    {"$": "float", "value": "inf"},
    "",
    "x" * 1000,
    "\x1b[2J",
    [],
    {"$": "tuple", "items": []},
    {"$": "dict", "items": []},
    True,
    False,
    [[]],
]


def take_apart(path: Path) -> Parts:
    """The arrays of a model file and its tree."""
    with open(path, "rb") as file:
        container = _container.read_container(file, str(path), 2**30)
        container.check_digest(file)
    return container.arrays(), json.loads(container.document)


def forge(path: Path, parts: Parts) -> None:
    """Write arrays and tree with a right digest."""
    arrays, document = parts
    arrays = {
        name: np.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()
    }
    path.write_bytes(_container.write_bytes(arrays, json.dumps(document)))


def _spoil(array: np.ndarray, draw: random.Random) -> np.ndarray:
    """Another array instead of this one."""
    kind = draw.randrange(12)
    flat = array.copy()
    numbers = array.dtype.kind in "fiu" and array.size > 0
    if kind == 0 and array.ndim:
        return array[:-1].copy()
    if kind == 1 and array.ndim:
        return np.concatenate([array, array[:1]]) if len(array) else array
    if kind == 2:
        return array[None].copy()
    if kind == 3 and array.ndim:
        return array[:0].copy()
    if kind == 4 and array.ndim >= 2:
        return np.ascontiguousarray(array.T)
    if kind == 5:
        return array.astype(draw.choice(["f4", "f8", "i4", "i8", "u1", "?", "f2"]))
    if kind == 6 and array.dtype.kind == "f":
        flat.ravel()[draw.randrange(max(1, flat.size)) if flat.size else slice(0)] = np.nan
        return flat
    if kind == 7 and numbers:
        value = draw.choice([1e300, -1e300, 1e-310, np.inf, 1e38, -1e38, 1e18, 0.0])
        if array.dtype.kind != "f":
            value = draw.choice([2**31 - 1, 2**30, -(2**31), -1, 0, 1000])
        with np.errstate(over="ignore"):
            flat.ravel()[draw.randrange(flat.size)] = np.asarray(value).astype(array.dtype)
        return flat
    if kind == 8 and numbers:
        return np.zeros_like(array)
    if kind == 9 and numbers:
        value = draw.choice([1e30, -1e30, 1e9, -1.0])
        with np.errstate(over="ignore", invalid="ignore"):
            return np.full_like(array, np.asarray(value).astype(array.dtype))
    if kind == 10 and array.size > 1:
        ravelled = flat.ravel()
        draw_order = list(range(ravelled.size))
        draw.shuffle(draw_order)
        return ravelled[draw_order].reshape(array.shape)
    if kind == 11 and numbers:
        return -array if array.dtype.kind != "u" else array + 1
    return np.zeros(draw.choice([0, 1, 7]), dtype=draw.choice(["f8", "i8", "?"]))


def _places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a tree."""
    yield path
    if isinstance(node, dict):
        for key in node:
            yield from _places(node[key], (*path, key))
    elif isinstance(node, list):
        for i in range(len(node)):
            yield from _places(node[i], (*path, i))


def _replace(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    document = copy.deepcopy(document)
    if not place:
        return value
    node = document
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    return document


def forgeries(parts: Parts, n: int, seed: int) -> Iterator[Parts]:
    """So many files, each with one or two values replaced."""
    arrays, document = parts
    draw = random.Random(seed)
    places = [place for place in _places(document) if place[:1] == ("object",)]
    for _ in range(n):
        changed, tree = dict(arrays), document
        for _ in range(draw.choice((1, 1, 1, 2))):
            if changed and draw.random() < 0.65:
                name = draw.choice(sorted(changed))
                changed[name] = _spoil(changed[name], draw)
            else:
                try:
                    tree = _replace(tree, draw.choice(places), draw.choice(_SCALARS))
                except (KeyError, IndexError, TypeError):
                    continue
        yield changed, tree
