"""Two views: an iteration of EM, the encoding of bags, a fit of data larger than memory.

VLFeat is measured through its C library where that can be found (Debian: ``libvlfeat1``), by the
loader or by the path in ``MIEN_VLFEAT``; ``cyvlfeat``, its Python wrapper, builds with no current
compiler, and calls the same function.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.mixture import GaussianMixture

from benchmarks.measure import Row, peak_memory, seconds
from mien._core.passes import BatchPasses, split_rows
from mien.multiview import FisherVector, MixturePCCA
from mien.multiview._mixture import (
    LatentStatistics,
    MixtureStatistics,
    Parameters,
    accumulate,
    accumulate_latent,
    expectation,
    gate,
    maximise,
    posterior,
)

N, D_VIEW, K, Q = 100_000, 64, 64, 16
N_LARGE, D_LARGE, K_LARGE, Q_LARGE = 10_000_000, 32, 16, 8
BAGS, BAG_SIZE = 200, 2_000


def _draw(n: int, spread: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Paired samples (n, 64), (n, 64) of 64 planted components, whose centres lie so far apart."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, K, size=n)
    centres = spread * rng.normal(size=(K, 2 * D_VIEW)).astype(np.float32)
    loadings = rng.normal(size=(K, Q, 2 * D_VIEW)).astype(np.float32)
    V = rng.normal(size=(n, 2 * D_VIEW)).astype(np.float32)
    z = rng.normal(size=(n, Q)).astype(np.float32)
    for k in range(K):
        mine = labels == k
        V[mine] += z[mine] @ loadings[k] + centres[k]
    return V[:, :D_VIEW].copy(), V[:, D_VIEW:].copy(), centres


def _iteration(X: np.ndarray, Y: np.ndarray) -> tuple[MixturePCCA, float]:
    """A model after two iterations, and the seconds of one more."""
    model = MixturePCCA(K, Q, max_iter=2, tol=0, random_state=0).fit(X, Y)
    parameters, floor = model._parameters(), np.full(2 * D_VIEW, 1e-6)

    passes = BatchPasses(lambda: split_rows((X, Y), model.batch_size))
    before = model._expect(passes, parameters, X.dtype)

    def step() -> None:
        found = model._expect(passes, parameters, X.dtype, before)
        maximise(parameters, found.statistics, floor)

    return model, seconds(step)


def _routes(X: np.ndarray, Y: np.ndarray, parameters: Parameters, location: np.ndarray) -> Any:
    """Seconds of the two ways to gather what an M-step needs, over one batch, and the owners."""
    V = np.hstack([X[:8192], Y[:8192]]) - location.astype(np.float32)
    prepared = posterior(parameters).astype(V.dtype)
    _, gamma = expectation(V, prepared)
    owners = np.count_nonzero(gamma > gate(gamma.dtype)) / len(gamma)
    second = MixtureStatistics.zeros(K, 2 * D_VIEW)
    latent = LatentStatistics.zeros(K, 2 * D_VIEW, Q)
    return (
        owners,
        seconds(lambda: accumulate(V, gamma, second)),
        seconds(lambda: accumulate_latent(V, gamma, prepared, latent)),
    )


def _floor_of_an_iteration(owners: float) -> float:
    """Seconds of the products alone: samples by loadings, densities, owned second moments."""
    rng = np.random.default_rng(0)
    block = 512
    V = rng.normal(size=(block, 2 * D_VIEW)).astype(np.float32)
    loadings = rng.normal(size=(2 * D_VIEW, K * Q)).astype(np.float32)
    diagonal = rng.normal(size=(2 * D_VIEW, K)).astype(np.float32)
    gamma = rng.random((block, K)).astype(np.float32)
    projected = np.empty((block, K * Q), dtype=np.float32)
    owned = rng.normal(size=(max(1, round(8192 * owners / K)), 2 * D_VIEW)).astype(np.float32)

    def expect() -> None:
        for _ in range(8192 // block):
            np.matmul(V, loadings, out=projected)
            _ = V @ diagonal
            _ = V @ diagonal
            _ = gamma.T @ V

    def gather() -> None:
        for _ in range(K):
            _ = owned.T @ owned

    return (seconds(expect) + seconds(gather)) * N / 8192


def _peer_iteration(V: np.ndarray) -> float:
    """Seconds of an iteration of scikit-learn's: four of them less one, a third of that."""
    times = []
    for iterations in (1, 4):
        peer = GaussianMixture(
            K, covariance_type="diag", max_iter=iterations, tol=0,
            init_params="random_from_data", random_state=0,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            times.append(seconds(lambda peer=peer: peer.fit(V), repeats=2))  # type: ignore[misc]
    return (times[1] - times[0]) / 3


def _em_rows() -> Iterator[Row]:
    job = f"EM iteration, N = {N:,}, 64 + 64, K = {K}, q = {Q}"
    for name, spread in (("clear", 3.0), ("overlapping", 0.3)):
        X, Y, _ = _draw(N, spread)
        model, took = _iteration(X, Y)
        owners, second, latent = _routes(X, Y, model._parameters(), model.location_)
        note = f"{owners:.1f} components own a sample"
        floor = _floor_of_an_iteration(owners)
        yield Row(job, f"MixturePCCA, {name}", took, took / floor, "its products", note)
        theirs = _peer_iteration(np.hstack([X, Y]))
        yield Row(job, "scikit-learn, diagonal mixture", theirs, took / theirs, "ours / theirs")
        yield Row(job, "sums by γ v vᵀ, a batch", second, None, "", note)
        yield Row(job, "sums by γ v ẑᵀ, a batch", latent, latent / second, "γ v vᵀ")


def _find_vlfeat() -> ctypes.CDLL | None:
    place = os.environ.get("MIEN_VLFEAT") or ctypes.util.find_library("vl")
    if not place:
        return None
    library = ctypes.CDLL(place)
    size, array = ctypes.c_ulonglong, ctypes.c_void_p
    library.vl_fisher_encode.restype = size
    library.vl_fisher_encode.argtypes = [
        array, ctypes.c_uint, array, size, size, array, array, array, size, ctypes.c_int,
    ]  # fmt: skip
    return library


def vlfeat_fisher(
    library: ctypes.CDLL, X: np.ndarray, mixture: GaussianMixture, flags: int = 0
) -> np.ndarray:
    """VLFeat's vector (2, K, d) of float32 descriptors (n, d): means, then variances."""
    K, d = mixture.means_.shape
    out = np.empty((2, K, d), dtype=np.float32)
    arrays = [
        np.ascontiguousarray(part, dtype=np.float32)
        for part in (mixture.means_, mixture.covariances_, mixture.weights_, X)
    ]
    means, variances, weights, data = (part.ctypes.data for part in arrays)
    library.vl_fisher_encode(
        out.ctypes.data, 1, means, d, K, variances, weights, data, len(X), flags
    )
    return out


def _encoding_rows() -> Iterator[Row]:
    from skimage.feature import fisher_vector

    rng = np.random.default_rng(0)
    centres = 1.5 * rng.normal(size=(K, D_VIEW))
    rows = centres[rng.integers(0, K, size=BAGS * BAG_SIZE)]
    rows = (rows + rng.normal(size=rows.shape)).astype(np.float32)
    bags = (rows, np.arange(BAGS + 1) * BAG_SIZE)
    model = FisherVector(K, power=1, l2=False, max_descriptors=20_000, random_state=0).fit(bags)
    job = f"Fisher vectors, {BAGS} bags of {BAG_SIZE:,}, d = {D_VIEW}, K = {K}"
    ours = seconds(lambda: model.transform(bags))
    left = rng.normal(size=(D_VIEW, K)).astype(np.float32)
    bag = rows[:BAG_SIZE]
    gamma = rng.random((BAG_SIZE, K)).astype(np.float32)

    def products() -> None:
        for _ in range(BAGS):
            _ = bag @ left
            _ = bag @ left
            _ = gamma.T @ bag
            _ = gamma.T @ bag

    floor = seconds(products)
    yield Row(job, "mien", ours, ours / floor, "its four products")
    peers = {}
    few = 20

    def scikit_image() -> None:
        for i in range(few):
            fisher_vector(rows[i * BAG_SIZE : (i + 1) * BAG_SIZE], model.mixture_)

    peers["scikit-image"] = seconds(scikit_image) * BAGS / few
    library = _find_vlfeat()
    if library is not None:
        found = vlfeat_fisher(library, bag, model.mixture_)
        mine = model.transform([bag])[0].reshape(K, 2, D_VIEW).transpose(1, 0, 2)
        apart = np.abs(found - mine).max() / np.abs(mine).max()

        def vlfeat() -> None:
            for i in range(BAGS):
                part = rows[i * BAG_SIZE : (i + 1) * BAG_SIZE]
                vlfeat_fisher(library, part, model.mixture_)

        peers["VLFeat 0.9.21 (C)"] = seconds(vlfeat)
        yield Row(job, "VLFeat, apart from ours by", apart, None, "", "of the largest entry")
    for name, theirs in peers.items():
        yield Row(job, name, theirs, theirs / ours, "theirs / ours")


def _write_map(folder: Path) -> tuple[Path, Path]:
    rng = np.random.default_rng(0)
    loadings = rng.normal(size=(4, 2 * D_LARGE)).astype(np.float32)
    centres = 3 * rng.normal(size=(K_LARGE, 2 * D_LARGE)).astype(np.float32)
    step = 200_000
    paths = folder / "first.f32", folder / "second.f32"
    with paths[0].open("wb") as first, paths[1].open("wb") as second:
        for _ in range(0, N_LARGE, step):
            z = rng.standard_normal((step, 4), dtype=np.float32)
            V = rng.standard_normal((step, 2 * D_LARGE), dtype=np.float32)
            V += z @ loadings + centres[rng.integers(0, K_LARGE, size=step)]
            first.write(V[:, :D_LARGE].tobytes())
            second.write(V[:, D_LARGE:].tobytes())
    return paths


def _fit_maps(paths: tuple[Path, Path]) -> None:
    X, Y = (np.memmap(path, dtype=np.float32, mode="r", shape=(N_LARGE, D_LARGE)) for path in paths)
    model = MixturePCCA(K_LARGE, Q_LARGE, max_iter=5, tol=0, random_state=0).fit(X, Y)
    if not np.all(np.diff(model.bound_) > -1e-4):
        raise RuntimeError(f"the bound fell: {model.bound_}")


def _large_rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        paths = _write_map(Path(folder))
        size = sum(path.stat().st_size for path in paths) / 2**30
        took, peak = peak_memory(_fit_maps, paths)
    job = f"fit of {N_LARGE:,} pairs, 32 + 32, K = {K_LARGE}, q = {Q_LARGE}"
    yield Row(
        job, "MixturePCCA, 5 iterations", took, peak / 2048, "2 GiB", f"map of {size:.1f} GiB"
    )


def rows() -> Iterator[Row]:
    """The rows of this benchmark."""
    yield from _em_rows()
    yield from _encoding_rows()
    yield from _large_rows()
