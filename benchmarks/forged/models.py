"""Forged model files of every class, each loaded and used."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import mien
from benchmarks.forged.run import Item, refused
from mien.errors import MienError, ModelFileError
from tests.forge import Parts, forge, forgeries, take_apart
from tests.sweep import find_not_finite, quiet

_GOLDEN = Path(__file__).parents[2] / "tests" / "golden"
_IN_A_ROW = 25


def prepare(seed: int, folder: Path) -> Item:
    sys.path.insert(0, str(_GOLDEN))
    from calls import CALLS

    expected: dict[str, Any] = json.loads((_GOLDEN / "format1" / "expected.json").read_text())
    names = sorted(set(expected) - {"sklearn-SVC"})
    path = folder / "forged.mien"
    held: dict[str, Any] = {}

    def forgeries_of(name: str, turn: int) -> Iterator[Parts]:
        if name not in held:
            with quiet():
                good = mien.save(mien.load(_GOLDEN / "format1" / f"{name}.mien"), folder / "good")
            held[name] = take_apart(good)
        return forgeries(held[name], _IN_A_ROW, seed * 1_000_003 + turn)

    state: dict[str, Any] = {}

    def item(k: int) -> tuple[str, str]:
        turn, place = divmod(k, _IN_A_ROW)
        name = names[turn % len(names)]
        if state.get("turn") != turn:
            state.update(turn=turn, at=0, stream=forgeries_of(name, turn))
        parts = next(state["stream"])
        state["at"] += 1
        while state["at"] <= place:
            parts = next(state["stream"])
            state["at"] += 1
        inputs = {
            key: np.asarray(values).reshape(shape)
            for key, (values, shape) in expected[name]["inputs"].items()
        }
        with quiet():
            forge(path, parts)
            try:
                model = mien.load(path)
            except ModelFileError as error:
                return refused(error, f"{name}: ")
            try:
                made = CALLS[name](model, inputs)
            except MienError as error:
                return refused(error, f"{name}: ")
            except ValueError as error:
                # scikit-learn's own words about the number of features
                if "features" in str(error):
                    return "refused", str(error)
                return "raw error", f"{name}: ValueError: {error!s:.160}"
            except Exception as error:
                return "raw error", f"{name}: {type(error).__name__}: {error!s:.160}"
        bad = find_not_finite(made)
        return ("silent NaN", f"{name}: {bad}") if bad else ("worked", "")

    return item
