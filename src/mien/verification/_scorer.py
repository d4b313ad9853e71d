"""Calibrated ratios and thresholds from plain arrays: what decides, once a verifier is fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np

from mien._core.validation import check_array
from mien.errors import InputError, ModelDamagedError
from mien.verification._ratios import (
    GaussianRatio,
    iter_sizes,
    own_evidence,
    set_ratios,
    sum_sets,
)
from mien.verification._thresholds import ThresholdTable, interpolate, place, rate_per_person

__all__ = [
    "CANDIDATES",
    "ComparesSets",
    "Scorer",
    "ScoresAndDecides",
    "compare_sets",
    "offered_candidates",
]

#: What may be fused.
CANDIDATES = ("ratio", "source", "cosine", "distance")
_BY_MODEL = ("ratio", "source")


def offered_candidates(model: Any) -> tuple[str, ...]:
    """What may be fused with a model: "source" only where it was transferred from one."""
    if hasattr(model, "source"):
        return CANDIDATES
    return tuple(name for name in CANDIDATES if name != "source")


def _unit(X: np.ndarray) -> np.ndarray:
    unit: np.ndarray = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-30)
    return unit


def _describe(
    name: str, ratio: GaussianRatio | None, sizes: np.ndarray, sums: np.ndarray
) -> np.ndarray:
    """What a candidate needs to know of sets: of their sizes (n,) and sums (n, d)."""
    if ratio is not None:
        return ratio.project_sums(sizes, sums)
    return _unit(sums) if name == "cosine" else sums / sizes[:, None].astype(sums.dtype)


def _compare(
    name: str, ratio: GaussianRatio | None, a: int, left: np.ndarray, b: int, right: np.ndarray
) -> np.ndarray:
    """Scores (n, g) by one candidate, of sets of a and of b pictures, described."""
    if ratio is not None:
        return set_ratios(a, left, b, right, ratio.psi.astype(left.dtype))
    if name == "cosine":
        return left @ right.T
    squares = np.sum(left**2, axis=1)[:, None] + np.sum(right**2, axis=1) - 2 * left @ right.T
    distances: np.ndarray = -np.sqrt(np.maximum(squares, 0))
    return distances


def _ratios_of(names: Sequence[str], model: Any) -> dict[str, GaussianRatio | None]:
    """The model's ratio that each candidate is, None for those that need no model."""
    held = {"ratio": model, "source": getattr(model, "source", None)}
    return {name: GaussianRatio.of(held[name]) if name in _BY_MODEL else None for name in names}


def compare_sets(
    names: Sequence[str], model: Any, probes: list[np.ndarray], galleries: list[np.ndarray]
) -> list[np.ndarray]:
    """Scores (n, g) per candidate, of equally large probe sets and equally large gallery sets."""
    ratios = _ratios_of(names, model)
    sides = []
    for sets in (probes, galleries):
        sums = np.stack(sets).sum(axis=1)
        sizes = np.full(len(sets), len(sets[0]))
        sides.append({name: _describe(name, ratios[name], sizes, sums) for name in names})
    a, b = len(probes[0]), len(galleries[0])
    return [_compare(name, ratios[name], a, sides[0][name], b, sides[1][name]) for name in names]


class ComparesSets(Protocol):
    """What is used of a Verifier or a Scorer by what calibrates their ratios."""

    @property
    def thresholds_(self) -> ThresholdTable:
        """Thresholds by rate and size."""

    def score_sums(self, k: Any, probe_sums: Any, m: Any, gallery_sums: Any) -> np.ndarray:
        """Log ratios (n, g) of sets of pictures from their numbers and sums."""

    def score_pairs(self, X1: Any, X2: Any) -> np.ndarray:
        """Log ratios (n,) of pairs of pictures."""


