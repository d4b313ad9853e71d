"""Where impostors lie in one's own pictures: the shipped calibration is the prior, people move it.

A score is measured as a *deviate*: the normal deviate z of the rate at which impostors of the
shipped calibration reach it with that number of pictures, so that one in six lies above 1, one in
a thousand above 3.09. Impostors of another camera or crowd have deviates that are shifted and
stretched about 1, with a tail that is a little longer or shorter. A few people of one's own say by
how much; the prior says how much it was for other cameras and crowds; and the rate at which a
decision errs is the mean over what both leave open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np
from scipy.special import expit, ndtr, ndtri

from mien.errors import InputError

__all__ = [
    "ImpostorBelief",
    "ImpostorCurve",
    "ImpostorEvidence",
    "ImpostorPrior",
    "mean_variance",
    "measure_impostors",
    "measure_unnamed",
    "stretch_variance",
    "update_belief",
    "wide_part",
]

#: Levels (from above) at which the quantiles of one's own impostors are compared with the shape:
#: the upper part, which decides, and not the highest, where a wrong label or a person with two
#: names would be.
_LEVELS = np.array([0.3, 0.16, 0.07, 0.025])
#: Where the tail begins.
_TAIL = 0.025
#: Where excesses over the beginning of the tail are clipped.
_CLIP = 1e-4
#: Share and width of the wider part of the prior of the shift: together with the narrow one about a
#: t distribution with two degrees of freedom, as three families of domains leave them.
_WIDE_SHARE, _WIDE = 0.5, 3.0
#: Deviate from which on the end of all scores is felt, and the slope at which spreading ends.
_BEND_FROM, _STEEPEST = 2.5, 8.0
#: Shift from which on the stretch grows no more.
_FARTHEST = 2.0
#: Pictures per person with which the stretch no longer grows with the shift.
_MANY_PICTURES = 3
#: What priors held once, and what is left out where an old one is read.
_FORMER = frozenset({"tail_slope"})
#: Lowest rate of the shipped calibration that is taken as a node.
_LOWEST = 1e-4
#: Share of the variance of an impostor score that belongs to one of the two people.
_PERSON_SHARE = 0.02
#: Variance of the log stretch that four quantiles of one normal deviate per pair give, in units of
#: one over the number of pairs: 3.1 to 3.6 in simulations of 5 to 50 people (a test repeats them).
_STRETCH_VARIANCE = 3.2


@dataclass(frozen=True)
class ImpostorCurve:
    """Scores as deviates of the shipped impostors, for one number of pictures on either side.

    Attributes
    ----------
    deviates : (l,)
        Normal deviates of rates, rising.
    scores : (l,)
        Score that impostors exceed at that rate, rising.

    Notes
    -----
    Between the nodes, and beyond them, scores are straight in the deviate: beyond the last one
    with the slope of the last decade of rates. That is a normal tail and not an exponential one.
    Rates below one in ten thousand are not used: there lie the wrong labels of LFW, one person
    under two names, and what they say is not the tail of two people.
    """

    deviates: np.ndarray
    scores: np.ndarray

    @classmethod
    def from_thresholds(cls, rates: np.ndarray, thresholds: np.ndarray) -> ImpostorCurve:
        """Curve of thresholds (l,) at false accept rates (l,); NaN where there is none."""
        kept = np.isfinite(thresholds) & (rates >= _LOWEST) & (rates < 1)
        order = np.argsort(-rates[kept], kind="stable")
        deviates = -ndtri(rates[kept][order])
        scores = np.maximum.accumulate(np.asarray(thresholds, dtype=np.float64)[kept][order])
        if len(deviates) < 3 or not scores[-1] > scores[0]:
            raise InputError("a curve needs thresholds at three rates or more, and they must rise")
        # Equal thresholds would have no inverse.
        step = 1e-9 * (scores[-1] - scores[0])
        return cls(deviates, scores + step * np.arange(len(scores)))

    def to_deviates(self, scores: float | np.ndarray) -> np.ndarray:
        """Deviates of scores (any shape)."""
        return _follow(self.scores, self.deviates, scores, self._ends())

    def to_scores(self, deviates: float | np.ndarray) -> np.ndarray:
        """Scores of deviates (any shape), the inverse of `to_deviates`."""
        return _follow(self.deviates, self.scores, deviates, self._ends())

    def _ends(self) -> tuple[slice, slice]:
        """Nodes through which the first and the last straight line are laid."""
        last = int(np.searchsorted(self.deviates, -ndtri(min(10 * ndtr(-self.deviates[-1]), 0.4))))
        last = min(last, len(self.deviates) - 2)
        first = max(1, int(np.searchsorted(self.deviates, self.deviates[0] + 0.5)))
        return slice(0, min(first, len(self.deviates) - 1) + 1), slice(last, None)


def _follow(
    x: np.ndarray, y: np.ndarray, values: float | np.ndarray, ends: tuple[slice, slice]
) -> np.ndarray:
    """Piecewise straight line through the nodes (x, y), and straight on beyond them."""
    values = np.asarray(values, dtype=np.float64)
    low, high = ends
    below = (y[low][-1] - y[0]) / (x[low][-1] - x[0])
    above = (y[-1] - y[high][0]) / (x[-1] - x[high][0])
    found: np.ndarray = np.interp(values, x, y)
    found = np.where(values < x[0], y[0] + below * (values - x[0]), found)
    return np.where(values > x[-1], y[-1] + above * (values - x[-1]), found)


@dataclass(frozen=True)
class ImpostorPrior:
    """What shift, stretch and tail are for cameras and crowds in general.

    Attributes
    ----------
    shift, log_stretch, log_tail : float
        Their centres, for one kind of impostors; zeros are the shipped calibration as it is.
    shift_sd, log_stretch_sd, log_tail_sd : float
        How much they differ between domains.
    alike, alike_stretch : float
        What of the shift and of the log stretch is there because impostors are taken to look alike.
        One's own people show how much they do: with evidence, half is expected, give or take half.
    crowd_sd : float
        How much the shift of those who come to the door differs from those enrolled.
    looks_sd : float
        How much the shift differs between crowds of one look. It counts in what is promised, as the
        crowd at the door may be of a look of its own, and not in what is expected.
    far_share, far_sd : float
        Weight and standard deviation of the widest part of the prior: domains that are like none.
    wide_sd : float
        Standard deviation of the wider part that the prior of the shift has beside evidence; 0 is
        three times the narrow one's.
    ceiling : float
        Deviate of the highest score there is, that of a picture with itself; 0 where it is unknown.
    bend : float
        How much deviates near the ceiling are spread, from 0 to below 1; see :meth:`straighten`.
    stretch_slope : float
        By how much the log stretch grows where impostors are shifted upwards by 1, up to a shift of
        2, of people with one picture each: bad pictures are also bad to different degrees. Nothing
        of it is left with three pictures.
    """

    shift: float = 0.0
    log_stretch: float = 0.0
    log_tail: float = 0.0
    shift_sd: float = 0.3
    log_stretch_sd: float = 0.1
    log_tail_sd: float = 0.1
    alike: float = 0.0
    alike_stretch: float = 0.0
    crowd_sd: float = 0.1
    looks_sd: float = 0.0
    far_share: float = 0.05
    far_sd: float = 3.0
    wide_sd: float = 0.0
    ceiling: float = 0.0
    bend: float = 0.0
    stretch_slope: float = 0.0

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ImpostorPrior:
        """A prior from plain values; what an older one does not have gets its default.

        Raises
        ------
        InputError
            Unknown names, or no finite numbers.
        """
        names = {part.name for part in fields(cls)}
        if not set(values) - _FORMER <= names:
            raise InputError(f"not a valid prior of impostors: expected {sorted(names)}")
        try:
            numbers = {k: float(v) for k, v in values.items() if k in names}
        except (TypeError, ValueError) as error:
            raise InputError(f"not a valid prior of impostors: {error}") from error
        if not np.isfinite(list(numbers.values())).all() or not 0 <= numbers.get("bend", 0.0) < 1:
            raise InputError("not a valid prior of impostors: a number is not finite or too large")
        return cls(**numbers)

    def straighten(self, z: float | np.ndarray) -> np.ndarray:
        r"""Deviates (any shape) on a scale without an end: those near the ceiling are spread.

        Scores have an end, that of a picture with itself. Impostors that a camera has moved close
        to it are pressed together, most of all their tail. From :math:`z_0 = 2.5` on, the scale
        has the slope :math:`((c - z_0) / (c - z))^b` for the ceiling c and the bend b, at most 8.
        Shift and stretch are on this scale: a camera moves the shipped impostors along it.
        """
        z = np.asarray(z, dtype=np.float64)
        if not self._bends():
            return z
        width, power, last = self._bent()
        inside = np.clip(z, _BEND_FROM, last)
        spread = _BEND_FROM + width * (1 - ((self.ceiling - inside) / width) ** power) / power
        return np.where(z > _BEND_FROM, spread + _STEEPEST * np.maximum(z - last, 0.0), z)

    def bend_back(self, z: float | np.ndarray) -> np.ndarray:
        """The inverse of :meth:`straighten`."""
        z = np.asarray(z, dtype=np.float64)
        if not self._bends():
            return z
        width, power, last = self._bent()
        end = float(self.straighten(last))
        rest = 1 - power * (np.clip(z, _BEND_FROM, end) - _BEND_FROM) / width
        inside = self.ceiling - width * rest ** (1 / power)
        return np.where(z > _BEND_FROM, inside + np.maximum(z - end, 0.0) / _STEEPEST, z)

    def _bends(self) -> bool:
        return self.bend > 0 and self.ceiling > _BEND_FROM

    def _bent(self) -> tuple[float, float, float]:
        """Width of the bent part, one less the bend, and where the slope is steepest."""
        width = self.ceiling - _BEND_FROM
        return width, 1 - self.bend, self.ceiling - width * _STEEPEST ** (-1 / self.bend)

    def with_pictures(self, counts: np.ndarray) -> ImpostorPrior:
        """The prior for people with so many pictures (n,) each."""
        way = np.log(np.maximum(counts, 1)) / np.log(_MANY_PICTURES)
        left = float(np.mean(np.maximum(1 - way, 0.0))) if len(counts) else 1.0
        return replace(self, stretch_slope=self.stretch_slope * left)

    def of_kind(self, other: ImpostorPrior) -> ImpostorPrior:
        """Another kind's prior, with what pictures of a camera made of this one; see `CameraModel`.

        The same one where no camera moved this one.
        """
        if not self.wide_sd:
            return other
        moved = other.moved_to(self.shift - self.alike, self.shift_sd)
        return replace(moved, stretch_slope=self.stretch_slope)

    def moved_to(self, shift: float, shift_sd: float) -> ImpostorPrior:
        """The prior about another shift of strangers; its wide part does not get narrower."""
        moved = replace(self, shift=self.alike + shift, shift_sd=shift_sd, wide_sd=0.0)
        return replace(moved, wide_sd=max(wide_part(self), wide_part(moved)))


#: Deviates as they are, without a ceiling.
PLAIN = ImpostorPrior()


@dataclass(frozen=True)
class ImpostorEvidence:
    """What some impostor comparisons say, and with which standard errors.

    Attributes
    ----------
    shift, log_stretch, log_tail : float
        As in :class:`ImpostorPrior`.
    shift_sd, log_stretch_sd, log_tail_sd : float
        Standard errors; infinite where nothing is known.
    n_people, n_comparisons : int
        What it rests on.
    """

    shift: float
    log_stretch: float
    log_tail: float
    shift_sd: float
    log_stretch_sd: float
    log_tail_sd: float
    n_people: int
    n_comparisons: int


def _fit_quantiles(z: np.ndarray, weights: np.ndarray, n_pairs: float) -> tuple[float, float]:
    """Shift and stretch that give normal deviates the quantiles of z (n,), by least squares.

    The highest of a few comparisons is not the quantile of its place: quantiles of z are compared
    with the expected order statistics of as many normal deviates as there are pairs of people.
    """
    order = np.argsort(z, kind="stable")
    total = np.cumsum(weights[order])
    places = (total - weights[order] / 2) / total[-1]
    levels = np.clip(1 - _LEVELS, places[0], places[-1])
    found = np.interp(levels, places, z[order])
    wanted = ndtri((levels * n_pairs + 0.125) / (n_pairs + 0.25))
    centred = wanted - wanted.mean()
    scale = float(centred @ centred)
    stretch = max(float(centred @ found) / scale, 0.05) if scale > 0 else 1.0
    return float(found.mean() - 1 - stretch * (wanted.mean() - 1)), stretch


def _fit_tail(
    z: np.ndarray, weights: np.ndarray, shift: float, stretch: float, scale: ImpostorPrior
) -> float:
    """Mean excess over the beginning of the tail, as a share of a normal tail's."""
    start, end = -ndtri(_TAIL), -ndtri(_CLIP)
    standard = scale.bend_back(1 + (z - 1 - shift) / stretch)
    above = (standard > start) & (weights > 0)
    if not above.any():
        return 1.0
    excess = np.minimum(standard[above], end) - start

    def integral(x: float) -> float:
        # Of the rate above t, over t from x to infinity.
        return float(np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) - x * ndtr(-x))

    expected = (integral(start) - integral(end)) / _TAIL
    return float(weights[above] @ excess / weights[above].sum() / expected)


