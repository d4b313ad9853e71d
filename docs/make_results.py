"""Writes results/*.md from results/data/*.json when pages are built.

The data are what ``python -m papers NAME … --results docs/results/data/NAME.json`` measured:
tables, figures as series of numbers, and the command. ``python docs/make_results.py`` writes the
pages by hand. A number changes when its command is run again; data marked "earlier" were taken over
from tables that an earlier run had printed.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "results"
DATA = HERE / "data"
FIGURES = "figures"
#: What is said of results that are not those of the whole command on the code as it is.
NOTES = {
    "quick": "This is the small version of the command (`--quick`): fewer people and draws, so "
    "wider intervals than the whole one has.",
    "earlier": "Recorded from an earlier run of this command, as it was printed then. It goes when "
    "the command is run again with `--results`.",
}

#: Options that say how much or where, not what.
_AMOUNTS = {"--quick", "--cache", "--draws", "--splits", "--repetitions", "--covers"}

sys.path.insert(0, str(Path(__file__).parents[1]))


def load_results(folder: Path = DATA) -> dict[str, list[dict[str, Any]]]:
    """The results of each paper: its commands, whole runs first, earlier ones last."""
    found: dict[str, list[dict[str, Any]]] = {}
    for file in sorted(folder.glob("*.json")):
        one = json.loads(file.read_text(encoding="utf-8"))
        found.setdefault(one["paper"], []).append(one)
    for results in found.values():
        results.sort(key=lambda one: ("whole", "small", "earlier").index(name_run(one)))
    return found


def name_run(one: dict[str, Any]) -> str:
    """Whole, small (``--quick``), or earlier."""
    return "earlier" if one.get("earlier") else "small" if one["quick"] else "whole"


def _escape(text: str) -> str:
    """Words as Markdown shows them: nothing in them is markup, but backticks are code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"([\\*_{}\[\]<>#|$~])", r"\\\1", part)
        for part in parts
    )


def render_table(part: dict[str, Any]) -> str:
    """A table of a report: numbers to the right, each column with one number of decimals."""
    from mien.reports._parts import Rows

    table = Rows(part["title"], part["rows"], part["note"])
    right = [table.is_numeric(column) for column in table.columns]
    lines = [[_escape(name) for name in table.columns]]
    lines.append(["--:" if is_right else ":--" for is_right in right])
    lines += [[_escape(cell) for cell in row] for row in table.cells()]
    rows = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    title = f"**{_escape(part['title'])}**" if part["title"] else ""
    return "\n\n".join(text for text in (title, rows, _escape(part["note"])) if text)


def draw_figure(part: dict[str, Any]) -> Any:
    """A figure of a report from its series; None where it has none, as bars of a table do."""
    import numpy as np

    from mien.reports import plot_curves, plot_scatter

    series = [one for one in part["series"] if len(one["x"]) == len(one["y"])]
    if not series:
        return None
    words = (series[0]["xlabel"], series[0]["ylabel"], part.get("title", ""))
    if all(one.get("points") for one in series):
        return plot_scatter({one["name"]: (one["x"], one["y"]) for one in series}, *words)
    curves: dict[str, tuple[Any, ...]] = {}
    for one in series:
        x, y = np.asarray(one["x"], dtype=float), np.asarray(one["y"], dtype=float)
        curves[one["name"]] = (x, y)
        if "low" in one:
            curves[one["name"]] = (x, y, np.stack([y - one["low"], one["high"] - y]))
    figure = plot_curves(curves, *words, logx=part.get("logx", False))
    if part.get("logy"):
        figure.axes[0].set_yscale("log")
    return figure


def _render_figure(part: dict[str, Any], name: str, folder: Path) -> str | None:
    from mien.reports import figure_to_svg

    place = f"../_static/{part.get('file')}"  # an earlier run left the picture and no series
    if "file" not in part:
        figure = draw_figure(part)
        if figure is None:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        svg = figure_to_svg(figure, name, standalone=True)
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
        place = f"{FIGURES}/{name}.svg"
    caption = _escape(part["caption"])
    words = " ".join(part["alt"].split()).replace('"', "'")
    return f"```{{figure}} {place}\n:alt: {words}\n\n{caption}\n```"


