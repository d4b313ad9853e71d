"""Do the stated rates hold for the people of a gallery? What their faces say, and what lacks."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mien._core.text import count
from mien.evaluation import bootstrap_mean_interval
from mien.recognition._galleries import open_gallery
from mien.recognition._people import check_rate
from mien.verification import (
    CameraModel,
    ImpostorPrior,
    OwnCalibration,
    Scorer,
    calibrate_own,
    people_needed,
    rate_per_person,
)

if TYPE_CHECKING:
    from mien.gallery import Gallery
    from mien.reports import Report

__all__ = ["GalleryCheck", "RateCheck", "check_gallery", "check_rates"]

#: Rates of the reliability diagram.
_TRACED = (0.003, 0.01, 0.03, 0.1, 0.3)
_FOLDS = 5
_FEWEST_TRIED = 6


@dataclass(frozen=True)
class RateCheck:
    """What can be said of one stated rate.

    Attributes
    ----------
    fpir : float
        Maximum share of unknown faces that may wrongly get a name.
    promised : True, "shipped" or False
        As in :class:`mien.verification.Promise`.
    bound : float
        Upper end of the 95 % interval of the realised rate, from the calibration.
    tried : float or None
        Realised rate when part of the people is taken out and comes to the door as strangers.
    tried_low, tried_high : float or None
        Its 95 % interval, people resampled.
    misses : float or None
        Share of enrolled faces that would not be named after their own person's other faces.
    people_needed : int or None
        People to enrol in all, with two faces each, before the rate can be promised; None where
        that is not foreseeable.
    """

    fpir: float
    promised: bool | str
    bound: float
    tried: float | None
    tried_low: float | None
    tried_high: float | None
    misses: float | None
    people_needed: int | None


@dataclass(frozen=True)
class GalleryCheck:
    """Rates of a gallery, and what they rest on.

    Attributes
    ----------
    people, pictures, comparisons : int
        Number of comparisons of two people.
    impostors : str
        Kind of impostors.
    rates : list of RateCheck
        One for each stated rate.
    traced : list of (float, float)
        Stated and realised rates of the reliability diagram; empty with few people.
    calibration : OwnCalibration
        The numbers behind it.
    faults : list of str
        What is wrong with the file.
    unnamed : int
        Faces without names that the gallery has learned from.
    """

    people: int
    pictures: int
    comparisons: int
    impostors: str
    rates: list[RateCheck]
    traced: list[tuple[float, float]]
    calibration: OwnCalibration
    faults: list[str]
    unnamed: int = 0

    def advice(self) -> list[str]:
        """What would help, in sentences."""
        found = []
        for one in self.rates:
            if one.promised is True:
                continue
            if one.people_needed is None:
                found.append(
                    f"{one.fpir:g} cannot be promised: enrol five people or more with two faces "
                    "each, of the camera that is used"
                )
            else:
                more = max(one.people_needed - self.people, 1)
                found.append(
                    f"about {more} more {'person' if more == 1 else 'people'} with two faces each "
                    f"would let {one.fpir:g} be promised"
                )
        if not self.unnamed and any(one.promised is not True for one in self.rates):
            found.append(
                "faces without names help as well: mien cluster PHOTOS --gallery, with pictures of "
                "the same camera"
            )
        if self.pictures < 2 * self.people:
            found.append("a second face per person would show how many of them would be missed")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "people": self.people,
            "faces": self.pictures,
            "comparisons": self.comparisons,
            "unnamed_faces": self.unnamed,
            "impostors": self.impostors,
            "rates": [vars(one) for one in self.rates],
            "reliability": [list(pair) for pair in self.traced],
            "calibration": self.calibration.to_dict(),
            "advice": self.advice(),
            "faults": self.faults,
        }

    def report(self) -> Report:
        """A page with the rates, the reliability diagram and the advice."""
        from mien.reports import Report, plot_curves

        report = Report("Do the stated rates hold?", "What the faces of a gallery say about it")
        report.text(
            f"{count(self.people, 'person', 'people')} with {count(self.pictures, 'face')}, "
            f"{count(self.comparisons, 'comparison')} of two people, "
            f"{count(self.unnamed, 'unnamed face')}; impostors: {self.impostors}."
        )
        report.table(
            "Rates",
            [
                {**vars(one), "promised": str(one.promised).lower(), "people_needed": (
                    "–" if one.people_needed is None else str(one.people_needed)
                )}
                for one in self.rates
            ],
            "tried: a fifth of the people at a time is taken out and comes to the door.",
        )  # fmt: skip
        if self.traced:
            stated, realised = (np.asarray(values) for values in zip(*self.traced, strict=True))
            figure = plot_curves(
                {"as stated": (stated, stated), "realised": (stated, realised)},
                "stated share of strangers named", "realised", logx=True,
            )  # fmt: skip
            report.figure(
                figure, "Enrolled people, taken out in turn, as strangers.", "Reliability diagram",
                name="reliability",
            )  # fmt: skip
        for sentence in self.advice():
            report.text(sentence[0].upper() + sentence[1:] + ".")
        return report


def _try_strangers(
    verifier: Scorer,
    X: np.ndarray,
    codes: np.ndarray,
    start: OwnCalibration,
    rates: list[float],
    camera: CameraModel | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Each part of the people as strangers to a gallery, and a calibration, of the others.

    Returns whether each face was named at each rate (n, n_rates), and whose face it is (n,).
    """
    n_people = int(codes.max()) + 1
    fold = np.arange(n_people) % _FOLDS
    named, people = [], []
    for part in range(_FOLDS):
        inside = fold[codes] != part
        own = calibrate_own(
            verifier, X[inside], codes[inside], impostors=start.impostors, prior=start.prior,
            camera=camera, unnamed=_unnamed(start),
        )  # fmt: skip
        names, counts = np.unique(codes[inside], return_counts=True)
        sums = np.stack([X[inside][codes[inside] == name].sum(axis=0) for name in names])
        probes = np.flatnonzero(~inside)
        ones = np.ones(len(probes), dtype=np.int64)
        scores = verifier.score_sums(ones, X[probes], counts, sums)
        # How far the best is above its own threshold: people have different numbers of faces.
        margins = np.full((len(probes), len(rates)), -np.inf)
        for size in np.unique(counts):
            highest = scores[:, counts == size].max(axis=1)
            for k, fpir in enumerate(rates):
                rate = rate_per_person(fpir, len(names))
                needed = own.threshold(verifier.thresholds_, rate, size=int(size))
                margins[:, k] = np.maximum(margins[:, k], highest - needed)
        named.append(margins >= 0)
        people.append(codes[probes])
    return np.concatenate(named), np.concatenate(people)