def _count_pairs(n_people: float) -> float:
    return max(n_people * (n_people - 1) / 2, 0.5)


def mean_variance(n_people: float) -> float:
    """Variance of a mean over all pairs of n people, in units of one comparison's."""
    pairs = _count_pairs(n_people)
    return 4 * _PERSON_SHARE / max(n_people, 1.0) + (1 - 2 * _PERSON_SHARE) / pairs


def stretch_variance(n_people: float) -> float:
    """Variance of the log stretch of n people's comparisons with each other.

    That of one picture per person. More pictures of the same people say a little more, and are
    not counted: a stretch that is taken for surer than it is moves the tail, where decisions are.
    """
    return _STRETCH_VARIANCE / _count_pairs(n_people) + _PERSON_SHARE / max(n_people, 1.0)


def _gather(
    z: np.ndarray, weights: np.ndarray, n_people: float, scale: ImpostorPrior
) -> ImpostorEvidence:
    """From deviates z (n,) on the scale without an end."""
    shift, stretch = _fit_quantiles(z, weights, _count_pairs(n_people))
    tail = np.clip(_fit_tail(z, weights, shift, stretch, scale), 0.3, 3.0)
    variance = mean_variance(n_people)
    return ImpostorEvidence(
        shift=shift,
        log_stretch=float(np.log(stretch)),
        log_tail=float(np.log(tail)),
        # The stretch of a few comparisons is chance, and would make their shift too sure.
        shift_sd=float(np.clip(stretch, 0.8, 2.0) * np.sqrt(1.6 * variance)),
        log_stretch_sd=float(np.sqrt(stretch_variance(n_people))),
        log_tail_sd=float(np.sqrt(variance / _TAIL)),
        n_people=round(n_people),
        n_comparisons=len(z),
    )


