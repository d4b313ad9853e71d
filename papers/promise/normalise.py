"""What is known to help under shift, tried on the same pairs: centring, length, cohorts, looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import RidgeCV

from mien.verification import Verifier
from papers.promise.data import Domain

__all__ = ["NORMALISATIONS", "compare_normalisations", "learn_heights"]

NORMALISATIONS = (
    "shipped score",
    "cosine",
    "centred cosine",
    "cohort of the model",
    "nearest of that cohort",
    "cohort of the domain",
    "height of the look",
)
_MOST_PICTURES, _COHORT, _NEAREST = 1500, 500, 50
#: Mean looks, how fast they fade with the cosine, and the share of impostors that is a height.
_LOOKS, _FADING, _HIGHEST = 64, 20.0, 0.03

Heights = Callable[[np.ndarray], np.ndarray]


def _unit(X: np.ndarray) -> np.ndarray:
    unit: np.ndarray = X / np.linalg.norm(X, axis=1, keepdims=True)
    return unit


def _draw_cohort(verifier: Verifier, rng: np.random.Generator) -> np.ndarray:
    """People who do not exist, from the model's mean and covariances; nobody's vector."""
    model = verifier.model_
    covariance = model.identity_covariance_ + model.variation_covariance_
    return _unit(rng.multivariate_normal(model.mean_, covariance, _COHORT))


def _score(verifier: Verifier, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    ones = np.ones(len(X), dtype=np.int64), np.ones(len(Y), dtype=np.int64)
    return verifier.score_sums(ones[0], X, ones[1], Y)


def _normalise(scores: np.ndarray, cohort: np.ndarray, nearest: int | None) -> np.ndarray:
    """Symmetric score normalisation: means and deviations of both sides with a cohort."""
    kept = cohort if nearest is None else -np.sort(-cohort, axis=1)[:, :nearest]
    mean, deviation = kept.mean(axis=1), kept.std(axis=1)
    left = (scores - mean[:, None]) / deviation[:, None]
    right = (scores - mean[None, :]) / deviation[None, :]
    halves: np.ndarray = (left + right) / 2
    return halves


def learn_heights(verifier: Verifier, X: np.ndarray, people: np.ndarray) -> Heights:
    """How high the impostors of a face lie, by its look; from one picture per person.

    An engine may take all people of one look for each other. The mean score of a face's highest
    impostors says so; it is learned by ridge regression on the nearness to some mean looks, each
    the mean of many people. Nobody's vector is kept.
    """
    _, first = np.unique(people, return_index=True)
    X = X[first]
    scores = _score(verifier, X, X)
    np.fill_diagonal(scores, -np.inf)
    n = max(1, round(_HIGHEST * len(X)))
    heights = np.partition(scores, -n, axis=1)[:, -n:].mean(axis=1)
    means = KMeans(min(_LOOKS, len(X) // 4), n_init=2, random_state=0).fit(X).cluster_centers_
    looks = _unit(means)

    def near(Y: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.exp(_FADING * (Y @ looks.T - 1))
        return found

    model = RidgeCV(np.logspace(-3, 4, 15)).fit(near(X), heights)
    return lambda Y: model.predict(near(Y))


def _all_scores(
    domain: Domain, verifier: Verifier, heights: Heights, seed: int
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Score matrices of the pictures of a domain by every method, and whose pictures they are."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(domain.X))[:_MOST_PICTURES]
    half = len(rows) // 3
    X, others = domain.X[rows[half:]], domain.X[rows[:half]]
    plain = _score(verifier, X, X)
    invented = _score(verifier, X, _draw_cohort(verifier, rng))
    # Faces without names, of whom nothing is known but that they are of this camera.
    seen = _score(verifier, X, others)
    centred = _unit(X - others.mean(axis=0))
    height = heights(X)
    return {
        "shipped score": plain,
        "cosine": X @ X.T,
        "centred cosine": centred @ centred.T,
        "cohort of the model": _normalise(plain, invented, None),
        "nearest of that cohort": _normalise(plain, invented, _NEAREST),
        "cohort of the domain": _normalise(plain, seen, None),
        "height of the look": plain - (height[:, None] + height[None, :]) / 2,
    }, domain.people[rows[half:]]


def _split(scores: np.ndarray, people: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.triu_indices(len(people), 1)
    same = people[first] == people[second]
    values = scores[first, second]
    return values[same], values[~same]


def compare_normalisations(
    domains: Sequence[Domain],
    verifiers: Sequence[Verifier],
    heights: Heights,
    far: float = 0.001,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """For each domain and method: realised over stated rate at LFW's threshold, and misses.

    The threshold comes from the first domain and holds for all: what a calibration without any of
    one's own data can do. Misses are those at a threshold that keeps the rate in the domain itself.
    """
    rows: list[dict[str, Any]] = []
    thresholds: dict[str, float] = {}
    for domain, verifier in zip(domains, verifiers, strict=True):
        found, people = _all_scores(domain, verifier, heights, seed)
        for kind in ("realised / stated", "misses"):
            row: dict[str, Any] = {"domain": domain.name, "what": kind}
            for method, scores in found.items():
                genuine, impostor = _split(scores, people)
                thresholds.setdefault(method, float(np.quantile(impostor, 1 - far)))
                if kind == "misses":
                    row[method] = float(np.mean(genuine < np.quantile(impostor, 1 - far)))
                else:
                    row[method] = float(np.mean(impostor >= thresholds[method]) / far)
            rows.append(row)
    return rows
