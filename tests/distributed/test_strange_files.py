"""Files of vectors from strangers: nothing is waited for, run, or taken in part."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mien.distributed import fit
from mien.errors import DataError, InputError, MienError
from mien.verification import JointBayesian

RNG = np.random.default_rng(0)
Y = np.repeat(np.arange(30), 4)
X = RNG.normal(size=(120, 6)) + 2 * RNG.normal(size=(30, 6))[Y]


def learn(folder: Path, name: str, labels: str = "y.npy") -> Any:
    return fit(JointBayesian(), folder / name, folder / labels, n_workers=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    return tmp_path


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
@pytest.mark.parametrize(("x", "y"), [("pipe.npy", "y.npy"), ("x.npy", "pipe.npy")])
def test_a_pipe_is_not_waited_for(folder: Path, x: str, y: str) -> None:
    os.mkfifo(folder / "pipe.npy")
    with pytest.raises(InputError, match="is not a regular file"):
        learn(folder, x, y)


@pytest.mark.parametrize("n", [100, 119, 121])
def test_labels_of_another_length_are_refused(folder: Path, n: int) -> None:
    np.save(folder / "y.npy", np.arange(n) // 4)
    with pytest.raises(InputError, match=f"has 120 rows and .* has {n} labels"):
        learn(folder, "x.npy")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda X: np.where(X[3, 3] == X, np.nan, X), lambda X: X * 1e300, lambda X: X * 1e-300,
        lambda X: X.astype(str), lambda X: X + 1j, lambda X: np.zeros(X.shape, "M8[s]"),
        lambda X: X.ravel(), lambda X: X[None], lambda X: X[:, :0],
        lambda X: np.zeros(X.shape, [("a", "f8")]),
    ],
)  # fmt: skip
def test_strange_arrays_are_refused_in_one_sentence(folder: Path, spoil: Any) -> None:
    np.save(folder / "x.npy", spoil(X))
    with pytest.raises(MienError) as refusal:
        learn(folder, "x.npy")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble, ">f8", np.int8])
def test_other_precisions_are_learnt_from(folder: Path, kind: Any) -> None:
    np.save(folder / "x.npy", (10 * X).astype(kind))
    assert np.isfinite(learn(folder, "x.npy").variance_ratios_).all()


def test_objects_and_forged_sizes_are_refused(folder: Path) -> None:
    np.save(folder / "x.npy", X.astype(object), allow_pickle=True)
    with pytest.raises(DataError, match="cannot be read"):
        learn(folder, "x.npy")
    words = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 6), }"
    (folder / "x.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00" + words.ljust(117).encode() + b"\n")
    with pytest.raises(DataError, match="cannot be read"):
        learn(folder, "x.npy")


class _Runs:
    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.place),)


@pytest.mark.needs("distributed")
@pytest.mark.parametrize("place", ["filters", "compressor"])
@pytest.mark.parametrize("dtype", ["<f8", "|O", "<M8[s]"])
def test_a_pickle_in_a_zarr_array_is_never_read(folder: Path, place: str, dtype: str) -> None:
    """Even where numcodecs would read it (``ALLOW_UNSAFE_PICKLE_DECODE``, or an older release)."""
    import numcodecs.pickles

    array = folder / "x.zarr"
    array.mkdir()
    codec = {"id": "pickle", "protocol": 5}
    document = {
        "zarr_format": 2, "shape": [120, 6], "chunks": [120, 6], "dtype": dtype, "order": "C",
        "fill_value": 0, "filters": None, "compressor": None,
    }  # fmt: skip
    document[place] = [codec] if place == "filters" else codec
    (array / ".zarray").write_text(json.dumps(document))
    (array / "0.0").write_bytes(pickle.dumps(_Runs(folder / "it ran")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE", True, raising=False)
        with pytest.raises(DataError, match="encoded by 'pickle', which mien does not read"):
            learn(folder, "x.zarr")
    assert not (folder / "it ran").exists()


@pytest.mark.needs("distributed")
@pytest.mark.parametrize("version", [2, 3])
def test_compressed_zarr_arrays_are_read(folder: Path, version: int) -> None:
    import zarr

    made = zarr.create_array(
        folder / "x.zarr", shape=X.shape, chunks=(30, 6), dtype="f8", zarr_format=version
    )
    made[:] = X
    assert learn(folder, "x.zarr").n_samples_ == 120
