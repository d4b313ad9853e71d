"""The methods by name: each builds a completer from the parameters of a hallucinator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mien.errors import InputError
from mien.reconstruction._completer import Completer
from mien.reconstruction._mixture_pcca import MixtureCompleter
from mien.reconstruction.dictionary import DictionaryCompleter
from mien.reconstruction.kernel import BlendCompleter, FastfoodCompleter, FeatureRidgeCompleter
from mien.reconstruction.linear import LowRankCompleter, PCACompleter, RidgeCompleter

__all__ = ["METHODS", "register_method"]

Build = Callable[[Any, int], Completer]


def _ksvd_options(model: Any, seed: int) -> dict[str, Any]:
    return {
        "n_atoms": model.n_atoms,
        "n_nonzero": model.n_nonzero,
        "max_iter": model.max_iter,
        "checkpoint": model.checkpoint,
        "random_state": seed,
    }


def _build_fastfood(model: Any, seed: int) -> Completer:
    return FastfoodCompleter(
        model.beta,
        model.expansion,
        model.features,
        model.sigma,
        model.dekernelize,
        _ksvd_options(model, seed),
        seed,
    )


def _build_feature_ridge(model: Any, seed: int) -> Completer:
    sigma = 2.0 if isinstance(model.sigma, str) else float(model.sigma)
    return FeatureRidgeCompleter(model.expansion, sigma, model.alpha, seed)


#: Name -> function that takes the hallucinator and a seed, and gives a completer.
METHODS: dict[str, Build] = {
    "pca": lambda model, seed: PCACompleter(model.n_components),
    "ksvd": lambda model, seed: DictionaryCompleter(0.0, _ksvd_options(model, seed)),
    "dw-ksvd": lambda model, seed: DictionaryCompleter(model.beta, _ksvd_options(model, seed)),
    "fastfood": _build_fastfood,
    "ridge": lambda model, seed: RidgeCompleter(model.alpha),
    "low-rank": lambda model, seed: LowRankCompleter(model.n_components, model.alpha),
    "feature-ridge": _build_feature_ridge,
    "blend": lambda model, seed: BlendCompleter(
        RidgeCompleter(model.alpha), _build_feature_ridge(model, seed)
    ),
    "mixture-pcca": lambda model, seed: MixtureCompleter(4, 50, seed),
}


def register_method(name: str, build: Build) -> None:
    """Add a method that :class:`FaceHallucinator` then knows by name.

    Parameters
    ----------
    name : str
        Not taken yet.
    build : callable
        ``build(hallucinator, seed)`` gives a :class:`Completer`.
    """
    if METHODS.get(name, build) is not build:
        raise InputError(f"the method {name!r} is there already")
    METHODS[name] = build
