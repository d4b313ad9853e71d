"""Statements of the few classes of scikit-learn that a file may hold; see ``_statements``."""

from __future__ import annotations

from typing import Any

import numpy as np

from mien.files._vocabulary import (
    Mismatch,
    Sizes,
    Statement,
    choice,
    either,
    flag,
    instance,
    integers,
    items,
    labels,
    number,
    optional,
    positive,
    real,
    size,
    text,
)

__all__ = ["SKLEARN"]

_COUNT = number(0, 2**53, whole=True)


def _check_one_machine(params: dict[str, Any], fitted: dict[str, Any], sizes: Sizes) -> None:
    """Two classes have one row of coefficients, more have one each."""
    wanted = 1 if sizes["c"] == 2 else sizes["c"]
    if sizes["rows"] != wanted:
        raise Mismatch(f"coef_ has {sizes['rows']} rows for {sizes['c']} classes")


def _check_pipeline(params: dict[str, Any], fitted: dict[str, Any], sizes: Sizes) -> None:
    names = [name for name, _ in params["steps"]]
    if len(set(names)) != len(names) or not names:
        raise Mismatch("its steps must have different names")
    for name, step in params["steps"]:
        if step is not None and step != "passthrough" and not hasattr(step, "get_params"):
            raise Mismatch(f"its step {name!r:.40} is not an estimator")


def _check_one_against_rest(params: dict[str, Any], fitted: dict[str, Any], sizes: Sizes) -> None:
    classes = fitted["label_binarizer_"].classes_
    if len(fitted["estimators_"]) != (1 if len(classes) == 2 else len(classes)):
        raise Mismatch("it needs one estimator for each class")
    if "classes_" in fitted and not np.array_equal(fitted["classes_"], classes):
        raise Mismatch("its classes are not those of its binarizer")


_LINEAR = {
    "classes_": labels("c", unique=True),
    "n_features_in_": size("d"),
    "coef_": real("rows", "d"),
    "intercept_": real("rows"),
    "n_iter_": either(_COUNT, integers("i")),
    "feature_names_in_": labels("d"),
}

