"""Four walks through the code: which modules of mien run, and how often a package is crossed.

``python -m benchmarks.walks [identify|vector|complete|paper]`` prints, for each walk, the number of
files of mien in which a function ran (not merely was imported), and the number of crossings: pairs
of packages of which one called a function of the other. Modules of one package are one place.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from benchmarks.data import find_data, run_command

ROOMS = ("mien", "papers")


def _place(frame: FrameType | None) -> tuple[str, str] | None:
    """Package and module in which a frame runs, or None outside."""
    if frame is None or frame.f_code.co_name == "<module>":
        return None
    name = str(frame.f_globals.get("__name__", ""))
    parts = name.split(".")
    if parts[0] not in ROOMS or len(parts) < 2:
        return None
    return ("papers" if parts[0] == "papers" else parts[1]), name


def trace(walk: Callable[[], Any]) -> tuple[set[str], set[tuple[str, str]]]:
    """Modules that ran during a walk, and pairs (caller, called) of packages."""
    files: set[str] = set()
    crossings: set[tuple[str, str]] = set()

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        here = _place(frame)
        if here is None:
            return
        files.add(here[1])
        caller = frame.f_back
        while caller is not None and _place(caller) is None:
            caller = caller.f_back
        there = _place(caller)
        if there is not None and there[0] != here[0]:
            crossings.add((there[0], here[0]))

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        walk()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return files, crossings


def identify_one_photograph(folder: Path) -> Callable[[], Any]:
    """``mien identify`` of one photograph, in a gallery of two people."""
    from mien.recognition import enrol, identify

    photos = find_data("photos", "five_people")
    names = sorted(place for place in photos.iterdir() if place.is_dir())[:2]
    for place in names:
        shutil.copytree(place, folder / "album" / place.name)
    enrol(folder / "album", folder / "people.gallery", n_jobs=1)
    photo = sorted(names[0].iterdir())[0]
    return lambda: identify(photo, folder / "people.gallery", n_jobs=1)


def score_a_vector(folder: Path) -> Callable[[], Any]:
    """Fit, save, load, and score a vector."""
    import mien
    from mien.verification import JointBayesian

    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(40), 4)
    X = 3 * rng.standard_normal((40, 8))[people] + rng.standard_normal((160, 8))

    def walk() -> None:
        mien.save(JointBayesian().fit(X, people), folder / "model.mien")
        mien.load(folder / "model.mien").score_pairs(X[:1], X[1:2])

    return walk


def complete_a_face(folder: Path) -> Callable[[], Any]:
    """The covered part of a photograph, by the shipped model."""
    from mien.recognition import complete

    photo = find_data("photos", "grace_hopper_517x606.jpg")
    return lambda: complete(photo)


def run_a_paper(folder: Path) -> Callable[[], Any]:
    """The committee of a paper on ORL, one split."""
    try:
        from papers.committee.report import reproduce_committee
    except ImportError:  # as it was before papers left the package
        from mien.experiments.committee import reproduce_committee  # type: ignore[no-redef]
    return lambda: reproduce_committee(n_splits=1, n_members=2, n_draws=2, sweep_splits=1)


WALKS = {
    "identify": identify_one_photograph,
    "vector": score_a_vector,
    "complete": complete_a_face,
    "paper": run_a_paper,
}


def main(names: list[str]) -> None:
    """Trace the walks and print their numbers."""
    for name in names or WALKS:
        with tempfile.TemporaryDirectory() as folder:
            files, crossings = trace(WALKS[name](Path(folder)))
        print(f"{name}: {len(files)} files, {len(crossings)} crossings")
        for package in sorted({file.split(".")[1] for file in files}):
            inside = sorted(f.split(".", 2)[-1] for f in files if f.split(".")[1] == package)
            print(f"  {package}: {', '.join(inside)}")
        print("  " + ", ".join(f"{one} → {other}" for one, other in sorted(crossings)))


if __name__ == "__main__":
    run_command(lambda: main(sys.argv[1:]))
