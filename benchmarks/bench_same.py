"""Covered faces, completed without and with other photographs of the same person.

``python -m benchmarks same`` needs the photographs of ``MIEN_DATA``; ``--page docs/completion.md``
also puts the table into that page.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.data import find_data
from benchmarks.measure import Row
from tools.tables import make_table

__all__ = ["make_tables", "rows"]

_COVERS = ("lower", "left", "below-eyes")
_WAYS = ("the shipped model", "another photograph")


def rows() -> Iterator[Row]:
    """Yield the processor time per photograph; ``note`` has the PSNR and how often it is larger."""
    from mien.media import read_image
    from mien.recognition import complete

    people = [
        sorted(folder.glob("*.jpg"))
        for folder in sorted(find_data("photos", "five_people").iterdir())
    ]
    for cover in _COVERS:
        quality: dict[str, list[float]] = {way: [] for way in _WAYS}
        seconds = dict.fromkeys(_WAYS, 0.0)
        for files in people:
            for file in (files[0], files[5]):
                image = read_image(file, colour=True)
                for way, same in zip(_WAYS, ([], [f for f in files if f != file]), strict=True):
                    start = time.process_time()
                    done = complete(image, cover=cover, same=same)
                    seconds[way] += time.process_time() - start
                    gap = done.image[done.covered].astype(float) - image[done.covered]
                    quality[way].append(float(20 * np.log10(255) - 10 * np.log10(np.mean(gap**2))))
        nearer = np.mean(np.greater(quality[_WAYS[1]], quality[_WAYS[0]]))
        for way in _WAYS:
            note = f"{np.mean(quality[way]):.1f} {100 * nearer:.0f}"
            yield Row(cover, way, seconds[way] / len(quality[way]), note=note)


def make_tables(rows: Sequence[Row]) -> dict[str, str]:
    """The table of docs/completion.md."""
    lines: dict[str, dict[str, Row]] = {}
    for row in rows:
        lines.setdefault(row.job, {})[row.who] = row
    cells = []
    for cover, line in lines.items():
        model, other = (line[way] for way in _WAYS)
        (before, _), (after, nearer) = model.note.split(), other.note.split()
        times = f"{model.seconds:.2f}, {other.seconds:.2f} s"
        cells.append((cover, f"{before} dB", f"{after} dB", f"{nearer} %", times))
    header = ("cover", *_WAYS, "photographs in which it is nearer", "processor time")
    return {"another photograph": make_table(header, cells)}
