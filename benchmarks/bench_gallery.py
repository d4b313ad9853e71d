"""A gallery of a million templates: enrol, open, identify, recall, memory, size; FAISS beside it.

``MIEN_BENCH_TEMPLATES`` sets another number. Vectors are drawn from Gaussians with the spectrum
of SFace on LFW, which is harder for a graph than faces are: all directions count. Each step runs
in a process of its own, whose peak memory is that of the step.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Row, seconds
from mien.gallery import Gallery
from mien.verification import JointBayesian, Verifier

TEMPLATES = int(os.environ.get("MIEN_BENCH_TEMPLATES", "1000000"))
DIMENSION = 128
BATCH = 50_000
N_PROBES = 128
# Of all templates: one in fifty is the first of a person with three, one in seventeen of two.
_THREE, _TWO = 0.02, 0.06


def _draw(n: int, m: int, seed: int) -> np.ndarray:
    """Unit vectors (n, m, 128): m pictures of n people."""
    rng = np.random.default_rng(seed)
    identity = np.sqrt(np.linspace(0.0105, 0.0017, DIMENSION), dtype=np.float32)
    variation = np.sqrt(np.linspace(0.0048, 0.0014, DIMENSION), dtype=np.float32)
    mean = np.full(DIMENSION, 0.3 / np.sqrt(DIMENSION), dtype=np.float32)
    X = mean + identity * rng.standard_normal((n, 1, DIMENSION), dtype=np.float32)
    X = X + variation * rng.standard_normal((n, m, DIMENSION), dtype=np.float32)
    unit: np.ndarray = X / np.linalg.norm(X, axis=2, keepdims=True)
    return unit


def _verifier() -> Verifier:
    X = _draw(3000, 5, seed=1)
    people = np.repeat(np.arange(1500), 5)
    model = JointBayesian(features="drawn").fit(X[:1500].reshape(-1, DIMENSION), people)
    return Verifier(model, sizes=(1, 2, 3), probe_sizes=(1,), random_state=0).fit(
        X[1500:].reshape(-1, DIMENSION), people
    )


def _batches() -> Iterator[tuple[list[str], np.ndarray, list[str]]]:
    """Names, vectors and random digests, batch by batch; the same in every process."""
    rng = np.random.default_rng(2)
    done, person = 0, 0
    while done < TEMPLATES:
        n = min(BATCH, TEMPLATES - done)
        three, two = int(_THREE * n), int(_TWO * n)
        counts = np.repeat([3, 2, 1], [three, two, n - 3 * three - 2 * two])
        X = np.concatenate(
            [
                _draw(int(np.sum(counts == m)), m, seed=10 * done + m).reshape(-1, DIMENSION)
                for m in (3, 2, 1)
            ]
        )
        names = [f"person {person + i}" for i in np.repeat(np.arange(len(counts)), counts)]
        digests = [rng.bytes(32).hex() for _ in range(n)]
        yield names, X, digests
        done += n
        person += len(counts)


def _probes() -> tuple[np.ndarray, list[str]]:
    """Another picture of people of the first batch, and who they are."""
    names, X, _ = next(_batches())
    owners, first = np.unique(names, return_index=True)
    rng = np.random.default_rng(3)
    chosen = rng.choice(len(owners), min(N_PROBES, len(owners)), replace=False)
    noise = np.sqrt(np.linspace(0.0048, 0.0014, DIMENSION)) * rng.standard_normal(
        (len(chosen), DIMENSION)
    )
    # The enrolled picture has one share of variation already; the probe gets another.
    probes = X[first[chosen]] + 1.2 * noise
    unit = probes / np.linalg.norm(probes, axis=1, keepdims=True)
    return unit.astype(np.float32), [str(owners[i]) for i in chosen]


def _enrol(path: str) -> dict[str, Any]:
    took = 0.0
    with Gallery.create(path, _verifier()) as gallery:
        for names, X, digests in _batches():
            start = time.perf_counter()
            gallery.enrol_many(names, X, digests=digests)
            took += time.perf_counter() - start
        people = len(gallery)
    return {"seconds": took, "people": people, "bytes": Path(path).stat().st_size}


def _enrol_one_by_one(path: str) -> dict[str, Any]:
    X = _draw(1000, 1, seed=77)[:, 0]
    with Gallery.open(path) as gallery:
        start = time.perf_counter()
        for i in range(len(X)):
            gallery.enrol(f"single {i}", X[i : i + 1], digests=[os.urandom(32).hex()])
        return {"seconds": (time.perf_counter() - start) / len(X)}


def _ask(gallery: Gallery, probes: np.ndarray, search: str) -> dict[str, Any]:
    start = time.perf_counter()
    gallery.identify(probes[:1], search=search)
    first = time.perf_counter() - start
    one = seconds(lambda: gallery.identify(probes[:1], search=search), repeats=5)
    many = seconds(lambda: gallery.identify(probes, search=search), repeats=1)
    found = gallery.identify(probes, search=search)
    best = [[name for name, _ in answer.candidates] for answer in found]
    return {"first": first, "one": one, "many": many, "best": best}


def _exact(path: str) -> dict[str, Any]:
    start = time.perf_counter()
    with Gallery.open(path) as gallery:
        result = {"open": time.perf_counter() - start}
        probes, names = _probes()
        result |= _ask(gallery, probes, "exact")
        result["memory"] = _peak()
        result["named"] = float(
            np.mean([got[0] == name for got, name in zip(result["best"], names, strict=True)])
        )
        index = gallery._search._exact
        vectors = np.ascontiguousarray(index._rows[: index.n, :DIMENSION])
        result["floor_many"] = seconds(lambda: probes @ vectors.T, repeats=1)
        result["floor_one"] = seconds(lambda: probes[:1] @ vectors.T, repeats=5)
        result |= _faiss(vectors, index._rows[: index.n, DIMENSION], probes)
    return result


def _faiss(vectors: np.ndarray, constants: np.ndarray, probes: np.ndarray) -> dict[str, Any]:
    """The same people in FAISS' flat inner product, constants as one more coordinate."""
    try:
        import faiss
    except ImportError:
        return {}
    flat = faiss.IndexFlatIP(DIMENSION + 1)
    flat.add(np.hstack([vectors, constants[:, None]]))
    query = np.hstack([probes, np.ones((len(probes), 1), dtype=np.float32)])
    return {
        "faiss_many": seconds(lambda: flat.search(query, 8), repeats=1),
        "faiss_one": seconds(lambda: flat.search(query[:1], 8), repeats=5),
    }


