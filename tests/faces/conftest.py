"""One real face that comes with scikit-image, and the engines, loaded once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import skimage.data

from mien.faces import Face, FaceEngine, load_engine
from mien.media import write_image


@pytest.fixture(scope="session")
def astronaut() -> np.ndarray:
    """A photograph of one person (NASA, public domain)."""
    return skimage.data.astronaut()


@pytest.fixture(scope="session")
def sface() -> FaceEngine:
    pytest.importorskip("cv2", reason="the extra 'faces' is not installed")
    return load_engine("sface")


@pytest.fixture(scope="session")
def dlib_engine() -> FaceEngine:
    pytest.importorskip("dlib", reason="the extra 'dlib' is not installed")
    return load_engine("dlib")


@pytest.fixture(scope="session")
def fused_engine() -> FaceEngine:
    pytest.importorskip("cv2", reason="the extra 'faces' is not installed")
    pytest.importorskip("dlib", reason="the extra 'dlib' is not installed")
    return load_engine("sface+dlib")


@pytest.fixture(scope="session")
def face(sface: FaceEngine, astronaut: np.ndarray) -> Face:
    return sface.detect(astronaut)[0]


@pytest.fixture
def album(astronaut: np.ndarray, tmp_path: Path) -> Path:
    """A folder with five pictures that can be used and five that cannot."""
    folder = tmp_path / "album"
    (folder / "below").mkdir(parents=True)
    small = astronaut[:256, 100:356]
    write_image(folder / "a.png", small)
    write_image(folder / "b.png", small[:, ::-1])
    write_image(folder / "below" / "c.jpg", small)
    write_image(folder / "nobody.png", np.full((64, 64, 3), 90, np.uint8))
    write_image(folder / "tiny.png", np.zeros((1, 1, 3), np.uint8))
    whole = (folder / "below" / "c.jpg").read_bytes()
    (folder / "half.jpg").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.png").write_bytes(b"")
    (folder / "text.jpg").write_text("not a picture")
    (folder / "noise.webp").write_bytes(bytes(range(256)))
    (folder / "lost.png").symlink_to(folder / "nothing.png")
    (folder / "notes.txt").write_text("left out by its name")
    (folder / ".hidden.png").write_bytes(b"left out")
    return folder
