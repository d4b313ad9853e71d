"""Learners that read their data again and again: passes over parts are those over all samples."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from mien._core.passes import BatchPasses, RunningMoments, choose_rows, split_rows
from mien.distributed import fit
from mien.errors import InputError
from mien.multiview import FisherVector, MixturePCCA
from mien.sparse import KSVD, WeightedKSVD
from mien.subspace import Eigenfaces
from tests.near import assert_near

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def views() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    centres = 6 * rng.normal(size=(3, 9))
    z = rng.normal(size=(900, 2))
    V = centres[rng.integers(0, 3, 900)] + z @ rng.normal(size=(2, 9))
    V += 0.3 * rng.normal(size=V.shape)
    return V[:, :5].copy(), V[:, 5:].copy()


def cut(arrays: tuple[np.ndarray, ...], sizes: tuple[int, ...]) -> list[tuple[np.ndarray, ...]]:
    edges = np.cumsum((0, *sizes))
    return [tuple(a[low:high] for a in arrays) for low, high in pairwise(edges)]


@pytest.mark.parametrize("noise", ["diagonal", "full"])
def test_a_mixture_of_pcca_from_parts(views, noise):
    model = MixturePCCA(3, 2, noise=noise, max_iter=15, tol=0, random_state=0)
    whole = MixturePCCA(**model.get_params()).fit(*views)
    fit(model, cut(views, (400, 0, 320, 180)), n_workers=1)
    assert_near(model.means_, whole.means_, 6)
    assert_near(model.bound_, whole.bound_, 8)
    assert model.n_features_views_ == (5, 4)


def test_k_svd_from_parts(views, tmp_path):
    X = np.hstack(views)
    options = {"n_nonzero_coefs": 2, "max_iter": 4, "random_state": 0, "batch_size": 100}
    whole = KSVD(12, **options).fit(X)
    for k, (part,) in enumerate(cut((X,), (500, 400))):
        np.save(tmp_path / f"{k}.npy", part)
    spread = fit(KSVD(12, **options), tmp_path, n_workers=1)
    assert_near(spread.components_, whole.components_, 6)
    assert spread.n_iter_ == 4
    seen = np.arange(9) < 6
    weighted = WeightedKSVD(12, visible=seen, **options)
    assert_near(
        fit(weighted, [X[:300], X[300:]], n_workers=1).components_,
        WeightedKSVD(12, visible=seen, **options).fit(X).components_,
        6,
    )


def test_processes_agree_to_the_bit(views):
    parts = cut(views, (300, 250, 200, 100, 50))
    models = [
        fit(MixturePCCA(3, 2, max_iter=4, tol=0, random_state=0), parts, n_workers=n)
        for n in (1, 2)
    ]
    assert np.array_equal(models[0].loadings_, models[1].loadings_)


def test_a_pipeline_that_ends_in_passes(views):
    X = np.hstack(views)
    options = {"n_nonzero_coefs": 2, "max_iter": 3, "random_state": 0, "batch_size": 200}
    model = make_pipeline(Eigenfaces(5), KSVD(8, **options))
    fit(model, [X[:600], X[600:]], n_workers=1)
    expected = KSVD(8, **options).fit(model[0].transform(X))
    assert_near(model[1].components_, expected.components_, 5)


def test_what_cannot_be_fitted_is_said(views):
    X, Y = views
    with pytest.raises(InputError, match="KSVD reads the parts several times"):
        fit(KSVD(4), (part for part in [X]), n_workers=1)
    with pytest.raises(InputError, match=r"part 1: batches must be \(n, 5\)"):
        fit(KSVD(4), [X, Y], n_workers=1)
    with pytest.raises(InputError, match="second view"):
        fit(MixturePCCA(), [X], n_workers=1)
    with pytest.raises(InputError, match="no vectors"):
        fit(KSVD(4), [X[:0]], n_workers=1)


def test_moments_add_up(views):
    X = views[0] + 1e6
    found = BatchPasses(lambda: split_rows(X, 130)).total(RunningMoments)
    assert found.n == len(X)
    assert_near(found.mean, X.mean(axis=0), 12)
    assert_near(found.scatter / found.n, X.var(axis=0), 6)


def test_the_sample_for_a_start_depends_on_the_samples_only(views):
    """A share of the rows is chosen by their values, however the batches are cut."""
    X = views[0]
    whole = choose_rows(X, 0.3, 7)
    parts = [choose_rows(part, 0.3, 7) for (part,) in cut((X,), (1, 499, 400))]
    assert np.array_equal(whole, np.concatenate(parts))
    assert 0.2 < whole.mean() < 0.4
    assert not np.array_equal(whole, choose_rows(X, 0.3, 8))
    assert choose_rows(X, 1, 7).all()


def test_gaussians_of_fisher_vectors_from_parts(views):
    X = np.hstack(views) + 30
    whole = FisherVector(3, random_state=0).fit([X[:500], X[500:]])
    spread = fit(FisherVector(3, random_state=0), [X[:120], X[120:120], X[120:]], n_workers=1)
    for name in ("weights_", "means_", "covariances_", "precisions_cholesky_"):
        assert_near(getattr(spread.mixture_, name), getattr(whole.mixture_, name), 6, note=name)
    assert spread.n_iter_ == whole.n_iter_
    assert spread.mixture_.converged_
    assert_near(spread.transform([X[:50]]), whole.transform([X[:50]]), 6)
    # A share places the Gaussians, all descriptors are learned from.
    some = fit(
        FisherVector(3, max_descriptors=200, random_state=0), [X[:300], X[300:]], n_workers=1
    )
    assert_near(np.sort(some.mixture_.weights_), np.sort(whole.mixture_.weights_), 2)
    with pytest.raises(InputError, match="all descriptors are the same"):
        fit(FisherVector(2), [np.ones((9, 3))], n_workers=1)


@pytest.mark.needs("distributed")
def test_a_second_view_in_parquet_and_in_dask(views, tmp_path):
    import dask.array as da
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, Y = views
    table = pa.table({"vector": X.tolist(), "other": Y.tolist()})
    pq.write_table(table, tmp_path / "pairs.parquet", row_group_size=350)
    settings = {"max_iter": 3, "tol": 0, "random_state": 0}
    whole = MixturePCCA(2, 2, **settings).fit(X, Y)
    read = fit(MixturePCCA(2, 2, **settings), tmp_path / "pairs.parquet", "other", n_workers=1)
    assert_near(read.means_, whole.means_, 6)
    blocks = da.from_array(X, chunks=(400, 5)), da.from_array(Y, chunks=(500, 2))
    assert_near(fit(MixturePCCA(2, 2, **settings), *blocks, n_workers=1).means_, whole.means_, 6)
