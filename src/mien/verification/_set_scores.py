"""Ratios of listed pairs among very many sets of pictures, which grow while they are joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mien.errors import InputError

if TYPE_CHECKING:
    from mien.verification._scorer import Scorer

__all__ = ["SetScores"]

#: Pairs that are worked on together: four arrays of them fit into the cache.
_PAIRS = 2048


class SetScores:
    """Sets of pictures by their sizes and sums, and calibrated ratios of pairs that are named.

    Parameters
    ----------
    scorer : Scorer or Verifier
        Compares them.
    sizes : (n,) int
        Pictures of each set.
    sums : (n, d)
        Sums of their vectors. They are kept, and changed by :meth:`join`.

    See Also
    --------
    Scorer.score_sums : All sets against all, which costs the square of their number.

    Notes
    -----
    Coordinates are linear in sizes and sums. So two sets are joined by adding their rows, and a
    pair costs a few passes over ``d`` numbers, whatever the number of pictures.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.recognition import load_source
    >>> from mien.verification import SetScores
    >>> scorer = load_source("sface").scorer
    >>> sums = np.random.default_rng(0).normal(size=(3, 128)).astype(np.float32)
    >>> sets = SetScores(scorer, np.array([1, 1, 2]), sums)
    >>> whole = scorer.score_sums([1], sums[:1], [2], sums[2:])
    >>> bool(np.allclose(sets.score(np.array([0]), np.array([2])), whole[0], rtol=1e-4))
    True
    """

    def __init__(self, scorer: Scorer, sizes: np.ndarray, sums: np.ndarray) -> None:
        scorer = getattr(scorer, "scorer", scorer)
        sums = np.asarray(sums, dtype=np.float32)
        if sums.ndim != 2 or sums.shape[1] != scorer.n_features_in_ or len(sizes) != len(sums):
            raise InputError(
                f"sets need a size and a sum (n, {scorer.n_features_in_}) each; got {len(sizes)} "
                f"sizes and {sums.shape}"
            )
        self.scorer = scorer
        self.sizes = np.array(sizes, dtype=np.int64)
        self.sums = sums
        self._coordinates = {
            name: _project(ratio, self.sizes, sums)
            for name, ratio in scorer._ratios.items()
            if ratio is not None
        }

    def __len__(self) -> int:
        return len(self.sizes)

    def score(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Calibrated log ratios of pairs of sets.

        Parameters
        ----------
        a, b : (n_pairs,) int
            Indices of sets. The smaller set of a pair is the probe.

        Returns
        -------
        (n_pairs,)
            Natural log-likelihood ratios.
        """
        smaller = self.sizes[a] <= self.sizes[b]
        probe, other = np.where(smaller, a, b), np.where(smaller, b, a)
        k = np.minimum(self.sizes[probe], self.scorer.probe_sizes_[-1]).astype(np.int64)
        m = np.minimum(self.sizes[other], self.scorer.sizes_[-1]).astype(np.int64)
        cells = k * (int(self.scorer.sizes_[-1]) + 1) + m
        scores = np.empty(len(a), dtype=np.float32)
        order = np.argsort(cells, kind="stable")
        cuts = np.flatnonzero(np.diff(cells[order])) + 1
        for rows in np.split(order, cuts) if len(order) else []:
            size = int(k[rows[0]]), int(m[rows[0]])
            for start in range(0, len(rows), _PAIRS):
                part = rows[start : start + _PAIRS]
                scores[part] = self._score_cell(probe[part], other[part], *size)
        return scores

    def _score_cell(self, probe: np.ndarray, other: np.ndarray, k: int, m: int) -> np.ndarray:
        """Ratios of pairs whose sides count as k and as m pictures."""
        *weights, offset = self.scorer._cell(k, m)
        scores = np.full(len(probe), offset, dtype=np.float32)
        shrink_p = (k / self.sizes[probe]).astype(np.float32)
        shrink_o = (m / self.sizes[other]).astype(np.float32)
        for (name, ratio), weight in zip(self.scorer._ratios.items(), weights, strict=True):
            if weight == 0:
                continue
            if ratio is not None:
                psi = ratio.psi
                shared = psi / (1 + (k + m) * psi)
                held = self._coordinates[name]
                x, y = held[probe], held[other]
                if np.any(shrink_p != 1):
                    x = x * shrink_p[:, None]
                if np.any(shrink_o != 1):
                    y = y * shrink_o[:, None]
                cross = shared.astype(np.float32)
                mine = (0.5 * (shared - psi / (1 + k * psi))).astype(np.float32)
                theirs = (0.5 * (shared - psi / (1 + m * psi))).astype(np.float32)
                constant = 0.5 * float(
                    np.sum(np.log1p(k * psi) + np.log1p(m * psi) - np.log1p((k + m) * psi))
                )
                value = (x * y) @ cross + np.square(x) @ mine + np.square(y) @ theirs
                scores += np.float32(weight) * (value + np.float32(constant))
                continue
            x, y = self.sums[probe], self.sums[other]
            if name == "cosine":
                lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
                cosine = np.einsum("ij,ij->i", x, y) / np.maximum(lengths, 1e-30)
                scores += np.float32(weight) * cosine
            else:
                x = x / self.sizes[probe].astype(np.float32)[:, None]
                y = y / self.sizes[other].astype(np.float32)[:, None]
                scores -= np.float32(weight) * np.linalg.norm(x - y, axis=1)
        return scores

    def join(self, keep: np.ndarray, gone: np.ndarray) -> None:
        """Merge sets, in place.

        Parameters
        ----------
        keep, gone : (n_pairs,) int
            Set ``gone[i]`` is added to set ``keep[i]``; no set is in two pairs.
        """
        self.sizes[keep] += self.sizes[gone]
        self.sums[keep] += self.sums[gone]
        for held in self._coordinates.values():
            held[keep] += held[gone]


def _project(ratio: object, sizes: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Coordinates of all sets, made in parts."""
    made = [
        ratio.project_sums(sizes[k : k + 65536], sums[k : k + 65536])  # type: ignore[attr-defined]
        for k in range(0, len(sums), 65536)
    ]
    return np.concatenate(made) if made else np.zeros((0, sums.shape[1]), np.float32)