def _unnamed(own: OwnCalibration) -> tuple[Any, ...]:
    """Evidence of unnamed faces: its tail is not known."""
    return tuple(e for e in own.evidence if not np.isfinite(e.log_tail_sd))


def _count_misses(
    verifier: Scorer, X: np.ndarray, codes: np.ndarray, own: OwnCalibration, rate: float
) -> float | None:
    """Share of faces below the threshold with the other faces of their person."""
    counts = np.bincount(codes)
    missed = []
    for row in np.flatnonzero(counts[codes] > 1):
        others = np.flatnonzero((codes == codes[row]) & (np.arange(len(codes)) != row))
        size = len(others)
        score = verifier.score_sums([1], X[row, None], [size], X[others].sum(axis=0)[None])
        needed = own.threshold(verifier.thresholds_, rate, size=size)
        missed.append(bool(score[0, 0] < needed))
    return float(np.mean(missed)) if missed else None


def check_rates(
    verifier: Scorer,
    X: np.ndarray,
    people: np.ndarray,
    *,
    fpirs: tuple[float, ...] = (0.01, 0.05),
    calibration: OwnCalibration | None = None,
    prior: ImpostorPrior | None = None,
    camera: CameraModel | None = None,
    n_people: int | None = None,
) -> GalleryCheck:
    """Check stated rates on enrolled vectors X (n, d) of people (n,).

    Parameters
    ----------
    verifier : Scorer
        Fitted.
    X, people : (n, d), (n,)
        Enrolled faces.
    fpirs : tuple of float
        Rates to check.
    calibration : OwnCalibration, optional
        As the gallery has it; made from the faces otherwise.
    prior : ImpostorPrior, optional
        Of the model, where no calibration is given.
    camera : CameraModel, optional
        Of the model.
    n_people : int, optional
        People in the gallery, where X is a part of it.
    """
    for fpir in fpirs:
        check_rate("fpir", fpir)
    X = np.asarray(X, dtype=np.float64)
    names, codes = np.unique(np.asarray(people), return_inverse=True)
    own = calibration or calibrate_own(verifier, X, codes, prior=prior, camera=camera)
    total = n_people or len(names)
    rates = [*fpirs, *_TRACED]
    tried = None
    if len(names) >= _FEWEST_TRIED:
        tried = _try_strangers(verifier, X, codes, own, rates, camera)
    found = []
    for k, fpir in enumerate(fpirs):
        rate = rate_per_person(fpir, max(total, 1))
        promise = own.promise(rate)
        value = low = high = None
        if tried is not None:
            named = tried[0][:, k].astype(float)
            value = float(named.mean())
            low, high = bootstrap_mean_interval(named, tried[1], random_state=0)
            # Nobody of so many people: drawn again, they stay nobody, and that is no certainty.
            high = max(high, 1 - 0.05 ** (1 / len(names)))
        found.append(
            RateCheck(
                fpir, promise.promised, float(-np.expm1(total * np.log1p(-promise.bound))),
                value, low, high, _count_misses(verifier, X, codes, own, rate),
                people_needed(own, rate),
            )
        )  # fmt: skip
    traced = []
    if tried is not None:
        shares = tried[0][:, len(fpirs) :].mean(axis=0)
        traced = list(zip(_TRACED, shares.tolist(), strict=True))
    comparisons = sum(e.n_comparisons for e in own.evidence)
    return GalleryCheck(total, len(X), comparisons, own.impostors, found, traced, own, [])


