"""The walk of the first hour: its table says what a command said, and whether it should have."""

from __future__ import annotations

from pathlib import Path

from benchmarks.first_hour import STEPS, Done, Step, choose_line, make_tables, walk_step
from mien.cli._app import app


def test_the_line_that_is_shown() -> None:
    text = "\n  searching\n3 files: 2 faces\nGallery: g\n"
    assert choose_line(text, "faces") == "3 files: 2 faces"
    assert choose_line(text, "nowhere") == "searching"
    assert choose_line("", "x") == ""


def test_every_step_is_a_verb_of_mien() -> None:
    import typer

    group = typer.main.get_command(app)
    verbs = {step.command.split()[1] for step in STEPS}
    assert verbs <= set(group.list_commands(None))  # type: ignore[attr-defined]
    assert len(verbs) >= 11


def test_a_step_that_goes_wrong_is_marked(tmp_path: Path) -> None:
    done = walk_step(Step("mien verify nosuch.jpg other.jpg", "nosuch", 2), tmp_path)
    assert done.code == 2
    assert "nosuch.jpg" in done.said
    assert done.processor > 0
    wrong = Done("mien x", "a | b", 1.25, 2.0, 1, 0)
    (table,) = make_tables([done, wrong]).values()
    assert "| `mien x` | a \\| b | 1.2 | 1, expected 0 |" in table
    assert "| together | 2 commands |" in table
