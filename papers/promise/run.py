"""Galleries drawn from every domain: rates that were stated, and rates that came out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from mien._core.progress import report as report_progress
from mien._core.progress import track
from mien.datasets import load_lfw_embeddings
from mien.errors import InputError
from mien.evaluation import LogisticCalibration, draw_people
from mien.gallery import FaceModel
from mien.recognition import adapt_to, fit_source
from mien.verification import (
    CameraModel,
    ImpostorEvidence,
    ImpostorPrior,
    OwnCalibration,
    Verifier,
    calibrate_own,
    measure_impostors,
    measure_unnamed,
    rate_per_person,
    update_belief,
)
from papers.promise.data import (
    DOMAINS,
    KEPT_ASIDE,
    Domain,
    list_domains,
    load_cameras,
    load_domain,
    split_lfw,
)

__all__ = [
    "FARS",
    "FPIRS",
    "JUDGED",
    "METHODS",
    "SETTINGS",
    "STATED",
    "Draw",
    "count_confused",
    "draw_gallery",
    "excess_interval",
    "factor_interval",
    "fit_domain",
    "fit_scale",
    "fit_scales",
    "fit_sources",
    "group_by_look",
    "learn_camera",
    "learn_cameras",
    "learn_prior",
    "learn_shipped",
    "learn_stretch_slope",
    "load_domains",
    "load_half",
    "measure_cameras",
    "measure_lookalikes",
    "run_adapted",
    "run_domain",
    "trace_reliability",
    "weigh_reasons",
]

FPIRS = (0.01, 0.05)
FARS = (0.001, 0.01)
#: Rates of a reliability diagram.
STATED = (0.003, 0.01, 0.03, 0.1, 0.3)
#: People enrolled and pictures of each.
SETTINGS = (
    (5, 1), (5, 3), (10, 2), (10, 3), (25, 1), (25, 3), (25, 8), (100, 1), (100, 3), (300, 1),
    (1000, 1),
)  # fmt: skip
#: Thresholds as mien had them; the prior alone; with the enrolled people; with unnamed faces too;
#: and for comparison, with the shift and the stretch of the very strangers.
METHODS = ("before", "shipped", "own", "own and unnamed", "strangers known")
#: The usual thresholds of the plain cosine; dlib's distance of 0.6 is for vectors of length 1.4.
USUAL = {"sface": 0.363, "dlib": 0.908}
#: People of LFW from whom a model is learned.
SOURCES = ("half", "other half", "all")
#: Groups of people by look, for look-alike impostors.
N_GROUPS = 8
#: Times that people are drawn again for an interval.
N_AGAIN = 200
_MOST_PROBES, _MOST_UNNAMED, _MOST_KNOWN = 600, 100, 5
#: A domain beyond this shift is like no other, and says nothing about others.
_FAR_AWAY = 1.2
#: Engines whose rates are judged.
JUDGED = ("sface", "dlib")
#: How much deviates near the ceiling of an engine's scores are spread.
BENDS = {"sface": 0.3, "dlib": 0.75}
#: Without a ceiling: deviates as they are.
_PLAIN = ImpostorPrior()


def group_by_look(X: np.ndarray, people: np.ndarray, n_groups: int = N_GROUPS) -> np.ndarray:
    """Group (n,) of each picture: people by k-means of the directions of their mean vectors."""
    names, codes = np.unique(people, return_inverse=True)
    means = np.zeros((len(names), X.shape[1]))
    np.add.at(means, codes, X)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    groups: np.ndarray = KMeans(n_groups, n_init=3, random_state=0).fit_predict(means)[codes]
    return groups


def load_domains(
    engine: str,
    cache: str | os.PathLike[str],
    home: Any = None,
    *,
    aside: bool = False,
    cameras: Sequence[str] | None = None,
) -> list[Domain]:
    """Every domain of an engine, and LFW once more as crowds of people who look alike.

    With ``cameras``, of the domains whose pictures go through the engine only those.
    """
    names = list_domains(engine, aside=aside)
    if cameras is not None:
        names = [name for name in names if name not in DOMAINS | KEPT_ASIDE or name in cameras]
    found = [
        load_domain(name, engine, cache, home) for name in track(names, f"domains of {engine}")
    ]
    clean = found[0]
    name = clean.name.replace("clean", "look-alikes")
    return [*found, replace(clean, name=name, groups=group_by_look(clean.X, clean.people))]


def _load_lfw(engine: str, home: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """LFW's vectors of unit length, whose they are, and who is of the half that teaches."""
    stored = load_lfw_embeddings(home, engine)
    raw = stored.vectors.astype(np.float64)
    norms = np.linalg.norm(raw, axis=1)
    usable = stored.detected & (norms > 0)
    half = split_lfw(stored.people)
    return raw[usable] / norms[usable, None], stored.people[usable], half[usable]


