"""A weighted mean of completers, with weights from vectors held out."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.utils.metaestimators import _BaseComposition

from mien.completion._base import BatchStream, Completer, Completion
from mien.completion._feature_ridge import FeatureRidgeCompleter
from mien.completion._ridge import RidgeCompleter
from mien.errors import InputError

__all__ = ["BlendCompleter", "CompositeCompleter", "Named"]

Named = list[tuple[str, Completer]]


class CompositeCompleter(Completer, _BaseComposition):
    """Base of completers that are made of named completers.

    Parameters
    ----------
    completers : list of (str, completer) or None
        Parts by name, unfitted; their parameters are reached as ``name__parameter``, as in a
        pipeline. None takes the default of the subclass.
    cover : (n_features,) of bool or None
        True for the features that will be covered; None takes the second half. The covers of the
        parts are set to it.
    random_state : int, RandomState or None
        Seed of the default parts.

    See Also
    --------
    BlendCompleter : averages its parts with weights chosen on held-out people.
    AutoCompleter : takes the best of its parts on held-out people.

    References
    ----------
    [Breiman1996]_ in the :doc:`bibliography </bibliography>`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "completers": [list, None],
        "cover": ["array-like", None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        completers: Named | None = None,
        *,
        cover: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.completers = completers
        self.cover = cover
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, and with ``deep`` those of the completers as ``name__parameter``."""
        if self.completers is None:
            return dict(super(_BaseComposition, self).get_params(deep=False))
        return dict(self._get_params("completers", deep=deep))

    def set_params(self, **params: Any) -> CompositeCompleter:
        """Set parameters, also those of the completers as ``name__parameter``."""
        if "completers" in params:
            self.completers = params.pop("completers")
        if self.completers is None:
            super(_BaseComposition, self).set_params(**params)
        else:
            self._set_params("completers", **params)
        return self

    def _default(self) -> Named:
        raise NotImplementedError

    @property
    def takes_foreign(self) -> bool:  # type: ignore[override]
        """Whether a part can learn beside a foreign completer."""
        return any(part.takes_foreign for _, part in self._parts())

    def _parts(self) -> Named:
        return self._default() if self.completers is None else self.completers

    def _fit_parts(
        self, stream: BatchStream, held_out: np.ndarray, foreign: np.ndarray | None = None
    ) -> dict[str, Completer]:
        """The parts, fitted; those that can use a foreign covariance (d, d) do."""
        chosen = self._parts()
        names = [name for name, _ in chosen]
        if len(set(names)) < len(names) or not names:
            raise InputError(
                f"completers must be a non-empty list with distinct names; got {names}"
            )
        return {
            name: clone(part)
            .set_params(cover=self.cover_)
            ._fit(stream, held_out, foreign if part.takes_foreign else None)
            for name, part in chosen
        }


class BlendCompleter(CompositeCompleter):
    """A weighted mean of completers that err in different places.

    Parameters
    ----------
    completers : list of (str, Completer) or None
        The parts by name; None takes a ridge and a ridge on Fastfood features.
    cover : (n_features,) of bool or None
        True for the features that will be covered; None takes the second half. The covers of the
        parts are set to it.
    random_state : int, RandomState or None
        Seed of the default parts.

    Attributes
    ----------
    completers_ : dict of str to Completer
        The fitted parts.
    weights_ : dict of str to float
        Weight of each: not negative, sum one.
    cover_ : (n_features,) of bool
        The cover of ``fit``.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    AutoCompleter : takes the best one instead.
    sklearn.ensemble.StackingRegressor : the same idea.

    Notes
    -----
    The weights are the non-negative least squares solution for the covered features of the
    vectors held out, on which the parts have chosen their penalties as well.

    References
    ----------
    L. Breiman, "Stacked regressions", Machine Learning, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.completion import BlendCompleter, PCACompleter, RidgeCompleter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 8)) + 0.1 * rng.normal(size=(300, 8))
    >>> model = BlendCompleter([("pca", PCACompleter(3)), ("ridge", RidgeCompleter())]).fit(X)
    >>> round(sum(model.weights_.values()), 6)
    1.0
    """

    def _default(self) -> Named:
        return [
            ("ridge", RidgeCompleter()),
            ("feature-ridge", FeatureRidgeCompleter(random_state=self.random_state)),
        ]

    @property
    def any_cover(self) -> bool:  # type: ignore[override]
        """Whether every part can complete other covers."""
        return all(part.any_cover for part in self.completers_.values())

    def _learn(self, stream: BatchStream, held_out: np.ndarray) -> None:
        self._weigh(self._fit_parts(stream, held_out), held_out)

    def _learn_beside(self, stream: BatchStream, held_out: np.ndarray, foreign: np.ndarray) -> None:
        self._weigh(self._fit_parts(stream, held_out, foreign), held_out)

    def _covariance(self) -> np.ndarray | None:
        found = (part._covariance() for part in self.completers_.values())
        return next((covariance for covariance in found if covariance is not None), None)

    def _weigh(self, parts: dict[str, Completer], held_out: np.ndarray) -> None:
        """Take fitted parts, and find their weights."""
        visible = ~self.cover_
        errors = [
            (part._estimate(held_out[:, visible], visible).values - held_out)[:, self.cover_]
            for part in parts.values()
        ]
        shares = _solve_weights(np.asarray(errors, dtype=np.float64).reshape(len(parts), -1))
        self.completers_ = parts
        self.weights_ = dict(zip(parts, map(float, shares), strict=True))

    def _estimate(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        total: Any = 0.0
        for name, part in self.completers_.items():
            if self.weights_[name] > 0:
                values = part._estimate(seen, view).values
                total = total + values.dtype.type(self.weights_[name]) * values
        return Completion(total)


def _solve_weights(errors: np.ndarray) -> np.ndarray:
    """Weights (k,), not negative and with sum one, that make the sum of errors (k, m) shortest."""
    gram = errors @ errors.T
    gram /= float(np.trace(gram)) or 1.0
    values, vectors = np.linalg.eigh(gram)
    factor = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    # One row more, of large weight, asks for the sum of one.
    ones = np.full((1, len(errors)), 1e3)
    found = nnls(np.concatenate([factor, ones]), np.append(np.zeros(len(errors)), 1e3))[0]
    return np.asarray(found / found.sum())
