"""Every registered estimator of mien goes through scikit-learn's own checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from mien.files._registry import REGISTRY, find_class
from mien.multiview import FisherVector

# class name -> how to build the one that is checked, where the defaults do not fit small data
BUILD: dict[str, Callable[[Any], Any]] = {
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

# class name -> why none of the checks can apply
WHOLLY_EXCUSED: dict[str, str] = {
    "Verifier": "the checks' data have two or three people; calibration takes four",
    "GridLBP": "a sample is a picture, not a row",
    "LandmarkLBP": "a sample is a picture with its landmarks",
    "PixelFeatures": "a sample is a picture, not a row",
    "TransferJointBayesian": "its source fixes the number of features, which the checks vary",
    "FaceCompleter": "a sample is a picture (h, w), and it completes instead of predicting",
    "BagEncoder": "a sample is a picture, not a row",
    "PairedDescriptors": "a sample is a picture, not a row",
    "MultiViewSuperVector": "a sample is a pair of bags, also for transform; the checks give rows",
}

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
        if issubclass(cls, BaseEstimator) and cls.__name__ not in WHOLLY_EXCUSED:
            found.append(BUILD.get(cls.__name__, lambda cls: cls())(cls))
    return found


def _excuses(estimator: Any) -> dict[str, str]:
    return EXCUSED.get(type(estimator).__name__, {})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::mien.errors.NumericsWarning")
@parametrize_with_checks(_estimators(), expected_failed_checks=_excuses)
def test_sklearn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_excuses_are_for_estimators_that_exist() -> None:
    names = {type(estimator).__name__ for estimator in _estimators()}
    assert set(EXCUSED) <= names
    assert set(BUILD) <= names
