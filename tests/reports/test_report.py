"""A report says the same in the terminal, in JSON and on its page."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from mien.errors import DataError, InputError
from mien.reports import Report, plot_curves

EVIL = '<script>alert("1")</script> & "quotes"'
VOID = {"meta", "img", "br", "link", "input"}


class Page(HTMLParser):
    """Collects tags and attributes, and fails when a tag is not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def make_report(title: str = "Two systems") -> Report:
    report = Report(title, "600 pairs")
    report.heading("Errors")
    report.text("First `code`.\n\nSecond.")
    report.table(
        "Rates",
        [
            {"system": "a", "pairs": 16028, "EER": 0.0213, "VR": (0.9, 0.88, 0.93)},
            {
                "system": "b",
                "pairs": 28,
                "EER": float("nan"),
                "VR": {"value": 1.0, "low": None, "high": None},
            },
        ],
        note="95 %",
    )
    report.figure(plot_curves({"a": ([1, 2, 3], [4, 5, 6])}, "x", "y"), "One curve")
    report.gallery(np.zeros((3, 4, 5), np.uint8), ["p", "q", "r"], "People", columns=3)
    return report


def printed(report: Report, width: int = 100) -> str:
    stream = io.StringIO()
    report.print(Console(file=stream, width=width, color_system=None))
    return stream.getvalue()


# ---------------------------------------------------------------- the page


def test_page_is_well_formed_and_stands_by_itself() -> None:
    text = make_report().to_html()
    page = Page(text)
    for tag, attributes in page.tags:
        assert tag not in {"script", "link", "iframe", "object", "base"}
        for name in ("src", "href", "data", "xlink:href"):
            value = attributes.get(name)
            assert value is None or value.startswith(("data:image/", "#")), (tag, value)
    assert "http:" not in text
    assert "https:" not in text
    assert "default-src 'none'" in text


def test_intervals_may_stand_below_their_values_in_a_wide_table(tmp_path: Path) -> None:
    report = Report("t")
    report.table("Rates", [{"system": "a [b]", "EER": (0.1, 0.05, 0.2), "n": 7}])
    page = report.write(tmp_path).read_text(encoding="utf-8")
    assert '<td class="n i">0.100 <span>[0.050, 0.200]</span></td>' in page
    assert "<td>a [b]</td>" in page
    assert '<td class="n">7</td>' in page


def test_everything_is_escaped() -> None:
    report = Report(EVIL, EVIL)
    report.heading(EVIL)
    report.text(f"{EVIL} `{EVIL}`")
    report.table(EVIL, [{EVIL: EVIL}], note=EVIL)
    report.figure(plot_curves({EVIL: ([1, 2], [1, 2])}, EVIL, EVIL, EVIL), EVIL)
    report.gallery(np.zeros((1, 2, 2), np.uint8), [EVIL], EVIL)
    text = report.to_html()
    page = Page(text)
    assert "script" not in {tag for tag, _ in page.tags}
    assert text.count("<script") == 0
    assert "".join(page.words).count('alert("1")') >= 8  # shown, not obeyed


def test_markup_of_the_terminal_is_not_obeyed() -> None:
    report = Report("[bold]x[/bold]", "[red]")
    report.table("[b]t", [{"[i]c": "[/i]"}], note="[link=1]")
    text = printed(report)
    for words in ("[bold]x[/bold]", "[red]", "[b]t", "[i]c", "[/i]", "[link=1]"):
        assert words in text


def test_pictures_and_figures_have_words_for_those_who_do_not_see_them() -> None:
    page = Page(make_report().to_html())
    alts = [attributes["alt"] for tag, attributes in page.tags if tag == "img"]
    assert alts == ["p", "q", "r"]
    labels = [a.get("aria-label") for tag, a in page.tags if tag == "svg"]
    assert labels == ["One curve"]


