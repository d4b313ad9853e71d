"""Choosing what the labels would choose, without labels: by groups that were held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from mien._core.linalg import thin_svd
from mien._core.progress import track
from mien._core.sampling import assign_folds
from mien._core.validation import NO_GROUP, check_choice, check_groups
from mien.errors import NotEnoughDataError
from mien.subspace._contrasts import group_contrasts

__all__ = [
    "choose_n_components",
    "choose_sigma",
    "dimension_grid",
    "group_consistency",
    "guess_n_components",
    "hold_out_groups",
    "median_root",
    "sample_groups",
    "scale_n_components",
]

_FOLDS = 3
MIN_GROUPS = 4
MOST_POINTS = 1500


def group_consistency(X: Any, groups: Any, *, metric: str = "cosine") -> float:
    """How well points find the companions of their own group among all others.

    Parameters
    ----------
    X : (n_samples, n_features)
        Projected points of groups that the projection has not seen.
    groups : (n_samples,)
        Their groups; None, NaN and -1 are none: those only stand in the way.
    metric : {"cosine", "euclidean"}, default="cosine"
        What near means; projected points are compared by their cosine.

    Returns
    -------
    float
        Mean over all points in groups of ``1 / (1 + strangers nearer than the nearest
        companion)``: 1 where every nearest neighbour is a companion. Points of other groups count
        as strangers although some may be of the same class: that lowers the value and hardly
        changes which of two projections is better.

    Examples
    --------
    >>> from mien.subspace import group_consistency
    >>> group_consistency([[0.0, 1.0], [0.1, 1.0], [5.0, 1.0], [5.1, 1.2]], [0, 0, 1, 1])
    1.0
    """
    X = np.asarray(X, dtype=np.float64)
    groups = check_groups(groups, len(X))
    check_choice("metric", metric, ("cosine", "euclidean"))
    same = (groups[:, None] == groups) & (groups[:, None] != NO_GROUP)
    np.fill_diagonal(same, False)
    asked = same.any(axis=1)
    if X.shape[1] == 0:  # nothing is left of the points: every stranger is as near as a companion
        strangers = ~same
    else:
        # Of vectors of unit length, the nearer by distance is the nearer by cosine.
        distances = euclidean_distances(normalize(X) if metric == "cosine" else X)
        nearest = np.where(same, distances, np.inf).min(axis=1, keepdims=True)
        strangers = (distances < nearest) & ~same
    np.fill_diagonal(strangers, False)
    return float(np.mean(1.0 / (1 + strangers[asked].sum(axis=1))))


def hold_out_groups(
    groups: np.ndarray, random_state: Any = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows (learn, held out) of each fold: whole groups are held out, never parts of one.

    Points in no group and groups of one point are in neither part. Fewer than four groups of two
    points are refused.
    """
    names, counts = np.unique(groups[groups != NO_GROUP], return_counts=True)
    names = names[counts >= 2]
    if len(names) < MIN_GROUPS:
        raise NotEnoughDataError(
            f"choosing by held-out groups needs at least {MIN_GROUPS} groups of two or more "
            f"points; got {len(names)}: give the number yourself"
        )
    n_splits = min(_FOLDS, len(names) // 2)
    useful = np.flatnonzero(np.isin(groups, names))
    fold = assign_folds(groups[useful], n_splits, check_random_state(random_state))
    for part in range(n_splits):
        yield useful[fold != part], useful[fold == part]


def sample_groups(groups: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Rows of whole groups, at most about ``MOST_POINTS`` of them: the choice needs no more."""
    names, counts = np.unique(groups[groups != NO_GROUP], return_counts=True)
    order = rng.permutation(len(names))
    chosen = names[order[np.cumsum(counts[order]) <= max(MOST_POINTS, counts[order[0]])]]
    return np.flatnonzero(np.isin(groups, chosen))


def _pick(candidates: Sequence[float], scores: np.ndarray) -> tuple[float, float]:
    """The candidate of the best mean over folds (n_splits, n_candidates), and that mean."""
    means = scores.mean(axis=0)
    # Rounding decides between candidates that are as good: the first is the simplest.
    best = int(np.argmax(means >= means.max() - 1e-12))
    return candidates[best], float(means[best])


def dimension_grid(most: int) -> list[int]:
    """Numbers of components to try: about three each doubling, up to ``most``."""
    grid = np.unique(np.round(4 * 2 ** np.arange(0, 14, 1 / 3)).astype(int))
    return [int(m) for m in grid if m < most] + [most] if most > 4 else [most]


def guess_n_components(n_residuals: int) -> int:
    """A number of components where too few groups are there to choose one by.

    A covariance of half as many directions as there are residuals is known well enough to be
    inverted. On four sets of faces that was as good as the number chosen by held-out groups; a
    quarter of the residuals was worse, and all of them useless.
    """
    return max(1, n_residuals // 2)


def scale_n_components(n_components: int, n_learned: int, n_residuals: int) -> int:
    """A number chosen with ``n_learned`` residuals, for all ``n_residuals`` of them.

    With more residuals more directions are known as well, up to half of their number.
    """
    grown = round(n_components * n_residuals / max(n_learned, 1))
    return max(n_components, min(grown, n_residuals // 2))


def choose_n_components(X: Any, groups: Any, *, random_state: Any = None) -> int:
    """Number of principal components before whitening that serves held-out groups best.

    Parameters
    ----------
    X : (n_samples, n_features)
    groups : (n_samples,)
        -1 for points in no group. At least four groups of two or more points.
    random_state : int, RandomState or None
        Draws the folds, and which groups are used beyond 1,500 points.

    Returns
    -------
    int
        For :class:`RelevantComponents`. One decomposition per fold serves every number tried. The
        number that suits the folds, which have fewer residuals, is scaled to all of them.
    """
    rng = check_random_state(random_state)
    groups = check_groups(groups, len(X))
    rows = sample_groups(groups, rng)
    X, groups = np.asarray(X[rows], dtype=np.float64), groups[rows]
    folds = list(hold_out_groups(groups, rng))
    smallest = min(len(learn) - len(np.unique(groups[learn])) for learn, _ in folds)
    grid = dimension_grid(max(1, min(smallest, X.shape[1])))
    scores = np.zeros((len(folds), len(grid)))
    for f, (learn, held_out) in enumerate(track(folds, "choosing the dimension")):
        contrasts = group_contrasts(X[learn], groups[learn])
        U, s, Vt = thin_svd(np.concatenate([contrasts.within, contrasts.between]))
        residuals = U[: len(contrasts.within)] * s
        points = (X[held_out] - contrasts.mean) @ Vt.T
        scores[f] = whitened_consistencies(residuals, points, groups[held_out], grid)
    chosen = int(_pick(grid, scores)[0])
    n_residuals = len(X) - len(np.unique(groups))
    return min(scale_n_components(chosen, smallest, n_residuals), X.shape[1])


def whitened_consistencies(
    residuals: np.ndarray, points: np.ndarray, groups: np.ndarray, grid: Sequence[int]
) -> list[float]:
    """Consistency of held-out points after whitening the first m coordinates, for each m."""
    out = []
    for m in grid:
        m = min(m, residuals.shape[1])
        _, s, Vt = linalg.svd(residuals[:, :m], full_matrices=False, check_finite=False)
        keep = s > 1e-9 * s.max(initial=0.0)
        out.append(group_consistency(points[:, :m] @ (Vt[keep].T / s[keep]), groups))
    return out


def median_root(squared_distances: np.ndarray) -> float:
    """Root of the median of the squared distances (n, n) of points that differ; 1 without any."""
    upper = squared_distances[np.triu_indices(len(squared_distances), k=1)]
    positive = upper[upper > 0]
    return float(np.sqrt(np.median(positive))) if positive.size else 1.0


def choose_sigma(
    squared_distances: np.ndarray,
    groups: np.ndarray,
    project: Callable[[float, np.ndarray, np.ndarray], list[np.ndarray]],
    *,
    candidates: Sequence[float] | None = None,
    random_state: Any = None,
) -> tuple[float, int]:
    """Width of a Gaussian kernel that serves held-out groups best.

    Parameters
    ----------
    squared_distances : (n, n)
        Of the points of groups.
    groups : (n,)
        -1 for points in no group.
    project : callable
        ``project(sigma, learn, held_out)`` gives the projections of the held-out rows, one for
        each number of components that is tried.
    candidates : sequence of float or None
        Widths to try; None tries the median distance times 8, 4, 2, 1 and 1/2.

    Returns
    -------
    sigma : float
        The first candidate whose mean over folds is within one standard error of the best.
    variant : int
        Which of the projections was best.
    """
    rng = check_random_state(random_state)
    if candidates is None:
        candidates = [median_root(squared_distances) * factor for factor in (8, 4, 2, 1, 0.5)]
    folds = list(hold_out_groups(groups, rng))
    found = []
    for sigma in track(candidates, "choosing sigma"):
        by_fold = [
            [group_consistency(Z, groups[held_out]) for Z in project(sigma, learn, held_out)]
            for learn, held_out in folds
        ]
        variants = min(map(len, by_fold))
        scores = np.asarray([row[:variants] for row in by_fold])
        variant, value = _pick(range(variants), scores)
        spread = float(scores[:, int(variant)].std()) / np.sqrt(len(folds))
        found.append((value, spread, sigma, int(variant)))
    best = max(found)
    # The first that is as good up to chance: of widths, the widest is nearest to a linear method.
    return next(
        (sigma, variant) for value, _, sigma, variant in found if value >= best[0] - best[1]
    )
