"""Log ratios against the definition, eq. 13, search, blocks and truncation."""

from __future__ import annotations

import naive_joint_bayesian as naive
import numpy as np
import pytest

from mien.errors import InputError
from mien.evaluation import evaluate_all_pairs
from mien.verification import JointBayesian
from mien.verification._ratios import truncation_error
from tests.near import assert_near


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(60), rng.integers(1, 6, 60))
    X = rng.standard_normal((60, 5))[y] * [3, 2, 1, 0.5, 0.2] + rng.standard_normal((len(y), 5))
    X = X @ rng.standard_normal((5, 5)) + 50
    return JointBayesian().fit(X, y), X, y


def test_pairs_equal_the_gaussian_definition(fitted):
    model, X, _ = fitted
    Z = X - model.mean_
    want = [
        naive.llr_sets(Z[i : i + 1], Z[i + 9 : i + 10], model.identity_covariance_,
                       model.variation_covariance_)
        for i in range(20)
    ]  # fmt: skip
    got = model.score_pairs(X[:20], X[9:29])
    assert_near(got, want, digits=8)


def test_sets_equal_the_gaussian_definition(fitted):
    model, X, _ = fitted
    Z = X - model.mean_
    parts = [slice(0, 1), slice(1, 4), slice(4, 6), slice(6, 7), slice(7, 14)]
    got = model.score_sets([X[p] for p in parts], [X[20:][p] for p in parts])
    want = [
        [
            naive.llr_sets(Z[a], Z[20:][b], model.identity_covariance_, model.variation_covariance_)
            for b in parts
        ]
        for a in parts
    ]
    assert_near(got, want, digits=8)
    assert got[0, 0] == pytest.approx(model.score_pairs(X[:1], X[20:21])[0])


def test_eq_13_with_the_right_low_rank_b(fitted):
    model, X, _ = fitted
    Tm, Te = model.identity_covariance_, model.variation_covariance_
    inverse = np.linalg.inv(Tm + Te)
    # A is a difference of inverses at a condition of 1e6: this side has ten digits, not sixteen.
    A = inverse - np.linalg.inv(Tm + Te - Tm @ inverse @ Tm)
    B = np.linalg.inv(Tm + Te / 2) @ Tm @ np.linalg.inv(Te)
    values, vectors = np.linalg.eigh(Tm)
    theta = vectors * np.sqrt(np.maximum(values, 0))
    Ti = np.linalg.inv(Te)
    low_rank = 2 * Ti @ theta @ np.linalg.inv(np.eye(5) + 2 * theta.T @ Ti @ theta) @ theta.T @ Ti
    assert_near(low_rank, B, digits=7)
    psi = model.variance_ratios_
    constant = np.sum(np.log1p(psi) - 0.5 * np.log1p(2 * psi))
    Z = X - model.mean_
    x1, x2 = Z[:30], Z[30:60]
    quadratic = sum(np.einsum("ij,jk,ik->i", x, A, x) for x in (x1, x2))
    want = 0.5 * (quadratic + np.einsum("ij,jk,ik->i", x1, B, x2)) + constant
    assert_near(model.score_pairs(X[:30], X[30:60]), want, digits=6)


def test_matrix_blocks_search_and_templates_agree(fitted):
    model, X, _ = fitted
    whole = model.score_matrix(X)
    first, second = np.triu_indices(len(X))
    assert_near(whole[first, second], model.score_pairs(X[first], X[second]), digits=7)
    assert_near(model.score_matrix(X, X[:7], block_size=3), whole[:, :7], digits=7)
    out = np.zeros((len(X), len(X)), dtype=np.float32)
    assert model.score_matrix(X, out=out) is out
    np.testing.assert_allclose(out, whole, rtol=1e-4, atol=1e-4)
    query, index = (model.as_inner_product(X, side) for side in ("query", "index"))
    assert_near(query @ index.T, whole, digits=7)
    T = model.transform(X)
    assert_near(model.score_templates(T[:9], T[9:18]), np.diag(whole[:9, 9:18]), digits=7)
    for scores, rows, columns in model.iter_score_blocks(X, block_size=16):
        assert_near(scores, whole[rows, columns], digits=7)


def test_the_blocks_feed_the_evaluation_of_all_pairs(fitted):
    model, X, y = fitted
    result = evaluate_all_pairs(model.iter_score_blocks(X, block_size=32), y)
    same = np.triu(y[:, None] == y, 1).sum()
    assert result["n_genuine"] == same
    assert result["n_impostor"] == len(X) * (len(X) - 1) // 2 - same


def test_truncation_error_is_what_truncation_does():
    rng = np.random.default_rng(1)
    psi = np.array([5.0, 2.0, 0.7, 0.3])
    n = 200_000
    noise = rng.standard_normal((2, n, 4))
    identity = np.sqrt(psi) * rng.standard_normal((2, n, 4))
    # Straight from the model: rank 2 of 4, by scores with and without the last two directions.
    model = JointBayesian()
    model.mean_, model.projection_, model.variance_ratios_ = np.zeros(4), np.eye(4), psi
    model.n_features_in_, model.rank_ = 4, 4
    pairs = {"genuine": (identity[0] + noise[0], identity[0] + noise[1])}
    pairs["impostor"] = (identity[0] + noise[0], identity[1] + noise[1])
    for kind, stated in zip(pairs, truncation_error(psi[2:]), strict=True):
        model.rank_ = 4
        full = model.score_pairs(*pairs[kind])
        model.rank_ = 2
        measured = np.sqrt(np.mean((full - model.score_pairs(*pairs[kind])) ** 2))
        assert measured == pytest.approx(stated, rel=0.02)


def test_rank_by_number_and_by_tolerance(fitted):
    _, X, y = fitted
    two = JointBayesian(n_components=2).fit(X, y)
    assert two.transform(X).shape == (len(X), 2)
    assert two.truncation_error_[0] > 0
    full = JointBayesian().fit(X, y)
    assert full.rank_ == 5
    assert full.truncation_error_ == (0.0, 0.0)
    tolerant = JointBayesian(template_tol=0.5).fit(X, y)
    assert 1 <= tolerant.rank_ < 5
    assert max(tolerant.truncation_error_) <= 0.5
    assert max(truncation_error(full.variance_ratios_[tolerant.rank_ - 1 :])) > 0.5


def test_wrong_shapes_are_said(fitted):
    model, X, _ = fitted
    with pytest.raises(InputError, match="pairs"):
        model.score_pairs(X[:3], X[:4])
    with pytest.raises(InputError, match="out must have"):
        model.score_matrix(X, out=np.empty((2, 2)))
    with pytest.raises(InputError, match="side"):
        model.as_inner_product(X, "left")
    with pytest.raises(InputError, match="at least one row"):
        model.score_sets([X[:0]], [X[:1]])
    with pytest.raises(InputError, match="is empty"):
        model.score_sets([], [X[:1]])
    with pytest.raises(InputError, match="5 numbers"):
        model.score_templates(np.ones((2, 4)), np.ones((2, 4)))
    with pytest.raises(ValueError, match="features"):
        model.transform(X[:, :4])
