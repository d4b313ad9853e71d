"""OMP and K-SVD against dictlearn, scikit-learn and the one product that nobody can avoid."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import orthogonal_mp_gram

from benchmarks.measure import Row, peak_memory, seconds
from mien.sparse import KSVD, orthogonal_matching_pursuit


def _signals(n: int, d: int, n_atoms: int, n_nonzero_coefs: int) -> tuple[np.ndarray, np.ndarray]:
    """Signals that are sparse in a random dictionary, with some noise."""
    rng = np.random.default_rng(0)
    atoms = rng.normal(size=(n_atoms, d)).astype(np.float32)
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    X = 0.02 * rng.normal(size=(n, d)).astype(np.float32)
    for _ in range(n_nonzero_coefs):
        X += rng.normal(size=(n, 1)).astype(np.float32) * atoms[rng.integers(n_atoms, size=n)]
    return X, atoms


def _omp_rows(n: int, d: int, n_atoms: int, k: int) -> Iterator[Row]:
    X, atoms = _signals(n, d, n_atoms, k)
    job = f"OMP {n:,} × {d:,}, {n_atoms:,} atoms, K = {k}"
    floor = seconds(lambda: X @ atoms.T)
    yield Row(job, "the product X·Dᵀ (floor)", floor)
    ours = seconds(lambda: orthogonal_matching_pursuit(X, atoms, n_nonzero_coefs=k))
    yield Row(job, "mien, float32", ours, ours / floor, "floor")
    codes, energy = orthogonal_matching_pursuit(X, atoms, n_nonzero_coefs=k, return_energy=True)
    X64, atoms64 = X.astype(np.float64), atoms.astype(np.float64)
    took = seconds(lambda: orthogonal_matching_pursuit(X64, atoms64, n_nonzero_coefs=k))
    yield Row(job, "mien, float64", took, took / floor, "floor")
    part = 500
    gram, cov = atoms64 @ atoms64.T, atoms64 @ X64[:part].T
    took = seconds(lambda: orthogonal_mp_gram(gram, cov, n_nonzero_coefs=k), repeats=1) * n / part
    yield Row(job, "scikit-learn, batch OMP", took, took / ours, "mien", f"from {part} signals")
    try:
        from dictlearn import sparse_encode
    except ImportError:
        return
    took = seconds(lambda: sparse_encode(X64, atoms64, n_nonzero_coefs=k), repeats=1)
    peer = sparse_encode(X64, atoms64, n_nonzero_coefs=k)
    error = float(np.mean((X64 - peer @ atoms64) ** 2) / np.mean(energy) * d)
    note = f"its error is {error:.4f} of ours; dense codes {peer.nbytes >> 20} MiB against "
    note += f"{(codes.data.nbytes + codes.indices.nbytes) / 2**20:.1f}"
    yield Row(job, "dictlearn, batch OMP", took, took / ours, "mien", note)


def _train(n: int, d: int, n_atoms: int, k: int, rounds: int, **options: Any) -> tuple[float, Any]:
    X, _ = _signals(n, d, n_atoms, k)
    start = X[:n_atoms] / np.linalg.norm(X[:n_atoms], axis=1, keepdims=True)
    model = KSVD(n_atoms, n_nonzero_coefs=k, max_iter=1, init=start, random_state=0, **options)
    model.fit(X)  # compiles
    model.set_params(max_iter=rounds)
    begin = time.perf_counter()
    model.fit(X)
    return (time.perf_counter() - begin) / rounds, model


def _ksvd_rows(n: int, d: int, n_atoms: int, k: int) -> Iterator[Row]:
    job = f"K-SVD round, {n:,} × {d:,}, {n_atoms:,} atoms"
    rounds = 3
    ours, model = _train(n, d, n_atoms, k, rounds)
    error = float(np.sqrt(model.objective_[-1] / d))
    yield Row(job, "mien, power step", ours, note=f"RMSE {error:.5f} after {rounds} rounds")
    took, streamed = _train(n, d, n_atoms, k, rounds, batch_size=2500)
    error = float(np.sqrt(streamed.objective_[-1] / d))
    yield Row(job, "mien, in batches", took, took / ours, "mien", f"RMSE {error:.5f}")
    try:
        from dictlearn import DictionaryLearning
    except ImportError:
        return
    X, _ = _signals(n, d, n_atoms, k)
    X = X.astype(np.float64)
    start = X[:n_atoms] / np.linalg.norm(X[:n_atoms], axis=1, keepdims=True)
    peer = DictionaryLearning(
        n_atoms, fit_algorithm="aksvd", n_nonzero_coefs=k, max_iter=1, dict_init=start
    )
    peer.fit(X[: 2 * n_atoms])  # compiles
    peer.set_params(max_iter=rounds)
    begin = time.perf_counter()
    peer.fit(X)
    took = (time.perf_counter() - begin) / rounds
    note = f"RMSE {float(peer.error_[-1]):.5f} after {rounds} rounds"
    yield Row(job, "dictlearn, approximate K-SVD", took, took / ours, "mien", note)


def _train_in_batches(n: int, d: int, n_atoms: int) -> None:
    _train(n, d, n_atoms, 10, 1, batch_size=2000)


def rows() -> Iterator[Row]:
    yield from _omp_rows(10_000, 1024, 2048, 10)
    yield from _ksvd_rows(10_000, 1024, 2048, 10)
    base: float | None = None
    for n, n_atoms in ((5_000, 512), (10_000, 512), (20_000, 512), (10_000, 1024)):
        took, _ = _train(n, 256, n_atoms, 8, 3)
        base = base or took
        yield Row(
            f"K-SVD round, {n:,} × 256, {n_atoms:,} atoms", "mien", took, took / base, "first"
        )
    took, mib = peak_memory(_train_in_batches, 20_000, 1024, 1024)
    yield Row("K-SVD in batches, 20,000 × 1,024: memory", "mien", took, note=f"{mib:,.0f} MiB")
