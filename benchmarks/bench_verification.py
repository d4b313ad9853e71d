"""Joint Bayesian: an iteration, a score matrix, a fit that is larger than memory."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import Row, metric_learn_rca, peak_memory, seconds
from mien.verification import GroupStatistics, JointBayesian, TransferJointBayesian
from mien.verification._em import WorkingStatistics, make_step
from mien.verification._joint_bayesian import _start


def _people(n_people: int, m: int | np.ndarray, d: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_people), m)
    X = rng.standard_normal((n_people, d))[y] * np.linspace(2, 0.2, d)
    return X + rng.standard_normal((len(y), d)), y


def _one_iteration(X: np.ndarray, y: np.ndarray) -> float:
    statistics = GroupStatistics().collect(X, y)
    moments = statistics.moments
    scale = np.diag(1 / np.sqrt(np.diag(moments.scatter()) / moments.n_samples))
    working = WorkingStatistics.from_moments(moments, moments.mean, scale)
    state = _start(working, 1e-4)
    step = make_step(working, None, exact=True, floor=1e-4)
    return seconds(lambda: step(state), repeats=5)


def _naive_iteration(X: np.ndarray, y: np.ndarray) -> float:
    """What public implementations do: a d×d inverse a person, from the pictures."""
    Tm = Te = np.eye(X.shape[1])
    groups = np.split(X, np.flatnonzero(np.diff(y)) + 1)

    def step() -> None:
        F = np.linalg.inv(Te)
        mu, eps = [], []
        cache: dict[int, np.ndarray] = {}
        for group in groups:
            m = len(group)
            if m not in cache:
                cache[m] = -np.linalg.solve(m * Tm + Te, Tm) @ F
            G = cache[m]
            mu.append((group @ (Tm @ (F + m * G)).T).sum(axis=0))
            eps.append(group + group.sum(axis=0) @ (Te @ G).T)
        np.cov(np.stack(mu).T)
        np.cov(np.concatenate(eps).T)

    return seconds(step, repeats=2)


def _iterations() -> Iterator[Row]:
    rng = np.random.default_rng(1)
    for d in (200, 400):
        A, B = rng.standard_normal((2000, d)), rng.standard_normal((d, d))
        floor = seconds(lambda A=A, B=B: A @ B, repeats=9)
        job = f"EM iteration, 2,000 people, d = {d}"
        yield Row(job, "floor: one product n×d×d", floor)
        counts = rng.integers(2, 40, 2000)
        few = _one_iteration(*_people(2000, 4, d))
        yield Row(job, "mien, 4 pictures each", few, few / floor, "the product")
        many = _one_iteration(*_people(2000, 40, d))
        yield Row(job, "mien, 40 pictures each", many, many / few, "4 pictures each")
        uneven = _one_iteration(*_people(2000, counts, d))
        yield Row(job, "mien, 2 to 39 pictures", uneven, uneven / floor, "the product")
        naive = _naive_iteration(*_people(2000, 4, d))
        note = "the usual loop over people and pictures"
        yield Row(job, "naive, 4 pictures each", naive, naive / few, "mien", note)


def _matrices() -> Iterator[Row]:
    d = 128
    X, y = _people(600, 5, d)
    model = JointBayesian(tol=1e-2).fit(X, y)
    for dtype in (np.float32, np.float64):
        A = np.random.default_rng(2).standard_normal((5000, d)).astype(dtype)
        out = np.empty((5000, 5000), dtype)
        floor = seconds(lambda A=A, out=out: np.matmul(A, A.T, out=out), repeats=5)
        # A @ A.T is done by syrk, half of the work: the floor is the product of two arrays.
        B = A.copy()
        floor = seconds(lambda A=A, B=B, out=out: np.matmul(A, B.T, out=out), repeats=5)
        job = f"score matrix 5,000 × 5,000, d = {d}, {np.dtype(dtype)}"
        yield Row(job, "floor: one product", floor)
        ours = seconds(lambda A=A, out=out: model.score_matrix(A, out=out), repeats=5)
        yield Row(job, "mien", ours, ours / floor, "the product")


def _adaptation() -> Iterator[Row]:
    X, y = _people(2000, 4, 128)
    source = JointBayesian(tol=1e-2).fit(X, y)
    Xt, yt = _people(50, 4, 128, seed=3)
    again = seconds(lambda: JointBayesian(tol=1e-2).fit(np.r_[X, Xt], np.r_[y, yt + 9999]), 2)
    yield Row("adapt to 50 people, d = 128", "learn again on all", again)
    fixed = seconds(lambda: TransferJointBayesian(source, 256.0).fit(Xt, yt), 2)
    yield Row("adapt to 50 people, d = 128", "mien, fixed", fixed, fixed / again, "learn again")
    start = time.process_time()
    auto = seconds(lambda: TransferJointBayesian(source, random_state=0).fit(Xt, yt), 2)
    work = time.process_time() - start
    note = "12 strengths, about half of them tried, on 5 parts"
    yield Row("adapt to 50 people, d = 128", "mien, auto", auto, auto / again, "learn again", note)
    # A loaded machine makes everything slow but this: at most 1 is wanted.
    yield Row("adapt to 50 people, d = 128", "mien, auto, CPU", work / 3, work / 3, "one second")


def _peers() -> Iterator[Row]:
    """The nearest installable methods on the same job: no peer fits the identity model itself."""
    X, y = _people(2000, 4, 128)
    ours = seconds(lambda: JointBayesian(tol=1e-2).fit(X, y), 2)
    job = "fit 8,000 vectors of 2,000 people, d = 128"
    yield Row(job, "mien, JointBayesian", ours)
    RCA = metric_learn_rca()
    if RCA is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = seconds(lambda: RCA().fit(X, y), 2)
    yield Row(job, "metric-learn, RCA", peer, ours / peer, "mien over peer", "no identity model")
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    peer = seconds(lambda: LinearDiscriminantAnalysis(solver="eigen").fit(X, y), 2)
    yield Row(
        job, "scikit-learn, LDA eigen", peer, ours / peer, "mien over peer", "one matrix pair"
    )


def _fit_map(path: Path, y: np.ndarray) -> None:
    JointBayesian(tol=1e-2).fit(np.load(path, mmap_mode="r"), y)


def _large() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path, n, d = Path(folder) / "X.npy", 1_000_000, 128
        X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, d))
        y = np.arange(n) // 10
        rng = np.random.default_rng(4)
        identities = rng.standard_normal((n // 10, d), dtype=np.float32)
        for start in range(0, n, 50_000):
            rows = slice(start, start + 50_000)
            X[rows] = identities[y[rows]] + rng.standard_normal((50_000, d), dtype=np.float32)
        X.flush()
        del X, identities

        start = time.perf_counter()
        read = np.load(path, mmap_mode="r")
        for rows in range(0, n, 8192):
            batch = np.asarray(read[rows : rows + 8192], dtype=np.float64)
            batch.T @ batch
        floor = time.perf_counter() - start
        del read, batch
        took, peak = peak_memory(_fit_map, path, y)
        job = "fit from a memory map of 1,000,000 × 128"
        yield Row(job, "floor: read it, one product", floor)
        note = f"peak {peak:.0f} MiB (limit 1024), imports included"
        yield Row(job, "mien", took, took / floor, "the product", note)


def rows() -> Iterator[Row]:
    """Every row of the job."""
    yield from _iterations()
    yield from _matrices()
    yield from _adaptation()
    yield from _peers()
    yield from _large()
