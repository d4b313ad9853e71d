"""Writes reference/commands.md and reference/http.md from the program itself, when pages are built.

``python docs/make_reference.py`` writes them by hand. Nothing on them is typed, so nothing can be
out of date.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "reference"


def _plain(text: str | None) -> str:
    """Help without markup, as one paragraph per paragraph."""
    words = re.sub(r"\[/?[a-z ]+\]", "", text or "")
    return "\n\n".join(" ".join(part.split()) for part in words.split("\n\n")).strip()


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def _walk(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "list_commands"):
        yield words, command
        return
    for name in command.list_commands(None):
        yield from _walk(command.get_command(None, name), (*words, name))


def write_commands() -> str:
    """Every verb with its arguments and options."""
    import typer.main

    from mien.cli._app import app

    parts = [
        "# Command line",
        "Every verb prints its help with `--help`. Exit codes: 0 for an answer, 1 where a part "
        "failed, 2 where there is no answer.",
    ]
    for words, command in _walk(typer.main.get_command(app), ("mien",)):
        rows = []
        for one in command.params:
            if one.name == "help" or getattr(one, "hidden", False):
                continue
            shown = getattr(one, "show_default", None)
            default = shown if isinstance(shown, str) else one.default
            plain = isinstance(default, (str, int, float)) and not isinstance(default, bool)
            name = (
                (one.metavar or one.name.upper())
                if one.param_type_name == "argument"
                else ", ".join(one.opts)
            )
            rows.append(
                f"| `{_cell(name)}` | {_cell(_plain(getattr(one, 'help', '')))} "
                f"| {_cell(str(default)) if plain else ''} |"
            )
        parts.append(f"## {' '.join(words)}")
        parts.extend(
            f"```sh\n{words}\n```" if words.startswith("mien ") else words
            for words in _plain(command.help).split("\n\n")
        )
        if rows:
            parts.append("| | | default |\n| --- | --- | --- |\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


def _describe(parameter: dict[str, Any]) -> str | None:
    return parameter.get("description") or parameter.get("schema", {}).get("description")


def write_routes() -> str:
    """Every route of the service, from its OpenAPI document."""
    from mien.service import Settings, create_app

    with tempfile.TemporaryDirectory() as folder:
        document = create_app(Settings(Path(folder), Path(folder) / "state")).openapi()
    parts = ["# HTTP API", "From the OpenAPI document that `mien serve` gives at `/openapi.json`."]
    groups: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            tag = (operation.get("tags") or ["server"])[0]
            text = [
                f"### {method.upper()} {path}".replace("{", "\\{"),
                _plain(operation.get("summary")),
            ]
            if operation.get("description"):
                text.append(_plain(operation["description"]))
            named = operation.get("parameters", [])
            if named:
                rows = [
                    f"| `{p['name']}` | {p['in']} | {_cell(_plain(_describe(p)))} |" for p in named
                ]
                text.append("| parameter | in | |\n| --- | --- | --- |\n" + "\n".join(rows))
            answers = ", ".join(
                f"{code} {_plain(answer.get('description'))}".rstrip(". ")
                for code, answer in operation["responses"].items()
            )
            text.append(f"Answers: {answers}.")
            groups.setdefault(tag, []).append("\n\n".join(text))
    for tag, operations in groups.items():
        parts.append(f"## {tag}")
        parts.extend(operations)
    return "\n\n".join(parts) + "\n"


def write_all() -> None:
    """Write both pages, each only where it changed."""
    HERE.mkdir(exist_ok=True)
    for name, text in (("commands.md", write_commands()), ("http.md", write_routes())):
        place = HERE / name
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_all()
    print(json.dumps([str(path.name) for path in sorted(HERE.glob("*.md"))]))
