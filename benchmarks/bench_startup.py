"""Processor time before a verb does its work, above ``python -c "import numpy"``.

``python -m benchmarks startup``; the aims are 0.35 s for help and for listing people, and 1 s for
comparing two faces above its two network calls. Modules are compiled once before anything is
measured, as they are where mien is installed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.data import find_data
from benchmarks.measure import Row

RUN = "import sys; from mien.cli import main; sys.argv[0] = 'mien'; main()"
REPEATS = 5
NETWORKS = """
import sys
from mien.faces import load_engine
from mien.media import read_image
engine = load_engine("sface")
image = read_image(sys.argv[1], colour=True)
for _ in range(2):
    face = engine.detect(image)[0]
    engine.embed(image, face)
"""


def _seconds(code: str, *arguments: str) -> float:
    """Least processor time of a new process over some runs."""
    times = []
    compiled = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-c", code, *arguments]
        subprocess.run(command, check=True, capture_output=True, env=compiled)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def _make_gallery(path: Path) -> None:
    from mien.gallery import Gallery
    from mien.recognition import load_source

    with Gallery.create(path, load_source("sface")) as gallery:
        for k in range(3):
            gallery.enrol(f"person {k}", np.eye(128)[k : k + 1])


def rows() -> Iterator[Row]:
    """Yield the rows of this file: processor time above that of ``import numpy``."""
    floor = _seconds("import numpy")
    yield Row("import", "NumPy", floor)
    yield Row("import", "scikit-learn's base class", _seconds("import sklearn.base") - floor)
    with tempfile.TemporaryDirectory() as folder:
        gallery = Path(folder) / "people.gallery"
        _make_gallery(gallery)
        for name, arguments in (
            ("--help", ["--help"]),
            ("verify --help", ["verify", "--help"]),
            ("people list", ["people", "list", "-g", str(gallery)]),
        ):
            took = _seconds(RUN, *arguments) - floor
            yield Row(name, "mien", took, took / 0.35, "aim of 0.35 s", "above NumPy")
    photo = find_data("photos", "grace_hopper_517x606.jpg")
    calls = _seconds(NETWORKS, str(photo))
    took = _seconds(RUN, "verify", str(photo), str(photo)) - calls
    yield Row("verify", "two network calls", calls)
    yield Row("verify", "mien", took, took, "aim of 1 s", "above those calls")
