"""Weak labels: all six fits against one decomposition, RCA against metric-learn, and scale."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import linalg

from benchmarks.measure import Row, metric_learn_rca, peak_memory, seconds
from mien.errors import InputError
from mien.subspace import (
    ConstrainedClustering,
    Eigenfaces,
    Fisherfaces,
    GroupStatistics,
    KernelNullSpaceProjection,
    KernelRelevantComponents,
    NullSpaceProjection,
    RelevantComponents,
)


def _grouped(n: int, d: int, size: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    groups = np.arange(n) // size
    X = rng.standard_normal((n, d))
    X += 2 * rng.standard_normal((groups[-1] + 1, d))[groups]
    return X, groups


def rows() -> Iterator[Row]:
    yield from _paper_rows()
    yield from _singular_rows()
    yield from _rca_rows()
    yield from _clustering_rows()
    yield from _linkage_rows()
    yield from _approximation_rows()
    yield from _scale_rows()


def _paper_rows() -> Iterator[Row]:
    """The paper's training set: 960 faces of 2,304 pixels in groups of 15; 183 to 244 s there."""
    X, groups = _grouped(960, 2304, 15)
    people = np.arange(960) // 120
    job = "fit, N = 960, d = 2,304"
    centred = X - X.mean(axis=0)
    floor = seconds(lambda: linalg.svd(centred, full_matrices=False, check_finite=False), 2)
    yield Row(job, "SciPy, one thin SVD", floor, 1.0, "the floor")
    jobs = {
        "Eigenfaces(20)": (lambda: Eigenfaces(20).fit(X), ""),
        "Fisherfaces": (lambda: Fisherfaces().fit(X, people), ""),
        "RelevantComponents(20)": (lambda: RelevantComponents(20).fit(X, groups), "paper: 237 s"),
        "NullSpaceProjection": (
            lambda: NullSpaceProjection(regularization=0).fit(X, groups),
            "paper: 244 s",
        ),
        "KernelRelevantComponents(20)": (
            lambda: KernelRelevantComponents(20, sigma=100.0).fit(X, groups),
            "paper: 183 s",
        ),
        "KernelNullSpaceProjection": (
            lambda: KernelNullSpaceProjection(regularization=0, sigma=100.0).fit(X, groups),
            "paper: 198 s",
        ),
    }
    total = 0.0
    for name, (call, note) in jobs.items():
        took = seconds(call, 2)
        total += took
        yield Row(job, f"mien, {name}", took, took / floor, "one thin SVD", note)
    yield Row(job, "mien, all six", total, total / floor, "one thin SVD")
    auto = seconds(
        lambda: KernelNullSpaceProjection(regularization=0, random_state=0).fit(X, groups), 1
    )
    yield Row(job, "mien, kernel, sigma='auto'", auto, auto / floor, "one thin SVD")


def _singular_rows() -> Iterator[Row]:
    X, groups = _grouped(1000, 2304, 5)
    job = "RCA, N = 1,000, d = 2,304, groups of 5"
    ours = seconds(lambda: RelevantComponents(None).fit(X, groups), 1)
    model = RelevantComponents(None).fit(X, groups)
    note = f"rank 800, {_whitening_error(model.components_, X, groups):.1e} from white"
    null = seconds(lambda: NullSpaceProjection(regularization=0).fit(X, groups), 1)
    yield Row(job, "mien, NullSpaceProjection", null, null / ours, "mien's RCA", "199 directions")
    yield Row(job, "mien, RelevantComponents", ours, 1.0, "", note)
    RCA = metric_learn_rca()
    if RCA is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept: list[Any] = []
        theirs = peak_or_seconds(lambda: kept.append(RCA().fit(X, groups)))
        components = kept[-1].components_
    note = f"rank {len(components)}, {_whitening_error(components, X, groups):.1e} from white"
    yield Row(job, "metric-learn", theirs, theirs / ours, "mien's RCA", note)


def peak_or_seconds(call: Any) -> float:
    """One call without warming up: for peers that take long."""
    import time

    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _whitening_error(components: np.ndarray, X: np.ndarray, groups: np.ndarray) -> float:
    """How far the within-group covariance is from the identity after projection."""
    Z = (X - X.mean(axis=0)) @ components.T
    sums = np.zeros((groups[-1] + 1, Z.shape[1]), dtype=Z.dtype)
    np.add.at(sums, groups, Z)
    residuals = Z - (sums / np.bincount(groups)[:, None])[groups]
    return float(np.abs(residuals.T @ residuals / len(Z) - np.eye(Z.shape[1])).max())


def _rca_rows() -> Iterator[Row]:
    RCA = metric_learn_rca()
    first: dict[str, float] = {}
    for n in (10_000, 100_000):
        X, groups = _grouped(n, 500, 5)
        job = f"RCA, N = {n:,}, d = 500, groups of 5"
        ours = seconds(lambda X=X, groups=groups: RelevantComponents(None).fit(X, groups), 1)
        floor = seconds(lambda X=X: X.T @ X, 1)
        yield Row(job, "NumPy, X.T @ X", floor, floor / ours, "mien")
        growth = ours / first.setdefault("mien", ours)
        yield Row(job, "mien", ours, 1.0, "", f"{growth:.1f} times N = 10,000")
        if RCA is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = peak_or_seconds(lambda X=X, groups=groups: RCA().fit(X, groups))
        growth = theirs / first.setdefault("metric-learn", theirs)
        yield Row(
            job, "metric-learn", theirs, theirs / ours, "mien", f"{growth:.1f} times N = 10,000"
        )


