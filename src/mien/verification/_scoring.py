"""Likelihood ratios of a fitted Joint Bayesian model: pairs, matrices, sets, templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mien._core.rows import check_rows, validate_rows
from mien._core.validation import check_choice
from mien.errors import InputError
from mien.verification._ratios import GaussianRatio, iter_sizes, set_ratios, sum_sets

__all__ = ["RatioScores", "ScoreBlock"]


class ScoreBlock(NamedTuple):
    """A piece of a score matrix, and which rows and columns it is of.

    A stream of these is what :func:`mien.evaluation.evaluate_all_pairs` takes.
    """

    scores: np.ndarray
    rows: slice
    columns: slice


class RatioScores:
    """Scores of a model with ``mean_``, ``projection_``, ``variance_ratios_`` (r,) and ``rank_``.

    All scores are natural-log likelihood ratios of "the same person" against "two people", with
    their constant: 0 is the threshold for equal priors. The first ``rank_`` directions are used.

    Notes
    -----
    With ``z = projectionᵀ (x − mean)`` the variation is white and the identity diagonal, psi. The
    template is ``t = z √(psi/(1+2psi))``, and

    .. math:: LLR = t_1^T t_2 + q(t_1) + q(t_2), \\qquad
       q(t) = -\\tfrac12 \\sum_k \\frac{\\psi_k}{1+\\psi_k} t_k^2
       + \\tfrac12 \\sum_k [\\log(1+\\psi_k) - \\tfrac12 \\log(1+2\\psi_k)]

    which is eq. 13 of the paper with the right B and its constant. Two sets of pictures depend on
    their sizes and sums only:
    :math:`f(m_1+m_2, s_1+s_2) - f(m_1, s_1) - f(m_2, s_2)` with
    :math:`f(m, s) = \\tfrac12 \\sum_k [\\psi_k s_k^2/(1+m\\psi_k) - \\log(1+m\\psi_k)]`.
    """

    mean_: np.ndarray
    projection_: np.ndarray
    variance_ratios_: np.ndarray
    rank_: int

    def transform(self, X: Any) -> np.ndarray:
        """Templates of vectors: compute them once per picture, compare them often.

        Parameters
        ----------
        X : (n, d)
            Vectors of the features that the model was fitted on.

        Returns
        -------
        (n, r)
            Templates of ``rank_`` numbers. Their inner product is the cross term of the log ratio;
            see :meth:`score_templates` for the whole of it.
        """
        return GaussianRatio.of(self).templates(self._check(X))

    def score_templates(self, T1: Any, T2: Any) -> np.ndarray:
        """Log ratios of pairs of templates.

        Parameters
        ----------
        T1, T2 : (n, r)
            Templates from :meth:`transform`, compared row by row.

        Returns
        -------
        (n,)
            Natural log-likelihood ratios, equal to those of :meth:`score_pairs` up to rounding.
        """
        T1, T2 = self._check_templates(T1), self._check_templates(T2)
        if T1.shape != T2.shape:
            raise InputError(f"the templates must be pairs; got {T1.shape} and {T2.shape}")
        return GaussianRatio.of(self).score_templates(T1, T2)

    def score_pairs(self, X1: Any, X2: Any) -> np.ndarray:
        """Log ratios of pairs of vectors.

        Parameters
        ----------
        X1, X2 : (n, d)
            Vectors of the features that the model was fitted on; row i of one is compared with row
            i of the other.

        Returns
        -------
        (n,)
            Natural log-likelihood ratios: above 0 speaks for one person, below for two.
            They are calibrated only as far as the model's assumptions hold; see :class:`Verifier`.
        """
        X1, X2 = self._check(X1), self._check(X2)
        if X1.shape != X2.shape:
            raise InputError(f"X1 and X2 must be pairs; got {X1.shape} and {X2.shape}")
        return GaussianRatio.of(self).score_pairs(X1, X2)

    def as_inner_product(self, X: Any, side: str) -> np.ndarray:
        """Vectors (n, r + 2) whose inner products are the log ratios, exactly.

        Parameters
        ----------
        X : (n, d)
            Vectors.
        side : {"query", "index"}
            Which side of the search they are on: put the "index" side of the gallery into any
            maximum-inner-product search and ask with the "query" side.
        """
        check_choice("side", side, ("query", "index"))
        ratio = GaussianRatio.of(self)
        return _augment(ratio, ratio.templates(self._check(X)), side)

    def score_matrix(
        self, X: Any, Y: Any = None, out: np.ndarray | None = None, block_size: int = 4096
    ) -> np.ndarray:
        """Log ratios (n, m) of every x with every y, in blocks of rows.

        Parameters
        ----------
        X : (n, d)
            Vectors.
        Y : (m, d), optional
            The other side; X itself if not given.
        out : (n, m) array, optional
            Where to write, for example a memory map.
        block_size : int
            Rows that are computed together.
        """
        left, right = self._sides(X, Y)
        shape = (len(left), len(right))
        if out is None:
            out = np.empty(shape, dtype=left.dtype)
        elif out.shape != shape:
            raise InputError(f"out must have the shape {shape}; got {out.shape}")
        direct = out.dtype == left.dtype and isinstance(out, np.ndarray) and out.flags.c_contiguous
        for start in range(0, len(left), _check_block(block_size)):
            rows = slice(start, start + block_size)
            if direct:
                np.matmul(left[rows], right.T, out=out[rows])
            else:
                out[rows] = left[rows] @ right.T
        return out

    def iter_score_blocks(
        self, X: Any, Y: Any = None, block_size: int = 2048
    ) -> Iterator[ScoreBlock]:
        """Yield the score matrix piece by piece, for more pairs than fit into memory.

        For X against itself only the blocks on and above the diagonal are computed; in those on
        the diagonal, keep ``scores[i, j]`` with ``j > i``.

        Parameters
        ----------
        X : (n, d)
            Vectors.
        Y : (m, d), optional
            The other side; X itself if not given.
        block_size : int
            Rows and columns of a block.

        Yields
        ------
        ScoreBlock
            ``(scores, rows, columns)``.
        """
        left, right = self._sides(X, Y)
        size = _check_block(block_size)
        for top in range(0, len(left), size):
            rows = slice(top, min(top + size, len(left)))
            for first in range(top if Y is None else 0, len(right), size):
                columns = slice(first, min(first + size, len(right)))
                yield ScoreBlock(left[rows] @ right[columns].T, rows, columns)

    def score_sets(self, probes: Sequence[Any], galleries: Sequence[Any]) -> np.ndarray:
        """Log ratios (n_probes, n_galleries) of sets of pictures, exact under the model.

        Parameters
        ----------
        probes, galleries : list of (m_i, d)
            The pictures of each side; all of one set show one person.
        """
        ratio = GaussianRatio.of(self)

        def project(X: np.ndarray) -> np.ndarray:
            return ratio.project(self._check(X))

        m1, z1 = sum_sets("probes", probes, project)
        m2, z2 = sum_sets("galleries", galleries, project)
        psi = ratio.psi.astype(z1.dtype)
        scores = np.empty((len(m1), len(m2)), dtype=z1.dtype)
        for a, rows, b, columns in iter_sizes(m1, m2):
            scores[np.ix_(rows, columns)] = set_ratios(a, z1[rows], b, z2[columns], psi)
        return scores

    # What the methods above share.

    def _check(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "projection_")
        checked: np.ndarray = validate_rows(
            self, X, reset=False, dtype=[np.float64, np.float32], ensure_min_samples=1
        )
        return checked

    def _check_templates(self, T: Any) -> np.ndarray:
        check_is_fitted(self, "projection_")
        checked: np.ndarray = check_rows(T, dtype=[np.float64, np.float32])
        if checked.shape[1] != self.rank_:
            raise InputError(f"a template has {self.rank_} numbers; got {checked.shape[1]}")
        return checked

    def _sides(self, X: Any, Y: Any) -> tuple[np.ndarray, np.ndarray]:
        ratio = GaussianRatio.of(self)
        templates = ratio.templates(self._check(X))
        others = templates if Y is None else ratio.templates(self._check(Y))
        dtype = np.result_type(templates, others)
        left, right = _augment(ratio, templates, "query"), _augment(ratio, others, "index")
        return left.astype(dtype, copy=False), right.astype(dtype, copy=False)


def _augment(ratio: GaussianRatio, T: np.ndarray, side: str) -> np.ndarray:
    """Templates T (n, r) with two more columns, so that inner products are whole log ratios."""
    vectors = np.empty((len(T), T.shape[1] + 2), dtype=T.dtype)
    vectors[:, :-2] = T
    own, one = (-2, -1) if side == "query" else (-1, -2)
    vectors[:, own] = ratio.own(T)
    vectors[:, one] = 1
    return vectors


def _check_block(block_size: int) -> int:
    if block_size < 1:
        raise InputError(f"block_size must be at least 1; got {block_size}")
    return int(block_size)