def _approximate(path: str) -> dict[str, Any]:
    with Gallery.open(path) as gallery:
        probes, _ = _probes()
        result = _ask(gallery, probes, "approximate")
        result["memory"] = _peak()
        start = time.perf_counter()
    result["save"] = time.perf_counter() - start
    result["bytes"] = Path(f"{path}-index").stat().st_size
    return result


def _approximate_again(path: str) -> dict[str, Any]:
    with Gallery.open(path) as gallery:
        probes, _ = _probes()
        start = time.perf_counter()
        gallery.identify(probes[:1], search="approximate")
        first = time.perf_counter() - start
        name = gallery.identify(probes[:1], search="approximate")[0].candidates[0][0]
        start = time.perf_counter()
        gallery.delete(name)
        return {"first": first, "delete": time.perf_counter() - start, "memory": _peak()}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _work(step: Callable[[str], dict[str, Any]], path: str, pipe: Any) -> None:
    pipe.send(step(path))


def _in_a_process(step: Callable[[str], dict[str, Any]], path: str) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    parent, child = context.Pipe()
    process = context.Process(target=_work, args=(step, path, child))
    process.start()
    child.close()
    try:
        result: dict[str, Any] = parent.recv()
    except EOFError as error:
        process.join()
        raise RuntimeError(f"{step.__name__} ended with {process.exitcode}") from error
    process.join()
    return result


def _recall(exact: list[list[str]], other: list[list[str]], depth: int) -> float:
    return float(
        np.mean(
            [
                len(set(a[:depth]) & set(b[:depth])) / depth
                for a, b in zip(exact, other, strict=True)
            ]
        )
    )


def rows() -> Iterator[Row]:
    """One row a step."""
    size = f"{TEMPLATES:,} templates"
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/people.gallery"
        got = _in_a_process(_enrol, path)
        rate = TEMPLATES / got["seconds"]
        note = f"{rate:,.0f} templates/s in batches of {BATCH:,}, {got['people']:,} people"
        yield Row(f"enrol {size}", "mien", got["seconds"], note=note)
        bytes_a_template = got["bytes"] / TEMPLATES
        note = f"{got['bytes'] / 2**20:,.0f} MiB, {bytes_a_template:.0f} bytes a template"
        yield Row("file", "mien", 0.0, note=note)
        one = _in_a_process(_enrol_one_by_one, path)
        note = f"{1 / one['seconds']:,.0f}/s, each confirmed on the disk"
        yield Row("enrol one by one", "mien", one["seconds"], note=note)
        yield from _rows_of_search(path)


def _rows_of_search(path: str) -> Iterator[Row]:
    exact = _in_a_process(_exact, path)
    n = len(exact["best"])
    note = f"then {exact['first']:.2f} s to the first answer; peak {exact['memory']:,.0f} MiB"
    yield Row("open, exact", "mien", exact["open"], note=note)
    yield Row("identify one, bare product", "NumPy, the floor", exact["floor_one"])
    if "faiss_one" in exact:
        yield Row("identify one", "FAISS flat", exact["faiss_one"])
        ratio = exact["faiss_one"] / exact["one"]
        yield Row("identify one, exact", "mien", exact["one"], ratio, "FAISS flat")
    ratio = exact["floor_one"] / exact["one"]
    yield Row("identify one, exact", "mien", exact["one"], ratio, "the floor")
    yield Row(f"identify {n}, bare product", "NumPy, the floor", exact["floor_many"])
    if "faiss_many" in exact:
        yield Row(f"identify {n}", "FAISS flat", exact["faiss_many"])
        ratio = exact["faiss_many"] / exact["many"]
        yield Row(f"identify {n}, exact", "mien", exact["many"], ratio, "FAISS flat")
    ratio = exact["floor_many"] / exact["many"]
    note = f"right person first: {exact['named']:.3f}"
    yield Row(f"identify {n}, exact", "mien", exact["many"], ratio, "the floor", note)
    near = _in_a_process(_approximate, path)
    note = (
        f"peak {near['memory']:,.0f} MiB; saved in {near['save']:.1f} s, "
        f"{near['bytes'] / 2**20:,.0f} MiB"
    )
    yield Row("build the approximate index", "mien (usearch)", near["first"], note=note)
    ratio = exact["one"] / near["one"]
    yield Row("identify one, approximate", "mien", near["one"], ratio, "exact")
    recall = ", ".join(f"recall@{k} {_recall(exact['best'], near['best'], k):.4f}" for k in (1, 5))
    ratio = exact["many"] / near["many"]
    yield Row(f"identify {n}, approximate", "mien", near["many"], ratio, "exact", recall)
    again = _in_a_process(_approximate_again, path)
    note = f"peak {again['memory']:,.0f} MiB"
    yield Row("first answer with the saved index", "mien", again["first"], note=note)
    yield Row("delete a person, bytes looked through", "mien", again["delete"])
