"""Nasty arrays through every public method of every estimator: a result, or one sentence.

``CALLS`` says how each method is called and with which array; ``NASTY`` says what becomes of that
array. ``tests/test_arrays.py`` takes a sample, ``python -m benchmarks forged arrays`` takes all.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from mien.completion import FaceCompleter, RidgeCompleter
from mien.errors import MienError
from mien.features import PairedDescriptors
from mien.files import save_bytes
from mien.files._registry import REGISTRY, find_class
from mien.multiview import FisherVector, MixturePCCA
from mien.verification import JointBayesian

__all__ = ["CALLS", "NASTY", "Trial", "public_methods", "run_trial", "trials"]

Spoil = Callable[[np.ndarray, np.random.Generator], Any]


# ------------------------------------------------------------------------------ what is nasty


def _scaled(factor: float, dtype: str = "f8") -> Spoil:
    def spoil(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        with np.errstate(all="ignore"):
            return (X.astype(np.float64) * factor).astype(dtype)

    return spoil


def _one(value: float, dtype: str = "f8") -> Spoil:
    """One entry is replaced."""

    def spoil(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = X.astype(dtype)
        with np.errstate(all="ignore"):
            out.ravel()[rng.integers(out.size)] = value
        return out

    return spoil


def _column(factor: float) -> Spoil:
    def spoil(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = X.astype(np.float64)
        out[..., rng.integers(out.shape[-1])] *= factor
        return out

    return spoil


def _row(factor: float) -> Spoil:
    def spoil(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = X.astype(np.float64)
        out[rng.integers(len(out))] *= factor
        return out

    return spoil


def _filled(value: float, dtype: str = "f8") -> Spoil:
    return lambda X, rng: np.full(X.shape, value, dtype)


def _objects(value: Any) -> Spoil:
    def spoil(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = X.astype(object)
        out.ravel()[rng.integers(out.size)] = value
        return out

    return spoil


def _masked(X: np.ndarray, rng: np.random.Generator) -> Any:
    return np.ma.masked_array(X, rng.random(X.shape) < 0.2)


def _sparse(X: np.ndarray, rng: np.random.Generator) -> Any:
    return sparse.csr_matrix(X.reshape(len(X), -1))


def _ragged(X: np.ndarray, rng: np.random.Generator) -> Any:
    return [[0.0] * (1 + i % 2) for i in range(len(X))]


def _read_only(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    out = X.copy()
    out.flags.writeable = False
    return out


def _mixed_scales(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return X * 10.0 ** rng.uniform(-59, 59, X.shape[-1])


def _wild(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Any bits at all."""
    return np.frombuffer(rng.bytes(8 * X.size), dtype=np.float64).reshape(X.shape)


