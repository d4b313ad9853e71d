"""Completion of faces, and a dictionary of 100,000 expanded faces that survives a kill.

The large job takes minutes and runs on demand alone: ``python -m benchmarks.bench_completion``.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import Row, machine, own_peak, print_rows, seconds
from mien.completion import FaceCompleter, FastfoodCompleter, make_completer
from mien.datasets import iter_faces, make_faces


def rows() -> Iterator[Row]:
    faces = make_faces(500, 4, size=32, random_state=0).images
    test = make_faces(250, 4, size=32, first_person=10_000, random_state=0).images
    flat = test.reshape(len(test), -1)
    floor = seconds(lambda: flat[:, :416] @ np.ones((416, 1024), np.float32))
    yield Row("complete 1,000 faces", "one product (floor)", floor)
    sizes = {"n_atoms": 500, "max_iter": 2, "random_state": 0}
    for method, params in (
        ("ridge", {}),
        ("blend", {"random_state": 0}),
        ("auto", {"random_state": 0}),
        ("dictionary", {"beta": 100.0, **sizes}),
        ("fastfood", {"expansion": 2, **sizes}),
    ):
        model = FaceCompleter(make_completer(method, **params))
        start = time.perf_counter()
        model.fit(faces)
        took = time.perf_counter() - start
        yield Row("learn 2,000 faces, 500 atoms, 2 rounds", method, took)
        took = seconds(lambda model=model: model.complete(test))
        yield Row("complete 1,000 faces", method, took, took / floor, "floor")


def _train(checkpoint: str, out: str, n_faces: int, n_atoms: int, rounds: int) -> None:
    completer = FastfoodCompleter(
        n_atoms,
        n_nonzero_coefs=10,
        max_iter=rounds,
        expansion=5,
        sigma=1.0,
        checkpoint=checkpoint,
        random_state=0,
    )
    model = FaceCompleter(completer, mirror=False)
    model.fit(lambda: iter_faces(2000, n_faces // 4, 4, size=32, random_state=0))
    np.savez(
        out,
        atoms=model.completer_.atoms_[:64],
        objective=model.completer_.objective_,
        peak=own_peak(),
    )


def large_rows(n_faces: int, n_atoms: int, rounds: int) -> Iterator[Row]:
    """Train, kill after the first round, go on; and, for a small job, compare with no kill."""
    context = multiprocessing.get_context("spawn")
    job = f"{n_faces:,} faces, 5×, {n_atoms:,} atoms, {rounds} rounds"
    with tempfile.TemporaryDirectory() as folder:
        checkpoint, out = f"{folder}/state.npz", f"{folder}/result.npz"
        args = (checkpoint, out, n_faces, n_atoms, rounds)
        process = context.Process(target=_train, args=args)
        start = time.perf_counter()
        process.start()
        while not os.path.exists(checkpoint) and process.is_alive():
            time.sleep(0.2)
        time.sleep(2.0)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        first = time.perf_counter() - start
        yield Row(job, "first round, then killed", first)
        process = context.Process(target=_train, args=args)
        start = time.perf_counter()
        process.start()
        process.join()
        took = time.perf_counter() - start
        with np.load(out) as result:
            note = f"peak {float(result['peak']):,.0f} MiB, objective {result['objective']}"
            atoms = result["atoms"]
        yield Row(job, "resumed to the end", took, note=note)
        if n_faces <= 10_000:
            whole = f"{folder}/whole.npz"
            process = context.Process(target=_train, args=(f"{folder}/w", whole, *args[2:]))
            process.start()
            process.join()
            with np.load(whole) as result:
                same = bool(np.array_equal(result["atoms"], atoms))
            yield Row(job, "never killed", 0.0, note=f"the same atoms: {same}")


if __name__ == "__main__":
    n, m, r = (int(a) for a in sys.argv[1:4]) if len(sys.argv) > 3 else (100_000, 4096, 2)
    print(machine())
    print_rows(Path(__file__).stem, large_rows(n, m, r))
