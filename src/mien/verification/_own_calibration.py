"""Decisions and ratios for one's own people and camera, from comparisons that cost no label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from mien._core.validation import check_choice
from mien.errors import InputError
from mien.verification._camera import CameraModel
from mien.verification._impostors import (
    ImpostorBelief,
    ImpostorCurve,
    ImpostorEvidence,
    ImpostorPrior,
    mean_variance,
    measure_impostors,
    stretch_variance,
    update_belief,
)
from mien.verification._scorer import ComparesSets
from mien.verification._thresholds import ThresholdTable

__all__ = [
    "IMPOSTORS",
    "OwnCalibration",
    "Promise",
    "RatioLine",
    "calibrate_own",
    "evidence_from_dict",
    "fit_ratio_line",
    "people_needed",
]

#: Kinds of impostors, the careful one first.
IMPOSTORS = ("lookalikes", "strangers")
#: Priors of a model that brings none.
DEFAULT_PRIORS: dict[str, ImpostorPrior] = {
    "lookalikes": ImpostorPrior(shift=0.45, log_stretch=0.05, shift_sd=0.3, alike=0.3),
    "strangers": ImpostorPrior(shift=0.15, log_stretch=0.05, shift_sd=0.3),
}
#: A rate is promised if it is at most so many times the stated one, with 95 % confidence.
_FACTOR = 3.0
_LEVEL = 0.95
#: Fewer people support nothing: four have six pairs.
_FEWEST_PEOPLE = 5
_MOST_PEOPLE, _MOST_PICTURES = 300, 4
_BLOCK = 64


@dataclass(frozen=True)
class Promise:
    """How far a stated rate can be relied on.

    Attributes
    ----------
    promised : True, "shipped" or False
        True: one's own people support the rate. "shipped": it rests on the model card alone.
        False: one's own people are unlike those of the model card, and too few to say more.
    rate : float
        The stated rate, of impostors accepted as one given person.
    bound : float
        Upper end of the 95 % interval of the realised rate at the threshold.
    n_people, n_comparisons : int
        Of one's own that it rests on.
    """

    promised: bool | str
    rate: float
    bound: float
    n_people: int
    n_comparisons: int


@dataclass(frozen=True)
class RatioLine:
    """A log-likelihood ratio ``slope * x + offset`` of shifted shipped ratios x."""

    slope: float = 1.0
    offset: float = 0.0

    def __call__(self, ratios: np.ndarray) -> np.ndarray:
        """Calibrated log ratios, of the same shape."""
        found: np.ndarray = self.slope * np.asarray(ratios, dtype=np.float64) + self.offset
        return found


def fit_ratio_line(
    genuine: np.ndarray,
    impostor: np.ndarray,
    n_people: float,
    *,
    slope_sd: float = 0.3,
    offset_sd: float = 2.0,
    n_iter: int = 50,
) -> RatioLine:
    """The line that makes log ratios of one's own comparisons mean what they say.

    Parameters
    ----------
    genuine, impostor : (n,), (m,)
        Log ratios of comparisons of one person and of two, equally weighted each.
    n_people : float
        People they rest on: the weight of the data beside the prior, a slope of 1 and offset of 0.
    slope_sd, offset_sd : float
        Standard deviations of the prior.
    n_iter : int
        Newton steps, each halved until the loss falls.

    Notes
    -----
    Minimised is ``n_people`` times the mean logistic loss at equal shares of both kinds (Cllr in
    nats), plus the prior: two numbers, convex, and with few people close to the shipped line.
    """
    genuine, impostor = (np.asarray(x, dtype=np.float64) for x in (genuine, impostor))
    if len(genuine) == 0 or len(impostor) == 0:
        return RatioLine()
    x = np.concatenate([genuine, impostor])
    sign = np.concatenate([np.ones(len(genuine)), -np.ones(len(impostor))])
    weights = np.concatenate(
        [
            np.full(len(genuine), n_people / 2 / len(genuine)),
            np.full(len(impostor), n_people / 2 / len(impostor)),
        ]
    )
    design = np.column_stack([x, np.ones(len(x))])
    prior, precision = np.array([1.0, 0.0]), np.array([slope_sd, offset_sd]) ** -2.0

    def loss(line: np.ndarray) -> float:
        data = weights @ np.logaddexp(0, -sign * (design @ line))
        return float(data + 0.5 * precision @ (line - prior) ** 2)

    line, value = prior.copy(), loss(prior)
    for _ in range(n_iter):
        p = expit(-sign * (design @ line))
        gradient = -(design.T @ (weights * sign * p)) + precision * (line - prior)
        curvature = (design * (weights * p * (1 - p))[:, None]).T @ design + np.diag(precision)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while size > 1e-6 and loss(line - size * step) > value:
            size /= 2
        line = line - size * step
        before, value = value, loss(line)
        if before - value < 1e-10 * (1 + abs(value)):
            break
    return RatioLine(max(float(line[0]), 1e-3), float(line[1]))


@dataclass(frozen=True)
class OwnCalibration:
    """Thresholds and ratios for one's own people and camera.

    Attributes
    ----------
    impostors : {"lookalikes", "strangers"}
        Who is expected to be mistaken for whom.
    prior : ImpostorPrior
        What cameras and crowds are like in general, for that kind of impostors.
    evidence : tuple of ImpostorEvidence
        What one's own comparisons say; none leaves the prior.
    line : RatioLine
        From shifted ratios to those of one's own genuine comparisons.

    Notes
    -----
    It holds a few numbers and nothing of a person: made again without a person, it is as if the
    person had never been there. Thresholds are in the verifier's own scores, so that a search
    needs no new index.
    """

    impostors: str = "lookalikes"
    prior: ImpostorPrior = DEFAULT_PRIORS["lookalikes"]
    evidence: tuple[ImpostorEvidence, ...] = ()
    line: RatioLine = RatioLine()

    @classmethod
    def of(cls, impostors: str) -> OwnCalibration:
        """That of a model which brings no priors of its own."""
        return cls(_kind(impostors), DEFAULT_PRIORS[_kind(impostors)])

    @cached_property
    def belief(self) -> ImpostorBelief:
        """What is left open about the impostors."""
        return update_belief(self.prior, self.evidence)

    def threshold(
        self, table: ThresholdTable, rate: float, *, size: int | None = None, probe_size: int = 1
    ) -> float:
        """Score above which impostors are expected at a rate, for one number of pictures.

        Parameters
        ----------
        table : ThresholdTable
            Of the verifier whose scores are decided on.
        rate : float
            Of impostors accepted as one given person; see :func:`rate_per_person`.
        size : int or None
            Pictures of the person; None takes the highest threshold of all sizes.
        probe_size : int
            Pictures of the probe.
        """
        z = self._deviate(rate)
        sizes = table.sizes if size is None else [size]
        return max(float(table.curve(int(m), probe_size).to_scores(z)) for m in sizes)

    def _deviate(self, rate: float) -> float:
        known = self.__dict__.setdefault("_deviates", {})
        if rate not in known:
            known[rate] = self.belief.quantile(rate)
        return float(known[rate])

    def promise(self, rate: float) -> Promise:
        """How far that rate can be relied on.

        Notes
        -----
        For True, one's own comparisons alone must place the impostors well enough: the prior of
        the shift is left out, the crowd at the door may be of another look, and the rate at the
        threshold must be at most three times the stated one with 95 % confidence. Stretch and tail
        keep their prior, as no few people show one in a thousand.
        """
        z = self._deviate(rate)
        people = max((e.n_people for e in self.evidence), default=0)
        comparisons = sum(e.n_comparisons for e in self.evidence)
        if not self.evidence:
            return Promise("shipped", rate, self.belief.bound(z, _LEVEL), 0, 0)
        crowd = max(self.prior.crowd_sd, self.prior.looks_sd)
        unsure = replace(self.prior, shift_sd=self.prior.far_sd, wide_sd=0.0, crowd_sd=crowd)
        alone = update_belief(unsure, self.evidence)
        bound = alone.bound(z, _LEVEL)
        promised: bool | str = people >= _FEWEST_PEOPLE and bound <= _FACTOR * rate
        if not promised:
            # Unlike anything the prior knows: the model card says nothing about it either.
            near = [
                abs(e.shift - self.prior.shift) < 2.5 * np.hypot(self.prior.shift_sd, e.shift_sd)
                for e in self.evidence
            ]
            promised = "shipped" if all(near) else False
        return Promise(promised, rate, bound, people, comparisons)

    def shift_ratios(self, curve: ImpostorCurve, ratios: np.ndarray) -> np.ndarray:
        """Ratios (any shape), moved by half of the way that impostors moved.

        Another camera moves impostors and hardly ever genuine comparisons, so that the middle
        between both moves by half; the line does the rest where genuine comparisons are known.
        """
        ratios = np.asarray(ratios, dtype=np.float64)
        if not self.evidence:
            return ratios
        shift = float(self.belief.weights @ self.belief.shifts)
        moved = self.prior.bend_back(1 + shift)
        way = float(curve.to_scores(moved) - curve.to_scores(1.0))
        return ratios - way / 2

    def log_ratios(self, curve: ImpostorCurve, ratios: np.ndarray) -> np.ndarray:
        """Log ratios for one's own people, of a verifier's log ratios (any shape)."""
        return self.line(self.shift_ratios(curve, ratios))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "impostors": self.impostors,
            "prior": asdict(self.prior),
            "evidence": [_plain(asdict(e)) for e in self.evidence],
            "line": asdict(self.line),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> OwnCalibration:
        """The inverse of `to_dict`."""
        try:
            return cls(
                _kind(values["impostors"]),
                ImpostorPrior.from_dict(values["prior"]),
                tuple(evidence_from_dict(e) for e in values["evidence"]),
                RatioLine(**_numbers(values["line"], RatioLine)),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"not a valid calibration: {error}") from error


def _kind(value: Any) -> str:
    check_choice("impostors", str(value), IMPOSTORS)
    return str(value)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity."""
    return {k: None if isinstance(v, float) and np.isinf(v) else v for k, v in values.items()}


