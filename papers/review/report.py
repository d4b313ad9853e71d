"""The table of orders: answers to the same B-cubed F."""

from __future__ import annotations

from typing import Any

import numpy as np

from mien._core.progress import track
from mien.reports import Report
from papers.review.run import ORDERS, answers_to_reach, draw_faces, load_source, review

__all__ = ["SETTINGS", "reproduce_review"]

#: Engine and kind of LFW's stored vectors.
SETTINGS = (("sface", "clean"), ("sface", "lowres"), ("dlib", "clean"))
#: Share of the way from the first F to the best that is reached.
_WAYS = (0.5, 0.8, 0.95)
_FPIR = 0.001


def reproduce_review(
    home: Any = None, *, n_draws: int = 5, n_people: int = 100, random_state: int = 0
) -> Report:
    """Answers that each order needs, on people of LFW whom the verifier has not seen.

    Parameters
    ----------
    home : path or None
        Where the real data are; None takes ``MIEN_DATA``.
    n_draws : int
        Draws of people.
    n_people : int
        People per draw, each with 3 to 25 pictures.
    random_state : int
        Seed of every draw.
    """
    report = Report(
        "Which question first",
        f"{n_people} people of LFW per draw, {n_draws} draws; groups at FPIR {_FPIR:g} to begin "
        "with",
    )
    n_answers = 4 * n_people
    for engine, kind in SETTINGS:
        source, verifier = load_source(home, engine, kind, random_state)
        curves: dict[str, list[np.ndarray]] = {order: [] for order in ORDERS}
        for draw in track(range(n_draws), f"{engine} {kind}"):
            rng = np.random.default_rng([random_state, draw])
            faces = draw_faces(source, rng, n_people)
            for order in ORDERS:
                curves[order].append(
                    review(faces, verifier, order, fpir=_FPIR, n_answers=n_answers, seed=draw)
                )
        report.table(
            f"{engine}, {kind}: answers needed",
            _rows(curves),
            "Mean over draws, with the standard deviation. The target is a share of the way from "
            "the F of the first groups to the best F that any order reached; > where an order did "
            f"not reach it within {n_answers} answers in some draw.",
        )
    return report


def _rows(curves: dict[str, list[np.ndarray]]) -> list[dict[str, Any]]:
    n_draws = len(next(iter(curves.values())))
    best = [max(one[d].max() for one in curves.values()) for d in range(n_draws)]
    rows = []
    for order, drawn in curves.items():
        row: dict[str, Any] = {
            "order": order,
            "F at first": f"{np.mean([one[0] for one in drawn]):.3f}",
            "F at last": f"{np.mean([one[-1] for one in drawn]):.3f}",
        }
        for way in _WAYS:
            needed = np.array(
                [
                    answers_to_reach(one, one[0] + way * (best[d] - one[0]))
                    for d, one in enumerate(drawn)
                ]
            )
            reached = np.where(np.isinf(needed), len(drawn[0]) - 1, needed)
            mark = "> " if np.isinf(needed).any() else ""
            spread = np.std(reached, ddof=1) if n_draws > 1 else 0.0
            row[f"answers to {way:.0%}"] = f"{mark}{reached.mean():.0f} ± {spread:.0f}"
        rows.append(row)
    return rows
