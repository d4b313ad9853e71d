"""Foreign text at every place where it is shown, and what a name may be."""

from __future__ import annotations

import csv
import io
import json
import stat
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from mien._core.text import PLACES, check_name, count, safe_text, skeleton
from mien.errors import InputError

NASTY = [
    "Ann\x1b]52;c;AAAA\x07",
    "\x1b[2J\x1b[H",
    "a\rb\nc\td\x00e\x7f\x9b",
    "\u202eevil\u202c",
    "\u2066x\u2069\u200e\u200f",
    "Ann\u200b",
    "\ufeffAnn",
    '=HYPERLINK("http://x")',
    "@SUM(A1)",
    "-2+3",
    "+1",
    "\uff1d1",
    "<script>alert(1)</script>",
    "\"'&<>",
    r"$\frac{$",
    "$$",
    "\ud800",
    "\udc80name",
    "\U000e0041",
    "Zoë 木村 🙂",
]


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("place", PLACES)
def test_text_can_only_be_read(text: str, place: str) -> None:
    safe = safe_text(text, place)
    safe.encode("utf-8")
    if place == "json":
        assert json.loads(json.dumps(safe)) == safe
        return
    for letter in safe:
        assert unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Zl", "Zp") or letter == "\n"
    if place == "html":
        assert not set(safe) & set("<>\"'")
    if place == "csv":
        lines = io.StringIO()
        csv.writer(lines).writerow([safe])
        (row,) = csv.reader(io.StringIO(lines.getvalue()))
        assert row == [safe]
        assert not safe.startswith(("=", "+", "-", "@", "\t", "\r"))
    if place == "figure":
        assert safe.replace(r"\$", "").count("$") == 0


def test_plain_text_stays_as_it_is() -> None:
    for place in PLACES:
        assert safe_text("Zoë 木村 O'Neil".replace("'", ""), place) == "Zoë 木村 ONeil"


def test_figures_take_names_as_words() -> None:
    pytest.importorskip("matplotlib")
    from mien.reports._plot_style import new_axes
    from mien.reports._plot_text import figure_to_svg

    figure, axes = new_axes(r"$\frac{$", "y", title="\x1b[2J $x")
    axes.plot([1, 2], [1, 2], label=r"$\frac{1$ \$")
    axes.legend()
    svg = figure_to_svg(figure, "test")
    assert r"\frac" in svg
    assert "\x1b" not in svg


def test_reports_are_for_their_owner(tmp_path: Path) -> None:
    from mien.reports import Report

    report = Report("People", "\x1b[2J<b>")
    page = report.write(tmp_path)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "report.json").stat().st_mode) == 0o600
    assert "\x1b" not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "n" * 240 + ".png"])
def test_pictures_are_for_their_owner(tmp_path: Path, name: str) -> None:
    """Drawn answers, crops, completed faces: all are written by one function."""
    from mien.media import write_image

    for shade in (0, 255):  # it is replaced
        place = write_image(tmp_path / name, np.full((8, 8), shade, np.uint8))
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["vectors.npz", "vectors.csv"])
def test_vectors_are_for_their_owner(tmp_path: Path, name: str) -> None:
    from mien.crops import write_features

    found = {"features": np.eye(2), "files": ["a", "b"], "labels": ["Ann", "Bob"]}
    place = write_features(found, tmp_path / name)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_the_terminal_gets_no_escape_sequence_of_others() -> None:
    from rich.table import Table
    from rich.text import Text

    from mien.cli._consoles import _Console

    out = io.StringIO()
    console = _Console(file=out, force_terminal=True, color_system="truecolor", width=200)
    table = Table("name", box=None)
    table.add_row("Ann\x1b]52;c;AAAA\x07")
    console.print(table)
    console.print(Text("\u202eBob", style="red"))
    console.print("plain\nlines", style="yellow")
    shown = out.getvalue()
    assert "\x1b]" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown
    assert r"Ann\x1b]52;c;AAAA" in shown
    assert "\x1b[" in shown  # our own styles stay
    assert "plain\nlines" in shown.replace("\x1b[33m", "").replace("\x1b[0m", "")


@pytest.mark.parametrize(
    "name",
    ["", " ", "a\nb", "a\x00", "Ann\u200b", "\u200fAnn", "Ann\u2060", "\u2800", "\u3164", "x" * 201,
     "a\ufe0f", "A\u034fnn", "\ud800", "\U000e0041nn", 5, None, b"Ann"],
)  # fmt: skip
def test_names_that_are_refused(name: object) -> None:
    with pytest.raises(InputError, match="name"):
        check_name(name)


def test_names_are_one_spelling() -> None:
    assert check_name("  Zoe\u0308\u00a0 Oak ") == "Zoë Oak"
    # A joiner that Persian spelling needs.
    assert check_name("\u0639\u0644\u06cc\u200c\u0631\u0636\u0627")
    with pytest.raises(InputError):
        check_name("An\u200cn")


def test_names_that_look_alike_have_one_skeleton() -> None:
    assert skeleton("Ann") == skeleton("\u0410nn") == skeleton("ANN") == skeleton("Ａｎｎ")
    assert skeleton("Bill") == skeleton("BiII") == skeleton("Bi1l")
    assert skeleton("Ann") != skeleton("Anna")
    assert skeleton("Zoe") != skeleton("Zoë")


def test_one_thing_has_one_noun() -> None:
    assert [count(n, "face") for n in (0, 1, 2, 12345)] == [
        "0 faces", "1 face", "2 faces", "12,345 faces",
    ]  # fmt: skip
    assert count(1, "person", "people") == "1 person"
    assert count(3, "person", "people") == "3 people"
