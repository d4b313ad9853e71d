"""Clusters that respect what is known: who is one person, and who cannot be."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, ClusterMixin, _fit_context
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import cosine_distances, euclidean_distances
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import StrOptions

from mien._core.constraints import NON_NEGATIVE, POSITIVE_INTEGER
from mien._core.rows import validate_rows
from mien._core.validation import check_labels, find_unknown
from mien.errors import InputError

__all__ = ["ConstrainedClustering", "merge_constrained"]


def merge_constrained(distances: np.ndarray, sizes: np.ndarray, linkage: str) -> np.ndarray:
    """Merge clusters pairwise until no allowed pair is left, by the nearest-neighbour chain.

    Parameters
    ----------
    distances : (n, n)
        Between clusters; infinite for two that may never be together. Overwritten.
    sizes : (n,)
        Points in each.
    linkage : {"average", "complete"}
        Of the distances between points of two clusters, their mean or the largest. A union may
        not be with whom either part may not be.

    Returns
    -------
    merges : (n_merges, 3)
        Two representatives and the distance at which they were merged, ascending. A cut at any
        distance is what merging the nearest pair again and again would have given.

    Notes
    -----
    With "infinite stays infinite" both linkages never bring a union nearer to a third cluster
    than the nearer of its parts was, so the chain is exact: O(n²) time and memory.
    """
    n = len(distances)
    sizes = sizes.astype(np.float64).copy()
    np.fill_diagonal(distances, np.inf)
    active = np.ones(n, dtype=bool)
    merges: list[tuple[float, float, float]] = []
    chain: list[int] = []
    for start in range(n):
        if active[start] and not chain:
            chain = [start]
        while chain:
            top = chain[-1]
            row = distances[top]
            nearest = int(np.argmin(row))
            # Prefer going back: equal distances must not make the chain run in circles.
            if len(chain) > 1 and row[chain[-2]] <= row[nearest]:
                nearest = chain[-2]
            if not np.isfinite(row[nearest]):
                # Nobody is allowed to join this cluster any more; it stays as it is.
                chain.pop()
                continue
            if len(chain) > 1 and nearest == chain[-2]:
                chain = chain[:-2]
                _unite(distances, sizes, active, nearest, top, linkage, merges)
                if not chain:
                    chain = [nearest]
            else:
                chain.append(nearest)
    merges.sort(key=lambda merge: merge[2])
    return np.asarray(merges).reshape(-1, 3)


def _unite(
    distances: np.ndarray,
    sizes: np.ndarray,
    active: np.ndarray,
    keep: int,
    gone: int,
    linkage: str,
    merges: list[tuple[float, float, float]],
) -> None:
    merges.append((keep, gone, float(distances[keep, gone])))
    a, b = distances[keep], distances[gone]
    if linkage == "complete":
        row = np.maximum(a, b)
    else:
        row = (sizes[keep] * a + sizes[gone] * b) / (sizes[keep] + sizes[gone])
    row[keep] = np.inf
    row[~active] = np.inf
    distances[keep, :], distances[:, keep] = row, row
    distances[gone, :], distances[:, gone] = np.inf, np.inf
    sizes[keep] += sizes[gone]
    active[gone] = False


def _unions(n: int, pairs: np.ndarray) -> np.ndarray:
    """Component (n,) of each point when the pairs (k, 2) are joined."""
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return connected_components(graph, directed=False)[1]


def _number_in_order(labels: np.ndarray) -> np.ndarray:
    """The same partition, numbered from 0 in the order in which clusters first come."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


