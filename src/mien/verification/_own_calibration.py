"""Where impostors lie in one's own pictures: the shipped calibration is the prior, people move it.

Scores of impostors are measured in standard units: with the location (median) and scale of the
shipped calibration for that number of pictures, ``y = (score - location) / scale``. There the
shipped impostors have the distribution of one *shape*, and those of another camera or crowd the
same shape, shifted and stretched about its quantile of 15.9 %, where y is 1, and with a tail that
is a little longer or shorter. A few people of one's own say by how much; the prior says how much
it was for other cameras and crowds; the rate at which a decision errs is the mean over what both
leave open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

from mien.errors import InputError

__all__ = [
    "IMPOSTORS",
    "ImpostorBelief",
    "ImpostorEvidence",
    "ImpostorPrior",
    "ImpostorShape",
    "measure_impostors",
    "measure_unnamed",
    "update_belief",
]

#: Kinds of impostors, the careful one first.
IMPOSTORS = ("lookalikes", "strangers")

#: Levels (from above) at which the quantiles of one's own impostors are compared with the shape:
#: the upper part, which decides, and not the highest, where a wrong label or a person with two
#: names would be.
_LEVELS = np.array([0.3, 0.16, 0.07, 0.025])
#: Where the tail begins.
_TAIL = 0.025
#: Where excesses over the beginning of the tail are clipped.
_CLIP = 1e-4
#: Share of the variance of an impostor score that belongs to one of the two people.
_PERSON_SHARE = 0.02


@dataclass(frozen=True)
class ImpostorShape:
    """The upper half of the distribution of impostors in standard units.

    Attributes
    ----------
    rates : (l,)
        Rates at which impostors exceed a quantile, falling from 0.5.
    quantiles : (l,)
        In standard units, rising from 0.

    Notes
    -----
    Between two nodes, and beyond the last one, quantiles are straight in the normal deviate of
    the rate: a normal tail, fitted to the last decade, and no exponential one.
    """

    rates: np.ndarray
    quantiles: np.ndarray

    def quantile(self, rate: float | np.ndarray) -> np.ndarray:
        """Standard score that impostors exceed with a rate (any shape) below 0.5."""
        z, nodes = -ndtri(np.asarray(rate, dtype=np.float64)), -ndtri(self.rates)
        inside = np.interp(z, nodes, self.quantiles)
        slope = self._slope(nodes)
        beyond = self.quantiles[-1] + slope * (z - nodes[-1])
        below = z * (self.quantiles[1] - self.quantiles[0]) / (nodes[1] - nodes[0])
        found: np.ndarray = np.where(z > nodes[-1], beyond, np.where(z < nodes[0], below, inside))
        return found

    def rate(self, y: float | np.ndarray) -> np.ndarray:
        """Rate at which impostors exceed standard scores y, the inverse of `quantile`."""
        y, nodes = np.asarray(y, dtype=np.float64), -ndtri(self.rates)
        inside = np.interp(y, self.quantiles, nodes)
        beyond = nodes[-1] + (y - self.quantiles[-1]) / self._slope(nodes)
        below = y * (nodes[1] - nodes[0]) / (self.quantiles[1] - self.quantiles[0])
        z = np.where(y > self.quantiles[-1], beyond, np.where(y < self.quantiles[0], below, inside))
        found: np.ndarray = ndtr(-z)
        return found

    def _slope(self, nodes: np.ndarray) -> float:
        """Growth of a quantile with the normal deviate, over the last decade of rates."""
        first = int(np.searchsorted(-np.log(self.rates), -np.log(self.rates[-1]) - np.log(10)))
        first = min(max(first, 0), len(nodes) - 2)
        return float((self.quantiles[-1] - self.quantiles[first]) / (nodes[-1] - nodes[first]))

    @classmethod
    def from_thresholds(
        cls, rates: np.ndarray, thresholds: np.ndarray
    ) -> tuple[ImpostorShape, float, float]:
        """Shape, location and scale of a curve of thresholds (l,) at rates (l,), NaN where none.

        The location is the median, the scale the way from there to the quantile of 15.9 %.
        """
        kept = np.isfinite(thresholds) & (rates <= 0.5 * (1 + 1e-9)) & (rates > 0)
        if np.count_nonzero(kept) < 3:
            raise InputError("a shape needs thresholds at three rates of at most one half")
        order = np.argsort(-rates[kept], kind="stable")
        z, t = -ndtri(rates[kept][order]), np.maximum.accumulate(thresholds[kept][order])
        location = float(np.interp(0.0, z, t))
        scale = float(np.interp(1.0, z, t)) - location
        if not scale > 0:
            raise InputError("impostors have no spread: their thresholds do not rise")
        y = (t - location) / scale
        # Equal thresholds would have no inverse.
        y = y + 1e-9 * np.arange(len(y))
        shape = cls(rates[kept][order], y)
        return shape, location, scale


@dataclass(frozen=True)
class ImpostorPrior:
    """What shift, stretch and tail are for cameras and crowds in general.

    Attributes
    ----------
    shift, log_stretch, log_tail : float
        Their centres, for one kind of impostors; zeros are the shipped calibration as it is.
    shift_sd, log_stretch_sd, log_tail_sd : float
        How much they differ between domains.
    crowd_sd : float
        How much the shift of those who come to the door differs from those enrolled.
    far_share, far_sd : float
        Weight and standard deviation of the wide part of the prior: domains that are like none.
    """

    shift: float = 0.0
    log_stretch: float = 0.0
    log_tail: float = 0.0
    shift_sd: float = 0.3
    log_stretch_sd: float = 0.1
    log_tail_sd: float = 0.1
    crowd_sd: float = 0.1
    far_share: float = 0.05
    far_sd: float = 3.0


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


def _fit_quantiles(y: np.ndarray, weights: np.ndarray, shape: ImpostorShape) -> tuple[float, float]:
    """Shift and stretch that give the shape the quantiles of y (n,), by least squares."""
    order = np.argsort(y, kind="stable")
    total = np.cumsum(weights[order])
    found = np.interp((1 - _LEVELS) * total[-1], total - weights[order] / 2, y[order])
    wanted = shape.quantile(_LEVELS)
    centred = wanted - wanted.mean()
    stretch = max(float(centred @ found / (centred @ centred)), 0.05)
    return float(found.mean() - 1 - stretch * (wanted.mean() - 1)), stretch


def _fit_tail(
    y: np.ndarray, weights: np.ndarray, shape: ImpostorShape, shift: float, stretch: float
) -> float:
    """Mean excess over the beginning of the tail, as a share of the shape's."""
    start, end = shape.quantile(_TAIL), shape.quantile(_CLIP)
    standard = 1 + (y - 1 - shift) / stretch
    above = standard > start
    if not above.any():
        return 1.0
    excess = np.minimum(standard[above], end) - start
    steps = np.linspace(start, end, 200)
    rates = shape.rate(steps)
    expected = float(np.sum((rates[1:] + rates[:-1]) / 2 * np.diff(steps))) / _TAIL
    return float(weights[above] @ excess / weights[above].sum() / expected)


