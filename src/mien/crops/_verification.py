"""From a folder of people, or a table of vectors, to a verifier; and from there to one's own."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline

from mien.datasets import load_folder
from mien.distributed import workers_of
from mien.errors import DataError, InputError, MissingDataError, NotEnoughDataError
from mien.features import GridLBP
from mien.media import read_image
from mien.verification import JointBayesian, TransferJointBayesian, Verifier

__all__ = ["adapt", "read_vectors", "train_verifier", "verify"]

_SIZE = 64
_GRID = 6
_FAR = 0.001


def read_vectors(path: str | os.PathLike[str]) -> tuple[np.ndarray, np.ndarray]:
    """Vectors (n, d) and people (n,) of an ``.npz`` file.

    The vectors are called ``X`` or ``embeddings``, the people ``y``, ``people`` or ``label``.
    """
    path = Path(path)
    if not path.is_file():
        raise MissingDataError(f"{str(path)!r} does not exist")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            X = next((arrays[k] for k in ("X", "embeddings") if k in arrays), None)
            y = next((arrays[k] for k in ("y", "people", "label") if k in arrays), None)
            names = list(arrays)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{str(path)!r} is not a readable .npz file: {error}") from error
    if X is None or y is None:
        raise DataError(
            f"{str(path)!r} must hold vectors (X or embeddings) and people (y, people or label); "
            f"it holds {', '.join(names)}"
        )
    if X.ndim != 2 or y.shape != (len(X),):
        raise DataError(
            f"{str(path)!r}: vectors must be (n, d) and people (n,); got {X.shape} and {y.shape}"
        )
    return X, y


def _read(
    path: str | os.PathLike[str], size: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Pictures or vectors, their people, and what was skipped."""
    if Path(path).is_dir():
        faces = load_folder(path, size=size, on_error="skip")
        return faces.images, faces.people, list(faces.skipped)
    X, y = read_vectors(path)
    return X, y, []


def _split_model(model: Any) -> tuple[Pipeline | None, Any]:
    """The features of a saved verifier, if it has any, and the verifier."""
    steps, verifier = (model[:-1], model[-1]) if isinstance(model, Pipeline) else (None, model)
    if not isinstance(verifier, (Verifier, JointBayesian)):
        raise InputError(
            f"the model is a {type(model).__name__} and not a verifier: make one with "
            "`mien crops train verification`"
        )
    return steps, verifier


def _calibrate(model: JointBayesian, X: np.ndarray, y: np.ndarray, far: float | None) -> Any:
    """A calibrated verifier, or the model alone where the people are too few."""
    try:
        return Verifier(
            model,
            (1,),
            probe_sizes=(1,),
            prior=0.5,
            far=_FAR if far is None else far,
            cross_fit=True,
            random_state=0,
        ).fit(X, y)
    except NotEnoughDataError:
        return model.fit(X, y)


def _summary(verifier: Any, y: np.ndarray, skipped: list[str]) -> dict[str, Any]:
    calibrated = isinstance(verifier, Verifier)
    model = verifier.model_ if calibrated else verifier
    summary: dict[str, Any] = {
        "people": len(np.unique(y)),
        "pictures": len(y),
        "skipped": skipped,
        "rank": model.rank_,
        "calibrated": calibrated,
    }
    if isinstance(model, TransferJointBayesian):
        summary["weight of the source"] = model.source_weight_
    if calibrated:
        table = verifier.thresholds_
        weights = verifier.coefficients_[0, 0].tolist()
        summary["weights"] = dict(zip(verifier.candidates_, weights, strict=False))
        summary["cllr"] = float(verifier.cllr_[0, 0])
        summary["far"] = verifier.far
        summary["lowest far"] = table.lowest_far
        summary["threshold"] = (
            table.threshold(verifier.far, size=1) if table.supports(verifier.far) else None
        )
    return summary


