"""RandomSamplingLDA against LDA written from the definition, and at its edges."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import mien
from mien.committee import RandomSamplingLDA, fuse
from mien.errors import InputError
from tests.near import assert_near

PLAIN = {"shrinkage": 0.0, "mean_shrinkage": 0.0}
SAMPLINGS = ["subspace", "people", "images", "both"]


def _faces(n_people: int = 12, each: int = 6, d: int = 150, noise: float = 0.6, seed: int = 0):
    rng = np.random.default_rng(seed)
    people = np.array([f"p{k:03d}" for k in rng.permutation(n_people)])
    y = np.repeat(people, each)
    means = rng.normal(size=(n_people, 20)) @ rng.normal(size=(20, d)) / 12
    drift = rng.normal(size=(len(y), 8)) @ rng.normal(size=(8, d)) / 2
    X = np.repeat(means, each, axis=0) + drift + noise * rng.normal(size=(len(y), d))
    order = rng.permutation(len(y))
    return X[order], y[order]


def _naive_posterior(A: np.ndarray, y: np.ndarray, B: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Softmax of -½ Mahalanobis distance to the means of everybody, Sw from the rows seen."""
    classes = np.unique(y)
    Sw, freedom = np.zeros((A.shape[1],) * 2), -len(np.unique(y[seen]))
    for name in np.unique(y[seen]):
        mine = A[seen][y[seen] == name]
        Sw += (mine - mine.mean(axis=0)).T @ (mine - mine.mean(axis=0))
        freedom += len(mine)
    precision = np.linalg.inv(Sw / freedom)
    means = np.stack([A[y == name].mean(axis=0) for name in classes])
    gaps = B[:, None, :] - means[None]
    scores = -0.5 * np.einsum("ncd,de,nce->nc", gaps, precision, gaps)
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def test_one_member_on_all_columns_is_pca_and_lda() -> None:
    X, y = _faces()
    m = 30
    one = RandomSamplingLDA(1, n_fixed=m, n_random=0, **PLAIN).fit(X[:60], y[:60])
    pca = PCA(m, svd_solver="full").fit(X[:60])
    c = len(np.unique(y))
    lda = LinearDiscriminantAnalysis(priors=np.full(c, 1 / c)).fit(pca.transform(X[:60]), y[:60])
    A, B = pca.transform(X[:60]), pca.transform(X[60:])
    assert_near(one.predict_proba(X[60:]), _naive_posterior(A, y[:60], B, np.arange(60)), digits=8)
    # Versions of scikit-learn divide the scatter by N or by N - c, which sharpens the posteriors:
    # up to one factor the log-ratios of the classes are the same.
    mine, theirs = (np.log(one.predict_proba(X[60:])), lda.predict_log_proba(B))
    mine, theirs = (z - z.mean(axis=1, keepdims=True) for z in (mine, theirs))
    factor = float((mine * theirs).sum() / (theirs**2).sum())
    assert min(abs(factor - 1), abs(factor - (60 - c) / 60)) < 1e-6
    assert_near(mine, factor * theirs, digits=6)


def test_members_equal_the_naive_classifier_on_their_columns() -> None:
    X, y = _faces()
    model = RandomSamplingLDA(4, n_fixed=5, n_random=20, random_state=3, **PLAIN).fit(
        X[:60], y[:60]
    )
    coordinates = (X - model.mean_) @ model.components_.T
    members = model.member_proba(X[60:])
    for t, columns in enumerate(model.columns_):
        expected = _naive_posterior(
            coordinates[:60, columns], y[:60], coordinates[60:, columns], np.arange(60)
        )
        assert_near(members[t], expected, digits=8)
    assert len({tuple(columns) for columns in model.columns_}) == 4
    assert all(set(range(5)) <= set(columns) for columns in model.columns_)


