"""One wrong face is taken out or moved, and everything but deleting is undone."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from mien.cli._app import app
from mien.errors import InputError
from mien.gallery import Gallery
from mien.verification import Verifier


@pytest.fixture
def place(tmp_path: Path, verifier: Verifier) -> str:
    with Gallery.create(tmp_path / "g", verifier) as gallery:
        for i, name in enumerate(("Ann", "Bob")):
            digests = [hashlib.sha256(f"{i} {j}".encode()).hexdigest() for j in range(3)]
            sources = [f"{name}/{j}.jpg" for j in range(3)]
            gallery.enrol(name, np.eye(8)[3 * i : 3 * i + 3], digests=digests, sources=sources)
    return str(tmp_path / "g")


def run(*words: str, code: int = 0) -> Any:
    result = CliRunner().invoke(app, [*words])
    if code == 0 and result.exception is not None:
        raise result.exception
    assert result.exit_code == code, result.output
    return json.loads(result.stdout) if "--json" in words else result.output


def count(place: str) -> dict[str, int]:
    with Gallery.open(place, read_only=True) as gallery:
        return {person.name: person.templates for person in gallery.people()}


def test_a_face_is_taken_out_and_comes_back(place: str) -> None:
    told = run("people", "faces", "Ann", "-g", place, "--json")
    wrong = next(face for face in told["faces"] if face["source"] == "Ann/1.jpg")
    assert wrong["id"][:8] in run("people", "faces", "Ann", "-g", place)
    run("people", "remove-face", wrong["id"][:8], "-g", place)
    assert count(place) == {"Ann": 2, "Bob": 3}
    assert "taken out" in run("gallery", "history", "-g", place)
    assert "undone" in run("gallery", "undo", "-g", place)
    again = run("people", "faces", "Ann", "-g", place, "--json")
    assert {face["id"] for face in again["faces"]} == {face["id"] for face in told["faces"]}


def test_a_face_is_moved_and_comes_back(place: str) -> None:
    (face, *_) = run("people", "faces", "Ann", "-g", place, "--json")["faces"]
    run("people", "move-face", face["id"], "--to", "Cy", "-g", place)
    assert count(place) == {"Ann": 2, "Bob": 3, "Cy": 1}
    run("gallery", "undo", "-g", place)
    assert count(place) == {"Ann": 3, "Bob": 3}


def test_merging_renaming_and_enrolling_are_undone_back_to_a_change(place: str) -> None:
    run("people", "rename", "Ann", "Anna", "-g", place)
    run("people", "merge", "Bob", "Anna", "-g", place, "--yes")
    assert count(place) == {"Anna": 6}
    changes = run("gallery", "history", "-g", place, "--json")["changes"]
    assert [change["action"] for change in changes] == ["merge", "rename", "enrol", "enrol"]
    run("gallery", "undo", "--to", str(changes[1]["number"]), "-g", place)
    assert count(place) == {"Ann": 3, "Bob": 3}
    undone = run("gallery", "undo", "--to", str(changes[2]["number"]), "-g", place, "--json")
    assert [change["names"] for change in undone["undone"]] == [["Bob"]]
    assert count(place) == {"Ann": 3}


def test_what_cannot_be_undone_is_said(place: str) -> None:
    run("people", "delete", "Ann", "-g", place, "--yes")
    run("gallery", "undo", "-g", place)
    run("gallery", "undo", "-g", place)
    assert "Ann" not in count(place)
    with pytest.raises(InputError, match="can be undone"):
        run("gallery", "undo", "-g", place)
    with pytest.raises(InputError, match="no face"):
        run("people", "remove-face", "zz", "-g", place)