def _render_parts(one: dict[str, Any], name: str, folder: Path, level: int) -> Iterator[str]:
    for number, part in enumerate(one["parts"]):
        if part["kind"] == "heading":
            yield f"{'#' * level} {_escape(part['text'])}"
        elif part["kind"] == "text":
            yield _escape(part["text"]).replace("•", "-", 1)
        elif part["kind"] == "table":
            yield render_table(part)
        else:
            shown = _render_figure(part, f"{name}-{number}", folder)
            if shown is not None:
                yield shown


def _head_run(one: dict[str, Any]) -> str:
    """The heading of one of several runs: its kind, and the options that say what was run."""
    given = re.findall(r"--\S+(?: (?!--)\S+)?", one["command"])
    options = [words for words in given if words.split()[0] not in _AMOUNTS]
    kind = f"## {name_run(one).capitalize()} run"
    # The whole command is below: of many options, the first is the part.
    return f"{kind}: `{' '.join(options[: 2 if len(options) < 3 else 1])}`" if options else kind


def render_page(name: str, results: list[dict[str, Any]], about: str, folder: Path) -> str:
    """The page of a paper: each command with what it printed."""
    if not results:
        command = f"python -m papers {name} --results docs/results/data/{name}.json"
        words = f"Not run for these pages yet. This command makes the page:\n\n```\n{command}\n```"
        return f"# {_escape(about.rstrip('.'))}\n\n{words}\n"
    shown = [f"# {results[0]['title']}", _escape(about)]
    for place, one in enumerate(results):
        if len(results) > 1:
            shown.append(_head_run(one))
        shown += [_escape(one["subtitle"] or one["title"]), f"```\n{one['command']}\n```"]
        shown += [words for key, words in NOTES.items() if one.get(key)]
        level = 3 if len(results) > 1 else 2
        shown += list(_render_parts(one, f"{name}-{place}", folder, level))
    return "\n\n".join(shown) + "\n"


def render_index(found: dict[str, list[dict[str, Any]]], about: dict[str, str]) -> str:
    """The list of papers, and which of them have results here."""
    rows = []
    for name, words in about.items():
        results = found.get(name, [])
        sizes = [name_run(one) for one in results]
        words_of = name.replace("-", " ").capitalize()
        title = f"[{results[0]['title'] if results else words_of}]({name}.md)"
        what = ", ".join(dict.fromkeys(sizes)) or "not run for these pages"
        rows.append(f"| {title} | {_escape(words)} | {what} |")
    listed = "\n".join(about)
    return (
        "# Results\n\n"
        "What `python -m papers` measured, with the numbers of the papers beside ours where the "
        "papers print any. The pages are rendered from data when the documentation is built. "
        "*Whole* is the command as it stands and *small* its `--quick` version: the command wrote "
        "the data. *Earlier* is an earlier run: its numbers were taken over from tables that were "
        "printed then. Times are on [another page](../speed.md).\n\n"
        "| results | about | runs |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n\n"
        f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
    )


def write_all(place: Path = HERE, data: Path = DATA) -> list[Path]:
    """Write every page anew; a paper without data has a page that says so."""
    from papers.__main__ import list_papers

    about, found = list_papers(), load_results(data)
    place.mkdir(parents=True, exist_ok=True)
    for old in place.glob("*.md"):
        old.unlink()
    shutil.rmtree(place / FIGURES, ignore_errors=True)
    pages = {"index": render_index(found, about)}
    for name, words in about.items():
        pages[name] = render_page(name, found.get(name, []), words, place / FIGURES)
    written = []
    for name, text in pages.items():
        (place / f"{name}.md").write_text(text, encoding="utf-8")
        written.append(place / f"{name}.md")
    return written


if __name__ == "__main__":
    for page in write_all():
        print(page)
