"""A mixture of probabilistic CCA: against a naive EM, closed forms and planted models."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.decomposition import FactorAnalysis

import mien
from mien.errors import InputError, NumericsWarning
from mien.multiview import MixturePCCA, choose_mixture
from mien.multiview import _mixture_pcca as module
from mien.multiview._mixture import (
    LatentStatistics,
    Parameters,
    accumulate,
    accumulate_latent,
    expectation,
    latent_means,
    maximise,
    posterior,
)
from mien.multiview._mixture_start import start_from_statistics
from tests.near import assert_near

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def _noise(parameters: Parameters, k: int) -> np.ndarray:
    if isinstance(parameters.noise, tuple):
        return block_diag(*[block[k] for block in parameters.noise])
    return np.diag(parameters.noise[k])


def _naive_step(parameters: Parameters, V: np.ndarray) -> tuple[Parameters, float]:
    """One EM step straight from the definitions, with the covariance of all views together."""
    K, D, q = parameters.loadings.shape
    covariances = [W @ W.T + _noise(parameters, k) for k, W in enumerate(parameters.loadings)]
    joint = np.stack(
        [
            np.log(parameters.weights[k])
            + multivariate_normal(parameters.means[k], covariances[k]).logpdf(V)
            for k in range(K)
        ],
        axis=1,
    )
    likelihood = logsumexp(joint, axis=1)
    gamma = np.exp(joint - likelihood[:, None])
    means, loadings, noises = [], [], []
    for k in range(K):
        W, mu = parameters.loadings[k], parameters.means[k]
        gain = W.T @ np.linalg.inv(covariances[k])
        z = (V - mu) @ gain.T
        covariance = np.eye(q) - gain @ W
        g = gamma[:, k]
        augmented = np.column_stack([z, np.ones(len(V))])
        second = np.zeros((q + 1, q + 1))
        cross = np.zeros((D, q + 1))
        for i in range(len(V)):
            outer = np.outer(augmented[i], augmented[i])
            outer[:q, :q] += covariance
            second += g[i] * outer
            cross += g[i] * np.outer(V[i], augmented[i])
        solution = cross @ np.linalg.inv(second)
        residual = V - augmented @ solution.T
        psi = (residual * g[:, None]).T @ residual / g.sum()
        psi += solution[:, :q] @ covariance @ solution[:, :q].T
        loadings.append(solution[:, :q])
        means.append(solution[:, q])
        noises.append(psi)
    noise: Any
    if isinstance(parameters.noise, tuple):
        edges = np.concatenate([[0], np.cumsum(parameters.sizes)])
        noise = tuple(np.stack([psi[a:b, a:b] for psi in noises]) for a, b in pairwise(edges))
    else:
        noise = np.stack([np.diag(psi) for psi in noises])
    new = Parameters(
        gamma.mean(axis=0), np.stack(means), np.stack(loadings), noise, parameters.sizes
    )
    return new, float(likelihood.sum())


def _problem(seed: int) -> tuple[np.ndarray, int, int, tuple[int, int]]:
    rng = np.random.default_rng(seed)
    dx, dy = (int(d) for d in rng.integers(1, 5, size=2))
    K, q = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    n = int(rng.integers(30, 60))
    V = rng.normal(size=(n, dx + dy)) @ rng.normal(size=(dx + dy, dx + dy))
    V += 4 * rng.normal(size=(K, dx + dy))[rng.integers(0, K, size=n)]
    return V, K, q, (dx, dy)


@pytest.mark.parametrize("full", [False, True])
def test_em_equals_the_naive_one(full: bool) -> None:
    for seed in range(8):
        V, K, q, sizes = _problem(seed)
        gamma = np.random.default_rng(seed).dirichlet(np.ones(K), size=len(V))
        floor = np.full(V.shape[1], 1e-12)
        ours = start_from_statistics(accumulate(V, gamma), q, sizes, floor, full)
        naive = ours
        for _ in range(5):
            likelihood, g = expectation(V, posterior(ours))
            ours = maximise(ours, accumulate(V, g), floor)
            naive, value = _naive_step(naive, V)
            assert_near(likelihood.sum(), value, digits=8)
        assert_near(ours.weights, naive.weights, digits=8)
        assert_near(ours.means, naive.means, digits=7)
        for k in range(K):
            assert_near(
                ours.loadings[k] @ ours.loadings[k].T + _noise(ours, k),
                naive.loadings[k] @ naive.loadings[k].T + _noise(naive, k),
                digits=7,
            )


@pytest.mark.parametrize("noise", ["diagonal", "full"])
def test_the_likelihood_never_falls_on_hundreds_of_problems(noise: str) -> None:
    for seed in range(150):
        V, K, q, sizes = _problem(seed)
        gamma = np.random.default_rng(seed).dirichlet(np.ones(K), size=len(V))
        floor = 1e-4 * V.var(axis=0)
        state = start_from_statistics(accumulate(V, gamma), q, sizes, floor, noise == "full")
        bound = []
        for _ in range(10):
            prepared = posterior(state)
            likelihood, gamma = expectation(V, prepared)
            bound.append(likelihood.mean())
            latent = LatentStatistics.zeros(K, *state.loadings.shape[1:])
            use_latent = noise == "diagonal" and seed % 2
            state = maximise(
                state,
                accumulate_latent(V, gamma, prepared, latent)
                if use_latent
                else accumulate(V, gamma),
                floor,
            )
        assert np.all(np.diff(bound) >= -1e-7 * np.abs(bound[1:]).max()), seed
        assert np.all(np.isfinite(state.means))


@pytest.mark.parametrize("noise", ["diagonal", "full"])
def test_the_bound_of_a_fit_never_falls(noise: str) -> None:
    for seed in range(15):
        V, K, q, sizes = _problem(seed)
        X, Y = V[:, : sizes[0]], V[:, sizes[0] :]
        model = MixturePCCA(K, q, noise=noise, max_iter=15, tol=0, floor=1e-4, random_state=seed)
        with np.errstate(all="raise", under="ignore"):
            bound = model.fit(X, Y).bound_
        assert np.all(np.diff(bound) >= -1e-7 * np.abs(bound[1:]).max()), seed
        single = model.fit(X.astype("f4"), Y.astype("f4")).bound_
        # Single precision: never by more than its rounding.
        assert np.all(np.diff(single) >= -1e-4 * np.abs(single).max()), seed
        np.testing.assert_allclose(single[0], bound[0], rtol=1e-3, atol=1e-3)


def test_a_component_without_samples_is_placed_anew_and_the_bound_still_never_falls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, Y, _ = _planted(300, 8)
    placed = []

    def start_empty(*arguments: Any) -> Parameters:
        found = start_from_statistics(*arguments)
        found.means[0] = 1e3  # nobody is near
        return found

    def reseed(*arguments: Any) -> Parameters:
        placed.append(arguments[1])
        return original(*arguments)

    original = module.reseed_component
    monkeypatch.setattr(module, "start_from_statistics", start_empty)
    monkeypatch.setattr(module, "reseed_component", reseed)
    for noise in ("diagonal", "full"):
        model = MixturePCCA(3, 1, noise=noise, tol=0, max_iter=60, random_state=0).fit(X, Y)
        bound = model.bound_
        assert np.all(np.diff(bound) >= -1e-7 * np.abs(bound).max())
        assert np.all(model.weights_ * 300 > 1)
    assert placed[:1] == [0]


def test_both_ways_to_gather_give_the_same_step() -> None:
    for seed in range(10):
        V, K, q, sizes = _problem(seed)
        gamma = np.random.default_rng(seed).dirichlet(np.ones(K), size=len(V))
        floor = np.full(V.shape[1], 1e-9)
        state = start_from_statistics(accumulate(V, gamma), q, sizes, floor, False)
        prepared = posterior(state)
        _, gamma = expectation(V, prepared)
        one = maximise(state, accumulate(V, gamma), floor)
        latent = LatentStatistics.zeros(K, V.shape[1], q)
        two = maximise(state, accumulate_latent(V, gamma, prepared, latent), floor)
        for a, b in zip(one[:4], two[:4], strict=True):
            assert_near(a, b, digits=7)


def test_a_fit_with_many_owners_takes_the_other_way(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y, _ = _planted(400, 9)
    bounds = []
    for many in (False, True):
        monkeypatch.setattr(module, "many_owners", lambda *_, many=many: many)
        model = MixturePCCA(2, 1, tol=0, max_iter=10, random_state=0).fit(X, Y)
        model.partial_fit(X[:50], Y[:50])
        bounds.append(model.bound_)
    assert_near(bounds[0], bounds[1], digits=8)


def test_three_views_go_through_the_same_arithmetic() -> None:
    rng = np.random.default_rng(3)
    z = rng.normal(size=(400, 1))
    V = np.hstack(
        [z @ rng.normal(size=(1, d)) + 0.3 * rng.normal(size=(400, d)) for d in (3, 2, 4)]
    )
    V -= V.mean(axis=0)
    floor = np.full(9, 1e-6)
    for full in (False, True):
        state = start_from_statistics(accumulate(V, np.ones((400, 1))), 1, (3, 2, 4), floor, full)
        naive, bound = state, []
        for _ in range(5):
            likelihood, gamma = expectation(V, posterior(state))
            state = maximise(state, accumulate(V, gamma), floor)
            naive, value = _naive_step(naive, V)
            bound.append(likelihood.sum())
            assert_near(bound[-1], value, digits=8)
        assert np.all(np.diff(bound) >= -1e-7 * np.abs(bound).max())
        # The third view alone says where z is.
        only = posterior(state, (False, False, True))
        found = latent_means(V[:, 5:], only)[:, 0, 0]
        assert abs(np.corrcoef(found, z[:, 0])[0, 1]) > 0.9


def test_a_memory_map_gives_what_the_array_gives(tmp_path: Path) -> None:
    X, Y, _ = _planted(500, 10)
    maps = []
    for name, view in (("x", X), ("y", Y)):
        map_ = np.memmap(tmp_path / name, dtype=np.float64, mode="w+", shape=view.shape)
        map_[:] = view
        map_.flush()
        maps.append(np.memmap(tmp_path / name, dtype=np.float64, mode="r", shape=view.shape))
    options: dict[str, Any] = {"batch_size": 128, "max_iter": 8, "tol": 0, "random_state": 0}
    whole = MixturePCCA(2, 1, **options).fit(X, Y)
    mapped = MixturePCCA(2, 1, **options).fit(*maps)
    assert_near(mapped.bound_, whole.bound_, digits=8)
    assert np.array_equal(maps[0], X), "pages that were let go of are read again"
    with pytest.raises(InputError, match="paired arrays"):
        MixturePCCA().fit(maps[0], Y[:-1])


def _planted(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, size=n)
    z = rng.normal(size=(n, 1))
    Wx, Wy = rng.normal(size=(2, 1, 4)), rng.normal(size=(2, 1, 3))
    shift = np.array([-4.0, 4.0])[labels][:, None]
    X = np.einsum("nq,nqd->nd", z, Wx[labels]) + shift + 0.2 * rng.normal(size=(n, 4))
    Y = np.einsum("nq,nqd->nd", z, Wy[labels]) - shift + 0.2 * rng.normal(size=(n, 3))
    return X, Y, labels


def test_one_diagonal_component_reaches_factor_analysis() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(800, 2))
    X = z @ rng.normal(size=(2, 5)) + rng.normal(size=(800, 5))
    Y = z @ rng.normal(size=(2, 4)) + rng.normal(size=(800, 4))
    V = np.hstack([X, Y])
    ours = MixturePCCA(1, 2, tol=1e-10, max_iter=2000).fit(X, Y)
    theirs = FactorAnalysis(2, tol=1e-12, max_iter=5000, svd_method="lapack").fit(V)
    assert_near(ours.score(X, Y), theirs.score(V), digits=7)
    W = ours.loadings_[0]
    np.testing.assert_allclose(
        W @ W.T + np.diag(ours.noise_[0]), theirs.get_covariance(), rtol=0.01, atol=0.01
    )


def test_one_full_component_reaches_the_canonical_correlations() -> None:
    rng = np.random.default_rng(1)
    z = rng.normal(size=(500, 2))
    X = z @ rng.normal(size=(2, 5)) + rng.normal(size=(500, 5)) @ rng.normal(size=(5, 5))
    Y = z @ rng.normal(size=(2, 4)) + rng.normal(size=(500, 4)) @ rng.normal(size=(4, 4))
    model = MixturePCCA(1, 2, noise="full", tol=1e-13, max_iter=3000).fit(X, Y)
    Wx, Wy = model.loadings_[0, :5], model.loadings_[0, 5:]
    Sx, Sy = Wx @ Wx.T + model.noise_[0][0], Wy @ Wy.T + model.noise_[1][0]
    whitened = np.linalg.solve(np.linalg.cholesky(Sx), Wx @ Wy.T)
    whitened = np.linalg.solve(np.linalg.cholesky(Sy), whitened.T)
    found = np.linalg.svd(whitened, compute_uv=False)[:2]
    Qx, Qy = (np.linalg.qr(A - A.mean(axis=0))[0] for A in (X, Y))
    exact = np.linalg.svd(Qx.T @ Qy, compute_uv=False)[:2]
    np.testing.assert_allclose(found, exact, atol=1e-5)


def test_independent_views_share_nothing_with_full_noise() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(8000, 2)) @ rng.normal(size=(2, 4)) + 0.1 * rng.normal(size=(8000, 4))
    Y = rng.normal(size=(8000, 2)) @ rng.normal(size=(2, 3)) + 0.1 * rng.normal(size=(8000, 3))
    full = MixturePCCA(1, 2, noise="full", tol=1e-6).fit(X, Y)
    diagonal = MixturePCCA(1, 2, tol=1e-6).fit(X, Y)
    # z ≈ 0 where it may hold only what is shared; factors of one view alone where it need not.
    # Its variance is about the canonical correlation that chance leaves in a sample: 0.03.
    assert np.square(full.transform(X, Y)).mean() < 0.05
    assert np.square(diagonal.transform(X, Y)).mean() > 0.9


def test_planted_components_are_found() -> None:
    X, Y, labels = _planted(600, 0)
    model = MixturePCCA(2, 1, n_init=3, random_state=0).fit(X, Y)
    found = model.predict(X, Y)
    agreement = np.mean(found == labels)
    assert max(agreement, 1 - agreement) == 1.0
    assert_near(model.predict_proba(X, Y).sum(axis=1), 1, digits=7)
    # One view alone predicts the other down to its own noise of 0.2.
    assert np.abs(model.predict_view(X) - Y).mean() < 0.3
    assert np.abs(model.predict_view(Y=Y) - X).mean() < 0.4


def test_a_missing_view_is_the_marginal_of_the_model() -> None:
    X, Y, _ = _planted(300, 1)
    for noise in ("diagonal", "full"):
        model = MixturePCCA(2, 1, noise=noise, random_state=0).fit(X, Y)
        covariances = [
            model.loadings_[k, :4] @ model.loadings_[k, :4].T
            + (model.noise_[0][k] if noise == "full" else np.diag(model.noise_[k, :4]))
            for k in range(2)
        ]
        naive = logsumexp(
            [
                np.log(model.weights_[k])
                + multivariate_normal(model.means_[k, :4], covariances[k]).logpdf(X)
                for k in range(2)
            ],
            axis=0,
        )
        assert_near(model.score_samples(X), naive, digits=8)
        k = int(model.predict(X)[0])
        W = model.loadings_[k]
        gain = W[4:] @ W[:4].T @ np.linalg.inv(covariances[k])
        expected = model.means_[k, 4:] + gain @ (X[0] - model.means_[k, :4])
        assert_near(model.predict_view(X[:1])[0], expected, digits=6)
        mean, variance = model.predict_view(X, return_variance=True)
        coverage = np.mean(np.abs(mean - Y) < 1.96 * np.sqrt(variance))
        assert 0.9 < coverage < 0.99


def test_samples_look_like_the_model() -> None:
    X, Y, _ = _planted(500, 2)
    model = MixturePCCA(2, 1, noise="full", random_state=0).fit(X, Y)
    A, B, components = model.sample(40000, random_state=0)
    np.testing.assert_allclose(np.bincount(components) / 40000, model.weights_, atol=0.01)
    np.testing.assert_allclose(A.mean(axis=0), model.weights_ @ model.means_[:, :4], atol=0.1)
    assert model.score(A, B) == pytest.approx(model.score(X, Y), abs=0.3)


def test_batches_partial_fit_and_precision() -> None:
    X, Y, _ = _planted(700, 3)
    whole = MixturePCCA(2, 1, tol=1e-3, random_state=0).fit(X, Y)
    small = MixturePCCA(2, 1, tol=1e-3, random_state=0, batch_size=64).fit(X, Y)
    assert_near(small.bound_, whole.bound_, digits=8)
    streamed = MixturePCCA(2, 1, tol=1e-3, random_state=0).fit_batches(
        lambda: ((X[i : i + 100], Y[i : i + 100]) for i in range(0, 700, 100))
    )
    assert streamed.bound_[-1] == pytest.approx(whole.bound_[-1], abs=1e-3)
    single = MixturePCCA(2, 1, tol=1e-3, random_state=0).fit(X.astype("f4"), Y.astype("f4"))
    assert single.bound_[-1] == pytest.approx(whole.bound_[-1], abs=5e-3)
    online = MixturePCCA(2, 1, tol=1e-3, random_state=0)
    for i in range(0, 700, 100):
        online.partial_fit(X[i : i + 100], Y[i : i + 100])
    assert online.score(X, Y) > whole.score(X, Y) - 0.1


@pytest.mark.parametrize("by", ["bic", "held-out"])
def test_choosing_the_number_of_components(by: str) -> None:
    X, Y, _ = _planted(400, 4)
    chosen, table = choose_mixture(
        X, Y, n_components=(1, 2), n_latent=(1, 2), by=by, tol=1e-3, random_state=0
    )
    assert chosen.n_components == 2
    assert len(table) == 4
    best = max(table, key=lambda row: row["criterion"])
    assert (best["n_components"], best["n_latent"]) == (chosen.n_components, chosen.n_latent)
    one = next(row for row in table if row["n_components"] == 2 and row["n_latent"] == 1)
    if by == "bic":
        again = MixturePCCA(2, 1, tol=1e-3, random_state=0).fit(X, Y)
        assert one["criterion"] == pytest.approx(-again.bic(X, Y) / 800, abs=0.05)
        assert chosen.n_latent == 1
    with pytest.raises(InputError, match="by must be"):
        choose_mixture(X, Y, by="guess")
    with pytest.raises(InputError, match="at least one value"):
        choose_mixture(X, Y, n_latent=())


@pytest.mark.parametrize("noise", ["diagonal", "full"])
def test_round_trip_through_a_file(noise: str, tmp_path: Path) -> None:
    X, Y, _ = _planted(200, 5)
    model = MixturePCCA(2, 1, noise=noise, random_state=0).fit(X, Y)
    again = mien.load(mien.save(model, tmp_path / "m"))
    assert_near(model.transform(X, Y), again.transform(X, Y), digits=5)
    assert_near(model.predict_view(X), again.predict_view(X), digits=5)


def test_degenerate_data_stay_finite() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(12, 20))
    X[:, 3] = 1.0
    Y = np.repeat(rng.normal(size=(6, 5)), 2, axis=0)
    for noise in ("diagonal", "full"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericsWarning)
            model = MixturePCCA(4, 3, noise=noise, max_iter=30, random_state=0).fit(X, Y)
        assert np.all(np.isfinite(model.transform(X, Y)))
        assert np.all(np.isfinite(model.bound_))


def test_bad_input_is_named() -> None:
    X, Y, _ = _planted(50, 7)
    model = MixturePCCA(2, 1, random_state=0).fit(X, Y)
    with pytest.raises(InputError, match="exactly one"):
        model.predict_view(X, Y)
    with pytest.raises(InputError, match="at least one"):
        model.transform(None, None)
    with pytest.raises(InputError, match="fitted with 3"):
        model.transform(X, Y[:, :2])
    with pytest.raises(InputError, match="50 samples and Y has 49"):
        model.transform(X, Y[:49])
    with pytest.raises(InputError, match="views are paired"):
        MixturePCCA().fit(X, Y[:-1])
    with pytest.raises(InputError, match="60 components"):
        MixturePCCA(60).fit(X, Y)
    with pytest.raises(InputError, match="constant"):
        MixturePCCA().fit(np.ones((5, 2)), np.ones((5, 2)))
    with pytest.raises(ValueError, match="NaN"):
        MixturePCCA().fit(X, np.full_like(Y, np.nan))
    with pytest.raises(InputError, match="empty"):
        MixturePCCA().fit_batches(lambda: [])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_components", [1, 3])
def test_full_noise_takes_a_view_of_low_rank(n_components: int, dtype: type) -> None:
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(300, 3))
    X = (shared @ rng.normal(size=(3, 8))).astype(dtype)
    Y = (shared @ rng.normal(size=(3, 6)) + 0.1 * rng.normal(size=(300, 6))).astype(dtype)
    model = MixturePCCA(
        n_components, 2, noise="full", floor=1e-10, tol=1e-3, max_iter=50, random_state=0
    ).fit(X, Y)
    assert np.all(np.isfinite(model.bound_))
    assert np.all(np.isfinite(model.predict_view(X)))


def test_what_stays_singular_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise np.linalg.LinAlgError("Matrix is not positive definite")

    monkeypatch.setattr(module, "maximise", fail)
    X, Y = np.random.default_rng(1).normal(size=(2, 20, 3))
    with pytest.raises(InputError, match=r"singular in float64.*raise floor"):
        MixturePCCA(noise="full", random_state=0).fit(X, Y)
