"""The recipe of the shipped models; :mod:`mien.recognition._adapt` continues it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mien.errors import NumericsWarning
from mien.verification import JointBayesian, Verifier

__all__ = ["fit_source"]


def fit_source(
    X: np.ndarray, people: np.ndarray, features: str, *, pairs_only: bool = False
) -> Verifier:
    """The recipe: Joint Bayesian, fused with the cosine and calibrated on held-out people.

    With ``pairs_only`` sets of several pictures are left out: pairs come first in the recipe, so
    that their part is the same, and sooner done.
    """
    model = JointBayesian(features=features)
    sizes: dict[str, Any] = {"sizes": (1,), "probe_sizes": (1,)} if pairs_only else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericsWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return Verifier(model, cross_fit=True, random_state=0, **sizes).fit(X, people)
