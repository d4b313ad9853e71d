"""A verifier moved to a few people of one's own, and what that brings on people held out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mien._core.logistic import ratio_costs
from mien._core.parallel import map_tasks
from mien._core.types import PathLike
from mien.distributed import workers_of
from mien.errors import NotEnoughDataError, NumericsWarning
from mien.evaluation import draw_people, evaluate_verification
from mien.files import check_replaceable, save
from mien.gallery import Constraint, FaceModel, Gallery
from mien.recognition._constraints import relabel
from mien.recognition._enrol import analyse_labelled
from mien.recognition._galleries import open_gallery
from mien.recognition._models import check_engine, engine_of, load_model
from mien.recognition._people import Failure, choose_face, count_reasons, list_people
from mien.verification import (
    OwnCalibration,
    TransferJointBayesian,
    Verifier,
    calibrate_own,
)

__all__ = ["Adaptation", "adapt", "adapt_vectors"]

_FEWEST = 4
_FEWEST_CROSSED = 8
_FEWEST_COMPARED = 6
_FEW = 20
_FOLDS = 5
_MOST_PICTURES = 10
_MOST_IMPOSTORS = 40_000
_FAR = 1e-3  # the rate at which decisions are compared
_FEWER_FOUND = 0.01  # so small a share lost, and so few false, are chance
_BY_CHANCE = 3
#: Of few people the ratio alone is calibrated, with a firm ridge, and in two halves, which leave
#: the most pairs of strangers: see docs/recognition.md for how this was chosen.
_CALIBRATION: dict[str, Any] = {
    "candidates": ("ratio",), "ridge": 1e-2, "prior": 0.1, "n_splits": 2, "random_state": 0,
}  # fmt: skip


class _Decisions(NamedTuple):
    """Held-out pairs of one person and of two, and how many are accepted at a stated .1 %."""

    found: int
    same: int
    false: int
    different: int

    def worsen(self, before: _Decisions) -> bool:
        """Whether fewer are found without a broken rate as the reason, or the rate breaks."""
        more_false = self.false - before.false
        broken = before.false > _BY_CHANCE + 2 * _FAR * before.different
        fewer = before.found - self.found > max(1, _FEWER_FOUND * self.same)
        breaks = self.false > _BY_CHANCE + 2 * _FAR * self.different
        return (fewer and not (broken and more_false < 0)) or (breaks and more_false > _BY_CHANCE)

    def to_dict(self) -> dict[str, float]:
        return {
            "found": self.found / max(self.same, 1),
            "false": self.false / max(self.different, 1),
        }


class _Held(NamedTuple):
    """What people held out say: before, after, gain, whether to move, decisions of both."""

    before: dict[str, Any]
    after: dict[str, Any]
    gain: tuple[float, float, float]
    moved: bool
    decisions: tuple[_Decisions, _Decisions]


@dataclass(frozen=True)
class Adaptation:
    """An adapted verifier, and what it brings.

    Attributes
    ----------
    model : FaceModel
        Adapted to everybody.
    people, pictures : int
        What it was adapted to.
    moved : bool
        Whether the covariances were moved; False says that only the calibration was learned,
        because moving more was not clearly better on people held out.
    source_weight : float
        Weight of the source in both covariances; 1 where they were not moved.
    before, after : dict or None
        Numbers of :func:`mien.evaluation.evaluate_verification` on people held out, by the
        verifier as it was and by one adapted to the others; None where the people are too few.
    gain : (float, float, float) or None
        By how much Cllr fell, with its 95 % interval over people (paired).
    better : bool
        Whether a gallery should have it: Cllr fell for certain, and no fewer people held out are
        recognised at the stated rate. True as well where nobody could be held out: then only the
        calibration was learned, which a gallery replaces by that of its own people.
    decisions : (dict, dict) or None
        Before and after: shares of pairs of one person (``found``) and of two people (``false``)
        that are accepted at a stated false accept rate of .1 %.
    warnings : list of str
        What to keep in mind.
    failures : list of Failure
        Pictures that gave no template.
    """

    model: FaceModel
    people: int
    pictures: int
    moved: bool
    source_weight: float
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    gain: tuple[float, float, float] | None
    warnings: list[str]
    failures: list[Failure] = field(default_factory=list)
    better: bool = True
    decisions: tuple[dict[str, float], dict[str, float]] | None = None

    def rows(self) -> list[dict[str, Any]]:
        """Before and after as rows of a table; none where nobody could be held out."""
        rows = []
        names = ("as it was", "adapted to the others")
        both = zip(names, (self.before, self.after), self.decisions or ({}, {}), strict=True)
        for name, found, decided in both:
            if found is None:
                continue
            rate = found["verification_rates"][0]
            rows.append(
                {
                    "verifier": name,
                    "Cllr": found["cllr"],
                    "Cllr, best calibration": found["min_cllr"]["value"],
                    "EER": {k: found["eer"][k] for k in ("value", "low", "high")},
                    "TPR at 1 % FAR": {k: rate[k] for k in ("value", "low", "high")},
                    "found at a stated .1 %": decided.get("found"),
                    "false": decided.get("false"),
                }
            )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "people": self.people,
            "pictures": self.pictures,
            "moved": self.moved,
            "weight of the source": self.source_weight,
            "held out": self.rows(),
            "gain in Cllr": None if self.gain is None else list(self.gain),
            "better": self.better,
            "warnings": self.warnings,
            "lowest far": self.model.scorer.thresholds_.lowest_far,
            "failures": [
                {"file": str(f.path), "reason": f.reason, "detail": f.detail} for f in self.failures
            ],
            "failures by reason": count_reasons(self.failures),
        }


def adapt_vectors(source: FaceModel, X: np.ndarray, y: np.ndarray) -> Verifier:
    """Move a verifier to vectors X (n, d) of people y (n,).

    Notes
    -----
    From eight people with two pictures on, everybody is scored by a model that did not see them
    before the calibration; with fewer the calibration sees the people that the model saw, who
    weigh little beside the source then.
    """
    useful = _count_useful(y)
    if useful < _FEWEST:
        raise NotEnoughDataError(_too_few(useful))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericsWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = TransferJointBayesian(source.source, random_state=0).fit(X, y)
        crossed = useful >= _FEWEST_CROSSED
        if crossed:
            # The strength stays: searching it again for each part would take its time.
            model = TransferJointBayesian(source.source, model.source_people_)
        # Rates beyond what few people support lean on the tail of the source.
        tail = float(source.scorer.thresholds_.tail_scale[0, 0])
        return Verifier(model, cross_fit=crossed, tail_scale=tail, **_CALIBRATION).fit(X, y)


def recalibrate(source: FaceModel, X: np.ndarray, y: np.ndarray) -> FaceModel:
    """The same verifier with what people y (n,) on vectors X (n, d) say about its impostors."""
    own = calibrate_own(source.scorer, X, y, prior=source.prior(), camera=source.camera)
    return FaceModel(source.engine, source.verifier, _card(source, y, own))


def _card(source: FaceModel, y: np.ndarray, own: OwnCalibration | None) -> dict[str, Any]:
    # A model that was moved has a calibration of its own camera: own is None.
    names = ("impostor priors",) if own is None else ("impostor priors", "camera")
    kept = {name: source.card[name] for name in names if name in source.card}
    if own is None and "impostor priors" in kept:
        # Nor is the ceiling of the source's scores that of the moved ones.
        kept["impostor priors"] = {
            kind: {**prior, "bend": 0.0} for kind, prior in kept["impostor priors"].items()
        }
    found = {} if own is None else {"calibration": own.to_dict()}
    return {
        "name": "adapted verifier",
        "engine": source.engine,
        "features": source.features,
        "source": source.card.get("name", ""),
        "people": len(np.unique(y)),
        "pictures": len(y),
        "terms": "Statistics of the people it was adapted to; no picture and no vector is in it.",
        "limits": ["Holds for pictures like those it was adapted to."],
        **kept,
        **found,
    }


def _too_few(useful: int) -> str:
    return (
        f"adapting takes at least {_FEWEST} people with two usable pictures or more; got {useful}"
    )


def _count_useful(y: np.ndarray) -> int:
    return int(np.count_nonzero(np.unique(y, return_counts=True)[1] >= 2))


def _limit(y: np.ndarray) -> np.ndarray:
    """Rows of at most so many pictures of a person: nobody dominates."""
    rows = [np.flatnonzero(y == name)[:_MOST_PICTURES] for name in np.unique(y)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *rows])


def _compare(source: FaceModel, X: np.ndarray, y: np.ndarray) -> _Held | None:
    """Before and after on people held out, and whether to move; None where they are too few."""
    useful = _count_useful(y)
    if useful < _FEWEST_COMPARED:
        return None
    names, counts = np.unique(y, return_counts=True)
    names = names[np.argsort(-counts, kind="stable")]
    n_folds = min(_FOLDS, useful // 2)
    part = {name: k % n_folds for k, name in enumerate(names.tolist())}
    fold = np.asarray([part[name] for name in y.tolist()])
    given = source, X, y, fold
    found = map_tasks(_hold_out, range(n_folds), *given, words="people held out")
    scores, accepted, pairs = zip(*found, strict=True)
    return _measure(
        np.concatenate(scores, axis=1), np.concatenate(accepted, axis=1), np.concatenate(pairs)
    )


def _hold_out(
    k: int, source: FaceModel, X: np.ndarray, y: np.ndarray, fold: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores (3, n) and decisions (3, n) about pairs of a fold, and who they are (n, 2).

    By the verifier as it was, recalibrated by the other folds, and moved to them.
    """
    table = source.scorer.thresholds_
    at_first = source.calibrate().threshold(table, _FAR, size=1)
    held = np.flatnonzero(fold == k)
    moved = adapt_vectors(source, X[fold != k], y[fold != k])
    rows = np.column_stack([held[i] for i in np.triu_indices(len(held), 1)])
    first, second = X[rows[:, 0]], X[rows[:, 1]]
    shipped = source.scorer.score_pairs(first, second)
    own = recalibrate(source, X[fold != k], y[fold != k]).calibrate()
    by_moved = moved.score_pairs(first, second)
    # A gallery calibrates whatever model it has by its own people.
    as_moved = FaceModel(source.engine, moved, _card(source, y, None))
    after = recalibrate(as_moved, X[fold != k], y[fold != k]).calibrate()
    limit = after.threshold(moved.thresholds_, _FAR, size=1)
    scores = np.stack([shipped, own.log_ratios(table.curve(), shipped), by_moved])
    accepted = np.stack(
        [
            shipped >= at_first,
            shipped >= own.threshold(table, _FAR, size=1),
            by_moved >= limit,
        ]
    )
    return scores, accepted, y[rows]


