"""Every registered estimator of mien goes through scikit-learn's own checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from mien.features import PairedDescriptors
from mien.files._registry import REGISTRY, find_class
from mien.multiview import FisherVector, MixturePCCA
from mien.verification import JointBayesian
from tests.near import assert_near


def _source() -> JointBayesian:
    people = np.repeat(np.arange(12), 4)
    rng = np.random.default_rng(0)
    return JointBayesian().fit(
        2 * rng.normal(size=(12, 5))[people] + rng.normal(size=(48, 5)), people
    )


# class name -> how to build the one that is checked, where the defaults do not fit small data
BUILD: dict[str, Callable[[Any], Any]] = {
    "BagEncoder": lambda cls: cls(
        PairedDescriptors(n_components=4), FisherVector(2, random_state=0)
    ),
    "MultiViewSuperVector": lambda cls: cls(MixturePCCA(2, 1, tol=0.01, random_state=0)),
    "TransferJointBayesian": lambda cls: cls(_source()),
    "Verifier": lambda cls: cls(_source()),
    "BagClassifier": lambda cls: cls(FisherVector(2, random_state=0)),
    "FisherVector": lambda cls: cls(2),
    "ConstrainedClustering": lambda cls: cls(3),
    "DictionaryCompleter": lambda cls: cls(max_iter=2, random_state=0),
    "FastfoodCompleter": lambda cls: cls(max_iter=2, random_state=0),
    "JointBayesian": lambda cls: cls(keep_statistics=True),
    "KernelNullSpaceProjection": lambda cls: cls(fallback="relevant-components"),
    "NullSpaceLDA": lambda cls: cls(fallback="relevant-components"),
    "NullSpaceProjection": lambda cls: cls(fallback="relevant-components"),
}

# Checks that fit rows of random numbers of their own making.
DATA_CHECKS = (
    "check_complex_data",
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimators_dtypes",
    "check_estimators_empty_data_messages",
    "check_estimators_fit_returns_self",
    "check_estimators_nan_inf",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
    "check_transformer_n_iter",
    "check_transformer_preserve_dtypes",
    "check_transformers_unfitted",
)

# class name -> why those checks cannot apply; all others do, and test_natural_data stands in
NO_ROWS: dict[str, str] = {
    "Verifier": "the checks' data have two or three people; calibration takes four",
    "TransferJointBayesian": "its source fixes the number of features, which the checks vary",
    "FaceCompleter": "a sample is a picture (h, w), and it completes instead of predicting",
    "BagEncoder": "a sample is a picture, not a row",
    "MultiViewSuperVector": "a sample is a pair of bags, also for transform; the checks give rows",
}

# Of those checks, the ones that hold all the same: an xfail that passes is a failure.
HOLD: dict[str, set[str]] = {
    "BagEncoder": {
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_transformer_n_iter",
        "check_transformers_unfitted",
    },
    "FaceCompleter": set(),
    "MultiViewSuperVector": {
        "check_complex_data",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimators_empty_data_messages",
        "check_fit2d_1sample",
        "check_transformer_n_iter",
    },
    "TransferJointBayesian": {
        "check_complex_data",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimators_dtypes",
        "check_estimators_empty_data_messages",
        "check_fit2d_1sample",
        "check_transformers_unfitted",
    },
    "Verifier": {
        "check_complex_data",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimators_empty_data_messages",
        "check_fit2d_1sample",
    },
}

# A sample is a picture, or a row that must be one: see test_grammar…
PICTURES = ("GridLBP", "LandmarkLBP", "LightNormalizer", "PairedDescriptors", "PixelFeatures")

_COMPLETER = {
    "check_estimators_pickle": "the check fits with NaN where transform takes NaN; completers "
    "learn from whole vectors and complete NaN"
}
# class name -> {name of a check: why it cannot apply}
EXCUSED: dict[str, dict[str, str]] = {
    "AutoCompleter": _COMPLETER,
    "BlendCompleter": _COMPLETER,
    "DictionaryCompleter": _COMPLETER,
    "FastfoodCompleter": _COMPLETER,
    "FeatureRidgeCompleter": _COMPLETER,
    "LowRankCompleter": _COMPLETER,
    "MixtureCompleter": _COMPLETER,
    "PCACompleter": _COMPLETER,
    "RidgeCompleter": _COMPLETER,
    "BagClassifier": {
        "check_classifiers_train": "a row is a bag of one descriptor, which says little of a class"
    },
    "Verifier": {
        "check_do_not_raise_errors_in_init_or_set_params": "set_params asks if cross_fit is true"
    },
    "LogisticCalibration": {"check_fit1d": "scores of one system have one dimension"},
    "MixturePCCA": {
        "check_n_features_in_after_fitting": "the second view is Y; the check calls score(X, y=)"
    },
}


def _estimators() -> list[Any]:
    found = []
    for name, place in sorted(REGISTRY.items()):
        if not name.startswith("mien."):
            continue
        cls = find_class(place)
        if issubclass(cls, BaseEstimator):
            found.append(BUILD.get(cls.__name__, lambda cls: cls())(cls))
    return found


def _excuses(estimator: Any) -> dict[str, str]:
    name = type(estimator).__name__
    reason = NO_ROWS.get(name)
    if reason is None:
        return EXCUSED.get(name, {})
    return dict.fromkeys(set(DATA_CHECKS) - HOLD[name], reason) | EXCUSED.get(name, {})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::mien.errors.NumericsWarning")
@parametrize_with_checks(
    [e for e in _estimators() if type(e).__name__ not in PICTURES], expected_failed_checks=_excuses
)
def test_sklearn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_excuses_are_for_estimators_and_checks_that_exist() -> None:
    names = {type(estimator).__name__ for estimator in _estimators()}
    assert set(EXCUSED) | set(BUILD) | set(NO_ROWS) | set(PICTURES) <= names
    for check in {*DATA_CHECKS, *(check for checks in EXCUSED.values() for check in checks)}:
        assert hasattr(estimator_checks, check)


def _odd_estimators() -> list[Any]:
    return [e for e in _estimators() if type(e).__name__ in {*NO_ROWS, *PICTURES}]


@pytest.mark.parametrize("estimator", _odd_estimators(), ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    "check",
    [
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_get_params_invariance",
        "check_mixin_order",
        "check_no_attributes_set_in_init",
        "check_set_params",
        "check_valid_tag_types",
    ],
)
def test_grammar_of_estimators_without_rows(estimator: Any, check: str) -> None:
    getattr(estimator_checks, check)(type(estimator).__name__, clone(estimator))


def _natural(name: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What ``fit`` takes: by default rows in twelve groups of four."""
    rng = np.random.default_rng(1)
    pictures = rng.random((8, 32, 32))
    if name in {"GridLBP", "PixelFeatures", "PairedDescriptors", "BagEncoder"}:
        return (pictures,), {}
    if name == "LightNormalizer":
        return (pictures.reshape(8, -1),), {}
    if name == "LandmarkLBP":
        return (pictures,), {"landmarks": rng.uniform(8, 24, size=(8, 5, 2))}
    if name == "FisherVector":
        return ([rng.normal(size=(20, 3)) for _ in range(8)],), {}
    if name == "MultiViewSuperVector":
        X = [rng.normal(size=(20, 3)) for _ in range(8)]
        return (X, [x[:, :2] + 0.1 * rng.normal(size=(20, 2)) for x in X]), {}
    people = np.repeat(np.arange(12), 4)
    X = 2 * rng.normal(size=(12, 5))[people] + rng.normal(size=(48, 5))
    if name == "MixturePCCA":
        return (X[:, :3], X[:, 3:]), {}
    if name == "LogisticCalibration":
        return (X[:, :1], people % 2), {}
    return (X, people), {}


