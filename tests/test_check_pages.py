"""The check at the end of ``make docs`` finds what is missing."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest
import typer
import typer.main

ROOT = Path(__file__).parents[1]


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_pages", ROOT / "docs" / "check_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_pages = _load()


def _command() -> Any:
    app = typer.Typer()

    @app.command()
    def sing(loud: Annotated[bool, typer.Option("--loud", help="Sing loudly.")] = False) -> None:
        """Sing."""

    @app.command()
    def hum(key: Annotated[str, typer.Option("--key")] = "c") -> None:
        pass

    return typer.main.get_command(app)


def test_a_verb_or_an_option_that_is_missing_is_named() -> None:
    page = "# Command line\n\n## mien sing\n\nSing.\n\n| `--loud` | Sing loudly. | |\n"
    missing = list(check_pages.missing_verbs(page, _command()))
    assert missing == [
        "mien hum is not on the page of commands",
        "mien hum has no help",
        "mien hum --key has no help",
    ]
    without = page.replace("`--loud`", "`--quiet`")
    assert "mien sing --loud is not on the page of commands" in list(
        check_pages.missing_verbs(without, _command())
    )


def test_a_route_or_a_parameter_that_is_missing_is_named() -> None:
    parameters = [{"name": "id", "in": "path", "description": "Which one."}, {"name": "far"}]
    document = {
        "paths": {"/a/{id}": {"get": {"summary": "One.", "parameters": parameters}, "put": {}}}
    }
    page = "# HTTP API\n\n## a\n\n### GET /a/\\{id}\n\nOne.\n\n| `id` | path | Which one. |\n"
    assert list(check_pages.missing_routes(page, document)) == [
        "GET /a/{id}: far is not on the page of HTTP",
        "GET /a/{id}: far has no words",
        "PUT /a/{id} is not on the page of HTTP",
    ]


@pytest.mark.needs("service")
def test_a_name_that_is_missing_is_named() -> None:
    import mien

    every = {
        f"mien.{room}.{name}"
        for room in mien.__all__
        for name in getattr(getattr(mien, room), "__all__", ())
    }
    assert list(check_pages.missing_names(every)) == []
    left = every - {"mien.sparse.KSVD"}
    assert list(check_pages.missing_names(left)) == ["mien.sparse.KSVD is on no page"]


def test_an_address_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text('<p id="here">', encoding="utf-8")
    page = tmp_path / "a.html"
    links = (
        "b.html", "b.html#here", "b.html#there", "c.html", "#", "https://example.org/x",
        "http://example.org", "https://[broken",
    )  # fmt: skip
    page.write_text("".join(f'<a href="{link}">' for link in links), encoding="utf-8")
    assert sorted(check_pages.bad_addresses(tmp_path, [page])) == [
        "a.html: b.html#there has no such place",
        "a.html: c.html leads nowhere",
        "a.html: http://example.org is not a well-formed https address",
        "a.html: https://[broken is no address",
    ]


def test_a_method_that_is_on_no_page_is_named_also_an_inherited_one() -> None:
    page = "mien.completion.RidgeCompleter"
    missing = list(check_pages.missing_methods({page, f"{page}.transform"}))
    assert f"{page}.fit is on no page" in missing
    assert f"{page}.transform is on no page" not in missing
    assert not any("get_params" in line for line in missing)  # scikit-learn's
    assert list(check_pages.missing_methods({"mien.completion._ridge.RidgeCompleter"})) == []
