"""The best of several completers, chosen on vectors held out."""

from __future__ import annotations

import numpy as np

from mien.completion._base import BatchStream, Completer, Completion, squared_error
from mien.completion._blend import BlendCompleter, CompositeCompleter, Named
from mien.completion._feature_ridge import FeatureRidgeCompleter
from mien.completion._mixture import MixtureCompleter
from mien.completion._ridge import RidgeCompleter

__all__ = ["AutoCompleter"]


class AutoCompleter(CompositeCompleter):
    """Fit several completers; keep the one, or the blend, with the smallest error on others.

    Parameters
    ----------
    completers : list of (str, Completer) or None
        Candidates by name; None takes a ridge, a ridge on Fastfood features and a mixture of
        probabilistic CCA. Their blend is a candidate as well.
    cover : (n_features,) of bool or None
        True for the features that will be covered; None takes the second half. The covers of the
        candidates are set to it.
    random_state : int, RandomState or None
        Seed of the default candidates.

    Attributes
    ----------
    completer_ : Completer
        The best candidate, fitted.
    name_ : str
        Its name.
    errors_ : dict of str to float
        Mean squared error of the covered features on the vectors held out, for each candidate.
    cover_ : (n_features,) of bool
        The cover of ``fit``.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    BlendCompleter : mixes candidates instead.
    sklearn.model_selection.GridSearchCV : for parameters; completers have ``score``.

    Notes
    -----
    Give ``fit`` the people (``groups=``): by pictures of known people every candidate looks alike.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.completion import AutoCompleter, PCACompleter, RidgeCompleter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 8)) + 0.1 * rng.normal(size=(300, 8))
    >>> model = AutoCompleter([("pca", PCACompleter(8)), ("ridge", RidgeCompleter())]).fit(X)
    >>> model.name_
    'ridge'
    """

    def _default(self) -> Named:
        seed = self.random_state
        return [
            ("ridge", RidgeCompleter()),
            ("feature-ridge", FeatureRidgeCompleter(random_state=seed)),
            ("mixture", MixtureCompleter(random_state=seed)),
        ]

    @property
    def any_cover(self) -> bool:  # type: ignore[override]
        """Whether the chosen completer can complete other covers."""
        return self.completer_.any_cover

    def _learn(self, stream: BatchStream, held_out: np.ndarray) -> None:
        self._choose(self._fit_parts(stream, held_out), held_out)

    def _learn_beside(self, stream: BatchStream, held_out: np.ndarray, foreign: np.ndarray) -> None:
        self._choose(self._fit_parts(stream, held_out, foreign), held_out)

    def _covariance(self) -> np.ndarray | None:
        return self.completer_._covariance()

    def _choose(self, parts: dict[str, Completer], held_out: np.ndarray) -> None:
        """Take the best of fitted parts and of their blend."""
        visible = ~self.cover_
        if len(parts) > 1:
            blend = BlendCompleter(self.completers, cover=self.cover_)
            blend.n_features_in_, blend.cover_ = self.n_features_in_, self.cover_
            blend._weigh(dict(parts), held_out)
            parts["blend"] = blend
        self.errors_ = {
            name: squared_error(
                held_out, part._estimate(held_out[:, visible], visible).values, self.cover_
            )
            for name, part in parts.items()
        }
        self.name_ = min(self.errors_, key=self.errors_.__getitem__)
        self.completer_ = parts[self.name_]

    def _estimate(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        return self.completer_._estimate(seen, view)

    def get_pictures(self) -> np.ndarray | None:
        """Those of the chosen completer."""
        return self.completer_.get_pictures()