#: Transformers whose output is no table.
NO_TABLE = {
    "FaceCompleter": "pictures",
    "JointBayesian": "templates, which are scored as arrays",
    "LogisticCalibration": "one ratio for each row, of one dimension",
    "PairedDescriptors": "two bags of descriptors for each picture",
    "TransferJointBayesian": "templates, which are scored as arrays",
}


def _transformers() -> list[Any]:
    return [
        e for e in _estimators() if hasattr(e, "transform") and type(e).__name__ not in NO_TABLE
    ]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::mien.errors.NumericsWarning")
@pytest.mark.parametrize("container", ["pandas", "polars"])
@pytest.mark.parametrize("estimator", _transformers(), ids=lambda e: type(e).__name__)
def test_tables_out(estimator: Any, container: str) -> None:
    pytest.importorskip(container)
    given, extra = _natural(type(estimator).__name__)
    if "random_state" in estimator.get_params():
        estimator = clone(estimator).set_params(random_state=0)
    two_views = type(estimator).__name__ == "MultiViewSuperVector"
    asked = given if two_views else given[:1]
    plain = clone(estimator).fit(*given, **extra).transform(*asked, **extra)
    plain = plain.toarray() if sparse.issparse(plain) else plain
    with config_context(transform_output=container):
        model = clone(estimator).fit(*given, **extra)
        table = model.transform(*asked, **extra)
    assert type(table).__module__.split(".")[0] == container
    assert list(table.columns) == list(model.get_feature_names_out())
    assert len(set(table.columns)) == plain.shape[1]
    assert_near(table.to_numpy(), plain, digits=6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::mien.errors.NumericsWarning")
@pytest.mark.parametrize(
    "estimator",
    [e for e in _odd_estimators() if hasattr(e, "transform") and type(e).__name__ not in NO_TABLE],
    ids=lambda e: type(e).__name__,
)
def test_natural_data(estimator: Any) -> None:
    """What the checks on rows would show: the same again, and each sample by itself."""
    given, extra = _natural(type(estimator).__name__)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    model = clone(estimator)
    assert model.fit(*given, **extra) is model
    before = {name: repr(value) for name, value in vars(model).items()}
    asked = given if type(model).__name__ == "MultiViewSuperVector" else given[:1]
    whole = model.transform(*asked, **extra)
    assert {name: repr(value) for name, value in vars(model).items()} == before
    again = clone(estimator).fit(*given, **extra).transform(*asked, **extra)
    assert_near(again, whole, digits=6)
    part = [a[2:4] for a in asked]
    few = model.transform(*part, **{key: value[2:4] for key, value in extra.items()})
    # Descriptors of pictures are in single precision, and Fisher vectors take square roots of them.
    assert_near(few, whole[2:4], digits=4)
