"""Writes reference/commands.md and reference/http.md from the program itself, when pages are built.

``python docs/make_reference.py`` writes them by hand. Nothing on them is typed, so nothing can be
out of date.
"""

from __future__ import annotations

import itertools
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "reference"
MOST_LINES = 40  # of an example


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
                else " ".join(filter(None, (", ".join(one.opts), one.metavar)))
            )
            rows.append(
                f"| `{_cell(name)}` | {_cell(_plain(getattr(one, 'help', '')))} "
                f"| {_cell(str(default)) if plain else ''} |"
            )
        parts.append(f"## {' '.join(words)}")
        parts.append(_show_examples(_plain(command.help).split("\n\n")))
        if rows:
            head = "| argument, option | what it is | default |\n| --- | --- | --- |\n"
            parts.append(head + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


def _show_examples(paragraphs: list[str]) -> str:
    """Help with its example commands as blocks, neighbours in one block."""
    parts: list[str] = []
    for command, some in itertools.groupby(paragraphs, lambda words: words.startswith("mien ")):
        words = list(some)
        parts += ["```sh\n" + "\n".join(words) + "\n```"] if command else words
    return "\n\n".join(parts)


def _describe(parameter: dict[str, Any]) -> str | None:
    return parameter.get("description") or parameter.get("schema", {}).get("description")


def write_routes() -> str:
    """Every route of the service, from its OpenAPI document."""
    from mien.service import Settings, create_app

    with tempfile.TemporaryDirectory() as folder:
        document = create_app(Settings(Path(folder), Path(folder) / "state")).openapi()
    parts = [
        "# HTTP API",
        "From the OpenAPI document that `mien serve` gives at `/openapi.json`. Errors are problem "
        "details (RFC 9457): a status, a stable `code` and one sentence. How keys, limits and "
        "jobs work is in [the guide](../service.md).",
    ]
    groups: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            tag = (operation.get("tags") or ["server"])[0]
            groups.setdefault(tag, []).append(_write_route(method, path, operation))
    # Routes for programs first; those of our own page in the browser last.
    for tag in sorted(groups, key=lambda tag: (tag == "page", tag == "server", tag == "review")):
        parts.append(f"## {tag.capitalize()}")
        parts.extend(groups[tag])
    return "\n\n".join(parts) + "\n"


def _write_route(method: str, path: str, operation: dict[str, Any]) -> str:
    text = [
        f"### {method.upper()} {path}".replace("{", "\\{"),
        _plain(operation.get("summary")),
    ]
    if operation.get("description"):
        text.append(_plain(operation["description"]))
    named = operation.get("parameters", [])
    if named:
        rows = [f"| `{p['name']}` | {p['in']} | {_cell(_plain(_describe(p)))} |" for p in named]
        text.append("| parameter | in | |\n| --- | --- | --- |\n" + "\n".join(rows))
    kinds = operation.get("requestBody", {}).get("content", {})
    if kinds:
        text.append("Body: " + ", ".join(f"`{kind}`" for kind in kinds) + ".")
    answers = [f"`{code}`" for code in operation["responses"] if code != "default"]
    text.append(f"Answers {' or '.join(answers)}, or a problem.")
    example = _example(operation)
    if example is not None:
        shown = json.dumps(example, indent=2, ensure_ascii=False)
        if shown.count("\n") <= MOST_LINES:
            text.append(f"```json\n{shown}\n```")
    return "\n\n".join(text)


def _example(operation: dict[str, Any]) -> Any:
    """The example of the first answer that is not a problem and has one."""
    for code, answer in operation["responses"].items():
        example = answer.get("content", {}).get("application/json", {}).get("example")
        if code != "default" and example is not None:
            return example
    return None


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
