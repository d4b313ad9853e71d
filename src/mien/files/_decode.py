"""From a checked JSON tree and its arrays to a model; nothing in the file is ever run."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mien.errors import MienWarning, ModelDamagedError, ModelFormatError
from mien.files._container import whole
from mien.files._renames import rename
from mien.files.registry import REGISTRY, find_class

__all__ = ["FORMAT", "Decoder"]

#: The format that is written; files of all earlier ones are read.
FORMAT = 2

_DEPTH_LIMIT = 64
_LABEL_LIMIT = 64 * 2**20
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


class Decoder:
    """Builds the model from its tree; every array must be used, and used once."""

    def __init__(
        self, path: Path, arrays: dict[str, np.ndarray], format_number: int = FORMAT
    ) -> None:
        self.path = path
        self.format_number = format_number
        self.foreign = False
        self._arrays = arrays

    def unused(self) -> int:
        return len(self._arrays)

    def decode(self, node: Any, depth: int) -> Any:
        if depth > _DEPTH_LIMIT:
            raise ModelDamagedError(f"{self.path}: the model is nested too deeply")
        if isinstance(node, list):
            return [self.decode(item, depth + 1) for item in node]
        if not isinstance(node, dict):
            return node
        reader = getattr(self, f"_decode_{str(node.get('$')).replace('-', '_')}", None)
        if reader is None:
            raise ModelFormatError(f"{self.path} holds a {node.get('$')!r}, which is not known")
        return reader(node, depth + 1)

    def _take(self, key: str) -> np.ndarray:
        return self._arrays.pop(key)

    def _decode_float(self, node: dict[str, Any], depth: int) -> float:
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[node["value"]]

    def _decode_scalar(self, node: dict[str, Any], depth: int) -> Any:
        array = self._take(node["array"])
        if array.shape != ():
            raise ModelDamagedError(f"{self.path}: a number has the shape {array.shape}")
        return array[()]

    def _decode_array(self, node: dict[str, Any], depth: int) -> np.ndarray:
        array = self._take(node["array"])
        return array.T if node["transposed"] else array

    def _decode_labels(self, node: dict[str, Any], depth: int) -> np.ndarray:
        shape = tuple(whole(n) for n in node["shape"])
        if len(node["items"]) != math.prod(shape):
            raise ModelDamagedError(f"{self.path}: labels do not fit their shape")
        if any(not (i is None or type(i) in (str, int, bool)) for i in node["items"]):
            raise ModelDamagedError(f"{self.path}: a label is neither a string nor an integer")
        if node["dtype"] == "O":
            array = np.empty(len(node["items"]), dtype=object)
            array[:] = node["items"]
            return array.reshape(shape)
        array = np.asarray([str(item) for item in node["items"]], dtype=np.str_).reshape(shape)
        dtype = np.dtype(node["dtype"])
        # The width may be more than the labels need; a forged one could ask for any memory.
        if dtype.kind != "U" or array.size * dtype.itemsize > _LABEL_LIMIT:
            return array
        return array.astype(dtype)

    def _decode_tuple(self, node: dict[str, Any], depth: int) -> tuple[Any, ...]:
        return tuple(self.decode(item, depth) for item in node["items"])

    def _decode_dict(self, node: dict[str, Any], depth: int) -> dict[Any, Any]:
        return {self.decode(k, depth): self.decode(v, depth) for k, v in node["items"]}

    def _decode_dtype(self, node: dict[str, Any], depth: int) -> np.dtype:
        return np.dtype(str(node["name"]))

    def _decode_type(self, node: dict[str, Any], depth: int) -> type:
        return np.dtype(str(node["name"])).type

    def _decode_random_state(self, node: dict[str, Any], depth: int) -> np.random.RandomState:
        state = np.random.RandomState()
        state.set_state(self.decode(node["state"], depth))
        return state

    def _decode_generator(self, node: dict[str, Any], depth: int) -> np.random.Generator:
        state = self.decode(node["state"], depth)
        if state["bit_generator"] not in _BIT_GENERATORS:
            raise ModelFormatError(f"{self.path}: no random generator {state['bit_generator']!r}")
        bits = getattr(np.random, state["bit_generator"])()
        bits.state = state
        return np.random.Generator(bits)

    def _decode_sparse(self, node: dict[str, Any], depth: int) -> Any:
        from scipy import sparse

        if node["kind"] not in ("csr_matrix", "csr_array", "csc_matrix", "csc_array"):
            raise ModelFormatError(f"{self.path}: no sparse matrix {node['kind']!r}")
        parts = tuple(self._take(node[name]) for name in ("data", "indices", "indptr"))
        shape = tuple(whole(n) for n in node["shape"])
        matrix = getattr(sparse, node["kind"])(parts, shape=shape)
        matrix.check_format(full_check=True)
        return matrix

    def _decode_statistics(self, node: dict[str, Any], depth: int) -> Any:
        return self._build(node["class"], {}, node["state"], depth)

    def _decode_estimator(self, node: dict[str, Any], depth: int) -> Any:
        return self._build(node["class"], node["params"], node["state"], depth)

    def _build(self, old: Any, params: Any, state: Any, depth: int) -> Any:
        """An object of the class that ``old`` names in the file, whatever its name is today."""
        if not isinstance(old, str):
            raise ModelDamagedError(f"{self.path}: a class is named {old!r}")
        params = {str(n): self.decode(v, depth) for n, v in params.items()}
        state = {str(n): self.decode(v, depth) for n, v in state.items()}
        name, params, state = rename(self.format_number, FORMAT, old, params, state)
        cls: Any = self._class(name)
        if hasattr(cls, "from_arrays"):
            return cls.from_arrays(state)
        known = set(cls._get_param_names())
        if set(params) != known:
            missing, extra = sorted(known - set(params)), sorted(set(params) - known)
            if extra:
                raise ModelDamagedError(f"{self.path}: {name} has no parameter {extra}")
            if self.format_number == FORMAT:
                warnings.warn(
                    f"{self.path} was written before {name} had the parameters {missing}: "
                    "their defaults are used",
                    MienWarning,
                    stacklevel=2,
                )
        model = cls(**params)
        for attribute, value in self._state(cls, state):
            setattr(model, attribute, value)
        check = getattr(model, "_check_loaded", None)
        if check is not None:
            check()
        return model

    def _state(self, cls: type, state: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        for name, value in state.items():
            # A file may fill an object with values; it may not replace what the object does.
            if not name.isidentifier() or name.startswith("__") or hasattr(cls, name):
                raise ModelDamagedError(f"{self.path}: {cls.__name__} has no attribute {name!r}")
            yield name, value

    def _class(self, name: Any) -> type:
        if name not in REGISTRY:
            raise ModelFormatError(
                f"{self.path} holds a {name!r}, which this mien does not know; "
                "it may be from a newer version"
            )
        self.foreign |= not REGISTRY[name].startswith("mien.")
        return find_class(REGISTRY[name])
