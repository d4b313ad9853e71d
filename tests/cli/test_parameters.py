"""Every parameter of a method is an option of its verb, or the table says why not."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import typer

from mien.cli._app import app
from mien.committee import RandomSamplingLDA
from mien.completion import COMPLETERS, FaceCompleter, make_completer
from mien.multiview import FisherVector, MixturePCCA, MultiViewSuperVector
from mien.subspace import (
    KernelNullSpaceProjection,
    KernelRelevantComponents,
    NullSpaceProjection,
    RelevantComponents,
)
from mien.verification import JointBayesian, TransferJointBayesian

# Why a parameter has no option.
_RUN = "how it is run, not what is learned"
_NUMERICS = "a numerical tolerance: no result that anybody would want depends on it"
_VERB = "the verb sets it: the model, the cover or the parts are given in other words"
_COMPARED = "for comparisons with the papers, in Python"
_FACES = "of vectors of an engine or of a kernel of one's own: the verb reads pictures"

_DRAWS = {"random_state": "--seed", "n_jobs": _RUN}
_EM = {"tol": _NUMERICS, "floor": _NUMERICS, "max_iter": "--rounds"}
_JOINT = _EM | {
    "e_step": "--e-step", "template_tol": _NUMERICS, "rank_tol": _NUMERICS, "features": _VERB,
    "keep_statistics": _RUN, "n_components": "of vectors; --components reduces pictures",
}  # fmt: skip
_BAGS = {
    "power": "--power", "intra": "--intra", "l2": "every classifier here needs unit length",
    "max_descriptors": _RUN,
} | _DRAWS  # fmt: skip
_NULL = {
    "n_components": "--components", "regularization": "--regularization",
    "between_shrinkage": "--between-shrinkage", "fallback": _VERB, "rtol": _NUMERICS,
}  # fmt: skip
_KERNEL = {
    "n_components": "--components", "sigma": "--sigma", "kernel": _FACES, "kernel_params": _FACES,
    "geometry": _COMPARED, "approximation": _RUN,
    "approximation_size": _RUN, "rtol": _NUMERICS,
} | _DRAWS  # fmt: skip
_COMPLETER = {
    "cover": "--cover", "alpha": "--alpha", "n_components": "--components", "sigma": "--sigma",
    "expansion": "--expansion", "n_latent": "--latent", "n_directions": "--directions",
    "n_starts": "--starts", "n_atoms": "--atoms", "n_nonzero_coefs": "--atoms-per-face",
    "beta": "--beta", "max_iter": "--rounds", "max_entry": "--max-entry",
    "functions": "--functions", "dekernelize": "--dekernelize", "checkpoint": "--checkpoint",
    "completers": "candidates of one's own are for Python", "random_state": "--seed",
}  # fmt: skip

#: (Class, verb) -> parameter -> option, or why there is none.
TABLE: list[tuple[Any, str, dict[str, str]]] = [
    (RandomSamplingLDA, "crops train committee", {
        "n_members": "--members", "sampling": "--sampling", "n_fixed": "--fixed",
        "n_random": "--random", "n_people": "--people-per-member",
        "n_images": "--pictures-per-member", "n_discriminants": "--discriminants",
        "shrinkage": "--shrinkage", "mean_shrinkage": "--mean-shrinkage",
        "preparation": "--light", "fusion": "--fusion", "priors": "--priors",
    } | _DRAWS),
    (JointBayesian, "crops train verification", _JOINT | {"prior_people": "--prior-people"}),
    (TransferJointBayesian, "crops adapt", _JOINT | _DRAWS | {
        "source": _VERB, "source_people": "--source-people", "strength": "--strength",
        "centring": "--centring", "n_splits": _RUN,
        "random_state": "nothing is drawn but folds of people",
    }),
    (FaceCompleter, "crops train completer", {
        "completer": "--completer", "cover": "--cover", "mirror": "--mirror",
        "shift": "--shift", "keep_visible": "visible pixels are never changed", "batch_size": _RUN,
    }),
    *((type(make_completer(name)), "crops train completer", _COMPLETER) for name in COMPLETERS),
    (MixturePCCA, "crops train encoder", {
        "n_components": "--components", "n_latent": "--latent", "noise": "--noise",
        "n_init": "--starts", "batch_size": _RUN,
    } | _EM | _DRAWS),
    (MultiViewSuperVector, "crops train encoder", {
        "mixture": _VERB, "latent": "--parts", "gradient": "--parts", "scaling": "--scaling",
        "joint": "--lengths",
    } | _BAGS),
    (FisherVector, "crops train encoder", {
        "n_components": "--components", "max_iter": "--rounds",
        "weights": _COMPARED, "means": _COMPARED, "variances": _COMPARED,
    } | _BAGS),
    (NullSpaceProjection, "crops cluster", _NULL),
    (KernelNullSpaceProjection, "crops cluster", _NULL | _KERNEL),
    (KernelRelevantComponents, "crops cluster", _KERNEL),
    (RelevantComponents, "crops cluster", {
        "n_components": "--components", "reduction": _COMPARED,
        "solver": _RUN, "rtol": _NUMERICS,
    } | _DRAWS),
]  # fmt: skip


def _options(verb: str) -> set[str]:
    command: Any = typer.main.get_command(app)
    for word in verb.split():
        command = command.get_command(None, word)
    return {name for parameter in command.params for name in parameter.opts}


@pytest.mark.parametrize(
    ("cls", "verb", "places"), TABLE, ids=[f"{cls.__name__}-{verb}" for cls, verb, _ in TABLE]
)
def test_every_parameter_is_an_option_or_excused(
    cls: Any, verb: str, places: dict[str, str]
) -> None:
    parameters = set(inspect.signature(cls).parameters)
    assert parameters <= set(places), f"say where {sorted(parameters - set(places))} can be given"
    wanted = {places[name] for name in parameters if places[name].startswith("--")}
    assert wanted <= _options(verb)
