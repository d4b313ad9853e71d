"""Kill a process that enrols, again and again: ``python -m benchmarks.kill_gallery [--kills 300]``.

A child enrols faces in a loop and prints each one that was confirmed. It is killed with SIGKILL
at a random moment; then the gallery must open, pass its check, and hold everything that was
printed. A kill does not take the power away: what the system has not yet written to the disk is
the business of ``synchronous=FULL``, which this does not show.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import os
import random
import signal
import tempfile
import time
from pathlib import Path

import numpy as np

from mien.gallery import Gallery
from mien.verification import JointBayesian, Verifier


def work(path: Path, seed: int, write: int) -> None:
    """Enrol and delete for ever, and say each time when it is confirmed."""
    rng = np.random.default_rng(seed)
    with Gallery.open(path) as gallery:
        os.write(write, b"ready\n")
        for i in itertools.count():
            X = rng.standard_normal((2, 8))
            X /= np.linalg.norm(X, axis=1, keepdims=True)
            digests = [hashlib.sha256(f"{seed} {i} {j}".encode()).hexdigest() for j in range(2)]
            name = f"person {seed}-{i % 7}"
            gallery.enrol(name, X, digests=digests)
            os.write(write, f"enrolled {' '.join(digests)}\n".encode())
            if i % 5 == 4:
                gallery.delete(name)
                os.write(write, f"deleted {name}\n".encode())


def make_gallery(path: Path) -> None:
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(60), 4)
    X = 3 * rng.standard_normal((60, 8))[people] + rng.standard_normal((240, 8))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    model = JointBayesian(features="drawn").fit(X[:120], people[:120])
    Gallery.create(path, Verifier(model, sizes=(1, 2)).fit(X[120:], people[120:])).close()


def kill_once(path: Path, seed: int, wait: float) -> tuple[int, int]:
    """Start a child, kill it, look at what it left; gives confirmed faces and deletions."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            work(path, seed, write)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        if pipe.readline() != b"ready\n":
            raise RuntimeError("the child did not come to work")
        time.sleep(wait)
        os.kill(child, signal.SIGKILL)
        said = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        raise RuntimeError("the child ended before it was killed")
    # What stands before the last end of a line was confirmed.
    return _look(path, seed, said.rpartition("\n")[0].splitlines())


def _look(path: Path, seed: int, lines: list[str]) -> tuple[int, int]:
    """Everything that was confirmed must be there, and everything deleted must not."""
    there: dict[str, set[str]] = {}
    gone: set[str] = set()
    step = deletions = 0
    for line in lines:
        word, _, content = line.partition(" ")
        if word == "enrolled":
            there.setdefault(f"person {seed}-{step % 7}", set()).update(content.split())
            step += 1
        else:
            gone |= there.pop(content)
            deletions += 1
    # Who was being deleted when the kill came is there whole, or not at all.
    doubtful = f"person {seed}-{(step - 1) % 7}" if step % 5 == 0 else None
    with Gallery.open(path) as gallery:
        faults = gallery.check()
        if faults:
            raise RuntimeError(f"after a kill: {faults}")
        for name, digests in there.items():
            found = {digest for digest in digests if gallery.contains(digest)}
            if found != digests and not (name == doubtful and not found):
                raise RuntimeError(f"{len(digests - found)} confirmed faces of {name} are lost")
        if any(gallery.contains(digest) for digest in gone):
            raise RuntimeError("a face is there that was confirmed to be deleted")
    return 2 * step, deletions


def run(kills: int, folder: Path, seed: int = 0, longest: float = 0.4) -> tuple[int, int]:
    """Kill so often; gives confirmed faces and deletions over all of it."""
    path = folder / "people.gallery"
    make_gallery(path)
    draw = random.Random(seed)
    faces = deletions = 0
    for kill in range(kills):
        more = kill_once(path, kill, draw.uniform(0, longest))
        faces, deletions = faces + more[0], deletions + more[1]
    return faces, deletions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=300)
    arguments = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        faces, deletions = run(arguments.kills, Path(folder))
    print(
        f"{arguments.kills} kills in {time.perf_counter() - start:.0f} s: {faces:,} faces and "
        f"{deletions:,} deletions were confirmed; none was lost, every check was clean"
    )


if __name__ == "__main__":
    main()
