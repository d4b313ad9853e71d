"""Fastfood and the Hadamard transform against scikit-learn and the pass that nobody can avoid."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.kernel_approximation import RBFSampler

from benchmarks.measure import Row, seconds
from mien.kernelmaps import Fastfood, RandomKitchenSinks, hadamard_transform


def rows() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    n, d, width = 10_000, 1024, 10_240
    X = rng.uniform(size=(n, d)).astype(np.float32)
    sigma = 20.0
    job = f"features {n:,} × {d:,} → {width:,}"

    angles = rng.normal(size=(n, width // 2)).astype(np.float32)
    floor = seconds(lambda: (np.cos(angles), np.sin(angles)))
    yield Row(job, "NumPy sin and cos (floor)", floor, note="one pass, no projection")
    fastfood = Fastfood(5, sigma=sigma, random_state=0).fit(X)
    ours = seconds(lambda: fastfood.transform(X))
    yield Row(job, "Fastfood, float32", ours, ours / floor, "floor")
    fresh = Fastfood(10, sigma=sigma, functions="sin", random_state=0).fit(X)
    took = seconds(lambda: fresh.transform(X))
    yield Row(job, "Fastfood, sine alone, 10×", took, took / floor, "floor")
    sinks = RandomKitchenSinks(5, sigma=sigma, random_state=0).fit(X)
    took = seconds(lambda: sinks.transform(X))
    yield Row(job, "RandomKitchenSinks, float32", took, took / floor, "floor")
    peer = RBFSampler(gamma=1 / (2 * sigma**2), n_components=width, random_state=0).fit(X)
    took = seconds(lambda: peer.transform(X), repeats=2)
    yield Row(job, "scikit-learn RBFSampler", took, took / ours, "Fastfood")

    exact = np.exp(-((X[:500, None] - X[None, 500:600]) ** 2).sum(-1) / (2 * sigma**2))
    errors = {}
    for name, maps in (("Fastfood", fastfood), ("RBFSampler", peer)):
        Z = maps.transform(X[:600])
        errors[name] = float(np.sqrt(np.mean((Z[:500] @ Z[500:].T - exact) ** 2)))
    yield Row("kernel RMSE of those features", "Fastfood", 0.0, note=f"{errors['Fastfood']:.5f}")
    yield Row(
        "kernel RMSE of those features", "RBFSampler", 0.0, note=f"{errors['RBFSampler']:.5f}"
    )

    for shape in ((100_000, 1024), (4, 1 << 22)):
        X = rng.normal(size=shape).astype(np.float32)
        job = f"Hadamard {shape[0]:,} × {shape[1]:,}"
        floor = seconds(lambda X=X: np.add(X, 1, out=X))
        yield Row(job, "NumPy add in place (floor)", floor)
        took = seconds(lambda X=X: hadamard_transform(X, overwrite=True, normalize=True))
        yield Row(job, "in place", took, took / floor, "floor")