def _measure(scores: np.ndarray, accepted: np.ndarray, who: np.ndarray) -> _Held:
    """Scores and decisions (3, n) of the verifier as it was, recalibrated, and moved."""
    same = who[:, 0] == who[:, 1]
    n_same, n_other = int(same.sum()), int((~same).sum())
    decided = [
        _Decisions(int(a[same].sum()), n_same, int(a[~same].sum()), n_other) for a in accepted
    ]
    if np.count_nonzero(~same) > _MOST_IMPOSTORS:
        kept = np.random.default_rng(0).choice(np.flatnonzero(~same), _MOST_IMPOSTORS, False)
        rows = np.sort(np.concatenate([np.flatnonzero(same), kept]))
        scores, who, same = scores[:, rows], who[rows], same[rows]
    # Moving two covariances must pay: few people say little about them.
    moved = _gain(scores[[1, 2]], who, same)[1] > 0 and not decided[2].worsen(decided[1])
    taken = 2 if moved else 1
    scores = scores[[0, taken]]
    before, after = (
        evaluate_verification(
            values[same], values[~same], fars=(0.01,), llr=True,
            people=(who[same, 0], who[~same]), n_bootstrap=500,
        )
        for values in scores
    )  # fmt: skip
    gain = _gain(scores, who, same)
    return _Held(before, after, gain, moved, (decided[0], decided[taken]))


