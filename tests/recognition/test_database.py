"""Every verb takes the address of a gallery in PostgreSQL where it takes a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks.postgres import PostgresServer
from mien.cli._app import app
from mien.errors import GalleryKeyError, InputError, MissingDataError
from mien.gallery import Gallery

WORDS = "open sesame, four words"
OTHER = "quite another set of words"


def run(*arguments: Any, code: int = 0, words: str = "") -> Any:
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"], input=words)
    if code == 0 and result.exception is not None:
        raise result.exception
    assert result.exit_code == code, (result.output, result.exception)
    return json.loads(result.stdout)


def test_every_verb(
    database: PostgresServer, album: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    address = f"{database.address}&gallery=verbs"
    g = ("--gallery", address)
    with pytest.raises(MissingDataError):
        run("people", "list", *g)
    told = run("enrol", album, *g, "--jobs", 1, code=1)
    assert told["added"] == 18
    assert run("enrol", album, *g, "--jobs", 1, code=1)["added"] == 0
    told = run("adapt", album, *g, "--out", tmp_path / "m.mien", "--jobs", 1, code=1)
    assert told["replaced"]
    picture = album / "Cleo" / "0.png"
    told = run("identify", picture, *g, "--fpir", 0.3, "--jobs", 1, "--remember")
    assert "Cleo" in json.dumps(told)
    assert str(picture) in json.dumps(run("find", "Cleo", *g))
    assert run("gallery", "forget", *g)
    run("cluster", album / "Dan", *g, "--out", tmp_path / "sorted", "--jobs", 1)
    assert any((tmp_path / "sorted").iterdir())
    names = {p["name"]: p for p in run("people", "list", *g)["people"]}
    assert len(names) == 6
    run("people", "rename", "Ann", "Anna", *g)
    run("people", "merge", "Fay", "Eve", *g, "--yes")
    run("gallery", "undo", *g)
    assert run("gallery", "history", *g)
    face = run("people", "faces", "Bob", *g)["faces"][0]["id"]
    run("people", "move-face", face, "--to", "Dan", *g)
    run("people", "remove-face", face, *g)
    assert run("people", "export", "Anna", *g)["name"] == "Anna"
    run("people", "delete", "Eve", *g, "--yes")
    assert run("people", "purge", *g, "--dry-run")["due"] == []
    assert run("gallery", "check", *g, "--fpir", 0.05)
    # Nothing was written where a file would have its companions.
    assert not list(tmp_path.glob("postgresql*"))
    target = f"{database.address}&gallery=moved"
    run("gallery", "move", address, target, "--seal", words=f"{WORDS}\n" * 2)
    with pytest.raises(InputError, match="is not sealed"):
        run("gallery", "rotate", *g)
    g = ("--gallery", target)
    assert run("gallery", "rotate", *g, words=f"{WORDS}\n")["templates"] > 10
    run("gallery", "change-key", *g, words=f"{WORDS}\n{OTHER}\n{OTHER}\n")
    with pytest.raises(GalleryKeyError):
        Gallery.open(target, key=WORDS)
    told = run("identify", picture, *g, "--fpir", 0.3, "--jobs", 1, "--passphrase",
               words=f"{OTHER}\n")  # fmt: skip
    assert "Cleo" in json.dumps(told)
    with Gallery.open(target, key=OTHER, read_only=True) as gallery:
        assert gallery.rotated
        assert gallery.check() == []
