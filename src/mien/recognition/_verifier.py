"""The verifier of an engine's faces: one model, one calibration, and the card that goes with it."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.validation import check_choice
from mien.errors import InputError, ModelDamagedError
from mien.faces import ENGINES, check_features
from mien.files import load
from mien.verification import JointBayesian, OpenSetVerifier, TransferJointBayesian

__all__ = ["FaceVerifier", "load_source", "load_verifier"]

_MODELS: dict[str, type[JointBayesian]] = {
    "JointBayesian": JointBayesian,
    "TransferJointBayesian": TransferJointBayesian,
}


class FaceVerifier:
    """Do two sets of faces of one engine show one person? Calibrated, with a card.

    Parameters
    ----------
    verifier : OpenSetVerifier
        Fitted on the engine's vectors; its model's ``features_`` say which.
    engine : {"sface", "dlib"}
        The engine to load for pictures.
    card : dict
        Plain values: what it was learned from, what it reaches, known limits.

    Attributes
    ----------
    features : str
        What the vectors are, as the engine describes them.

    Notes
    -----
    A pair of pictures is a set of one against a set of one, so that `mien verify` and
    `mien identify` give the same ratio for the same pictures. A file holds means, covariances
    and calibrations in single precision: no picture and no vector of a person.

    Examples
    --------
    >>> from mien.recognition import load_source
    >>> source = load_source("sface")
    >>> source.card["people"]
    5749
    >>> bool(source.verifier.threshold(far=1e-4) > source.verifier.threshold(far=1e-2))
    True
    """

    def __init__(self, verifier: OpenSetVerifier, engine: str, card: dict[str, Any]) -> None:
        check_choice("engine", engine, ENGINES)
        self.verifier = verifier
        self.engine = engine
        self.card = card

    @property
    def features(self) -> str:
        """What the vectors are."""
        return str(self.verifier.features_)

    @property
    def model(self) -> JointBayesian:
        """The Joint Bayesian model, or its transfer to one's own people."""
        model: JointBayesian = self.verifier.model_
        return model

    @property
    def source(self) -> JointBayesian:
        """The model of the foreign people: what an adaptation starts from."""
        model = self.model
        return model.source if isinstance(model, TransferJointBayesian) else model

    def score_pairs(self, X1: Any, X2: Any) -> np.ndarray:
        """Calibrated log-likelihood ratios (n,) of the pairs ``X1[i], X2[i]``, each (n, d)."""
        return self.verifier.score_pairs(X1, X2)

    def score_sets(self, probes: Any, galleries: Any) -> np.ndarray:
        """Calibrated log-likelihood ratios (n, g) of lists of (m_i, d) vectors."""
        return self.verifier.score_sets(probes, galleries)

    def __repr__(self) -> str:
        return f"<FaceVerifier for {self.features}>"

    def to_arrays(self) -> dict[str, Any]:
        """Plain values that :meth:`from_arrays` takes back, for saving; single precision."""
        model = self.model
        return {
            "engine": self.engine,
            "card": self.card,
            "model": _strip_model(model),
            "source": _strip_model(self.source) if self.source is not model else None,
            "verifier": {
                name: value
                for name, value in vars(self.verifier).items()
                if name not in ("model", "model_")
            },
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> FaceVerifier:
        """Build the verifier from :meth:`to_arrays`."""
        source = arrays["source"]
        model = _build_model(arrays["model"], None if source is None else _build_model(source))
        verifier = OpenSetVerifier(model)
        _fill(verifier, {**arrays["verifier"], "model_": model})
        verifier._check_loaded()
        return cls(verifier, arrays["engine"], arrays["card"])


def _strip_model(model: JointBayesian) -> dict[str, Any]:
    """What scoring and adapting need of a model; matrices in single precision, no statistics."""
    state = {
        name: value.astype(np.float32) if _is_real(value) and value.ndim == 2 else value
        for name, value in vars(model).items()
        if name not in ("source", "statistics_", "keep_statistics", "objective_")
    }
    return {"class": type(model).__name__, "state": state}


def _is_real(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def _build_model(stripped: dict[str, Any], source: JointBayesian | None = None) -> JointBayesian:
    cls = _MODELS.get(stripped["class"])
    if cls is None or (cls is TransferJointBayesian) != (source is not None):
        raise ModelDamagedError(f"a FaceVerifier holds no {stripped['class']!r}")
    model = cls() if source is None else TransferJointBayesian(source)
    _fill(
        model,
        {k: v.astype(np.float64) if _is_real(v) else v for k, v in stripped["state"].items()},
    )
    return model


def _fill(estimator: Any, state: dict[str, Any]) -> None:
    """Give an estimator its parameters and fitted values; a file may not replace what it does."""
    for name, value in state.items():
        if not name.isidentifier() or name.startswith("__") or hasattr(type(estimator), name):
            raise ModelDamagedError(f"{type(estimator).__name__} has no attribute {name!r}")
        setattr(estimator, name, value)


@lru_cache(maxsize=2)
def load_source(engine: str = "sface") -> FaceVerifier:
    """The verifier that mien ships for an engine, learned from Labeled Faces in the Wild.

    Parameters
    ----------
    engine : {"sface", "dlib"}
        Whose vectors.

    Returns
    -------
    FaceVerifier
        Its ``card`` says what it was learned from, what it reaches, and where it does not hold.
    """
    check_choice("engine", engine, ENGINES)
    place = resources.files("mien.recognition") / "models" / f"{engine}.mien"
    with resources.as_file(place) as path:
        source: FaceVerifier = load(path)
    return source


def load_verifier(
    model: FaceVerifier | str | os.PathLike[str] | None = None, engine: str | None = None
) -> FaceVerifier:
    """The shipped verifier of an engine, or one of your own.

    Parameters
    ----------
    model : FaceVerifier, path or None
        From :func:`adapt` or ``mien adapt``; None takes the shipped one.
    engine : {"sface", "dlib"} or None
        Must be the model's, where a model is given. None is the model's, or "sface".
    """
    if model is None:
        return load_source(engine or "sface")
    found = model if isinstance(model, FaceVerifier) else load(Path(model))
    if not isinstance(found, FaceVerifier):
        raise InputError(
            f"the model is a {type(found).__name__} and no FaceVerifier: make one with `mien adapt`"
        )
    if engine is not None and engine != found.engine:
        check_features(load_source(engine).features, found.features)
    return found
