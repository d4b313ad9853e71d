"""Completers, dictionaries and random features of format 1, as they are read today.

In format 1 a completer was a bag of attributes without parameters, and a ``FaceHallucinator``
carried the parameters of all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mien.files._vocabulary import Values

__all__ = [
    "convert_blend",
    "convert_dictionary",
    "convert_fastfood",
    "convert_feature_ridge",
    "convert_hallucinator",
    "convert_ksvd",
    "convert_low_rank",
    "convert_mixture",
    "convert_pca",
    "convert_ridge",
]

ValuesPair = tuple[Values, Values]


def convert_ksvd(params: Values, state: Values) -> ValuesPair:
    """Dictionaries were not centred, and worked in the precision of a parameter."""
    visible = state.pop("mask_", None)
    if visible is not None:
        params["visible"] = state["visible_"] = visible
    params["fit_intercept"] = False
    if "components_" in state:
        components = state["components_"]
        state["mean_"] = np.zeros(components.shape[1], components.dtype)
    return params, state


def convert_pca(params: Values, state: Values) -> ValuesPair:
    components = state["components"]
    return {"n_components": state["n_components"]}, {
        "components_": components,
        "mean_": state["mean"],
        "n_components_": len(components),
        "n_features_in_": components.shape[1],
    }


def convert_ridge(params: Values, state: Values) -> ValuesPair:
    found = {
        "alpha_": state["alpha"],
        "mean_": state["mean"],
        "covariance_": state["covariance"],
        "weights_": state["weights"],
        "n_features_in_": len(state["mean"]),
    }
    return {"alpha": state["alpha"]}, found


def convert_low_rank(params: Values, state: Values) -> ValuesPair:
    params = {"n_components": state["n_components"], "alpha": state["alpha"]}
    return params, {
        "components_": state["directions"],
        "mean_": state["mean"],
        "noise_variance_": state["noise"],
        "alpha_": state["alpha"],
        "n_features_in_": len(state["mean"]),
    }


def convert_dictionary(params: Values, state: Values) -> ValuesPair:
    atoms, options = state["atoms"], state["options"]
    return _dictionary_params(options) | {"beta": state["beta"]}, {
        "components_": atoms,
        "mean_": np.zeros(atoms.shape[1], atoms.dtype),
        "beta_": state["beta"],
        "beta_errors_": {},
        "n_nonzero_coefs_": state["n_nonzero"],
        "objective_": state["objective"],
        "n_iter_": len(state["objective"]),
        "n_features_in_": atoms.shape[1],
    }


def convert_fastfood(params: Values, state: Values) -> ValuesPair:
    dekernelize = {"reconstruction": "result", "dictionary": "atoms"}[state["dekernelize"]]
    params = _dictionary_params(state["options"]) | {
        "beta": state["beta"],
        "expansion": state["expansion"],
        "functions": state["features"],
        "sigma": state["sigma"],
        "dekernelize": dekernelize,
    }
    found = {
        "map_": state["whole"],
        "visible_map_": state["part"],
        "atoms_": state["atoms"],
        "visible_atoms_": state["part_atoms"],
        "mean_": state["mean"],
        "n_nonzero_coefs_": state["n_nonzero"],
        "objective_": state["objective"],
        "n_iter_": len(state["objective"]),
        "n_features_in_": len(state["mean"]),
    }
    if dekernelize == "atoms":
        found["components_"] = state["face_atoms"]
    return params, found


def convert_feature_ridge(params: Values, state: Values) -> ValuesPair:
    sigma = state["sigma"]
    params = {
        "expansion": state["expansion"],
        "sigma": sigma,
        "alpha": state["alpha"],
        "random_state": state["random_state"],
    }
    return params, {
        "map_": state["map"],
        "weights_": state["weights"],
        "intercept_": state["offset"],
        "sigma_": sigma,
        "alpha_": state["alpha"],
        "n_features_in_": state["weights"].shape[1],
    }


def convert_mixture(params: Values, state: Values) -> ValuesPair:
    mixture = state["mixture"]
    params = {
        "n_components": state["n_mixture"],
        "n_latent": state["n_latent"],
        "random_state": state["random_state"],
    }
    return params, {
        "mean_": state["mean"],
        "bases_": state["bases"],
        "mixtures_": [mixture],
        "n_components_": mixture.n_components,
        "n_latent_": mixture.n_latent,
        "likelihoods_": {},
        "n_features_in_": len(state["mean"]),
    }


def convert_blend(params: Values, state: Values) -> ValuesPair:
    parts = {"ridge": state["linear"], "feature-ridge": state["kernel"]}
    share = state["share"]
    return {"completers": None}, {
        "completers_": parts,
        "weights_": {"ridge": 1 - share, "feature-ridge": share},
        "n_features_in_": state["linear"].n_features_in_,
    }


def convert_hallucinator(params: Values, state: Values) -> ValuesPair:
    """The mask of what is visible becomes the cover of what is not, also in the completer."""
    kept = {name: params[name] for name in ("mirror", "keep_visible", "batch_size")}
    if "completer_" not in state:
        return kept | {"completer": "blend"}, state
    cover = ~state.pop("mask_")
    completer, shape = state["completer_"], state["shape_"]
    _set_cover(completer, np.repeat(cover.ravel(), shape[2] if len(shape) == 3 else 1))
    state |= {"cover_": cover, "mean_error_": state.pop("prior_")}
    unfitted = type(completer)(**completer.get_params(deep=False))
    return kept | {"completer": unfitted, "cover": cover}, state


def _set_cover(completer: Any, cover: np.ndarray) -> None:
    completer.set_params(cover=cover)
    completer.cover_ = cover
    for part in getattr(completer, "completers_", {}).values():
        _set_cover(part, cover)


def _dictionary_params(options: Values) -> Values:
    names = {"n_atoms": "n_atoms", "n_nonzero": "n_nonzero_coefs", "max_iter": "max_iter"}
    params = {new: options[old] for old, new in names.items()}
    return params | {"random_state": options.get("random_state")}
