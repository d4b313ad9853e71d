"""Committees: against bagging of LDA, their own PCA as the floor, and 10,000 people."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import make_pipeline

from benchmarks.measure import Row, peak_memory, seconds
from mien._core.linalg import gram_svd
from mien.committee import RandomSamplingLDA, fuse

N, D, C, T = 2_000, 4_096, 200, 20
PROBES = 1_000


def _faces(n_people: int, each: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Vectors with identities, drift and noise (n, d) in single precision, and their people (n,).

    The way from latent to pixel is the same for every seed, the people are not.
    """
    world = np.random.default_rng(99)
    identity, drift = (world.normal(size=(k, d)).astype(np.float32) for k in (100, 30))
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(n_people), each)
    latent = rng.normal(size=(n_people, 100)).astype(np.float32)[people] @ identity * 0.2
    latent += rng.normal(size=(len(people), 30)).astype(np.float32) @ drift
    return latent + 4 * rng.normal(size=latent.shape).astype(np.float32), people


def _once(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _fit_and_predict(model: Any, X: np.ndarray, y: np.ndarray, probes: np.ndarray) -> np.ndarray:
    return np.asarray(model.fit(X, y).predict(probes))


def _against_bagging() -> Iterator[Row]:
    X, y = _faces(C, N // C + 2, D)
    X = X.astype(np.float64)
    test = np.arange(len(X)) % (N // C + 2) >= N // C
    X, y, probes, truth = X[~test], y[~test], X[test], y[test]
    job = f"fit + predict, N={N:,} d={D:,} c={C} T={T}"
    committee = RandomSamplingLDA(T, random_state=0)
    ours = seconds(lambda: _fit_and_predict(committee, X, y, probes), repeats=2)
    m = committee.n_fixed_ + committee.n_random_
    accuracy = committee.score(probes, truth)
    floor = seconds(lambda: gram_svd(X - X.mean(axis=0)), repeats=2)
    note = f"M0 + M1 = {committee.n_fixed_} + {committee.n_random_}, accuracy {accuracy:.3f}"
    yield Row(job, "RandomSamplingLDA", ours, ours / floor, "its one shared PCA", note)
    lda = LinearDiscriminantAnalysis()
    # The first two take minutes: two of their members are measured, and the time multiplied.
    rivals = {
        "bagging of LDA, all 4,096 features": (lda, 2, 1.0),
        f"bagging of PCA {m} + LDA": (make_pipeline(PCA(m, svd_solver="full"), lda), 2, 1.0),
        f"bagging of LDA, {m} random features": (lda, T, m),
    }
    for name, (member, measured, features) in rivals.items():
        rival = BaggingClassifier(member, measured, max_features=features, random_state=0)
        took = _once(lambda rival=rival: _fit_and_predict(rival, X, y, probes)) * T / measured
        part = f"{measured} of {T} members measured" if measured < T else ""
        accuracy = "" if part else f"accuracy {rival.score(probes, truth):.3f}"
        yield Row(job, name, took, took / ours, "RandomSamplingLDA", part + accuracy)


def _receive(committee: RandomSamplingLDA, probes: np.ndarray) -> None:
    """What the model and the data take without any work."""


def _identify(committee: RandomSamplingLDA, probes: np.ndarray) -> None:
    committee.predict(probes)


def _many_people(n_people: int) -> Iterator[Row]:
    X, y = _faces(1_000, 5, 1_024, seed=1)
    committee = RandomSamplingLDA(T, random_state=0)
    took = _once(lambda: committee.fit(X, y))
    yield Row("fit, 1,000 people × 5, d=1,024", "RandomSamplingLDA", took)
    late, names = _faces(n_people - 1_000, 4, 1_024, seed=2)
    names = names + 1_000
    enrolled = np.arange(len(late)) % 4 < 3
    took = _once(lambda: committee.add_people(late[enrolled], names[enrolled]))
    job = f"enrol {n_people - 1_000:,} more people × 3"
    size = committee.member_means_.nbytes / 2**20
    yield Row(job, "RandomSamplingLDA.add_people", took, note=f"means of all: {size:.0f} MiB")
    rng = np.random.default_rng(0)
    rows = rng.choice(np.flatnonzero(~enrolled), PROBES, replace=False)
    probes, truth = late[rows], names[rows]
    right = float((committee.predict(probes) == truth).mean())
    _, base = peak_memory(_receive, committee, probes)
    took, peak = peak_memory(_identify, committee, probes)
    job = f"identify {PROBES:,} probes among {len(committee.classes_):,}"
    note = f"{peak - base:.0f} MiB above the model and data, {100 * right:.1f} % right"
    yield Row(job, "RandomSamplingLDA.predict", took, note=note)
    one = seconds(lambda: committee.predict(probes[:1]), repeats=5)
    yield Row(f"identify one probe among {len(committee.classes_):,}", "predict", one)


def _fusion() -> Iterator[Row]:
    members = np.random.default_rng(0).dirichlet(np.ones(200), size=(20, 1_000))
    floor = seconds(lambda: members.mean(axis=0))
    for rule in ("sum", "product", "min", "max", "vote"):
        took = seconds(lambda rule=rule: fuse(members, rule))
        yield Row("fuse 20 × 1,000 × 200", rule, took, took / floor, "one mean over members")


def rows() -> Iterator[Row]:
    """Every job of the room."""
    yield from _fusion()
    yield from _many_people(10_000)
    yield from _against_bagging()