def _clustering_rows() -> Iterator[Row]:
    from scipy.cluster.hierarchy import linkage

    X, groups = _grouped(3000, 30, 3)
    job = "average linkage, N = 3,000"
    theirs = seconds(lambda: linkage(X, "average"), 1)
    ours = seconds(lambda: ConstrainedClustering(50, metric="euclidean").fit(X), 1)
    linked = seconds(lambda: ConstrainedClustering(50, metric="euclidean").fit(X, groups=groups), 1)
    yield Row(job, "SciPy", theirs, 1.0, "", "no constraints possible")
    yield Row(job, "mien", ours, ours / theirs, "SciPy")
    yield Row(job, "mien, groups of 3", linked, linked / theirs, "SciPy")


def _approximation_rows() -> Iterator[Row]:
    """A kernel that has no room for its matrix (80 GB): features in batches."""
    X, groups = _grouped(100_000, 256, 5)
    X = X.astype(np.float32)
    job = "kernel RCA, N = 100,000, d = 256"
    floor = seconds(lambda: X @ X[:1000].T, 1)
    yield Row(job, "NumPy, products with 1,000 points", floor, 1.0, "the floor")
    for name in ("nystroem", "fastfood"):
        model = KernelRelevantComponents(
            100, sigma=50.0, approximation=name, approximation_size=1000, random_state=0
        )
        took = seconds(lambda model=model: model.fit(X, groups), 1)
        yield Row(job, f"mien, {name}, 1,000 features", took, took / floor, "the floor")
    job = "soft kernel null space, N = 100,000, d = 256"
    for name in ("nystroem", "fastfood"):
        soft = KernelNullSpaceProjection(
            sigma=50.0, approximation=name, approximation_size=1000, random_state=0
        )
        took = seconds(lambda model=soft: model.fit(X, groups), 1)
        yield Row(job, f"mien, {name}, 1,000 features", took, took / floor, "the floor")
    took = seconds(lambda: _refuse(X, groups), 1)
    words = "1,000 features cannot hold 80,000 residuals"
    yield Row(job, "mien, the exact one is refused", took, took / floor, "the floor", words)


def _refuse(X: np.ndarray, groups: np.ndarray) -> None:
    """Ask for the exact null space of too few features, which is refused before any work."""
    model = KernelNullSpaceProjection(
        regularization=0, approximation="nystroem", approximation_size=1000
    )
    try:
        model.fit(X, groups)
    except InputError:
        return
    raise AssertionError("an empty null space was not refused")


def _batches(n: int, d: int, size: int, rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Float32 batches that are made as they are asked for: never more than one in memory."""
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((rows, d), dtype=np.float32)
    for start in range(0, n, rows):
        groups = np.arange(start, min(start + rows, n)) // size
        # A cheap batch: the same noise in another order, so that drawing takes no time.
        yield shared[rng.permutation(rows)[: len(groups)]], groups


SCALE = (100_000, 5120)


def fit_scale() -> None:
    n, d = SCALE
    RelevantComponents(None).fit(GroupStatistics.from_batches(_batches(n, d, 5, 2000)))


def multiply_scale() -> None:
    n, d = SCALE
    total = np.zeros((d, d))
    for X, _ in _batches(n, d, 5, 2000):
        Z = X.astype(np.float64)
        total += Z.T @ Z


def _scale_rows() -> Iterator[Row]:
    n, d = SCALE
    job = f"RCA, N = {n:,}, d = {d:,}, batches"
    floor, _ = peak_memory(multiply_scale)
    yield Row(job, "NumPy, the products alone", floor, 1.0, "the floor")
    took, memory = peak_memory(fit_scale)
    yield Row(job, "mien", took, took / floor, "the floor", f"peak {memory:,.0f} MiB")


def _people(n: int, n_people: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors (n, 128) as far apart as SFace's of one and of two people."""
    rng = np.random.default_rng(0)
    who = np.sort(rng.integers(0, n_people, n))
    X = rng.standard_normal((n_people, 128))[who] + 0.85 * rng.standard_normal((n, 128))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), who


def link_people(n: int, n_people: int) -> None:
    from mien.recognition import load_source
    from mien.recognition._cluster_linkage import link_faces

    X, _ = _people(n, n_people)
    apart = np.arange(n - n % 2).reshape(-1, 2)[::7]
    verifier = load_source("sface").verifier
    threshold = verifier.threshold(fpir=0.03, n_people=n, extrapolate=True)
    link_faces(verifier, X, threshold, cannot_link=apart)


def _linkage_rows() -> Iterator[Row]:
    """Faces joined into people by the ratio of sets, as `mien cluster` does."""
    for n, n_people in ((2_000, 400), (10_000, 2_000)):
        job = f"cluster, {n:,} faces of {n_people:,} people"
        X, _ = _people(n, n_people)
        floor = seconds(lambda X=X: X @ X.T, 1)
        yield Row(job, "NumPy, all cosines", floor, 1.0, "the floor")
        took, memory = peak_memory(link_people, n, n_people)
        yield Row(job, "mien", took, took / floor, "the floor", f"peak {memory:,.0f} MiB")
