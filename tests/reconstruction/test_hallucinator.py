"""FaceHallucinator: hidden pixels, definitions, masks, streams, files, other views."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mien
from mien.datasets import iter_faces, make_faces
from mien.errors import InputError
from mien.reconstruction import (
    METHODS,
    Completer,
    Completion,
    FaceHallucinator,
    make_mask,
    refine_cover,
    register_method,
)
from mien.sparse import orthogonal_matching_pursuit
from tests.near import assert_near

SMALL: dict[str, Any] = {
    "n_atoms": 60,
    "n_nonzero": 5,
    "max_iter": 3,
    "expansion": 2,
    "n_components": 20,
    "mirror": False,
    "random_state": 0,
}
VARIANTS: list[dict[str, Any]] = [
    {"method": "pca"},
    {"method": "ksvd"},
    {"method": "dw-ksvd"},
    {"method": "fastfood"},
    {"method": "fastfood", "features": "sin"},
    {"method": "fastfood", "dekernelize": "dictionary"},
    {"method": "ridge"},
    {"method": "feature-ridge"},
    {"method": "blend"},
]


def _name(variant: dict[str, Any]) -> str:
    return "-".join(map(str, variant.values()))


@pytest.fixture(scope="module")
def faces() -> tuple[np.ndarray, np.ndarray]:
    images = make_faces(150, 3, size=16, random_state=0).images
    return images[:390], images[390:]


@pytest.fixture(scope="module")
def models(faces: tuple[np.ndarray, np.ndarray]) -> dict[str, FaceHallucinator]:
    return {_name(v): FaceHallucinator(**SMALL, **v).fit(faces[0]) for v in VARIANTS}


def _psnr(truth: np.ndarray, result: np.ndarray) -> float:
    return float(np.mean(-10 * np.log10(np.mean((truth - result) ** 2, axis=(1, 2)))))


@pytest.mark.parametrize("variant", VARIANTS, ids=_name)
def test_hidden_pixels_are_never_read(
    variant: dict[str, Any], models: dict[str, FaceHallucinator], faces: Any
) -> None:
    model, test = models[_name(variant)], faces[1]
    hidden = test.copy()
    hidden[:, ~model.mask_] = np.nan
    expected = model.reconstruct(test)
    assert_near(model.reconstruct(hidden), expected, digits=5)
    np.testing.assert_array_equal(expected[:, model.mask_], test[:, model.mask_])
    assert expected.min() >= 0
    assert expected.max() <= 1
    again = FaceHallucinator(**SMALL, **variant).fit(faces[0]).reconstruct(test)
    assert_near(again, expected, digits=6)


@pytest.mark.parametrize("variant", VARIANTS, ids=_name)
def test_every_method_but_pca_beats_the_mean_face(
    variant: dict[str, Any], models: dict[str, FaceHallucinator], faces: Any
) -> None:
    train, test = faces
    mean = np.where(make_mask("periocular", (16, 16)), test, train.mean(axis=0))
    gain = _psnr(test, models[_name(variant)].reconstruct(test)) - _psnr(test, mean)
    assert gain > (-8 if variant["method"] == "pca" else 0.5)


def test_the_order_of_the_methods(models: dict[str, FaceHallucinator], faces: Any) -> None:
    score = {name: _psnr(faces[1], model.reconstruct(faces[1])) for name, model in models.items()}
    assert score["pca"] < score["ksvd"] < score["dw-ksvd"] < score["ridge"]
    assert score["blend"] > score["dw-ksvd"]


def test_ridge_is_regression_and_takes_any_mask(faces: Any) -> None:
    train, test = faces
    model = FaceHallucinator(
        "ridge", alpha=0.01, mirror=False, keep_visible=False, random_state=0
    ).fit(train)
    kept = np.arange(len(train)) >= len(train) // 10  # the first tenth is held out
    X = train[kept].reshape(kept.sum(), -1).astype(np.float64)
    for mask in ("periocular", "left", np.random.default_rng(0).random((16, 16)) < 0.3):
        visible = make_mask(mask, (16, 16)).ravel()
        centred = X - X.mean(axis=0)
        gram = centred[:, visible].T @ centred[:, visible] / len(X) + 0.01 * np.eye(visible.sum())
        weights = np.linalg.solve(gram, centred[:, visible].T @ centred / len(X))
        flat = test.reshape(len(test), -1)
        expected = (flat[:, visible] - X.mean(axis=0)[visible]) @ weights + X.mean(axis=0)
        result = model.reconstruct(test, mask=mask).reshape(len(test), -1)
        np.testing.assert_allclose(result, np.clip(expected, 0, 1), atol=1e-4)


def test_dictionary_codes_the_visible_part(models: dict[str, FaceHallucinator], faces: Any) -> None:
    model = models["dw-ksvd"]
    atoms = model.atoms().reshape(60, -1)
    visible = model.mask_.ravel()
    result = model.reconstruct(faces[1], details=True)
    flat = faces[1].reshape(len(faces[1]), -1)
    codes = orthogonal_matching_pursuit(flat[:, visible], atoms[:, visible], n_nonzero=5)
    assert_near(result.codes.toarray(), codes.toarray(), digits=6)
    whole = np.clip((codes @ atoms).reshape(faces[1].shape), 0, 1)
    assert_near(result.faces[:, ~model.mask_], whole[:, ~model.mask_], digits=6)


def test_confidence_says_where_it_guesses(models: dict[str, FaceHallucinator], faces: Any) -> None:
    model = models["ridge"]
    result = model.reconstruct(faces[1], details=True)
    assert result.codes is None
    confidence = result.confidence
    np.testing.assert_array_equal(confidence[model.mask_], 1)
    assert np.all((confidence >= 0) & (confidence <= 1))
    # more sure next to what is seen than far from it, as the errors are
    last = np.flatnonzero(model.mask_[:, 0])[-1]
    assert confidence[last + 1].mean() > confidence[-1].mean()
    errors = np.mean((result.faces - faces[1]) ** 2, axis=0)[~model.mask_]
    assert np.corrcoef(errors, model.error_[~model.mask_])[0, 1] > 0.5


def test_masks_of_other_kinds(models: dict[str, FaceHallucinator], faces: Any) -> None:
    test = faces[1]
    for name in ("ksvd", "dw-ksvd", "pca", "fastfood-dictionary", "ridge"):
        assert models[name].reconstruct(test, mask="left").shape == test.shape
    for name in ("fastfood", "feature-ridge", "blend"):
        with pytest.raises(InputError, match="bound to the mask"):
            models[name].reconstruct(test, mask="left")


def test_inpaint_takes_a_mask_a_face(models: dict[str, FaceHallucinator], faces: Any) -> None:
    test, model = faces[1][:6], models["ridge"]
    masks = np.stack([make_mask("left", (16, 16)), make_mask("upper", (16, 16))] * 3)
    broken = np.where(masks, test, np.nan)
    result = model.inpaint(broken, masks)
    assert_near(result[::2], model.reconstruct(test[::2], mask="left"), digits=6)
    assert_near(result[1::2], model.reconstruct(test[1::2], mask="upper"), digits=6)
    with pytest.raises(InputError, match="masks must be booleans"):
        model.inpaint(broken, masks[:2])


@pytest.mark.parametrize("name", ["ridge", "dw-ksvd"])
def test_super_resolution_beats_enlargement(
    name: str, models: dict[str, FaceHallucinator], faces: Any
) -> None:
    test = faces[1]
    small = test.reshape(len(test), 8, 2, 8, 2).mean(axis=(2, 4))
    result = models[name].super_resolve(small)
    assert result.shape == test.shape
    enlarged = np.repeat(np.repeat(small, 2, axis=1), 2, axis=2)
    if name == "ridge":
        assert _psnr(test, result) > _psnr(test, enlarged) + 1
        again = result.reshape(len(test), 8, 2, 8, 2).mean(axis=(2, 4))
        assert np.abs(again - small).mean() < 0.02
    with pytest.raises(InputError, match="whole number"):
        models[name].super_resolve(test[:, :5, :5])
    with pytest.raises(InputError, match="super-resolution"):
        models["blend"].super_resolve(small)


def test_streams_memory_maps_and_arrays_agree(faces: Any, tmp_path: Path) -> None:
    options = {**SMALL, "method": "dw-ksvd", "batch_size": 100}
    whole = make_faces(50, 4, size=16, random_state=0).images
    np.save(tmp_path / "faces.npy", whole)
    expected = FaceHallucinator(**options).fit(whole).atoms()
    mapped = np.load(tmp_path / "faces.npy", mmap_mode="r")
    assert_near(FaceHallucinator(**options).fit(mapped).atoms(), expected, digits=5)
    streamed = FaceHallucinator(**options).fit(
        lambda: iter_faces(100, 50, 4, size=16, random_state=0)
    )
    assert_near(streamed.atoms(), expected, digits=5)
    with pytest.raises(InputError, match="empty after one pass"):
        FaceHallucinator(**options).fit(iter_faces(100, 50, 4, size=16))
    with pytest.raises(InputError, match="no faces"):
        FaceHallucinator(**options).fit(lambda: iter([]))


def test_colour_faces() -> None:
    images = make_faces(60, 2, size=16, colour=True, random_state=0).images
    model = FaceHallucinator("ridge").fit(images[:100])
    result = model.reconstruct(images[100:], details=True)
    assert result.faces.shape == (20, 16, 16, 3)
    assert result.confidence.shape == (16, 16)
    assert _psnr(images[100:], result.faces) > 14


@pytest.mark.parametrize("variant", VARIANTS, ids=_name)
def test_files(
    variant: dict[str, Any], models: dict[str, FaceHallucinator], faces: Any, tmp_path: Path
) -> None:
    model = models[_name(variant)]
    again = mien.load(mien.save(model, tmp_path / "model.mien"))
    assert_near(again.reconstruct(faces[1]), model.reconstruct(faces[1]), digits=5)


def test_a_method_can_be_registered(faces: Any) -> None:
    class MeanCompleter(Completer):
        def fit(self, stream: Any, mask: Any, held_out: Any) -> MeanCompleter:
            self.mean = np.concatenate(list(stream())).mean(axis=0)
            return self

        def complete(self, seen: Any, view: Any) -> Completion:
            return Completion(np.repeat(self.mean[None], len(seen), axis=0))

    register_method("mean-face", lambda model, seed: MeanCompleter())
    try:
        model = FaceHallucinator("mean-face").fit(faces[0])
        assert model.reconstruct(faces[1], details=True).confidence[-1].max() < 0.05
        with pytest.raises(InputError, match="there already"):
            register_method("ridge", lambda model, seed: MeanCompleter())
    finally:
        del METHODS["mean-face"]


def test_bad_input_is_refused(models: dict[str, FaceHallucinator], faces: Any) -> None:
    model = models["ridge"]
    with pytest.raises(InputError, match="method must be one of"):
        FaceHallucinator("magic").fit(faces[0])
    with pytest.raises(InputError, match="too few faces"):
        FaceHallucinator("ridge").fit(faces[0][:10])
    with pytest.raises(InputError, match="as in fit"):
        model.reconstruct(faces[1][:, :8])
    with pytest.raises(InputError, match="without NaN"):
        model.reconstruct(np.full((2, 16, 16), np.nan))
    with pytest.raises(InputError, match="a mask is one of"):
        model.reconstruct(faces[1], mask="nose")
    with pytest.raises(InputError, match="hides everything"):
        model.reconstruct(faces[1], mask=np.zeros((16, 16), dtype=bool))
    with pytest.raises(InputError, match="must be booleans"):
        model.reconstruct(faces[1], mask=np.ones((4, 4), dtype=bool))


def test_masks_by_name() -> None:
    assert make_mask("periocular", (32, 32))[:13].all()
    assert not make_mask("periocular", (32, 32))[13:].any()
    assert make_mask("periocular", (64, 48))[:26].sum() == 26 * 48
    assert make_mask("upper", (7, 5)).sum() == 20
    assert make_mask("left", (4, 5)).sum() == 12
    assert np.all(make_mask("lower", (4, 4)) == ~make_mask("upper", (4, 4)))
    assert np.all(make_mask("right", (4, 4)) == ~make_mask("left", (4, 4)))


def test_low_rank_is_ridge_when_nothing_is_cut_off() -> None:
    faces = make_faces(60, 3, size=16, random_state=0).images
    settings = {"alpha": 1e-3, "mirror": False}
    ridge = FaceHallucinator("ridge", **settings).fit(faces[:150])
    low = FaceHallucinator("low-rank", n_components=256, **settings).fit(faces[:150])
    expected = ridge.reconstruct(faces[150:])
    # Half precision is all that differs.
    np.testing.assert_allclose(low.reconstruct(faces[150:]), expected, atol=0.02)
    left = np.arange(16) < np.full((16, 1), 8)
    np.testing.assert_allclose(
        low.reconstruct(faces[150:], mask=left),
        ridge.reconstruct(faces[150:], mask=left),
        atol=0.02,
    )
    small = faces[150:].reshape(-1, 8, 2, 8, 2).mean(axis=(2, 4))
    assert np.abs(low.super_resolve(small) - ridge.super_resolve(small)).mean() < 0.01


def test_the_dictionary_can_be_turned_back_in_either_way() -> None:
    faces = make_faces(40, 3, size=16, random_state=0).images
    settings = {"n_atoms": 30, "max_iter": 1, "expansion": 2, "random_state": 0}
    late = FaceHallucinator("fastfood", **settings).fit(faces[:100])
    early = FaceHallucinator("fastfood", dekernelize="dictionary", **settings).fit(faces[:100])
    late.completer_ = late.completer_.turn("dictionary")
    assert_near(late.reconstruct(faces[100:]), early.reconstruct(faces[100:]), digits=5)


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