def measure_impostors(
    z: np.ndarray, owner: np.ndarray, scale: ImpostorPrior = PLAIN
) -> ImpostorEvidence | None:
    """What enrolled people say as impostors of each other.

    Parameters
    ----------
    z : (n_pictures, n_people)
        Deviates of every enrolled picture with every enrolled person.
    owner : (n_pictures,) int
        Whose picture it is, as a column of z; its own column is ignored.
    scale : ImpostorPrior
        With the ceiling of the deviates, if they have one.

    Returns
    -------
    ImpostorEvidence or None
        None with fewer than two people.

    Notes
    -----
    Comparisons of the same two people go together, and so do those of one person: what counts is
    people, not pictures. Every pair of people has the same weight, however many pictures it has,
    and the standard errors are those of :math:`n (n - 1) / 2` pairs of n people, of whom each has
    a share of the variance.
    """
    owner = np.asarray(owner)
    mask = owner[:, None] != np.arange(z.shape[1])[None, :]
    if z.shape[1] < 2 or not mask.any():
        return None
    _, place, counts = np.unique(owner, return_inverse=True, return_counts=True)
    weights = np.broadcast_to((1 / counts[place])[:, None], z.shape)[mask]
    return _gather(scale.straighten(z[mask]), weights, float(len(counts)), scale)