def _gain(scores: np.ndarray, who: np.ndarray, same: np.ndarray) -> tuple[float, float, float]:
    """Fall of Cllr in bits with its interval: people are drawn again, pairs follow them."""
    cost = ratio_costs(scores, same)
    saved = cost[0] - cost[1]
    names, codes = np.unique(who, return_inverse=True)
    codes = codes.reshape(who.shape)
    weights = draw_people(len(names), 500, 0)

    def mean(kind: np.ndarray) -> np.ndarray:
        # A pair counts as often as both of its people were drawn, a genuine one as its person.
        drawn = weights[:, codes[kind, 0]]
        if not same[kind].all():
            drawn = drawn * weights[:, codes[kind, 1]]
        totals = drawn.sum(axis=1)
        return np.where(totals > 0, drawn @ saved[kind] / np.maximum(totals, 1), np.nan)

    replicates = (mean(same) + mean(~same)) / 2
    value = float((saved[same].mean() + saved[~same].mean()) / 2)
    low, high = np.nanquantile(replicates, [0.025, 0.975])
    return value, float(low), float(high)


def _warn(useful: int, held: _Held | None) -> list[str]:
    found = []
    gain = None if held is None else held.gain
    if held is None or gain is None:
        found.append(
            f"{useful} people with two pictures or more: too few to hold anybody out, so nothing "
            f"says whether this helps; {_FEWEST_COMPARED} or more are needed for that"
        )
    elif gain[1] <= 0 <= gain[2]:
        found.append("on people held out the difference is within chance: no reason to change")
    elif gain[2] < 0:
        found.append("on people held out the adapted verifier is worse: keep the one you had")
    elif held.decisions[1].worsen(held.decisions[0]):
        found.append(
            "at the stated rate the adapted verifier decides worse about people held out: keep the "
            "one you had"
        )
    if useful < _FEW:
        found.append(
            f"only {useful} people with two pictures or more: intervals are wide, and low error "
            "rates cannot be promised; twenty or more are better"
        )
    return found


