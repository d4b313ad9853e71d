"""What older formats called by another name: classes, parameters and fitted attributes.

One table per format number. A file of format 1 is read with the table of format 1, then with that
of format 2, and so on up to today's: each table says how to get from its format to the next.

To rename a registered class, a parameter or a fitted attribute, change :data:`REGISTRY` and the
class, and add one line here, in the table of the newest *released or golden* format:

- another class name:       ``"mien.Old": Renamed("mien.New")``
- another parameter name:   ``"mien.Class": Renamed("mien.Class", params={"n_folds": "n_splits"})``
- a fitted attribute:       ``"mien.Class": Renamed("mien.Class", state={"ratios_": "new_name_"})``
- what is no longer there:  map it to None, and it is dropped
- a new parameter whose default is not what older files mean: a line in :data:`BEFORE`
- anything more:            ``convert=function``, which takes and gives ``(params, state)`` after
  the renaming. Both are dicts of decoded values; objects inside were converted already. A class
  without parameters in the file (one with ``to_arrays``) has all its values in ``state``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mien.files import _renames_completion as completion
from mien.files import _renames_verifiers as verifiers
from mien.files._vocabulary import Values

__all__ = ["RENAMES", "Renamed", "rename"]


@dataclass(frozen=True)
class Renamed:
    """How one class of an older format is read today.

    Parameters
    ----------
    name : str
        Its registered name in the next format.
    params, state : mapping of str to str or None
        Old name -> new name, of parameters and of fitted attributes; None drops the value.
    convert : callable or None
        ``convert(params, state) -> (params, state)``, for what renaming alone cannot do.
    """

    name: str
    params: Mapping[str, str | None] = field(default_factory=dict)
    state: Mapping[str, str | None] = field(default_factory=dict)
    convert: Callable[[Values, Values], tuple[Values, Values]] | None = None


def _share_ratios(params: Values, state: Values) -> tuple[Values, Values]:
    """Fisherfaces kept between/within ratios, and now their shares."""
    ratios = state.pop("ratios_", None)
    if ratios is not None:
        state["explained_variance_ratio_"] = ratios / ratios.sum()
    return params, state


_KSVD: dict[str, Any] = {
    "params": {"n_nonzero": "n_nonzero_coefs", "shrinkage": "max_entry", "dtype": None},
    "state": {"n_nonzero_": "n_nonzero_coefs_"},
    "convert": completion.convert_ksvd,
}

#: Format number -> registered name in that format -> how to read it today.
RENAMES: dict[int, dict[str, Renamed]] = {
    1: {
        "mien.Committee": Renamed(
            "mien.Committee", params={"member": "estimator", "n_features": "max_features"}
        ),
        "mien.Fisherfaces": Renamed("mien.Fisherfaces", convert=_share_ratios),
        "mien.JointBayesianStatistics": Renamed("mien.GroupStatistics"),
        "mien.KernelNullSpaceProjection": Renamed(
            "mien.KernelNullSpaceProjection", params={"n_features": "approximation_size"}
        ),
        "mien.KernelRelevantComponents": Renamed(
            "mien.KernelRelevantComponents", params={"n_features": "approximation_size"}
        ),
        "mien.RandomSamplingLDA": Renamed("mien.RandomSamplingLDA", params={"prior": "priors"}),
        "mien.BlendCompleter": Renamed("mien.BlendCompleter", convert=completion.convert_blend),
        "mien.DictionaryCompleter": Renamed(
            "mien.DictionaryCompleter", convert=completion.convert_dictionary
        ),
        "mien.FaceHallucinator": Renamed(
            "mien.FaceCompleter", convert=completion.convert_hallucinator
        ),
        "mien.Fastfood": Renamed("mien.Fastfood", params={"features": "functions"}),
        "mien.FastfoodCompleter": Renamed(
            "mien.FastfoodCompleter", convert=completion.convert_fastfood
        ),
        "mien.FeatureRidgeCompleter": Renamed(
            "mien.FeatureRidgeCompleter", convert=completion.convert_feature_ridge
        ),
        "mien.KSVD": Renamed("mien.KSVD", **_KSVD),
        "mien.LowRankCompleter": Renamed(
            "mien.LowRankCompleter", convert=completion.convert_low_rank
        ),
        "mien.MixtureCompleter": Renamed(
            "mien.MixtureCompleter", convert=completion.convert_mixture
        ),
        "mien.PCACompleter": Renamed("mien.PCACompleter", convert=completion.convert_pca),
        "mien.RandomKitchenSinks": Renamed(
            "mien.RandomKitchenSinks", params={"features": "functions"}
        ),
        "mien.RidgeCompleter": Renamed("mien.RidgeCompleter", convert=completion.convert_ridge),
        "mien.WeightedKSVD": Renamed("mien.WeightedKSVD", **_KSVD),
        "mien.CalibratedVerifier": Renamed(
            "mien.Verifier", {"n_folds": "n_splits"}, convert=verifiers.convert_calibrated
        ),
        "mien.ExportedRows": Renamed(
            "mien.ExportedRows",
            state={"verifier": "model"},
            convert=lambda params, state: (params, state | {"uuid": None, "check": None}),
        ),
        "mien.FaceVerifier": Renamed(
            "mien.FaceModel",
            convert=lambda params, state: verifiers.convert_face_verifier(state, rename),
        ),
        "mien.JointBayesian": Renamed(
            "mien.JointBayesian",
            state={"ratios_": "variance_ratios_"},
            convert=verifiers.convert_joint_bayesian,
        ),
        "mien.OpenSetVerifier": Renamed(
            "mien.Verifier", {"n_folds": "n_splits"}, convert=verifiers.convert_open_set
        ),
        "mien.TransferJointBayesian": Renamed(
            "mien.TransferJointBayesian",
            {"n_folds": "n_splits"},
            {"ratios_": "variance_ratios_"},
            verifiers.convert_transfer,
        ),
    },
}


#: Registered name -> what a parameter means in files written before it existed.
BEFORE: dict[str, dict[str, Any]] = {
    "mien.DictionaryCompleter": {"max_entry": None},
    "mien.FastfoodCompleter": {"max_entry": None},
    "mien.MultiViewSuperVector": {"joint": False},
}


def rename(
    format_number: int, newest: int, name: str, params: Values, state: Values
) -> tuple[str, Values, Values]:
    """Take one class of a file from its format to the newest: its name, parameters and state."""
    for number in range(format_number, newest):
        change = RENAMES.get(number, {}).get(name)
        if change is None:
            continue
        name = change.name
        params, state = _map_keys(params, change.params), _map_keys(state, change.state)
        if change.convert is not None:
            params, state = change.convert(params, state)
    return name, BEFORE.get(name, {}) | params, state


def _map_keys(values: Values, names: Mapping[str, str | None]) -> Values:
    pairs = ((names.get(key, key), value) for key, value in values.items())
    return {key: value for key, value in pairs if key is not None}
