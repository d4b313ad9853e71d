"""Faces at every size and in every turn, engines that stay warm, crowds that are cut short."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mien.faces import (
    Face,
    FaceEngine,
    analyse_image,
    analyse_pictures,
    borrow_engine,
    detect_faces,
    load_engine,
)
from mien.faces import _engines as engines_module
from mien.faces._detection import find_turn, turn_face
from mien.faces._sface import _agree, _merge
from mien.media import resize_images, write_image


def _scaled(image: np.ndarray, longest: int) -> np.ndarray:
    height, width = image.shape[:2]
    scale = longest / max(height, width)
    return resize_images(image[None], (round(height * scale), round(width * scale)))[0]


@pytest.mark.parametrize("longest", [1000, 1600, 2500])
def test_close_ups_are_found(longest: int, sface: FaceEngine, astronaut: np.ndarray) -> None:
    """A head that fills its picture, which the network does not see at full size."""
    head = _scaled(astronaut[55:185, 160:290], longest)
    (found,) = sface.detect(head)
    centre = found.box[:2] + found.box[2:] / 2
    assert np.abs(centre / np.array(head.shape[1::-1]) - 0.5).max() < 0.15
    assert found.box[2] > 0.4 * longest


@pytest.mark.parametrize("longest", [32, 40, 60])
def test_tiny_pictures_are_enlarged(longest: int, sface: FaceEngine, astronaut: np.ndarray) -> None:
    tiny = _scaled(astronaut[20:260, 110:350], longest)
    (found,) = sface.detect(tiny)
    truth = sface.detect(astronaut[20:260, 110:350])[0]
    np.testing.assert_allclose(
        found.landmarks, truth.landmarks * longest / 240, atol=0.05 * longest
    )


def test_small_pictures_without_a_face_are_looked_at_again() -> None:
    engine: Any = load_engine("sface")
    asked: list[float] = []

    def search(image: np.ndarray, factor: float) -> list[Face]:
        asked.append(factor)
        return []

    engine._search = search
    for side in (300, 400):
        engine.detect(np.zeros((side, side, 3), np.uint8))
    assert asked == [1.0, 1.0, 1.5, 2.0, 1.0]
    engine.second_look = False
    asked.clear()
    engine.detect(np.zeros((300, 300, 3), np.uint8))
    assert len(asked) == 1


def test_the_second_look_wants_several_sizes_to_agree() -> None:
    points = np.array([[0.3, 0.4], [0.7, 0.4], [0.5, 0.6], [0.35, 0.8], [0.65, 0.8]])

    def face(left: float, confidence: float) -> Face:
        return Face([left, 10, 50, 60], points * 50 + [left, 10], confidence)

    found = _agree([[face(10, 0.4)], [face(12, 0.6), face(150, 0.9)], [face(9, 0.5)]])
    assert [round(one.confidence, 6) for one in found] == [0.5]
    assert found[0].box[0] == 12  # as the most certain of the three shows it
    assert _agree([[], [face(10, 0.9)], []]) == []
    assert _agree([[], [face(10, 0.9)], [face(10, 0.8)]])[0].confidence > 0.5
    assert _agree([[], [], []]) == []


def test_a_face_of_two_scales_is_one_face() -> None:
    points = np.array([[0.3, 0.4], [0.7, 0.4], [0.5, 0.6], [0.35, 0.8], [0.65, 0.8]])

    def face(left: float, side: float, confidence: float) -> Face:
        return Face([left, 10, side, side], points * side + [left, 10], confidence)

    small, large = face(10, 100, 0.8), face(300, 600, 0.8)
    small_again, large_again, alone = face(14, 104, 0.9), face(310, 590, 0.9), face(1200, 300, 0.7)
    kept = _merge([small, large], [small_again, large_again, alone], large=240)
    assert kept == [small, large_again, alone]
    assert _merge([], [alone], large=240) == [alone]
    assert _merge([large], [], large=240) == [large]


@pytest.mark.parametrize("turn", [1, 2, 3])
@pytest.mark.parametrize("engine", ["sface", "dlib_engine"])
def test_turned_pictures_give_the_vector_of_the_upright_one(
    engine: str, turn: int, astronaut: np.ndarray, request: pytest.FixtureRequest
) -> None:
    """Upside down, the vector used to be that of somebody else."""
    engine = request.getfixturevalue(engine)
    upright = analyse_image(astronaut, engine, keep_crops=True)[0]
    turned = np.ascontiguousarray(np.rot90(astronaut, turn))
    found = analyse_image(turned, engine, keep_crops=True)
    assert len(found) == 1
    assert found[0].vector @ upright.vector > 0.95
    back = turn_face(found[0].face, turned.shape[:2], -turn)
    np.testing.assert_allclose(back.landmarks, upright.face.landmarks, atol=4)
    difference = np.abs(found[0].crop.astype(int) - upright.crop).mean()
    assert difference < 6
    assert find_turn(found[0].face) == -turn % 4
    assert all(f.vector @ upright.vector < 0.5 for f in analyse_image(turned, engine, turns=False))


@pytest.mark.parametrize("degrees", [-45, -30, 20, 30, 45, 120, 210])
def test_tilted_heads_give_the_vector_of_the_upright_one(
    degrees: int, sface: FaceEngine, astronaut: np.ndarray
) -> None:
    """The network's landmarks of a head tilted by 45 degrees lie nearly upright."""
    head = Image.fromarray(astronaut[:300, 90:390])
    upright = analyse_image(np.asarray(head), sface)[0]
    turned = head.rotate(degrees, resample=Image.Resampling.BICUBIC, expand=True)
    found = analyse_image(np.asarray(turned), sface)[0]
    assert found.vector @ upright.vector > 0.85
    across = found.face.landmarks[1] - found.face.landmarks[0]
    angle = -np.degrees(np.arctan2(across[1], across[0])) - degrees
    assert abs((angle + 180) % 360 - 180) < 12


