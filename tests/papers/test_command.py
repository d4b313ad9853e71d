"""``python -m papers``: the list, one paper, and what is refused."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mien.errors import InputError
from papers.__main__ import list_papers, main

ROOT = Path(__file__).parents[2]
NAMES = sorted(path.parent.name for path in (ROOT / "papers").glob("*/__main__.py"))


def test_every_paper_is_listed_and_says_what_it_is_about() -> None:
    papers = list_papers()
    assert sorted(name.replace("-", "_") for name in papers) == NAMES
    assert all(about.endswith(".") for about in papers.values())
    assert len(set(papers.values())) == len(papers)


def test_the_list_needs_no_learner() -> None:
    code = (
        "import sys; from papers.__main__ import main; code = main([]); "
        "heavy = {'numpy', 'sklearn', 'scipy', 'typer'} & set(sys.modules); "
        "sys.exit(code or len(heavy))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert all(name.replace("_", "-") in done.stdout for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_paper_has_the_common_options(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main([name.replace("_", "-"), "--help"]) == 0
    text = capsys.readouterr().out
    for option in ("--data-home", "--out", "--json"):
        assert option in text


#: The function that does the work of a paper, where it is not `reproduce_NAME` of its report.
WORK = {
    "completion": "report:judge_completion",
    "covered": "run:train_covered",
    "other_sets": "report:compare_on_other_sets",
    "super_vector": "run:run_super_vector",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_quick_run_asks_for_something_that_exists(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``NAME --quick`` alone reaches the paper's function, with arguments that this takes."""
    module, _, function = WORK.get(name, f"report:reproduce_{name}").partition(":")
    place = importlib.import_module(f"papers.{name}.{module}")
    signature = inspect.signature(getattr(place, function))
    asked: list[dict[str, Any]] = []

    def work(*values: Any, **named: Any) -> Any:
        asked.append(signature.bind(*values, **named).arguments)
        raise InputError("far enough")

    monkeypatch.setattr(place, function, work)
    assert main([name.replace("_", "-"), "--quick"]) == 2
    assert "far enough" in capsys.readouterr().err
    assert len(asked) == 1


def test_what_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gravity"]) == 2
    assert "there is no paper 'gravity'; there are committee" in capsys.readouterr().err
    assert main(["transfer", "--domain", "moon"]) == 2
    assert "there is no domain 'moon'" in capsys.readouterr().err
    assert main(["weak-labels", "--part", "mnist"]) == 2
    assert "there is no part 'mnist'; there are yale" in capsys.readouterr().err.replace("\n", " ")


def test_options_without_effect_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for options, words in (
        (["--cards", "cards.md"], "--cards has no effect"),
        (["--shift", "orl"], "without --cache"),
        (["--train", "models", "--shift", "orl"], "--shift has no effect with --train"),
    ):
        assert main(["source-models", *options]) == 2
        assert words in capsys.readouterr().err.replace("\n", " ")
