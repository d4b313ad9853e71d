"""Completers of cut-out faces that lean on faces of others."""

from __future__ import annotations

from pathlib import Path

import pytest

import mien
from mien.completion import FaceCompleter, PCACompleter
from mien.crops import train_completer
from mien.crops._completion import _load_foreign
from mien.datasets import make_faces
from mien.errors import InputError
from mien.media import write_image


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of ten people, and a model of others beside it."""
    place = tmp_path_factory.mktemp("faces")
    faces = make_faces(10, 4, size=16, random_state=0)
    for n, (image, person) in enumerate(zip(faces.images, faces.people, strict=True)):
        folder = place / "mine" / f"person-{person}"
        folder.mkdir(parents=True, exist_ok=True)
        write_image(folder / f"{n}.png", image)
    others = make_faces(100, 4, size=16, random_state=1).images
    mien.save(FaceCompleter("ridge", cover="lower").fit(others), place / "others.mien")
    mien.save(FaceCompleter(PCACompleter(4)).fit(others[:40]), place / "pca.mien")
    return place


def test_few_faces_lean_on_those_of_others(place: Path) -> None:
    model, n_faces = train_completer(
        place / "mine", completer="ridge", size=16, shift=1, foreign=place / "others.mien"
    )
    assert n_faces == 40
    assert model.shift == 1
    assert model.completer_.foreign_share_ > 0
    alone, _ = train_completer(place / "mine", completer="ridge", size=16)
    asked = make_faces(50, 2, size=16, random_state=2).images
    flat = asked.reshape(len(asked), -1)
    assert model.completer_.score(flat) > alone.completer_.score(flat)


def test_what_cannot_be_leaned_on_is_refused(place: Path) -> None:
    with pytest.raises(InputError, match="learn with the size 64"):
        train_completer(place / "mine", completer="ridge", foreign="shipped")
    with pytest.raises(InputError, match="keeps no covariance"):
        train_completer(place / "mine", completer="ridge", size=16, foreign=place / "pca.mien")
    with pytest.raises(InputError, match="cannot learn beside"):
        train_completer(place / "mine", completer="pca", size=16, foreign=place / "others.mien")


def test_the_shipped_model_can_be_leaned_on() -> None:
    model = _load_foreign("shipped", 64)
    covariance = model.completer_._covariance()
    assert covariance.shape == (64**2, 64**2)
    assert covariance.diagonal().min() > 0