def load_half(engine: str, home: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Vectors and people of the half of LFW from whom the models of LFW's domains are learned."""
    X, people, half = _load_lfw(engine, home)
    return X[half], people[half]


def fit_sources(
    engine: str, home: Any = None, sources: Sequence[str] = SOURCES
) -> dict[str, Verifier]:
    """The recipe of the shipped models on one half of LFW's people, on the other, and on all."""
    X, people, half = _load_lfw(engine, home)
    parts = {"half": half, "other half": ~half, "all": np.ones(len(half), dtype=bool)}
    verifiers = {}
    for source in sources:
        verifiers[source] = fit_source(X[parts[source]], people[parts[source]], engine)
    return verifiers


def fit_scales(
    engine: str, verifiers: dict[str, Verifier], home: Any = None
) -> dict[str, ImpostorPrior]:
    """The scale of each source's deviates, by pictures of LFW."""
    X, _, _ = _load_lfw(engine, home)
    return {source: fit_scale(engine, one, X[::10]) for source, one in verifiers.items()}


def _sum_people(
    X: np.ndarray, codes: np.ndarray, chosen: np.ndarray, m: int, rng: np.random.Generator
) -> np.ndarray:
    rows = [rng.permutation(np.flatnonzero(codes == person))[:m] for person in chosen]
    sums: np.ndarray = np.stack([X[mine].sum(axis=0) for mine in rows])
    return sums


def fit_scale(engine: str, verifier: Verifier, X: np.ndarray) -> ImpostorPrior:
    """The scale on which a verifier's deviates are measured: a prior with a ceiling and a bend.

    The ceiling is the deviate of a picture's score with itself, the median over pictures X (n, d).
    """
    ones = np.ones(len(X), dtype=np.int64)
    blocks = [
        np.diag(verifier.score_sums(ones[rows], X[rows], ones[rows], X[rows]))
        for rows in np.array_split(np.arange(len(X)), max(1, len(X) // 200))
    ]
    z = verifier.thresholds_.curve(1).to_deviates(np.concatenate(blocks))
    return ImpostorPrior(ceiling=float(np.median(z)), bend=BENDS[engine])


def _compare_all(
    domain: Domain, verifier: Verifier, seed: int = 0
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Pictures a person (1, 3), deviates (p, n) of many probes with many people, and owners."""
    rng = np.random.default_rng(seed)
    _, codes, counts = np.unique(domain.people, return_inverse=True, return_counts=True)
    probes = rng.permutation(len(domain.X))[:1500]
    for m in (1, 3):
        chosen = rng.permutation(np.flatnonzero(counts >= m))[:800]
        if len(chosen) < 4:
            continue
        sums = _sum_people(domain.X, codes, chosen, m, rng)
        ones = np.ones(len(probes), dtype=np.int64)
        scores = verifier.score_sums(ones, domain.X[probes], np.full(len(chosen), m), sums)
        z = verifier.thresholds_.curve(m).to_deviates(scores)
        column = {person: k for k, person in enumerate(chosen.tolist())}
        yield m, z, np.asarray([column.get(code, -1 - code) for code in codes[probes].tolist()])


def fit_domain(
    domain: Domain, verifier: Verifier, scale: ImpostorPrior = _PLAIN
) -> list[ImpostorEvidence]:
    """Shift, stretch and tail of a whole domain, with one picture per person and with three."""
    compared = _compare_all(domain, verifier)
    found = [measure_impostors(z, owner, scale) for _, z, owner in compared]
    return [evidence for evidence in found if evidence is not None]


def weigh_reasons(
    domain: Domain, verifier: Verifier, scale: ImpostorPrior = _PLAIN, far: float = 0.001
) -> list[dict[str, Any]]:
    """Realised over stated false accept rate, as shipped and with each part known in turn."""
    rows = []
    for m, z, owner in _compare_all(domain, verifier):
        found = measure_impostors(z, owner, scale)
        if found is None:
            continue
        impostor = z[owner[:, None] != np.arange(z.shape[1])[None, :]]
        sure = replace(
            scale, shift_sd=1e-6, log_stretch_sd=1e-6, log_tail_sd=1e-6, crowd_sd=0, far_share=1e-12
        )
        steps = {
            "as shipped": sure,
            "shift known": replace(sure, shift=found.shift),
            "stretch too": replace(sure, shift=found.shift, log_stretch=found.log_stretch),
        }
        steps["tail too"] = replace(steps["stretch too"], log_tail=found.log_tail)
        factors = {
            name: float(np.mean(impostor >= update_belief(prior).quantile(far)) / far)
            for name, prior in steps.items()
        }
        rows.append(
            {
                "domain": domain.name, "pictures": m, "shift": found.shift,
                "stretch": float(np.exp(found.log_stretch)), "tail": float(np.exp(found.log_tail)),
                **factors,
            }
        )  # fmt: skip
    return rows


def count_confused(domain: Domain, verifier: Verifier, far: float = 0.001) -> dict[str, Any]:
    """How much of a domain's false accepts a few pairs of people make, single pictures.

    At the threshold for a share ``far`` of the shipped impostors. The three pairs are those with
    most false accepts; what is accepted of a pair is a share of its own comparisons.
    """
    _, codes = np.unique(domain.people, return_inverse=True)
    rows = np.random.default_rng(0).permutation(len(codes))[:1500]
    X, (_, codes) = domain.X[rows], np.unique(codes[rows], return_inverse=True)
    ones = np.ones(len(X), dtype=np.int64)
    scores = verifier.score_sums(ones, X, ones, X)
    first, second = np.triu_indices(len(X), 1)
    apart = codes[first] != codes[second]
    first, second = first[apart], second[apart]
    low, high = np.minimum(codes[first], codes[second]), np.maximum(codes[first], codes[second])
    pairs, which = np.unique(low * len(X) + high, return_inverse=True)
    accepted = scores[first, second] >= verifier.threshold(far, size=1)
    hits, trials = np.bincount(which, accepted), np.bincount(which)
    top = np.argsort(-hits, kind="stable")[:3]
    return {
        "domain": domain.name, "people": int(codes.max()) + 1, "pairs of people": len(pairs),
        "accepted": float(accepted.mean()),
        "pairs with a false accept": int(np.count_nonzero(hits)),
        "share of the three highest pairs": float(hits[top].sum() / max(hits.sum(), 1)),
        "accepted of the highest pair": float((hits[top] / trials[top]).max()),
        "of the third highest": float((hits[top] / trials[top]).min()),
        "accepted of all others": float(
            (hits.sum() - hits[top].sum()) / max(trials.sum() - trials[top].sum(), 1)
        ),
    }  # fmt: skip


def trace_reliability(
    domain: Domain,
    verifier: Verifier,
    prior: ImpostorPrior,
    setting: tuple[int, int],
    n_draws: int = 10,
    camera: CameraModel | None = None,
) -> dict[str, np.ndarray] | None:
    """Realised FPIR (n_rates,) of each method at the rates of :data:`STATED`; None if too few."""
    found: dict[str, list[list[float]]] = {}
    for seed in range(n_draws):
        draw = draw_gallery(domain, verifier, *setting, seed)
        if draw is None:
            return None
        best = draw.strangers.max(axis=1)
        for method, own in _calibrations(verifier, draw, prior, camera).items():
            realised = []
            for stated in STATED:
                rate = rate_per_person(stated, draw.n)
                table = verifier.thresholds_
                if own is None:
                    t = table.threshold(rate, size=draw.m, extrapolate=True)
                else:
                    t = own.threshold(table, rate, size=draw.m)
                realised.append(float(np.mean(best >= t)))
            found.setdefault(method, []).append(realised)
    return {method: np.mean(values, axis=0) for method, values in found.items()}


def _meta_analyse(x: np.ndarray, errors: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation between domains (DerSimonian and Laird)."""
    weights = errors**-2.0
    mean = weights @ x / weights.sum()
    excess = weights @ (x - mean) ** 2 - (len(x) - 1)
    variance = max(0.0, excess / (weights.sum() - weights @ weights / weights.sum()))
    weights = 1 / (errors**2 + variance)
    return float(weights @ x / weights.sum()), float(np.sqrt(variance))


class Lookalikes(NamedTuple):
    """Shift and log stretch of people of one look beside strangers, and how looks differ.

    ``crowd``: how far impostors of one look lie above those of all looks, with people of all looks:
    the root of the mean square over looks, those below counted as zero. ``between``: the standard
    deviation of the shift between crowds of one look.
    """

    shift: float
    log_stretch: float
    crowd: float
    between: float


def learn_prior(
    fits: dict[str, tuple[str, list[ImpostorEvidence]]],
    lookalikes: Lookalikes,
    leave_out: str | None = None,
    scale: ImpostorPrior = _PLAIN,
    stretch_slope: float = 0.0,
) -> dict[str, ImpostorPrior]:
    """Priors of both kinds of impostors from domains, those of one family left out.

    Parameters
    ----------
    fits : dict of (family, evidence)
        Of every domain.
    lookalikes : Lookalikes
        Of LFW. As far as one look lies above all, the crowd at the door may lie above the people
        enrolled.
    leave_out : str or None
        Family.
    scale : ImpostorPrior
        With the ceiling and the bend of the model's deviates; see :func:`fit_scale`.
    stretch_slope : float
        See :func:`learn_stretch_slope`.

    Notes
    -----
    Every family has one vote, however many domains it has. Standard deviations are kept within
    bounds: there are few families, and some of few people.
    """
    known = {name: fit for name, fit in fits.items() if fit[0] != leave_out}
    kept = {
        name: fit
        for name, fit in known.items()
        if max(abs(one.shift) for one in fit[1]) < _FAR_AWAY
    }
    families = [family for family, _ in kept.values()]
    n_families = len({family for family, _ in known.values()})
    n_far = n_families - len(set(families))
    values, errors = [], []
    for family, found in kept.values():
        for one in found:
            votes = len(found) * families.count(family)
            values.append([one.shift, one.log_stretch, one.log_tail])
            sds = np.asarray([one.shift_sd, one.log_stretch_sd, one.log_tail_sd])
            errors.append(np.hypot(sds * np.sqrt(votes), 0.1))
    x, sd = np.asarray(values), np.asarray(errors)
    (shift, shift_sd), (stretch, stretch_sd), (tail, tail_sd) = (
        _meta_analyse(x[:, k], sd[:, k]) for k in range(3)
    )
    strangers = replace(
        scale,
        shift=max(shift, 0.0),
        log_stretch=stretch,
        log_tail=max(tail, -0.05),
        stretch_slope=stretch_slope,
        shift_sd=float(np.clip(shift_sd, 0.25, 0.35)),
        log_stretch_sd=float(np.clip(stretch_sd, 0.07, 0.1)),
        log_tail_sd=float(np.clip(tail_sd, 0.07, 0.1)),
        crowd_sd=max(lookalikes.crowd, 0.1),
        looks_sd=lookalikes.between,
        # Half a family more of each kind: that there was none so far does not mean never.
        far_share=round((n_far + 0.5) / (n_families + 1), 3),
    )
    alike = replace(
        strangers,
        shift=strangers.shift + lookalikes.shift,
        log_stretch=strangers.log_stretch + lookalikes.log_stretch,
        alike=lookalikes.shift,
        alike_stretch=lookalikes.log_stretch,
    )
    return {"lookalikes": alike, "strangers": strangers}


#: Engines whose vectors show their camera; dlib's do not, where it was left out.
CAMERA_ENGINES = ("sface",)
#: Of the ridge regression of shifts on vectors of unit length.
_RIDGE = 0.003
#: What counts of the slope of stretches over shifts that random cameras show, and the shift from
#: which on they stretch no more.
_SLOPE_SHARE, _FARTHEST = 0.6, 2.0


def _regress(X: Sequence[np.ndarray], y: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights (d,) and offset of numbers y (c,) of cameras on their vectors, by ridge regression.

    Every camera counts as much as any other.
    """
    faces = np.concatenate(X)
    share = np.concatenate([np.full(len(one), 1 / (len(X) * len(one))) for one in X])
    target = np.repeat(y, [len(one) for one in X])
    centre, mean = share @ faces, float(share @ target)
    A = (faces - centre) * np.sqrt(share)[:, None]
    weights: np.ndarray = np.linalg.solve(
        A.T @ A + _RIDGE * np.eye(A.shape[1]), A.T @ ((target - mean) * np.sqrt(share))
    )
    return weights, mean - float(centre @ weights)


def learn_camera(
    cameras: Sequence[tuple[np.ndarray, Sequence[ImpostorEvidence]]], sizes: Sequence[int] = (1, 3)
) -> CameraModel:
    """How vectors show their camera, from random cameras: their vectors, and their impostors.

    Parameters
    ----------
    cameras : list of (X, evidence)
        Vectors (n, d) of each camera, and its impostors for each of ``sizes``.
    sizes : tuple of int
        Pictures per person.

    Notes
    -----
    A single face says little, so that ridge regression on faces predicts too small differences
    between cameras. A line through what it predicts for each camera from the others mends that, and
    the rest about it says how far the next camera may be off.
    """
    X = [one for one, _ in cameras]
    found: dict[str, list[Any]] = {}
    for k in range(len(sizes)):
        shifts = np.asarray([evidence[k].shift for _, evidence in cameras])
        predicted = []
        for left_out in range(len(X)):
            weights, offset = _regress(
                X[:left_out] + X[left_out + 1 :], np.delete(shifts, left_out)
            )
            predicted.append(float(X[left_out].mean(axis=0) @ weights) + offset)
        slope, first = np.polyfit(predicted, shifts, 1)
        weights, offset = _regress(X, shifts)
        rest = shifts - slope * np.asarray(predicted) - first
        spread = np.sqrt(np.sum(rest**2) / (len(X) - 2))
        numbers = {
            "sizes": sizes[k],
            "weights": slope * weights,
            "offsets": slope * offset + first,
            # As for priors without a camera.
            "shift_sds": float(np.clip(spread, 0.25, 0.35)),
            "face_sds": float(np.mean([(one @ (slope * weights)).std() for one in X])),
        }
        for name, value in numbers.items():
            found.setdefault(name, []).append(value)
    return CameraModel(**{name: np.round(value, 4) for name, value in found.items()})


def _measure_camera(
    X: np.ndarray,
    people: np.ndarray,
    verifier: Verifier,
    scale: ImpostorPrior = _PLAIN,
    sizes: Sequence[int] = (1, 3),
) -> list[ImpostorEvidence]:
    """Impostors of everybody before a camera, for each number of pictures per person."""
    _, codes, counts = np.unique(people, return_inverse=True, return_counts=True)
    found = []
    for m in sizes:
        rows = [np.flatnonzero(codes == person)[:m] for person in np.flatnonzero(counts >= m)]
        if len(rows) < 10:
            return []
        sums = np.stack([X[mine].sum(axis=0) for mine in rows])
        probes = np.concatenate(rows)
        ones = np.ones(len(probes), dtype=np.int64)
        scores = verifier.score_sums(ones, X[probes], np.full(len(rows), m), sums)
        z = verifier.thresholds_.curve(m).to_deviates(scores)
        evidence = measure_impostors(z, np.repeat(np.arange(len(rows)), m), scale)
        if evidence is not None:
            found.append(evidence)
    return found


Measured = list[tuple[np.ndarray, list[ImpostorEvidence]]]


def learn_stretch_slope(engine: str, measured: Measured) -> float:
    """How much the log stretch of single pictures grows with the shift, by random cameras.

    Bad pictures are also bad to different degrees. A line through the cameras; three fifths of it
    count, as the prior holds a part of it already. 0 for an engine that learns no cameras.
    """
    if engine not in CAMERA_ENGINES or len(measured) < 3:
        return 0.0
    shifts = np.clip([found[0].shift for _, found in measured], 0.0, _FARTHEST)
    slope = np.polyfit(shifts, [found[0].log_stretch for _, found in measured], 1)[0]
    return max(_SLOPE_SHARE * float(slope), 0.0)


def measure_cameras(
    engine: str,
    cache: str | os.PathLike[str],
    home: Any,
    sources: dict[str, Verifier],
    scales: dict[str, ImpostorPrior],
) -> dict[str, Measured]:
    """Vectors and impostors of random cameras, by the source whose people stood before them.

    The impostors are measured by the model of the other half, to whom these people are strangers.
    """
    others = {"half": "other half", "other half": "half"}
    measured: dict[str, Measured] = {"all": []}
    for source, other in others.items():
        rows = [
            (X, _measure_camera(X, people, sources[other], scales[other]))
            for X, people in load_cameras(source, engine, cache, home)
        ]
        measured[source] = [row for row in rows if row[1]]
        measured["all"] += measured[source]
    return measured


def learn_cameras(engine: str, measured: dict[str, Measured]) -> dict[str, CameraModel | None]:
    """What vectors show of their camera, by source; None where an engine's vectors do not."""
    if engine not in CAMERA_ENGINES:
        return dict.fromkeys(measured)
    return {source: learn_camera(found) for source, found in measured.items()}


def learn_shipped(
    engine: str, cache: str | os.PathLike[str], home: Any = None
) -> tuple[dict[str, dict[str, float]], list[dict[str, Any]], dict[str, Any] | None]:
    """What the card of a shipped model says of impostors.

    Priors by kind, rates by group, and how vectors show their camera.
    """
    sources = fit_sources(engine, home)
    scales = fit_scales(engine, sources, home)
    domains = [domain for domain in load_domains(engine, cache, home) if domain.groups is None]
    alike, groups = measure_lookalikes(
        sources["half"], domains[0].X, domains[0].people, scale=scales["half"]
    )
    fits = {d.name: (d.family, fit_domain(d, sources[d.source], scales[d.source])) for d in domains}
    measured = measure_cameras(engine, cache, home, sources, scales)
    slope = learn_stretch_slope(engine, measured["all"])
    priors = learn_prior(fits, alike, scale=scales["all"], stretch_slope=slope)
    rounded = {
        kind: {name: round(value, 3) for name, value in vars(prior).items()}
        for kind, prior in priors.items()
    }
    camera = learn_cameras(engine, measured)["all"]
    return rounded, groups, None if camera is None else camera.to_dict()


def measure_lookalikes(
    verifier: Verifier,
    X: np.ndarray,
    people: np.ndarray,
    n_groups: int = N_GROUPS,
    scale: ImpostorPrior = _PLAIN,
) -> tuple[Lookalikes, list[dict[str, Any]]]:
    """Where impostors within groups of looks lie, and the rates of each group.

    One picture per person; false accept rates within each group at the thresholds for 0.1 % and 1 %
    of strangers.
    """
    _, first = np.unique(people, return_index=True)
    groups = group_by_look(X, people, n_groups)[first]
    X = X[first]
    ones = np.ones(len(X), dtype=np.int64)
    scores = verifier.score_sums(ones, X, ones, X)
    z = verifier.thresholds_.curve(1).to_deviates(scores)
    upper = np.triu(np.ones(z.shape, dtype=bool), 1)
    within = upper & (groups[:, None] == groups[None, :])
    everybody, alike = (_fit_pairs(z[pairs], scale) for pairs in (upper, within))
    apart = ~np.eye(len(z), dtype=bool)
    above = [
        max(_fit_pairs(z[apart & (groups == group)[:, None]], scale)[0] - everybody[0], 0.0)
        for group in range(n_groups)
    ]
    crowd = float(np.sqrt(np.mean(np.square(above))))
    each = [
        _fit_pairs(z[within & (groups == group)[:, None]], scale)[0] for group in range(n_groups)
    ]
    between = float(np.std(each))
    found = Lookalikes(alike[0] - everybody[0], alike[1] - everybody[1], crowd, between)
    rows = []
    for group in range(n_groups):
        mine = within & (groups == group)[:, None]
        rows.append(
            {
                "group": group + 1,
                "people": int(np.count_nonzero(groups == group)),
                **{
                    f"FAR where {far:.1%} of strangers": float(
                        np.mean(scores[mine] >= verifier.threshold(far, size=1))
                    )
                    for far in FARS
                },
            }
        )
    return found, rows


def _fit_pairs(z: np.ndarray, scale: ImpostorPrior = _PLAIN) -> tuple[float, float]:
    """Shift and log stretch of comparisons (n,)."""
    found = measure_unnamed(z, (1 + np.sqrt(1 + 8 * len(z))) / 2, apart=True, scale=scale)
    if found is None:
        raise InputError("there are no comparisons")
    return found.shift, found.log_stretch


@dataclass(frozen=True)
class Draw:
    """A gallery of n people with m pictures, and who comes to the door.

    Attributes
    ----------
    X, people : (n · m, d), (n · m,)
        Enrolled pictures.
    strangers, known, unnamed : (s, n), (p, n), (u, n)
        Scores of probes with the enrolled people.
    owner : (p,)
        Column of each known probe.
    cosines : pair of arrays
        Of strangers and of known probes with the mean vectors.
    n_unnamed : int
        People among the unnamed faces.
    who, door : (n,), (s,)
        Numbers of the people enrolled, and of each stranger's face, in the whole domain.
    vectors : pair of arrays
        Of the strangers and of the known probes.
    """

    n: int
    m: int
    X: np.ndarray
    people: np.ndarray
    strangers: np.ndarray
    known: np.ndarray
    unnamed: np.ndarray
    owner: np.ndarray
    cosines: tuple[np.ndarray, np.ndarray]
    n_unnamed: int
    who: np.ndarray
    door: np.ndarray
    vectors: tuple[np.ndarray, np.ndarray]


def draw_gallery(domain: Domain, verifier: Verifier, n: int, m: int, seed: int) -> Draw | None:
    """Enrol n people with m pictures; None where the domain has too few.

    People with pictures left over are enrolled first. Of those not enrolled, a third gives the
    unnamed faces and the others are strangers.
    """
    rng = np.random.default_rng([seed, n, m])
    X, (_, people) = domain.X, np.unique(domain.people, return_inverse=True)
    if domain.groups is not None:
        sizes = np.bincount(domain.groups)
        group = rng.choice(len(sizes), p=sizes / sizes.sum())
        X, people = X[domain.groups == group], people[domain.groups == group]
    names, codes, counts = np.unique(people, return_inverse=True, return_counts=True)
    more, enough = np.flatnonzero(counts > m), np.flatnonzero(counts == m)
    chosen = np.concatenate([rng.permutation(more), rng.permutation(enough)])[:n]
    if len(chosen) < n or n > 0.67 * len(names) or len(more) == 0:
        return None
    rows, known, owner = [], [], []
    for column, person in enumerate(chosen):
        mine = rng.permutation(np.flatnonzero(codes == person))
        rows.append(mine[:m])
        known.append(mine[m : m + _MOST_KNOWN])
        owner.append(np.full(len(known[-1]), column))
    others = rng.permutation(np.setdiff1d(np.arange(len(names)), chosen))
    third = max(1, len(others) // 3)
    crowd = rng.permutation(np.flatnonzero(np.isin(codes, others[:third])))[:_MOST_UNNAMED]
    door = rng.permutation(np.flatnonzero(np.isin(codes, others[third:])))[:_MOST_PROBES]
    probes, owners = np.concatenate(known), np.concatenate(owner)
    some = rng.permutation(len(probes))[:_MOST_PROBES]
    sums = np.stack([X[mine].sum(axis=0) for mine in rows])
    means = sums / np.linalg.norm(sums, axis=1, keepdims=True)

    def score(which: np.ndarray) -> np.ndarray:
        ones = np.ones(len(which), dtype=np.int64)
        return verifier.score_sums(ones, X[which], np.full(n, m), sums)

    enrolled = np.concatenate(rows)
    return Draw(
        n, m, X[enrolled], np.repeat(np.arange(n), m), score(door), score(probes[some]),
        score(crowd), owners[some], (X[door] @ means.T, X[probes[some]] @ means.T),
        len(np.unique(codes[crowd])), names[chosen], people[door], (X[door], X[probes[some]]),
    )  # fmt: skip


def _is_missed(scores: np.ndarray, owner: np.ndarray, threshold: float) -> np.ndarray:
    """Which known probes (p,) are not named, or named as somebody else."""
    own = scores[np.arange(len(scores)), owner]
    missed: np.ndarray = (own < threshold) | (scores.max(axis=1) > own)
    return missed


def _misses(scores: np.ndarray, owner: np.ndarray, threshold: float) -> float:
    """Share of known probes that are not named, or named as somebody else."""
    return float(np.mean(_is_missed(scores, owner, threshold)))


def _oracle(values: np.ndarray, rate: float) -> float:
    """The threshold that keeps a rate on the very trials it is judged on."""
    falling = np.sort(values.ravel())[::-1]
    return float(np.nextafter(falling[int(np.floor(rate * len(falling)))], np.inf))


def _calibrations(
    verifier: Verifier, draw: Draw, prior: ImpostorPrior, camera: CameraModel | None
) -> dict[str, OwnCalibration | None]:
    own = calibrate_own(verifier, draw.X, draw.people, prior=prior, camera=camera)
    # Nobody sorts out the people of the gallery before: they are among the unnamed faces.
    seen = np.concatenate([draw.unnamed, draw.known[:_MOST_UNNAMED]])
    z = verifier.thresholds_.curve(draw.m).to_deviates(seen)
    unnamed = measure_unnamed(z.ravel(), min(draw.n_unnamed + draw.n, 3 * draw.n), scale=prior)
    both = own if unnamed is None else replace(own, evidence=(*own.evidence, unnamed))
    return {
        "before": None,
        "shipped": OwnCalibration(prior=prior),
        "own": own,
        "own and unnamed": both,
        "strangers known": replace(own, evidence=(_measure_strangers(verifier, draw, prior),)),
    }


def _measure_strangers(verifier: Verifier, draw: Draw, prior: ImpostorPrior) -> ImpostorEvidence:
    """Shift and stretch of the very strangers, as sure as if 200 people had shown them.

    No gallery knows them. How much more they miss than the oracle is what the shape of impostors
    and the oracle's luck on a few hundred faces leave.
    """
    z = verifier.thresholds_.curve(draw.m).to_deviates(draw.strangers)
    found = measure_unnamed(z.ravel(), 200, apart=True, scale=prior)
    if found is None:
        raise InputError("there are no strangers")
    return found


@dataclass(frozen=True)
class _Events:
    """False accepts (d, n) and faces (d,) of strangers, by person; who stood on either side."""

    counts: np.ndarray
    faces: np.ndarray
    door: np.ndarray
    who: np.ndarray

    @classmethod
    def of(cls, draw: Draw, accepted: np.ndarray) -> _Events:
        door, codes = np.unique(draw.door, return_inverse=True)
        counts = np.zeros((len(door), draw.n))
        np.add.at(counts, codes, accepted)
        return cls(counts, np.bincount(codes), door, draw.who)


def factor_interval(
    found: Sequence[_Events], weights: np.ndarray, *, per_comparison: bool
) -> tuple[float, float]:
    """95 % interval of a realised rate: the people of the domain are drawn again.

    A false accept counts as often as both of its people were drawn, so that a rate which comes from
    one pair of people has an interval that begins at 0. The same people stand in all draws of a
    setting: they are drawn again once for all of them, ``weights`` (b, n_people) times each.
    """
    events, trials = np.zeros(len(weights)), np.zeros(len(weights))
    for one in found:
        outside, inside = weights[:, one.door], weights[:, one.who]
        events += np.einsum("bn,bn->b", outside @ one.counts, inside)
        size = len(one.who) if per_comparison else 1
        trials += outside @ one.faces * inside.mean(axis=1) * size
    rates = events / np.maximum(trials, 1e-9)
    low, high = np.quantile(rates, [0.025, 0.975])
    return float(low), float(high)


@dataclass(frozen=True)
class _Missed:
    """Missed probes (n,) by enrolled person: those of a method less those of another one."""

    excess: np.ndarray
    probes: np.ndarray
    who: np.ndarray

    @classmethod
    def of(cls, draw: Draw, missed: np.ndarray, others: np.ndarray) -> _Missed:
        excess = np.zeros(draw.n)
        np.add.at(excess, draw.owner, missed.astype(float) - others.astype(float))
        return cls(excess, np.bincount(draw.owner, minlength=draw.n), draw.who)


def excess_interval(found: Sequence[_Missed], weights: np.ndarray) -> tuple[float, float]:
    """95 % interval of how much more is missed than by another way; people are drawn again.

    Both ways are judged on the same probes, so that what both miss leaves no spread. ``weights``
    as in :func:`factor_interval`.
    """
    excess, probes = np.zeros(len(weights)), np.zeros(len(weights))
    for one in found:
        mine = weights[:, one.who]
        excess += mine @ one.excess
        probes += mine @ one.probes
    low, high = np.quantile(excess / np.maximum(probes, 1e-9), [0.025, 0.975])
    return float(low), float(high)


def _cllr(genuine: np.ndarray, impostor: np.ndarray) -> float:
    costs = np.logaddexp(0, -genuine).mean(), np.logaddexp(0, impostor).mean()
    return float(np.mean(costs) / np.log(2))


def judge(
    verifier: Verifier,
    draw: Draw,
    prior: ImpostorPrior,
    usual: float,
    camera: CameraModel | None = None,
) -> Iterator[dict[str, Any]]:
    """One row a method and stated rate: what was realised, what was missed, what an oracle misses.

    FPIR rows are about naming strangers, FAR rows about single comparisons with enrolled people.
    """
    table = verifier.thresholds_
    genuine = draw.known[np.arange(len(draw.known)), draw.owner]
    stranger, known = draw.cosines
    plain_own = known[np.arange(len(known)), draw.owner]
    found = _calibrations(verifier, draw, prior, camera)
    best = draw.strangers.max(axis=1)
    curve = table.curve(draw.m)
    scores = np.concatenate([genuine, draw.strangers.ravel()])
    same = np.arange(len(scores)) < len(genuine)
    hindsight = LogisticCalibration().fit(scores, same).transform(scores).ravel()
    for method, own in found.items():
        ratios = scores if own is None else own.log_ratios(curve, scores)
        costs = {
            "Cllr": _cllr(ratios[same], ratios[~same]),
            "Cllr, hindsight": _cllr(hindsight[same], hindsight[~same]),
        }
        for kind, rates in (("FPIR", FPIRS), ("FAR", FARS)):
            for stated in rates:
                rate = rate_per_person(stated, draw.n) if kind == "FPIR" else stated
                if own is None:
                    t = table.threshold(rate, size=draw.m, extrapolate=True)
                    promised: Any = bool(table.supports(rate))
                else:
                    t = own.threshold(table, rate, size=draw.m)
                    promised = own.promise(rate).promised
                if kind == "FPIR":
                    accepted = (draw.strangers >= t) & (draw.strangers == best[:, None])
                    realised = float(np.mean(best >= t))
                    missed = _is_missed(draw.known, draw.owner, t)
                    oracle = _is_missed(draw.known, draw.owner, _oracle(best, stated))
                    plain = float(np.mean(stranger.max(axis=1) >= usual))
                    plainly = _is_missed(known, draw.owner, usual)
                else:
                    accepted = draw.strangers >= t
                    realised = float(np.mean(accepted))
                    missed = genuine < t
                    oracle = genuine < _oracle(draw.strangers, stated)
                    plain = float(np.mean(stranger >= usual))
                    plainly = plain_own < usual
                yield {
                    "method": method, "rate": kind, "stated": stated, "realised": realised,
                    "misses": float(missed.mean()), "oracle": float(oracle.mean()),
                    "plain": plain, "plain misses": float(plainly.mean()), "promised": promised,
                    "trials": len(best) if kind == "FPIR" else draw.strangers.size,
                    "events": _Events.of(draw, accepted),
                    "beside oracle": _Missed.of(draw, missed, oracle),
                    "beside plain": _Missed.of(draw, missed, plainly), **costs,
                }  # fmt: skip


def run_adapted(
    domain: Domain,
    verifier: Verifier,
    priors: dict[str, ImpostorPrior],
    setting: tuple[int, int] = (10, 3),
    n_draws: int = 3,
    camera: CameraModel | None = None,
) -> list[dict[str, Any]]:
    """Adapt to the people of a gallery, then name people and strangers: one row a stated FPIR.

    The gallery holds the people that the model was adapted to, as for a user who has no others.
    """
    found: dict[float, list[dict[str, Any]]] = {}
    card: dict[str, Any] = {
        "impostor priors": {kind: vars(prior) for kind, prior in priors.items()}
    }
    if camera is not None:
        card["camera"] = camera.to_dict()
    source = FaceModel(domain.engine, verifier, card)
    for seed in range(n_draws):
        draw = draw_gallery(domain, verifier, *setting, seed)
        if draw is None:
            return []
        adapted = adapt_to(source, draw.X, draw.people, [])
        moved = adapted.model.verifier
        own = calibrate_own(
            moved, draw.X, draw.people, prior=adapted.model.prior(), camera=adapted.model.camera
        )
        sums = np.zeros((draw.n, draw.X.shape[1]))
        np.add.at(sums, draw.people, draw.X)
        strangers, known = (
            moved.score_sums(np.ones(len(V), dtype=np.int64), V, np.full(draw.n, draw.m), sums)
            for V in draw.vectors
        )
        for stated in FPIRS:
            t = own.threshold(moved.thresholds_, rate_per_person(stated, draw.n), size=draw.m)
            oracle = _oracle(strangers.max(axis=1), stated)
            before = _oracle(draw.strangers.max(axis=1), stated)
            found.setdefault(stated, []).append(
                {
                    "realised": float(np.mean(strangers.max(axis=1) >= t)),
                    "misses": _misses(known, draw.owner, t),
                    "oracle": _misses(known, draw.owner, oracle),
                    "oracle, shipped": _misses(draw.known, draw.owner, before),
                    "moved": adapted.moved,
                }
            )
    rows = []
    for stated, drawn in found.items():
        numbers = {
            name: float(np.mean([one[name] for one in drawn]))
            for name in ("realised", "misses", "oracle", "oracle, shipped")
        }
        rows.append(
            {
                "domain": domain.name, "people": setting[0], "pictures": setting[1],
                "stated": stated, **numbers,
                "largest": max(one["realised"] for one in drawn),
                "moved": sum(one["moved"] for one in drawn), "draws": len(drawn),
            }
        )  # fmt: skip
    return rows


def run_domain(
    domain: Domain,
    verifier: Verifier,
    prior: ImpostorPrior,
    settings: Sequence[tuple[int, int]] = SETTINGS,
    n_draws: int = 10,
    camera: CameraModel | None = None,
) -> list[dict[str, Any]]:
    """Means over draws for every setting, method and stated rate of a domain."""
    rows = []
    weights = draw_people(len(np.unique(domain.people)), N_AGAIN, 0)
    for at, (n, m) in enumerate(settings):
        judged: dict[tuple[str, str, float], list[dict[str, Any]]] = {}
        for seed in range(n_draws if n < 300 else max(2, n_draws // 3)):
            draw = draw_gallery(domain, verifier, n, m, seed)
            if draw is None:
                break
            for row in judge(verifier, draw, prior, USUAL[domain.engine], camera):
                judged.setdefault((row["method"], row["rate"], row["stated"]), []).append(row)
        report_progress(domain.label, at + 1, len(settings))
        for (method, kind, stated), found in judged.items():
            numbers = {
                key: float(np.mean([row[key] for row in found]))
                for key in found[0]
                if isinstance(found[0][key], float) and key != "stated"
            }
            low, high = factor_interval(
                [row["events"] for row in found], weights, per_comparison=kind == "FAR"
            )
            more = {
                what: excess_interval([row[f"beside {what}"] for row in found], weights)[0]
                for what in ("oracle", "plain")
            }
            rows.append(
                {
                    "engine": domain.engine, "domain": domain.name, "people": n, "pictures": m,
                    "method": method, "rate": kind, "stated": stated, **numbers,
                    "low": low, "high": high,
                    "more than oracle": more["oracle"], "more than plain": more["plain"],
                    "trials": sum(row["trials"] for row in found),
                    "promised": [row["promised"] for row in found],
                }
            )  # fmt: skip
    return rows
