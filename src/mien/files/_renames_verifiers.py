"""How the verifiers of format 1 are read: three classes that have become one, and a FaceModel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mien.errors import ModelFormatError
from mien.files._registry import REGISTRY, find_class
from mien.files._vocabulary import Values

__all__ = [
    "convert_calibrated",
    "convert_face_verifier",
    "convert_joint_bayesian",
    "convert_open_set",
    "convert_transfer",
]


def _table(
    probe_sizes: Any, sizes: Any, rates: Any, values: Any, scale: Any, n: Any, lowest: Any
) -> Any:
    """A ThresholdTable, which older verifiers held as attributes of their own."""
    parts = {
        "probe_sizes": probe_sizes,
        "sizes": sizes,
        "rates": rates,
        "values": values,
        "tail_scale": scale,
        "n_impostor": n,
        "lowest_far": lowest,
    }
    return find_class(REGISTRY["mien.ThresholdTable"]).from_arrays(parts)  # type: ignore[attr-defined]


def convert_open_set(params: Values, state: Values) -> tuple[Values, Values]:
    """OpenSetVerifier -> Verifier: thresholds in a table of their own, the model once."""
    settings = {name: value for name, value in params.items() if name != "model"}
    settings |= {"far": 0.001, "tail_scale": None}
    if "thresholds_" not in state:
        return {}, {"settings": settings, "model": params["model"], "fitted": None}
    table = _table(
        state["probe_sizes_"],
        state["sizes_"],
        state["far_levels_"],
        state["thresholds_"],
        state["tail_scale_"],
        state["n_impostor_"],
        state["lowest_far_"],
    )
    kept = (
        "sizes_",
        "probe_sizes_",
        "coefficients_",
        "cllr_",
        "n_genuine_",
        "n_impostor_",
    )
    fitted = {name: state[name] for name in kept} | {"thresholds_": table}
    fitted["candidates_"] = ("ratio", "cosine")
    return {}, {"settings": settings, "model": state["model_"], "fitted": fitted}


def convert_calibrated(params: Values, state: Values) -> tuple[Values, Values]:
    """CalibratedVerifier -> Verifier of single pictures, with the one threshold that it had."""
    names = params["candidates"]
    settings = {
        name: params[name]
        for name in ("prior", "cross_fit", "n_splits", "ridge", "n_errors", "random_state")
    } | {"sizes": (1,), "probe_sizes": (1,), "tail_scale": None}
    settings["far"] = 0.001 if params["far"] is None else params["far"]
    candidates = tuple("distance" if name == "l2" else name for name in state.get("weights_", ()))
    settings["candidates"] = candidates or ("ratio", "cosine") if names is None else tuple(
        "distance" if name == "l2" else name for name in names
    )  # fmt: skip
    if "weights_" not in state:
        return {}, {"settings": settings, "model": params["model"], "fitted": None}
    one = np.asarray([1])
    decided = params["far"] is not None and np.isfinite(state["threshold_"])
    rate = float(params["far"]) if decided else 0.5
    threshold = float(state["threshold_"]) if np.isfinite(state["threshold_"]) else 0.0
    n_impostor = np.asarray([[state["n_impostor_"]]])
    table = _table(
        one,
        one,
        np.asarray([rate]),
        np.asarray([[[threshold]]]),
        # The tail of any calibrated ratio falls at least as fast as this.
        np.ones((1, 1)),
        n_impostor,
        rate,
    )
    coefficients = np.asarray([[[*state["weights_"].values(), state["intercept_"]]]], float)
    fitted = {
        "candidates_": candidates,
        "sizes_": one,
        "probe_sizes_": one,
        "coefficients_": coefficients,
        "thresholds_": table,
        "cllr_": np.asarray([[state["cllr_"]["fusion"]]]),
        "n_genuine_": np.asarray([[state["n_genuine_"]]]),
        "n_impostor_": n_impostor,
    }
    return {}, {"settings": settings, "model": state["model_"], "fitted": fitted}


def convert_joint_bayesian(params: Values, state: Values) -> tuple[Values, Values]:
    """Models of few people had no neutral prior."""
    fitted = {"prior_people_": 0.0} if "projection_" in state else {}
    return {"prior_people": 0.0} | params, state | fitted


def convert_transfer(params: Values, state: Values) -> tuple[Values, Values]:
    """``strength`` counted people unless the weighting was constant: two names."""
    params, state = dict(params), dict(state)
    constant = params.pop("weighting") == "constant"
    strength = params.pop("strength")
    params |= {"strength": strength, "source_people": "auto"} if constant else {
        "strength": None, "source_people": strength,
    }  # fmt: skip
    if "strength_" in state:
        n, found = state["n_people_"], float(state["strength_"])
        state["source_people_"] = found * n if constant else found
        state["strength_"] = found if constant else found / n
        state["steps_"] = None
        path = dict(state.get("strength_path_", {}))
        if path:
            tried = np.asarray(path["strength"])
            path["source_people"] = tried * n if constant else tried
            path["strength"] = tried if constant else tried / n
        state["strength_path_"] = path
    return params, state


def convert_face_verifier(state: Values, rename: Callable[..., Any]) -> tuple[Values, Values]:
    """FaceVerifier -> FaceModel: a verifier that is an object, and not a table of attributes."""
    source = state["source"]
    model = _construct(
        state["model"], None if source is None else _construct(source, None, rename), rename
    )
    held = state["verifier"]
    names = ("sizes", "probe_sizes", "candidates", "prior", "cross_fit", "n_folds", "ridge",
             "n_errors", "random_state")  # fmt: skip
    old = {name: held[name] for name in names} | {"model": model}
    fitted = {name: value for name, value in held.items() if name.endswith("_")}
    name, _, new = rename(1, 2, "mien.OpenSetVerifier", old, fitted | {"model_": model})
    verifier = find_class(REGISTRY[name]).from_arrays(new)  # type: ignore[attr-defined]
    return {}, {"engine": state["engine"], "card": state["card"], "verifier": verifier}


def _construct(stripped: Values, source: Any, rename: Callable[..., Any]) -> Any:
    """A model of which a FaceVerifier held parameters and fitted values in one table."""
    name = f"mien.{stripped['class']}"
    if name not in ("mien.JointBayesian", "mien.TransferJointBayesian"):
        raise ModelFormatError(f"a FaceVerifier holds no {stripped['class']!r:.40}")
    held = {
        key: value.astype(np.float64) if getattr(value, "dtype", np.dtype(int)).kind == "f"
        and getattr(value, "ndim", 0) else value
        for key, value in stripped["state"].items()
    }  # fmt: skip
    fitted = {key: value for key, value in held.items() if key.endswith("_")}
    params = {key: value for key, value in held.items() if not key.endswith("_")}
    if source is not None:
        params["source"] = source
    name, params, fitted = rename(1, 2, name, params, fitted)
    cls: Any = find_class(REGISTRY[name])
    model = cls(**params)
    model._validate_params()
    for key, value in fitted.items():
        if not key.isidentifier() or key.startswith("_") or hasattr(cls, key):
            raise ModelFormatError(f"{name} has no attribute {key!r:.80}")
        setattr(model, key, value)
    model._check_loaded()
    return model