def _weigh_impostors(z: np.ndarray, weights: np.ndarray, n_iter: int = 50) -> np.ndarray:
    """Probability that each comparison z (n,), rising, is of two people.

    Two normal distributions, by expectation and maximisation: impostors, and genuine comparisons at
    least two standard deviations above them. What lies in the lower part is of two people.
    """
    weights = weights / weights.sum()
    total = np.cumsum(weights)
    low, width = float(np.interp(0.5, total - weights / 2, z)), 1.0
    high, spread, share = low + 4.0, 1.5, 0.02
    impostor = np.ones(len(z))
    for _ in range(n_iter):
        odds = (
            np.log(share / (1 - share)) + _log_normal(z, high, spread) - _log_normal(z, low, width)
        )
        genuine = np.maximum.accumulate(np.where(z < low + width, 0.0, expit(odds)))
        impostor = 1 - genuine
        mine, theirs = weights * impostor, weights * genuine
        low = float(mine @ z / mine.sum())
        width = max(float(np.sqrt(mine @ (z - low) ** 2 / mine.sum())), 0.05)
        share = float(np.clip(theirs.sum(), 1e-6, 0.5))
        if theirs.sum() > 1e-4:
            high = max(float(theirs @ z / theirs.sum()), low + 2 * width)
            spread = float(np.sqrt(theirs @ (z - high) ** 2 / theirs.sum()))
            spread = float(np.clip(spread, 0.7, 2.5))
    return impostor


