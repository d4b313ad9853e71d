"""``python docs/check_pages.py BUILT``: what the built pages must hold; ``make docs`` ends with it.

- Every public name of every package has an entry in ``objects.inv``, with words of its own, and so
  has every public method of a class, inherited ones included.
- Every verb, option and argument has help and is on the page of commands.
- Every route and parameter of the service has words and is on the page of HTTP.
- Every address of another site is well formed and not plain HTTP. Nothing is fetched: the pages are
  built without a network. Links between pages are Sphinx's to check (``-n -W``).
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

HERE = Path(__file__).parent


def read_inventory(file: Path) -> set[str]:
    """Names of Python objects that the pages describe."""
    data = file.read_bytes()
    for _ in range(4):
        _, _, data = data.partition(b"\n")
    lines = zlib.decompress(data).decode("utf-8").splitlines()
    return {line.split(" ")[0] for line in lines if " py:" in line}


def missing_names(described: set[str]) -> Iterator[str]:
    """Public names without an entry, and those that say nothing about themselves."""
    import mien

    objects = {id(_at(name)) for name in described if _at(name) is not None}
    for room in mien.__all__:
        module = getattr(mien, room)
        if not inspect.ismodule(module):
            continue
        for name in module.__all__:
            one = getattr(module, name)
            # A name of two packages has its page in one of them.
            if f"mien.{room}.{name}" not in described and id(one) not in objects:
                yield f"mien.{room}.{name} is on no page"
            if callable(one) and not inspect.getdoc(one):
                yield f"mien.{room}.{name} has no docstring"


def missing_methods(described: set[str]) -> Iterator[str]:
    """Public methods and properties of our classes, also inherited ones, that no page describes."""
    for page in sorted(described):
        one = None if "._" in page else _at(page)  # private modules are other names of the same
        if not inspect.isclass(one):
            continue
        for base in one.__mro__:
            if base.__module__.partition(".")[0] != "mien":
                continue
            for name, member in vars(base).items():
                if name.startswith("_") or not _is_method(member):
                    continue
                if f"{page}.{name}" not in described:
                    yield f"{page}.{name} is on no page"


def _is_method(member: Any) -> bool:
    kinds = (classmethod, staticmethod, property)
    return inspect.isfunction(member) or isinstance(member, kinds)


def _at(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return None


def missing_verbs(page: str, command: Any, words: tuple[str, ...] = ("mien",)) -> Iterator[str]:
    """Verbs and options without help, or that the page of commands does not show."""
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from missing_verbs(page, command.get_command(None, name), (*words, name))
        return
    verb = " ".join(words)
    heading = re.search(rf"^## {re.escape(verb)}$(.*?)(?=^## |\Z)", page, re.M | re.S)
    if heading is None:
        yield f"{verb} is not on the page of commands"
    if not (command.help or "").strip():
        yield f"{verb} has no help"
    for one in command.params:
        if one.name == "help" or getattr(one, "hidden", False):
            continue
        shown = (one.metavar or one.name.upper(),) if not one.opts[0].startswith("-") else one.opts
        if not (getattr(one, "help", None) or "").strip():
            yield f"{verb} {shown[0]} has no help"
        if heading is not None and f"`{', '.join(shown)}" not in heading[1].replace("\\|", "|"):
            yield f"{verb} {shown[0]} is not on the page of commands"


def missing_routes(page: str, document: dict[str, Any]) -> Iterator[str]:
    """Routes and parameters without words, or that the page of HTTP does not show."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            route = f"{method.upper()} {path}"
            heading = re.search(
                rf"^### {re.escape(route.replace('{', chr(92) + '{'))}$(.*?)(?=^##|\Z)",
                page,
                re.M | re.S,
            )
            if heading is None:
                yield f"{route} is not on the page of HTTP"
                continue
            if not (operation.get("summary") or operation.get("description")):
                yield f"{route} has no words"
            for one in operation.get("parameters", []):
                if f"| `{one['name']}` |" not in heading[1]:
                    yield f"{route}: {one['name']} is not on the page of HTTP"
                if not (one.get("description") or one.get("schema", {}).get("description")):
                    yield f"{route}: {one['name']} has no words"


class _Addresses(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attributes if name in ("href", "src") and value]


def bad_addresses(built: Path, pages: Iterable[Path]) -> Iterator[str]:
    """Addresses that are malformed, plain HTTP, or lead to a file or a place that is not there."""
    anchors: dict[Path, str] = {}
    for page in pages:
        parser = _Addresses()
        parser.feed(page.read_text(encoding="utf-8"))
        for address in set(parser.found):
            try:
                parts = urlsplit(address)
            except ValueError:
                yield f"{page.name}: {address} is no address"
                continue
            name = page.relative_to(built)
            if parts.scheme in ("mailto", "data"):
                continue
            if parts.scheme or parts.netloc:
                if parts.scheme != "https" or "." not in parts.netloc or " " in address:
                    yield f"{name}: {address} is not a well-formed https address"
                continue
            target = (page.parent / parts.path).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{name}: {address} leads nowhere"
            elif parts.fragment and target.suffix == ".html":
                text = anchors.setdefault(target, target.read_text(encoding="utf-8"))
                if f'id="{parts.fragment}"' not in text:
                    yield f"{name}: {address} has no such place"


def check(built: Path) -> list[str]:
    """Everything that is missing."""
    import typer.main

    from mien.cli._app import app
    from mien.service import Settings, create_app

    commands = (HERE / "reference" / "commands.md").read_text(encoding="utf-8")
    routes = (HERE / "reference" / "http.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        document = create_app(Settings(Path(folder), Path(folder) / "state")).openapi()
    pages = [page for page in built.rglob("*.html") if "_modules" not in page.parts]
    described = read_inventory(built / "objects.inv")
    return [
        *missing_names(described),
        *missing_methods(described),
        *missing_verbs(commands, typer.main.get_command(app)),
        *missing_routes(routes, document),
        *bad_addresses(built, sorted(pages)),
    ]


if __name__ == "__main__":
    missing = check(Path(sys.argv[1]))
    print("\n".join(missing) or "Every public name, verb, option and route is documented.")
    sys.exit(bool(missing))
