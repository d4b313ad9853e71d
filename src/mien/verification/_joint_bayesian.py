"""Joint Bayesian: identity and variation as two Gaussians, learned by EM from statistics."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mien._core.constraints import FRACTION, NON_NEGATIVE, POSITIVE_INTEGER
from mien._core.em import run_em
from mien._core.linalg import symmetrize
from mien._core.pairs import score_all_pairs, share_in_order
from mien._core.rows import validate_rows
from mien._core.statistics import GroupStatistics, agree_features
from mien._core.validation import check_labels
from mien.errors import InputError, ModelDamagedError, NumericsWarning
from mien.verification._em import (
    EMState,
    Prior,
    WorkingStatistics,
    keep_threads,
    make_state,
    make_step,
)
from mien.verification._ratios import truncation_error
from mien.verification._scoring import RatioScores

__all__ = ["GroupStatistics", "JointBayesian"]

# People that the neutral source counts for, per direction; four of one's own replace one of them.
_PRIOR_PEOPLE_PER_DIRECTION = 2
_FITTED_ARRAYS = (
    "mean_",
    "projection_",
    "variance_ratios_",
    "identity_covariance_",
    "variation_covariance_",
)


class Basis(NamedTuple):
    """Working coordinates: ``z = whitenerᵀ (x − mean)``, ``x = mean + colourer z`` (both d, r)."""

    whitener: np.ndarray
    colourer: np.ndarray

    @property
    def log_volume(self) -> float:
        """``½ log|colourerᵀ colourer|``: log density of x is that of z less this."""
        return 0.5 * float(np.linalg.slogdet(self.colourer.T @ self.colourer)[1])


def _whiten_total(moments: GroupStatistics, rank_tol: float) -> Basis:
    """Working coordinates of the directions in which the data vary at all.

    Features are scaled to unit variance first, so that their units do not decide the rank.
    """
    covariance = moments.scatter() / moments.n_samples
    scale = np.sqrt(np.diag(covariance))
    varying = scale > 1e-9 * np.maximum(np.abs(moments.mean), np.finfo(float).tiny)
    if not varying.any():
        raise InputError("every feature is constant: there is nothing to learn from")
    scale = np.where(varying, scale, 1.0)
    correlation = np.where(np.outer(varying, varying), covariance / np.outer(scale, scale), 0.0)
    values, vectors = linalg.eigh(symmetrize(correlation), driver="evd", check_finite=False)
    keep = values > rank_tol * values[-1]
    values, vectors = values[keep][::-1], vectors[:, keep][:, ::-1]
    whitener = vectors / np.sqrt(values) / scale[:, None]
    colourer = vectors * np.sqrt(values) * scale[:, None]
    whitener[~varying] = 0
    colourer[~varying] = 0
    return Basis(whitener, colourer)


def _find_neutral(moments: GroupStatistics, rank_tol: float) -> tuple[Basis, float]:
    """Working coordinates of a neutral source, and the share of identity in its variance.

    Its covariances are multiples of the identity within the directions that the vectors can have:
    all of them, unless more vectors than features leave some out.
    """
    scatter, n_samples = moments.scatter(), moments.n_samples
    varying = np.diag(scatter) > 0
    if n_samples > moments.n_features:
        directions = linalg.qr(_whiten_total(moments, rank_tol).colourer, mode="economic")[0]
    else:
        directions = np.eye(moments.n_features)[:, varying]
    total = float(np.trace(scatter)) / max(n_samples - 1, 1)
    sums, counts = moments.loose_groups(moments.mean)
    between = float(np.sum(sums**2 / counts[:, None]))
    for size, _, gram in moments.size_products(moments.mean):
        between += float(np.trace(gram)) / size
    within = (float(np.trace(scatter)) - between) / max(n_samples - moments.n_groups, 1)
    share = float(np.clip(1 - within / max(total, 1e-300), 0.05, 0.95))
    deviation = np.sqrt(total / directions.shape[1])
    return Basis(directions / deviation, directions * deviation), share


def _start(statistics: WorkingStatistics, floor: float) -> EMState:
    """Both covariances by moments: unbiased within, and what the sums of people have beyond it."""
    n, n_samples = statistics.n_people, statistics.n_samples
    between = statistics.between()
    variation = (statistics.scatter - between) / (n_samples - n)
    effective = (n_samples - statistics.people @ statistics.sizes**2 / n_samples) / max(n - 1, 1)
    # The sums of people hold the variation once a person; a direction without identity keeps a
    # hundredth, because EM never leaves zero.
    identity = (between - n * variation) / (effective * max(n - 1, 1))
    values, vectors = linalg.eigh(symmetrize(identity), check_finite=False)
    identity = (vectors * np.maximum(values, 0.01)) @ vectors.T
    return make_state(identity, variation, max(floor, 1e-12))


class JointBayesian(RatioScores, TransformerMixin, BaseEstimator):
    """Verification by the ratio of two Gaussians: one person seen twice, or two people.

    A vector is ``x = mean + identity + variation``: the identity is the same in all pictures of a
    person, the variation differs from picture to picture, and both are Gaussian. Two pictures, or
    two sets of pictures, are compared by the log of "how likely if they show one person" over "how
    likely if they show two". Both covariances are learned by EM from additive statistics: one pass
    over the data, and iterations that never see it again.

    Parameters
    ----------
    n_components : int or None, default=None
        Maximum number of directions that scores and templates use, those that tell people apart
        best first. None keeps all that `template_tol` keeps. Lower it for short templates; scores
        change by ``truncation_error_``.
    e_step : {"exact", "approximate"}, default="exact"
        "approximate" leaves out the posterior covariance, as the paper does: it deletes identity
        directions whose variance ratio is below (3 − 4/m²)/m for m pictures per person, and
        lowers the likelihood. Only for comparison with the paper.
    max_iter : int, default=200
        Maximum number of EM iterations. Raise it if a ``ConvergenceWarning`` says so.
    tol : float, default=1e-3
        EM stops when the objective changes by less than this, in nats per vector. 1e-2 is enough
        for a source model of thousands of people, and several times faster.
    template_tol : float, default=0.0
        Directions are left out as long as the error that this makes in a log ratio stays below so
        many nats (root mean square under the model). 0.1 shortens templates without visible loss;
        0 leaves nothing out.
    floor : float, default=1e-4
        Minimum variance of identity and of variation in every direction, as a share of the total.
        Raise it if a warning says that pictures of a person hardly differ.
    prior_people : float or "auto", default="auto"
        As how many people a neutral source counts, whose covariances are multiples of the
        identity matrix: with few people the model stays close to the cosine instead of taking
        their chance differences for the truth. "auto" is two people per direction, less a quarter
        of the people that there are: nothing from eight people per direction on. 0 is maximum
        likelihood, as in the paper. With "auto" and few people, features should be in one unit.
    rank_tol : float, default=1e-8
        Directions with less than this share of the largest variance (of features scaled to
        variance one) are rounding errors and are left out.
    features : str or None, default=None
        What the vectors are, such as "sface128, unit length". Models, statistics and galleries of
        different features refuse each other; None goes with everything.
    keep_statistics : bool, default=False
        Keep ``statistics_`` after `fit`, so that `partial_fit` can go on. They hold a sum of
        vectors for every person: personal data, which a model to be shared should not carry.

    Attributes
    ----------
    mean_ : (d,)
        Mean of the vectors.
    identity_covariance_, variation_covariance_ : (d, d)
        The paper's T_mu and T_epsilon.
    projection_ : (d, r)
        Columns in which variation is white and identity diagonal.
    variance_ratios_ : (r,)
        Variance of identity over that of variation in those columns, falling.
    rank_ : int
        Number of directions that scores and templates use.
    truncation_error_ : tuple of float
        Root mean square error, in nats, that the directions left out make in the log ratio of a
        genuine and of an impostor pair, under the model.
    prior_people_ : float
        As how many people the neutral source counted.
    objective_ : (n_iter,)
        Penalised marginal log-likelihood in nats before each iteration (exact, never falls), or
        eq. 11 of the paper (approximate, never rises).
    n_iter_ : int
        Iterations made.
    n_people_, n_samples_ : int
        Number of people and of vectors that it was learned from.
    features_ : str or None
        What the vectors are.
    statistics_ : GroupStatistics
        After `partial_fit`, or with ``keep_statistics=True``.

    See Also
    --------
    TransferJointBayesian : Starts from such a model of other people, for few people of one's own.
    Verifier : Calibrates the ratios and gives thresholds at a stated rate.
    GroupStatistics : What `fit` needs of the data, for many machines that each see a part.
    mien.evaluation.PairScorer : Judges it in a grid search, also at the end of a pipeline.

    Notes
    -----
    *The model.* :math:`x = \\bar x + \\mu + \\varepsilon` with :math:`\\mu \\sim N(0, T_\\mu)` and
    :math:`\\varepsilon \\sim N(0, T_\\varepsilon)`. With :math:`s_i` the sum of the
    :math:`m_i` centred vectors of person i,

    .. math:: E[\\mu_i] = T_\\mu (m_i T_\\mu + T_\\varepsilon)^{-1} s_i, \\qquad
       Cov[\\mu_i] = T_\\mu (m_i T_\\mu + T_\\varepsilon)^{-1} T_\\varepsilon,

    and the M-step averages :math:`E[\\mu_i \\mu_i^T]` over people and
    :math:`E[\\varepsilon \\varepsilon^T]` over vectors. Iterations run in the basis V with
    :math:`V^T T_\\varepsilon V = I` and :math:`V^T T_\\mu V = diag(\\psi)`, where both are
    elementwise; people with equally many vectors are treated together. An iteration costs
    O(n d² + d³) for n people, whatever the number of vectors.

    *The score.* With :math:`z = V^T (x - \\bar x)` and
    :math:`t_k = z_k \\sqrt{\\psi_k/(1+2\\psi_k)}` the natural-log ratio of two pictures is

    .. math:: LLR = t_1^T t_2 + q(t_1) + q(t_2), \\quad
       q(t) = -\\tfrac12 \\sum_k \\tfrac{\\psi_k}{1+\\psi_k} t_k^2
       + \\tfrac12 \\sum_k [\\log(1+\\psi_k) - \\tfrac12 \\log(1+2\\psi_k)].

    It carries its constant: 0 is the threshold for equal priors. So `score_matrix` is one matrix
    product, and `as_inner_product` makes a search of it. Sets of pictures (`score_sets`) depend
    on their sizes and sums only. On real vectors the ratio ranks well and is overconfident:
    calibrate it with `Verifier`.

    *Few people.* The neutral source is that of [Cao2013]_ with both covariances isotropic and
    the share of identity taken from the traces of the scatters; it enters as
    :math:`\\lambda` = ``prior_people_`` / ``n_people_`` in :class:`TransferJointBayesian`. On SFace
    vectors of LFW (d = 128, four pictures each, tested on 150 others) Cllr without it is 1,968
    bits with 10 people, 249 with 50 and .54 with 400; with it .09, .15 and .26.

    *Deviations from the paper.* The exact E-step is the default; eq. 2 has the wrong sign before
    the determinant; the printed low-rank B is replaced by the right one; ratios carry their
    constant.

    References
    ----------
    [Cao2013]_, [Chen2012]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.verification import JointBayesian
    >>> rng = np.random.default_rng(0)
    >>> people = np.repeat(np.arange(200), 4)
    >>> X = 2 * rng.standard_normal((200, 5))[people] + rng.standard_normal((800, 5))
    >>> model = JointBayesian().fit(X, people)
    >>> bool(np.all(np.abs(model.variance_ratios_ - 4) < 1.5))  # people differ twice as much
    True
    >>> bool(model.score_pairs(X[:1], X[1:2])[0] > model.score_pairs(X[:1], X[4:5])[0])
    True
    >>> round(model.score(X, people), 2)  # share of genuine pairs that beat impostor pairs
    0.96
    """

    _additive = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [POSITIVE_INTEGER, None],
        "e_step": [StrOptions({"exact", "approximate"})],
        "max_iter": [POSITIVE_INTEGER],
        "tol": [NON_NEGATIVE],
        "template_tol": [NON_NEGATIVE],
        "floor": [FRACTION],
        "prior_people": [NON_NEGATIVE, StrOptions({"auto"})],
        "rank_tol": [FRACTION],
        "features": [str, None],
        "keep_statistics": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        e_step: str = "exact",
        max_iter: int = 200,
        tol: float = 1e-3,
        template_tol: float = 0.0,
        floor: float = 1e-4,
        prior_people: float | str = "auto",
        rank_tol: float = 1e-8,
        features: str | None = None,
        keep_statistics: bool = False,
    ) -> None:
        self.n_components = n_components
        self.e_step = e_step
        self.max_iter = max_iter
        self.tol = tol
        self.template_tol = template_tol
        self.floor = floor
        self.prior_people = prior_people
        self.rank_tol = rank_tol
        self.features = features
        self.keep_statistics = keep_statistics

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn both covariances.

        Parameters
        ----------
        X : (n, d), GroupStatistics, or iterator of (X, y)
            Vectors (a memory map is read in batches), their statistics, or batches of them.
        y : (n,), optional
            The people, any labels; needed where X are vectors.
        """
        statistics = self._collect(X, y)
        self._learn(statistics)
        self._keep(statistics if self.keep_statistics else None)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add people or pictures to the training data, and fit to all of it.

        The result is that of `fit` on everything seen so far, whatever the size of the batches:
        statistics are added, and EM starts again from them. While nobody has two pictures, or all
        are of one person, batches are only collected, and the model is not fitted yet.

        Parameters
        ----------
        X, y
            As in `fit`.
        """
        if hasattr(self, "projection_") and not hasattr(self, "statistics_"):
            raise InputError(
                "the statistics of the first fit were not kept, so nothing can be added to them; "
                "fit with keep_statistics=True, or add statistics and fit again"
            )
        known = getattr(self, "statistics_", None)
        statistics = self._collect(X, y, reset=known is None)
        if known is not None:
            statistics = known + statistics
        self._keep(statistics)
        if hasattr(self, "projection_") or _find_lack(statistics) is None:
            self._learn(statistics)
        return self

    def score(self, X: Any, y: Any) -> float:
        """Area under the ROC curve of all pairs of vectors.

        Parameters
        ----------
        X : (n, d)
            Vectors.
        y : (n,)
            Their people; at least one pair of one person and one of two.

        Returns
        -------
        float
            The probability that a genuine pair scores above an impostor pair: 1 is perfect, 0.5 is
            chance. It does not depend on the scale of the ratios; see
            :class:`mien.evaluation.PairScorer` for measures that do.
        """
        return share_in_order(*score_all_pairs(self, X, y))

    def _keep(self, statistics: GroupStatistics | None) -> None:
        if statistics is not None:
            self.statistics_ = statistics
        elif hasattr(self, "statistics_"):
            del self.statistics_

    def _collect(self, X: Any, y: Any, *, reset: bool = True) -> GroupStatistics:
        """Statistics of vectors, of an iterator of batches, or those given."""
        if isinstance(X, GroupStatistics):
            statistics = X.empty().merge(X)
            statistics.features = agree_features(self.features, X.features)
        elif isinstance(X, Iterator):
            statistics = GroupStatistics.from_batches(X, self.features)
        else:
            if y is None:
                raise InputError(
                    f"{type(self).__name__} requires y to be passed, but the target y is None: "
                    "give the person in each picture"
                )
            X = validate_rows(
                self,
                X,
                reset=reset,
                dtype=[np.float64, np.float32],
                ensure_min_samples=2 if reset else 1,
            )
            y = check_labels("y", y, len(X))
            return GroupStatistics(self.features).collect(self._prepare(X), y)
        if reset:
            self.n_features_in_ = statistics.n_features
        elif statistics.n_features != self.n_features_in_:
            raise InputError(
                f"the model has {self.n_features_in_} features; got {statistics.n_features}"
            )
        return statistics

    def _prepare(self, X: np.ndarray) -> np.ndarray:
        """Vectors as the model sees them."""
        return X

    def slim(self) -> JointBayesian:
        """A copy for sharing: matrices in single precision, and no statistics of people."""
        check_is_fitted(self, "projection_")
        copy: JointBayesian = type(self)(**self.get_params(deep=False))
        for name, value in vars(self).items():
            if name in ("statistics_", "objective_"):
                continue
            matrix = isinstance(value, np.ndarray) and value.ndim == 2
            setattr(copy, name, value.astype(np.float32) if matrix else value)
        copy.keep_statistics = False
        return copy

    def _check_loaded(self) -> None:
        """Called after a file was read: double precision again, and the parts must fit."""
        if not hasattr(self, "projection_"):
            return
        for name in _FITTED_ARRAYS:
            value = getattr(self, name, None)
            if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
                raise ModelDamagedError(
                    f"{name} of a {type(self).__name__} is not an array of floats"
                )
            setattr(self, name, value.astype(np.float64, copy=False))
        d, r = len(self.mean_), len(self.variance_ratios_)
        shapes = (self.projection_.shape, self.identity_covariance_.shape)
        if shapes != ((d, r), (d, d)) or self.variation_covariance_.shape != (d, d):
            raise ModelDamagedError(f"the parts of a {type(self).__name__} do not fit each other")
        if type(self.rank_) is not int or not 1 <= self.rank_ <= r:
            raise ModelDamagedError(f"a {type(self).__name__} of {r} directions uses {self.rank_}")

    def _learn(self, moments: GroupStatistics) -> None:
        lack = _find_lack(moments)
        if lack is not None:
            raise InputError(lack)
        self.mean_ = moments.mean
        basis, prior, start = self._regularise(moments)
        r, d = basis.whitener.shape[1], moments.n_features
        if r < d:
            warnings.warn(
                f"the vectors span {r} of {d} directions ({moments.n_samples} vectors, "
                f"rank_tol={self.rank_tol:g}): the model uses only those {r}, and the rest is "
                "ignored",
                NumericsWarning,
                stacklevel=4,
            )
        working = WorkingStatistics.from_moments(moments, self.mean_, basis.whitener)
        state = _start(working, self.floor) if start is None else start
        exact = self.e_step == "exact"
        with keep_threads(r):
            result = run_em(
                make_step(working, prior, exact=exact, floor=self.floor),
                state,
                max_iter=self.max_iter,
                tol=self.tol,
                description="Joint Bayesian",
                scale=moments.n_samples,
            )
        _warn_of_floor(result.state, r, self.floor)
        self.n_people_ = moments.n_groups
        self.n_samples_ = moments.n_samples
        self.features_ = moments.features
        self._adopt(result.state, basis)
        self.objective_ = result.objective + _objective_offset(working, basis, exact=exact)
        self.n_iter_ = result.n_iter

    def _regularise(self, moments: GroupStatistics) -> tuple[Basis, Prior | None, EMState | None]:
        """Working coordinates, and the neutral source with its state where people are few."""
        n_people, d = moments.n_groups, moments.n_features
        basis = None
        if self.prior_people == "auto":
            r = d
            if moments.n_samples > d:
                basis = _whiten_total(moments, self.rank_tol)
                r = basis.whitener.shape[1]
            self.prior_people_ = max(0.0, _PRIOR_PEOPLE_PER_DIRECTION * r - n_people / 4)
        else:
            self.prior_people_ = float(self.prior_people)
        if self.prior_people_ == 0:
            return basis or _whiten_total(moments, self.rank_tol), None, None
        if not np.any(np.diag(moments.scatter()) > 0):
            raise InputError("every feature is constant: there is nothing to learn from")
        basis, share = _find_neutral(moments, self.rank_tol)
        eye = np.eye(basis.whitener.shape[1])
        prior = Prior(share * eye, (1 - share) * eye, self.prior_people_ / n_people)
        return basis, prior, make_state(prior.identity, prior.variation, max(self.floor, 1e-12))

    def _adopt(self, state: EMState, basis: Basis) -> None:
        """Set what scoring needs from a state in working coordinates."""
        loadings = basis.colourer @ linalg.inv(state.V, check_finite=False).T
        self.variation_covariance_ = loadings @ loadings.T
        self.identity_covariance_ = (loadings * state.psi) @ loadings.T
        self.projection_ = np.ascontiguousarray(basis.whitener @ state.V)
        self.variance_ratios_ = state.psi
        self.rank_ = _choose_rank(state.psi, self.n_components, self.template_tol)
        self.truncation_error_ = truncation_error(state.psi[self.rank_ :])

    @property
    def _n_features_out(self) -> int:
        return self.rank_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _find_lack(moments: GroupStatistics) -> str | None:
    """What the people lack to learn from, in words; None if they are enough."""
    if moments.n_samples == 0:
        return "the statistics are empty: no vectors were seen yet"
    if moments.n_grouped < moments.n_samples:
        return (
            f"{moments.n_samples - moments.n_grouped} of {moments.n_samples} vectors have no "
            "person (None, NaN or -1): leave them out, or label them"
        )
    if moments.n_groups < 2:
        return (
            f"at least two people are needed to learn what tells people apart; "
            f"got {moments.n_groups} class(es)"
        )
    if int(moments.counts.max()) < 2:
        return (
            f"each of the {moments.n_groups} people has one picture, so variation cannot be told "
            "from identity; give some people two pictures or more, or adapt a source model with "
            "TransferJointBayesian"
        )
    return None


def _warn_of_floor(state: EMState, r: int, floor: float) -> None:
    if state.n_floored:
        warnings.warn(
            f"in {state.n_floored} of {r} directions the pictures of a person hardly differ; "
            f"their variation was lifted to floor={floor:g} of the total. Ratios will be "
            "overconfident: use more pictures per person, fewer features (PCA), or a larger floor",
            NumericsWarning,
            stacklevel=5,
        )


def _objective_offset(working: WorkingStatistics, basis: Basis, *, exact: bool) -> float:
    """From working coordinates to those of the vectors."""
    if exact:
        return -working.n_samples * basis.log_volume
    return 2 * (working.n_people + working.n_samples) * basis.log_volume


def _choose_rank(psi: np.ndarray, n_components: int | None, template_tol: float) -> int:
    """Fewest leading directions whose remainder makes an error below the tolerance."""
    rank = len(psi)
    if template_tol > 0:
        while rank > 1 and max(truncation_error(psi[rank - 1 :])) <= template_tol:
            rank -= 1
    return rank if n_components is None else min(rank, n_components)
