"""The pages name everything that is public, and only commands that exist."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main

import mien
from mien.cli._app import app
from papers.__main__ import list_papers

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "theory").glob("*.md")),
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
]
ROOMS = [
    name for name in mien.__all__ if (ROOT / "src" / "mien" / name).is_dir() or name == "errors"
]


def _listed(page: Path) -> set[str]:
    """The names in the autosummary lists of a page, without their modules."""
    names: set[str] = set()
    inside = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.strip().startswith(".. "):
            inside = line.strip().startswith(".. autosummary::")
        elif inside and re.fullmatch(r"\s+[\w.]+", line):
            names.add(line.strip().rsplit(".", 1)[-1])
    return names


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_has_its_page(room: str) -> None:
    page = ROOT / "docs" / "api" / f"{room}.md"
    assert page.exists(), f"docs/api/{room}.md is missing"
    names = set(importlib.import_module(f"mien.{room}").__all__)
    missing = sorted(names - _listed(page))
    assert missing == [], f"not in docs/api/{room}.md: {', '.join(missing)}"


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "api").glob("*.md")), ids=lambda p: p.name)
def test_pages_list_nothing_that_is_not_there(page: Path) -> None:
    """A name on a page is one of the room's, or of one of its public modules."""
    modules = re.findall(
        r"^\s*\.\. (?:currentmodule|automodule|module):: (\S+)",
        page.read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    known = {name for module in modules for name in dir(importlib.import_module(module))}
    assert _listed(page) <= known


def _commands(page: Path) -> list[list[str]]:
    """Commands of a page, in its blocks and in its sentences: what begins with mien or make."""
    text = page.read_text(encoding="utf-8")
    fence = re.compile(r"^```(?:\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
    lines = [
        line for block in fence.findall(text) for line in block.replace("\\\n", " ").splitlines()
    ]
    spans = re.findall(r"`([^`]+)`", fence.sub("", text))
    lines += [" ".join(span.split()) for span in spans if not re.search(r"[…|<]", span)]
    found = []
    for line in lines:
        line = line.strip().removeprefix("$ ").removeprefix(".venv/bin/")
        if line.startswith(("mien ", "make ")):
            found.append(shlex.split(line, comments=True))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_the_pages_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for words in _commands(page):
        if words[0] == "make":
            assert {word for word in words[1:] if "=" not in word} <= targets, words
            continue
        command: Any = typer.main.get_command(app)
        rest = words[1:]
        while hasattr(command, "list_commands") and rest and not rest[0].startswith("-"):
            assert rest[0] in command.list_commands(None), f"{page.name}: {' '.join(words)}"
            command, rest = command.get_command(None, rest[0]), rest[1:]
        options = {
            option
            for parameter in command.params
            for option in (*parameter.opts, *parameter.secondary_opts)
        }
        used = {word.partition("=")[0] for word in rest if word.startswith("--")}
        assert used <= options | {"--help"}, f"{page.name}: {' '.join(words)}"


def _every_option(command: Any) -> set[str]:
    own = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    names = command.list_commands(None) if hasattr(command, "list_commands") else ()
    return own.union(*(_every_option(command.get_command(None, name)) for name in names))


TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.name)
def test_options_in_the_sentences_of_tutorials_exist(page: Path) -> None:
    options = _every_option(typer.main.get_command(app))
    for span in re.findall(r"`(--[a-z-]+)", page.read_text(encoding="utf-8")):
        assert span in options, f"{page.name}: {span}"


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.name)
def test_tutorials_say_what_is_needed_and_what_can_go_wrong(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "*Followed to the letter in a fresh environment" in text
    assert "**You need**" in text
    assert "\n## What can go wrong\n" in text
    assert "\n## Where to go next\n" in text
    assert "```text\n```" not in text, "python -m tools.follow --write fills in the outputs"
    for shown in re.findall(r"!\[[^\]]+\]\((\S+)\)", text):
        assert (page.parent / shown).is_file(), shown


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*PAGES, *sorted((ROOT / "docs" / "api").glob("*.md"))]:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if target.startswith(("http:", "https:", "#", "mailto:")):
                continue
            if "auto_examples/" in target:  # made when the pages are built
                name = target.rpartition("/")[2]
                place = ROOT / "examples" / ("README.txt" if name == "index" else f"{name}.py")
            elif "results/" in target and target.endswith(".md"):  # likewise
                name = target.rpartition("/")[2].removesuffix(".md")
                assert name == "index" or name in list_papers(), target
                continue
            elif "reference/" in target:  # likewise, as the index lists them
                listed = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
                name = target.rpartition("/")[2].partition(".md")[0]
                assert f"\nreference/{name}\n" in listed, target
                continue
            else:
                place = (page.parent / target.partition("#")[0]).resolve()
            assert place.exists(), f"{page.relative_to(ROOT)} links to {target}"


