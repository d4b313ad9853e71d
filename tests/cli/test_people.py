"""``mien people`` as it is typed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mien.cli._app import app
from mien.errors import InputError, MissingDataError
from mien.gallery import Gallery
from mien.verification import Verifier

run = CliRunner()


@pytest.fixture
def path(tmp_path: Path, verifier: Verifier) -> str:
    with Gallery.create(tmp_path / "people.gallery", verifier) as gallery:
        for i, name in enumerate(("Ann", "[bold]Bob", "Zoë")):
            digests = [hashlib.sha256(f"{i} {j}".encode()).hexdigest() for j in range(i + 1)]
            gallery.enrol(name, np.eye(8)[: i + 1], digests=digests)
    return str(tmp_path / "people.gallery")


def _names(path: str) -> dict[str, int]:
    with Gallery.open(path, read_only=True) as gallery:
        return {person.name: person.templates for person in gallery.people()}


def test_list(path: str) -> None:
    shown = run.invoke(app, ["people", "list", "--gallery", path])
    assert shown.exit_code == 0, shown.output
    assert "[bold]Bob" in shown.output
    assert "3 people with 6 faces" in shown.output
    answer = json.loads(run.invoke(app, ["people", "list", "-g", path, "--json"]).stdout)
    assert [(row["name"], row["faces"]) for row in answer["people"]] == [
        ("[bold]Bob", 2),
        ("Ann", 1),
        ("Zoë", 3),
    ]
    assert answer["features"] == "drawn"


def test_a_long_name_is_not_folded_when_piped(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    name = "Wilhelmina " * 9 + "Ann"
    run.invoke(app, ["people", "rename", "Ann", name, "-g", path])
    shown = run.invoke(app, ["people", "list", "--gallery", path]).output
    assert name in shown


def test_rename_and_merge(path: str) -> None:
    done = run.invoke(app, ["people", "rename", "Ann", "Anna", "-g", path])
    assert done.output == "Ann is now Anna\n"
    asked = run.invoke(app, ["people", "merge", "Zoë", "Anna", "-g", path], input="n\n")
    assert asked.exit_code == 1
    assert "Give 3 faces of Zoë to Anna, who has 1 face, and remove Zoë?" in asked.output
    assert "Zoë" in _names(path)
    done = run.invoke(app, ["people", "merge", "Zoë", "Anna", "-g", path, "--yes", "--json"])
    assert json.loads(done.stdout) == {"merged": "Zoë", "into": "Anna", "faces": 3}
    assert _names(path) == {"Anna": 4, "[bold]Bob": 2}


def test_delete_asks_first(path: str) -> None:
    asked = run.invoke(app, ["people", "delete", "Zoë", "-g", path], input="n\n")
    assert asked.exit_code == 1
    assert "Delete Zoë and 3 faces for good?" in asked.output
    assert "Zoë" in _names(path)
    assert run.invoke(app, ["people", "delete", "Zoë", "-g", path], input="y\n").exit_code == 0
    done = run.invoke(app, ["people", "delete", "Ann", "-g", path, "--yes", "--json"])
    assert json.loads(done.stdout) == {"deleted": "Ann", "faces": 1}
    assert _names(path) == {"[bold]Bob": 2}


def test_errors_are_sentences(path: str, tmp_path: Path) -> None:
    gone = run.invoke(app, ["people", "delete", "Nobody", "-g", path, "--yes"])
    assert isinstance(gone.exception, InputError)
    none = run.invoke(app, ["people", "list", "-g", str(tmp_path / "none")])
    assert isinstance(none.exception, MissingDataError)


def test_a_passphrase_is_asked_for(tmp_path: Path, verifier: Verifier) -> None:
    path = tmp_path / "sealed.gallery"
    Gallery.create(path, verifier, key="open sesame").close()
    right = run.invoke(
        app, ["people", "list", "-g", str(path), "--passphrase"], input="open sesame\n"
    )
    assert "0 people with 0 faces" in right.output
    assert "open sesame" not in right.output
    wrong = run.invoke(app, ["people", "list", "-g", str(path), "--passphrase"], input="x\n")
    assert "does not fit" in str(wrong.exception)


def test_an_adaptation_is_taken_back(path: str, verifier: Verifier) -> None:
    from mien.gallery import FaceModel

    with Gallery.open(path) as gallery:
        gallery.set_model(FaceModel("", verifier, {"name": "second"}))
        gallery.set_model(FaceModel("", verifier, {"name": "third"}))
    words = ["adapt", "--revert", "-g", path, "--json"]
    told = [json.loads(run.invoke(app, words).stdout)["reverted to"] for _ in range(2)]
    assert told == ["second", "third"]
    with Gallery.open(path) as gallery:
        assert gallery.model.card["name"] == "third"
        assert gallery.check() == []


def test_a_new_passphrase_is_asked_twice() -> None:
    import typer

    from mien.cli._options import ask_key

    asking = typer.Typer()

    @asking.command()
    def ask() -> None:
        typer.echo(f"got {ask_key(True, new=True)}")

    typed = ["four or five words", "four or six words", "right words here", "right words here"]
    answer = run.invoke(asking, input="\n".join(typed) + "\n")
    assert "got right words here" in answer.stdout
    assert "four or" not in answer.output
    assert run.invoke(asking, input="only once\n").exit_code != 0
