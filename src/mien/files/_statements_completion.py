"""Statements of the completers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mien.files._vocabulary import (
    Bounds,
    Mismatch,
    Sizes,
    Statement,
    Term,
    Values,
    boolean,
    either,
    half,
    instance,
    items,
    labels,
    mapping,
    natural,
    number,
    optional,
    pair,
    real,
    size,
    text,
)

__all__ = ["COMPLETION"]


# Completers work in single precision: products of a few values must stay within it.
_LIMITS: Bounds = {"low": -1e9, "high": 1e9}
# Products of two such numbers, with room for rounding.
_SQUARES: Bounds = {"low": -1.001e18, "high": 1.001e18}
_NAMES = (
    "AutoCompleter",
    "BlendCompleter",
    "DictionaryCompleter",
    "FastfoodCompleter",
    "FeatureRidgeCompleter",
    "LowRankCompleter",
    "MixtureCompleter",
    "PCACompleter",
    "RidgeCompleter",
)
_COMPLETER = instance(*_NAMES, n_features_in_="d")
_COMMON: dict[str, Term] = {
    "n_features_in_": size("d"),
    "cover_": boolean("d"),
    "feature_names_in_": labels("d"),
}
_COVER = {"cover": optional(boolean("d"))}
_SOMETIMES = ("feature_names_in_", "objective_", "n_iter_")


def _visible(fitted: Values) -> int:
    return int(np.count_nonzero(~fitted["cover_"]))


def _check_covers(fitted: Values, parts: dict[str, Any]) -> None:
    for name, part in parts.items():
        if not np.array_equal(part.cover_, fitted["cover_"]):
            raise Mismatch(f"{name!r:.40} was fitted on another cover")


def _check_ridge(params: Values, fitted: Values, sizes: Sizes) -> None:
    wanted = (_visible(fitted), sizes["d"])
    if fitted["weights_"].shape != wanted:
        raise Mismatch(f"weights_ has the shape {fitted['weights_'].shape}, not {wanted}")
    if not np.all(np.diagonal(fitted["covariance_"]) >= 0):
        raise Mismatch("covariance_ must have a non-negative diagonal")


def _check_feature_ridge(params: Values, fitted: Values, sizes: Sizes) -> None:
    if fitted["map_"].n_features_in_ != _visible(fitted):
        raise Mismatch("map_ does not fit the visible features")
    if fitted["map_"]._n_features_out != len(fitted["weights_"]):
        raise Mismatch("weights_ does not fit the features of map_")


def _check_blend(params: Values, fitted: Values, sizes: Sizes) -> None:
    if set(fitted["weights_"]) != set(fitted["completers_"]) or not fitted["weights_"]:
        raise Mismatch("weights_ does not fit completers_")
    _check_covers(fitted, fitted["completers_"])


def _check_auto(params: Values, fitted: Values, sizes: Sizes) -> None:
    _check_covers(fitted, {fitted["name_"]: fitted["completer_"]})


def _check_dictionary(params: Values, fitted: Values, sizes: Sizes) -> None:
    if not 1 <= fitted["n_nonzero_coefs_"] <= min(sizes["k"], sizes["d"]):
        raise Mismatch(f"n_nonzero_coefs_ is {fitted['n_nonzero_coefs_']}")


def _check_fastfood(params: Values, fitted: Values, sizes: Sizes) -> None:
    if not 1 <= fitted["n_nonzero_coefs_"] <= min(sizes["k"], sizes["w"]):
        raise Mismatch(f"n_nonzero_coefs_ is {fitted['n_nonzero_coefs_']}")
    doubled = 2 if params["functions"] == "sincos" else 1
    if fitted["map_"].n_frequencies_ * doubled != sizes["w"]:
        raise Mismatch("atoms_ does not fit the features of map_")
    if fitted["visible_map_"].n_features_in_ != _visible(fitted):
        raise Mismatch("visible_map_ does not fit the visible features")
    if sizes["v"] not in (fitted["visible_map_"].n_frequencies_ * n for n in (1, 2)):
        raise Mismatch("visible_atoms_ does not fit the features of visible_map_")
    for name in ("map_", "visible_map_"):
        if fitted[name].functions != params["functions"]:
            raise Mismatch(f"{name} has other functions")
    if (params["dekernelize"] == "atoms") != ("components_" in fitted):
        raise Mismatch("components_ belongs to dekernelize='atoms'")


def _check_mixture(params: Values, fitted: Values, sizes: Sizes) -> None:
    seen = _visible(fitted)
    first, second = fitted["bases_"]
    if first.shape[1] != seen or second.shape[1] != sizes["d"] - seen:
        raise Mismatch("bases_ does not fit the cover")
    for mixture in fitted["mixtures_"]:
        if tuple(mixture.n_features_views_) != (len(first), len(second)):
            raise Mismatch("mixtures_ does not fit bases_")
    if not fitted["mixtures_"]:
        raise Mismatch("mixtures_ is empty")


def _check_faces(params: Values, fitted: Values, sizes: Sizes) -> None:
    shape = fitted["shape_"]
    if math.prod(shape) != fitted["completer_"].n_features_in_:
        raise Mismatch("completer_ does not fit shape_")
    for name in ("cover_", "error_", "mean_error_"):
        if fitted[name].shape != tuple(shape[:2]):
            raise Mismatch(f"{name} does not fit shape_")
    channels = shape[2] if len(shape) == 3 else 1
    if not np.array_equal(
        np.repeat(fitted["cover_"].ravel(), channels), fitted["completer_"].cover_
    ):
        raise Mismatch("completer_ was fitted on another cover")


_SIDE = number(1, 2**16, whole=True)

COMPLETION: dict[str, Statement] = {
    "mien.AutoCompleter": Statement(
        _COMMON
        | {
            "completer_": _COMPLETER,
            "name_": text(200),
            "errors_": mapping(text(200), number(low=0)),
        },
        params=_COVER,
        sometimes=_SOMETIMES,
        check=_check_auto,
    ),
    "mien.BlendCompleter": Statement(
        _COMMON
        | {
            "completers_": mapping(text(200), _COMPLETER),
            "weights_": mapping(text(200), number(-10, 10)),
        },
        params=_COVER,
        sometimes=_SOMETIMES,
        check=_check_blend,
    ),
    "mien.DictionaryCompleter": Statement(
        _COMMON
        | {
            "components_": real("k", "d", **_LIMITS),
            "mean_": real("d", **_LIMITS),
            "beta_": number(0, 1e9),
            "beta_errors_": mapping(number(0, 1e9), number(low=0)),
            "n_nonzero_coefs_": number(1, 2**31, whole=True),
            "objective_": real("i", low=0),
            "n_iter_": natural(),
        },
        params=_COVER,
        sometimes=_SOMETIMES,
        check=_check_dictionary,
    ),
    "mien.FastfoodCompleter": Statement(
        _COMMON
        | {
            "map_": instance("Fastfood", n_features_in_="d"),
            "visible_map_": instance("Fastfood"),
            "atoms_": real("k", "w", **_LIMITS),
            "visible_atoms_": real("k", "v", **_LIMITS),
            "components_": real("k", "d", **_LIMITS),
            "mean_": real("d", **_LIMITS),
            "n_nonzero_coefs_": number(1, 2**31, whole=True),
            "objective_": real("i", low=0),
            "n_iter_": natural(),
        },
        params=_COVER,
        sometimes=(*_SOMETIMES, "components_"),
        check=_check_fastfood,
    ),
    "mien.FeatureRidgeCompleter": Statement(
        _COMMON
        | {
            "map_": instance("Fastfood"),
            "weights_": real("f", "d", **_LIMITS),
            "intercept_": real("d", **_LIMITS),
            "sigma_": number(1e-15, 1e15),
            "alpha_": number(0, 1e30),
        },
        params=_COVER,
        sometimes=_SOMETIMES,
        check=_check_feature_ridge,
    ),
    "mien.LowRankCompleter": Statement(
        _COMMON
        | {
            "components_": half("k", "d"),
            "mean_": half("d"),
            "noise_variance_": half("d", low=6e-8),
            "alpha_": number(1e-30, 1e30),
        },
        params=_COVER,
        sometimes=_SOMETIMES,
    ),
    "mien.MixtureCompleter": Statement(
        _COMMON
        | {
            "mean_": real("d", **_LIMITS),
            "bases_": pair(real("a", "x", **_LIMITS), real("b", "y", **_LIMITS)),
            "mixtures_": items(instance("MixturePCCA", n_features_in_="a")),
            "n_components_": number(1, 2**20, whole=True),
            "n_latent_": number(1, 2**20, whole=True),
            "likelihoods_": mapping(pair(natural(), natural()), number()),
        },
        params=_COVER,
        sometimes=_SOMETIMES,
        check=_check_mixture,
    ),
    "mien.PCACompleter": Statement(
        _COMMON
        | {
            "components_": real("k", "d", **_LIMITS),
            "mean_": real("d", **_LIMITS),
            "n_components_": size("k"),
        },
        params=_COVER,
        sometimes=_SOMETIMES,
    ),
    "mien.RidgeCompleter": Statement(
        _COMMON
        | {
            "alpha_": number(1e-30, 1e30),
            "mean_": real("d", **_LIMITS),
            "covariance_": real("d", "d", **_SQUARES),
            "weights_": real("v", "d", **_LIMITS),
            "foreign_share_": number(0, 1),
        },
        params=_COVER,
        sometimes=(*_SOMETIMES, "foreign_share_"),
        check=_check_ridge,
    ),
    "mien.FaceCompleter": Statement(
        {
            "shape_": either(pair(_SIDE, _SIDE), pair(_SIDE, _SIDE, number(3, 3, whole=True))),
            "cover_": boolean("h", "w"),
            "completer_": instance(*_NAMES),
            "error_": real("h", "w", low=0, high=1e9),
            "mean_error_": real("h", "w", low=0, high=1e9),
        },
        check=_check_faces,
    ),
}
