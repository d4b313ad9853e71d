"""Joint Bayesian that starts from a foreign model and learns from a few people of one's own."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mien._core.constraints import AT_LEAST_TWO, NON_NEGATIVE
from mien._core.em import EMResult, run_em
from mien._core.parallel import map_tasks
from mien._core.progress import report
from mien._core.rows import check_rows
from mien._core.statistics import GroupStatistics, agree_features
from mien._core.validation import check_labels
from mien.errors import InputError, NumericsWarning
from mien.verification._em import EMState, Prior, WorkingStatistics, keep_threads, make_step
from mien.verification._joint_bayesian import (
    Basis,
    JointBayesian,
    _objective_offset,
    _warn_of_floor,
)
from mien.verification._ratios import score_coordinates
from mien.verification._selection import (
    HeldOutPairs,
    hold_out_people,
    join,
    pair_people,
    person_losses,
    search_strengths,
)
from mien.verification._steps import KeepsFitted, apply_steps, split_steps

__all__ = ["TransferJointBayesian"]

#: Candidates of "auto" as multiples of the default, from the strongest.
STRENGTHS = (32.0, 16.0, 8.0, 4.0, 2.0, 1.0, 0.5, 0.25, 0.12, 0.06, 0.015, 0.002)
#: The default of "auto": the source weighs as much as twice as many people as it has directions.
PEOPLE_PER_DIRECTION = 2.0
# With fewer people than this none can be held out, and the default stays.
_MIN_PEOPLE = 8
# Held-out people tell strengths apart long before EM has come to rest.
_SEARCH_TOL = 5e-2


def _source_basis(source: JointBayesian) -> Basis:
    """Working coordinates in which the source's total covariance is the identity."""
    total = np.sqrt(1 + source.variance_ratios_)
    loadings = source.variation_covariance_ @ source.projection_
    return Basis(source.projection_ / total, loadings * total)


def _shrink_mean(source: JointBayesian, moments: GroupStatistics) -> float:
    """Part of the way from the source's mean to the target's: positive-part James–Stein.

    The mean of few people is noisy: in the source's coordinates its variance is
    ``psi Σm²/N² + 1/N``. A shift of the domain counts only beyond what that noise explains.
    """
    counts, n_samples = moments.counts, moments.n_samples
    psi = source.variance_ratios_
    noise = psi * float(np.sum(counts.astype(float) ** 2)) / n_samples**2 + 1 / n_samples
    shift = source.projection_.T @ (moments.mean - source.mean_)
    distance = float(np.sum(shift**2 / noise))
    return 1.0 - min(1.0, max(len(psi) - 2, 0) / max(distance, 1e-300))


class _HeldOutPart:
    """People to learn from and pairs of others, with the states of the strengths tried so far."""

    def __init__(
        self,
        model: TransferJointBayesian,
        X: np.ndarray,
        people: np.ndarray,
        train: np.ndarray,
        pairs: HeldOutPairs,
    ) -> None:
        moments = GroupStatistics().collect(X[train], people[train])
        _, centre = model._centre(moments)
        whitener = _source_basis(model._source).whitener
        rows, inverse = np.unique(pairs.rows, return_inverse=True)
        self.model = model
        self.pairs = pairs
        self.working = WorkingStatistics.from_moments(moments, centre, whitener)
        self._points = (X[rows] - centre) @ whitener
        self._inverse = inverse.reshape(pairs.rows.shape)
        self.states: dict[int, EMState] = {}

    def score(self, candidate: int, strength: float) -> tuple[EMState, np.ndarray]:
        """State and log ratios of the pairs, from the next stronger candidate that was tried."""
        stronger = max((tried for tried in self.states if tried < candidate), default=None)
        start = None if stronger is None else self.states[stronger]
        tol = max(self.model.tol, _SEARCH_TOL)
        state = self.model._adapt(self.working, strength, tol, start).state
        scores = score_coordinates(self._points @ state.V, state.psi)
        return state, scores[self._inverse[:, 0], self._inverse[:, 1]]


def _score_part(
    part: _HeldOutPart, candidate: int, count: float, n_people: int | None
) -> tuple[EMState, np.ndarray]:
    """Score a part with the source counted as so many people."""
    # A given lambda stays in a part; a number of people weighs more among fewer others.
    return part.score(candidate, count / (n_people or part.working.n_people))