def _gather(
    y: np.ndarray, weights: np.ndarray, shape: ImpostorShape, n_people: float
) -> ImpostorEvidence:
    shift, stretch = _fit_quantiles(y, weights, shape)
    tail = np.clip(_fit_tail(y, weights, shape, shift, stretch), 0.3, 3.0)
    pairs = max(n_people * (n_people - 1) / 2, 0.5)
    variance = 4 * _PERSON_SHARE / max(n_people, 1.0) + (1 - 2 * _PERSON_SHARE) / pairs
    return ImpostorEvidence(
        shift=shift,
        log_stretch=float(np.log(stretch)),
        log_tail=float(np.log(tail)),
        shift_sd=stretch * float(np.sqrt(1.6 * variance)),
        log_stretch_sd=float(np.sqrt(0.9 * variance)),
        log_tail_sd=float(np.sqrt(variance / _TAIL)),
        n_people=round(n_people),
        n_comparisons=len(y),
    )


def measure_impostors(
    y: np.ndarray, owner: np.ndarray, shape: ImpostorShape
) -> ImpostorEvidence | None:
    """What enrolled people say as impostors of each other.

    Parameters
    ----------
    y : (n_pictures, n_people)
        Standard scores of every enrolled picture with every enrolled person.
    owner : (n_pictures,) int
        Whose picture it is, as a column of y; its own column is not looked at.
    shape : ImpostorShape
        Of the shipped calibration.

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
    mask = owner[:, None] != np.arange(y.shape[1])[None, :]
    if y.shape[1] < 2 or not mask.any():
        return None
    _, place, counts = np.unique(owner, return_inverse=True, return_counts=True)
    weights = np.broadcast_to((1 / counts[place])[:, None], y.shape)[mask]
    return _gather(y[mask], weights, shape, float(len(counts)))


def measure_unnamed(
    y: np.ndarray, shape: ImpostorShape, n_people: float, *, cut: float = 3.0, n_iter: int = 5
) -> ImpostorEvidence | None:
    """What comparisons y (n,) of faces without names say, most of which are of two people.

    Parameters
    ----------
    y : (n,)
        Standard scores of unnamed faces with each other (of different pictures) or with people.
    shape : ImpostorShape
        Of the shipped calibration.
    n_people : float
        About how many people they are of.
    cut : float
        Scores beyond this standard score of the impostors are taken for genuine.
    n_iter : int
        Times that the cut is moved.
    """
    if len(y) < 10 or n_people < 2:
        return None
    ordered = np.sort(y)
    shift, stretch = float(np.median(ordered)), 1.0
    kept = ordered
    for _ in range(n_iter):
        kept = ordered[ordered < 1 + shift + stretch * (cut - 1)]
        if len(kept) < 10:
            return None
        shift, stretch = _fit_quantiles(kept, np.ones(len(kept)), shape)
    found = _gather(kept, np.ones(len(kept)), shape, n_people)
    # What was cut off says nothing about the tail.
    return replace(found, log_tail=0.0, log_tail_sd=np.inf)


@dataclass(frozen=True)
class ImpostorBelief:
    """What is left open about shift, stretch and tail: points with their probabilities.

    Attributes
    ----------
    shifts, stretches, tails, weights : (n,)
        Points; weights sum to 1.
    shape : ImpostorShape
        Of impostors in standard units.
    """

    shifts: np.ndarray
    stretches: np.ndarray
    tails: np.ndarray
    weights: np.ndarray
    shape: ImpostorShape

    def rates(self, y: float | np.ndarray) -> np.ndarray:
        """Rates (..., n) of impostors above standard scores y, one for each point."""
        standard = 1 + (np.asarray(y, dtype=np.float64)[..., None] - 1 - self.shifts) / (
            self.stretches
        )
        start = float(self.shape.quantile(_TAIL))
        return self.shape.rate(
            np.where(standard > start, start + (standard - start) / self.tails, standard)
        )

    def rate(self, y: float | np.ndarray) -> np.ndarray:
        """Expected rate of impostors above standard scores y (any shape)."""
        found: np.ndarray = self.rates(y) @ self.weights
        return found

    def bound(self, y: float, level: float = 0.95) -> float:
        """Rate above a standard score y that is exceeded with a probability of 1 - level only."""
        rates = self.rates(y)
        order = np.argsort(rates)
        total = np.cumsum(self.weights[order])
        return float(rates[order][min(int(np.searchsorted(total, level)), len(order) - 1)])

    def quantile(self, rate: float) -> float:
        """Standard score above which the expected rate of impostors is the given one."""
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


def _points(mean: float, sd: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """n points of a normal distribution, and their weights."""
    steps, share = np.polynomial.hermite_e.hermegauss(n)
    return mean + sd * steps, share / share.sum()


def _normal_product(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Mean and standard deviation of a product of normal densities (mean, sd)."""
    precisions = np.asarray([sd**-2.0 for _, sd in pairs])
    means = np.asarray([mean for mean, _ in pairs])
    total = precisions.sum()
    return float(precisions @ means / total), float(total**-0.5)