def train_verifier(
    path: str | os.PathLike[str],
    *,
    far: float | None = None,
    n_components: int = 100,
    e_step: str = "exact",
    prior_people: float | None = None,
    max_iter: int | None = None,
    scheduler: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """Fit a calibrated verifier to a folder with one folder per person, or to an ``.npz``.

    Parameters
    ----------
    path : path
        Pictures become grid LBP and PCA; vectors are taken as they are.
    far : float or None
        The false accept rate at which pairs will be decided; None is 0.001.
    n_components : int
        Directions of the PCA of pictures, at most.
    e_step : {"exact", "approximate"}
        Of :class:`mien.verification.JointBayesian`.
    prior_people, max_iter
        Of the same; None takes its default.
    scheduler : str, distributed.Client or None
        Workers of Dask that fit the models of the calibration: the address of a scheduler,
        ``"local"`` for workers of this machine, or a client.

    Returns
    -------
    model, summary
        A pipeline that ends in the verifier (pictures), or the verifier (vectors).
    """
    X, y, skipped = _read(path, (_SIZE, _SIZE))
    pictures = X.ndim == 3
    words = f"grid LBP {_GRID}, {_SIZE} pixels" if pictures else None
    source = JointBayesian(features=words, e_step=e_step)
    given = {"prior_people": prior_people, "max_iter": max_iter}
    source.set_params(**{name: value for name, value in given.items() if value is not None})
    with warnings.catch_warnings(), workers_of(scheduler):
        warnings.simplefilter("ignore")
        if not pictures:
            verifier = _calibrate(source, X, y, far)
            return verifier, _summary(verifier, y, skipped)
        lbp = GridLBP(grids=(_GRID,))
        vectors = lbp.fit_transform(X)
        # Half of the within-person degrees of freedom: the variation stays well determined.
        most = max(1, min(n_components, (len(y) - len(np.unique(y))) // 2, len(y) - 1))
        pca = PCA(most, svd_solver="full" if len(y) < 2000 else "randomized", random_state=0)
        Z = pca.fit_transform(vectors).astype(np.float64)
        verifier = _calibrate(source, Z, y, far)
    model = Pipeline([("lbp", lbp), ("pca", pca), ("verifier", verifier)])
    return model, _summary(verifier, y, skipped)


def adapt(
    model: Any,
    path: str | os.PathLike[str],
    *,
    far: float | None = None,
    scheduler: Any = None,
    **parameters: Any,
) -> tuple[Any, dict[str, Any]]:
    """Move a verifier to the people of a folder or an ``.npz`` of the same features.

    Parameters
    ----------
    model : Pipeline or Verifier
        From :func:`train_verifier`.
    path : path
        Pictures or vectors, whichever the model learned from.
    far : float or None
        The false accept rate at which pairs will be decided; None is 0.001.
    scheduler : str, distributed.Client or None
        Workers of Dask that try the strengths and fit the models of the calibration.
    **parameters
        Of :class:`mien.verification.TransferJointBayesian`.

    Returns
    -------
    model, summary
    """
    steps, verifier = _split_model(model)
    source = verifier.model_ if isinstance(verifier, Verifier) else verifier
    X, y, skipped = _read(path, (_SIZE, _SIZE))
    if (X.ndim == 3) != (steps is not None):
        raise InputError(
            "the model was trained on vectors and needs an .npz file of such vectors"
            if steps is None
            else "the model was trained on pictures and needs a folder of pictures"
        )
    with warnings.catch_warnings(), workers_of(scheduler):
        warnings.simplefilter("ignore")
        Z = X if steps is None else steps.transform(X).astype(np.float64)
        adapted = _calibrate(TransferJointBayesian(source, random_state=0, **parameters), Z, y, far)
    summary = _summary(adapted, y, skipped)
    if steps is None:
        return adapted, summary
    return Pipeline([*steps.steps, ("verifier", adapted)]), summary


def _read_one(path: str | os.PathLike[str], steps: Pipeline | None) -> np.ndarray:
    if steps is None:
        try:
            vector = np.load(path, allow_pickle=False)
        except FileNotFoundError as error:
            raise MissingDataError(f"{str(path)!r} does not exist") from error
        except (OSError, ValueError) as error:
            raise DataError(
                f"{str(path)!r} is not a readable .npy vector, and the model was trained on vectors"
            ) from error
        return np.asarray(vector, dtype=np.float64).reshape(1, -1)
    if not Path(path).is_file():
        raise MissingDataError(f"{str(path)!r} does not exist")
    image = read_image(path, size=(_SIZE, _SIZE))
    transformed: np.ndarray = steps.transform(image[None]).astype(np.float64)
    return transformed


def verify(
    model: Any, first: str | os.PathLike[str], second: str | os.PathLike[str], *, prior: float = 0.5
) -> dict[str, Any]:
    """Whether two pictures (or ``.npy`` vectors) show one person.

    Returns
    -------
    dict
        ``log_ratio``, ``probability`` under the ``prior``, ``calibrated``, and ``same``: the
        decision at the model's false accept rate, ``far``, or by the probability where the model
        is not calibrated; None with a ``reason`` where the data were too few for the rate.
    """
    steps, verifier = _split_model(model)
    X1, X2 = _read_one(first, steps), _read_one(second, steps)
    calibrated = isinstance(verifier, Verifier)
    ratio = float(verifier.score_pairs(X1, X2)[0])
    if not 0 < prior < 1:
        raise InputError(f"prior must be between 0 and 1; got {prior}")
    odds = ratio + np.log(prior / (1 - prior))
    result: dict[str, Any] = {
        "log_ratio": ratio,
        "prior": prior,
        "probability": float(1 / (1 + np.exp(-np.clip(odds, -700, 700)))),
        "calibrated": calibrated,
        "same": bool(odds >= 0),
    }
    if calibrated:
        result["far"] = verifier.far
        try:
            result["same"] = bool(verifier.decide(X1, X2)[0])
        except NotEnoughDataError as error:
            result |= {"same": None, "reason": str(error)}
    return result