def test_ids_of_several_figures_do_not_clash() -> None:
    report = make_report()
    report.extend(make_report())
    ids = [a["id"] for _, a in Page(report.to_html()).tags if "id" in a]
    assert len(ids) == len(set(ids))
    used = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', report.to_html())
    assert {a or b for a, b in used} <= set(ids)


def test_pictures_without_columns_stand_where_there_is_room(tmp_path: Path) -> None:
    for columns, style in ((None, "repeat(auto-fill,minmax(104px,1fr))"), (2, "repeat(2,1fr)")):
        report = Report("People")
        report.gallery(np.zeros((3, 4, 5), np.uint8), columns=columns)
        assert style in report.write(tmp_path / str(columns)).read_text(encoding="utf-8")
    with pytest.raises(InputError, match="at least 1"):
        Report("People").gallery(np.zeros((3, 4, 5), np.uint8), columns=0)


def test_pictures_come_through_unchanged() -> None:
    import base64

    rng = np.random.default_rng(0)
    grey = rng.integers(0, 256, (2, 6, 5), dtype=np.uint8)
    report = Report("t")
    report.gallery(grey)
    report.gallery([np.full((3, 4, 3), 0.5), np.array([[-1.0, 2.0], [np.nan, 1.0]])])
    images = re.findall(r'src="data:image/png;base64,([^"]+)"', report.to_html())
    shown = [np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))) for data in images]
    np.testing.assert_array_equal(shown[0], grey[0])
    np.testing.assert_array_equal(shown[1], grey[1])
    assert shown[2].shape == (3, 4, 3)
    assert np.all(shown[2] == 128)
    assert shown[3].tolist() == [[0, 255], [0, 255]]


def test_page_is_small() -> None:
    x = np.linspace(0, 1, 200_000)
    report = Report("t")
    report.figure(plot_curves({"long": (x, np.sin(20 * x), 0.1 * np.ones_like(x))}), "c")
    assert len(report.to_html()) < 80_000
    assert len(json.dumps(report.to_dict())) < 40_000


# ---------------------------------------------------------------- JSON


def test_json_round_trip(tmp_path: Path) -> None:
    report = make_report()
    page = report.write(tmp_path / "new" / "folder")
    assert page == tmp_path / "new" / "folder" / "report.html"
    assert sorted(p.name for p in page.parent.iterdir()) == ["report.html", "report.json"]
    document = json.loads((page.parent / "report.json").read_text(encoding="utf-8"))
    assert document == report.to_dict()
    table = next(part for part in document["parts"] if part["kind"] == "table")
    assert table["rows"][0] == {
        "system": "a",
        "pairs": 16028,
        "EER": 0.0213,
        "VR": [0.9, 0.88, 0.93],
    }
    assert table["rows"][1]["EER"] is None
    figure = next(part for part in document["parts"] if part["kind"] == "figure")
    assert figure["series"][0]["x"] == [1.0, 2.0, 3.0]
    assert figure["series"][0]["y"] == [4.0, 5.0, 6.0]


def test_json_of_what_json_cannot_say() -> None:
    report = Report("t")
    row = {
        "a": np.float32(0.5),
        "b": np.arange(2),
        "c": float("inf"),
        "d": Path("x"),
        "e": np.bool_(True),
    }
    report.table("t", [row])
    text = json.dumps(report.to_dict(), allow_nan=False)
    cells = json.loads(text)["parts"][0]["rows"][0]
    assert cells == {"a": 0.5, "b": [0, 1], "c": "inf", "d": "x", "e": True}


def test_writing_again_replaces_and_a_failure_leaves_the_old(tmp_path: Path) -> None:
    Report("old").write(tmp_path)
    Report("new").write(tmp_path)
    assert "new" in (tmp_path / "report.html").read_text(encoding="utf-8")
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="cannot write"):
        Report("t").write(tmp_path / "file" / "below")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "report.html", "report.json"]


# ---------------------------------------------------------------- the terminal