class TransferJointBayesian(KeepsFitted, JointBayesian):
    """Joint Bayesian for one's own domain, penalised by its distance from a source model.

    Both covariances become ``w`` times the source's plus ``1 − w`` times what the target's people
    say, with ``w = lambda / (1 + lambda)``.

    Parameters
    ----------
    source : JointBayesian, or a Pipeline that ends in one
        A fitted model of a large foreign set, with the same features. Cloning this estimator
        keeps the source as it is, fitted, and its parameters cannot be changed from here. The
        earlier steps of a pipeline are applied to all vectors first.
    source_people : float or "auto", default="auto"
        As how many people of the target the source counts: lambda is ``source_people`` divided by
        the number of people, so that the source fades as the target grows. 0 forgets the source.
        "auto" tries candidates on held-out people. Among those whose Cllr is within 1.64 standard
        errors of the best, the one closest to the default is chosen; the default is twice as many
        people as the source has directions, and stays where fewer than eight people have two
        pictures. Give a number if you know it, or to save the search.
    strength : float, "auto" or None, default=None
        The paper's lambda itself, which does not depend on how many people the target has; then
        `source_people` must be left at "auto". "auto" searches lambda as above.
    centring : {"shrunken", "target", "source"}, default="shrunken"
        Which mean is subtracted. "shrunken" goes from the source's mean towards the target's as
        far as the shift exceeds what the few people explain (James and Stein). "target" for many
        people of a clearly different camera; "source" to leave the mean alone.
    n_components, e_step, max_iter, tol, template_tol, floor, features, keep_statistics
        As in :class:`JointBayesian`.
    n_splits : int, default=5
        Parts of the people, each held out once, for "auto".
    random_state : int, RandomState or None, default=None
        Who is held out with whom.

    Attributes
    ----------
    strength_ : float
        The lambda that was used.
    source_people_ : float
        As how many people the source counted: ``strength_ * n_people_``.
    source_weight_ : float
        The weight w of the source in both covariances, ``strength_ / (1 + strength_)``.
    strength_path_ : dict of arrays
        For "auto", one value per candidate that was tried: ``strength`` (lambda),
        ``source_people``, ``cllr`` (on held-out people, after a straight calibration, in bits) and
        ``standard_error`` of its difference to the best. Empty otherwise.
    steps_ : Pipeline or None
        The earlier steps of the source, applied to all vectors.
    mean_shrinkage_ : float
        How far the mean went from the source's (0) to the target's (1).
    mean_, identity_covariance_, variation_covariance_, projection_, variance_ratios_, \
rank_, objective_, n_iter_, n_people_, n_samples_, features_, truncation_error_
        As in :class:`JointBayesian`.

    Notes
    -----
    What is maximised is the marginal likelihood of the target's people less
    :math:`\\lambda \\sum_i KL(source \\| target)` of each person's hidden variables: eq. 4 with the
    order that gives eq. 5 of [Cao2013]_. The model uses only the directions that the source knows;
    what lies outside has no prior and is left out, with a warning if it is more than 1 % of the
    variance.

    With a source, people with a single picture are welcome: they tell about the sum of both
    covariances, and the source how to divide it.

    "auto" judges calibrated ratios. Raw ratios are overconfident, and judged raw a strength would
    be chosen for its scale, which the calibration sets anyway.

    See Also
    --------
    JointBayesian : The model without a source.
    Verifier : Calibrates the ratios of either.

    References
    ----------
    [Cao2013]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.verification import JointBayesian
    >>> rng = np.random.default_rng(0)
    >>> people = np.repeat(np.arange(300), 4)
    >>> X = rng.standard_normal((300, 4))[people] + rng.standard_normal((1200, 4))
    >>> source = JointBayesian().fit(X[:1000], people[:1000])
    >>> X[1000:] = X[1000:] * [1, 1, 3, 3] + 5  # another camera
    >>> model = TransferJointBayesian(source, source_people=10).fit(X[1000:], people[1000:])
    >>> round(model.source_weight_, 3)
    0.167
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            k: v
            for k, v in JointBayesian._parameter_constraints.items()
            if k not in ("rank_tol", "prior_people")
        },
        "source": [JointBayesian, Pipeline],
        "source_people": [NON_NEGATIVE, StrOptions({"auto"})],
        "strength": [NON_NEGATIVE, StrOptions({"auto"}), None],
        "centring": [StrOptions({"shrunken", "target", "source"})],
        "n_splits": [AT_LEAST_TWO],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        source: JointBayesian | Pipeline,
        source_people: float | str = "auto",
        *,
        strength: float | str | None = None,
        centring: str = "shrunken",
        n_components: int | None = None,
        e_step: str = "exact",
        max_iter: int = 200,
        tol: float = 1e-3,
        template_tol: float = 0.0,
        floor: float = 1e-4,
        features: str | None = None,
        n_splits: int = 5,
        random_state: Any = None,
        keep_statistics: bool = False,
    ) -> None:
        self.source = source
        self.source_people = source_people
        self.strength = strength
        self.centring = centring
        self.n_components = n_components
        self.e_step = e_step
        self.max_iter = max_iter
        self.tol = tol
        self.template_tol = template_tol
        self.floor = floor
        self.features = features
        self.n_splits = n_splits
        self.random_state = random_state
        self.keep_statistics = keep_statistics

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Adapt the source to new people.

        Parameters
        ----------
        X : (n, d), GroupStatistics, or iterator of (X, y)
            Vectors of the source's features. Statistics and iterators of batches are taken if
            `source_people` or `strength` is a number: "auto" has to see the vectors of the people
            that it holds out.
        y : (n,)
            Their people. A handful of people with a few pictures each is enough.

        Returns
        -------
        TransferJointBayesian
            Itself.
        """
        self._fit(X, y, keep=self.keep_statistics)
        return self

    def _fit(self, X: Any, y: Any, *, keep: bool) -> None:
        self._check_source()
        statistics = self._collect(X, y)
        if statistics.n_features != self._source.n_features_in_:
            raise InputError(
                f"the source has {self._source.n_features_in_} features; got "
                f"{statistics.n_features}"
            )
        self.strength_path_: dict[str, np.ndarray] = {}
        if self.strength not in (None, "auto"):
            self.strength_ = float(self.strength)
        elif self.strength is None and self.source_people != "auto":
            self.source_people_ = float(self.source_people)
        else:
            if y is None:
                raise InputError(
                    '"auto" holds people out and needs their vectors: give X and y, or a number '
                    "as source_people or as strength"
                )
            X = apply_steps(self.steps_, check_rows(X, dtype=[np.float64, np.float32]))
            with keep_threads(X.shape[1]):
                self.source_people_ = self._find_source_people(X, check_labels("y", y))
            self.strength_ = self.source_people_ / statistics.n_groups
        self._learn(statistics)
        self._keep(statistics if keep else None)

    def _check_source(self) -> None:
        if self.strength is not None and self.source_people != "auto":
            raise InputError(
                f"give source_people or strength, not both; got source_people="
                f"{self.source_people} and strength={self.strength}"
            )
        self.steps_, source = split_steps(self.source)
        if not isinstance(source, JointBayesian):
            raise InputError(
                "the source must be a JointBayesian, or a pipeline that ends in one; got "
                f"{type(source).__name__}"
            )
        check_is_fitted(source, "projection_")

    @property
    def _source(self) -> JointBayesian:
        source: JointBayesian = split_steps(self.source)[1]
        return source

    def _check(self, X: Any) -> np.ndarray:
        return apply_steps(self.steps_, super()._check(X))

    def _prepare(self, X: np.ndarray) -> np.ndarray:
        return apply_steps(self.steps_, X)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add people or pictures.

        Parameters
        ----------
        X : (n, d)
            Vectors.
        y : (n,)
            Their people; labels that were seen before get more pictures.

        Returns
        -------
        TransferJointBayesian
            Itself. `source_people_`, or a given `strength`, stays as it was found: the result is
            what `fit` would give for all people with that strength.
        """
        if hasattr(self, "projection_"):
            return super().partial_fit(X, y)
        self._fit(X, y, keep=True)
        return self

    def _learn(self, moments: GroupStatistics) -> None:
        source = self._source
        if self.strength is None:
            self.strength_ = self.source_people_ / moments.n_groups
        else:
            self.source_people_ = self.strength_ * moments.n_groups
        features = agree_features(getattr(source, "features_", None), moments.features)
        if moments.n_features != len(source.mean_):
            raise InputError(
                f"the source has {len(source.mean_)} features; got {moments.n_features}"
            )
        basis = _source_basis(source)
        self._warn_of_outside(moments, basis)
        self.mean_shrinkage_, self.mean_ = self._centre(moments)
        working = WorkingStatistics.from_moments(moments, self.mean_, basis.whitener)
        result = self._adapt(working, self.strength_, self.tol)
        state = result.state
        _warn_of_floor(state, len(state.psi), self.floor)
        self.source_weight_ = self.strength_ / (1 + self.strength_)
        self.n_people_, self.n_samples_ = moments.n_groups, moments.n_samples
        self.features_ = features
        self._adopt(state, basis)
        exact = self.e_step == "exact"
        self.objective_ = result.objective + _objective_offset(working, basis, exact=exact)
        self.n_iter_ = result.n_iter

    def _centre(self, moments: GroupStatistics) -> tuple[float, np.ndarray]:
        shrinkage = {"source": 0.0, "target": 1.0}.get(self.centring)
        if shrinkage is None:
            shrinkage = _shrink_mean(self._source, moments)
        return shrinkage, self._source.mean_ + shrinkage * (moments.mean - self._source.mean_)

    def _adapt(
        self, working: WorkingStatistics, strength: float, tol: float, start: EMState | None = None
    ) -> EMResult[EMState]:
        """EM in the source's coordinates, from the source or from a state nearer to the end."""
        psi = self._source.variance_ratios_
        identity = np.maximum(psi / (1 + psi), self.floor)
        variation = np.maximum(1 / (1 + psi), self.floor)
        prior = Prior(np.diag(identity), np.diag(variation), strength)
        if start is None:
            V = np.diag(1 / np.sqrt(variation))
            start = EMState(V, identity / variation, -0.5 * float(np.log(variation).sum()))
        exact = self.e_step == "exact"
        with keep_threads(len(psi)):
            return run_em(
                make_step(working, prior, exact=exact, floor=self.floor),
                start,
                max_iter=self.max_iter,
                tol=tol,
                description="transfer",
                scale=working.n_samples,
            )

    def _find_source_people(self, X: np.ndarray, y: np.ndarray) -> float:
        """As how many people the source should count: tried on people that were left out."""
        _, people = np.unique(y, return_inverse=True)
        n_people = int(people.max()) + 1
        default = PEOPLE_PER_DIRECTION * len(self._source.variance_ratios_)
        candidates = [default * factor for factor in STRENGTHS]
        useful = int(np.count_nonzero(np.bincount(people) >= 2))
        if useful < _MIN_PEOPLE:
            return default
        rng = check_random_state(self.random_state)
        parts = [
            _HeldOutPart(self, X, people, train, pair_people(held, people, rng))
            for train, held in list(hold_out_people(people, min(self.n_splits, useful // 2), rng))
        ]
        pairs = join([part.pairs for part in parts])

        def judge(candidate: int) -> np.ndarray:
            report("strength of the source", candidate, len(candidates))
            whole = n_people if self.strength == "auto" else None
            found = map_tasks(
                _score_part, parts, candidate, candidates[candidate], whole, threads=True
            )
            for part, (state, _) in zip(parts, found, strict=True):
                part.states[candidate] = state
            scores = np.concatenate([values for _, values in found])
            return person_losses(scores, pairs, calibrate=True)

        chosen, tried, mean, error = search_strengths(len(candidates), STRENGTHS.index(1.0), judge)
        report("strength of the source", len(candidates), len(candidates))
        self.strength_path_ = {
            "strength": np.asarray(candidates)[tried] / n_people,
            "source_people": np.asarray(candidates)[tried],
            "cllr": mean,
            "standard_error": error,
        }
        return candidates[chosen]

    def _warn_of_outside(self, moments: GroupStatistics, basis: Basis) -> None:
        scatter = moments.scatter()
        scale = np.sqrt(np.maximum(np.diag(self._source.variation_covariance_), 1e-300))
        seen = (basis.colourer @ basis.whitener.T) @ scatter
        seen = seen @ (basis.whitener @ basis.colourer.T)
        varying = np.diag(self._source.variation_covariance_) > 0
        total = np.diag(scatter)
        outside = 1 - float(
            np.sum(np.diag(seen)[varying] / scale[varying] ** 2)
            / max(np.sum(total[varying] / scale[varying] ** 2), 1e-300)
        )
        if outside > 0.01:
            warnings.warn(
                f"{outside:.1%} of the target's variance lies in directions that the source never "
                "saw and is left out; learn the source on features that cover the target",
                NumericsWarning,
                stacklevel=5,
            )

    def slim(self) -> TransferJointBayesian:
        """As :meth:`JointBayesian.slim`; the source becomes slim as well."""
        copy: TransferJointBayesian = super().slim()
        steps, source = split_steps(self.source)
        copy.source = source.slim()
        if steps is not None:
            copy.source = Pipeline([*steps.steps, ("source", copy.source)])
        return copy

    def __sklearn_clone__(self) -> TransferJointBayesian:
        params = self.get_params(deep=False)
        source = params.pop("source")
        return type(self)(source, **{k: clone(v, safe=False) for k, v in params.items()})
