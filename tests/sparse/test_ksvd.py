"""K-SVD: objective, planted dictionaries, streams, interruption, replacement, weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from mien._core.progress import listening
from mien.errors import InputError, ModelDamagedError, NumericsWarning
from mien.sparse import KSVD, WeightedKSVD, _omp, orthogonal_matching_pursuit
from mien.sparse._atoms import find_idle, unit_rows
from mien.sparse._updates import (
    CodeStatistics,
    _power_step,
    _sweep_numpy,
    residual,
    sweep_exact,
    sweep_power,
)
from tests.near import assert_near


def _plant(
    n: int = 2500, d: int = 20, n_atoms: int = 40, n_nonzero_coefs: int = 3, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    atoms = unit_rows(rng.normal(size=(n_atoms, d)))
    codes = np.zeros((n, n_atoms))
    for row in codes:
        signs = rng.choice([-1.0, 1.0], n_nonzero_coefs)
        row[rng.choice(n_atoms, n_nonzero_coefs, replace=False)] = signs * rng.uniform(
            1, 2, n_nonzero_coefs
        )
    return codes @ atoms, atoms


def _recovered(model: KSVD, atoms: np.ndarray) -> float:
    return float(np.mean(np.abs(unit_rows(model.components_) @ atoms.T).max(axis=0) > 0.99))


@pytest.mark.parametrize("options", [{"update": "power"}, {"update": "exact"}])
def test_planted_dictionary_is_recovered(options: dict[str, Any]) -> None:
    X, atoms = _plant()
    model = KSVD(40, n_nonzero_coefs=3, max_iter=40, random_state=0, **options).fit(X)
    assert _recovered(model, atoms) >= 0.9
    assert model.objective_[-1] < 0.05 * np.mean(np.sum(X**2, axis=1))
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1, atol=1e-5)


def test_planted_dictionary_is_recovered_from_a_stream() -> None:
    X, atoms = _plant()
    model = KSVD(40, n_nonzero_coefs=3, max_iter=60, random_state=0)
    model.fit_batches(lambda: iter(np.split(X, 5)))
    assert _recovered(model, atoms) >= 0.8
    online = KSVD(40, n_nonzero_coefs=3, forget=0.9, random_state=0)
    for _ in range(20):
        for batch in np.split(X, 5):
            online.partial_fit(batch)
    assert online.objective_[-1] < 0.3 * online.objective_[0]
    assert _recovered(online, atoms) >= 0.5


@pytest.mark.parametrize("bound", [0.0, 0.3])
@pytest.mark.parametrize("sweep", [sweep_power, sweep_exact])
def test_objective_never_rises_within_a_sweep(sweep: Any, bound: float) -> None:
    X, _ = _plant(400)
    atoms = unit_rows(np.random.default_rng(1).normal(size=(30, 20)))
    codes = orthogonal_matching_pursuit(X, atoms, n_nonzero_coefs=3)
    errors = [np.sum(residual(X, codes, atoms) ** 2)]
    columns = codes.tocsc()
    for k in range(30):
        part = atoms[k : k + 1].copy()
        column = columns[:, k].tocsc()
        R = X - columns @ atoms
        sweep(R, column, part, bound)
        atoms[k] = part[0]
        columns.data[columns.indptr[k] : columns.indptr[k + 1]] = column.data
        errors.append(np.sum((X - columns @ atoms) ** 2))
        assert_near(R, X - columns @ atoms, digits=8)
    assert np.all(np.diff(errors) <= 1e-7 * errors[0])
    assert errors[-1] < 0.9 * errors[0]
    if bound:
        assert np.abs(atoms).max() <= bound + 1e-9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_sweep_equals_its_twin(dtype: type) -> None:
    X = _plant(3000)[0].astype(dtype)
    atoms = unit_rows(np.random.default_rng(1).normal(size=(12, 20)).astype(dtype))
    codes = orthogonal_matching_pursuit(X, atoms, n_nonzero_coefs=3)
    R = residual(X, codes, atoms)
    np.testing.assert_allclose(R, X - codes @ atoms, atol=1e-5)
    ours, twin = codes.tocsc(), codes.tocsc()
    R2, atoms2 = R.copy(), atoms.copy()
    sweep_power(R, ours, atoms, 0.35)
    _sweep_numpy(R2, twin, atoms2, 0.35, _power_step)
    atol = 1e-4 if dtype == np.float32 else 1e-8
    np.testing.assert_allclose(atoms, atoms2, atol=atol)
    np.testing.assert_allclose(ours.data, twin.data, atol=10 * atol)
    np.testing.assert_allclose(R, R2, atol=10 * atol)


def test_sweep_from_sums_is_one_atom_after_another() -> None:
    X, _ = _plant(600)
    atoms = unit_rows(np.random.default_rng(1).normal(size=(150, 20)))
    codes = orthogonal_matching_pursuit(X, atoms, n_nonzero_coefs=3)
    sums = CodeStatistics(150, 20, np.float64)
    for low in range(0, 600, 200):
        sums.merge(sums.empty().collect(X[low : low + 200], codes[low : low + 200]))
    dense = codes.toarray()
    expected = atoms.copy()
    for k in range(150):
        g = dense[:, k]
        if g.any():
            expected[k] = g @ (X - dense @ expected + np.outer(g, expected[k])) / (g @ g)
    swept = sums.sweep(atoms)
    assert_near(swept, expected, digits=8)
    error = np.mean(np.sum((X - dense @ swept) ** 2, axis=1))
    assert sums.objective(swept) == pytest.approx(error)
    assert sums.objective(swept) < sums.objective(atoms)


@pytest.mark.parametrize("batch_size", [None, 100])
def test_interrupted_training_resumes_to_the_same_result(
    tmp_path: Path, batch_size: int | None
) -> None:
    X, _ = _plant(300)
    # many atoms for few samples: some must be replaced on the way, which draws numbers
    options: dict[str, Any] = {
        "n_atoms": 80,
        "n_nonzero_coefs": 3,
        "max_iter": 6,
        "batch_size": batch_size,
        "random_state": 3,
    }
    whole = KSVD(**options).fit(X)
    file = tmp_path / "training.npz"

    class Interruption(Exception):
        pass

    def interrupt(model: KSVD, iteration: int, objective: float) -> None:
        if iteration == 3:
            raise Interruption

    with pytest.raises(Interruption):
        KSVD(**options, checkpoint=file, callback=interrupt).fit(X)
    assert file.exists()
    seen: list[int] = []
    resumed = KSVD(**options, checkpoint=file, callback=lambda m, i, o: seen.append(i)).fit(X)
    assert seen == [4, 5, 6]
    assert_near(resumed.components_, whole.components_, digits=5)
    assert_near(resumed.objective_, whole.objective_, digits=5)
    assert resumed.n_replaced_ == whole.n_replaced_
    assert not file.exists()


def test_checkpoints_of_other_trainings_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    X, _ = _plant(100)
    file = tmp_path / "training.npz"

    def stop(model: KSVD, iteration: int, objective: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        KSVD(10, n_nonzero_coefs=2, checkpoint=file, callback=stop, random_state=0).fit(X)
    with pytest.raises(InputError, match="n_nonzero_coefs differ"):
        KSVD(10, n_nonzero_coefs=3, checkpoint=file, random_state=0).fit(X)
    with pytest.raises(InputError, match="data differ"):
        KSVD(10, n_nonzero_coefs=2, checkpoint=file, random_state=0).fit(X + 1)
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(ModelDamagedError, match="cannot be read"):
        KSVD(10, n_nonzero_coefs=2, checkpoint=file, random_state=0).fit(X)


def test_memory_maps_and_iterables(tmp_path: Path) -> None:
    X = _plant(400)[0].astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    options: dict[str, Any] = {
        "n_atoms": 20,
        "n_nonzero_coefs": 2,
        "max_iter": 3,
        "random_state": 0,
    }
    expected = KSVD(**options, batch_size=100).fit(X).components_
    found = KSVD(**options, batch_size=100).fit(mapped).components_
    assert_near(found, expected, digits=4)
    streamed = KSVD(**options).fit_batches(np.split(X, 4)).components_
    assert_near(streamed, expected, digits=4)
    with pytest.raises(InputError, match="empty after one pass"):
        KSVD(**options).fit_batches(iter(np.split(X, 4)))
    with pytest.raises(InputError, match="no batches"):
        KSVD(**options).fit_batches([])
    with pytest.raises(InputError, match=r"\(n, 20\)"):
        KSVD(**options).fit_batches([X, X[:, :5]])


def test_unused_and_duplicate_atoms_are_found_and_replaced() -> None:
    atoms = np.eye(4)[[0, 1, 1, 2, 3]] * np.array([1, 1, -2, 1, 1])[:, None]
    idle = find_idle(atoms, np.array([5, 3, 4, 0, 1]), 0.99)
    np.testing.assert_array_equal(idle, [1, 3])
    X, _ = _plant(300)
    start = np.repeat(X[:1], 30, axis=0)
    model = KSVD(30, n_nonzero_coefs=3, init=start, max_iter=8, random_state=0).fit(X)
    gram = model.components_ @ model.components_.T
    assert np.abs(gram - np.eye(30)).max() < 0.99
    # Which of thirty equal atoms a sample takes is decided by rounding, so the number is not fixed.
    assert model.n_replaced_ >= 20
    codes = model.transform(X)
    assert np.diff(codes.tocsc().indptr).min() > 0


def test_max_entry_bounds_the_entries_and_keeps_the_fit() -> None:
    X, _ = _plant(500)
    plain = KSVD(30, n_nonzero_coefs=3, max_iter=8, random_state=0).fit(X)
    bounded = KSVD(30, n_nonzero_coefs=3, max_iter=8, max_entry=0.1, random_state=0).fit(X)
    assert np.abs(plain.components_).max() > 0.3
    assert np.abs(bounded.components_).max() <= 0.1 + 1e-6
    assert bounded.objective_[-1] < 1.3 * plain.objective_[-1]


def test_seeds_starts_callbacks_and_progress() -> None:
    X, _ = _plant(300)
    first = KSVD(20, n_nonzero_coefs=2, max_iter=4, random_state=0).fit(X)
    again = KSVD(20, n_nonzero_coefs=2, max_iter=4, random_state=0).fit(X)
    assert_near(first.components_, again.components_, digits=5)
    warm = KSVD(20, n_nonzero_coefs=2, max_iter=4, warm_start=True, random_state=0).fit(X)
    warm.fit(X)
    assert warm.objective_[0] < first.objective_[0]
    start = KSVD(20, n_nonzero_coefs=2, max_iter=4, init=first.components_, random_state=0).fit(X)
    assert_near(start.components_, warm.components_, digits=5)
    with pytest.raises(InputError, match="the start must be"):
        KSVD(20, init=first.components_[:5]).fit(X)
    stopped = KSVD(20, n_nonzero_coefs=2, max_iter=9, callback=lambda m, i, o: i == 2).fit(X)
    assert stopped.n_iter_ == 2
    reports: list[tuple[str, int, int | None]] = []
    with listening(lambda *what: reports.append(what)):
        KSVD(20, n_nonzero_coefs=2, max_iter=3).fit(X)
    assert [r for r in reports if r[0] == "K-SVD"] == [("K-SVD", i, 3) for i in (1, 2, 3)]


def test_convergence_is_told() -> None:
    X, _ = _plant(300)
    with pytest.warns(ConvergenceWarning, match="still improves"):
        KSVD(20, n_nonzero_coefs=2, max_iter=2, min_improvement=1e-9, random_state=0).fit(X)
    model = KSVD(20, n_nonzero_coefs=2, max_iter=90, min_improvement=0.01, random_state=0).fit(X)
    assert model.n_iter_ < 90


def test_in_a_pipeline_and_back() -> None:
    X, _ = _plant(300)
    pipeline = make_pipeline(PCA(10), KSVD(30, n_nonzero_coefs=10, max_iter=3))
    back = pipeline.fit(X).inverse_transform(pipeline.transform(X))
    assert np.mean((back - PCA(10).fit(X).inverse_transform(PCA(10).fit_transform(X))) ** 2) < 1e-3


@pytest.mark.parametrize("beta", [0.0, 3.0, 100.0])
def test_weights_and_stacking_are_the_same_problem(beta: float) -> None:
    X, _ = _plant(300)
    mask = np.arange(20) < 8
    weighted = WeightedKSVD(
        25, visible=mask, beta=beta, n_nonzero_coefs=3, max_iter=5, random_state=0
    ).fit(X)
    stacked = np.concatenate([X, np.sqrt(beta) * X[:, mask]], axis=1)
    reference = KSVD(25, n_nonzero_coefs=3, max_iter=5, random_state=0).fit(stacked)
    assert_near(weighted.components_, reference.components_[:, :20], digits=8)
    assert_near(weighted.transform(X).toarray(), reference.transform(stacked).toarray(), digits=8)


def test_codes_of_the_visible_part() -> None:
    X, _ = _plant(2000, d=24, n_atoms=30, n_nonzero_coefs=2)
    mask = np.arange(24) < 14
    model = WeightedKSVD(
        30, visible=mask, beta=2.0, n_nonzero_coefs=2, max_iter=25, random_state=0
    ).fit(X)
    codes = model.transform_visible(X[:, mask])
    lengths = np.linalg.norm(model.components_[:, mask], axis=1)
    assert lengths.std() > 0.02  # the visible atoms are not of length one
    error = np.mean((model.inverse_transform(codes) - X) ** 2) / np.mean(X**2)
    assert error < 0.2
    with pytest.raises(InputError, match="14 features are visible"):
        model.transform_visible(X)
    with pytest.raises(InputError, match="24 booleans"):
        model.transform_visible(X[:, :3], visible=[True] * 3)
    with pytest.raises(InputError, match="at least one"):
        model.transform_visible(X[:, :3], visible=np.zeros(24, dtype=bool))


def test_centring_is_the_same_as_centred_samples_and_keeps_distinct_atoms() -> None:
    X, _ = _plant(400)
    moved = X + 50 * np.linspace(1, 2, 20)
    options: dict[str, Any] = {"n_nonzero_coefs": 3, "max_iter": 5, "random_state": 0}
    plain = KSVD(30, fit_intercept=False, **options).fit(X - X.mean(axis=0))
    centred = KSVD(30, **options).fit(moved)
    assert_near(centred.components_, plain.components_, digits=6)
    assert_near(centred.mean_, moved.mean(axis=0))
    back = centred.inverse_transform(centred.transform(moved))
    expected = plain.inverse_transform(plain.transform(X - X.mean(axis=0)))
    assert_near(back - moved.mean(axis=0), expected, digits=5)
    # Without it, all samples look alike and true atoms are thrown out as duplicates.
    assert KSVD(30, fit_intercept=False, **options).fit(moved).n_replaced_ > centred.n_replaced_
    streamed = KSVD(30, **options).fit_batches(np.split(moved, 4))
    assert_near(streamed.mean_, centred.mean_)


def test_there_is_never_an_atom_of_noise() -> None:
    X, _ = _plant(40)
    assert KSVD(n_nonzero_coefs=2, random_state=0).fit(X).n_atoms_ == 10
    with pytest.warns(NumericsWarning, match="40 atoms are used"):
        many = KSVD(70, n_nonzero_coefs=2, max_iter=1, random_state=0).fit(X)
    assert many.components_.shape == (40, 20)
    # Two directions explain everything: idle atoms stay what they were, samples.
    flat = np.random.default_rng(0).normal(size=(60, 2)) @ np.eye(2, 20)
    model = KSVD(30, n_nonzero_coefs=2, max_iter=4, random_state=0).fit(flat)
    assert np.abs(model.components_[:, 2:]).max() < 1e-9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_of_the_samples_is_kept(dtype: type) -> None:
    X = _plant(200)[0].astype(dtype)
    model = KSVD(20, n_nonzero_coefs=2, max_iter=2, random_state=0).fit(X)
    codes = model.transform(X)
    assert codes.dtype == model.components_.dtype == model.inverse_transform(codes).dtype == dtype
    assert model.transform(X.astype(np.float64)).dtype == np.float64


def test_data_frames_come_out_where_they_are_asked_for() -> None:
    pandas = pytest.importorskip("pandas")
    X = _plant(100)[0]
    model = KSVD(12, n_nonzero_coefs=2, max_iter=2, random_state=0).fit(X)
    codes = model.transform(X).toarray()
    frame = model.set_output(transform="pandas").transform(X)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns[:2]) == ["ksvd0", "ksvd1"]
    assert_near(frame.to_numpy(), codes)
    assert_near(model.inverse_transform(frame), codes @ model.components_ + model.mean_)


@pytest.mark.parametrize("cls", [KSVD, WeightedKSVD])
def test_the_gram_matrix_is_found_once_and_follows_the_atoms(
    cls: type[KSVD], monkeypatch: pytest.MonkeyPatch
) -> None:
    X = np.random.default_rng(0).normal(size=(60, 6))
    model = cls(8, n_nonzero_coefs=2, fit_intercept=False, max_iter=1, random_state=0)
    model.fit(X)
    made = []
    gram_matrix = _omp.gram_matrix
    monkeypatch.setattr(_omp, "gram_matrix", lambda a: made.append(len(a)) or gram_matrix(a))
    first = model.transform(X).toarray()
    assert_near(model.transform(X[:1]).toarray(), first[:1], digits=9)
    assert made == [8]
    model.transform(X.astype(np.float32))  # other numbers, for single precision
    assert made == [8, 8]
    model.components_ *= np.linspace(0.5, 2, 8)[:, None]  # in place
    model.components_[0] = X[0]
    codes = model.transform(X[:1]).toarray()
    assert np.flatnonzero(codes).tolist() == [0]
    assert_near(codes[0, 0], 1.0, digits=9)
    monkeypatch.setattr(_omp, "_KEPT_BYTES", 8)
    model.components_[0] *= 2
    del made[:]
    for _ in range(2):
        assert_near(model.transform(X[:1]).toarray(), codes / 2, digits=9)
    assert made == [8, 8]
