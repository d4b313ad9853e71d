"""Faces: pictures a second end to end, against the networks alone; memory over number of files.

The pictures are made of one photograph that comes with scikit-image: turned, scaled, as JPEG files
of 512 × 512 pixels with one face, and of 1600 × 1200 with four. The floor is what detection and
embedding take on pictures that are decoded already, in as many threads as there are cores here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import skimage.data
from PIL import Image

from benchmarks.measure import Row

N_SMALL = 100
N_LARGE = 20
N_DLIB = 20
MEMORY_FILES = (100, 400)
JOBS = 2


def _make_pictures(folder: Path, n: int, large: bool) -> list[Path]:
    """JPEG files, no two alike."""
    rng = np.random.RandomState(0)
    astronaut = Image.fromarray(skimage.data.astronaut())
    paths = []
    for k in range(n):
        turned = astronaut.rotate(float(rng.uniform(-12, 12)), Image.Resampling.BILINEAR)
        if large:
            canvas = Image.new("RGB", (1600, 1200), tuple(rng.randint(0, 256, 3).tolist()))
            for x, y in ((0, 0), (800, 0), (0, 600), (800, 600)):
                canvas.paste(turned, (x + int(rng.randint(200)), y + int(rng.randint(60))))
            turned = canvas
        paths.append(folder / f"{k:05d}.jpg")
        turned.save(paths[-1], quality=88)
    return paths


def _networks_alone(images: list[np.ndarray], engine: str, threads: int) -> float:
    """Seconds of detection and embedding alone, over decoded pictures."""
    from mien.faces import FaceEngine, load_engine
    from mien.faces._sface import one_thread_each

    engines = [load_engine(engine) for _ in range(threads)]

    def work(engine: FaceEngine, mine: list[np.ndarray]) -> None:
        for image in mine:
            for face in engine.detect(image):
                engine.embed(image, face)

    work(engines[0], images[:2])
    with one_thread_each():
        pool = [
            threading.Thread(target=work, args=(engines[k], images[k::threads]))
            for k in range(threads)
        ]
        start = time.perf_counter()
        for thread in pool:
            thread.start()
        for thread in pool:
            thread.join()
        return time.perf_counter() - start


def _end_to_end(paths: list[Path], engine: str, jobs: int, **options: Any) -> float:
    """Seconds of the stream, from the first result on that is waited for; loading is left out."""
    from mien.faces import analyse_pictures

    results = analyse_pictures([*paths[:JOBS], *paths], engine, n_jobs=jobs, **options)
    for _ in range(JOBS):  # the engines are loaded when the first result is there
        next(results)
    start = time.perf_counter()
    n = sum(result.error is None for result in results)
    if n != len(paths):
        raise RuntimeError(f"{len(paths) - n} pictures failed")
    return time.perf_counter() - start


def _memory(n: int) -> dict[str, float]:
    """Peak of a process that goes through so many files; run with the name of this function."""
    from mien.faces import analyse_pictures

    with tempfile.TemporaryDirectory() as folder:
        few = _make_pictures(Path(folder), 20, False)
        start = time.perf_counter()
        for _ in analyse_pictures((few[k % 20] for k in range(n)), keep_crops=True):
            pass
        # ru_maxrss would begin with that of the process that started this one.
        status = Path("/proc/self/status").read_text(encoding="ascii")
        peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
        return {"seconds": time.perf_counter() - start, "peak": peak}


def _in_process(n: int) -> dict[str, float]:
    code = (
        f"import json; from benchmarks.bench_faces import _memory; print(json.dumps(_memory({n})))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(out.stdout)
    return result


def _best(call: Callable[[], float], repeats: int = 2) -> float:
    return min(call() for _ in range(repeats))


def _throughput(job: str, engine: str, paths: list[Path]) -> Iterator[Row]:
    from mien.media import read_image

    images = [read_image(path, colour=True) for path in paths]
    # dlib's network holds the interpreter's lock, so its floor for two cores is half of one.
    one = _best(lambda: _networks_alone(images, engine, 1))
    alone = "dlib" in engine
    two = one / JOBS if alone else _best(lambda: _networks_alone(images, engine, JOBS))
    n = len(paths)
    yield Row(job, f"{engine}, networks alone, 1 thread", one, None, "", f"{n / one:.1f} a second")
    note = "half of one thread" if alone else f"{n / two:.1f} a second"
    yield Row(job, f"{engine}, networks alone, {JOBS} threads", two, None, "", note)
    for jobs, floor in ((1, one), (JOBS, two)):
        took = _best(lambda jobs=jobs: _end_to_end(paths, engine, jobs))
        yield Row(
            job,
            f"{engine}, analyse_pictures, n_jobs={jobs}",
            took,
            took / floor,
            "the networks alone",
            f"{n / took:.1f} a second",
        )


def rows() -> Iterator[Row]:
    """The rows of this benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small", Path(folder) / "large"
        small.mkdir()
        large.mkdir()
        paths = _make_pictures(small, N_SMALL, False)
        yield from _throughput(f"{N_SMALL} pictures, 512², 1 face", "sface", paths)
        photos = _make_pictures(large, N_LARGE, True)
        yield from _throughput(f"{N_LARGE} pictures, 1600 × 1200, 4 faces", "sface", photos)
        for engine in ("dlib", "sface+dlib"):
            yield from _throughput(f"{N_DLIB} pictures, 512², 1 face", engine, paths[:N_DLIB])
        journal = Path(folder) / "journal"
        first = _end_to_end(paths, "sface", JOBS, journal=journal)
        again = _end_to_end(paths, "sface", JOBS, journal=journal)
        yield Row("the same with a journal", "sface, n_jobs=2, new", first)
        yield Row("the same, resumed", "sface, n_jobs=2, all known", again, again / first, "new")
    few, many = (_in_process(n) for n in MEMORY_FILES)
    yield Row(
        f"{MEMORY_FILES[0]} files",
        "peak memory",
        few["seconds"],
        None,
        "",
        f"{few['peak']:.0f} MiB",
    )
    yield Row(
        f"{MEMORY_FILES[1]} files",
        "peak memory",
        many["seconds"],
        many["peak"] / few["peak"],
        f"peak of {MEMORY_FILES[0]} files",
        f"{many['peak']:.0f} MiB",
    )
