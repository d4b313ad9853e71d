"""FaceCompleter: covered pixels, definitions, covers, streams, files, other views."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mien
from mien.completion import (
    COVERS,
    Completer,
    Completion,
    DictionaryCompleter,
    FaceCompleter,
    FastfoodCompleter,
    FeatureRidgeCompleter,
    LowRankCompleter,
    PCACompleter,
    RidgeCompleter,
    make_completer,
    make_cover,
    refine_cover,
)
from mien.completion._stream import _move
from mien.datasets import iter_faces, make_faces
from mien.errors import InputError
from mien.sparse import orthogonal_matching_pursuit
from tests.near import assert_near

_SIZES: dict[str, Any] = {
    "n_atoms": 60,
    "n_nonzero_coefs": 5,
    "max_iter": 3,
    "random_state": 0,
}
VARIANTS: dict[str, Completer] = {
    "pca": PCACompleter(20),
    "ksvd": DictionaryCompleter(beta=0.0, **_SIZES),
    "dictionary": DictionaryCompleter(beta=100.0, **_SIZES),
    "fastfood": FastfoodCompleter(expansion=2, **_SIZES),
    "fastfood-sin": FastfoodCompleter(expansion=2, functions="sin", **_SIZES),
    "fastfood-atoms": FastfoodCompleter(expansion=2, dekernelize="atoms", **_SIZES),
    "ridge": RidgeCompleter(),
    "feature-ridge": FeatureRidgeCompleter(2, random_state=0),
    "blend": make_completer("blend", random_state=0),
    "auto": make_completer("auto", random_state=0),
}


@pytest.fixture(scope="module")
def faces() -> tuple[np.ndarray, np.ndarray]:
    images = make_faces(150, 3, size=16, random_state=0).images
    return images[:390], images[390:]


@pytest.fixture(scope="module")
def models(faces: tuple[np.ndarray, np.ndarray]) -> dict[str, FaceCompleter]:
    people = np.repeat(np.arange(130), 3)
    return {
        name: FaceCompleter(completer, mirror=False).fit(faces[0], people=people)
        for name, completer in VARIANTS.items()
    }


def _psnr(truth: np.ndarray, result: np.ndarray) -> float:
    return float(np.mean(-10 * np.log10(np.mean((truth - result) ** 2, axis=(1, 2)))))


@pytest.mark.parametrize("name", VARIANTS)
def test_covered_pixels_are_never_read(
    name: str, models: dict[str, FaceCompleter], faces: Any
) -> None:
    model, test = models[name], faces[1]
    covered = test.copy()
    covered[:, model.cover_] = np.nan
    expected = model.complete(test)
    assert_near(model.complete(covered), expected, digits=5)
    np.testing.assert_array_equal(expected[:, ~model.cover_], test[:, ~model.cover_])
    assert expected.min() >= 0
    assert expected.max() <= 1


@pytest.mark.parametrize("name", VARIANTS)
def test_every_completer_but_pca_beats_the_mean_face(
    name: str, models: dict[str, FaceCompleter], faces: Any
) -> None:
    train, test = faces
    mean = np.where(make_cover("below-eyes", (16, 16)), train.mean(axis=0), test)
    gain = _psnr(test, models[name].complete(test)) - _psnr(test, mean)
    assert gain > (-8 if name == "pca" else 0.5)


def test_the_order_of_the_methods(models: dict[str, FaceCompleter], faces: Any) -> None:
    score = {name: _psnr(faces[1], model.complete(faces[1])) for name, model in models.items()}
    assert score["pca"] < score["ksvd"] < score["dictionary"] < score["ridge"]
    assert score["blend"] > score["dictionary"]
    assert score["auto"] > score["dictionary"]


def test_ridge_is_regression_and_takes_any_cover(faces: Any) -> None:
    train, test = faces
    model = FaceCompleter(RidgeCompleter(alpha=0.01), mirror=False, keep_visible=False).fit(train)
    kept = np.arange(len(train)) >= len(train) // 10  # the first tenth is held out
    X = train[kept].reshape(kept.sum(), -1).astype(np.float64)
    for cover in ("below-eyes", "right", np.random.default_rng(0).random((16, 16)) < 0.7):
        visible = ~make_cover(cover, (16, 16)).ravel()
        centred = X - X.mean(axis=0)
        gram = centred[:, visible].T @ centred[:, visible] / len(X) + 0.01 * np.eye(visible.sum())
        weights = np.linalg.solve(gram, centred[:, visible].T @ centred / len(X))
        flat = test.reshape(len(test), -1)
        expected = (flat[:, visible] - X.mean(axis=0)[visible]) @ weights + X.mean(axis=0)
        result = model.complete(test, cover=cover).reshape(len(test), -1)
        assert_near(result, np.clip(expected, 0, 1), digits=4)


def test_a_dictionary_codes_the_visible_part(models: dict[str, FaceCompleter], faces: Any) -> None:
    model = models["dictionary"]
    completer: Any = model.completer_
    atoms, mean = completer.components_, completer.mean_
    visible = ~model.cover_.ravel()
    result = model.complete(faces[1], details=True)
    flat = faces[1].reshape(len(faces[1]), -1)
    codes = orthogonal_matching_pursuit(
        flat[:, visible] - mean[visible], atoms[:, visible], n_nonzero_coefs=5
    )
    assert result.codes is not None
    assert_near(result.codes.toarray(), codes.toarray(), digits=4)
    whole = np.clip((codes @ atoms + mean).reshape(faces[1].shape), 0, 1)
    assert_near(result.faces[:, model.cover_], whole[:, model.cover_], digits=5)


def test_confidence_says_where_it_guesses(models: dict[str, FaceCompleter], faces: Any) -> None:
    model = models["ridge"]
    result = model.complete(faces[1], details=True)
    assert result.codes is None
    confidence = result.confidence
    np.testing.assert_array_equal(confidence[~model.cover_], 1)
    assert np.all((confidence >= 0) & (confidence <= 1))
    # more sure next to what is visible than far from it, as the errors are
    first = np.flatnonzero(model.cover_[:, 0])[0]
    assert confidence[first].mean() > confidence[-1].mean()
    errors = np.mean((result.faces - faces[1]) ** 2, axis=0)[model.cover_]
    assert np.corrcoef(errors, model.error_[model.cover_])[0, 1] > 0.5


def test_covers_of_other_kinds(models: dict[str, FaceCompleter], faces: Any) -> None:
    test = faces[1]
    for name in ("ksvd", "dictionary", "pca", "fastfood-atoms", "ridge"):
        assert models[name].complete(test, cover="right").shape == test.shape
    for name in ("fastfood", "feature-ridge", "blend"):
        with pytest.raises(InputError, match="only the cover it was fitted with"):
            models[name].complete(test, cover="right")


def test_each_face_may_have_its_own_cover(models: dict[str, FaceCompleter], faces: Any) -> None:
    test, model = faces[1][:6], models["ridge"]
    covers = np.stack([make_cover("right", (16, 16)), make_cover("lower", (16, 16))] * 3)
    broken = np.where(covers, np.nan, test)
    result = model.complete(broken, cover=covers, details=True)
    assert_near(result.faces[::2], model.complete(test[::2], cover="right"))
    assert_near(result.faces[1::2], model.complete(test[1::2], cover="lower"))
    assert result.confidence.shape == (6, 16, 16)
    with pytest.raises(InputError, match="covers must be booleans"):
        model.complete(broken, cover=covers[:2])


@pytest.mark.parametrize("name", ["ridge", "dictionary"])
def test_enlarging_beats_repeating_pixels(
    name: str, models: dict[str, FaceCompleter], faces: Any
) -> None:
    test = faces[1]
    small = test.reshape(len(test), 8, 2, 8, 2).mean(axis=(2, 4))
    result = models[name].enlarge(small)
    assert result.shape == test.shape
    enlarged = np.repeat(np.repeat(small, 2, axis=1), 2, axis=2)
    if name == "ridge":
        assert _psnr(test, result) > _psnr(test, enlarged) + 1
        again = result.reshape(len(test), 8, 2, 8, 2).mean(axis=(2, 4))
        assert np.abs(again - small).mean() < 0.02
    with pytest.raises(InputError, match="whole number"):
        models[name].enlarge(test[:, :5, :5])
    with pytest.raises(InputError, match="only the cover"):
        models["blend"].enlarge(small)


def test_streams_memory_maps_and_arrays_agree(tmp_path: Path) -> None:
    def build() -> FaceCompleter:
        return FaceCompleter(
            DictionaryCompleter(beta=100.0, **_SIZES), mirror=False, batch_size=100
        )

    whole = make_faces(50, 4, size=16, random_state=0).images
    np.save(tmp_path / "faces.npy", whole)
    expected = build().fit(whole).completer_.components_
    mapped = np.load(tmp_path / "faces.npy", mmap_mode="r")
    assert_near(build().fit(mapped).completer_.components_, expected, digits=5)
    streamed = build().fit(lambda: iter_faces(100, 50, 4, size=16, random_state=0))
    assert_near(streamed.completer_.components_, expected, digits=5)
    with pytest.raises(InputError, match="empty after one pass"):
        build().fit(iter_faces(100, 50, 4, size=16))
    with pytest.raises(InputError, match="no faces"):
        build().fit(lambda: iter([]))
    with pytest.raises(InputError, match="not for a stream"):
        build().fit(lambda: iter([whole]), people=np.arange(200))


def test_people_are_held_out_whole() -> None:
    faces = make_faces(40, 5, size=16, random_state=0)
    order = np.random.default_rng(0).permutation(200)
    seen: list[np.ndarray] = []

    class Recorder(RidgeCompleter):
        def _learn(self, stream: Any, held_out: np.ndarray) -> None:
            seen.extend([np.concatenate(list(stream())), held_out])
            super()._learn(stream, held_out)

    shuffled, people = faces.images[order], faces.people[order]
    FaceCompleter(Recorder(), mirror=False).fit(shuffled, people=people)
    flat = {row.tobytes(): who for row, who in zip(_vectors(shuffled), people, strict=True)}
    train, held = ({flat[row.tobytes()] for row in part} for part in seen)
    assert len(held) == 4
    assert not train & held


def _vectors(images: np.ndarray) -> np.ndarray:
    scale = 255 if images.dtype == np.uint8 else 1
    return (images.astype(np.float32) / np.float32(scale)).reshape(len(images), -1)


def test_colour_faces() -> None:
    images = make_faces(60, 2, size=16, colour=True, random_state=0).images
    model = FaceCompleter("ridge").fit(images[:100])
    result = model.complete(images[100:], details=True)
    assert result.faces.shape == (20, 16, 16, 3)
    assert result.confidence.shape == (16, 16)
    assert _psnr(images[100:], result.faces) > 14


@pytest.mark.parametrize("name", VARIANTS)
def test_files(name: str, models: dict[str, FaceCompleter], faces: Any, tmp_path: Path) -> None:
    model = models[name]
    again = mien.load(mien.save(model, tmp_path / "model.mien"))
    assert_near(again.complete(faces[1]), model.complete(faces[1]), digits=5)
    assert repr(again.completer) == repr(model.completer)


def test_any_completer_will_do(faces: Any) -> None:
    class MeanCompleter(Completer):
        def __init__(self, cover: Any = None) -> None:
            self.cover = cover

        _parameter_constraints: dict[str, list[Any]] = {}  # noqa: RUF012 - of scikit-learn

        def _learn(self, stream: Any, held_out: np.ndarray) -> None:
            self.mean_ = np.concatenate(list(stream())).mean(axis=0)

        def _estimate(self, seen: np.ndarray, view: np.ndarray) -> Completion:
            return Completion(np.repeat(self.mean_[None], len(seen), axis=0))

    model = FaceCompleter(MeanCompleter()).fit(faces[0])
    assert model.complete(faces[1], details=True).confidence[-1].max() < 0.05


def test_bad_input_is_refused(models: dict[str, FaceCompleter], faces: Any) -> None:
    model = models["ridge"]
    with pytest.raises(InputError, match="completer must be one of"):
        FaceCompleter("magic").fit(faces[0])
    with pytest.raises(InputError, match="too few faces"):
        FaceCompleter("ridge").fit(faces[0][:10])
    with pytest.raises(InputError, match="as in fit"):
        model.complete(faces[1][:, :8])
    with pytest.raises(InputError, match="without NaN"):
        model.complete(np.full((2, 16, 16), np.nan))
    with pytest.raises(InputError, match="a cover is one of"):
        model.complete(faces[1], cover="nose")
    with pytest.raises(InputError, match="hides everything"):
        model.complete(faces[1], cover=np.ones((16, 16), dtype=bool))
    with pytest.raises(InputError, match="must be booleans"):
        model.complete(faces[1], cover=np.zeros((4, 4), dtype=bool))


def test_covers_by_name() -> None:
    assert not make_cover("below-eyes", (32, 32))[:13].any()
    assert make_cover("below-eyes", (32, 32))[13:].all()
    assert make_cover("below-eyes", (64, 48))[26:].sum() == 38 * 48
    assert make_cover("lower", (7, 5)).sum() == 15
    assert make_cover("right", (4, 5)).sum() == 8
    assert np.all(make_cover("upper", (4, 4)) == ~make_cover("lower", (4, 4)))
    assert np.all(make_cover("left", (4, 4)) == ~make_cover("right", (4, 4)))
    for name in COVERS:
        assert 0 < make_cover(name, (9, 9)).mean() < 1


def test_low_rank_is_ridge_when_nothing_is_cut_off() -> None:
    faces = make_faces(60, 3, size=16, random_state=0).images
    ridge = FaceCompleter(RidgeCompleter(alpha=1e-3), mirror=False).fit(faces[:150])
    low = FaceCompleter(LowRankCompleter(256, alpha=1e-3), mirror=False).fit(faces[:150])
    expected = ridge.complete(faces[150:])
    # Half precision is all that differs.
    np.testing.assert_allclose(low.complete(faces[150:]), expected, atol=0.02)
    right = np.arange(16) >= np.full((16, 1), 8)
    np.testing.assert_allclose(
        low.complete(faces[150:], cover=right), ridge.complete(faces[150:], cover=right), atol=0.02
    )
    small = faces[150:].reshape(-1, 8, 2, 8, 2).mean(axis=(2, 4))
    assert np.abs(low.enlarge(small) - ridge.enlarge(small)).mean() < 0.01


def test_pca_keeps_no_direction_beyond_the_rank() -> None:
    faces = make_faces(24, 1, size=16, random_state=0).images
    model = FaceCompleter(PCACompleter(200), mirror=False).fit(faces)
    completer: Any = model.completer_
    assert completer.n_components_ == 24 - 2 - 1  # two are held out, one is the mean
    assert_near(completer.components_ @ completer.components_.T, np.eye(21), digits=4)


def test_fastfood_can_be_inverted_in_either_way() -> None:
    faces = make_faces(40, 3, size=16, random_state=0).images
    settings = {"n_atoms": 30, "max_iter": 1, "expansion": 2, "random_state": 0}
    late = FaceCompleter(FastfoodCompleter(**settings)).fit(faces[:100])
    early = FaceCompleter(FastfoodCompleter(dekernelize="atoms", **settings)).fit(faces[:100])
    late.completer_ = late.completer_.invert("atoms")
    assert_near(late.complete(faces[100:]), early.complete(faces[100:]), digits=5)


def test_a_cover_is_drawn_to_the_pixel() -> None:
    face = np.full((64, 64, 3), (200, 150, 120), np.uint8)
    truth = np.zeros((64, 64), bool)
    truth[34:52, 20:44] = True
    face[truth] = (170, 200, 230)
    rough = np.full((64, 64), 0.05)
    rough[30:58, 16:50] = 0.85
    refined = refine_cover(face, rough)
    assert (refined & truth).sum() / (refined | truth).sum() > 0.8
    assert not refine_cover(face, np.full((64, 64), 0.05)).any()


def test_faces_are_moved_in_four_directions() -> None:
    images = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4) / 24
    still, up, down, left, right = _move(images, 1)
    np.testing.assert_array_equal(still, images)
    np.testing.assert_array_equal(up[:, :2], images[:, 1:])
    np.testing.assert_array_equal(up[:, 2], images[:, 2])
    np.testing.assert_array_equal(down[:, 1:], images[:, :2])
    np.testing.assert_array_equal(left[:, :, :3], images[:, :, 1:])
    np.testing.assert_array_equal(right[:, :, 1:], images[:, :, :3])
    np.testing.assert_array_equal(right[:, :, 0], images[:, :, 0])
    assert len(list(_move(images[..., None].repeat(3, axis=3), 2))) == 5


def test_moved_faces_and_faces_of_others_are_learned_from(faces: Any, tmp_path: Path) -> None:
    train, test = faces
    few = train[:60]
    plain = FaceCompleter("ridge").fit(few)
    moved = FaceCompleter("ridge", shift=1).fit(few)
    # What was learned is the covariance of the faces, moved and mirrored.
    copies = np.concatenate(list(_move(few[6:].astype(np.float64), 1)))
    copies = np.concatenate([copies, copies[:, :, ::-1]]).reshape(-1, 256)
    ridge: Any = moved.completer_
    assert_near(ridge.covariance_, np.cov(copies.T, bias=True), digits=4)
    foreign = FaceCompleter("ridge", cover="lower").fit(train[60:])
    beside = FaceCompleter("ridge").fit(few, foreign=foreign)
    assert beside.completer_.foreign_share_ > 0
    error = {
        name: np.mean((model.complete(test) - test) ** 2)
        for name, model in (("plain", plain), ("beside", beside))
    }
    assert error["beside"] < error["plain"]
    mien.save(moved, tmp_path / "moved")
    assert mien.load(tmp_path / "moved").shift == 1
    with pytest.raises(InputError, match="one or two pixels"):
        FaceCompleter("ridge", shift=16).fit(few)
    with pytest.raises(InputError, match="bring them to one size"):
        FaceCompleter("ridge").fit(few[:, :8, :8], foreign=foreign)
    with pytest.raises(TypeError, match="FaceCompleter; got RidgeCompleter"):
        FaceCompleter("ridge").fit(few, foreign=ridge)