def test_both_shrinkages_equal_their_definition() -> None:
    X, y = _faces()
    model = RandomSamplingLDA(
        1,
        n_fixed=25,
        n_random=0,
        n_discriminants=11,
        shrinkage=0.3,
        mean_shrinkage=0.2,
        priors="empirical",
    ).fit(X[:60], y[:60])
    A, B = ((part - model.mean_) @ model.components_.T for part in (X[:60], X[60:]))
    means = np.stack([A[y[:60] == name].mean(axis=0) for name in model.classes_])
    residuals = A - means[np.unique(y[:60], return_inverse=True)[1]]
    within = residuals.T @ residuals / (60 - 12)
    within = 0.7 * within + 0.3 * np.trace(within) / 25 * np.eye(25)
    gaps = B[:, None, :] - 0.8 * means[None]
    scores = -0.5 * np.einsum("ncd,de,nce->nc", gaps, np.linalg.inv(within), gaps)
    scores += np.log(model.counts_ / 60)
    expected = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    assert_near(model.predict_proba(X[60:]), expected, digits=8)


def test_shrinkage_vanishes_as_pictures_become_plenty() -> None:
    few = RandomSamplingLDA(2, random_state=0).fit(*_faces(n_people=4, each=4))
    many = RandomSamplingLDA(2, random_state=0).fit(*_faces(n_people=4, each=80, d=10))
    assert few.mean_shrinkage_ == pytest.approx(0.4 * (few.n_fixed_ + few.n_random_) / 12)
    assert few.shrinkage_ == pytest.approx(few.mean_shrinkage_ / 4)
    assert many.mean_shrinkage_ < 0.02
    assert many.n_discriminants_ == 3
    few.set_params(n_discriminants=None, mean_shrinkage=0.5).fit(*_faces(n_people=5, each=4))
    assert few.n_discriminants_ == 2


def test_a_member_that_saw_some_people_knows_everybody() -> None:
    X, y = _faces()
    model = RandomSamplingLDA(
        3, sampling="people", n_people=7, n_fixed=10, n_random=5, random_state=0, **PLAIN
    ).fit(X, y)
    coordinates = (X - model.mean_) @ model.components_.T
    for V, columns in zip(model.projections_, model.columns_, strict=True):
        # Its projection whitens the scatter within 7 people ...
        whitened = coordinates[:, columns] @ V
        scatters = []
        for name in model.classes_:
            mine = whitened[y == name]
            scatters.append((mine - mine.mean(axis=0)).T @ (mine - mine.mean(axis=0)))
        best = min(
            np.abs(np.sum([scatters[i] for i in chosen], axis=0) / (42 - 7) - np.eye(6)).max()
            for chosen in _subsets(12, 7)
        )
        assert best < 1e-8
        assert V.shape[1] == 6
    # ... and all twelve have posteriors.
    assert model.predict_proba(X).shape == (72, 12)
    assert set(model.predict(X)) == set(y)
    assert_near(model.unique_share_, 42 / 72, digits=7)


def _subsets(n: int, k: int):
    from itertools import combinations

    return combinations(range(n), k)


def test_a_bootstrap_counts_pictures_as_often_as_they_were_drawn() -> None:
    X, y = _faces(each=10)
    model = RandomSamplingLDA(1, sampling="images", n_fixed=9, n_random=0, random_state=5, **PLAIN)
    model.fit(X, y)
    from mien.committee._sampling import draw_pictures, member_generators

    codes = np.unique(y, return_inverse=True)[1]
    draws = draw_pictures(codes, np.bincount(codes), None, member_generators(1, 5)[0])
    assert draws.sum() == len(y)
    np.testing.assert_array_equal(np.bincount(codes, weights=draws), 10)
    repeated = np.repeat(np.arange(len(y)), draws)
    A = (X - model.mean_) @ model.components_.T
    expected = _naive_posterior(A, y, A[:9], repeated)
    assert_near(model.predict_proba(X[:9]), expected, digits=8)


