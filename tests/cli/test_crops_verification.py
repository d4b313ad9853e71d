"""Verification of cut-out faces and of vectors, from end to end."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mien.cli._app import app
from mien.datasets import make_faces


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("people")
    for name, camera, first, n in (("crowd", "first", 0, 24), ("mine", "second", 500, 10)):
        people = make_faces(n, 5, 64, camera=camera, first_person=first, random_state=0)
        for k, (image, person) in enumerate(zip(people.images, people.people, strict=True)):
            folder = root / name / str(person)
            folder.mkdir(parents=True, exist_ok=True)
            Image.fromarray((image * 255).astype(np.uint8)).save(folder / f"{k}.png")
    return root


def run(*arguments):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_train_adapt_verify_on_pictures(folders):
    model, adapted = folders / "crowd.mien", folders / "mine.mien"
    told = json.loads(
        run("crops", "train", "verification", folders / "crowd", "--out", model, "--json")
    )
    assert told["people"] == 24
    assert told["calibrated"]
    shown = run("crops", "adapt", model, folders / "mine", "--out", adapted, "--far", "0.0000001")
    assert "Not enough data" in shown
    assert "weight of" in shown
    people = sorted((folders / "mine").iterdir())
    same = sorted(people[0].iterdir())[:2]
    answers = [
        json.loads(run("crops", "verify", adapted, same[0], other, "--json"))
        for other in (same[1], next(people[1].iterdir()))
    ]
    assert answers[0]["same"] is None  # that rate cannot be promised
    assert "not enough data" in answers[0]["reason"]
    assert answers[0]["log_ratio"] > answers[1]["log_ratio"]
    assert 0 < answers[1]["probability"] < 1
    assert "log-likelihood ratio" in run("crops", "verify", model, *same)


def test_train_adapt_verify_on_vectors(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(60), 4)
    X = 3 * rng.standard_normal((60, 5))[y] + rng.standard_normal((240, 5))
    np.savez(tmp_path / "all.npz", X=X[:160], y=y[:160])
    np.savez(tmp_path / "few.npz", embeddings=X[160:168], people=y[160:168].astype(str))
    shown = run(
        "crops",
        "train",
        "verification",
        tmp_path / "all.npz",
        "--out",
        tmp_path / "m",
        "--far",
        0.05,
    )
    assert "fused" in shown
    shown = run("crops", "adapt", tmp_path / "m", tmp_path / "few.npz", "--out", tmp_path / "n")
    assert "Not calibrated" in shown
    for k, row in enumerate((200, 201, 204)):
        np.save(tmp_path / f"{k}.npy", X[row])
    told = json.loads(
        run("crops", "verify", tmp_path / "m", tmp_path / "0.npy", tmp_path / "1.npy", "--json")
    )
    assert told["same"] is True
    told = json.loads(
        run("crops", "verify", tmp_path / "n", tmp_path / "0.npy", tmp_path / "2.npy", "--json")
    )
    assert told["calibrated"] is False
    assert told["log_ratio"] < 0


def test_what_is_wrong_is_said(tmp_path):
    np.savez(tmp_path / "odd.npz", Z=np.ones(3))
    out = CliRunner().invoke(
        app,
        ["crops", "train", "verification", str(tmp_path / "odd.npz"), "--out", str(tmp_path / "m")],
    )
    assert "must hold vectors" in str(out.exception)
