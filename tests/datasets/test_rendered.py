"""Rendered people: they stay themselves, they differ, and nothing depends on the batches."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline

from mien.datasets import (
    CAMERAS,
    IDENTITY_NAMES,
    LANDMARK_NAMES,
    NUISANCE_NAMES,
    FaceSet,
    RenderedCamera,
    iter_faces,
    make_faces,
)
from mien.datasets._rendered import _make as rendered
from mien.datasets._rendered._shade import hash_bits, normal_deviate
from mien.errors import InputError, PerformanceWarning
from tests.near import assert_near

SMALL = {"size": 24, "random_state": 5}


def _equal(one: FaceSet, other: FaceSet) -> None:
    np.testing.assert_array_equal(one.images, other.images)
    np.testing.assert_array_equal(one.people, other.people)
    assert one.metadata.keys() == other.metadata.keys()
    for name, values in one.metadata.items():
        np.testing.assert_array_equal(values, other.metadata[name], err_msg=name)


# ------------------------------------------------------------------ the record
def test_the_record_is_complete() -> None:
    faces = make_faces(4, 3, size=40, colour=True, cover="any", random_state=0)
    assert faces.images.shape == (12, 40, 40, 3)
    assert faces.images.dtype == np.float32
    assert faces.people.tolist() == np.repeat(np.arange(4), 3).tolist()
    assert faces.metadata["picture"].tolist() == [0, 1, 2] * 4
    assert faces.metadata["identity"].shape == (12, len(IDENTITY_NAMES))
    assert len(IDENTITY_NAMES) >= 30
    assert faces.metadata["landmarks"].shape == (12, len(LANDMARK_NAMES), 2)
    assert set(NUISANCE_NAMES) <= faces.metadata.keys()
    assert set(faces.metadata["cover"]) <= {"mask", "scarf", "bar"}
    assert faces.source
    assert faces.licence


@pytest.mark.parametrize("options", [{}, {"variation": 5.0}, {"camera": "second"}, {"noise": 20.0}])
def test_pixels_are_finite_and_in_range(options: dict[str, object]) -> None:
    faces = make_faces(30, 2, size=16, colour=True, cover="any", random_state=1, **options)
    assert np.all(np.isfinite(faces.images))
    assert faces.images.min() >= 0
    assert faces.images.max() <= 1
    assert faces.images.std(axis=(1, 2, 3)).min() > 0.02


def test_grey_is_the_luma_of_colour() -> None:
    grey = make_faces(5, 2, **SMALL).images
    colour = make_faces(5, 2, colour=True, **SMALL).images
    assert_near(grey, colour @ [0.299, 0.587, 0.114], digits=5)
    assert np.abs(colour[..., 0] - colour[..., 2]).mean() > 0.01


# ------------------------------------------------------------------ seeds and streams
@pytest.mark.parametrize("batch_size", [1, 5, 7, 1000])
def test_the_stream_is_the_whole_bit_for_bit(batch_size: int) -> None:
    options = {"cover": ["mask", "bar"], "cover_rate": 0.5, "camera": "second", **SMALL}
    whole = make_faces(7, 3, **options)
    batches = list(iter_faces(batch_size, 7, 3, **options))
    assert all(len(batch) == batch_size for batch in batches[:-1])
    joined = FaceSet(
        np.concatenate([batch.images for batch in batches]),
        np.concatenate([batch.people for batch in batches]),
        {k: np.concatenate([b.metadata[k] for b in batches]) for k in whole.metadata},
    )
    _equal(joined, whole)


def test_chunks_of_the_renderer_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = make_faces(10, 3, **SMALL)
    monkeypatch.setattr(rendered, "_CHUNK", 7)
    _equal(make_faces(10, 3, **SMALL), whole)
    _equal(make_faces(10, 3, n_jobs=3, **SMALL), make_faces(10, 3, n_jobs=1, **SMALL))


def test_a_person_does_not_depend_on_how_many_are_asked() -> None:
    many = make_faces(9, 4, **SMALL)
    few = make_faces(3, 2, **SMALL)
    _equal(many.select((many.people < 3) & (many.metadata["picture"] < 2)), few)
    later = make_faces(2, 1, first_person=6, first_picture=3, **SMALL)
    rows = np.isin(many.people, [6, 7]) & (many.metadata["picture"] == 3)
    _equal(many.select(rows), later)


def test_seeds() -> None:
    one = make_faces(2, 2, size=16, random_state=0)
    _equal(make_faces(2, 2, size=16, random_state=np.int64(0)), one)
    assert not np.array_equal(make_faces(2, 2, size=16, random_state=1).images, one.images)
    assert not np.array_equal(make_faces(2, 2, size=16).images, make_faces(2, 2, size=16).images)
    for make in (np.random.default_rng, np.random.RandomState):
        _equal(
            make_faces(2, 2, size=16, random_state=make(3)),
            make_faces(2, 2, size=16, random_state=make(3)),
        )
    make_faces(1, 1, size=16, random_state=2**80)


def test_size_changes_the_pixels_and_not_the_people() -> None:
    small, large = (make_faces(6, 2, size=s, noise=0, random_state=0) for s in (32, 64))
    np.testing.assert_array_equal(small.metadata["identity"], large.metadata["identity"])
    halved = large.images.reshape(12, 32, 2, 32, 2).mean(axis=(2, 4))
    assert np.abs(halved - small.images).mean() < 0.012
    np.testing.assert_allclose(
        (small.metadata["landmarks"] + 0.5) * 2, large.metadata["landmarks"] + 0.5, atol=1e-3
    )


def test_the_generator_is_even() -> None:
    values = normal_deviate(hash_bits(np.arange(200_000, dtype=np.uint64)))
    assert abs(values.mean()) < 0.01
    assert abs(values.var() - 1) < 0.01
    assert np.abs(values).max() < 3.47
    neighbours = np.corrcoef(values[:-1], values[1:])[0, 1]
    assert abs(neighbours) < 0.01


# ------------------------------------------------------------------ the two renderers
@pytest.mark.parametrize(
    "options",
    [
        {"size": 16},
        {"size": 33, "colour": True, "glasses": 1.0, "cover": "any"},
        {"size": 48, "camera": "second", "blur": 5.0},
        {"size": 24, "variation": 0.0},
    ],
)
def test_the_compiled_renderer_equals_its_twin(
    options: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    fast = make_faces(6, 2, random_state=3, **options)
    monkeypatch.setattr(rendered, "load_kernels", lambda name: None)
    slow = make_faces(6, 2, random_state=3, **options)
    np.testing.assert_allclose(fast.images, slow.images, atol=2e-6)


def test_the_kernel_needs_no_place_for_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = pytest.importorskip("mien.datasets._rendered._shade_numba")
    asked = []

    def njit(function: object, *, cache: bool = False, **options: bool) -> object:
        asked.append(cache)
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return function

    monkeypatch.setattr(kernels, "njit", njit)
    assert callable(kernels._build(0))
    assert asked == [True, False]


def test_without_numba_there_is_a_warning_and_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        warnings.warn("numba is not installed", PerformanceWarning, stacklevel=2)

    monkeypatch.setattr(rendered, "load_kernels", missing)
    with pytest.warns(PerformanceWarning, match="numba"):
        assert make_faces(1, 1, size=16, random_state=0).images.std() > 0.05


# ------------------------------------------------------------------ people and nuisance
def test_neutral_pictures_of_a_person_are_all_alike_and_people_differ() -> None:
    faces = make_faces(25, 3, size=48, variation=0, random_state=0)
    X = faces.vectors().reshape(25, 3, -1)
    np.testing.assert_array_equal(X[:, 0], X[:, 1])
    between = np.linalg.norm(X[:, None, 0] - X[None, :, 0], axis=-1)
    between = between[~np.eye(25, dtype=bool)]
    assert between.min() > 1.0  # of 48 pixels squared; two equal pictures have 0


def test_a_person_stays_that_person() -> None:
    """With mild nuisance the nearest picture is of the same person."""
    faces = make_faces(30, 3, size=32, variation=0.1, random_state=2)
    X = faces.vectors()
    first = faces.metadata["picture"] == 0
    nearest = NearestNeighbors(n_neighbors=1).fit(X[first]).kneighbors(X[~first])[1][:, 0]
    assert np.mean(faces.people[first][nearest] == faces.people[~first]) > 0.95


def test_raw_pixels_are_far_from_perfect_and_far_from_chance() -> None:
    faces = make_faces(40, 8, size=32, random_state=0)
    X, y = faces.vectors(), faces.people
    train = faces.metadata["picture"] < 4
    nearest = KNeighborsClassifier(1).fit(X[train], y[train]).score(X[~train], y[~train])
    lda = make_pipeline(PCA(60, random_state=0), LinearDiscriminantAnalysis())
    learned = lda.fit(X[train], y[train]).score(X[~train], y[~train])
    assert 0.30 < nearest < 0.70  # chance is 0.025
    assert learned > nearest + 0.2
    assert learned < 0.98


def test_every_control_acts_on_its_own() -> None:
    still = {"variation": 1.0, "expression": 0, "light": 0, "pose": 0, "blur": 0, "noise": 0}
    still |= {"background": 0, "glasses": 0}
    large = {"size": 64, "random_state": 5}
    base = make_faces(5, 3, **large, **still)
    np.testing.assert_array_equal(base.images, make_faces(5, 3, variation=0, **large).images)
    for name in ("expression", "light", "pose", "blur", "noise", "background", "glasses"):
        moved = make_faces(5, 3, **large, **{**still, name: 1.0})
        assert np.abs(moved.images - base.images).mean() > 1e-4, name
        same = np.array_equal(moved.metadata["landmarks"], base.metadata["landmarks"])
        assert same == (name not in {"expression", "pose"}), name


def test_light_comes_from_where_the_metadata_say() -> None:
    faces = make_faces(
        60, 1, size=32, expression=0, pose=0, blur=0, noise=0, background=0, glasses=0,
        random_state=0,
    )  # fmt: skip
    cheeks = faces.images[:, 17:22, 9:14].mean(axis=(1, 2))
    other = faces.images[:, 17:22, 18:23].mean(axis=(1, 2))
    assert np.corrcoef(other - cheeks, faces.metadata["light_x"])[0, 1] > 0.8


def test_blur_and_noise_do_what_they_say() -> None:
    plain, blurred, noisy = (
        make_faces(10, 1, size=48, variation=1, noise=n, blur=b, random_state=0).images
        for n, b in ((0, 0), (0, 10), (10, 0))
    )
    sharp, soft, grain = (np.abs(np.diff(x, axis=2)).mean() for x in (plain, blurred, noisy))
    assert soft < 0.9 * sharp
    assert grain > 1.5 * sharp


@pytest.mark.parametrize("kind", ["mask", "scarf", "bar"])
def test_a_cover_hides_the_lower_face_and_only_that(kind: str) -> None:
    bare = make_faces(10, 1, size=64, variation=0, random_state=0)
    hidden = make_faces(10, 1, size=64, variation=0, cover=kind, random_state=0)
    assert set(hidden.metadata["cover"]) == {kind}
    change = np.abs(hidden.images - bare.images)
    eyes = bare.metadata["landmarks"][:, 4:6, 1].mean(axis=1)
    for picture, points, eye in zip(change, bare.metadata["landmarks"], eyes, strict=True):
        x, y = np.round(points[LANDMARK_NAMES.index("lower_lip")]).astype(int)
        assert picture[y - 2 : y + 3, x - 4 : x + 5].mean() > 0.02
        assert picture[: int(eye) + 2].max() == 0
    half = make_faces(100, 1, size=16, cover=kind, cover_rate=0.5, random_state=0)
    assert 0.3 < np.mean(half.metadata["cover"] == kind) < 0.7


# ------------------------------------------------------------------ landmarks
def _at(picture: np.ndarray, point: np.ndarray, radius: int) -> np.ndarray:
    x, y = np.round(point).astype(int)
    return picture[y - radius : y + radius + 1, x - radius : x + radius + 1]


def test_landmarks_lie_on_the_features() -> None:
    """Also when the head turns and the face moves: pupils are dark, and so are nostrils."""
    faces = make_faces(
        40, 2, size=128, blur=0, noise=0, glasses=0, light=0.3, expression=0.5, random_state=0
    )
    points = dict(zip(LANDMARK_NAMES, faces.metadata["landmarks"].transpose(1, 0, 2), strict=True))
    for name in ("left_pupil", "right_pupil"):
        dark = [
            _at(p, x, 1).mean() < 0.72 * np.median(_at(p, x + np.array([0, 14]), 3))
            for p, x in zip(faces.images, points[name], strict=True)
        ]
        assert np.mean(dark) > 0.9, name
    for name in ("left_nostril", "right_nostril"):
        dark = [
            _at(p, x, 1).mean() < 0.85 * _at(p, x - np.array([0, 6]), 1).mean()
            for p, x in zip(faces.images, points[name], strict=True)
        ]
        assert np.mean(dark) > 0.9, name


def test_landmarks_are_in_order_on_the_face() -> None:
    faces = make_faces(60, 2, size=64, random_state=1)
    x, y = faces.metadata["landmarks"].transpose(2, 1, 0)
    k = {name: i for i, name in enumerate(LANDMARK_NAMES)}
    assert np.all((faces.metadata["landmarks"] > 0) & (faces.metadata["landmarks"] < 63))
    row = ["left_eye_outer", "left_pupil", "left_eye_inner", "nose_tip", "right_eye_inner"]
    row += ["right_pupil", "right_eye_outer"]
    assert np.all(np.diff(x[[k[name] for name in row]], axis=0) > 0)
    column = ["nose_bridge", "nose_tip", "upper_lip", "lower_lip", "chin"]
    assert np.all(np.diff(y[[k[name] for name in column]], axis=0) > 0)
    assert np.all(x[k["mouth_left"]] < x[k["mouth_right"]])


def test_landmarks_follow_the_pose() -> None:
    faces = make_faces(80, 1, size=64, expression=0, random_state=0)
    points = faces.metadata["landmarks"]
    axis = points[:, 3] - points[:, 0]  # from eye to eye, so that roll does not count
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    offset = points[:, 6] - (points[:, 0] + points[:, 3]) / 2
    assert np.corrcoef((offset * axis).sum(axis=1), faces.metadata["yaw"])[0, 1] > 0.9


def test_a_haar_cascade_finds_the_faces() -> None:
    cv2 = pytest.importorskip("cv2")
    path = cv2.data.haarcascades + "haarcascade_frontalface_default.xml"
    cascade = cv2.CascadeClassifier(path)
    faces = make_faces(100, 1, size=128, variation=0, random_state=0)
    found = 0
    for picture, points in zip(faces.images, faces.metadata["landmarks"], strict=True):
        boxes = cascade.detectMultiScale((picture * 255).astype(np.uint8), 1.1, 3)
        low, high = points[:13].min(axis=0), points[:13].max(axis=0)
        for x, y, w, h in boxes:
            around = np.all(low >= (x, y)) and np.all(high <= (x + w, y + h))
            found += bool(around and len(boxes) == 1 and w < 110)
    assert found >= 90


# ------------------------------------------------------------------ cameras
def test_the_second_camera_shows_the_same_people_otherwise() -> None:
    first = make_faces(40, 8, size=32, random_state=0)
    second = make_faces(40, 8, size=32, camera="second", random_state=0)
    np.testing.assert_array_equal(first.metadata["identity"], second.metadata["identity"])
    np.testing.assert_array_equal(first.metadata["landmarks"], second.metadata["landmarks"])
    assert second.images.std() < 0.9 * first.images.std()
    train = first.metadata["picture"] < 4
    nearest = KNeighborsClassifier(1).fit(first.vectors()[train], first.people[train])
    at_home = nearest.score(first.vectors()[~train], first.people[~train])
    abroad = nearest.score(second.vectors()[~train], first.people[~train])
    assert 0.05 < abroad < at_home - 0.05


def test_each_setting_of_a_camera_acts() -> None:
    base = make_faces(4, 2, **SMALL).images
    np.testing.assert_array_equal(base, make_faces(4, 2, camera=RenderedCamera(), **SMALL).images)
    np.testing.assert_array_equal(base, make_faces(4, 2, camera="first", **SMALL).images)
    for field in dataclasses.fields(RenderedCamera):
        value = getattr(CAMERAS["second"], field.name) if field.name != "blur" else 2.0
        camera = dataclasses.replace(RenderedCamera(), **{field.name: value})
        assert np.abs(make_faces(4, 2, camera=camera, **SMALL).images - base).mean() > 1e-3


def test_a_coarse_sensor_keeps_the_mean_and_loses_detail() -> None:
    fine = make_faces(5, 1, size=32, noise=0, random_state=0).images
    coarse = make_faces(
        5, 1, size=32, noise=0, camera=RenderedCamera(resolution=0.25), random_state=0
    )
    np.testing.assert_allclose(coarse.images.mean(), fine.mean(), atol=0.01)
    spectrum = np.abs(np.fft.fft2(coarse.images))[:, 12:20, 12:20].mean()
    assert spectrum < 0.3 * np.abs(np.fft.fft2(fine))[:, 12:20, 12:20].mean()


# ------------------------------------------------------------------ bad input
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_people": 0}, "n_people must be at least 1"),
        ({"n_people": 2.5}, "n_people must be an integer"),
        ({"n_people": True}, "n_people must be an integer"),
        ({"n_per_person": -1}, "n_per_person"),
        ({"size": 15}, "size must be from 16 to 1024; got 15"),
        ({"size": 20_000}, "size must be from 16 to 1024"),
        ({"size": "64"}, "size must be an integer"),
        ({"colour": "yes"}, "colour"),
        ({"variation": -0.1}, "variation must be a number from 0 to 5"),
        ({"variation": float("nan")}, "variation"),
        ({"pose": float("inf")}, "pose"),
        ({"light": "bright"}, "light"),
        ({"expression": None}, "expression"),
        ({"blur": -1}, "blur"),
        ({"noise": 21}, "noise"),
        ({"background": -1}, "background"),
        ({"glasses": 1.5}, "glasses must be a number from 0 to 1"),
        ({"cover": "hat"}, "cover must be None, 'any', or one or more of"),
        ({"cover": ["mask", "hat"]}, "cover"),
        ({"cover": []}, "cover"),
        ({"cover": 3}, "cover"),
        ({"cover_rate": 2}, "cover_rate"),
        ({"camera": "third"}, "camera must be a RenderedCamera or one of"),
        ({"camera": 2}, "camera must be a RenderedCamera"),
        ({"camera": RenderedCamera(gamma=0)}, "camera.gamma"),
        ({"camera": RenderedCamera(resolution=0)}, "camera.resolution"),
        ({"camera": RenderedCamera(light=(1,))}, "camera.light must be two numbers"),  # type: ignore[arg-type]
        ({"camera": RenderedCamera(light=(0, np.nan))}, "camera.light"),
        ({"first_person": -1}, "first_person"),
        ({"first_picture": 0.5}, "first_picture"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": "seed"}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_people": 10**9}, "stream them with iter_faces"),
    ],
)
def test_bad_parameters_are_refused(change: dict[str, object], message: str) -> None:
    options = {"n_people": 2, "n_per_person": 1, "size": 16, "random_state": 0, **change}
    with pytest.raises(InputError, match=message):
        make_faces(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("batch_size", [0, -3, 1.5, None])
def test_a_bad_batch_is_refused_at_once(batch_size: object) -> None:
    with pytest.raises(InputError, match="batch_size"):
        iter_faces(batch_size, 2, 2, size=16)  # type: ignore[arg-type]
