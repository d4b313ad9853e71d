"""A model behind preprocessing: pipelines whose last step scores pairs, and fitted parts kept."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from mien._core.pairs import score_matrix, score_pairs
from mien.errors import InputError

__all__ = ["KeepsFitted", "apply_steps", "score_matrix", "score_pairs", "split_steps"]


def split_steps(model: Any) -> tuple[Pipeline | None, Any]:
    """The steps before the last of a pipeline, None where there are none, and the last one."""
    if not isinstance(model, Pipeline):
        return None, model
    return (model[:-1] if len(model) > 1 else None), model[-1]


def apply_steps(steps: Pipeline | None, X: np.ndarray) -> np.ndarray:
    """X (n, d) as the last step sees it."""
    if steps is None:
        return X
    transformed: np.ndarray = np.asarray(steps.transform(X))
    return transformed


class KeepsFitted:
    """An estimator that is given another one fitted: nobody changes it through this one.

    Cloning keeps the fitted estimator as it is, and so it is shared; ``set_params(source__tol=…)``
    would change it for everybody who holds it, and without any effect on what it has learned.
    """

    _kept = "source"

    def _is_shared(self) -> bool:
        return True

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of the fitted estimator inside cannot be changed."""
        start = f"{self._kept}__"
        if self._is_shared() and self._kept not in params:
            held = getattr(self, self._kept).get_params()
            for name, value in params.items():
                inner = name.removeprefix(start)
                if inner != name and not (inner in held and held[inner] is value):
                    raise InputError(
                        f"{name} cannot be set: the {self._kept} is fitted and shared, so fit "
                        f"another one and give it as {self._kept}="
                    )
            params = {name: v for name, v in params.items() if not name.startswith(start)}
        return super().set_params(**params)  # type: ignore[misc]