def _wild_single(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.frombuffer(rng.bytes(4 * X.size), dtype=np.float32).reshape(X.shape)


#: name -> what becomes of a good array
NASTY: dict[str, Spoil] = {
    **{f"times {f:g}": _scaled(f) for f in (1e18, 1e59, 1e61, 1e100, 1e200, 1e300)},
    **{f"times {f:g}": _scaled(f) for f in (1e-20, 1e-59, 1e-100, 1e-200, 1e-310)},
    **{f"single times {f:g}": _scaled(f, "f4") for f in (1, 1e14, 1e18, 1e30, 1e-14, 1e-30, 1e-42)},
    **{f"one {v:g}": _one(v) for v in (np.nan, np.inf, -np.inf, 1e60, -1e300, 5e-324)},
    **{f"single one {v:g}": _one(v, "f4") for v in (np.nan, np.inf, 1e15, 3e38, 1e-45)},
    **{f"column times {f:g}": _column(f) for f in (0, 1e55, 1e150, 1e-55, 1e-150, 1e-310)},
    **{f"row times {f:g}": _row(f) for f in (0, 1e55, 1e150, 1e-310)},
    **{f"all {v:g}": _filled(v) for v in (0, 1, 1e60, np.nan, 5e-324)},
    "half": lambda X, rng: X.astype(np.float16),
    "half scaled": _scaled(3e4, "f2"),
    "extended": lambda X, rng: X.astype(np.longdouble),
    "extended beyond double": lambda X, rng: X.astype(np.longdouble) * np.longdouble("1e400"),
    "small integers": lambda X, rng: (X * 3).astype(np.int8),
    "large integers": lambda X, rng: np.full(X.shape, 2**64 - 1, np.uint64),
    "truth values": lambda X, rng: X > 0,
    "complex": lambda X, rng: X + 1j,
    "objects": lambda X, rng: X.astype(object),
    "object None": _objects(None),
    "object text": _objects("x"),
    "object number as text": _objects("1.5"),
    "object dict": _objects({"a": 1}),
    "object list": _objects([1.0]),
    "object huge integer": _objects(10**400),
    "text": lambda X, rng: X.astype(str),
    "bytes": lambda X, rng: X.astype("S12"),
    "dates": lambda X, rng: np.zeros(X.shape, "M8[s]"),
    "times": lambda X, rng: np.zeros(X.shape, "m8[s]"),
    "records": lambda X, rng: np.zeros(X.shape, [("a", "f8")]),
    "big-endian": lambda X, rng: X.astype(">f8"),
    "sparse": _sparse,
    "masked": _masked,
    "ragged": _ragged,
    "lists": lambda X, rng: X.tolist(),
    "read only": _read_only,
    "backwards": lambda X, rng: np.asfortranarray(X)[..., ::-1],
    "every other": lambda X, rng: np.repeat(X, 2, axis=0)[::2],
    "no rows": lambda X, rng: X[:0],
    "no columns": lambda X, rng: X[..., :0],
    "one row": lambda X, rng: X[:1],
    "one column fewer": lambda X, rng: X[..., :-1],
    "flat": lambda X, rng: X.ravel(),
    "one axis more": lambda X, rng: X[None],
    "scalar": lambda X, rng: np.float64(1.0),
    "None": lambda X, rng: None,
    "word": lambda X, rng: "rows",
    "dict": lambda X, rng: {"a": X},
    "duplicates": lambda X, rng: np.repeat(X[:1], len(X), axis=0),
    "mixed scales": _mixed_scales,
    "any bits": _wild,
    "any bits, single": _wild_single,
}


# ------------------------------------------------------------------------------ what is called


class Data(NamedTuple):
    """Good data of every kind: rows of people, a second view, bags, pictures."""

    X: np.ndarray
    y: np.ndarray
    Y: np.ndarray
    bags: np.ndarray
    pictures: np.ndarray
    landmarks: np.ndarray


def make_data() -> Data:
    rng = np.random.default_rng(1)
    people = np.repeat(np.arange(12), 4)
    X = 2 * rng.normal(size=(12, 5))[people] + rng.normal(size=(48, 5))
    return Data(
        X,
        people,
        X[:, :2] + 0.1 * rng.normal(size=(48, 2)),
        rng.normal(size=(8, 10, 3)),
        rng.random((24, 16, 16)),
        rng.uniform(6, 10, size=(24, 5, 2)),
    )


def _source() -> JointBayesian:
    data = make_data()
    return JointBayesian().fit(data.X, data.y)


#: class name -> the estimator that is tried, where the defaults do not fit small data
BUILD: dict[str, Callable[[Any], Any]] = {
    "BagClassifier": lambda cls: cls(FisherVector(2, random_state=0)),
    "BagEncoder": lambda cls: cls(
        PairedDescriptors(n_components=4), FisherVector(2, random_state=0)
    ),
    "ConstrainedClustering": lambda cls: cls(3),
    "DictionaryCompleter": lambda cls: cls(max_iter=2, random_state=0),
    "FaceCompleter": lambda cls: FaceCompleter(RidgeCompleter()),
    "FastfoodCompleter": lambda cls: cls(max_iter=2, random_state=0),
    "FisherVector": lambda cls: cls(2, random_state=0),
    "JointBayesian": lambda cls: cls(keep_statistics=True),
    "KSVD": lambda cls: cls(n_atoms=6, max_iter=2, random_state=0),
    "MixtureCompleter": lambda cls: cls(random_state=0),
    "MixturePCCA": lambda cls: cls(2, 1, max_iter=20, random_state=0),
    "MultiViewSuperVector": lambda cls: cls(MixturePCCA(2, 1, max_iter=20, random_state=0)),
    "PairedDescriptors": lambda cls: cls(n_components=4, random_state=0),
    "TransferJointBayesian": lambda cls: cls(_source()),
    "Verifier": lambda cls: cls(_source(), random_state=0),
    "WeightedKSVD": lambda cls: cls(n_atoms=6, max_iter=2, random_state=0),
}

Base = Callable[[Any, Data], np.ndarray]
Use = Callable[[Any, Any, Data], Any]


class Call(NamedTuple):
    """One way to give an array to a method."""

    base: Base
    use: Use
    learns: bool = False


def _rows(use: Use) -> Call:
    return Call(lambda m, d: d.X, use)


def _bags(use: Use) -> Call:
    return Call(lambda m, d: d.bags, use)


def _pictures(use: Use) -> Call:
    return Call(lambda m, d: d.pictures, use)


def _learn(use: Use) -> Call:
    return Call(lambda m, d: d.X, use, learns=True)


#: method -> how it is called, for estimators of rows
_ROW_CALLS: dict[str, list[Call]] = {
    "add_people": [_rows(lambda m, X, d: vars(clone_fitted(m).add_people(X, d.y + 100)))],
    "add_person": [_rows(lambda m, X, d: vars(clone_fitted(m).add_person(X, 200)))],
    "as_inner_product": [_rows(lambda m, X, d: m.as_inner_product(X, "probe"))],
    "bic": [],
    "complete": [
        _rows(lambda m, X, d: m.complete(X)),
        _rows(lambda m, X, d: m.complete(X, cover=np.arange(5) >= 3)),
    ],
    "decide": [_rows(lambda m, X, d: m.decide(X, d.X))],
    "decision_function": [_rows(lambda m, X, d: m.decision_function(X))],
    "estimate": [Call(lambda m, d: d.X[:, :3], lambda m, X, d: m.estimate(X))],
    "fit": [_learn(lambda m, X, d: clone(m).fit(X, d.y))],
    "fit_batches": [_learn(lambda m, X, d: clone(m).fit_batches(lambda: iter([X, X])))],
    "fit_predict": [_rows(lambda m, X, d: clone(m).fit_predict(X, d.y))],
    "identify": [_rows(lambda m, X, d: m.identify(X, 1.0))],
    "index_people": [
        _rows(lambda m, X, d: m.index_people(np.ones(48, int), X)),
        Call(
            lambda m, d: np.ones(48),
            lambda m, X, d: m.index_people(X, d.X),
        ),
    ],
    "inverse_transform": [
        Call(lambda m, d: _dense(m.transform(d.X)), lambda m, X, d: m.inverse_transform(X))
    ],
    "iter_score_blocks": [_rows(lambda m, X, d: [b.scores for b in m.iter_score_blocks(X)])],
    "iter_transform": [_rows(lambda m, X, d: list(m.iter_transform([X, X])))],
    "kneighbors": [_rows(lambda m, X, d: m.kneighbors(X))],
    "member_proba": [_rows(lambda m, X, d: m.member_proba(X))],
    "partial_fit": [_learn(lambda m, X, d: clone(m).partial_fit(X, d.y).partial_fit(X, d.y))],
    "predict": [_rows(lambda m, X, d: m.predict(X))],
    "predict_proba": [_rows(lambda m, X, d: m.predict_proba(X))],
    "probability": [Call(lambda m, d: d.X[:, 0], lambda m, X, d: m.probability(X))],
    "query_terms": [_rows(lambda m, X, d: m.query_terms(X, np.ones(48, int)))],
    "retrieve": [_rows(lambda m, X, d: m.retrieve(X, 3))],
    "score": [_rows(lambda m, X, d: m.score(X, d.y))],
    "score_matrix": [
        _rows(lambda m, X, d: m.score_matrix(X)),
        _rows(lambda m, X, d: m.score_matrix(d.X, X)),
    ],
    "score_pairs": [
        _rows(lambda m, X, d: m.score_pairs(X, d.X)),
        _rows(lambda m, X, d: m.score_pairs(d.X, X)),
    ],
    "score_sets": [
        _rows(lambda m, X, d: m.score_sets([X, d.X[:1]], [d.X[:2], d.X[2:4]])),
        _rows(lambda m, X, d: m.score_sets([d.X[:2]], [X])),
    ],
    "score_sums": [
        _rows(lambda m, X, d: m.score_sums(np.ones(48, int), X, np.ones(48, int), d.X)),
        _rows(lambda m, X, d: m.score_sums(np.ones(48, int), d.X, np.ones(48, int), X)),
    ],
    "score_templates": [
        Call(
            lambda m, d: m.transform(d.X),
            lambda m, X, d: m.score_templates(X, m.transform(d.X)),
        )
    ],
    "transform": [_rows(lambda m, X, d: m.transform(X))],
    "transform_visible": [
        Call(lambda m, d: d.X[:, m.visible_], lambda m, X, d: m.transform_visible(X))
    ],
}

_PICTURE_CALLS: dict[str, list[Call]] = {
    "fit": [Call(lambda m, d: d.pictures, lambda m, X, d: clone(m).fit(X), learns=True)],
    "transform": [_pictures(lambda m, X, d: m.transform(X))],
    "complete": [_pictures(lambda m, X, d: m.complete(X))],
    "enlarge": [Call(lambda m, d: d.pictures[:, ::2, ::2], lambda m, X, d: m.enlarge(X))],
}

#: class name -> {method: how it is called}, where it takes no rows
CALLS: dict[str, dict[str, list[Call]]] = {
    "BagClassifier": {
        "decision_function": [_bags(lambda m, X, d: m.decision_function(X))],
        "encode": [_bags(lambda m, X, d: m.encode(X))],
        "fit": [
            Call(
                lambda m, d: d.bags,
                lambda m, X, d: clone(m).fit(X, np.arange(8) % 2),
                learns=True,
            )
        ],
        "predict": [_bags(lambda m, X, d: m.predict(X))],
        "score": [_bags(lambda m, X, d: m.score(X, np.arange(8) % 2))],
    },
    "BagEncoder": _PICTURE_CALLS,
    "FaceCompleter": _PICTURE_CALLS,
    "FisherVector": {
        "fit": [Call(lambda m, d: d.bags, lambda m, X, d: clone(m).fit(X), learns=True)],
        "transform": [
            _bags(lambda m, X, d: m.transform(X)),
            Call(lambda m, d: d.bags[0], lambda m, X, d: m.transform([d.bags[1], X])),
            Call(
                lambda m, d: np.array([0.0, 5.0, 80.0]),
                lambda m, X, d: m.transform((d.bags.reshape(-1, 3), X)),
            ),
        ],
    },
    "GridLBP": _PICTURE_CALLS,
    "LandmarkLBP": {
        "fit": [
            Call(
                lambda m, d: d.pictures,
                lambda m, X, d: clone(m).fit(X, landmarks=d.landmarks),
                learns=True,
            )
        ],
        "transform": [
            _pictures(lambda m, X, d: m.transform(X, landmarks=d.landmarks)),
            Call(
                lambda m, d: d.landmarks,
                lambda m, X, d: m.transform(d.pictures, landmarks=X),
            ),
        ],
    },
    "LightNormalizer": {
        "fit": [
            Call(
                lambda m, d: d.pictures.reshape(24, -1),
                lambda m, X, d: clone(m).fit(X),
                learns=True,
            )
        ],
        "transform": [
            Call(lambda m, d: d.pictures.reshape(24, -1), lambda m, X, d: m.transform(X))
        ],
    },
    "LogisticCalibration": {
        "fit": [
            Call(lambda m, d: d.X[:, :1], lambda m, X, d: clone(m).fit(X, d.y % 2), learns=True)
        ],
        "transform": [Call(lambda m, d: d.X[:, :1], lambda m, X, d: m.transform(X))],
    },
    "MixturePCCA": {
        "bic": [_rows(lambda m, X, d: m.bic(X, d.Y))],
        "fit": [
            _learn(lambda m, X, d: clone(m).fit(X, d.Y)),
            Call(lambda m, d: d.Y, lambda m, X, d: clone(m).fit(d.X, X), learns=True),
        ],
        "fit_batches": [_learn(lambda m, X, d: clone(m).fit_batches(lambda: iter([(X, d.Y)])))],
        "partial_fit": [_learn(lambda m, X, d: clone(m).partial_fit(X, d.Y))],
        "predict": [_rows(lambda m, X, d: m.predict(X))],
        "predict_proba": [_rows(lambda m, X, d: m.predict_proba(X, d.Y))],
        "predict_view": [
            _rows(lambda m, X, d: m.predict_view(X, return_variance=True)),
            Call(lambda m, d: d.Y, lambda m, X, d: m.predict_view(Y=X)),
        ],
        "score": [_rows(lambda m, X, d: m.score(X, d.Y))],
        "score_samples": [
            _rows(lambda m, X, d: m.score_samples(X)),
            Call(lambda m, d: d.Y, lambda m, X, d: m.score_samples(d.X, X)),
        ],
        "transform": [_rows(lambda m, X, d: m.transform(X, d.Y))],
    },
    "MultiViewSuperVector": {
        "encode_parts": [_bags(lambda m, X, d: m.encode_parts(X, d.bags[:, :, :2]))],
        "fit": [
            Call(
                lambda m, d: d.bags,
                lambda m, X, d: clone(m).fit(X, d.bags[:, :, :2] + 0.1),
                learns=True,
            )
        ],
        "transform": [
            _bags(lambda m, X, d: m.transform(X, d.bags[:, :, :2])),
            Call(lambda m, d: d.bags[:, :, :2], lambda m, X, d: m.transform(d.bags, X)),
        ],
    },
    "PairedDescriptors": _PICTURE_CALLS,
    "PixelFeatures": _PICTURE_CALLS,
}

#: Completers learn streams with rows held out.
_COMPLETER_STREAM = [
    _learn(lambda m, X, d: clone(m).fit_batches(lambda: iter([X, X]), held_out=d.X[:8])),
    _learn(lambda m, X, d: clone(m).fit_batches(lambda: iter([d.X, d.X]), held_out=X)),
]

#: Methods that take no array of numbers, or only what another method gave.
WITHOUT_ARRAYS = {
    "explain",
    "get_pictures",
    "invert",
    "remove_person",
    "sample",
    "slim",
    "threshold",
}
_OF_SKLEARN = {"fit_transform", "get_feature_names_out", "get_metadata_routing", "get_params"}
_OF_SKLEARN |= {"from_arrays", "set_output", "set_params", "to_arrays"}


def clone_fitted(model: Any) -> Any:
    from mien.files import load_bytes

    return load_bytes(save_bytes(model), "a copy")


def _dense(array: Any) -> np.ndarray:
    return array.toarray() if sparse.issparse(array) else np.asarray(array)


def public_methods(estimator: Any) -> list[str]:
    """What a user may call with data."""
    names = [
        name
        for name in dir(type(estimator))
        if not name.startswith("_")
        and callable(getattr(type(estimator), name, None))
        and not (name.startswith("set_") and name.endswith("_request"))
    ]
    return sorted(set(names) - _OF_SKLEARN - WITHOUT_ARRAYS)


def find_calls(estimator: Any, method: str) -> list[Call]:
    """How a method of this estimator is called with an array."""
    own = CALLS.get(type(estimator).__name__)
    if own is not None:
        return own[method]
    if method == "fit_batches" and hasattr(estimator, "complete"):
        return _COMPLETER_STREAM
    return _ROW_CALLS[method]


def estimators() -> dict[str, Any]:
    """One of every registered estimator of mien, by the name of its class."""
    found = {}
    for name, place in sorted(REGISTRY.items()):
        cls = find_class(place)
        if name.startswith("mien.") and issubclass(cls, BaseEstimator):
            found[cls.__name__] = BUILD.get(cls.__name__, lambda cls: cls())(cls)
    return found


# ------------------------------------------------------------------------------ what came of it


class Trial(NamedTuple):
    """One array through one method."""

    estimator: str
    method: str
    way: int
    nasty: str
    seed: int


def trials(seed: int = 0) -> Iterator[Trial]:
    """Every array through every method once."""
    for name, estimator in estimators().items():
        for method in public_methods(estimator):
            for way in range(len(find_calls(estimator, method))):
                for nasty in NASTY:
                    yield Trial(name, method, way, nasty, seed)


class Sweep:
    """Fitted estimators, made when they are first needed."""

    def __init__(self) -> None:
        self.data = make_data()
        self.fresh = estimators()
        self.fitted: dict[str, Any] = {}

    def model(self, name: str) -> Any:
        if name not in self.fitted:
            with quiet():
                made = find_calls(self.fresh[name], "fit")[0]
                self.fitted[name] = made.use(
                    self.fresh[name], made.base(self.fresh[name], self.data), self.data
                )
        return self.fitted[name]

    def run(self, trial: Trial) -> tuple[str, str]:
        """What came of it: "worked", "refused", or a fault, and what was said."""
        model = self.model(trial.estimator)
        call = find_calls(model, trial.method)[trial.way]
        rng = np.random.default_rng([trial.seed, sum(map(ord, "".join(map(str, trial))))])
        with quiet():
            given = NASTY[trial.nasty](np.asarray(call.base(model, self.data)), rng)
            try:
                made = call.use(model, given, self.data)
                if call.learns:
                    # The statement of the class: shapes that agree, ranges, no NaN.
                    save_bytes(made)
            except (MienError, NotFittedError) as error:
                words = str(error)
                if "\n" in words or len(words) > 500:
                    return "too many words", words[:300]
                if (call.learns and "model." in words[:40]) or "statement" in words:
                    return "fitted badly", words
                return "refused", words
            except ValueError as error:
                if "inconsistent numbers of samples" in str(error):  # scikit-learn's own score
                    return "refused", str(error)
                return "raw error", f"ValueError: {error!s:.200}"
            except Exception as error:
                return "raw error", f"{type(error).__name__}: {error!s:.200}"
        if call.learns:
            return "worked", ""
        bad = find_not_finite(made)
        return ("silent NaN", bad) if bad else ("worked", "")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def find_not_finite(value: Any, where: str = "result") -> str:
    """The place of the first NaN or infinity in a result, or an empty string."""
    if sparse.issparse(value):
        value = value.data
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fc" and not np.all(np.isfinite(value)):
            return f"{where} {value.shape}"
        return ""
    if isinstance(value, (float, np.floating)):
        return "" if np.isfinite(value) else where
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            found = find_not_finite(item, f"{where}[{i}]")
            if found:
                return found
    return ""


def run_trial(sweep: Sweep, trial: Trial) -> tuple[str, str]:
    return sweep.run(trial)