def measure_unnamed(
    z: np.ndarray,
    n_people: float,
    *,
    weights: np.ndarray | None = None,
    apart: bool = False,
    scale: ImpostorPrior = PLAIN,
) -> ImpostorEvidence | None:
    """What comparisons z (n,) of faces without names say, most of which are of two people.

    Parameters
    ----------
    z : (n,)
        Deviates of unnamed faces with each other (of different pictures) or with people.
    n_people : float
        About how many people they are of.
    weights : (n,), optional
        How often each of them was seen.
    apart : bool
        All are known to be of two people. Otherwise each counts by the probability that it is.
    scale : ImpostorPrior
        With the ceiling of the deviates, if they have one.
    """
    weights = np.ones(len(z)) if weights is None else np.asarray(weights, dtype=np.float64)
    if weights.sum() < 10 or n_people < 2:
        return None
    seen = np.flatnonzero(weights)
    order = seen[np.argsort(np.asarray(z)[seen], kind="stable")]
    ordered, weights = scale.straighten(np.asarray(z)[order]), weights[order]
    if not apart:
        weights = weights * _weigh_impostors(ordered, weights)
    found = _gather(ordered, weights, n_people, scale)
    # Whether the highest are of two people or one says nothing about the tail.
    return replace(found, log_tail=0.0, log_tail_sd=np.inf, n_comparisons=round(weights.sum()))


@dataclass(frozen=True)
class ImpostorBelief:
    """What is left open about shift, stretch and tail: points with their probabilities.

    Attributes
    ----------
    shifts, stretches, tails, weights : (n,)
        Points; weights sum to 1.
    scale : ImpostorPrior
        With the ceiling of the deviates.
    """

    shifts: np.ndarray
    stretches: np.ndarray
    tails: np.ndarray
    weights: np.ndarray
    scale: ImpostorPrior = PLAIN

    def rates(self, z: float | np.ndarray) -> np.ndarray:
        """Rates (..., n) of impostors above deviates z, one for each point."""
        straight = self.scale.straighten(z)
        standard = (straight[..., None] - 1 - self.shifts) / self.stretches
        standard, start = self.scale.bend_back(standard + 1), -ndtri(_TAIL)
        standard = np.where(standard > start, start + (standard - start) / self.tails, standard)
        found: np.ndarray = ndtr(-standard)
        return found

    def rate(self, z: float | np.ndarray) -> np.ndarray:
        """Expected rate of impostors above deviates z (any shape)."""
        found: np.ndarray = self.rates(z) @ self.weights
        return found

    def bound(self, z: float, level: float = 0.95) -> float:
        """Rate above a deviate z that is exceeded with a probability of 1 - level only."""
        rates = self.rates(z)
        order = np.argsort(rates)
        total = np.cumsum(self.weights[order])
        return float(rates[order][min(int(np.searchsorted(total, level)), len(order) - 1)])

    def quantile(self, rate: float) -> float:
        """Deviate above which the expected rate of impostors is the given one."""
        if not 0 < rate < 1:
            raise InputError(f"rate must be between 0 and 1; got {rate}")
        low, high = -5.0, 5.0
        while float(self.rate(high)) > rate and high < 1e3:
            low, high = high, 2 * high
        while float(self.rate(low)) < rate and low > -1e3:
            low, high = 2 * low, low
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if float(self.rate(middle)) > rate else (low, middle)
        return high


def _log_normal(x: np.ndarray, mean: float, sd: float) -> np.ndarray:
    found: np.ndarray = -0.5 * ((x - mean) / sd) ** 2 - np.log(sd)
    return found


@cache
def _normal_points(n: int) -> tuple[np.ndarray, np.ndarray]:
    steps, share = np.polynomial.hermite_e.hermegauss(n)
    return steps, share / share.sum()


