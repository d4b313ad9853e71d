"""The verifier to ship: candidates weighed on held-out people, a decision, a probability."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from mien._core.logistic import balance_classes, fit_logistic
from mien._core.validation import check_labels
from mien.errors import InputError, NotEnoughDataError
from mien.verification._selection import HeldOutPairs, held_out_scores, person_losses
from mien.verification.joint_bayesian import JointBayesian

__all__ = ["CalibratedVerifier"]

_MOST_IMPOSTORS = 40_000
_FEWEST_PEOPLE = 4


def _cosine(X1: np.ndarray, X2: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(X1, axis=1) * np.linalg.norm(X2, axis=1)
    cosines: np.ndarray = np.einsum("ij,ij->i", X1, X2) / np.maximum(norms, 1e-30)
    return cosines


def _closeness(X1: np.ndarray, X2: np.ndarray) -> np.ndarray:
    return -np.linalg.norm(X1 - X2, axis=1)


def _score_candidates(
    model: JointBayesian, names: tuple[str, ...], X1: np.ndarray, X2: np.ndarray
) -> np.ndarray:
    """Scores (n, k) of pairs, one column a candidate."""
    columns = []
    for name in names:
        if name == "ratio":
            columns.append(model.score_pairs(X1, X2))
        elif name == "source":
            columns.append(model.source.score_pairs(X1, X2))
        else:
            columns.append((_cosine if name == "cosine" else _closeness)(X1, X2))
    return np.column_stack(columns).astype(np.float64)


def _thin_impostors(pairs: HeldOutPairs, rng: np.random.RandomState) -> np.ndarray:
    """Rows of all genuine pairs and of at most so many impostor pairs."""
    impostors = np.flatnonzero(~pairs.same)
    if len(impostors) > _MOST_IMPOSTORS:
        impostors = rng.choice(impostors, _MOST_IMPOSTORS, replace=False)
    return np.sort(np.concatenate([np.flatnonzero(pairs.same), impostors]))


def _cross_calibrate(
    scores: np.ndarray, pairs: HeldOutPairs, fold: np.ndarray, ridge: float
) -> np.ndarray:
    """Calibrated ratios (n,) of pairs whose people the calibration did not see."""
    ratios = np.empty(len(scores))
    for part in np.unique(fold):
        held = fold == part
        rest = ~held
        weights = balance_classes(pairs.same[rest])
        coefficients, offset = fit_logistic(scores[rest], pairs.same[rest], weights, ridge=ridge)
        ratios[held] = scores[held] @ coefficients + offset
    return ratios


class CalibratedVerifier(BaseEstimator):
    """Likelihood ratios that mean what they say, fused from the candidates that help.

    The ratio of a Joint Bayesian model, the cosine and the distance of the vectors (and the ratio
    of its source, if the model was transferred) are weighed by a logistic fusion on people that
    the model did not see. A candidate that does not help gets no weight.

    Parameters
    ----------
    model : JointBayesian or TransferJointBayesian
        Fitted on other people than those given to `fit`; or anything with ``cross_fit=True``.
    far : float or None, default=None
        False accept rate that a decision promises; None decides by `prior` alone.
    prior : float, default=0.5
        Probability that a pair shows one person before it is looked at.
    candidates : tuple of {"ratio", "source", "cosine", "l2"} or None, default=None
        What may be fused; None is all that the model offers.
    cross_fit : bool, default=False
        Whether to fit a clone of the model on the same people, each part scored by a model that
        did not see it, and at last one on all of them. For few people of one's own.
    n_folds : int, default=5
        Parts of the people.
    ridge : float, default=1e-4
        Penalty on the weights of the fusion (of scores scaled to variance one).
    n_errors : int, default=3
        False accepts that must be expected among the held-out impostor pairs before a rate is
        promised: ``far`` needs ``n_errors / far`` pairs.
    random_state : int, RandomState or None, default=None
        Who is in which part.

    Attributes
    ----------
    model_ : JointBayesian
        The model that scores.
    weights_ : dict of str to float
        Weight of each candidate; 0 for those left out.
    intercept_ : float
        Constant of the fusion.
    cllr_ : dict of str to float
        Cllr on held-out people of each candidate alone and of the ``"fusion"``.
    threshold_ : float
        In units of the calibrated log ratio; NaN where the data are too few for ``far``.
    lowest_far_ : float
        Lowest rate that these data can promise.
    n_genuine_, n_impostor_ : int
        Held-out pairs.

    Notes
    -----
    The loss is Cllr, so that the fused score is a natural-log likelihood ratio whatever the share
    of genuine pairs; weights are not negative. Candidates are added one by one, from the best,
    while held-out Cllr falls by more than a standard error of the paired difference over people.
    The threshold is taken from ratios of people that neither model nor fusion saw.

    Pairs of one person are not independent of each other: with few people the rate that is
    promised has more spread than the number of pairs suggests.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> people = np.repeat(np.arange(150), 4)
    >>> X = 4 * rng.standard_normal((150, 6))[people] + rng.standard_normal((600, 6))
    >>> model = JointBayesian().fit(X[:300], people[:300])
    >>> verifier = CalibratedVerifier(model, far=0.01, random_state=0).fit(X[300:], people[300:])
    >>> verifier.decide(X[:1], X[1:2])
    array([ True])
    >>> sorted(verifier.weights_)
    ['cosine', 'l2', 'ratio']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "model": [JointBayesian],
        "far": [Interval(Real, 0, 1, closed="neither"), None],
        "prior": [Interval(Real, 0, 1, closed="neither")],
        "candidates": [list, tuple, None],
        "cross_fit": ["boolean"],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "n_errors": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        model: JointBayesian,
        far: float | None = None,
        *,
        prior: float = 0.5,
        candidates: tuple[str, ...] | None = None,
        cross_fit: bool = False,
        n_folds: int = 5,
        ridge: float = 1e-4,
        n_errors: int = 3,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.far = far
        self.prior = prior
        self.candidates = candidates
        self.cross_fit = cross_fit
        self.n_folds = n_folds
        self.ridge = ridge
        self.n_errors = n_errors
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Weigh the candidates on vectors X (n, d) of people y (n,)."""
        if y is None:
            raise InputError("CalibratedVerifier requires y to be passed, but the target y is None")
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        y = check_labels("y", y, len(X))
        names = self._names()
        _, people = np.unique(y, return_inverse=True)
        useful = int(np.count_nonzero(np.bincount(people) >= 2))
        if useful < _FEWEST_PEOPLE:
            raise NotEnoughDataError(
                f"calibration needs at least {_FEWEST_PEOPLE} people with two pictures or more; "
                f"got {useful} of {int(people.max()) + 1} classes"
            )
        rng = check_random_state(self.random_state)
        pairs, scores, fold = self._hold_out(
            X, y, people, names, min(self.n_folds, useful // 2), rng
        )
        thin = _thin_impostors(pairs, rng)
        few = HeldOutPairs(pairs.rows[thin], pairs.same[thin], pairs.people[thin])
        chosen = self._choose(names, scores[thin], few, fold[thin])
        columns = [names.index(name) for name in chosen]
        weights, self.intercept_ = fit_logistic(
            scores[thin][:, columns], few.same, balance_classes(few.same), ridge=self.ridge
        )
        self.weights_ = dict.fromkeys(names, 0.0) | dict(
            zip(chosen, map(float, weights), strict=True)
        )
        ratios = self._calibrate_all(scores[:, columns], pairs, fold, thin)
        self.n_genuine_ = int(np.count_nonzero(pairs.same))
        self._set_threshold(ratios[~pairs.same])
        return self

    def _names(self) -> tuple[str, ...]:
        offered: tuple[str, ...] = ("ratio", "cosine", "l2")
        if hasattr(self.model, "source"):
            offered = ("ratio", "source", "cosine", "l2")
        if self.candidates is None:
            return offered
        unknown = [name for name in self.candidates if name not in offered]
        if unknown or not self.candidates:
            raise InputError(f"candidates must be among {offered}; got {self.candidates}")
        return tuple(dict.fromkeys(self.candidates))

    def _hold_out(
        self,
        X: np.ndarray,
        y: np.ndarray,
        people: np.ndarray,
        names: tuple[str, ...],
        n_folds: int,
        rng: np.random.RandomState,
    ) -> tuple[HeldOutPairs, np.ndarray, np.ndarray]:
        """Pairs within each part of the people, their scores (n, k), and the part of each."""
        if not self.cross_fit:
            check_is_fitted(self.model, "projection_")
            self.model_ = self.model

        def score(train: np.ndarray, pairs: HeldOutPairs) -> list[np.ndarray]:
            model = self.model
            if self.cross_fit:
                model = clone(self.model).fit(X[train], y[train])
            first, second = X[pairs.rows[:, 0]], X[pairs.rows[:, 1]]
            sizes.append(len(pairs.same))
            return list(_score_candidates(model, names, first, second).T)

        sizes: list[int] = []
        scores, pairs = held_out_scores(people, n_folds, score, rng, "held-out people")
        if self.cross_fit:
            self.model_ = clone(self.model).fit(X, y)
        return pairs, np.column_stack(scores), np.repeat(np.arange(len(sizes)), sizes)

    def _choose(
        self, names: tuple[str, ...], scores: np.ndarray, pairs: HeldOutPairs, fold: np.ndarray
    ) -> list[str]:
        """Candidates from the best on, each only if it helps more than chance."""

        def losses(chosen: list[str]) -> np.ndarray:
            columns = [names.index(name) for name in chosen]
            ratios = _cross_calibrate(scores[:, columns], pairs, fold, self.ridge)
            return person_losses(ratios, pairs, calibrate=False)

        alone = {name: losses([name]) for name in names}
        self.cllr_ = {name: float(np.nanmean(loss)) for name, loss in alone.items()}
        best = min(names, key=lambda name: self.cllr_[name])
        chosen, current = [best], alone[best]
        while len(chosen) < len(names):
            rest = {name: losses([*chosen, name]) for name in names if name not in chosen}
            name = min(rest, key=lambda key: float(np.nanmean(rest[key])))
            gain = current - rest[name]
            gain = gain[np.isfinite(gain)]
            if gain.mean() <= gain.std(ddof=1) / np.sqrt(len(gain)):
                break
            chosen.append(name)
            current = rest[name]
        self.cllr_["fusion"] = float(np.nanmean(current))
        return chosen

    def _calibrate_all(
        self, scores: np.ndarray, pairs: HeldOutPairs, fold: np.ndarray, thin: np.ndarray
    ) -> np.ndarray:
        """Ratios (n,) of every held-out pair by a fusion that did not see its people."""
        ratios = np.empty(len(scores))
        for part in np.unique(fold):
            rest = thin[fold[thin] != part]
            weights = balance_classes(pairs.same[rest])
            coefficients, offset = fit_logistic(
                scores[rest], pairs.same[rest], weights, ridge=self.ridge
            )
            ratios[fold == part] = scores[fold == part] @ coefficients + offset
        return ratios

    def _set_threshold(self, impostor: np.ndarray) -> None:
        self.n_impostor_ = len(impostor)
        self.lowest_far_ = self.n_errors / len(impostor)
        if self.far is None:
            self.threshold_ = -float(logit(self.prior))
        elif self.far < self.lowest_far_:
            self.threshold_ = float("nan")
        else:
            allowed = int(np.floor(self.far * len(impostor)))
            highest = np.sort(impostor)[::-1]
            # Above the first impostor that is one too many, and not on it.
            self.threshold_ = float(np.nextafter(highest[allowed], np.inf))

    def score_pairs(self, X1: Any, X2: Any) -> np.ndarray:
        """Calibrated log-likelihood ratios (n,) of the pairs ``X1[i], X2[i]``."""
        X1, X2 = self._check(X1), self._check(X2)
        if X1.shape != X2.shape:
            raise InputError(f"X1 and X2 must be pairs; got {X1.shape} and {X2.shape}")
        names = tuple(name for name, weight in self.weights_.items() if weight > 0)
        if not names:
            return np.full(len(X1), self.intercept_)
        weights = np.asarray([self.weights_[name] for name in names])
        return _score_candidates(self.model_, names, X1, X2) @ weights + self.intercept_

    def score_matrix(self, X: Any, Y: Any = None) -> np.ndarray:
        """Calibrated log-likelihood ratios (n, m) of every x with every y."""
        X = self._check(X)
        Y = X if Y is None else self._check(Y)
        scores = np.full((len(X), len(Y)), self.intercept_)
        for name, weight in self.weights_.items():
            if weight == 0:
                continue
            if name == "ratio":
                scores += weight * self.model_.score_matrix(X, Y)
            elif name == "source":
                scores += weight * self.model_.source.score_matrix(X, Y)
            elif name == "cosine":
                unit_x, unit_y = (
                    Z / np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-30) for Z in (X, Y)
                )
                scores += weight * (unit_x @ unit_y.T)
            else:
                squares = np.sum(X**2, axis=1)[:, None] + np.sum(Y**2, axis=1) - 2 * X @ Y.T
                scores -= weight * np.sqrt(np.maximum(squares, 0))
        return scores

    def predict_probability(self, X1: Any, X2: Any, prior: float | None = None) -> np.ndarray:
        """Probability (n,) that a pair shows one person, under a stated prior."""
        prior = self.prior if prior is None else prior
        if not 0 < prior < 1:
            raise InputError(f"prior must be between 0 and 1; got {prior}")
        probability: np.ndarray = expit(self.score_pairs(X1, X2) + logit(prior))
        return probability

    def decide(self, X1: Any, X2: Any) -> np.ndarray:
        """Whether each pair is accepted (n,) at the promised false accept rate."""
        scores = self.score_pairs(X1, X2)
        if np.isnan(self.threshold_):
            raise NotEnoughDataError(
                f"not enough data to promise a false accept rate of {self.far:g}: that takes "
                f"{int(np.ceil(self.n_errors / float(self.far or 1)))} impostor pairs of held-out "
                f"people, and there were {self.n_impostor_}; the lowest rate that can be promised "
                f"is {self.lowest_far_:.2g}"
            )
        return scores >= self.threshold_

    def explain(self) -> list[dict[str, Any]]:
        """One row a candidate: its weight and its own Cllr; the last row is the fusion."""
        rows: list[dict[str, Any]] = [
            {"candidate": name, "weight": weight, "cllr": self.cllr_[name]}
            for name, weight in self.weights_.items()
        ]
        return [*rows, {"candidate": "fusion", "weight": None, "cllr": self.cllr_["fusion"]}]

    def _check(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "weights_")
        checked: np.ndarray = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return checked

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def __sklearn_clone__(self) -> CalibratedVerifier:
        params = self.get_params(deep=False)
        # A fitted model is what this estimator is given: a clone keeps it.
        model = params.pop("model")
        return type(self)(model, **{k: clone(v, safe=False) for k, v in params.items()})