class ScoresAndDecides:
    """The scores, probabilities and thresholds of a `Verifier` and of its `Scorer`."""

    thresholds_: ThresholdTable

    @property
    def scorer(self) -> Scorer:
        """What scores and decides, as plain arrays; it takes vectors as the model sees them."""
        raise NotImplementedError

    def _prepare(self, name: str, X: Any) -> np.ndarray:
        """Vectors X (n, d), checked, as the model sees them; errors call them ``name``."""
        raise NotImplementedError

    def _check_ready(self) -> None:
        """Raise an error where there are no thresholds yet."""

    # Scores.

    def score_pairs(self, X1: Any, X2: Any) -> np.ndarray:
        """Calibrated log ratios of pairs of pictures, one picture on either side.

        Parameters
        ----------
        X1, X2 : (n, d)
            Vectors, one picture each; they are compared row by row.

        Returns
        -------
        (n,)
            Natural log-likelihood ratios as from :meth:`JointBayesian.score_pairs`, but fused with
            the other candidates and calibrated on the people that the verifier was fitted on.
        """
        return self.scorer._score_pairs(self._prepare("X1", X1), self._prepare("X2", X2))

    def score_matrix(self, X: Any, Y: Any = None) -> np.ndarray:
        """Calibrated log ratios of all pairs.

        Parameters
        ----------
        X : (n, d)
            Vectors, one picture each.
        Y : (m, d) or None
            Vectors to compare them with; None compares every two of X.

        Returns
        -------
        (n, m)
            Natural log-likelihood ratios. The memory is that of the result: score in blocks of rows
            where it would be too large.
        """
        left = self._prepare("X", X)
        right = left if Y is None else self._prepare("Y", Y)
        ones = [np.ones(len(side), dtype=np.int64) for side in (left, right)]
        return self.score_sums(ones[0], left, ones[1], right)

    def score_sets(self, probes: Sequence[Any], galleries: Sequence[Any]) -> np.ndarray:
        """Calibrated log ratios of sets of pictures.

        Parameters
        ----------
        probes : list of (k_i, d)
            Sets of vectors; each set shows one person, such as the faces of a track.
        galleries : list of (m_j, d)
            Sets to compare them with, such as the pictures that somebody was enrolled from.

        Returns
        -------
        (n_probes, n_galleries)
            Natural log-likelihood ratios, calibrated for the sizes of both sets: more pictures give
            more extreme ratios, in the right proportion.
        """
        return self.score_sums(
            *sum_sets("probes", probes, partial(self._prepare, "probes")),
            *sum_sets("galleries", galleries, partial(self._prepare, "galleries")),
        )

    def score_sums(self, k: Any, probe_sums: Any, m: Any, gallery_sums: Any) -> np.ndarray:
        """Calibrated log ratios (n, g) from numbers of pictures k (n,), m (g,) and their sums.

        Parameters
        ----------
        k, m : (n,), (g,) int
            Pictures of each probe and of each person.
        probe_sums, gallery_sums : (n, d), (g, d)
            Sums of their vectors, as the model sees them: after the earlier steps of a pipeline.
        """
        return self.scorer._score_sums(k, probe_sums, m, gallery_sums)

    # Decisions.

    def probability(self, log_ratios: Any, prior: float = 0.5) -> np.ndarray:
        """Probability that both sides show one person.

        Parameters
        ----------
        log_ratios : array-like
            Natural log-likelihood ratios, of any shape.
        prior : float
            Probability before the comparison, between 0 and 1. It is the caller's to state: 0.5
            says that both answers were equally likely, which is rarely true in a search.

        Returns
        -------
        array of the same shape
            Posterior probabilities, by Bayes' rule.
        """
        from scipy.special import expit, logit

        if not 0 < prior < 1:
            raise InputError(f"prior must be between 0 and 1; got {prior}")
        probability: np.ndarray = expit(check_array("log_ratios", log_ratios) + logit(prior))
        return probability

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
            Maximum share of impostors accepted as one given person.
        fpir : float
            Maximum share of unknown probes that are named as anybody in a gallery of ``n_people``.
        n_people : int
            People in the gallery, with ``fpir``.
        size : int or None
            Pictures of the person; None takes the highest threshold of all sizes, which holds
            for every size.
        probe_size : int
            Pictures of the probe.
        extrapolate : bool
            Whether a rate below ``thresholds_.lowest_far`` is taken from the exponential tail
            instead of being refused.

        Raises
        ------
        NotEnoughDataError
            The rate is below what the trials support.
        """
        self._check_ready()
        if (far is None) == (fpir is None):
            raise InputError(f"give either far, or fpir with n_people; got far={far}, fpir={fpir}")
        rate = rate_per_person(fpir, n_people) if far is None else float(far)
        return self.thresholds_.threshold(
            rate, size=size, probe_size=probe_size, extrapolate=extrapolate
        )


@dataclass(frozen=True, eq=False)
class Scorer(ScoresAndDecides):
    """What a fitted :class:`Verifier` compares and decides with: arrays, and nothing to fit.

    It is made by ``Verifier.scorer`` and read from a model file without scikit-learn, so that a
    command or a service that only decides starts fast. It scores vectors as the model sees them:
    the earlier steps of a pipeline are the verifier's. Attributes are named as those of
    :class:`Verifier`, so that either serves where only scores and thresholds are asked for.

    Parameters
    ----------
    model_ : JointBayesian, or whatever has its fitted attributes
        The model that scores, with its ``source`` if it was transferred.
    candidates_ : tuple of str
        What is fused, in the order of the coefficients.
    probe_sizes_, sizes_ : (n_k,), (n_m,)
        Numbers of pictures that were calibrated, of the probe and of the person.
    coefficients_ : (n_k, n_m, n_candidates + 1)
        Weights of the candidates, and the offset.
    thresholds_ : ThresholdTable
        Thresholds by rate and size, and the lowest rate that is supported.

    Attributes
    ----------
    features_ : str or None
        What the vectors are, as the model carries it.
    n_features_in_ : int
        Length of a vector.

    See Also
    --------
    Verifier : The estimator that makes one.

    Examples
    --------
    >>> from mien.recognition import load_source
    >>> scorer = load_source("sface").scorer
    >>> bool(scorer.threshold(far=1e-4) > scorer.threshold(far=1e-2))
    True
    """

    model_: Any
    candidates_: tuple[str, ...]
    probe_sizes_: np.ndarray
    sizes_: np.ndarray
    coefficients_: np.ndarray
    thresholds_: ThresholdTable
    _ratios: dict[str, GaussianRatio | None] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        shape = len(self.probe_sizes_), len(self.sizes_)
        table = self.thresholds_
        if (
            not isinstance(table, ThresholdTable)
            or table.values.shape[:2] != shape
            or np.shape(self.coefficients_) != (*shape, len(self.candidates_) + 1)
            or np.asarray(self.coefficients_).dtype.kind != "f"
            or any(name not in offered_candidates(self.model_) for name in self.candidates_)
        ):
            raise ModelDamagedError("the parts of a Verifier do not fit each other")
        object.__setattr__(self, "_ratios", _ratios_of(self.candidates_, self.model_))

    @property
    def features_(self) -> str | None:
        """What the vectors are."""
        features: str | None = self.model_.features_
        return features

    @property
    def n_features_in_(self) -> int:
        """Length of a vector."""
        return len(self.model_.mean_)

    @property
    def scorer(self) -> Scorer:
        """This scorer."""
        return self

    def index_people(self, m: Any, gallery_sums: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The gallery's side of a search with single pictures of unit length.

        Parameters
        ----------
        m : (g,) int
            Pictures of each person.
        gallery_sums : (g, d)
            Sums of their vectors.

        Returns
        -------
        vectors (g, d), constants (g,), sizes (g,)
            The calibrated ratio of probe x with person i is ``x @ vectors[i] + constants[i] +
            query_terms(x, sizes[i])``, exactly.
        """
        sizes, sums = self._cap(m, gallery_sums, self.sizes_)
        described = self._describe_all(sizes, sums)
        vectors = np.zeros_like(sums)
        constants = np.empty(len(sizes), dtype=sums.dtype)
        for b in np.unique(sizes):
            rows = np.flatnonzero(sizes == b)
            *weights, offset = self._cell(1, int(b))
            constants[rows] = offset
            for (name, ratio), weight in zip(self._ratios.items(), weights, strict=True):
                mine = described[name][rows]
                if weight == 0:
                    continue
                if name == "distance":
                    raise InputError("a distance cannot be searched as an inner product")
                if ratio is None:
                    vectors[rows] += weight * mine
                    continue
                psi = ratio.psi.astype(mine.dtype)
                projection = ratio.projection.astype(mine.dtype)
                bilinear = (mine * (weight * psi / (1 + float(1 + b) * psi))) @ projection.T
                vectors[rows] += bilinear
                constants[rows] += weight * own_evidence(int(b), mine, int(1 + b), psi)
                constants[rows] -= weight * 0.5 * float(np.log1p(float(1 + b) * psi).sum())
                constants[rows] -= bilinear @ ratio.mean.astype(mine.dtype)
        return vectors, constants, sizes

    def query_terms(self, X: Any, sizes: Any) -> np.ndarray:
        """The part of a ratio that a probe contributes by itself.

        Parameters
        ----------
        X : (n, d)
            Single probes.
        sizes : (q,) int
            Numbers of pictures of the people that they are compared with.

        Returns
        -------
        (n, q)
            Terms to add to an inner product with a person's vector: they depend on the probe and on
            the number of pictures, not on who the person is.
        """
        X = self._prepare("X", X)
        terms = np.zeros((len(X), len(np.asarray(sizes))), dtype=X.dtype)
        for index, ratio in enumerate(self._ratios.values()):
            if ratio is None:
                continue
            z, psi = ratio.project(X), ratio.psi.astype(X.dtype)
            for column, m in enumerate(np.asarray(sizes)):
                weight = self._cell(1, int(m))[index]
                terms[:, column] += weight * own_evidence(1, z, int(1 + m), psi)
        return terms

    # What the methods above share.

    def _score_pairs(self, X1: np.ndarray, X2: np.ndarray) -> np.ndarray:
        if X1.shape != X2.shape:
            raise InputError(f"X1 and X2 must be pairs; got {X1.shape} and {X2.shape}")
        *weights, offset = self._cell(1, 1)
        scores = np.full(len(X1), offset, dtype=np.result_type(X1, X2))
        for (name, ratio), weight in zip(self._ratios.items(), weights, strict=True):
            if weight == 0:
                continue
            if ratio is not None:
                scores += weight * ratio.score_pairs(X1, X2)
            elif name == "cosine":
                scores += weight * np.einsum("ij,ij->i", _unit(X1), _unit(X2))
            else:
                scores -= weight * np.linalg.norm(X1 - X2, axis=1)
        return scores

    def _score_sums(self, k: Any, probe_sums: Any, m: Any, gallery_sums: Any) -> np.ndarray:
        left, s1 = self._cap(k, probe_sums, self.probe_sizes_)
        right, s2 = self._cap(m, gallery_sums, self.sizes_)
        sides = [self._describe_all(sizes, sums) for sizes, sums in ((left, s1), (right, s2))]
        scores = np.empty((len(left), len(right)), dtype=np.result_type(s1, s2))
        for a, rows, b, columns in iter_sizes(left, right):
            *weights, offset = self._cell(a, b)
            block = np.full((len(rows), len(columns)), offset, dtype=scores.dtype)
            for (name, ratio), weight in zip(self._ratios.items(), weights, strict=True):
                if weight:
                    one, two = sides[0][name][rows], sides[1][name][columns]
                    block += weight * _compare(name, ratio, a, one, b, two)
            scores[np.ix_(rows, columns)] = block
        return scores

    def _prepare(self, name: str, X: Any) -> np.ndarray:
        return check_array(name, X, shape=("n", self.n_features_in_), allow_empty=False)

    def _describe_all(self, sizes: np.ndarray, sums: np.ndarray) -> dict[str, np.ndarray]:
        return {name: _describe(name, r, sizes, sums) for name, r in self._ratios.items()}

    def _cell(self, k: int, m: int) -> list[float]:
        places = place(self.probe_sizes_, k), place(self.sizes_, m)
        return [float(value) for value in interpolate(self.coefficients_, *places)]

    def _cap(self, sizes: Any, sums: Any, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sizes and sums in which more pictures than are calibrated count as that many."""
        sums = self._prepare("sums", sums)
        sizes = np.asarray(sizes)
        whole = sizes.dtype.kind in "iuf" and bool(np.all(sizes == np.floor(sizes)))
        if sizes.shape != (len(sums),) or not whole or not np.all(sizes >= 1):
            raise InputError(
                f"every set needs its number of pictures, at least 1; got {sizes.shape} numbers "
                f"for {len(sums)} sets"
            )
        capped = np.minimum(sizes, known[-1])
        if np.any(capped < sizes):
            sums = sums * (capped / sizes).astype(sums.dtype)[:, None]
        return capped, sums