class ConstrainedClustering(ClusterMixin, BaseEstimator):
    """Cluster points of which some are known to be together, and some known to be apart.

    Points of one group (a track, a burst) are one person; two faces in one picture are two.

    Parameters
    ----------
    n_clusters : int or None
        How many clusters; None merges as far as ``threshold`` allows.
    threshold : float or None
        Largest distance at which two clusters are merged; None merges down to ``n_clusters``.
    method : {"agglomerative", "kmeans"}
        K-means moves whole groups, and takes no pairs that are apart.
    linkage : {"average", "complete"}
        Distance of two clusters, for ``method="agglomerative"``.
    metric : {"cosine", "euclidean"}, default="cosine"
        Distance of two points: one minus their cosine, or the Euclidean one. K-means with the
        cosine scales every point to unit length first. The cosine suits projected points, whose
        origin is their mean (see :class:`NearestNeighbourIdentifier`).
    n_init : int
        Starts of K-means.
    random_state : int, RandomState or None
        For the starts of K-means.

    Attributes
    ----------
    labels_ : (n_samples,)
        Clusters from 0, numbered in the order in which they first come.
    n_clusters_ : int
        More than asked for where pairs that are apart allow no fewer.
    merge_distances_ : (n_merges,)
        Ascending, for ``method="agglomerative"``.

    See Also
    --------
    NullSpaceProjection : A projection to cluster in, learned from the same groups.
    RelevantComponents : Another one.
    mien.recognition.cluster : Sorts photographs by calibrated ratios instead of distances.

    Notes
    -----
    With must-link groups K-means is the weighted K-means of the groups' means: what varies inside
    a group costs the same wherever the group goes.

    References
    ----------
    [Kumar2007]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.subspace import ConstrainedClustering
    >>> X = np.array([[0.0], [0.2], [0.4], [5.0], [5.2]])
    >>> ConstrainedClustering(2, metric="euclidean").fit_predict(X).tolist()
    [0, 0, 0, 1, 1]
    >>> model = ConstrainedClustering(threshold=1.0, metric="euclidean")
    >>> model.fit(X, cannot_link=[(0, 1)]).labels_.tolist()
    [0, 1, 1, 2, 2]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [POSITIVE_INTEGER, None],
        "threshold": [NON_NEGATIVE, None],
        "method": [StrOptions({"agglomerative", "kmeans"})],
        "linkage": [StrOptions({"average", "complete"})],
        "metric": [StrOptions({"euclidean", "cosine"})],
        "n_init": [POSITIVE_INTEGER],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        threshold: float | None = None,
        method: str = "agglomerative",
        linkage: str = "average",
        metric: str = "cosine",
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.threshold = threshold
        self.method = method
        self.linkage = linkage
        self.metric = metric
        self.n_init = n_init
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, groups: Any = None, cannot_link: Any = None) -> Self:
        """Cluster X (n_samples, n_features).

        Parameters
        ----------
        X : (n_samples, n_features)
        y : ignored
        groups : (n_samples,) or None
            Points of a group stay together; -1 for points in none.
        cannot_link : (n_pairs, 2) or None
            Rows of points that are in different clusters.
        """
        X = validate_rows(self, X, dtype=np.float64)
        if self.n_clusters is None and self.threshold is None and self.method == "kmeans":
            raise InputError('method="kmeans" needs n_clusters')
        pieces = _check_pieces(groups, len(X))
        apart = _check_apart(cannot_link, pieces)
        n_pieces = int(pieces.max()) + 1
        if self.n_clusters is not None and self.n_clusters > n_pieces:
            raise InputError(
                f"n_clusters={self.n_clusters} is more than the {n_pieces} points or groups there "
                "are"
            )
        if self.method == "kmeans":
            labels = self._fit_kmeans(X, pieces, apart)
        else:
            labels = self._fit_agglomerative(X, pieces, apart)
        self.labels_ = _number_in_order(labels)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def fit_predict(
        self, X: Any, y: Any = None, *, groups: Any = None, cannot_link: Any = None
    ) -> np.ndarray:
        """Cluster (n_samples,) of each point: :meth:`fit`, then ``labels_``."""
        return self.fit(X, y, groups=groups, cannot_link=cannot_link).labels_

    def _fit_kmeans(self, X: np.ndarray, pieces: np.ndarray, apart: np.ndarray) -> np.ndarray:
        if len(apart):
            raise InputError('method="kmeans" takes no cannot_link: use method="agglomerative"')
        counts = np.bincount(pieces)
        means = _piece_means(normalize(X) if self.metric == "cosine" else X, pieces, counts)
        model = KMeans(self.n_clusters, n_init=self.n_init, random_state=self.random_state)
        return model.fit(means, sample_weight=counts).labels_[pieces]

    def _fit_agglomerative(
        self, X: np.ndarray, pieces: np.ndarray, apart: np.ndarray
    ) -> np.ndarray:
        between = cosine_distances(X) if self.metric == "cosine" else euclidean_distances(X)
        counts = np.bincount(pieces)
        if len(counts) < len(X):
            between = _piece_distances(between, pieces, counts, self.linkage)
        between[apart[:, 0], apart[:, 1]] = between[apart[:, 1], apart[:, 0]] = np.inf
        merges = merge_constrained(between, counts, self.linkage)
        self.merge_distances_ = merges[:, 2]
        keep = len(merges)
        if self.threshold is not None:
            keep = int(np.searchsorted(merges[:, 2], self.threshold, side="right"))
        if self.n_clusters is not None:
            keep = min(keep, len(counts) - self.n_clusters)
        elif self.threshold is None:
            keep = min(keep, max(0, len(counts) - 2))
        return _unions(len(counts), merges[:keep, :2])[pieces]


def _check_pieces(groups: Any, n: int) -> np.ndarray:
    """Number (n,) of what must stay together: each group, and each point in none."""
    if groups is None:
        return np.arange(n)
    groups = check_labels("groups", groups, n, missing="unknown")
    names = np.array([f"g{group}" for group in groups])
    alone = np.char.add("p", np.arange(n).astype(str))
    names = np.where(find_unknown(groups), alone, names)
    return _number_in_order(names)


def _check_apart(cannot_link: Any, pieces: np.ndarray) -> np.ndarray:
    """Pairs (k, 2) of pieces that must not be together."""
    pairs = np.asarray([] if cannot_link is None else cannot_link, dtype=np.int64)
    if pairs.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"cannot_link must have the shape (n_pairs, 2); got {pairs.shape}")
    if pairs.min() < 0 or pairs.max() >= len(pieces):
        raise InputError(f"cannot_link has rows outside 0 … {len(pieces) - 1}")
    apart = pieces[pairs]
    clash = np.flatnonzero(apart[:, 0] == apart[:, 1])
    if clash.size:
        i, j = pairs[clash[0]]
        raise InputError(
            f"points {i} and {j} are in one group and must be apart: {clash.size} of "
            f"{len(pairs)} pairs of cannot_link contradict the groups"
        )
    return apart


def _piece_means(X: np.ndarray, pieces: np.ndarray, counts: np.ndarray) -> np.ndarray:
    sums = np.zeros((len(counts), X.shape[1]))
    np.add.at(sums, pieces, X)
    return sums / counts[:, None]


def _piece_distances(
    distances: np.ndarray, pieces: np.ndarray, counts: np.ndarray, linkage: str
) -> np.ndarray:
    """Linkage distances (k, k) of groups of points from those of points (n, n)."""
    order = np.argsort(pieces, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    reduce = np.maximum.reduceat if linkage == "complete" else np.add.reduceat
    out = reduce(reduce(distances[np.ix_(order, order)], starts, axis=0), starts, axis=1)
    return out if linkage == "complete" else out / np.outer(counts, counts)
