"""``mien crops cluster`` from the terminal's side."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mien.cli._app import app
from mien.datasets import make_faces
from mien.errors import MienError
from mien.evaluation import pairwise_purity_accuracy
from mien.media import write_image

N_PEOPLE, N_EACH = 5, 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rendered people; the first three pictures of each are a track, the next two another."""
    root = tmp_path_factory.mktemp("cluster")
    faces = make_faces(N_PEOPLE, N_EACH, 48, random_state=3)
    (root / "faces").mkdir()
    with (root / "tracks.csv").open("w", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(["file", "group", "picture"])
        for k, (image, person) in enumerate(zip(faces.images, faces.people, strict=True)):
            name, place = f"{k:03d}.png", k % N_EACH
            write_image(root / "faces" / name, image)
            track = "" if place == 5 else f"{person}-{'a' if place < 3 else 'b'}"
            writer.writerow([name, track, f"frame {place}"])
    (root / "people.json").write_text(json.dumps([str(person) for person in faces.people]))
    return root


def test_writes_a_folder_per_person_and_the_table(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "people"
    arguments = ["crops", "cluster", str(folder / "faces"), "--groups", str(folder / "tracks.csv")]
    result = CliRunner().invoke(app, [*arguments, "--people", str(N_PEOPLE), "--out", str(out)])
    assert result.exit_code == 0, result.output
    with (out / "faces.csv").open(newline="") as lines:
        table = list(csv.DictReader(lines))
    assert len(table) == N_PEOPLE * N_EACH
    clusters = np.array([row["person"] for row in table])
    people = np.array(json.loads((folder / "people.json").read_text()))
    purity, accuracy = pairwise_purity_accuracy(people, clusters)
    assert purity > 0.7
    assert accuracy > 0.7
    assert len(list(out.rglob("*.png"))) == N_PEOPLE * N_EACH
    groups = {row["group"]: row["person"] for row in table if row["group"]}
    assert all(groups[row["group"]] == row["person"] for row in table if row["group"])
    # Faces of one frame are two people.
    for place in range(N_EACH):
        assert len(set(clusters[place::N_EACH])) == N_PEOPLE


def test_json_links_and_the_number_of_people_by_itself(folder: Path, tmp_path: Path) -> None:
    arguments = [
        "crops",
        "cluster",
        str(folder / "faces"),
        "--groups",
        str(folder / "tracks.csv"),
        "--json",
    ]
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "linked")])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert sum(found["sizes"]) == found["faces"] == N_PEOPLE * N_EACH
    assert found["skipped"] == []
    link = next((tmp_path / "linked").rglob("*.png"))
    assert link.is_symlink()
    assert link.resolve().is_file()


def test_mistakes_are_named(folder: Path, tmp_path: Path) -> None:
    def fails(*arguments: str) -> str:
        result = CliRunner().invoke(app, ["crops", "cluster", *arguments])
        assert isinstance(result.exception, MienError)
        return str(result.exception)

    faces, tracks = str(folder / "faces"), str(folder / "tracks.csv")
    assert "not a folder" in fails(str(tmp_path / "nowhere"), "--groups", tracks)
    assert "does not exist" in fails(faces, "--groups", str(tmp_path / "no.csv"))
    (tmp_path / "bad.csv").write_text("name,group\n000.png,1\n")
    assert "no column 'file'" in fails(faces, "--groups", str(tmp_path / "bad.csv"))
    (tmp_path / "other.csv").write_text("file,group\nx.png,1\n")
    assert "none of the" in fails(faces, "--groups", str(tmp_path / "other.csv"))
    (tmp_path / "half.csv").write_text("file,frame,x\n000.png,1,2\n")
    assert "tracks are made" in fails(faces, "--groups", str(tmp_path / "half.csv"))
    assert "leave it out" in fails(
        faces, "--groups", tracks, "--method", "null-space", "--seed", "1"
    )
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    assert "not empty" in fails(
        faces, "--groups", tracks, "--people", "5", "--out", str(tmp_path / "full")
    )
