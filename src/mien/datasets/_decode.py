"""Decode many pictures in threads: with progress, and with every failure named."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.progress import report
from mien._core.validation import check_choice
from mien.errors import DataError, ImageError, MienError
from mien.media import DecodedImage, decode_sized, read_file

__all__ = ["ON_ERROR", "DecodedPictures", "decode_all", "decode_path", "join_failures"]

ON_ERROR = ("raise", "skip")
_NAMED = 5


@dataclass(frozen=True)
class DecodedPictures:
    """The pictures that could be read, their rows among those asked for, and the others."""

    images: np.ndarray
    rows: np.ndarray
    original_size: np.ndarray
    skipped: list[str]


def join_failures(what: str, failures: Sequence[str]) -> str:
    """Say how many failed, and the first few of them by name."""
    more = len(failures) - _NAMED
    return f"{what}: {'; '.join(failures[:_NAMED])}{f'; and {more:,} more' if more > 0 else ''}"


def decode_path(path: Path, **options: Any) -> DecodedImage:
    """Decode one file."""
    return decode_sized(read_file(path), repr(str(path)), **options)


def decode_all(
    jobs: Sequence[Callable[[], DecodedImage]],
    *,
    on_error: str,
    description: str,
    already: Sequence[str] = (),
) -> DecodedPictures:
    """Run the jobs in threads and stack what they give.

    Parameters
    ----------
    jobs : sequence of callables
        Each gives one decoded picture, or raises an error of mien.
    on_error : {"raise", "skip"}
        What to do about pictures that cannot be read.
    description : str
        What progress is reported as.
    already : sequence of str
        Failures that were found before, to be reported together with these.
    """
    check_choice("on_error", on_error, ON_ERROR)
    failures = list(already)
    out: np.ndarray | None = None
    rows: list[int] = []
    sizes: list[tuple[int, int]] = []
    shapes: set[tuple[int, ...]] = set()

    def attempt(job: Callable[[], DecodedImage]) -> DecodedImage | str:
        try:
            return job()
        except MienError as error:
            return str(error)

    n_threads = min(8, os.cpu_count() or 1)
    with ThreadPoolExecutor(n_threads) as pool:
        waiting = iter(jobs)
        done = 0
        # In batches, so that finished pictures do not pile up before they are stored.
        while batch := list(islice(waiting, 32 * n_threads)):
            for result in pool.map(attempt, batch):
                if isinstance(result, str):
                    failures.append(result)
                else:
                    shapes.add(result.pixels.shape)
                    if out is None:
                        out = np.empty((len(jobs), *result.pixels.shape), dtype=np.uint8)
                    if len(shapes) == 1:
                        out[len(rows)] = result.pixels
                    rows.append(done)
                    sizes.append(result.original_size)
                done += 1
                report(description, done, len(jobs))
    if failures and on_error == "raise":
        raise ImageError(
            join_failures(
                f"{len(failures):,} of {len(jobs) + len(already):,} pictures cannot be used "
                "(on_error='skip' leaves them out)",
                failures,
            )
        )
    if out is None:
        raise DataError(join_failures("no picture could be read", failures))
    if len(shapes) > 1:
        low, high = min(sizes), max(sizes)
        raise DataError(
            f"the pictures have {len(shapes)} different sizes, such as {low[0]}×{low[1]} and "
            f"{high[0]}×{high[1]} (height×width): give size= to bring them to one"
        )
    return DecodedPictures(out[: len(rows)], np.array(rows), np.array(sizes), failures)