@pytest.mark.parametrize("n_pictures", [5, 40])
def test_share_of_unique_pictures_of_a_bootstrap(n_pictures: int) -> None:
    X, y = _faces(n_people=10, each=n_pictures, d=40)
    model = RandomSamplingLDA(60, sampling="images", n_fixed=5, n_random=0, random_state=0)
    expected = 1 - (1 - 1 / n_pictures) ** n_pictures
    assert model.fit(X, y).unique_share_.mean() == pytest.approx(expected, abs=0.015)
    subset = RandomSamplingLDA(3, sampling="images", n_images=0.6, n_fixed=5, n_random=0)
    assert_near(subset.fit(X, y).unique_share_, 0.6, digits=7)
    subset.set_params(n_images=3)
    assert_near(subset.fit(X, y).unique_share_, 3 / n_pictures, digits=7)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("fusion", ["sum", "product", "min", "max", "vote"])
def test_fused_on_the_fly_equals_fuse_and_any_number_of_jobs(sampling: str, fusion: str) -> None:
    X, y = _faces()
    models = [
        RandomSamplingLDA(7, sampling=sampling, fusion=fusion, n_jobs=jobs, random_state=1)
        for jobs in (None, 1, 3)
    ]
    posteriors = [model.fit(X[:60], y[:60]).predict_proba(X) for model in models]
    assert_near(posteriors[0], posteriors[1], digits=8)
    assert_near(posteriors[0], posteriors[2], digits=8)
    assert_near(posteriors[0], fuse(models[0].member_proba(X), fusion), digits=8)
    assert_near(posteriors[0].sum(axis=1), 1, digits=7)
    expected = models[0].classes_[posteriors[0].argmax(axis=1)]
    np.testing.assert_array_equal(models[0].predict(X), expected)
    other = RandomSamplingLDA(7, sampling=sampling, fusion=fusion, random_state=2)
    assert np.abs(other.fit(X[:60], y[:60]).predict_proba(X) - posteriors[0]).max() > 1e-6


def test_blocks_of_probes_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = _faces()
    model = RandomSamplingLDA(3, random_state=0).fit(X, y)
    whole, names = model.predict_proba(X), model.predict(X)
    monkeypatch.setattr("mien.committee._random_sampling_lda._BLOCK", 700)
    assert len(model._blocks(len(X))) > 5
    assert_near(model.predict_proba(X), whole, digits=8)
    np.testing.assert_array_equal(model.predict(X), names)


def test_distances_after_transform_are_the_members_mean() -> None:
    X, y = _faces()
    model = RandomSamplingLDA(3, random_state=0).fit(X, y)
    Z = model.transform(X)
    assert Z.shape == (len(X), 3 * model.n_discriminants_)
    assert len(model.get_feature_names_out()) == Z.shape[1]
    coordinates = (X - model.mean_) @ model.components_.T
    each = [
        np.sum(((coordinates[0] - coordinates[1])[mine] @ V) ** 2)
        for mine, V in zip(model.columns_, model.projections_, strict=True)
    ]
    assert np.sum((Z[0] - Z[1]) ** 2) == pytest.approx(np.mean(each))


def test_the_prior_may_count_pictures() -> None:
    X, y = _faces(n_people=3, d=60)
    keep = np.concatenate([np.flatnonzero(y == "p000"), np.flatnonzero(y != "p000")[:4]])
    uniform = RandomSamplingLDA(1, n_fixed=4, n_random=0, **PLAIN).fit(X[keep], y[keep])
    counted = RandomSamplingLDA(1, n_fixed=4, n_random=0, priors="empirical", **PLAIN).fit(
        X[keep], y[keep]
    )
    weighted = uniform.predict_proba(X) * counted.counts_
    assert_near(counted.predict_proba(X), weighted / weighted.sum(axis=1, keepdims=True), digits=8)