def _points(mean: float, sd: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """n points of a normal distribution, and their weights."""
    steps, share = _normal_points(n)
    return mean + sd * steps, share


def _normal_product(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Mean and standard deviation of a product of normal densities (mean, sd)."""
    precisions = np.asarray([sd**-2.0 for _, sd in pairs])
    means = np.asarray([mean for mean, _ in pairs])
    total = precisions.sum()
    return float(precisions @ means / total), float(total**-0.5)


def wide_part(prior: ImpostorPrior) -> float:
    """Standard deviation of the wider part of the prior of the shift."""
    return prior.wide_sd or _WIDE * float(np.hypot(prior.shift_sd, prior.alike / 2))


def update_belief(
    prior: ImpostorPrior, evidence: Sequence[ImpostorEvidence] = ()
) -> ImpostorBelief:
    """What prior and evidence together leave open; with no evidence, the prior.

    Notes
    -----
    With evidence, the shift has a prior with long tails, as what was learned from a handful of
    families of domains has: two normal parts about its centre, and a third for domains that are
    like none. All stay, weighed by how likely the evidence is under each: a few people away from
    the centre leave it open whether chance or the camera moved them, and many let the evidence
    alone decide. Evidence which says nothing changes next to nothing: the second part has less
    weight the less the evidence says, and the third counts as far as the evidence makes it likelier
    than it was. The shift of one's own people is not quite that of the next impostor: the crowd's
    standard deviation is added at the end.
    """
    parts = [(prior.shift, prior.shift_sd, 1 - prior.far_share)]
    stretched = (prior.log_stretch, prior.log_stretch_sd)
    if evidence:
        half = prior.alike_stretch / 2
        stretched = (prior.log_stretch - half, float(np.hypot(prior.log_stretch_sd, half)))
        middle = prior.shift - prior.alike / 2
        near, far = float(np.hypot(prior.shift_sd, prior.alike / 2)), prior.far_share
        variance, wide = 1 / sum(e.shift_sd**-2.0 for e in evidence), wide_part(prior)
        share = _WIDE_SHARE / (1 + variance / wide**2)
        parts = [
            (middle, near, (1 - far) * (1 - share)),
            (middle, wide, (1 - far) * share),
            (middle, prior.far_sd, far),
        ]
    places, likely = [], []
    for mean, sd, share in parts:
        normals = [(mean, sd), *((e.shift, e.shift_sd) for e in evidence)]
        centre, width = _normal_product(normals)
        # The evidence's density under this part of the prior, up to what both parts share.
        density = sum(float(_log_normal(np.asarray(centre), m, s)) for m, s in normals)
        # Without evidence, what differs between domains is all that differs.
        places.append((centre, float(np.hypot(width, prior.crowd_sd)) if evidence else width))
        likely.append(np.log(share) + density + np.log(width))
    shares = np.exp(np.asarray(likely) - max(likely))
    shares /= shares.sum()
    if evidence:
        shares[-1] = max(shares[-1] - prior.far_share, 0.0)
        shares /= shares.sum()
    stretch = _normal_product([stretched, *((e.log_stretch, e.log_stretch_sd) for e in evidence)])
    # What is expected of the stretch counts as far as evidence leaves it to the prior.
    slope = prior.stretch_slope * (stretch[1] / stretched[1]) ** 2 if evidence else 0.0
    tail = _normal_product(
        [(prior.log_tail, prior.log_tail_sd)]
        + [(e.log_tail, e.log_tail_sd) for e in evidence if np.isfinite(e.log_tail_sd)]
    )
    stretches, stretch_weights = _points(*stretch, 7)
    tails, tail_weights = _points(*tail, 5)
    drawn = [_points(*place, 15) for place in places]
    shifts = np.concatenate([points for points, _ in drawn])
    shift_weights = np.concatenate(
        [share * part for (_, part), share in zip(drawn, shares, strict=True)]
    )
    grid = np.meshgrid(shifts, stretches, np.exp(tails), indexing="ij")
    product = np.meshgrid(shift_weights, stretch_weights, tail_weights, indexing="ij")
    weights = np.prod(np.stack(product), axis=0).ravel()
    keep = weights > 1e-12
    a, b, c = (axis.ravel()[keep] for axis in grid)
    wider = np.exp(b + slope * np.clip(a, 0.0, _FARTHEST))
    return ImpostorBelief(a, wider, c, weights[keep] / weights[keep].sum(), prior)
