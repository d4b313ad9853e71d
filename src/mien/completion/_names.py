"""Completers by name, for command lines and tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mien._core.validation import check_choice
from mien.completion._auto import AutoCompleter
from mien.completion._base import Completer
from mien.completion._blend import BlendCompleter
from mien.completion._dictionary import DictionaryCompleter
from mien.completion._fastfood import FastfoodCompleter
from mien.completion._feature_ridge import FeatureRidgeCompleter
from mien.completion._low_rank import LowRankCompleter
from mien.completion._mixture import MixtureCompleter
from mien.completion._pca import PCACompleter
from mien.completion._ridge import RidgeCompleter
from mien.errors import InputError

__all__ = ["COMPLETERS", "make_completer"]

#: Name -> what makes the completer from its parameters.
COMPLETERS: dict[str, Callable[..., Completer]] = {
    "auto": AutoCompleter,
    "blend": BlendCompleter,
    "dictionary": DictionaryCompleter,
    "fastfood": FastfoodCompleter,
    "feature-ridge": FeatureRidgeCompleter,
    "ksvd": partial(DictionaryCompleter, beta=0.0),
    "low-rank": LowRankCompleter,
    "mixture": MixtureCompleter,
    "pca": PCACompleter,
    "ridge": RidgeCompleter,
}


def make_completer(name: str, **params: Any) -> Completer:
    """A completer by its name in :data:`COMPLETERS`.

    Parameters
    ----------
    name : str
        "auto", "blend", "dictionary" (DW-KSVD), "fastfood", "feature-ridge", "ksvd", "low-rank",
        "mixture", "pca" or "ridge".
    **params
        Its parameters. One that the completer does not have is refused.

    Examples
    --------
    >>> from mien.completion import make_completer
    >>> make_completer("low-rank", n_components=50)
    LowRankCompleter(n_components=50)
    """
    check_choice("completer", name, tuple(COMPLETERS))
    build = COMPLETERS[name]
    cls: Any = build.func if isinstance(build, partial) else build
    known = set(cls._get_param_names())
    unknown = sorted(set(params) - known)
    if unknown:
        raise InputError(
            f"the completer {name!r} has no parameter {', '.join(unknown)}; it has "
            f"{', '.join(sorted(known))}"
        )
    return build(**params)