@pytest.mark.parametrize("best", [-75.0, -20.0, 0.0, 8.0, 35.0, 60.0])
def test_the_angle_is_where_the_confidence_is_highest(best: float) -> None:
    """An engine whose landmarks always lie level, and whose confidence tells the angle."""
    points = np.array([[38, 52], [74, 52], [56, 72], [42, 92], [71, 92]]) / 112
    looked: list[np.ndarray] = []

    class Level:
        name = "sface"

        def detect(self, image: np.ndarray) -> list[Face]:
            side = image.shape[0]
            first = not looked
            looked.append(image)
            # The picture has one bright pixel to the right of its middle: where is it now?
            y, x = np.unravel_index(np.argmax(image[..., 0]), image.shape[:2])
            angle = 0.0 if first else -np.degrees(np.arctan2(y - side / 2, x - side / 2))
            away = (angle - best + 180) % 360 - 180
            confidence = 0.9 if first else 0.93 - 1e-5 * away**2
            box = [side / 4, side / 4, side / 2, side / 2]
            return [Face(box, points * side / 2 + side / 4, confidence)]

    picture = np.zeros((192, 192, 3), np.uint8)
    picture[93:100, 150:157] = 255
    (found,) = detect_faces(picture, Level())
    across = found.landmarks[1] - found.landmarks[0]
    angle = np.degrees(np.arctan2(across[1], across[0]))
    assert abs(angle - (best if abs(best) > 12 else 0)) < 3


@pytest.mark.parametrize("turn", range(-4, 5))
def test_a_face_turns_with_its_picture(turn: int) -> None:
    picture = np.zeros((40, 60), np.uint8)
    picture[10, 20] = 255
    points = [[20, 10], [30, 10], [25, 15], [22, 20], [28, 20]]
    turned = turn_face(Face([15, 5, 20, 25], points, 0.5), picture.shape, turn)
    x, y = turned.landmarks[0].astype(int)
    assert np.rot90(picture, turn)[y, x] == 255
    assert sorted(turned.box[2:]) == [20, 25]


