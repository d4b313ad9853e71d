"""What the page is made of: foreign files unchanged, no inline script, nothing from other hosts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.page import PAGE, VENDORED, digest

SCRIPTS = sorted(path for path in PAGE.rglob("*.js") if "vendor" not in path.parts)


def test_vendored_files_are_those_of_the_table() -> None:
    found = {path.name: digest(path) for path in (PAGE / "vendor").glob("*.js")}
    assert found == {one.file: one.sha256 for one in VENDORED}
    notice = (PAGE.parents[3] / "NOTICE").read_text(encoding="utf-8")
    for one in VENDORED:
        assert one.file in notice
        assert one.licence.split("-")[0] in notice
    assert len(list((PAGE / "vendor").glob("LICENSE-*.txt"))) == 3


def test_the_page_has_no_inline_script_or_style() -> None:
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    inline = re.findall(r"<script(?![^>]*\bsrc=)([^>]*)>", page)
    assert inline == [' type="importmap"']
    assert "style=" not in page
    assert "<style" not in page
    assert not re.search(r"\son\w+=", page)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_make_no_markup_from_text_and_know_no_other_host(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for forbidden in ("innerHTML", "dangerouslySetInnerHTML", "eval(", "new Function", "https://"):
        assert forbidden not in text
    for address in re.findall(r"http://[^\s\"'`]+", text):
        assert address.startswith("http://www.w3.org/")


def test_every_text_that_is_used_is_there_and_no_other() -> None:
    written = (PAGE / "texts.js").read_text(encoding="utf-8")
    keys = set(re.findall(r"^  (\w+): ", written, re.MULTILINE))
    used: set[str] = set()
    for path in SCRIPTS:
        text = path.read_text(encoding="utf-8")
        if path.name == "texts.js":
            text = text.split("export const texts")[1]
        used |= set(re.findall(r"\btexts\.(?!js\b)(\w+)", text))
    assert used == keys
