"""From a checked JSON tree and its arrays to a model; nothing in the file is ever run."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from mien.errors import MienWarning, ModelDamagedError, ModelFileError, ModelFormatError
from mien.files._container import whole
from mien.files._deferred import Deferred
from mien.files._random import build_generator, build_random_state
from mien.files._registry import REGISTRY, RUNTIME, find_class
from mien.files._renames import rename
from mien.files._requests import read_requests
from mien.files._statements import STATEMENTS
from mien.files._vocabulary import Mismatch

__all__ = ["FORMAT", "Decoder", "consistency", "label_memory"]

#: The format that is written; files of all earlier ones are read.
FORMAT = 2
_DEPTH_LIMIT = 64
#: What labels and objects may take beside the arrays: this, and sixteen times the file.
_MEMORY = 256 * 2**20
_MEMORY_PER_BYTE = 16
_OBJECT = 4096
# What scikit-learn keeps of how a model was run, and needs again to run it.
_FITTED_RUNTIME = {"sklearn.KMeans": {"_n_threads": 1}}
# Holders of an object that is constructed when it is first asked for, so that a file that is read
# only to decide needs no scikit-learn; and the classes that wait in them.
_DEFERRING = ("mien.FaceModel",)
_DEFERRED = ("mien.JointBayesian", "mien.TransferJointBayesian", "mien.Verifier")
_PLAIN = (bool, int, float, str, type(None))
_SPARSE = ("csr_matrix", "csr_array", "csc_matrix", "csc_array")


def label_memory(items: list[Any], dtype: str) -> int:
    """Bytes of an array of labels: NumPy pads every string to the longest."""
    if dtype == "O":
        return 64 * len(items) + sum(len(item) for item in items if type(item) is str)
    longest = max((len(str(item)) for item in items), default=1)
    width = int(dtype[2:]) if dtype[2:].isdecimal() and len(dtype) < 15 else 0
    return 4 * len(items) * max(longest, width, 1)


@contextmanager
def consistency(where: str, name: str = "") -> Iterator[None]:
    """Turn what inconsistent content of a file does to our code into one error."""
    try:
        yield
    except ModelFileError:
        raise
    except Mismatch as error:
        raise ModelDamagedError(f"{where}: {name} is inconsistent: {error}") from error
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        MemoryError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        # The words of other libraries, as a part of one sentence.
        words = re.sub(r"\.\s+(\w)", lambda found: f"; {found[1].lower()}", f"{error!s:.200}")
        words = " ".join(words.split()).rstrip(".")
        raise ModelDamagedError(f"{where}: the content is inconsistent ({words})") from error


@lru_cache(maxsize=256)
def _param_names(cls: Any) -> tuple[str, ...]:
    return tuple(cls._get_param_names())


@lru_cache(maxsize=4096)
def _is_taken(cls: type, attribute: str) -> bool:
    """Whether the class itself has something by this name, without asking the class."""
    return any(vars(base).get(attribute) is not None for base in cls.__mro__)


def _validate(model: Any, params: dict[str, Any]) -> None:
    """The class's own constraints; as ``_validate_params``, which looks the names up each time."""
    from sklearn.base import BaseEstimator
    from sklearn.utils._param_validation import validate_parameter_constraints

    if type(model)._validate_params is not BaseEstimator._validate_params:
        model._validate_params()
    elif all(type(value) in _PLAIN for value in params.values()):
        cls: Any = type(model)
        _validate_plain(cls, tuple((n, type(v), v) for n, v in params.items()))
    elif hasattr(model, "_parameter_constraints"):
        validate_parameter_constraints(
            model._parameter_constraints, params, caller_name=type(model).__name__
        )


@lru_cache(maxsize=256)
def _validate_plain(cls: Any, params: tuple[tuple[str, type, Any], ...]) -> None:
    """The same for plain values, looked at once: many files hold the same parameters."""
    from sklearn.utils._param_validation import validate_parameter_constraints

    if hasattr(cls, "_parameter_constraints"):
        values = {name: value for name, _, value in params}
        validate_parameter_constraints(cls._parameter_constraints, values, caller_name=cls.__name__)