def test_people_come_and_go() -> None:
    X, y = _faces(n_people=10, noise=0.2)
    known = y < "p007"
    model = RandomSamplingLDA(5, random_state=0).fit(X[known], y[known])
    before = model.predict_proba(X[known])
    late = np.flatnonzero(y == "p008")
    model.add_person(X[late[:4]], "p008")
    assert model.classes_.tolist() == sorted({*y[known], "p008"})
    assert model.predict(X[late[4:]]).tolist() == ["p008", "p008"]
    # One by one, together, and picture by picture are the same.
    again = RandomSamplingLDA(5, random_state=0).fit(X[known], y[known])
    rest = ~known
    again.add_people(X[rest], y[rest])
    model.add_person(X[late[4:]], "p008")
    for name in ("p009", "p007"):
        for row in np.flatnonzero(y == name):
            model.add_person(X[row : row + 1], name)
    np.testing.assert_array_equal(model.classes_, again.classes_)
    np.testing.assert_array_equal(model.counts_, again.counts_)
    assert_near(model.member_means_, again.member_means_, digits=8)
    # Their mean went through the projections as that of people who were there from the start.
    coordinates = (X[y == "p009"] - model.mean_).mean(axis=0) @ model.components_.T
    place = model.classes_.tolist().index("p009")
    expected = coordinates[model.columns_[2]] @ model.projections_[2]
    assert_near(model.member_means_[2, place], expected, digits=8)
    for name in ("p008", "p009", "p007"):
        model.remove_person(name)
    assert_near(model.predict_proba(X[known]), before, digits=8)


def test_a_longer_name_is_not_cut() -> None:
    X, y = _faces(n_people=3)
    model = RandomSamplingLDA(2, random_state=0).fit(X, y)
    model.add_person(X[:2], "a much longer name than the others")
    assert "a much longer name than the others" in model.classes_.tolist()


def test_enrolment_refuses_what_cannot_be() -> None:
    X, y = _faces(n_people=2)
    model = RandomSamplingLDA(2, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="not enrolled"):
        model.remove_person("nobody")
    with pytest.raises(InputError, match="are strings"):
        model.add_person(X[:1], 7)
    model.remove_person("p000")
    with pytest.raises(InputError, match="one must remain"):
        model.remove_person("p001")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_fixed": 30, "n_random": 31}, r"30 \+ 31 must be 1 … 60"),
        ({"n_fixed": 0, "n_random": 0}, "must be 1 … 60"),
        ({"n_discriminants": 12}, "12 is more than 11"),
        ({"n_fixed": 3, "n_random": 2, "n_discriminants": 6}, "6 is more than 5"),
        ({"sampling": "people", "n_people": 13}, "n_people = 13"),
        ({"sampling": "people", "n_people": 4, "n_fixed": 21, "n_random": 0}, "1 … 20"),
        ({"sampling": "people", "n_people": 4, "n_discriminants": 4}, "4 is more than 3"),
        ({"sampling": "images", "n_images": 2, "n_fixed": 13, "n_random": 0}, "1 … 12"),
    ],
)
def test_what_cannot_work_is_refused_with_the_numbers(parameters: dict, message: str) -> None:
    X, y = _faces()
    with pytest.raises(InputError, match=message):
        RandomSamplingLDA(2, random_state=0, **parameters).fit(X, y)


def test_single_pictures() -> None:
    X, y = _faces()
    firsts = np.unique(y, return_index=True)[1]
    with pytest.raises(InputError, match="each of the 12 people has a single picture"):
        RandomSamplingLDA().fit(X[firsts], y[firsts])
    # One person with two pictures is enough for the subspace sampling, not for drawing people.
    second = np.flatnonzero(y == y[firsts[0]])[1:2]
    rows = np.union1d(firsts, second)
    model = RandomSamplingLDA(3, random_state=0).fit(X[rows], y[rows])
    assert (model.n_fixed_ + model.n_random_, len(model.classes_)) == (1, 12)
    with pytest.raises(InputError, match="1 of 12 have them"):
        RandomSamplingLDA(3, sampling="people").fit(X[rows], y[rows])


