"""Forged model files of every class: a model that works, or one sentence of ours; nothing else."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from calls import CALLS

import mien
from mien.errors import MienError, ModelFileError
from tests.forge import forge, forgeries, take_apart

FOLDER = Path(__file__).parent / "format1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
EXPECTED.pop("sklearn-SVC")
# `make fuzz` forges many times as many, with another seed each time.
N = 12 * int(os.environ.get("MIEN_FUZZ", "1"))
SEED = int(os.environ.get("MIEN_FUZZ_SEED", "1"))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_forged_file_works_or_is_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    held: dict[str, Any] = EXPECTED[name]["inputs"]
    given = {key: np.asarray(values).reshape(shape) for key, (values, shape) in held.items()}
    said, raw = [], []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        path = mien.save(mien.load(FOLDER / f"{name}.mien"), tmp_path / "m")
        for parts in forgeries(take_apart(path), N, seed=SEED):
            forge(path, parts)
            try:
                model = mien.load(path)
            except ModelFileError as error:
                said.append(str(error))
                continue
            try:
                made = CALLS[name](model, given)
            except MienError:
                continue
            except ValueError as error:
                raw.append(str(error))
                continue
            for key, values in made.items():
                array = np.asarray(values)
                assert array.dtype.kind != "f" or np.all(np.isfinite(array)), key
    assert all("\n" not in text and len(text) < 600 for text in said)
    # What is left are scikit-learn's own words about the number of features.
    assert [text for text in raw if "features" not in text] == []
    assert len(said) > 0
