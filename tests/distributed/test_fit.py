"""Fitting from parts gives what one pass over all of them gives, whoever does the work."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import mien.distributed._parts as parts_module
from mien._core.condensed import CondensedStatistics
from mien.distributed import collect, fit
from mien.errors import DataError, InputError, InputTypeError, MissingDataError
from mien.subspace import (
    Eigenfaces,
    Fisherfaces,
    GroupStatistics,
    NullSpaceProjection,
    RelevantComponents,
)
from mien.verification import JointBayesian, TransferJointBayesian, Verifier
from tests.near import assert_near


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    people = rng.permutation(np.repeat(np.arange(400), rng.integers(1, 6, 400)))
    X = 3 * rng.normal(size=(400, 6))[people] + rng.normal(size=(len(people), 6)) + 40
    return X.astype(np.float32), people


def cut(data: tuple[np.ndarray, np.ndarray], n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    X, people = data
    return [(X[i::n], people[i::n]) for i in range(n)]


@pytest.mark.parametrize("n_parts", [1, 3, 17])
def test_joint_bayesian_equals_one_pass(data, n_parts):
    whole = JointBayesian(tol=1e-10).fit(*data)
    spread = fit(JointBayesian(tol=1e-10), cut(data, n_parts), n_workers=1)
    assert_near(spread.variance_ratios_, whole.variance_ratios_, 6)
    assert_near(spread.identity_covariance_, whole.identity_covariance_, 6)
    assert_near(spread.variation_covariance_, whole.variation_covariance_, 6)
    assert (spread.n_people_, spread.n_samples_) == (whole.n_people_, whole.n_samples_)


@pytest.mark.parametrize(
    "model",
    [
        RelevantComponents(4),
        NullSpaceProjection(),
        Eigenfaces(3),
        Fisherfaces(3),
        make_pipeline(Eigenfaces(5), RelevantComponents(3)),
        make_pipeline(Normalizer(), Eigenfaces(4), NullSpaceProjection(3)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_learners_equal_fitting_from_statistics(data, model):
    from sklearn.base import clone

    X, people = data
    spread = fit(clone(model), cut(data, 5), n_workers=1)
    if hasattr(model, "steps"):
        whole = clone(model).fit(X.astype(np.float64), people)
    else:
        whole = clone(model).fit(GroupStatistics().collect(X, people))
    assert_near(np.abs(spread.transform(X)), np.abs(whole.transform(X)), 3.5)


def test_transfer_with_a_strength(data):
    source = JointBayesian().fit(*data)
    X, people = data[0] + np.float32(0.5), data[1]
    whole = TransferJointBayesian(source, strength=0.7, tol=1e-9).fit(X, people)
    model = TransferJointBayesian(source, strength=0.7, tol=1e-9)
    spread = fit(model, cut((X, people), 4), n_workers=1)
    assert_near(spread.variance_ratios_, whole.variance_ratios_, 6)
    with pytest.raises(InputError, match="holds people out"):
        fit(TransferJointBayesian(source), cut(data, 2), n_workers=1)
    with pytest.raises(InputError, match="source is a pipeline"):
        fit(TransferJointBayesian(make_pipeline(Normalizer(), source)), cut(data, 2), n_workers=1)


def test_two_runs_and_any_number_of_workers_agree_to_the_bit(data):
    parts = cut(data, 7)
    runs = [fit(JointBayesian(), parts, n_workers=n) for n in (1, 2, 2)]
    for one in runs[1:]:
        assert np.array_equal(one.projection_, runs[0].projection_)
        assert np.array_equal(one.identity_covariance_, runs[0].identity_covariance_)


def test_statistics_hold_every_person_once(data):
    X, people = data
    whole = GroupStatistics().collect(X, people)
    spread = collect(cut(data, 6), n_workers=1)
    order = np.argsort(spread.labels)
    assert np.array_equal(spread.labels[order], np.unique(people))
    assert np.array_equal(spread.counts[order], whole.counts[np.argsort(whole.labels)])
    assert_near(spread.scatter(), whole.scatter(), 8)
    assert_near(spread.within_scatter(), whole.within_scatter(), 6)
    assert_near(spread.mean, whole.mean, 8)


def test_condensed_statistics_are_those_of_the_groups(data):
    whole = GroupStatistics().collect(*data)
    condensed = CondensedStatistics.of(whole)
    assert len(condensed.size_products(whole.mean)) == 5  # one to five pictures
    for name in ("scatter", "between_scatter", "within_scatter"):
        assert_near(getattr(condensed, name)(), getattr(whole, name)(), 6, note=name)
    assert condensed.n_groups == whole.n_groups
    assert np.array_equal(np.sort(condensed.counts), np.sort(whole.counts))
    with pytest.raises(InputError, match="not the sum of each"):
        condensed.sums()


def test_text_labels_and_vectors_of_nobody(data):
    X, people = data
    names = np.array([f"P{k}" for k in people])
    names[::9] = ""
    whole = GroupStatistics().collect(X, names)
    spread = collect([(X[i::4], names[i::4]) for i in range(4)], n_workers=1)
    assert spread.n_samples == len(X)
    assert spread.n_grouped == whole.n_grouped
    assert_near(spread.scatter(), whole.scatter(), 8)


def test_files_of_npy(data, tmp_path, monkeypatch):
    X, people = data
    for k, (rows, labels) in enumerate(cut(data, 3)):
        np.save(tmp_path / f"x{k}.npy", rows)
        np.save(tmp_path / f"y{k}.npy", labels)
    files = sorted(tmp_path.glob("x*.npy"))
    monkeypatch.setattr(parts_module, "PART_BYTES", 6 * 4 * 100)
    whole = JointBayesian().fit(X, people)
    model = fit(JointBayesian(), files, sorted(tmp_path.glob("y*.npy")), n_workers=1)
    assert_near(model.variance_ratios_, whole.variance_ratios_, 6)
    labels = np.concatenate([labels for _, labels in cut(data, 3)])
    again = fit(JointBayesian(), files, labels, n_workers=1)
    assert np.array_equal(again.projection_, model.projection_)
    mapped = np.load(files[0], mmap_mode="r")
    assert len(parts_module.find_parts(mapped, None).parts) == -(-len(mapped) // 100)


def test_parquet_and_zarr(data, tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    zarr = pytest.importorskip("zarr")
    X, people = data
    table = arrow.table({"vector": list(X), "person": people})
    parquet.write_table(table, tmp_path / "faces.parquet", row_group_size=200)
    columns = arrow.table({f"f{k}": X[:, k] for k in range(6)} | {"person": people})
    parquet.write_table(columns, tmp_path / "wide.parquet")
    array = zarr.create_array(str(tmp_path / "x.zarr"), shape=X.shape, chunks=(128, 6), dtype="f4")
    array[:] = X
    whole = JointBayesian().fit(X, people)
    for found, y in (
        (tmp_path / "faces.parquet", "person"),
        (tmp_path / "wide.parquet", "person"),
        (tmp_path / "x.zarr", people),
    ):
        model = fit(JointBayesian(), found, y, n_workers=1)
        assert_near(model.variance_ratios_, whole.variance_ratios_, 6, note=found.name)
    with pytest.raises(DataError, match=r"row group 0 of .*faces.parquet.*no column 'name'"):
        fit(JointBayesian(), tmp_path / "faces.parquet", "name", n_workers=1)


def test_a_part_that_cannot_be_read_is_named(data, tmp_path):
    for k, (rows, _) in enumerate(cut(data, 3)):
        np.save(tmp_path / f"{k}.npy", rows)
    torn = tmp_path / "1.npy"
    torn.write_bytes(torn.read_bytes()[:40])
    with pytest.raises(DataError, match=r"1\.npy"):
        fit(Eigenfaces(), tmp_path, n_workers=1)
    parts = cut(data, 3)
    parts[1] = (np.full((4, 6), np.nan), np.arange(4))
    with pytest.raises(InputError, match="part 1: X has 24 NaN"):
        fit(Eigenfaces(), parts, n_workers=1)
    parts[1] = (np.zeros((4, 5)), np.arange(4))
    with pytest.raises(InputError, match=r"part 1: .*\(n, 6\)"):
        fit(Eigenfaces(), parts, n_workers=2)


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ("nowhere.npy", None, "does not exist"),
        (3, None, "got int"),
        (np.zeros((4, 2)), np.zeros(3), "4 rows and y has 3"),
        (np.zeros(4), None, r"\(n, d\)"),
        ([], None, "no vectors"),
        (iter([(np.zeros((4, 2)), np.zeros(4))]), [1], "leave y out"),
    ],
)
def test_what_is_not_data_is_refused(X, y, words):
    with pytest.raises((InputError, MissingDataError), match=words):
        fit(JointBayesian(), X, y, n_workers=1)


def test_models_that_cannot_be_fitted_so_are_refused(data):
    with pytest.raises(InputError, match="Verifier is not fitted from additive statistics"):
        fit(Verifier(JointBayesian()), *data, n_workers=1)
    with pytest.raises(InputError, match="requires y"):
        fit(JointBayesian(), data[0], n_workers=1)
    with pytest.raises(InputError, match="n_workers"):
        fit(JointBayesian(), *data, n_workers=0)
    mixed = [(data[0][:50], data[1][:50]), (data[0][50:], data[1][50:].astype(str))]
    with pytest.raises(InputError, match="text in some parts"):
        fit(JointBayesian(), mixed, n_workers=1)


@pytest.mark.needs("distributed")
def test_a_dask_array_is_refused_by_fit_and_taken_here(data):
    import dask.array as da

    X, people = data
    lazy, labels = da.from_array(X, chunks=(150, 3)), da.from_array(people, chunks=99)
    for model in (JointBayesian(), Eigenfaces(), RelevantComponents(2)):
        with pytest.raises(InputTypeError, match=r"mien\.distributed\.fit\(model, X, y\)"):
            model.fit(lazy, people)
    with pytest.raises(InputTypeError, match="Dask"):
        GroupStatistics().collect(lazy, people)
    whole = JointBayesian().fit(X, people)
    for y in (labels, people):
        model = fit(JointBayesian(), lazy, y, n_workers=1)
        assert_near(model.variance_ratios_, whole.variance_ratios_, 6)
