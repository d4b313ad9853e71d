"""Log-likelihood ratios: what they cost (Cllr), and how scores are turned into them."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import logit
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.isotonic import isotonic_regression
from sklearn.utils import ClassifierTags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mien._core.logistic import newton_logistic, ratio_costs
from mien._core.rows import validate_rows
from mien.errors import InputError
from mien.evaluation._curves import check_two_classes, count_accepted

__all__ = ["LogisticCalibration", "cllr", "min_cllr"]


def cllr(genuine: Any, impostor: Any) -> float:
    """Cost of natural-log likelihood ratios in bits: 0 is perfect, 1 is as good as saying nothing.

    Parameters
    ----------
    genuine, impostor : array-like (n_genuine,), (n_impostor,)
        Natural-log likelihood ratios. A ratio of −inf for a genuine pair, or +inf for an impostor,
        claims certainty and is wrong: the cost is infinite.

    Returns
    -------
    float
        Above 1, the ratios mislead: they are worse than none. Scores that are not log-likelihood
        ratios must be calibrated first (:class:`LogisticCalibration`); what remains is then
        mostly :func:`min_cllr`.

    Notes
    -----
    ½ [mean over genuine of log2(1 + e^−s) + mean over impostors of log2(1 + e^s)] (Brümmer and
    du Preez, 2006): the expected cost of decisions over all priors and costs.

    Examples
    --------
    >>> cllr([0.0, 0.0], [0.0])
    1.0
    """
    genuine, impostor = check_two_classes(genuine, impostor)
    return float((ratio_costs(genuine, True).mean() + ratio_costs(impostor, False).mean()) / 2)


def pooled_cllr(
    genuine_counts: np.ndarray,
    impostor_counts: np.ndarray,
    n_genuine: float | None = None,
    n_impostor: float | None = None,
) -> float:
    """Minimum Cllr of counts at ordered scores (n_distinct,), by pooling adjacent violators.

    The totals may be larger than the sums: the rest are comparisons that failed, which say
    nothing (a log ratio of 0) and cost one bit each.
    """
    g_sum, i_sum = genuine_counts.sum(), impostor_counts.sum()
    g_all = g_sum if n_genuine is None else n_genuine
    i_all = i_sum if n_impostor is None else n_impostor
    weight = genuine_counts + impostor_counts
    used = weight > 0
    g, i, weight = genuine_counts[used], impostor_counts[used], weight[used]
    share = isotonic_regression(g / weight, sample_weight=weight)
    # e^llr = (share / g_all) / ((1 − share) / i_all); a share of 0 or 1 costs its own kind nothing
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = share / (1 - share) * (i_all / g_all)
        cost_g = np.where(g > 0, g * np.log2(1 + 1 / odds), 0.0)
        cost_i = np.where(i > 0, i * np.log2(1 + odds), 0.0)
    total_g = (cost_g.sum() + g_all - g_sum) / g_all
    total_i = (cost_i.sum() + i_all - i_sum) / i_all
    return float((total_g + total_i) / 2)


def min_cllr(genuine: Any, impostor: Any) -> float:
    """Cllr after the best rising calibration: what the scores could say if they were calibrated.

    Parameters
    ----------
    genuine, impostor : array-like (n_genuine,), (n_impostor,)
        Similarity scores, of any scale; infinities are allowed.

    Returns
    -------
    float
        Between 0 and 1; ``cllr − min_cllr`` is the loss from calibration.

    Notes
    -----
    Pool adjacent violators gives the share of genuine pairs p at every distinct score; the
    calibrated ratio is logit(p) − log(n_genuine / n_impostor). It is fitted to the scores that it
    is measured on, so it is optimistic when scores are few.

    Examples
    --------
    >>> min_cllr([2.0, 3.0], [0.0, 1.0])
    0.0
    >>> min_cllr([1.0, 1.0], [1.0])
    1.0
    """
    genuine, impostor = check_two_classes(genuine, impostor)
    _, false_accepts, true_accepts = count_accepted(genuine, impostor)
    g = np.diff(true_accepts, prepend=0)[::-1].astype(float)
    i = np.diff(false_accepts, prepend=0)[::-1].astype(float)
    return pooled_cllr(g, i)


def check_same(same: Any, n_scores: int) -> np.ndarray:
    """Return the truth of pairs as booleans: two values, of which the larger means "same"."""
    truth = np.asarray(same)
    if truth.ndim == 2 and truth.shape[1] == 1:
        truth = truth[:, 0]
    if truth.ndim != 1 or truth.size != n_scores:
        raise InputError(f"same must have the shape ({n_scores},); got {truth.shape}")
    if truth.dtype.kind == "f" and not np.all(np.isfinite(truth)):
        raise InputError("same has NaN or infinity; it must be true or false")
    values = np.unique(truth)
    if truth.dtype.kind == "f" and values.size > 2 and np.any(values != np.round(values)):
        raise InputError("Unknown label type: continuous; same must be true or false")
    if values.size == 1:
        raise InputError(
            f"same has one class, {values[0]}: pairs of the same person and pairs of different "
            "people are both needed"
        )
    if values.size > 2:
        raise InputError(f"same must have two values, false and true; got {values.size} classes")
    return truth == values[1]


class LogisticCalibration(TransformerMixin, BaseEstimator):
    """Turn scores into natural-log likelihood ratios by prior-weighted logistic regression.

    Parameters
    ----------
    prior : float
        Probability of a genuine pair for which the cost is lowest. Genuine and impostor pairs are
        weighed to it, so their numbers in the training set do not matter, and it is taken out of
        the result again.
    regularization : float
        Strength of the ridge on the slopes of the standardised scores, in pairs: the penalty is
        ½ · regularization / n · slope², so it fades as pairs grow. It keeps the slope finite
        when a threshold separates all pairs; 0 then raises an error.
    max_iter : int
        Maximum number of Newton steps.

    Attributes
    ----------
    coef_ : (n_systems,)
        Slope of each system's score.
    intercept_ : float
        The log-likelihood ratio is ``scores @ coef_ + intercept_``.
    n_features_in_ : int
        Systems that are calibrated together.
    n_iter_ : int
        Newton steps taken.

    See Also
    --------
    mien.verification.Verifier : Calibrates a model's ratios, and gives thresholds.
    cllr : The cost that it lowers.

    Notes
    -----
    Minimises π · mean over genuine of log(1 + e^−(s + logit π)) + (1 − π) · mean over impostors of
    log(1 + e^(s + logit π)), s = a·score + b, plus the ridge. With π = ½ that is Cllr. With several
    columns it is logistic fusion. Scores must be finite: a straight line maps no infinity to a
    ratio that could be believed.

    References
    ----------
    [Brummer2006]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> scores = np.r_[rng.normal(2, 1, 500), rng.normal(0, 1, 5000)]
    >>> same = np.r_[np.ones(500, bool), np.zeros(5000, bool)]
    >>> calibration = LogisticCalibration().fit(scores, same)
    >>> calibration.transform([1.0]).round(1)  # halfway between the two: no evidence
    array([0.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "prior": [Interval(Real, 0, 1, closed="neither")],
        "regularization": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self, prior: float = 0.5, regularization: float = 0.1, max_iter: int = 100
    ) -> None:
        self.prior = prior
        self.regularization = regularization
        self.max_iter = max_iter

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> LogisticCalibration:
        """Fit to scores and their truth.

        Parameters
        ----------
        X : array-like (n_pairs,) or (n_pairs, n_systems)
            Finite scores.
        y : array-like (n_pairs,)
            Which pairs are of the same person: two values, the larger means "same".
        """
        if y is None:
            raise InputError("requires y to be passed, but the target y is None")
        X = validate_rows(self, _as_columns(X), dtype=np.float64)
        truth = check_same(y, X.shape[0])
        n_genuine = int(truth.sum())
        weight = np.where(
            truth, self.prior / n_genuine, (1 - self.prior) / (truth.size - n_genuine)
        )
        centre, spread = X.mean(axis=0), X.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        Z = np.column_stack([(X - centre) / spread, np.ones(truth.size)])
        if self.regularization == 0:
            _refuse_separable(X, truth)
        ridge = self.regularization / truth.size
        theta, self.n_iter_ = newton_logistic(
            Z, truth, weight, float(logit(self.prior)), ridge, self.max_iter
        )
        self.coef_ = theta[:-1] / spread
        self.intercept_ = float(theta[-1] - centre @ self.coef_)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Log-likelihood ratios (n_pairs,) of scores (n_pairs,) or (n_pairs, n_systems)."""
        check_is_fitted(self)
        columns = _as_columns(X) if self.n_features_in_ == 1 else X
        X = validate_rows(self, columns, dtype=np.float64, reset=False)
        return X @ self.coef_ + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        # not a classifier, but its target has two classes
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


def _as_columns(scores: Any) -> Any:
    """One system's scores (n,) as a column; anything else unchanged."""
    n_dimensions = getattr(scores, "ndim", None)
    if n_dimensions is None:
        try:
            n_dimensions = np.asarray(scores).ndim
        except ValueError as error:
            raise InputError("scores must be numbers, all rows of one length") from error
    return np.asarray(scores).reshape(-1, 1) if n_dimensions == 1 else scores


def _refuse_separable(X: np.ndarray, truth: np.ndarray) -> None:
    """Without a ridge, one score that separates all pairs has no finite slope."""
    low, high = X[truth], X[~truth]
    if np.any((low.min(axis=0) > high.max(axis=0)) | (low.max(axis=0) < high.min(axis=0))):
        raise InputError(
            "a threshold separates all pairs, so no finite slope is best: "
            "give a regularization above 0"
        )
