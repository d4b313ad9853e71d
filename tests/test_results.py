"""The results pages show what the papers' commands measured, and nothing else."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mien.reports import Report, plot_curves, plot_scatter
from papers.__main__ import list_papers
from papers._command import spell_command
from tests.extras import missing_extra

ROOT = Path(__file__).parents[1]
DATA = sorted((ROOT / "docs" / "results" / "data").glob("*.json"))
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


make_results = _load("make_results")


def _numbers(text: str) -> set[str]:
    """Numbers with a fraction: those that somebody measured."""
    return set(re.findall(r"\d+\.\d+", text.replace(",", "")))


def _rows(page: str) -> list[list[str]]:
    lines = [line for line in page.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.mark.parametrize("file", DATA, ids=lambda file: file.stem)
def test_data_name_their_command(file: Path) -> None:
    one = json.loads(file.read_text(encoding="utf-8"))
    assert one["paper"] in list_papers()
    assert file.stem == one["paper"] or file.stem.startswith(one["paper"] + "-")
    assert one["command"].startswith(f"python -m papers {one['paper']}")
    assert one.get("earlier", False) == file.stem.endswith("-earlier")
    assert one["quick"] == ("--quick" in one["command"])
    assert any(part["kind"] == "table" for part in one["parts"])
    assert all(part["kind"] in {"heading", "text", "table", "figure"} for part in one["parts"])
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"/(tmp|home|work|root|Users)/", text), "a path of somebody's machine"
    assert file.stat().st_size < 600_000


def test_a_page_shows_only_what_is_in_the_data(tmp_path: Path) -> None:
    if reason := missing_extra("plots"):
        pytest.skip(reason)
    for name, results in make_results.load_results().items():
        page = make_results.render_page(name, results, "about", tmp_path / name)
        known = {number for one in results for number in _flat(one)}
        for row in _rows(page):
            for number in _numbers(" ".join(row)):
                digits = len(number.partition(".")[2])
                near = any(f"{value:.{digits}f}" == number for value in known)
                assert near or any(number in word for word in _words(results)), (name, number)
        for one in results:
            assert one["command"] in page
            for part in one["parts"]:
                assert part["kind"] != "table" or len(part["rows"]) <= len(_rows(page))


def _flat(value: Any) -> set[float]:
    """All numbers in data, without signs."""
    if isinstance(value, dict):
        return set().union(*map(_flat, value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*map(_flat, value)) if value else set()
    return {abs(value)} if isinstance(value, float) else set()


def _words(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set().union(*map(_words, value.values()), value.keys())
    if isinstance(value, list):
        return set().union(*map(_words, value)) if value else set()
    return {value} if isinstance(value, str) else set()


def test_guides_have_no_typed_copy_of_a_table() -> None:
    """A table of measured numbers stands on its results page; guides tell what follows from it."""
    tables = [
        (file.stem, part["title"], row)
        for file in DATA
        for part in json.loads(file.read_text(encoding="utf-8"))["parts"]
        if part["kind"] == "table"
        for row in make_results_cells(part)
    ]
    for page in GUIDES:
        # What stands between marks was written by a command, not by hand.
        typed = re.sub(r"(?s)<!-- .*? -->.*?<!-- end -->", "", page.read_text(encoding="utf-8"))
        for row in _rows(typed):
            mine = _numbers(" ".join(row))
            for stem, title, numbers in tables:
                same = mine & numbers
                assert len(same) < 4 or len(same) < len(mine), (
                    f"{page.name} types {sorted(same)} of {stem}: {title}; link to the results page"
                )


def make_results_cells(part: dict[str, Any]) -> list[set[str]]:
    """The measured numbers of each row of a table, as they are shown and with fewer digits."""
    rows = []
    for row in _rows(make_results.render_table(part))[2:]:
        shown = _numbers(" ".join(row))
        rows.append(shown | {f"{float(n):.{d}f}" for n in shown for d in (1, 2, 3)})
    return rows


def test_what_is_drawn_is_what_was_measured() -> None:
    if reason := missing_extra("plots"):
        pytest.skip(reason)
    report = Report("Title")
    series = {"a": ([1, 2, 4], [3.0, 2.0, 1.0], [0.5, 0.25, 0.125]), "b": ([1, 2], [1.0, 2.0])}
    report.figure(plot_curves(series, "x", "y", "Curves", logx=True), "Caption", name="curves")
    report.figure(plot_scatter({"c": ([0.5, 0.25], [1.0, 3.0])}, "x", "y"), "Cloud")
    curves, cloud = json.loads(json.dumps(report.to_dict()))["parts"]
    assert (curves["title"], curves["logx"], curves["logy"]) == ("Curves", True, False)
    assert curves["series"][0]["low"] == pytest.approx([2.5, 1.75, 0.875])
    assert curves["series"][0]["high"] == pytest.approx([3.5, 2.25, 1.125])
    assert "low" not in curves["series"][1]
    assert cloud["series"][0]["points"]
    assert cloud["series"][0]["y"] == [1.0, 3.0]
    from mien.reports import figure_data

    for part in (curves, cloud):
        drawn = figure_data(make_results.draw_figure(part))
        for before, after in zip(part["series"], drawn, strict=True):
            assert before.keys() == after.keys()
            assert after["y"] == pytest.approx(before["y"])
            assert after.get("high", []) == pytest.approx(before.get("high", []))


def test_words_of_data_are_not_markup() -> None:
    part = {"title": "a_b*", "rows": [{"<b>": "x|y", "n": 0.5}], "note": "take `a_b`, not $c$"}
    text = make_results.render_table(part)
    assert r"**a\_b\***" in text
    assert r"| \<b\> | n |" in text
    assert r"x\|y" in text
    assert r"take `a_b`, not \$c\$" in text


def test_the_command_says_what_was_measured_and_no_places() -> None:
    given = ["--set", "orl", "--out=x", "--cache", "y", "--results", "z", "--json", "--quick"]
    expected = "python -m papers hallucination --set orl --cache CACHE --quick"
    assert spell_command("hallucination", given) == expected