def test_pictures_without_variation() -> None:
    X, y = _faces()
    with pytest.raises(InputError, match="all pictures are the same"):
        RandomSamplingLDA().fit(np.ones_like(X), y)
    copies = np.repeat(X[np.unique(y, return_index=True)[1]], 2, axis=0)
    with pytest.raises(InputError, match="every picture equals"):
        RandomSamplingLDA(random_state=0).fit(copies, np.repeat(np.unique(y), 2))
    with pytest.raises(InputError, match="two people"):
        RandomSamplingLDA().fit(X, np.zeros(len(X)))


def test_duplicates_lower_the_rank_and_the_rest_is_used() -> None:
    X, y = _faces(n_people=5, each=4)
    # 12 copies: N - c counts 27, but the scatter within people has 15 directions.
    X2, y2 = np.concatenate([X, X[y < "p003"]]), np.concatenate([y, y[y < "p003"]])
    model = RandomSamplingLDA(1, n_fixed=19, n_random=0, **PLAIN).fit(X2, y2)
    A = (X2 - model.mean_) @ model.components_.T
    means = np.stack([A[y2 == name].mean(axis=0) for name in model.classes_])
    residuals = A - means[np.unique(y2, return_inverse=True)[1]]
    scale = residuals.std(axis=0)
    residuals /= scale
    precision = np.linalg.pinv(residuals.T @ residuals / 27, rcond=1e-9, hermitian=True)
    assert np.linalg.matrix_rank(precision) == 15
    gaps = (A[:, None, :] - means[None]) / scale
    scores = -0.5 * np.einsum("ncd,de,nce->nc", gaps, precision, gaps)
    expected = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    assert_near(model.predict_proba(X2), expected, digits=7)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize(
    ("n_people", "each", "d"), [(2, 2, 3), (2, 3, 500), (40, 2, 300), (3, 50, 4), (5, 4, 1)]
)
def test_defaults_are_safe(sampling: str, n_people: int, each: int, d: int) -> None:
    X, y = _faces(n_people, each, d, noise=0.1)
    model = RandomSamplingLDA(5, sampling=sampling, random_state=0)
    if (each, sampling) in {(2, "images"), (2, "both"), (3, "images"), (3, "both")}:
        model.set_params(n_images=2)
    model.fit(X, y)
    assert model.n_fixed_ + model.n_random_ <= min(len(X) - n_people, model.n_eigenfaces_)
    assert model.n_discriminants_ <= n_people - 1
    assert_near(model.predict_proba(X).sum(axis=1), 1, digits=7)


def test_single_precision_stays() -> None:
    X, y = _faces()
    model = RandomSamplingLDA(3, random_state=0).fit(X.astype(np.float32), y)
    exact = RandomSamplingLDA(3, random_state=0).fit(X, y)
    assert model.components_.dtype == model.member_means_.dtype == np.float32
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(
        model.predict_proba(X.astype(np.float32)), exact.predict_proba(X), atol=1e-3
    )


def test_save_and_load(tmp_path) -> None:
    X, y = _faces()
    model = RandomSamplingLDA(3, sampling="both", random_state=0).fit(X[:60], y[:60])
    again = mien.load(mien.save(model, tmp_path / "committee.mien"))
    assert_near(again.predict_proba(X), model.predict_proba(X), digits=8)
    again.add_person(X[:2], "somebody new")
    assert "somebody new" in again.classes_


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_committee_beats_its_members_where_pictures_are_few(sampling: str) -> None:
    X, y = _faces(n_people=30, each=8, d=400, noise=1.2, seed=4)
    train = np.concatenate([np.flatnonzero(y == name)[:4] for name in np.unique(y)])
    test = np.setdiff1d(np.arange(len(y)), train)
    model = RandomSamplingLDA(20, sampling=sampling, random_state=0).fit(X[train], y[train])
    choices = model.classes_[model.member_proba(X[test]).argmax(axis=2)]
    mean_member = (choices == y[test]).mean()
    assert model.score(X[test], y[test]) > mean_member