def test_every_attack_names_tests_that_exist() -> None:
    """The table of what strangers may send, in docs/testing.md."""
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    table = page[page.index("| attack | test |") : page.index("## What was loosened")]
    tests, file, found = Path(__file__).parent, "", 0
    for row in table.splitlines():
        cells = row.split(" | ")
        if len(cells) < 2 or "test" not in cells[-1]:
            continue
        for named in re.findall(r"`([\w/]*\.py)?(?:::(\w+))?`", cells[-1]):
            file = named[0] or file
            text = (tests / file.removeprefix("tests/")).read_text(encoding="utf-8")
            assert not named[1] or f"def {named[1]}(" in text, named
            found += bool(named[1])
    assert found > 50


def test_badges_say_what_the_project_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    make_badges = importlib.import_module("make_badges")
    folder = ROOT / "docs" / "_static" / "badges"
    facts = make_badges.read_facts()
    assert sorted(file.stem for file in folder.glob("*.svg")) == sorted(facts)
    for name, value in facts.items():
        written = (folder / f"{name}.svg").read_text(encoding="utf-8")
        assert written == make_badges.draw_badge(name, value)
    shown = re.findall(r"_static/badges/(\w+)\.svg", (ROOT / "README.md").read_text("utf-8"))
    assert set(shown) <= set(facts)


SCRIPTS = sorted(
    path
    for folder in ("docs", "tools", "benchmarks", "examples")
    for path in (ROOT / folder).glob("**/*.py")
    if not {"_build", "auto_examples"} & set(path.parts)
)


def _names_of(module: str) -> set[str]:
    """What a package of mien names in its ``__init__.pyi``, without loading anything."""
    stub = (ROOT / "src").joinpath(*module.split("."), "__init__.pyi")
    imported = (
        node for node in ast.walk(ast.parse(stub.read_text("utf-8"))) if hasattr(node, "names")
    )
    return {name.asname or name.name for node in imported for name in node.names}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_scripts_beside_the_package_import_what_exists(path: Path) -> None:
    """Films, screenshots and benchmarks are run rarely: a renamed function must not break them."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module in {f"mien.{room}" for room in ROOMS}:
            wanted = {name.name for name in node.names}
            known = (
                set(dir(importlib.import_module("mien.errors")))
                if node.module == "mien.errors"
                else _names_of(node.module)
            )
            assert wanted <= known, f"{node.module} has no {', '.join(sorted(wanted - known))}"


def test_drawings_are_files_that_a_browser_shows() -> None:
    for file in sorted((ROOT / "docs" / "_static").rglob("*.svg")):
        tag = re.search(r"<svg[^>]*>", file.read_text("utf-8"))
        assert tag is not None
        assert 'xmlns="http://www.w3.org/2000/svg"' in tag[0], file.name


def test_films_are_small_and_shown() -> None:
    films = sorted((ROOT / "docs" / "_static").glob("film_*.gif"))
    front = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for film in films:
        assert film.stat().st_size < 1_500_000
        assert f"_static/{film.name}" in front


def test_every_formula_becomes_mathml(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx", reason="the pages are built with the extra docs")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    mathml = importlib.import_module("mathml")
    formula = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+(?:\n[^$\n]+)?)\$", re.DOTALL)
    found = 0
    for page in PAGES:
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for block, inline in formula.findall(text):
            assert "<math" in mathml.to_mathml(block or inline, bool(block)), page.name
            found += 1
    assert found > 100