def test_terminal_table_is_aligned() -> None:
    lines = [line.rstrip() for line in printed(make_report()).splitlines()]
    head = next(i for i, line in enumerate(lines) if line.startswith("system"))
    first, second = lines[head + 1], lines[head + 2]
    assert lines[head].split() == ["system", "pairs", "EER", "VR"]
    assert first == "a       16,028  0.0213  0.900 [0.880, 0.930]"
    # Numbers end where their heading ends; what is not known is a dash in its place.
    assert second.index("28") + 2 == first.index("16,028") + 6 == lines[head].index("pairs") + 5
    assert second.index("–") + 1 == first.index("0.0213") + 6
    assert len(second) == len(first)
    assert second.endswith("1.000")
    assert lines[head + 3] == "95 %"


@pytest.mark.parametrize("width", [80, 46, 34, 20])
def test_narrow_terminals_lose_nothing(width: int) -> None:
    report = Report("t")
    report.table(
        "Rates", [{"system": f"s{i}", "EER": (0.1, 0.05, 0.2), "VR": 0.5, "n": i} for i in range(3)]
    )
    text = printed(report, width)
    assert max(map(len, text.splitlines())) <= width
    for words in ("s0", "s1", "s2", "EER", "VR", "0.500", "0.100", "[0.050,", "0.200]"):
        assert words in text


def test_sections_without_words_are_not_announced_in_the_terminal() -> None:
    report = Report("t")
    report.heading("Only a figure")
    report.figure(plot_curves({"a": ([1, 2], [1, 2])}), "c")
    report.heading("Words")
    report.text("here")
    assert "Only a figure" not in printed(report)
    assert "Words" in printed(report)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.5, 0.25], ["0.500", "0.250"]),
        ([1.0, 0.00042], ["1.00000", "0.00042"]),
        ([12345.678, 1.5], ["12346", "2"]),
        ([3.2e9, 1.0], ["3.20e+09", "1.00e+00"]),
        ([1e-7, 2e-7], ["1.00e−07", "2.00e−07"]),
        ([-0.5, None], ["−0.500", "–"]),
        ([float("inf"), 0.5], ["∞", "0.500"]),
        ([10_000, 7], ["10,000", "7"]),
        ([True, False], ["yes", "no"]),
        ([(0.1, 0.2), None], ["[0.100, 0.200]", "–"]),
    ],
)
def test_cells(values: list[object], words: list[str]) -> None:
    report = Report("t")
    report.table("t", [{"k": "x", "v": value} for value in values])
    lines = [
        line.split(maxsplit=1)[1].strip()
        for line in printed(report).splitlines()
        if line.startswith("x")
    ]
    assert lines == words


# ---------------------------------------------------------------- bad input


def test_bad_input_is_refused() -> None:
    report = Report("t")
    with pytest.raises(InputError, match="no rows"):
        report.table("t", [])
    with pytest.raises(InputError, match="no pictures"):
        report.gallery([])
    with pytest.raises(InputError, match="2 captions were given for 1"):
        report.gallery(np.zeros((1, 2, 2)), ["a", "b"])
    with pytest.raises(InputError, match=r"must be \(h, w\)"):
        report.gallery(np.zeros((1, 2, 2, 4)))
    with pytest.raises(InputError, match="columns"):
        report.gallery(np.zeros((1, 2, 2)), columns=0)


def test_named_figures_are_files_of_their_own(tmp_path: Path) -> None:
    import xml.etree.ElementTree as ElementTree

    report = Report("t")
    report.figure(plot_curves({"a": ([1, 2], [3, 4])}), "first", name="one")
    report.figure(plot_curves({"a": ([1, 2], [4, 3])}), "second")
    files = report.write_figures(tmp_path / "new")
    assert [file.name for file in files] == ["one.svg"]
    assert ElementTree.parse(files[0]).getroot().tag == "{http://www.w3.org/2000/svg}svg"