def _numbers(values: Mapping[str, Any], kind: type) -> dict[str, float]:
    """Numbers for a dataclass; those that it has a default for may be missing."""
    names = {field.name for field in fields(kind)}
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    if not needed <= set(values) <= names:
        raise ValueError(f"expected {sorted(names)}, got {sorted(values)}")
    return {name: float(value) for name, value in values.items()}


def evidence_from_dict(values: Mapping[str, Any]) -> ImpostorEvidence:
    """Evidence from plain values; an infinite standard error is None there."""
    filled = {k: np.inf if v is None else v for k, v in values.items()}
    numbers: dict[str, Any] = {**_numbers(filled, ImpostorEvidence)}
    for name in ("n_people", "n_comparisons"):
        numbers[name] = int(numbers[name])
    return ImpostorEvidence(**numbers)


def _choose_rows(people: np.ndarray) -> np.ndarray:
    """Rows of at most so many people, and of so many pictures of each, the first ones."""
    _, first, codes = np.unique(people, return_index=True, return_inverse=True)
    chosen = np.argsort(first, kind="stable")[:_MOST_PEOPLE]
    rows = [np.flatnonzero(codes == code)[:_MOST_PICTURES] for code in chosen]
    return np.sort(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int64)


def _genuine(
    verifier: ComparesSets, X: np.ndarray, owner: np.ndarray, counts: np.ndarray, sums: np.ndarray
) -> list[tuple[int, np.ndarray]]:
    """Scores of every picture with the others of its person, by the number of those others."""
    found = []
    for size in np.unique(counts[counts > 1]):
        rows = np.flatnonzero(counts[owner] == size)
        scores = []
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            rest, ones = sums[owner[block]] - X[block], np.ones(len(block), dtype=np.int64)
            scores.append(np.diag(verifier.score_sums(ones, X[block], ones * (size - 1), rest)))
        found.append((int(size - 1), np.concatenate(scores)))
    return found


