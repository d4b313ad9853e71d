"""Who is it, or nobody we know? Calibrated ratios of sets of pictures, at a promised rate."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from mien._core.logistic import balance_classes, fit_logistic
from mien._core.progress import track
from mien._core.validation import check_labels
from mien.errors import InputError, ModelDamagedError, NotEnoughDataError
from mien.verification._selection import hold_out_people
from mien.verification._set_trials import Trials, draw_trials, join_trials, tail_table
from mien.verification.joint_bayesian import JointBayesian
from mien.verification.scoring import _evidence

__all__ = ["OpenSetVerifier"]

_CANDIDATES = ("ratio", "cosine")
_FEWEST_PEOPLE = 4
_MOST_IMPOSTORS = 40_000


class _Cell(NamedTuple):
    """Weights of both candidates and the offset, for one number of pictures on either side."""

    ratio: float
    cosine: float
    offset: float


def _unit(X: np.ndarray) -> np.ndarray:
    unit: np.ndarray = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-30)
    return unit


def _place(sizes: np.ndarray, size: int) -> tuple[int, int, float]:
    """Neighbours of a size among the sorted ``sizes``, and the way to the second, in log size."""
    if size <= sizes[0]:
        return 0, 0, 0.0
    above = int(np.searchsorted(sizes, size))
    if above >= len(sizes):
        return len(sizes) - 1, len(sizes) - 1, 0.0
    low, high = np.log(sizes[above - 1]), np.log(sizes[above])
    return above - 1, above, float((np.log(size) - low) / (high - low))


def _interpolate(grid: np.ndarray, k: tuple[int, int, float], m: tuple[int, int, float]) -> Any:
    """Value of a grid (n_k, n_m, ...) between its nodes, linear in the logs of both sizes."""
    rows = (1 - k[2]) * grid[k[0]] + k[2] * grid[k[1]]
    return (1 - m[2]) * rows[m[0]] + m[2] * rows[m[1]]


class OpenSetVerifier(BaseEstimator):
    """Calibrated log ratios of sets of pictures, and thresholds that promise an error rate.

    Compares the pictures of a probe with the pictures of a person in a gallery: the exact ratio
    of the model for two sets and the cosine of their mean vectors are fused into one natural-log
    likelihood ratio, calibrated for each number of pictures. The false accept rates of held-out
    people over that ratio give the threshold below which a probe is "unknown".

    Parameters
    ----------
    model : JointBayesian or TransferJointBayesian
        Fitted on other people than those given to `fit`; or anything with ``cross_fit=True``.
    sizes : tuple of int, default=(1, 2, 3, 5, 8)
        Numbers of pictures on the gallery's side that are calibrated; what lies between is
        interpolated in log size. Sizes for which fewer than four people have enough pictures are
        left out, except the smallest.
    probe_sizes : tuple of int, default=(1, 3)
        The same for the probe's side (a track of a video has many pictures).
    candidates : tuple of {"ratio", "cosine"}, default=("ratio", "cosine")
        What is fused. Weights are not negative, so what does not help gets none.
    prior : float, default=0.01
        Share of genuine trials at which the calibration loss is weighed. In a gallery most
        comparisons are with others, so the ratios must be right where they are high.
    cross_fit : bool, default=False
        Whether to fit a clone of the model on the same people, each part scored by a model that
        did not see it, and at last one on all of them. For few people of one's own.
    n_folds : int, default=5
        Parts of the people, for ``cross_fit``.
    ridge : float, default=1e-4
        Penalty on the weights of the fusion (of scores scaled to variance one).
    n_errors : int, default=3
        False accepts that must be expected among the impostor trials before a rate is promised.
    random_state : int, RandomState or None, default=None
        Which pictures of a person are on which side.

    Attributes
    ----------
    model_ : JointBayesian
        The model that scores.
    features_ : str or None
        What the vectors are, as the model carries it.
    sizes_, probe_sizes_ : (n_m,), (n_k,)
        Sizes that were calibrated.
    coefficients_ : (n_k, n_m, 3)
        Weights of ratio and cosine, and the offset.
    far_levels_ : (n_levels,)
        False accept rates, rising.
    thresholds_ : (n_k, n_m, n_levels)
        The log ratio that each rate takes; NaN where the trials of that size are too few.
    tail_scale_ : (n_k, n_m)
        Mean excess of the highest impostor ratios, at the upper end of its 95 % interval.
    lowest_far_ : float
        Lowest rate that is promised.
    cllr_ : (n_k, n_m)
        Cllr of the fused ratio on the people it was fitted on.
    n_genuine_, n_impostor_ : (n_k, n_m)
        Trials.

    Notes
    -----
    The ratio of two sets depends on their sizes and sums (see `JointBayesian.score_sets`). A
    Gaussian model is overconfident, the more so the more pictures there are, because errors of
    one person's pictures go together; therefore scale and offset belong to a size. More pictures
    than the largest calibrated size count as that many with the same mean.

    Weighed at equal shares (Cllr), a straight calibration fits the middle and understates high
    ratios; weighed at a prior of 1 % it serves both (on held-out people of LFW, see the guide).

    A size whose trials are too few for a rate takes the threshold of the next smaller size that
    has it: with more pictures, impostors' ratios fall. A rate below all trials is refused, or,
    with ``extrapolate=True``, taken from an exponential tail through the highest impostor ratios.
    That is an assumption about look-alikes, not a promise. (The bound
    :math:`P(LLR > t) \\le e^{-t}` of any calibrated ratio needs no assumption, and no genuine
    pair of an embedding of unit length reaches it at the rates in question.)

    A gallery of n people gives a probe n chances. ``threshold(fpir=, n_people=)`` takes the rate
    a person :math:`1 - (1 - fpir)^{1/n}`; chances of one probe go together, which makes the true
    rate lower. Trials share people, so with few people the rate has more spread than the number
    of trials suggests. No vector of a person is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.verification import JointBayesian
    >>> rng = np.random.default_rng(0)
    >>> people = np.repeat(np.arange(300), 6)
    >>> X = 3 * rng.standard_normal((300, 6))[people] + rng.standard_normal((1800, 6))
    >>> model = JointBayesian().fit(X[:900], people[:900])
    >>> verifier = OpenSetVerifier(model, sizes=(1, 3), random_state=0).fit(X[900:], people[900:])
    >>> scores = verifier.score_sets([X[:1], X[6:7]], [X[1:4], X[7:10]])
    >>> scores.argmax(axis=1)
    array([0, 1])
    >>> bool(scores.max() > verifier.threshold(fpir=0.1, n_people=2))
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "model": [JointBayesian],
        "sizes": [list, tuple],
        "probe_sizes": [list, tuple],
        "candidates": [list, tuple],
        "prior": [Interval(Real, 0, 1, closed="neither")],
        "cross_fit": ["boolean"],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "n_errors": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        model: JointBayesian,
        sizes: tuple[int, ...] = (1, 2, 3, 5, 8),
        *,
        probe_sizes: tuple[int, ...] = (1, 3),
        candidates: tuple[str, ...] = _CANDIDATES,
        prior: float = 0.01,
        cross_fit: bool = False,
        n_folds: int = 5,
        ridge: float = 1e-4,
        n_errors: int = 3,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.sizes = sizes
        self.probe_sizes = probe_sizes
        self.candidates = candidates
        self.prior = prior
        self.cross_fit = cross_fit
        self.n_folds = n_folds
        self.ridge = ridge
        self.n_errors = n_errors
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Calibrate on vectors X (n, d) of people y (n,)."""
        if y is None:
            raise InputError("OpenSetVerifier requires y to be passed, but the target y is None")
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        y = check_labels("y", y, len(X))
        _, people = np.unique(y, return_inverse=True)
        counts = np.bincount(people)
        self._choose_sizes(counts)
        rng = check_random_state(self.random_state)
        parts = self._fit_models(X, y, people, rng)
        shape = len(self.probe_sizes_), len(self.sizes_)
        cells = [(i, j) for i in range(shape[0]) for j in range(shape[1])]
        coefficients = np.zeros((*shape, 3))
        self.cllr_ = np.zeros(shape)
        self.n_genuine_ = np.zeros(shape, dtype=np.int64)
        self.n_impostor_ = np.zeros(shape, dtype=np.int64)
        impostors: list[np.ndarray] = []
        for i, j in track(cells, "calibrating sets of pictures"):
            k, m = int(self.probe_sizes_[i]), int(self.sizes_[j])
            trials = join_trials(
                draw_trials(model, X, people, rows, k, m, rng) for model, rows in parts
            )
            cell = self._calibrate(trials, rng)
            coefficients[i, j] = cell
            self.cllr_[i, j] = trials.cllr(cell)
            self.n_genuine_[i, j] = np.count_nonzero(trials.same)
            self.n_impostor_[i, j] = np.count_nonzero(~trials.same)
            impostors.append(trials.fuse(cell)[~trials.same])
        self.coefficients_ = coefficients
        levels, thresholds, scales = tail_table(impostors, self.n_errors)
        self.far_levels_ = levels
        self.thresholds_ = thresholds.reshape(*shape, -1)
        self.tail_scale_ = scales.reshape(shape)
        self.lowest_far_ = float(levels[np.isfinite(self.thresholds_[0, 0])][0])
        return self

    def _choose_sizes(self, counts: np.ndarray) -> None:
        sizes = _check_sizes("sizes", self.sizes)
        probe_sizes = _check_sizes("probe_sizes", self.probe_sizes)
        unknown = [name for name in self.candidates if name not in _CANDIDATES]
        if unknown or not self.candidates:
            raise InputError(f"candidates must be among {_CANDIDATES}; got {self.candidates}")

        def useful(k: int, m: int) -> int:
            return int(np.count_nonzero(counts >= k + m))

        needed = _FEWEST_PEOPLE * (2 if self.cross_fit else 1)
        first = probe_sizes[0] + sizes[0]
        if useful(probe_sizes[0], sizes[0]) < needed:
            raise NotEnoughDataError(
                f"calibration needs at least {needed} people with {first} pictures or more; got "
                f"{useful(probe_sizes[0], sizes[0])} of {len(counts)} people"
            )
        kept = [m for m in sizes if useful(probe_sizes[0], m) >= needed]
        self.sizes_ = np.asarray(kept)
        self.probe_sizes_ = np.asarray([k for k in probe_sizes if useful(k, kept[-1]) >= needed])

    def _fit_models(
        self, X: np.ndarray, y: np.ndarray, people: np.ndarray, rng: np.random.RandomState
    ) -> list[tuple[JointBayesian, np.ndarray]]:
        """Models with the rows of people whom they did not see."""
        if not self.cross_fit:
            check_is_fitted(self.model, "projection_")
            if self.model.n_features_in_ != X.shape[1]:
                raise InputError(
                    f"the model has {self.model.n_features_in_} features; got {X.shape[1]}"
                )
            self.model_ = self.model
            self.features_ = self.model_.features_
            return [(self.model, np.arange(len(X)))]
        # Every part needs people enough for each size, or its genuine trials are none.
        largest = int(self.sizes_[-1] + self.probe_sizes_[-1])
        able = int(np.count_nonzero(np.bincount(people) >= largest))
        folds = list(hold_out_people(people, max(2, min(self.n_folds, able // 4)), rng))
        parts = [
            (clone(self.model).fit(X[train], y[train]), held)
            for train, held in track(folds, "held-out people")
        ]
        self.model_ = clone(self.model).fit(X, y)
        self.features_ = self.model_.features_
        return parts

    def _calibrate(self, trials: Trials, rng: np.random.RandomState) -> _Cell:
        """Weigh the candidates at equal shares, then scale their sum for few genuine trials."""
        columns = [_CANDIDATES.index(name) for name in dict.fromkeys(self.candidates)]
        thin = trials.thin(_MOST_IMPOSTORS, rng)
        scores = np.column_stack([thin.ratio, thin.cosine])[:, columns]
        slopes, offset = fit_logistic(
            scores, thin.same, balance_classes(thin.same), ridge=self.ridge
        )
        both = np.zeros(2)
        both[columns] = slopes
        fused = trials.fuse((float(both[0]), float(both[1]), offset))
        # Where few probes are genuine, the highest impostors decide: all of them are kept.
        rows, weights = trials.thin_low(fused, _MOST_IMPOSTORS, self.prior, rng)
        (scale,), shift = fit_logistic(
            fused[rows, None], trials.same[rows], weights, ridge=self.ridge * self.prior
        )
        shift += scale * offset - float(logit(self.prior))
        return _Cell(float(scale * both[0]), float(scale * both[1]), float(shift))

    # Scores.

    def score_sets(self, probes: Sequence[Any], galleries: Sequence[Any]) -> np.ndarray:
        """Calibrated log ratios (n_probes, n_galleries) of lists of (m_i, d) pictures."""
        self._check_fitted()
        return self.score_sums(
            *self._sum_sets("probes", probes), *self._sum_sets("galleries", galleries)
        )

    def score_pairs(self, X1: Any, X2: Any) -> np.ndarray:
        """Calibrated log ratios (n,) of the pairs ``X1[i], X2[i]``, one picture a side."""
        X1, X2 = self._check(X1), self._check(X2)
        if X1.shape != X2.shape:
            raise InputError(f"X1 and X2 must be pairs; got {X1.shape} and {X2.shape}")
        cell = self._cell(1, 1)
        cosines = np.einsum("ij,ij->i", _unit(X1), _unit(X2))
        ratios: np.ndarray = cell.ratio * self.model_.score_pairs(X1, X2)
        return ratios + cell.cosine * cosines + cell.offset

    def score_sums(self, k: Any, probe_sums: Any, m: Any, gallery_sums: Any) -> np.ndarray:
        """Calibrated log ratios (n, g) from numbers of pictures k (n,), m (g,) and their sums.

        Parameters
        ----------
        k, m : (n,), (g,) int
            Pictures of each probe and of each person.
        probe_sums, gallery_sums : (n, d), (g, d)
            Sums of their vectors.
        """
        left, s1 = self._count(np.asarray(k), self._check(probe_sums), self.probe_sizes_)
        right, s2 = self._count(np.asarray(m), self._check(gallery_sums), self.sizes_)
        unit1, unit2 = _unit(s1), _unit(s2)
        z1, z2 = self._coordinates(left, s1), self._coordinates(right, s2)
        psi = self.model_.ratios_[: self.model_.rank_].astype(z1.dtype)
        scores = np.empty((len(left), len(right)), dtype=np.result_type(z1, z2))
        for a in np.unique(left):
            rows = np.flatnonzero(left == a)
            for b in np.unique(right):
                columns = np.flatnonzero(right == b)
                cell = self._cell(int(a), int(b))
                weight = psi / (1 + float(a + b) * psi)
                block = (z1[rows] * (cell.ratio * weight)) @ z2[columns].T
                block += cell.cosine * (unit1[rows] @ unit2[columns].T)
                block += self._own(left[rows], z1[rows], int(a + b), cell)[:, None]
                block += self._own(right[columns], z2[columns], int(a + b), cell)[None, :]
                block += self._constant(int(a + b), cell)
                scores[np.ix_(rows, columns)] = block
        return scores

    def index_people(self, m: Any, gallery_sums: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The gallery's side of a search with single pictures of unit length.

        Returns
        -------
        vectors (g, d), constants (g,), sizes (g,)
            The calibrated ratio of probe x with person i is ``x @ vectors[i] + constants[i] +
            query_terms(x, sizes[i])``, exactly.
        """
        sizes, sums = self._count(np.asarray(m), self._check(gallery_sums), self.sizes_)
        z = self._coordinates(sizes, sums)
        psi = self.model_.ratios_[: self.model_.rank_].astype(z.dtype)
        projection = self.model_.projection_[:, : self.model_.rank_].astype(z.dtype)
        vectors = _unit(sums)
        constants = np.empty(len(sizes), dtype=z.dtype)
        for b in np.unique(sizes):
            rows = np.flatnonzero(sizes == b)
            cell = self._cell(1, int(b))
            weight = cell.ratio * psi / (1 + float(1 + b) * psi)
            bilinear = (z[rows] * weight) @ projection.T
            vectors[rows] = cell.cosine * vectors[rows] + bilinear
            constants[rows] = self._own(sizes[rows], z[rows], int(1 + b), cell)
            constants[rows] += self._constant(int(1 + b), cell)
            constants[rows] -= bilinear @ self.model_.mean_.astype(z.dtype)
        return vectors, constants, sizes

    def query_terms(self, X: Any, sizes: Any) -> np.ndarray:
        """What single probes X (n, d) add to their ratio with people of the sizes (q,): (n, q)."""
        X = self._check(X)
        ones = np.ones(len(X), dtype=np.int64)
        z = self._coordinates(ones, X)
        terms = [self._own(ones, z, int(1 + m), self._cell(1, int(m))) for m in np.asarray(sizes)]
        return np.column_stack(terms)

    def probability(self, log_ratios: Any, prior: float = 0.5) -> np.ndarray:
        """Probability that both sides show one person, under a stated prior."""
        if not 0 < prior < 1:
            raise InputError(f"prior must be between 0 and 1; got {prior}")
        probability: np.ndarray = expit(np.asarray(log_ratios) + logit(prior))
        return probability

    # Thresholds.

    def threshold(
        self,
        far: float | None = None,
        *,
        fpir: float | None = None,
        n_people: int | None = None,
        size: int | None = None,
        probe_size: int = 1,
        extrapolate: bool = False,
    ) -> float:
        """Log ratio above which a person is named, for a false accept or identification rate.

        Parameters
        ----------
        far : float
            Rate of impostors accepted as one given person.
        fpir : float
            Rate of unknown probes that are named as anybody, in a gallery of ``n_people``.
        n_people : int
            People in the gallery, with ``fpir``.
        size : int or None
            Pictures of the person; None takes the highest threshold of all sizes, which holds
            for every size.
        probe_size : int
            Pictures of the probe.
        extrapolate : bool
            Whether a rate below `lowest_far_` is taken from the exponential tail instead of
            being refused.

        Raises
        ------
        NotEnoughDataError
            The rate is below what the trials can promise.
        """
        self._check_fitted()
        rate = self.rate_per_person(fpir, n_people) if far is None else float(far)
        if (far is None) == (fpir is None) or not 0 < rate < 1:
            raise InputError(
                "give either far, or fpir with n_people, between 0 and 1; "
                f"got far={far}, fpir={fpir}"
            )
        if rate < self.lowest_far_ and not extrapolate:
            asked = f"{rate:.2g}" if fpir is None else f"{rate:.2g} a person ({fpir:g} of a probe)"
            raise NotEnoughDataError(
                f"not enough data to promise a false accept rate of {asked}: the lowest that "
                f"{int(self.n_impostor_[0, 0]):,} impostor trials of held-out people can promise "
                f"is {self.lowest_far_:.2g}; calibrate on more people, allow more errors, or ask "
                "for extrapolate=True, which assumes an exponential tail"
            )
        nodes = self._threshold_grid(rate)
        k = _place(self.probe_sizes_, probe_size)
        wanted = self.sizes_ if size is None else [size]
        return float(max(_interpolate(nodes, k, _place(self.sizes_, int(m))) for m in wanted))

    def rate_per_person(self, fpir: float | None, n_people: int | None) -> float:
        """False accept rate a person that gives ``fpir`` in a gallery of ``n_people``."""
        if fpir is None or n_people is None or not 0 < fpir < 1 or n_people < 1:
            raise InputError(
                "fpir must be between 0 and 1 and n_people at least 1; "
                f"got fpir={fpir}, n_people={n_people}"
            )
        return float(-np.expm1(np.log1p(-fpir) / n_people))

    def _threshold_grid(self, rate: float) -> np.ndarray:
        """Thresholds (n_k, n_m) of a rate, with what is borrowed or extrapolated."""
        # The next lower rate of the table: a threshold between two is rounded up.
        at = int(np.searchsorted(self.far_levels_, rate * (1 + 1e-9), side="right")) - 1
        grid = np.empty(self.thresholds_.shape[:2])
        for i, row in enumerate(self.thresholds_):
            for j, curve in enumerate(row):
                if at >= 0 and np.isfinite(curve[at]):
                    grid[i, j] = curve[at]
                elif at >= 0 and j > 0:
                    grid[i, j] = grid[i, j - 1]
                elif at >= 0 and i > 0:
                    grid[i, j] = grid[i - 1, j]
                else:
                    first = int(np.flatnonzero(np.isfinite(curve))[0])
                    beyond = np.log(self.far_levels_[first] / rate)
                    grid[i, j] = curve[first] + self.tail_scale_[i, j] * beyond
        return grid

    # What the methods above share.

    def _cell(self, k: int, m: int) -> _Cell:
        places = _place(self.probe_sizes_, k), _place(self.sizes_, m)
        return _Cell(*map(float, _interpolate(self.coefficients_, *places)))

    def _count(
        self, sizes: np.ndarray, sums: np.ndarray, known: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sizes and sums in which more pictures than are calibrated count as that many."""
        if sizes.shape != (len(sums),) or np.any(sizes < 1):
            raise InputError(
                f"every set needs its number of pictures, at least 1; got {sizes.shape} numbers "
                f"for {len(sums)} sets"
            )
        capped = np.minimum(sizes, known[-1])
        if np.any(capped < sizes):
            sums = sums * (capped / sizes).astype(sums.dtype)[:, None]
        return capped, sums

    def _coordinates(self, sizes: np.ndarray, sums: np.ndarray) -> np.ndarray:
        centred = sums - sizes[:, None].astype(sums.dtype) * self.model_.mean_.astype(sums.dtype)
        coordinates: np.ndarray = centred @ self.model_.projection_[:, : self.model_.rank_].astype(
            sums.dtype
        )
        return coordinates

    def _own(self, sizes: np.ndarray, z: np.ndarray, together: int, cell: _Cell) -> np.ndarray:
        """What one side alone adds to the ratio with ``together`` pictures on both sides."""
        psi = self.model_.ratios_[: self.model_.rank_].astype(z.dtype)
        weight = psi / (1 + together * psi)
        own: np.ndarray = 0.5 * (z**2 @ weight) - _evidence(sizes, z, psi)
        return cell.ratio * own

    def _constant(self, together: int, cell: _Cell) -> float:
        psi = self.model_.ratios_[: self.model_.rank_]
        return cell.offset - cell.ratio * 0.5 * float(np.log1p(together * psi).sum())

    def _sum_sets(self, name: str, sets: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        arrays = [np.atleast_2d(np.asarray(pictures)) for pictures in sets]
        if not arrays or any(pictures.size == 0 for pictures in arrays):
            raise InputError(f"{name} must be sets of at least one picture each")
        sizes = np.asarray([len(pictures) for pictures in arrays])
        vectors = self._check(np.concatenate(arrays))
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        return sizes, np.add.reduceat(vectors, starts, axis=0)

    def _check_fitted(self) -> None:
        check_is_fitted(self, "thresholds_")

    def _check(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "coefficients_")
        checked: np.ndarray = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return checked

    def _check_loaded(self) -> None:
        if not hasattr(self, "thresholds_"):
            return
        shape = len(self.probe_sizes_), len(self.sizes_)
        levels = self.far_levels_.shape
        if self.coefficients_.shape != (*shape, 3) or self.thresholds_.shape != shape + levels:
            raise ModelDamagedError("the tables of an OpenSetVerifier do not fit each other")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def __sklearn_clone__(self) -> OpenSetVerifier:
        params = self.get_params(deep=False)
        # A fitted model is what this estimator is given: a clone keeps it.
        model = params.pop("model")
        return type(self)(model, **{k: clone(v, safe=False) for k, v in params.items()})


def _check_sizes(name: str, sizes: Sequence[int]) -> list[int]:
    found = sorted({int(size) for size in sizes})
    if not found or found[0] < 1:
        raise InputError(f"{name} must be whole numbers from 1; got {tuple(sizes)}")
    return found