def test_an_upright_picture_is_searched_once(sface: FaceEngine, astronaut: np.ndarray) -> None:
    searched: list[tuple[int, ...]] = []

    class Counting:
        name = "sface"

        def detect(self, image: np.ndarray) -> list[Face]:
            searched.append(image.shape)
            return sface.detect(image)

    assert len(detect_faces(astronaut, Counting())) == 1
    assert len(searched) == 1
    detect_faces(np.full((900, 1800, 3), 90, np.uint8), Counting())
    assert searched[1:] == [(900, 1800, 3), (640, 320, 3), (320, 640, 3), (640, 320, 3)]


def test_an_engine_stays_loaded_and_belongs_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[object] = []

    def load(name: str) -> object:
        loaded.append(object())
        return loaded[-1]

    monkeypatch.setattr(engines_module, "load_engine", load)
    monkeypatch.setattr(engines_module, "_idle", {})
    with borrow_engine("sface") as first, borrow_engine("sface") as second:
        assert first is not second
    with borrow_engine("sface") as third:
        assert third in (first, second)
    for _ in range(3):
        with borrow_engine("sface"):
            pass
    assert len(loaded) == 2

    def use() -> None:
        with borrow_engine("sface"):
            barrier.wait(600)

    barrier = threading.Barrier(6)
    threads = [threading.Thread(target=use) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loaded) == 6
    assert len(engines_module._idle["sface"]) == 4


def test_a_crowd_is_cut_short_with_a_word(
    tmp_path: Path, astronaut: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = _scaled(astronaut[40:200, 140:300], 80)
    write_image(tmp_path / "crowd.png", np.tile(head, (3, 4, 1)))
    whole, some = (
        next(analyse_pictures([tmp_path / "crowd.png"], n_jobs=1, max_faces=n)) for n in (None, 5)
    )
    assert len(whole.faces) == 12
    assert whole.note == ""
    assert len(some.faces) == 5
    assert some.left_out == 7
    assert some.note == "the largest 5 of 12 faces were analysed"


def test_only_the_part_around_a_face_is_converted(
    sface: FaceEngine, astronaut: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    face = sface.detect(astronaut)[0]
    alone = sface.embed(astronaut, face)
    wide = np.zeros((2000, 3000, 3), np.uint8)
    wide[700:1212, 900:1412] = astronaut
    shift = np.array([900, 700])
    box = np.concatenate([face.box[:2] + shift, face.box[2:]])
    moved = Face(box, face.landmarks + shift, face.confidence)
    shapes: list[tuple[int, ...]] = []
    convert = sface._cv2.cvtColor

    class Watched:
        def __getattr__(self, name: str) -> object:
            return getattr(cv2, name)

        def cvtColor(self, image: np.ndarray, code: int) -> np.ndarray:
            shapes.append(image.shape)
            return convert(image, code)

    cv2 = sface._cv2
    monkeypatch.setattr(sface, "_cv2", Watched())
    assert sface.embed(wide, moved) @ alone > 0.999
    assert max(shapes[0]) < 512


def test_heic_photographs_go_all_the_way(tmp_path: Path, astronaut: np.ndarray) -> None:
    heif = pytest.importorskip("pillow_heif", reason="the extra 'heif' is not installed")
    heif.register_heif_opener()
    Image.fromarray(astronaut).save(tmp_path / "a.heic", quality=90)
    Image.fromarray(astronaut).save(tmp_path / "b.avif", quality=90)
    write_image(tmp_path / "c.png", astronaut)
    paths = [tmp_path / name for name in ("a.heic", "b.avif", "c.png")]
    heic, avif, png = (result.faces[0].vector for result in analyse_pictures(paths, n_jobs=1))
    assert min(heic @ png, avif @ png) > 0.97
