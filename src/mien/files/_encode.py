"""From a model to a JSON tree and a flat table of arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mien.errors import InputError
from mien.files._container import DTYPES
from mien.files._decode import label_memory
from mien.files._registry import RUNTIME, registered_name
from mien.files._requests import ATTRIBUTE, write_requests
from mien.files._statements import STATEMENTS
from mien.files._vocabulary import Mismatch

__all__ = ["Encoder"]

_LABEL_MEMORY = 64 * 2**20
_SAVABLE = {np.dtype(code) for code in DTYPES.values()}


class Encoder:
    """Turns a model into a JSON tree and a flat table of arrays."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._open: set[int] = set()

    def encode(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"$": "float", "value": repr(value)}
        if isinstance(value, np.ndarray):
            return self._encode_array(value, where)
        if isinstance(value, np.generic):
            return {"$": "scalar", "array": self._store(np.asarray(value), where)}
        if isinstance(value, np.dtype) or (
            isinstance(value, type) and issubclass(value, np.generic)
        ):
            kind = "type" if isinstance(value, type) else "dtype"
            return {"$": kind, "name": np.dtype(value).str}
        if id(value) in self._open:
            raise InputError(f"{where} contains itself and cannot be saved")
        self._open.add(id(value))
        try:
            return self._encode_container(value, where)
        finally:
            self._open.discard(id(value))

    def _encode_container(self, value: Any, where: str) -> Any:
        if type(value) is list:
            return [self.encode(v, f"{where}[{i}]") for i, v in enumerate(value)]
        if type(value) is tuple:
            items = [self.encode(v, f"{where}[{i}]") for i, v in enumerate(value)]
            return {"$": "tuple", "items": items}
        if isinstance(value, dict):
            pairs = [
                [self.encode(k, f"key of {where}"), self.encode(v, f"{where}[{k!r}]")]
                for k, v in value.items()
            ]
            return {"$": "dict", "items": pairs}
        if isinstance(value, np.random.RandomState):
            return {"$": "random-state", "state": self.encode(value.get_state(), where)}
        if isinstance(value, np.random.Generator):
            return {"$": "generator", "state": self.encode(value.bit_generator.state, where)}
        if type(value).__module__.startswith("scipy.sparse") and value.format in ("csr", "csc"):
            return self._encode_sparse(value, where)
        if hasattr(value, "to_arrays"):
            held, name = value.to_arrays(), registered_name(value, where)
            _verify(name, {}, held, where)
            state = {k: self.encode(v, f"{where}.{k}") for k, v in held.items()}
            return {"$": "statistics", "class": name, "state": state}
        if hasattr(value, "get_params") and not isinstance(value, type):
            return self._encode_estimator(value, where)
        raise InputError(
            f"{where} is a {type(value).__module__}.{type(value).__qualname__}, which a model file "
            "cannot hold: it holds data only (numbers, strings, arrays, lists, dicts and "
            "registered estimators): give functions by name where the estimator allows it"
        )

    def _encode_estimator(self, model: Any, where: str) -> dict[str, Any]:
        every = model.get_params(deep=False)
        params = {name: v for name, v in every.items() if name not in RUNTIME}
        left_out = {*every, *RUNTIME, ATTRIBUTE}
        state = {n: v for n, v in vars(model).items() if n not in left_out}
        name = registered_name(model, where)
        _verify(name, params, state, where)
        node = {
            "$": "estimator",
            "class": name,
            "params": {n: self.encode(v, f"{where}.{n}") for n, v in params.items()},
            "state": {n: self.encode(v, f"{where}.{n}") for n, v in state.items()},
        }
        if requests := write_requests(model):
            node["requests"] = self.encode(requests, f"{where}.requests")
        return node

    def _encode_array(self, array: np.ndarray, where: str) -> dict[str, Any]:
        if type(array) is not np.ndarray:
            raise InputError(f"{where} is a {type(array).__name__}; plain arrays can be saved")
        if array.dtype.kind in "UO":
            items = [self._encode_label(item, where) for item in array.ravel()]
            dtype = array.dtype.str if array.dtype.kind == "U" else "O"
            if label_memory(items, dtype) > _LABEL_MEMORY + 16 * sum(len(str(i)) for i in items):
                raise InputError(
                    f"{where} has labels of very different lengths, which NumPy pads to the "
                    "longest: shorten the longest"
                )
            return {"$": "labels", "dtype": dtype, "shape": list(array.shape), "items": items}
        # The layout is kept: a product with a transposed matrix may round differently.
        transposed = array.flags.f_contiguous and not array.flags.c_contiguous
        key = self._store(array.T if transposed else array, where)
        return {"$": "array", "array": key, "transposed": bool(transposed)}

    def _encode_label(self, item: Any, where: str) -> Any:
        if item is None or type(item) in (str, int, bool, np.str_):
            return str(item) if type(item) is np.str_ else item
        raise InputError(f"{where} is an array with a {type(item).__name__}, which cannot be saved")

    def _encode_sparse(self, matrix: Any, where: str) -> dict[str, Any]:
        parts = {n: self._store(getattr(matrix, n), where) for n in ("data", "indices", "indptr")}
        kind = type(matrix).__name__
        return {"$": "sparse", "kind": kind, "shape": list(map(int, matrix.shape)), **parts}

    def _store(self, array: np.ndarray, where: str) -> str:
        if array.dtype not in _SAVABLE:
            raise InputError(f"{where} is an array of {array.dtype}, which cannot be saved")
        key = f"{len(self.arrays):05d} {where}"
        self.arrays[key] = np.asarray(array, order="C")
        return key


def _verify(name: str, params: dict[str, Any], state: dict[str, Any], where: str) -> None:
    """Refuse to write what could not be read again."""
    try:
        STATEMENTS[name].verify(params, state)
    except Mismatch as error:
        raise InputError(
            f"{where} cannot be saved as a {name}: {error} (what a file may hold of each class is "
            "stated in mien/files/_statements_*.py)"
        ) from error