class Decoder:
    """Builds the model from its tree; every array must be used, and used once.

    Parameters
    ----------
    where : str
        What to call the file in errors.
    arrays : dict
        The arrays of the file by name.
    size : int
        Of the file, in bytes: what its labels and objects may take in memory depends on it.
    format_number : int
        In which format the names in the tree are.
    """

    def __init__(
        self, where: str, arrays: dict[str, np.ndarray], size: int, format_number: int = FORMAT
    ) -> None:
        self.where = where
        self.format_number = format_number
        self.foreign = False
        self._arrays = arrays
        self._deferring = False
        self._left = _MEMORY + _MEMORY_PER_BYTE * size

    def unused(self) -> int:
        return len(self._arrays)

    def decode(self, node: Any, depth: int) -> Any:
        if depth > _DEPTH_LIMIT:
            raise ModelDamagedError(f"{self.where}: the model is nested too deeply")
        if type(node) is list:
            return [self.decode(item, depth + 1) for item in node]
        if type(node) is not dict:
            return node
        kind = node.get("$")
        reader = _READERS.get(kind) if isinstance(kind, str) else None
        if reader is None:
            raise ModelFormatError(f"{self.where} holds a {kind!r:.80}, which is not known")
        return reader(self, node, depth + 1)

    def _take(self, key: str) -> np.ndarray:
        return self._arrays.pop(key)

    def _spend(self, memory: int, what: str) -> None:
        self._left -= memory
        if self._left < 0:
            raise ModelDamagedError(
                f"{self.where}: {what} would take {memory / 2**20:,.0f} MiB of memory, far more "
                "than a file of this size may"
            )

    # -------------------------------------------------------------------------------- values

    def _decode_float(self, node: dict[str, Any], depth: int) -> float:
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[node["value"]]

    def _decode_scalar(self, node: dict[str, Any], depth: int) -> Any:
        array = self._take(node["array"])
        if array.shape != ():
            raise ModelDamagedError(f"{self.where}: a number has the shape {array.shape}")
        return array[()]

    def _decode_array(self, node: dict[str, Any], depth: int) -> np.ndarray:
        array = self._take(node["array"])
        return array.T if node["transposed"] else array

    def _decode_labels(self, node: dict[str, Any], depth: int) -> np.ndarray:
        shape = tuple(whole(n) for n in node["shape"])
        items, dtype = node["items"], str(node["dtype"])
        if len(items) != math.prod(shape) or len(shape) > 8:
            raise ModelDamagedError(f"{self.where}: labels do not fit their shape")
        if any(not (i is None or type(i) in (str, int, bool)) for i in items):
            raise ModelDamagedError(f"{self.where}: a label is neither a string nor an integer")
        self._spend(label_memory(items, dtype), "an array of labels")
        if dtype == "O":
            array = np.empty(len(items), dtype=object)
            array[:] = items
            return array.reshape(shape)
        if not dtype.startswith(("<U", ">U", "|U")):
            raise ModelDamagedError(f"{self.where}: labels have the type {dtype!r:.40}")
        array = np.asarray([str(item) for item in items], dtype=np.str_).reshape(shape)
        wanted = np.dtype(dtype)
        return array.astype(wanted) if wanted.itemsize > array.dtype.itemsize else array

    def _decode_tuple(self, node: dict[str, Any], depth: int) -> tuple[Any, ...]:
        return tuple(self.decode(item, depth) for item in node["items"])

    def _decode_dict(self, node: dict[str, Any], depth: int) -> dict[Any, Any]:
        return {self.decode(k, depth): self.decode(v, depth) for k, v in node["items"]}

    def _decode_dtype(self, node: dict[str, Any], depth: int) -> np.dtype:
        dtype = np.dtype(str(node["name"])[:8])
        if dtype.kind not in "biuf" or dtype.itemsize > 8:
            raise ModelDamagedError(f"{self.where}: a model cannot hold {node['name']!r:.40}")
        return dtype

    def _decode_type(self, node: dict[str, Any], depth: int) -> type:
        return self._decode_dtype(node, depth).type

    def _decode_random_state(self, node: dict[str, Any], depth: int) -> np.random.RandomState:
        return build_random_state(self.decode(node["state"], depth))

    def _decode_generator(self, node: dict[str, Any], depth: int) -> np.random.Generator:
        return build_generator(self.decode(node["state"], depth))

    def _decode_sparse(self, node: dict[str, Any], depth: int) -> Any:
        from scipy import sparse

        if node["kind"] not in _SPARSE:
            raise ModelFormatError(f"{self.where}: unknown sparse matrix {node['kind']!r:.40}")
        parts = tuple(self._take(node[name]) for name in ("data", "indices", "indptr"))
        shape = tuple(whole(n) for n in node["shape"])
        if len(shape) != 2 or max(shape) >= 2**40 or parts[0].dtype.kind not in "biuf":
            raise ModelDamagedError(f"{self.where}: a sparse matrix has the shape {shape}")
        matrix = getattr(sparse, node["kind"])(parts, shape=shape)
        matrix.check_format(full_check=True)
        return matrix

    # -------------------------------------------------------------------------------- objects

    def _decode_statistics(self, node: dict[str, Any], depth: int) -> Any:
        return self._build(node["class"], {}, node["state"], depth)

    def _decode_estimator(self, node: dict[str, Any], depth: int) -> Any:
        model = self._build(node["class"], node["params"], node["state"], depth)
        if "requests" in node:
            try:
                read_requests(model, self.decode(node["requests"], depth))
            except Mismatch as error:
                raise ModelDamagedError(
                    f"{self.where}: a model is inconsistent: {error}"
                ) from error
        return model

    def _decode_values(self, nodes: dict[str, Any], depth: int) -> dict[str, Any]:
        return {
            name: node if type(node) in _PLAIN else self.decode(node, depth)
            for name, node in nodes.items()
        }

    def _build(self, old: Any, params: Any, state: Any, depth: int) -> Any:
        """An object of the class that ``old`` names in the file, whatever its name is today."""
        if not isinstance(old, str):
            raise ModelDamagedError(f"{self.where}: a class is named {old!r:.80}")
        self._spend(_OBJECT, "an object")
        holds, outside = old in _DEFERRING and self.format_number == FORMAT, self._deferring
        self._deferring |= holds
        params = self._decode_values(params, depth)
        state = self._decode_values(state, depth)
        self._deferring = outside
        name, params, state = rename(self.format_number, FORMAT, old, params, state)
        if self._deferring and name in _DEFERRED:
            with consistency(self.where, name):
                self._verify(name, params, state)
            return Deferred(name, params, state, self._construct)
        return self._construct(name, params, state)

    def _construct(self, name: str, params: dict[str, Any], state: dict[str, Any]) -> Any:
        cls: Any = self._class(name)
        with consistency(self.where, name):
            if hasattr(cls, "from_arrays"):
                self._verify(name, params, state)
                return cls.from_arrays(state)
            return self._build_estimator(name, cls, params, state)

    def _build_estimator(
        self, name: str, cls: Any, params: dict[str, Any], state: dict[str, Any]
    ) -> Any:
        names = _param_names(cls)
        known = set(names)
        extra, missing = sorted(set(params) - known), sorted(known - set(params))
        if extra:
            raise ModelDamagedError(f"{self.where}: {name} has no parameter {extra!r:.80}")
        if missing and self.format_number == FORMAT and set(missing) - set(RUNTIME):
            warnings.warn(
                f"{self.where} was written before {name} had the parameters {missing}: "
                "their defaults are used",
                MienWarning,
                stacklevel=2,
            )
        # How a model is run is decided where it runs: paths, caches and numbers of jobs stay out.
        params = {n: v for n, v in params.items() if n not in RUNTIME}
        state = {n: v for n, v in state.items() if n not in RUNTIME}
        state |= {n: v for n, v in _FITTED_RUNTIME.get(name, {}).items() if state}
        model = cls(**params)
        given = {parameter: getattr(model, parameter) for parameter in names}
        if hasattr(model, "_validate_params"):
            _validate(model, given)
        self._verify(name, given, state)
        for attribute, value in state.items():
            # A file may fill an object with values; it may not replace what the object does.
            if (
                not attribute.isidentifier()
                or attribute.startswith("__")
                or _is_taken(cls, attribute)
            ):
                raise ModelDamagedError(
                    f"{self.where}: {cls.__name__} has no attribute {attribute!r:.80}"
                )
            setattr(model, attribute, value)
        check = getattr(model, "_check_loaded", None)
        if check is not None:
            check()
        return model

    def _verify(self, name: str, params: dict[str, Any], state: dict[str, Any]) -> None:
        if self.format_number < FORMAT:
            return  # what an older format held is checked as a whole, once it is today's
        if name not in STATEMENTS:
            raise ModelFormatError(f"{self.where}: nothing says what a {name} must satisfy")
        STATEMENTS[name].verify(params, state)

    def _class(self, name: str) -> type:
        if name not in REGISTRY:
            raise ModelFormatError(
                f"{self.where} holds a {name!r:.80}, which this mien does not read; "
                "it may be from a newer version"
            )
        self.foreign |= not REGISTRY[name].startswith("mien.")
        return find_class(REGISTRY[name])


#: What reads a node of the tree, by its kind. A table in the decoder would keep it, and with it the
#: bytes of a file, until the next collection of cycles.
_READERS: dict[str, Callable[[Decoder, dict[str, Any], int], Any]] = {
    "float": Decoder._decode_float,
    "scalar": Decoder._decode_scalar,
    "array": Decoder._decode_array,
    "labels": Decoder._decode_labels,
    "tuple": Decoder._decode_tuple,
    "dict": Decoder._decode_dict,
    "dtype": Decoder._decode_dtype,
    "type": Decoder._decode_type,
    "random-state": Decoder._decode_random_state,
    "generator": Decoder._decode_generator,
    "sparse": Decoder._decode_sparse,
    "statistics": Decoder._decode_statistics,
    "estimator": Decoder._decode_estimator,
}