SKLEARN: dict[str, Statement] = {
    "sklearn.GaussianMixture": Statement(
        {
            "n_features_in_": size("d"),
            "weights_": real("k", low=0, high=1 + 1e-6),
            "means_": real("k", "d"),
            "covariances_": either(real("k", "d"), real("k", "d", "d"), real("d", "d"), real("k")),
            "precisions_cholesky_": either(
                positive("k", "d"), real("k", "d", "d"), real("d", "d"), positive("k")
            ),
            "precisions_": either(real("k", "d"), real("k", "d", "d"), real("d", "d"), real("k")),
            "converged_": flag(),
            "n_iter_": _COUNT,
            "lower_bound_": number(),
            "lower_bounds_": items(number()),
            "feature_names_in_": labels("d"),
        },
        sometimes=("lower_bounds_", "feature_names_in_"),
        check=lambda params, fitted, sizes: _check_mixture(params, fitted, sizes),
    ),
    "sklearn.KMeans": Statement(
        {
            "n_features_in_": size("d"),
            "cluster_centers_": real("k", "d"),
            "labels_": integers("n", high="k"),
            "inertia_": number(low=0),
            "n_iter_": _COUNT,
            "_n_features_out": size("k"),
            "_n_init": _COUNT,
            "_n_threads": number(1, 1, whole=True),
            "_tol": number(low=0),
            "_algorithm": choice("lloyd", "elkan"),
            "feature_names_in_": labels("d"),
        },
        sometimes=("_n_threads", "feature_names_in_"),
    ),
    "sklearn.LDA": Statement(
        {
            "n_features_in_": size("d"),
            "classes_": labels("c", unique=True),
            "priors_": real("c", low=0, high=1 + 1e-6),
            "means_": real("c", "d"),
            "xbar_": real("d"),
            "covariance_": real("d", "d"),
            "scalings_": real("d", "r"),
            "explained_variance_ratio_": real("e", low=-1e-6, high=1 + 1e-6),
            "coef_": real("rows", "d"),
            "intercept_": real("rows"),
            "_max_components": size("most"),
            "_n_features_out": number(1, 2**31, whole=True),
            "feature_names_in_": labels("d"),
        },
        sometimes=(
            "covariance_",
            "xbar_",
            "scalings_",
            "explained_variance_ratio_",
            "_max_components",
            "_n_features_out",
            "feature_names_in_",
        ),
        check=_check_one_machine,
    ),
    "sklearn.LabelBinarizer": Statement(
        {
            "classes_": labels("c", unique=True),
            "y_type_": choice("binary", "multiclass", "multilabel-indicator"),
            "sparse_input_": flag(),
        },
        params={"neg_label": number(0, 0, whole=True), "pos_label": number(1, 1, whole=True)},
    ),
    "sklearn.LinearSVC": Statement(
        _LINEAR, sometimes=("feature_names_in_",), check=_check_one_machine
    ),
    "sklearn.LogisticRegression": Statement(
        _LINEAR, sometimes=("feature_names_in_",), check=_check_one_machine
    ),
    "sklearn.MinMaxScaler": Statement(
        {
            "n_features_in_": size("d"),
            "n_samples_seen_": _COUNT,
            "scale_": positive("d"),
            "min_": real("d"),
            "data_min_": real("d"),
            "data_max_": real("d"),
            "data_range_": real("d", low=0),
            "feature_names_in_": labels("d"),
        },
        sometimes=("feature_names_in_",),
    ),
    "sklearn.Normalizer": Statement(
        {"n_features_in_": size("d"), "feature_names_in_": labels("d")},
        sometimes=("feature_names_in_",),
    ),
    "sklearn.OneVsRestClassifier": Statement(
        {
            "label_binarizer_": instance("LabelBinarizer"),
            "classes_": labels("c", unique=True),
            "n_features_in_": size("d"),
            "estimators_": items(instance("LinearSVC", "LogisticRegression", n_features_in_="d")),
            "feature_names_in_": labels("d"),
        },
        sometimes=("classes_", "feature_names_in_"),
        params={"estimator": instance("LinearSVC", "LogisticRegression")},
        check=_check_one_against_rest,
    ),
    "sklearn.PCA": Statement(
        {
            "n_features_in_": size("d"),
            "components_": real("k", "d"),
            "mean_": real("d"),
            "explained_variance_": real("k", low=0),
            "explained_variance_ratio_": real("k", low=0, high=1 + 1e-6),
            "singular_values_": real("k", low=0),
            "noise_variance_": number(low=0),
            "n_components_": size("k", low=0),
            "n_samples_": _COUNT,
            "_fit_svd_solver": text(40),
            "feature_names_in_": labels("d"),
        },
        sometimes=("_fit_svd_solver", "feature_names_in_"),
    ),
    "sklearn.Pipeline": Statement({}, check=_check_pipeline, unfitted=False),
    "sklearn.StandardScaler": Statement(
        {
            "n_features_in_": size("d"),
            "n_samples_seen_": either(_COUNT, number(0, 2**53), integers("d")),
            "mean_": optional(real("d")),
            "var_": optional(real("d", low=0)),
            "scale_": optional(positive("d")),
            "feature_names_in_": labels("d"),
        },
        sometimes=("feature_names_in_",),
    ),
}


def _check_mixture(params: dict[str, Any], fitted: dict[str, Any], sizes: Sizes) -> None:
    k, d = sizes["k"], sizes["d"]
    shapes = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}
    wanted = shapes[params["covariance_type"]]
    for name in ("covariances_", "precisions_cholesky_", "precisions_"):
        if fitted[name].shape != wanted:
            raise Mismatch(f"{name} has the shape {fitted[name].shape}, and must have {wanted}")
    if not abs(float(fitted["weights_"].sum()) - 1) < 1e-3 or params["n_components"] != k:
        raise Mismatch("its weights must be those of its components, and sum to one")
    if wanted[-2:] == (d, d) and len(wanted) > 1 and params["covariance_type"] != "diag":
        diagonal = np.diagonal(fitted["precisions_cholesky_"], axis1=-2, axis2=-1)
        if not np.all(diagonal > 0):
            raise Mismatch("precisions_cholesky_ must have a diagonal above zero")
