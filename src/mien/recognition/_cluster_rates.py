"""Where impostors lie in the very photographs that are sorted, found without a name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mien._core.validation import NO_GROUP
from mien.recognition._cluster_linkage import link_faces
from mien.verification import OwnCalibration, Scorer, observe_sets, rate_per_person

__all__ = ["calibrate_faces"]

#: Sets of faces that are looked at; more say hardly more.
_MOST_SETS = 400


def calibrate_faces(
    scorer: Scorer,
    start: OwnCalibration,
    vectors: np.ndarray,
    fpir: float,
    *,
    groups: np.ndarray,
    cannot_link: np.ndarray,
) -> OwnCalibration:
    """Calibrate by the faces that are to be sorted.

    Parameters
    ----------
    scorer : Scorer
    start : OwnCalibration
        What is known before: the model card's, or that of a gallery.
    vectors : (n, d)
    fpir : float
        As in :func:`mien.recognition.cluster`.
    groups : (n,)
        Faces that are one person for certain, -1 for none.
    cannot_link : (n_pairs, 2)
        Faces that are never one person.

    Notes
    -----
    A part of the faces, at most 400 and one per group, is sorted with the calibration that is known
    before. The people that are found are mostly different ones, so comparisons between them show
    where impostors lie with this camera. Where one person or a few were found, nothing is learned.
    """
    rows = _choose_rows(groups)
    if len(rows) < 2:
        return start
    X = vectors[rows]
    rate = rate_per_person(fpir, len(rows) - 1)
    threshold = start.threshold(scorer.thresholds_, rate)
    apart = _restrict(cannot_link, rows, len(vectors))
    found = link_faces(scorer, X, threshold, cannot_link=apart)
    evidence = observe_sets(scorer, X, found.labels, start.prior)
    return start if evidence is None else replace(start, evidence=(*start.evidence, evidence))


def _choose_rows(groups: np.ndarray) -> np.ndarray:
    """One face of every group and all others; a part of them where they are many."""
    alone = np.flatnonzero(groups == NO_GROUP)
    _, first = np.unique(groups[groups != NO_GROUP], return_index=True)
    rows = np.sort(np.concatenate([alone, np.flatnonzero(groups != NO_GROUP)[first]]))
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), _MOST_SETS)).round().astype(int)]


def _restrict(pairs: np.ndarray, rows: np.ndarray, n: int) -> np.ndarray:
    """Pairs of which both are among the rows, numbered by them."""
    place = np.full(n, -1)
    place[rows] = np.arange(len(rows))
    found: np.ndarray = place[pairs]
    return found[(found >= 0).all(axis=1)]
