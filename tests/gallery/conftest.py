"""Fixtures of this room; its tests import ``gallery_people``."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from gallery_people import make_verifier

from mien.gallery import Gallery
from mien.verification import Verifier


@pytest.fixture(scope="session")
def verifier() -> Verifier:
    return make_verifier()


@pytest.fixture
def gallery(tmp_path: Path, verifier: Verifier) -> Iterator[Gallery]:
    with Gallery.create(tmp_path / "people.gallery", verifier) as made:
        yield made
