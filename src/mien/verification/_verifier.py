"""From a model's ratio to calibrated evidence and decisions at a stated rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import logit
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from mien._core.constraints import (
    AT_LEAST_TWO,
    NON_NEGATIVE,
    POSITIVE,
    POSITIVE_INTEGER,
    PROBABILITY,
)
from mien._core.logistic import balance_classes, fit_logistic
from mien._core.pairs import score_all_pairs, share_in_order
from mien._core.parallel import map_tasks
from mien._core.progress import track
from mien._core.rows import validate_rows
from mien._core.validation import check_labels
from mien.errors import InputError, ModelDamagedError, NotEnoughDataError
from mien.verification._joint_bayesian import JointBayesian
from mien.verification._scorer import (
    Scorer,
    ScoresAndDecides,
    compare_sets,
    offered_candidates,
)
from mien.verification._selection import hold_out_people
from mien.verification._set_trials import ScoreSets, Trials, draw_trials, join_trials
from mien.verification._steps import KeepsFitted, apply_steps, split_steps
from mien.verification._thresholds import ThresholdTable

__all__ = ["Verifier"]

_FITTED = (
    "candidates_",
    "sizes_",
    "probe_sizes_",
    "coefficients_",
    "thresholds_",
    "cllr_",
    "n_genuine_",
    "n_impostor_",
)
_MIN_PEOPLE = 4
_MAX_IMPOSTORS = 40_000


def _fit_rows(rows: np.ndarray, model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """A model like this one, fitted to some of the vectors."""
    return clone(model).fit(X[rows], y[rows])


def _set_scores(names: tuple[str, ...], model: JointBayesian) -> ScoreSets:
    """Scores of equally large probe sets and equally large gallery sets, per candidate."""
    return lambda probes, galleries: compare_sets(names, model, probes, galleries)


class Verifier(ScoresAndDecides, KeepsFitted, BaseEstimator):
    """Calibrated likelihood ratios of pictures and of sets of pictures, with thresholds.

    Compares the pictures of a probe with the pictures of a person: the exact ratio of the model
    for the two sets and the cosine of their mean vectors are fused into one natural-log
    likelihood ratio, calibrated for each number of pictures. A pair is a set of one against a set
    of one. The false accept rates of held-out people over that ratio give thresholds for decisions
    at a stated rate: "is it the same person?" and "who is it, or nobody we know?".

    Parameters
    ----------
    model : JointBayesian, TransferJointBayesian, or a Pipeline that ends in one
        Fitted on other people than those given to `fit`; or, with ``cross_fit=True``, fitted or
        not. In a pipeline the earlier steps are applied to every vector first.
    sizes : tuple of int, default=(1, 2, 3, 5, 8)
        Numbers of pictures per person that are calibrated; what lies between is interpolated in
        the log of the size, and more pictures than the largest count as that many with the same
        mean. Sizes for which fewer than four people have enough pictures are left out, except
        the smallest. ``(1,)`` is enough, and faster, if only pairs will be compared.
    probe_sizes : tuple of int, default=(1, 3)
        The same for the probe (a track of a video has many pictures).
    candidates : tuple of {"ratio", "source", "cosine", "distance"}, default=("ratio", "cosine")
        What is fused: the model's ratio, that of the source of a transferred model, the cosine
        and the negative Euclidean distance of the mean vectors. Weights are not negative, so
        what does not help gets none. Take ``("ratio",)`` for fewer than about twenty people: two
        weights cannot be told apart then. A gallery cannot search by "distance".
    prior : float, default=0.01
        Share of genuine trials at which the loss of the calibration is weighed. In a gallery most
        comparisons are with others, so ratios must be right where they are high; 0.5 is Cllr
        itself and suits pairs of which half are genuine.
    far : float, default=0.001
        False accept rate of :meth:`decide` where none is given.
    cross_fit : bool, default=False
        Whether to fit clones of the model on the same people, each part of them scored by a model
        that did not see it, and at last one on all of them. For few people of one's own.
    n_splits : int, default=5
        Parts of the people, for ``cross_fit``. Fewer parts leave more impostor trials per part.
    ridge : float, default=1e-4
        Penalty on the weights of the fusion (of scores scaled to variance one). Raise it to 1e-2
        for few people, whose scores are easily separable.
    n_errors : int, default=3
        False accepts that must be expected among the impostor trials before a rate is supported:
        a rate needs ``n_errors / rate`` trials.
    tail_scale : float or None, default=None
        Scale in nats of the impostor tail of a verifier of many people, which then counts as
        twenty trials when rates are extrapolated. See :meth:`ThresholdTable.borrow_tail`.
    random_state : int, RandomState or None, default=None
        Which pictures of a person are on which side, and who is in which part.

    Attributes
    ----------
    model_ : JointBayesian
        The model that scores.
    steps_ : Pipeline or None
        What is done to vectors before the model sees them.
    features_ : str or None
        What the vectors are, as the model carries it.
    sizes_, probe_sizes_ : (n_m,), (n_k,)
        Sizes that were calibrated.
    candidates_ : tuple of str
        What is fused, in the order of the coefficients.
    coefficients_ : (n_k, n_m, n_candidates + 1)
        Weights of the candidates, and the offset.
    thresholds_ : ThresholdTable
        Thresholds by rate and size, and the lowest rate that is supported.
    cllr_ : (n_k, n_m)
        Cllr in bits of the fused ratio on the people it was fitted on.
    n_genuine_, n_impostor_ : (n_k, n_m)
        Trials.

    See Also
    --------
    JointBayesian : The model.
    TransferJointBayesian : The model for few people of one's own.
    ThresholdTable : The thresholds.
    mien.gallery.Gallery : People to search with a verifier.

    Notes
    -----
    The ratio of two sets depends on their sizes and sums (see `JointBayesian.score_sets`). A
    Gaussian model is overconfident, the more so the more pictures there are, because errors of
    one person's pictures are correlated; therefore scale and offset belong to a size. With
    candidates :math:`s_c` the ratio is :math:`\\ell = \\sum_c w_c s_c + b`, where :math:`w \\ge 0`
    and b minimise

    .. math:: \\frac{\\pi}{N_1} \\sum_{same} \\log(1 + e^{-\\ell - \\mathrm{logit}\\,\\pi}) +
       \\frac{1 - \\pi}{N_0} \\sum_{other} \\log(1 + e^{\\ell + \\mathrm{logit}\\,\\pi})

    in two steps: the weights at :math:`\\pi = 1/2`, then a common scale and the offset at
    :math:`\\pi` = `prior`. Weighed at equal shares, a straight calibration fits the middle and
    understates high ratios; weighed at 1 % it serves both (on held-out people of LFW, see the
    guide). For any calibrated ratio :math:`P(\\ell > t) \\le e^{-t}`; thresholds of real data are
    far below that bound.

    A gallery of n people gives a probe n chances: ``threshold(fpir=, n_people=)`` takes the rate
    per comparison :math:`1 - (1 - fpir)^{1/n}`. Trials share people, so with few people the rate
    has more spread than the number of trials suggests. No vector of a person is kept.

    References
    ----------
    [Brummer2006]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.verification import JointBayesian, Verifier
    >>> rng = np.random.default_rng(0)
    >>> people = np.repeat(np.arange(300), 6)
    >>> X = 5 * rng.standard_normal((300, 6))[people] + rng.standard_normal((1800, 6))
    >>> model = JointBayesian().fit(X[:900], people[:900])
    >>> verifier = Verifier(model, sizes=(1, 3), random_state=0).fit(X[900:], people[900:])
    >>> verifier.decide(X[:1], X[1:2], far=0.01)
    array([ True])
    >>> scores = verifier.score_sets([X[:1], X[6:7]], [X[1:4], X[7:10]])
    >>> scores.argmax(axis=1)
    array([0, 1])
    >>> bool(scores.max() > verifier.threshold(fpir=0.1, n_people=2))
    True
    """

    _kept = "model"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "model": [JointBayesian, Pipeline],
        "sizes": [list, tuple],
        "probe_sizes": [list, tuple],
        "candidates": [list, tuple],
        "prior": [PROBABILITY],
        "far": [PROBABILITY],
        "cross_fit": ["boolean"],
        "n_splits": [AT_LEAST_TWO],
        "ridge": [NON_NEGATIVE],
        "n_errors": [POSITIVE_INTEGER],
        "tail_scale": [POSITIVE, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        model: JointBayesian | Pipeline,
        sizes: tuple[int, ...] = (1, 2, 3, 5, 8),
        *,
        probe_sizes: tuple[int, ...] = (1, 3),
        candidates: tuple[str, ...] = ("ratio", "cosine"),
        prior: float = 0.01,
        far: float = 0.001,
        cross_fit: bool = False,
        n_splits: int = 5,
        ridge: float = 1e-4,
        n_errors: int = 3,
        tail_scale: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.sizes = sizes
        self.probe_sizes = probe_sizes
        self.candidates = candidates
        self.prior = prior
        self.far = far
        self.cross_fit = cross_fit
        self.n_splits = n_splits
        self.ridge = ridge
        self.n_errors = n_errors
        self.tail_scale = tail_scale
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Calibrate on people whom the model did not see, or on all of them with ``cross_fit``.

        Parameters
        ----------
        X : (n, d)
            Vectors.
        y : (n,)
            The people, any labels; at least four (eight with ``cross_fit``) with two pictures.
        """
        if y is None:
            raise InputError("Verifier requires y to be passed, but the target y is None")
        X = validate_rows(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        y = check_labels("y", y, len(X))
        _, people = np.unique(y, return_inverse=True)
        self.candidates_ = self._check_candidates()
        self._choose_sizes(np.bincount(people))
        rng = check_random_state(self.random_state)
        parts = self._fit_models(X, y, people, rng)
        shape = len(self.probe_sizes_), len(self.sizes_)
        cells = [(i, j) for i in range(shape[0]) for j in range(shape[1])]
        coefficients = np.zeros((*shape, len(self.candidates_) + 1))
        self.cllr_ = np.zeros(shape)
        self.n_genuine_ = np.zeros(shape, dtype=np.int64)
        self.n_impostor_ = np.zeros(shape, dtype=np.int64)
        impostors: list[np.ndarray] = []
        for i, j in track(cells, "calibrating sets of pictures"):
            k, m = int(self.probe_sizes_[i]), int(self.sizes_[j])
            trials = join_trials(
                draw_trials(score, Z, people, rows, k, m, rng) for score, Z, rows in parts
            )
            cell = self._calibrate(trials, rng)
            coefficients[i, j] = cell
            self.cllr_[i, j] = trials.cllr(cell)
            self.n_genuine_[i, j] = np.count_nonzero(trials.same)
            self.n_impostor_[i, j] = np.count_nonzero(~trials.same)
            impostors.append(trials.fuse(cell)[~trials.same])
        self.coefficients_ = coefficients
        table = ThresholdTable.from_impostors(
            self.probe_sizes_, self.sizes_, impostors, self.n_errors
        )
        self.thresholds_ = table if self.tail_scale is None else table.borrow_tail(self.tail_scale)
        return self

    def _check_candidates(self) -> tuple[str, ...]:
        offered = offered_candidates(split_steps(self.model)[1])
        if not self.candidates or any(name not in offered for name in self.candidates):
            raise InputError(f"candidates must be among {offered}; got {self.candidates}")
        return tuple(dict.fromkeys(self.candidates))

    def _choose_sizes(self, counts: np.ndarray) -> None:
        sizes = _check_sizes("sizes", self.sizes)
        probe_sizes = _check_sizes("probe_sizes", self.probe_sizes)

        def useful(k: int, m: int) -> int:
            return int(np.count_nonzero(counts >= k + m))

        needed = _MIN_PEOPLE * (2 if self.cross_fit else 1)
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
    ) -> list[tuple[ScoreSets, np.ndarray, np.ndarray]]:
        """Scores of sets, vectors as the model sees them, and rows of people it did not see."""
        if not self.cross_fit:
            self._adopt(self.model)
            if self.model.n_features_in_ != X.shape[1]:
                raise InputError(
                    f"the model has {self.model.n_features_in_} features; got {X.shape[1]}"
                )
            score = _set_scores(self.candidates_, self.model_)
            return [(score, apply_steps(self.steps_, X), np.arange(len(X)))]
        # Every part needs people enough for each size, or its genuine trials are none.
        largest = int(self.sizes_[-1] + self.probe_sizes_[-1])
        able = int(np.count_nonzero(np.bincount(people) >= largest))
        folds = list(hold_out_people(people, max(2, min(self.n_splits, able // 4)), rng))
        rows = [train for train, _ in folds]
        models = map_tasks(_fit_rows, rows, self.model, X, y, words="held-out people")
        parts = []
        for fitted, (_, held) in zip(models, folds, strict=True):
            steps, model = split_steps(fitted)
            parts.append((_set_scores(self.candidates_, model), apply_steps(steps, X), held))
        self._adopt(clone(self.model).fit(X, y))
        return parts

    def _adopt(self, model: Any) -> None:
        self.steps_, self.model_ = split_steps(model)
        if not isinstance(self.model_, JointBayesian):
            raise InputError(
                "a Verifier needs a JointBayesian, or a pipeline that ends in one; got "
                f"{type(self.model_).__name__}"
            )
        if getattr(self.model_, "steps_", None) is not None:
            raise InputError(
                "the source of the model is a pipeline: put its steps before the model, "
                "make_pipeline(*source[:-1], TransferJointBayesian(source[-1]))"
            )
        check_is_fitted(self.model_, "projection_")
        self.features_ = self.model_.features_

    def _calibrate(self, trials: Trials, rng: np.random.RandomState) -> np.ndarray:
        """Weigh the candidates at equal shares, then scale their sum for few genuine trials."""
        thin = trials.thin(_MAX_IMPOSTORS, rng)
        weights, offset = fit_logistic(
            thin.scores, thin.same, balance_classes(thin.same), ridge=self.ridge
        )
        fused = trials.fuse(np.append(weights, offset))
        # Where few probes are genuine, the highest impostors decide: all of them are kept.
        rows, shares = trials.thin_low(fused, _MAX_IMPOSTORS, self.prior, rng)
        (scale,), shift = fit_logistic(
            fused[rows, None], trials.same[rows], shares, ridge=self.ridge * self.prior
        )
        shift += scale * offset - float(logit(self.prior))
        return np.append(scale * weights, shift)

    # Scores.

    @property
    def scorer(self) -> Scorer:
        """What scores and decides, as plain arrays; it takes vectors as the model sees them."""
        self._check_ready()
        return Scorer(
            self.model_,
            self.candidates_,
            self.probe_sizes_,
            self.sizes_,
            self.coefficients_,
            self.thresholds_,
        )

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
            Between 0 and 1; see :class:`mien.evaluation.PairScorer` for other measures.
        """
        return share_in_order(*score_all_pairs(self, X, y))

    # Decisions.

    def decide(self, X1: Any, X2: Any, far: float | None = None) -> np.ndarray:
        """Whether each pair ``X1[i], X2[i]`` is accepted (n,) at a false accept rate.

        Parameters
        ----------
        X1, X2 : (n, d)
            Vectors.
        far : float or None
            The rate; None takes the parameter `far`.

        Raises
        ------
        NotEnoughDataError
            The trials do not support the rate.
        """
        scores = self.score_pairs(X1, X2)
        return scores >= self.threshold(self.far if far is None else far, size=1)

    def explain(self) -> list[dict[str, Any]]:
        """How the candidates were weighed, for a report.

        Returns
        -------
        list of dict
            One row per pair of sizes (pictures of the probe, pictures of the person), with the
            weight of each candidate, the offset, Cllr in bits, and the numbers of genuine and
            impostor trials of held-out people.
        """
        check_is_fitted(self, "coefficients_")
        rows = []
        for i, k in enumerate(self.probe_sizes_.tolist()):
            for j, m in enumerate(self.sizes_.tolist()):
                *weights, offset = self.coefficients_[i, j].tolist()
                rows.append(
                    {"pictures of the probe": k, "pictures of the person": m}
                    | dict(zip(self.candidates_, weights, strict=True))
                    | {"offset": offset, "Cllr": float(self.cllr_[i, j])}
                    | {"impostor trials": int(self.n_impostor_[i, j])}
                )
        return rows

    # Files.

    def slim(self) -> Verifier:
        """A copy for sharing: the model in single precision, without statistics of people."""
        self._check_ready()
        model = self.model_.slim()
        copy = type(self)(**{**self.get_params(deep=False), "model": model})
        if self.steps_ is not None:
            copy.model = Pipeline([*self.steps_.steps, ("model", model)])
        for name in (*_FITTED, "steps_", "features_", "n_features_in_"):
            setattr(copy, name, getattr(self, name))
        copy.model_ = model
        return copy

    def to_arrays(self) -> dict[str, Any]:
        """Plain values that :meth:`from_arrays` takes back, for saving; the model is there once."""
        settings = self.get_params(deep=False)
        model = settings.pop("model")
        if not hasattr(self, "thresholds_"):
            return {"settings": settings, "model": model, "fitted": None}
        model = self.model_
        if self.steps_ is not None:
            model = Pipeline([*self.steps_.steps, ("model", model)])
        fitted = {name: getattr(self, name) for name in _FITTED}
        return {"settings": settings, "model": model, "fitted": fitted}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> Verifier:
        """Build the verifier from :meth:`to_arrays`, after checking that its parts fit."""
        settings, fitted = arrays["settings"], arrays["fitted"]
        if set(settings) != set(cls._get_param_names()) - {"model"}:
            raise ModelDamagedError("a Verifier has missing or unknown settings")
        verifier = cls(arrays["model"], **settings)
        verifier._validate_params()
        if fitted is None:
            return verifier
        if set(fitted) != set(_FITTED):
            raise ModelDamagedError("a Verifier has missing or unknown parts")
        for name in _FITTED:
            setattr(verifier, name, fitted[name])
        verifier._adopt(arrays["model"])
        verifier.n_features_in_ = int(verifier.model.n_features_in_)
        if any(
            np.shape(fitted[name]) != np.shape(verifier.coefficients_)[:2]
            for name in ("cllr_", "n_genuine_", "n_impostor_")
        ):
            raise ModelDamagedError("the parts of a Verifier do not fit each other")
        verifier.scorer  # noqa: B018 - raises an error where its parts do not fit
        return verifier

    # What the methods above share.

    def _prepare(self, name: str, X: Any) -> np.ndarray:
        self._check_ready()
        checked = validate_rows(self, X, reset=False, dtype=[np.float64, np.float32])
        return apply_steps(self.steps_, checked)

    def _check_ready(self) -> None:
        check_is_fitted(self, "thresholds_")

    def _is_shared(self) -> bool:
        return not self.cross_fit

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def __sklearn_clone__(self) -> Verifier:
        params = self.get_params(deep=False)
        # A fitted model is what this estimator is given: a clone keeps it, unless it is only the
        # pattern of those that will be fitted.
        model = params.pop("model")
        if self.cross_fit:
            model = clone(model)
        return type(self)(model, **{k: clone(v, safe=False) for k, v in params.items()})


def _check_sizes(name: str, sizes: Sequence[int]) -> list[int]:
    found = sorted({int(size) for size in sizes})
    if not found or found[0] < 1:
        raise InputError(f"{name} must be whole numbers from 1; got {tuple(sizes)}")
    return found
