"""Tilted heads: photographs turned by some degrees, compared with the other ones of each person.

``python -m benchmarks tilted`` needs the photographs of ``MIEN_DATA``; ``--page docs/faces.md``
also puts the table into that page. "As found" takes the landmarks that the engine gives, in the
best of the four turns; "straightened" is `detect_faces`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.data import find_data
from benchmarks.measure import Row
from tools.tables import make_table

__all__ = ["ANGLES", "make_tables", "rows"]

ANGLES = (0, 10, 20, 30, 45, -45, 60, 135)
_WAYS = ("as found", "straightened")


def rows() -> Iterator[Row]:
    """Yield the processor time per picture of each way at each angle; ``note`` has the shares."""
    from PIL import Image

    from mien.faces import borrow_engine
    from mien.faces._detection import _detect_turned, _straighten
    from mien.recognition import load_source

    files = sorted(find_data("photos", "five_people").glob("*/*.jpg"))
    people = np.asarray([file.parent.name for file in files])
    model = load_source("sface")
    with borrow_engine("sface") as engine:
        upright: np.ndarray | None = None
        for degrees in ANGLES:
            vectors = {way: np.zeros((len(files), engine.dimension)) for way in _WAYS}
            seconds = dict.fromkeys(_WAYS, 0.0)
            for k, file in enumerate(files):
                with Image.open(file) as opened:
                    turned = opened.convert("RGB").rotate(
                        degrees, expand=True, resample=Image.Resampling.BICUBIC
                    )
                image = np.asarray(turned)
                begin = time.process_time()
                faces = _detect_turned(image, engine)
                middle = time.process_time()
                straight = [_straighten(image, face, engine) for face in faces]
                seconds["as found"] += middle - begin
                seconds["straightened"] += time.process_time() - begin
                for way, some in zip(_WAYS, (faces, straight), strict=True):
                    for face in some[:1]:
                        vectors[way][k] = engine.embed(image, face)
            upright = vectors["as found"] if upright is None else upright
            for way in _WAYS:
                same, wrong = _judge(vectors[way], upright, people, model)
                yield Row(
                    f"{degrees}°",
                    way,
                    seconds[way] / len(files),
                    note=f"{100 * same:.1f} {100 * wrong:.2f}",
                )


def _judge(
    tilted: np.ndarray, upright: np.ndarray, people: np.ndarray, model: Any
) -> tuple[float, float]:
    """Shares of pairs of one person, and of two people, that are taken for one person.

    ``tilted`` and ``upright`` are vectors (n, d); a row of zeros is a face that was not found.
    """
    own, table = model.calibrate("lookalikes"), model.scorer.thresholds_
    one = np.ones(len(people), np.int64)
    scores = model.scorer.score_sums(one, tilted, one, upright)
    same = (scores >= own.threshold(table, 0.001, size=1)) & tilted.any(axis=1)[:, None]
    of_one = people[:, None] == people
    others = ~np.eye(len(people), dtype=bool)
    return float(same[of_one & others].mean()), float(same[~of_one].mean())


def make_tables(rows: Sequence[Row]) -> dict[str, str]:
    """The table of docs/faces.md."""
    lines: dict[str, dict[str, Row]] = {}
    for row in rows:
        lines.setdefault(row.job, {})[row.who] = row
    cells = []
    for angle, line in lines.items():
        first, second = (line[way] for way in _WAYS)
        cells.append(
            (
                angle,
                *(f"{row.note.split()[0]} %" for row in (first, second)),
                *(f"{row.note.split()[1]} %" for row in (first, second)),
                f"{1000 * first.seconds:.0f}, {1000 * second.seconds:.0f} ms",
            )
        )
    header = (
        "head tilted by", "one person, as found", "one person, straightened",
        "two people taken for one, as found", "straightened", "processor time per picture",
    )  # fmt: skip
    return {"tilted heads": make_table(header, cells)}