def calibrate_own(
    verifier: ComparesSets,
    X: np.ndarray,
    people: np.ndarray,
    *,
    impostors: str = "lookalikes",
    prior: ImpostorPrior | None = None,
    camera: CameraModel | None = None,
    unnamed: Sequence[ImpostorEvidence] = (),
) -> OwnCalibration:
    """Calibrate on enrolled people: impostors of each other, and genuine with their own pictures.

    Parameters
    ----------
    verifier : Verifier
        Scores sets of pictures, and knows where its impostors lie.
    X : (n, d)
        Vectors of unit length.
    people : (n,)
        Who is on them. At most 300 people and four pictures of each are used, the first ones.
    impostors : {"lookalikes", "strangers"}
        Kind of impostors.
    prior : ImpostorPrior, optional
        Of the model, for that kind.
    camera : CameraModel, optional
        Of the model: what the pictures show of their camera moves the prior.
    unnamed : sequence of ImpostorEvidence
        What faces without names say, by the same prior.

    Returns
    -------
    OwnCalibration
        With fewer than two people, that of the prior and the unnamed faces.
    """
    check_choice("impostors", impostors, IMPOSTORS)
    prior = DEFAULT_PRIORS[impostors] if prior is None else prior
    start = OwnCalibration(impostors, prior, tuple(unnamed))
    X, people = np.asarray(X, dtype=np.float64), np.asarray(people)
    rows = _choose_rows(people)
    names, owner = np.unique(people[rows], return_inverse=True)
    if len(names) < 2:
        return start
    X = X[rows]
    counts = np.bincount(owner)
    prior = prior.with_pictures(counts)
    start = replace(start, prior=prior if camera is None else camera.expect(prior, X, owner))
    sums = np.zeros((len(names), X.shape[1]))
    np.add.at(sums, owner, X)
    scores = verifier.score_sums(np.ones(len(X), dtype=np.int64), X, counts, sums)
    deviates = np.empty_like(scores)
    table = verifier.thresholds_
    sizes = np.union1d(counts, counts - 1)
    curves = {int(size): table.curve(int(size)) for size in sizes if size > 0}
    for size in np.unique(counts):
        deviates[:, counts == size] = curves[int(size)].to_deviates(scores[:, counts == size])
    evidence = measure_impostors(deviates, owner, prior)
    own = replace(start, evidence=(*start.evidence, *([evidence] if evidence else [])))
    impostor = [
        own.shift_ratios(
            curves[int(size)],
            scores[:, counts == size][owner[:, None] != np.flatnonzero(counts == size)[None, :]],
        )
        for size in np.unique(counts)
    ]
    genuine = [
        own.shift_ratios(curves[size], found)
        for size, found in _genuine(verifier, X, owner, counts, sums)
    ]
    line = RatioLine()
    if genuine:
        n = int(np.count_nonzero(counts > 1))
        line = fit_ratio_line(np.concatenate(genuine), np.concatenate(impostor), n)
    return replace(own, line=line)


def people_needed(own: OwnCalibration, rate: float, most: int = 500) -> int | None:
    """People that would have to be enrolled, with two pictures each, to promise a rate.

    None if more than `most`. It is assumed that more people would say the same, more surely.
    """
    found = [e for e in own.evidence if e.n_people >= 2]
    if not found:
        return None
    last = found[-1]
    n = max(last.n_people, _FEWEST_PEOPLE)
    while n <= most:
        gain, stretch_gain = (
            np.sqrt(variance(n) / variance(last.n_people))
            for variance in (mean_variance, stretch_variance)
        )
        surer = replace(
            last,
            shift_sd=last.shift_sd * gain,
            log_stretch_sd=last.log_stretch_sd * stretch_gain,
            log_tail_sd=last.log_tail_sd * gain,
            n_people=n,
        )
        if replace(own, evidence=(*found[:-1], surer)).promise(rate).promised is True:
            return n
        n += max(1, n // 8)
    return None