def update_belief(
    shape: ImpostorShape, prior: ImpostorPrior, evidence: Sequence[ImpostorEvidence] = ()
) -> ImpostorBelief:
    """What prior and evidence together leave open; with no evidence, the prior.

    Notes
    -----
    The shift has a prior of two parts: most domains lie near its centre, a few anywhere. Far from
    the centre the wide part takes over, and the evidence alone decides. (Without evidence the wide
    part is left out: a domain that is like none cannot be provided for.) The domain's shift is not
    quite that of the next impostor: the crowd's standard deviation is added at the end.
    """
    parts = [(prior.shift, prior.shift_sd, 1 - prior.far_share)]
    if evidence:
        parts.append((prior.shift, prior.far_sd, prior.far_share))
    pieces, logs = [], []
    for mean, sd, share in parts:
        normals = [(mean, sd), *((e.shift, e.shift_sd) for e in evidence)]
        centre, width = _normal_product(normals)
        # The evidence's density under this part of the prior, up to what both parts share.
        density = sum(float(_log_normal(np.float64(centre), m, s)) for m, s in normals)
        pieces.append((centre, width))
        logs.append(np.log(share) + density + np.log(width))
    shares = np.exp(np.asarray(logs) - max(logs))
    shares /= shares.sum()
    stretch = _normal_product(
        [(prior.log_stretch, prior.log_stretch_sd)]
        + [(e.log_stretch, e.log_stretch_sd) for e in evidence]
    )
    tail = _normal_product(
        [(prior.log_tail, prior.log_tail_sd)]
        + [(e.log_tail, e.log_tail_sd) for e in evidence if np.isfinite(e.log_tail_sd)]
    )
    stretches, stretch_weights = _points(*stretch, 7)
    tails, tail_weights = _points(*tail, 5)
    shifts, shift_weights = [], []
    for (centre, width), share in zip(pieces, shares, strict=True):
        if share > 1e-9:
            points, weights = _points(centre, float(np.hypot(width, prior.crowd_sd)), 15)
            shifts.append(points)
            shift_weights.append(share * weights)
    grid = np.meshgrid(np.concatenate(shifts), np.exp(stretches), np.exp(tails), indexing="ij")
    product = np.meshgrid(
        np.concatenate(shift_weights), stretch_weights, tail_weights, indexing="ij"
    )
    weights = np.prod(np.stack(product), axis=0).ravel()
    keep = weights > 1e-12
    a, b, c = (axis.ravel()[keep] for axis in grid)
    return ImpostorBelief(a, b, c, weights[keep] / weights[keep].sum(), shape)