def check_gallery(
    gallery: Gallery | str | os.PathLike[str],
    *,
    fpirs: tuple[float, ...] = (0.01, 0.05),
    impostors: str = "lookalikes",
    forget_unnamed: bool = False,
    key: bytes | str | None = None,
) -> GalleryCheck:
    """Check a gallery: its file, and whether its people support the stated rates.

    Parameters
    ----------
    gallery : Gallery or path
        From :func:`enrol`.
    fpirs : tuple of float
        Maximum shares of unknown faces that may wrongly get a name.
    impostors : {"lookalikes", "strangers"}
        Who is expected to be mistaken for whom.
    forget_unnamed : bool
        First forget what was learned from faces without names.
    key : bytes, str or None
        Of a sealed gallery.

    Returns
    -------
    GalleryCheck
        Rates with their bounds, what trying it on the gallery's own people gave, how many people
        more would be needed; ``report()`` makes a page with the reliability diagram.

    Examples
    --------
    >>> from mien.recognition import check_gallery
    >>> check_gallery("people.gallery").advice()                            # doctest: +SKIP
    ['about 3 more people with two faces each would let 0.01 be promised']
    """
    with open_gallery(gallery, key=key, read_only=not forget_unnamed) as opened:
        if forget_unnamed:
            opened.forget_unnamed()
        faults = opened.check()
        X, people = opened.sample_vectors()
        calibration = opened.calibrate(impostors)
        seen = opened.unnamed()
        found = check_rates(
            opened.model.scorer, X, people, fpirs=fpirs, calibration=calibration,
            camera=opened.model.camera, n_people=len(opened),
        )  # fmt: skip
    return replace(found, faults=faults, unnamed=0 if seen is None else seen.n_faces)