def _read_faces(
    photos: PathLike, engine: str, n_jobs: int, answers: Sequence[Constraint], client: Any
) -> tuple[np.ndarray, np.ndarray, list[Failure]]:
    listed, failures = list_people(photos)
    vectors, people, keys, paths = [], [], [], []
    for picture, result in analyse_labelled(listed, engine, n_jobs, client=client):
        face = choose_face(result, box=picture.box)
        if isinstance(face, Failure):
            failures.append(face)
        else:
            vectors.append(face.vector)
            people.append(picture.person)
            keys.append((result.digest, next(k for k, f in enumerate(result.faces) if f is face)))
            paths.append(result.path)
    keep, names = relabel(answers, keys, np.asarray(people))
    detail = "what was answered in the gallery says that this is not that person, or not a face"
    failures += [Failure(paths[k], "refused", detail) for k in np.flatnonzero(~keep)]
    if not keep.any():
        reasons = ", ".join(f"{n} {why}" for why, n in count_reasons(failures).items())
        raise NotEnoughDataError(f"no usable face in {os.fspath(photos)!r}: {reasons}")
    return np.stack(vectors).astype(np.float64)[keep], names[keep], failures


def adapt(
    photos: PathLike,
    *,
    model: FaceModel | PathLike | None = None,
    engine: str | None = None,
    gallery: Gallery | PathLike | None = None,
    out: PathLike | None = None,
    n_jobs: int = 2,
    key: bytes | str | None = None,
    scheduler: Any = None,
) -> Adaptation:
    """Move the verifier to your own people, camera and light; a handful of people will do.

    Parameters
    ----------
    photos : path
        A folder with one folder a person, or a CSV file with the columns ``file`` and ``person``.
    model : FaceModel, path or None
        What to start from; None takes the shipped one.
    engine : {"sface", "dlib", "sface+dlib"} or None
        None is the model's, the gallery's, or "sface".
    gallery : Gallery or path
        Gets the adapted verifier if that is better on people held out, and keeps its own
        otherwise; its templates stay as they are. What was answered in it is respected: two
        names that are one person are one, and faces that are not who they are said to be are
        left out.
    out : path or None
        Where to write the adapted verifier.
    n_jobs : int
        Pictures that are worked on at the same time.
    key : bytes, str or None
        Of a sealed gallery.
    scheduler : str, distributed.Client or None
        Workers of Dask that find the faces, try the strengths and hold people out: the address of
        a scheduler, ``"local"`` for workers of this machine, or a client.

    Returns
    -------
    Adaptation
        With the numbers before and after on people held out: in turn, a part of the people is
        left out of the adaptation and of its calibration, and both verifiers are asked about
        that part.

    Examples
    --------
    >>> from mien.recognition import adapt
    >>> adapt("photos", out="mine.mien").gain                               # doctest: +SKIP
    (0.08, 0.03, 0.14)
    """
    if out is not None:
        check_replaceable(Path(out))
    answers: list[Constraint] = []
    if gallery is not None:
        with open_gallery(gallery, key=key) as opened:
            if engine is not None:
                check_engine(opened.model, engine)
            engine = engine_of(opened.model)
            answers = opened.constraints()
    source = load_model(model, engine)
    with workers_of(scheduler) as client:
        X, y, failures = _read_faces(photos, engine_of(source), n_jobs, answers, client)
        result = adapt_to(source, X, y, failures)
    if out is not None:
        save(result.model, Path(out))
    if gallery is not None and result.better:
        with open_gallery(gallery, key=key) as opened:
            opened.set_model(result.model)
    return result


def adapt_to(
    source: FaceModel, X: np.ndarray, y: np.ndarray, failures: list[Failure]
) -> Adaptation:
    """Adapt to vectors X (n, d) of people y (n,), and compare on people held out."""
    rows = _limit(y)
    X, y = X[rows], y[rows]
    useful = _count_useful(y)
    if useful < _FEWEST:
        raise NotEnoughDataError(_too_few(useful))
    held = _compare(source, X, y)
    model, weight = recalibrate(source, X, y), 1.0
    if held is not None and held.moved:
        verifier = adapt_vectors(source, X, y)
        # As it was judged: the people also calibrate the model that was moved to them.
        model = recalibrate(FaceModel(source.engine, verifier, _card(source, y, None)), X, y)
        weight = float(verifier.model_.source_weight_)
    n_people, warned = len(np.unique(y)), _warn(useful, held)
    if held is None:
        return Adaptation(model, n_people, len(y), False, 1.0, None, None, None, warned, failures)
    first, then = held.decisions
    return Adaptation(
        model, n_people, len(y), held.moved, weight, held.before, held.after, held.gain, warned,
        failures, held.gain[1] > 0 and not then.worsen(first), (first.to_dict(), then.to_dict()),
    )  # fmt: skip
