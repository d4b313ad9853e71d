"""Fisher vectors and super vectors: against definitions, finite differences and a peer."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skimage.feature import fisher_vector as peer

import mien
from mien.errors import InputError
from mien.features import PairedDescriptors
from mien.multiview import (
    BagClassifier,
    BagEncoder,
    Bags,
    FisherVector,
    MixturePCCA,
    MultiViewSuperVector,
    check_bags,
    check_paired_bags,
    join_views,
    mixture_gradients,
)
from tests.near import assert_near

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
rng = np.random.default_rng(0)
BAGS = [rng.normal(size=(n, 3)) + rng.normal(size=3) for n in (40, 1, 0, 25)]
OTHER = [bag[:, :2] + 0.3 * rng.normal(size=(len(bag), 2)) for bag in BAGS]


def _naive_fisher(bag: np.ndarray, mixture: Any) -> np.ndarray:
    w, mu, var = mixture.weights_, mixture.means_, mixture.covariances_
    gamma = mixture.predict_proba(bag)
    parts = []
    for k in range(len(w)):
        u = (bag - mu[k]) / np.sqrt(var[k])
        g = gamma[:, k : k + 1]
        parts.append([np.sum(gamma[:, k] - w[k]) / (len(bag) * np.sqrt(w[k]))])
        parts.append((g * u).sum(axis=0) / (len(bag) * np.sqrt(w[k])))
        parts.append((g * (u**2 - 1)).sum(axis=0) / (len(bag) * np.sqrt(2 * w[k])))
    return np.concatenate(parts)


def test_fisher_vector_equals_the_definition() -> None:
    model = FisherVector(3, weights=True, power=1, l2=False, random_state=0).fit(BAGS)
    encoded = model.transform(BAGS)
    for bag, vector in zip(BAGS, encoded, strict=True):
        if len(bag):
            assert_near(vector, _naive_fisher(bag, model.mixture_), digits=8)
        else:
            assert not vector.any()


def test_fisher_vector_equals_scikit_image_up_to_the_sign_of_its_variances() -> None:
    model = FisherVector(3, power=1, l2=False, random_state=0).fit(BAGS)
    K, d = 3, 3
    ours = model.transform(BAGS[:1])[0].reshape(K, 2, d)
    theirs = peer(BAGS[0], model.mixture_, improved=False, alpha=0.5)[K:].reshape(2, K, d)
    assert_near(ours[:, 0], theirs[0], digits=6)
    assert_near(ours[:, 1], -theirs[1], digits=6)


def test_fisher_vector_equals_vlfeat() -> None:
    place = os.environ.get("MIEN_VLFEAT") or ctypes.util.find_library("vl")
    if not place:
        pytest.skip("VLFeat's library (Debian: libvlfeat1) is not here")
    encode = ctypes.CDLL(place).vl_fisher_encode
    size, array = ctypes.c_ulonglong, ctypes.c_void_p
    encode.argtypes = [
        array, ctypes.c_uint, array, size, size, array, array, array, size, ctypes.c_int,
    ]  # fmt: skip
    model = FisherVector(3, power=1, l2=False, random_state=0).fit(BAGS)
    mixture = model.mixture_
    parts = [
        np.ascontiguousarray(part, dtype=np.float32)
        for part in (mixture.means_, mixture.covariances_, mixture.weights_, BAGS[0])
    ]
    means, variances, weights, data = (part.ctypes.data for part in parts)
    theirs = np.empty((2, 3, 3), dtype=np.float32)
    encode(theirs.ctypes.data, 1, means, 3, 3, variances, weights, data, len(BAGS[0]), 0)
    ours = model.transform(BAGS[:1])[0].reshape(3, 2, 3).transpose(1, 0, 2)
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)


def test_far_descriptors_and_single_precision() -> None:
    model = FisherVector(3, power=1, l2=False, random_state=0).fit(BAGS)
    far = [np.concatenate([BAGS[0], 1e3 * np.ones((2, 3))])]
    double = model.transform(far)
    assert np.all(np.isfinite(double))
    single = model.transform([far[0].astype(np.float32)])
    np.testing.assert_allclose(single, double, rtol=2e-3, atol=1e-3 * np.abs(double).max())


def test_the_fisher_vector_is_the_gradient() -> None:
    """By finite differences of the log-likelihood in the means, times √(var/w)."""
    model = FisherVector(2, variances=False, power=1, l2=False, random_state=0).fit(BAGS)
    mixture, bag, step = model.mixture_, BAGS[0], 1e-6
    found = model.transform([bag])[0].reshape(2, 3)
    for k in range(2):
        for j in range(3):
            values = []
            for sign in (1, -1):
                mixture.means_[k, j] += sign * step
                values.append(mixture.score(bag))
                mixture.means_[k, j] -= sign * step
            gradient = (values[0] - values[1]) / (2 * step)
            scale = np.sqrt(mixture.covariances_[k, j] / mixture.weights_[k])
            assert found[k, j] == pytest.approx(gradient * scale, rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("noise", ["diagonal", "full"])
def test_mixture_gradients_equal_finite_differences(noise: str) -> None:
    X, Y = np.concatenate(BAGS), np.concatenate(OTHER)
    model = MixturePCCA(2, 1, noise=noise, max_iter=5, floor=1e-3, random_state=0).fit(X, Y)
    x, y = X[:20], Y[:20]
    found = mixture_gradients(model, x, y)
    step = 1e-6

    def difference(array: np.ndarray, index: tuple[int, ...]) -> float:
        values = []
        for sign in (1, -1):
            array[index] += sign * step
            values.append(model.score(x, y))
            array[index] -= sign * step
        return float(values[0] - values[1]) / (2 * step)

    for k in range(2):
        for j in range(5):
            by_mean = difference(model.means_, (k, j))
            assert found.means[k, j] == pytest.approx(by_mean, rel=1e-4, abs=1e-7)
            if noise == "diagonal":
                by_noise = difference(model.noise_, (k, j))
            else:
                view, place = (0, j) if j < 3 else (1, j - 3)
                by_noise = difference(model.noise_[view], (k, place, place))
            assert found.noise[k, j] == pytest.approx(by_noise, rel=1e-4, abs=1e-6)
    gamma_z = model.transform(x, y).mean(axis=0).reshape(2, 1)
    np.testing.assert_allclose(found.latent, gamma_z, rtol=1e-5, atol=1e-8)


def test_super_vector_is_made_of_its_parts() -> None:
    mixture = MixturePCCA(2, 1, max_iter=10, floor=1e-3, random_state=0)
    plain: dict[str, Any] = {"scaling": "none", "intra": False, "power": 1.0, "l2": False}
    both = MultiViewSuperVector(mixture, **plain).fit(BAGS, OTHER)
    encoded = both.transform(BAGS, OTHER)
    assert encoded.shape == (4, 2 * 1 + 2 * 2 * 5)
    assert not encoded[2].any()
    for i in (0, 1, 3):
        found = mixture_gradients(both.mixture_, BAGS[i], OTHER[i])
        assert_near(encoded[i, :2], found.latent.ravel(), digits=8)
        gradient = np.concatenate([found.means, found.noise], axis=1).ravel()
        assert_near(encoded[i, 2:], gradient, digits=8)
    latent = MultiViewSuperVector(mixture, gradient=False, **plain).fit(BAGS, OTHER)
    assert_near(latent.transform(BAGS, OTHER), encoded[:, :2], digits=8)
    unit = MultiViewSuperVector(mixture).fit(BAGS, OTHER).transform(BAGS, OTHER)
    assert_near(np.linalg.norm(unit, axis=1), [1, 1, 0, 1], digits=7)


def test_few_pairs_make_one_component() -> None:
    rng = np.random.default_rng(3)
    for n, components in ((150, 1), (3000, 3)):
        X = [rng.normal(size=(n, 9)).astype(np.float32)]
        Y = [x[:, :8] + rng.normal(size=(n, 8)).astype(np.float32) for x in X]
        model = MultiViewSuperVector(random_state=0).fit(X, Y)
        assert len(model.mixture_.weights_) == components


def test_both_parts_of_a_super_vector_have_the_same_units() -> None:
    mixture = MixturePCCA(2, 1, max_iter=10, floor=1e-3, random_state=0)
    model = MultiViewSuperVector(mixture, power=1.0, l2=False).fit(BAGS, OTHER)
    latent, gradient = model.encode_parts(BAGS, OTHER)
    root = np.sqrt(model.mixture_.weights_)[None, :, None]
    encoded = model.transform(BAGS, OTHER)
    assert_near(encoded[:, :2], (latent / root).reshape(4, -1), digits=8)
    scale = np.sqrt(model.mixture_._noise_variances())
    by_means = gradient[:, :, :5] * scale / root
    assert_near(encoded[:, 2:].reshape(4, 2, 10)[:, :, :5], by_means, digits=8)
    # One length over both, so that a part's share of it is what its information is worth.
    unit = model.set_params(l2=True).transform(BAGS, OTHER)
    assert_near(unit[0], encoded[0] / np.linalg.norm(encoded[0]), digits=8)
    apart = model.set_params(joint=False).transform(BAGS, OTHER)
    assert_near(np.linalg.norm(apart[0, :2]), np.sqrt(0.5), digits=8)
    only = model.set_params(joint=True, gradient=False).transform(BAGS, OTHER)
    assert only.shape == (4, 2)


def test_the_order_of_descriptors_and_the_number_of_jobs_change_nothing() -> None:
    model = MultiViewSuperVector(MixturePCCA(2, 1, max_iter=5, random_state=0)).fit(BAGS, OTHER)
    forward = model.transform(BAGS, OTHER)
    backward = model.transform([b[::-1] for b in BAGS], [b[::-1] for b in OTHER])
    assert_near(forward, backward, digits=8)
    assert_near(model.set_params(n_jobs=2).transform(BAGS, OTHER), forward, digits=5)
    fisher = FisherVector(2, random_state=0).fit(BAGS)
    one = fisher.transform(BAGS)
    assert_near(fisher.set_params(n_jobs=2).transform(BAGS), one, digits=5)
    np.testing.assert_allclose(fisher.transform([b.astype("f4") for b in BAGS]), one, atol=1e-4)


def test_bags_in_every_form_are_the_same_bags() -> None:
    listed = check_bags(BAGS)
    given = check_bags((np.concatenate(BAGS), [0, 40, 41, 41, 66]))
    assert np.array_equal(listed.descriptors, given.descriptors)
    assert np.array_equal(listed.offsets, given.offsets)
    assert check_bags(listed) is listed
    assert len(check_bags(np.zeros((5, 2)))) == 5
    cube = check_bags(np.arange(24.0).reshape(2, 4, 3))
    assert cube.bag(1).tolist() == np.arange(12.0, 24).reshape(4, 3).tolist()
    joined = join_views(BAGS, OTHER)
    assert isinstance(joined, Bags)
    assert joined.descriptors.shape == (66, 5)


def test_bad_bags_are_named() -> None:
    for bags, said in [
        ([np.zeros((2, 3)), np.zeros((2, 4))], r"\[3, 4\] features"),
        ([np.zeros((2, 3)), np.zeros(3)], "bag 1"),
        ((np.zeros((4, 2)), [0, 5]), "rise from 0 to 4"),
        ((np.zeros((4, 2)), [0, 3, 2, 4]), "rise"),
        ((np.zeros((4, 2)), [0.0, 4.0]), "integers"),
        ([np.full((2, 3), np.nan)], "NaN"),
    ]:
        with pytest.raises(ValueError, match=said):
            check_bags(bags)
    with pytest.raises(InputError, match="bag 1 has 1 descriptors in X and 2 in Y"):
        check_paired_bags(BAGS, [OTHER[0], np.zeros((2, 2)), OTHER[2], OTHER[3]])
    with pytest.raises(InputError, match="4 bags and Y has 3"):
        check_paired_bags(BAGS, OTHER[:3])
    with pytest.raises(InputError, match="nothing to encode"):
        FisherVector(means=False, variances=False).fit(BAGS)
    with pytest.raises(InputError, match="nothing to encode"):
        MultiViewSuperVector(latent=False, gradient=False).fit(BAGS, OTHER)
    with pytest.raises(InputError, match="100 Gaussians"):
        FisherVector(100).fit(BAGS)
    with pytest.raises(InputError, match="expecting 3 features"):
        FisherVector(2, random_state=0).fit(BAGS).transform(OTHER)


def test_encoders_survive_a_file(tmp_path: Path) -> None:
    fisher = FisherVector(2, random_state=0).fit(BAGS)
    again = mien.load(mien.save(fisher, tmp_path / "f"))
    assert_near(again.transform(BAGS), fisher.transform(BAGS), digits=5)
    model = MultiViewSuperVector(MixturePCCA(2, 1, max_iter=5, random_state=0)).fit(BAGS, OTHER)
    again = mien.load(mien.save(model, tmp_path / "m"))
    assert_near(again.transform(BAGS, OTHER), model.transform(BAGS, OTHER), digits=5)


def _two_kinds(n: int, seed: int) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Bags whose class shows only in how the views go together."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    X = [rng.normal(size=(80, 2)) for _ in range(n)]
    Y = [
        x * (1 if label else -1) + 0.3 * rng.normal(size=x.shape)
        for x, label in zip(X, labels, strict=True)
    ]
    return X, Y, np.where(labels, "same", "opposite")


def test_a_classifier_of_two_views_sees_what_one_view_hides(tmp_path: Path) -> None:
    X, Y, labels = _two_kinds(40, 0)
    mixture = MixturePCCA(4, 2, max_iter=30, tol=1e-3, floor=1e-3, random_state=0)
    model = BagClassifier(MultiViewSuperVector(mixture, random_state=0))
    model.fit((X[:20], Y[:20]), labels[:20])
    assert model.score((X[20:], Y[20:]), labels[20:]) >= 0.95
    alone = BagClassifier(FisherVector(4, random_state=0)).fit(X[:20], labels[:20])
    assert alone.score(X[20:], labels[20:]) < 0.85
    again = mien.load(mien.save(model, tmp_path / "m"))
    assert np.array_equal(again.predict((X, Y)), model.predict((X, Y)))
    assert_near(again.decision_function((X, Y)), model.decision_function((X, Y)), digits=5)
    with pytest.raises(InputError, match="the pair"):
        model.predict(X)
    with pytest.raises(InputError, match="20 samples and 19 labels"):
        alone.fit(X[:20], labels[:19])
    with pytest.raises(InputError, match="one class"):
        alone.fit(X[:20], ["a"] * 20)


@pytest.mark.parametrize("kind", ["super", "fisher"])
def test_pictures_are_described_encoded_and_saved(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    stripes = np.sin(np.arange(32) / 2)[None, :] * np.ones((32, 1))
    pictures = np.stack(
        [
            0.5 + 0.4 * (stripes if i % 2 else stripes.T) + 0.05 * rng.random((32, 32))
            for i in range(16)
        ]
    ).clip(0, 1)
    labels = np.array(["upright", "lying"])[np.arange(16) % 2]
    describe = PairedDescriptors(n_components=4, random_state=0)
    # One component: with two, each kind would have its own, and both would fit as expected.
    encoder: Any = FisherVector(1, random_state=0)
    if kind == "super":
        mixture = MixturePCCA(2, 1, max_iter=10, tol=0, floor=1e-3, random_state=0)
        encoder = MultiViewSuperVector(mixture)
    model = BagClassifier(BagEncoder(describe, encoder)).fit(pictures[:8], labels[:8])
    assert model.score(pictures[8:], labels[8:]) == 1
    inner = model.encoder_
    by_hand = inner.descriptors_.transform(pictures)
    if kind == "super":
        expected = inner.encoder_.transform(*by_hand)
    else:
        expected = inner.encoder_.transform(join_views(*by_hand))
    assert_near(inner.transform(pictures), expected, digits=5)
    again = mien.load(mien.save(model, tmp_path / "m"))
    assert np.array_equal(again.predict(pictures), model.predict(pictures))


@pytest.mark.parametrize("noise", ["diagonal", "full"])
def test_bags_encoded_together_are_bags_encoded_alone(noise: str) -> None:
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(n, 4)) for n in (0, 1, 3, 5000, 0, 40, 1)]
    Y = [x[:, :3] + 0.5 * rng.normal(size=(len(x), 3)) for x in X]
    mixture = MixturePCCA(3, 2, noise=noise, tol=1e-2, random_state=0)
    model = MultiViewSuperVector(mixture).fit(X, Y)
    together = model.transform(X, Y)
    for i in range(1, len(X)):
        if len(X[i]):
            alone = model.transform([X[i]], [Y[i]])[0]
            assert_near(together[i], alone, digits=8)
    np.testing.assert_array_equal(together[[0, 4]], 0)
    latent, gradient = model.encode_parts(X, Y)
    only, empty = model.set_params(gradient=False).encode_parts(X, Y)
    np.testing.assert_array_equal(only, latent)
    assert gradient.shape == (7, 3, 14)
    assert empty.shape == (7, 3, 0)


def test_flat_descriptors_of_single_precision_are_learned() -> None:
    # The patches of a sky: all the same, far from the mean, beside others that vary.
    rng = np.random.default_rng(0)
    flat = np.full((600, 8), 7.3) + 1e-4 * rng.normal(size=(600, 8))
    rows = np.concatenate([flat, rng.normal(size=(600, 8))]).astype(np.float32)
    model = FisherVector(16, max_iter=20, random_state=0)
    encoded = model.fit_transform((rows, np.arange(0, 1201, 100)))
    assert np.all(np.isfinite(encoded))
    assert np.all(model.mixture_.covariances_ > 0)
