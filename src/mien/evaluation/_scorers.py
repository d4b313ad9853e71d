"""For scikit-learn's model selection: scorers of pairs, and folds in which people stay together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mien._core.pairs import score_all_pairs
from mien._core.sampling import assign_folds
from mien._core.validation import check_choice, check_labels
from mien.errors import InputError, NotEnoughDataError
from mien.evaluation._calibration import cllr, min_cllr
from mien.evaluation._curves import check_far, equal_error_rate, verification_rate

__all__ = ["PairScorer", "PersonKFold"]


class PairScorer:
    """A scorer of verifiers for ``GridSearchCV``, ``cross_val_score`` and the like.

    Takes all pairs of the vectors that it is given (of at most 4,000 of them) and judges the
    scores of genuine against those of impostor pairs. Works with anything that scores pairs, and
    with pipelines that end in it.

    Parameters
    ----------
    metric : {"eer", "cllr", "min-cllr", "tpr"}, default="eer"
        The equal error rate; Cllr of the log ratios as they are, in bits; Cllr after the best
        monotone calibration; or the true positive rate at `far`. Choose "cllr" where ratios must
        mean what they say, "tpr" for a decision at a known rate, "eer" in doubt.
    far : float, default=0.001
        False accept rate of "tpr". The impostor pairs must be at least ``1 / far``.

    Returns
    -------
    float
        From ``scorer(estimator, X, y)``, larger is better: error rates and Cllr are negated.

    See Also
    --------
    PersonKFold : The folds to use with it.
    evaluate_verification : All numbers at once, with intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from mien.evaluation import PairScorer, PersonKFold
    >>> from mien.verification import JointBayesian
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(60), 4)
    >>> X = rng.standard_normal((60, 8))[y] + 0.5 * rng.standard_normal((240, 8))
    >>> search = GridSearchCV(make_pipeline(PCA(), JointBayesian()), {"pca__n_components": [2, 8]},
    ...                       scoring=PairScorer("eer"), cv=PersonKFold(3, random_state=0))
    >>> search.fit(X, y).best_params_
    {'pca__n_components': 8}
    """

    def __init__(self, metric: str = "eer", *, far: float = 0.001) -> None:
        check_choice("metric", metric, tuple(_METRICS))
        check_far(far)
        self.metric = metric
        self.far = far

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """The score of a fitted estimator on vectors X (n, d) of people y (n,)."""
        genuine, impostor = score_all_pairs(estimator, X, y)
        return float(_METRICS[self.metric](genuine, impostor, self.far))

    def __repr__(self) -> str:
        far = f", far={self.far:g}" if self.metric == "tpr" else ""
        return f"PairScorer({self.metric!r}{far})"


_METRICS: dict[str, Callable[[np.ndarray, np.ndarray, float], Any]] = {
    "eer": lambda genuine, impostor, _: -equal_error_rate(genuine, impostor),
    "cllr": lambda genuine, impostor, _: -cllr(genuine, impostor),
    "min-cllr": lambda genuine, impostor, _: -min_cllr(genuine, impostor),
    "tpr": lambda genuine, impostor, far: verification_rate(genuine, impostor, far=far),
}


class PersonKFold:
    """Folds in which nobody is on both sides: a splitter for scikit-learn's model selection.

    Unlike ``GroupKFold`` it takes the people from ``y``, where a verifier has them, and balances
    both the number of people and the number of pictures.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    random_state : int, RandomState or None, default=None
        Who is in which fold.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.evaluation import PersonKFold
    >>> y = np.repeat(["ann", "bob", "cat", "dan"], 3)
    >>> for train, test in PersonKFold(2, random_state=0).split(np.zeros((12, 2)), y):
    ...     print(sorted(set(y[test].tolist())))
    ['bob', 'cat']
    ['ann', 'dan']
    """

    def __init__(self, n_splits: int = 5, *, random_state: Any = None) -> None:
        if n_splits < 2:
            raise InputError(f"n_splits must be at least 2; got {n_splits}")
        self.n_splits = n_splits
        self.random_state = random_state

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Rows to learn from and rows to test on, fold by fold.

        Parameters
        ----------
        X : (n, d)
            Only its length matters.
        y : (n,)
            The people.
        groups : (n,) or None
            The people, where y is something else.
        """
        people = y if groups is None else groups
        if people is None:
            raise InputError("PersonKFold needs the people, as y or as groups")
        labels = check_labels("the people", people, len(people))
        n_people = len(np.unique(labels))
        if n_people < self.n_splits:
            raise NotEnoughDataError(f"{n_people} people do not make {self.n_splits} folds")
        fold = assign_folds(labels, self.n_splits, check_random_state(self.random_state))
        for part in range(self.n_splits):
            yield np.flatnonzero(fold != part), np.flatnonzero(fold == part)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds."""
        return self.n_splits

    def __repr__(self) -> str:
        return f"PersonKFold({self.n_splits})"
