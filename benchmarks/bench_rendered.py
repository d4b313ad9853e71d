"""Rendered people: faces a second, and a million of them without holding them."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from unittest import mock

import numpy as np

from benchmarks.measure import Row, peak_memory, seconds
from mien.datasets import iter_faces, make_faces

# All of them with MIEN_BENCH_FULL=1; otherwise a twentieth, projected.
MILLION = 1_000_000


def _stream(n_pictures: int) -> None:
    """Render the pictures and look at each once."""
    total, count = 0.0, 0
    for batch in iter_faces(4096, n_pictures // 10, 10, size=32, random_state=0):
        total += float(np.sum(batch.images, dtype=np.float64))
        count += len(batch)
    if count != n_pictures or not 0.05 < total / count / 1024 < 0.95:
        raise RuntimeError("the stream is not what it should be")


def _children_cpu() -> float:
    """CPU seconds of ended child processes: what other jobs on the machine do not change much."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rows() -> Iterator[Row]:
    """Yield the rows of this file."""
    for size, n_people in ((32, 1000), (64, 300)):
        for n_jobs, who in ((1, "mien, 1 thread"), (-1, "mien, all cores")):
            took = seconds(
                lambda n=n_people, s=size, j=n_jobs: make_faces(n, 4, s, random_state=0, n_jobs=j)
            )
            speed = 4 * n_people / took
            job = f"render {4 * n_people:,} faces {size}×{size}"
            yield Row(job, who, took, note=f"{speed:,.0f} faces/s")
    few = make_faces(30, 4, 32, random_state=0)  # the twin is slow: time it on few
    studio_time = seconds(lambda: make_faces(30, 4, 32, random_state=0, n_jobs=1))
    with mock.patch("mien.datasets._rendered._make.load_kernels", return_value=None):
        twin_time = seconds(lambda: make_faces(30, 4, 32, random_state=0), repeats=1)
    yield Row(
        f"render {len(few)} faces 32×32",
        "mien, 1 thread",
        studio_time,
        twin_time / studio_time,
        "the NumPy twin (times faster)",
    )
    full = os.environ.get("MIEN_BENCH_FULL") == "1"
    n_pictures = MILLION if full else MILLION // 20
    before = _children_cpu()
    took, peak = peak_memory(_stream, n_pictures)
    cpu = _children_cpu() - before
    small = peak_memory(_stream, n_pictures // 10)[1]
    note = (
        f"{n_pictures / took:,.0f} faces/s, {n_pictures / cpu:,.0f} a CPU second, "
        f"peak {peak:.0f} MiB ({small:.0f} MiB for a tenth)"
    )
    if not full:
        note += f"; {MILLION / n_pictures * took:,.0f} s for {MILLION:,}"
    yield Row(f"stream {n_pictures:,} faces 32×32", "iter_faces", took, note=note)
