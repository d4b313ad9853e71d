"""Draws architecture.svg and writes the tables of architecture.md, both from architecture.toml.

``python docs/make_architecture.py`` writes them; ``--check`` only says whether they are up to date.
"""

from __future__ import annotations

import re
import sys
import textwrap
import tomllib
from html import escape
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LEARNERS = ("verification", "committee", "kernelmaps", "sparse", "subspace", "multiview")
WIDTH, MARGIN, GAP = 1180, 24, 14
LINE, PADDING = 15, 12
STYLE = """
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;fill:#1f2328}
.name{font-size:15px;font-weight:600} .what{font-size:11.5px;fill:#4a5057}
.package{font-size:11px;fill:#a84a00;font-style:italic} .layer{font-size:12px;fill:#6b7075}
.room{fill:#eaf3f9;stroke:#7fb2d3} .learner{fill:#eef7ee;stroke:#8dbf8d}
""".strip()


def read_table() -> dict[str, Any]:
    """The table as it is written."""
    return tomllib.loads((HERE / "architecture.toml").read_text(encoding="utf-8"))


def find_layers(rooms: dict[str, Any]) -> list[list[str]]:
    """Rooms by the longest way down: a room stands above all that it may import."""
    depth: dict[str, int] = {}

    def measure(name: str) -> int:
        if name not in depth:
            below = [*rooms[name]["imports"], *(["errors"] if name != "errors" else [])]
            depth[name] = 1 + max((measure(other) for other in below), default=-1)
        return depth[name]

    for name in rooms:
        measure(name)
    layers: list[list[str]] = [[] for _ in range(1 + max(depth.values()))]
    for name in rooms:
        layers[depth[name]].append(name)
    return layers


def draw(table: dict[str, Any]) -> str:
    """The picture: one row per layer, imports go down."""
    rooms, packages = table["rooms"], table["packages"]
    living: dict[str, list[str]] = {}
    for name, package in packages.items():
        for home in package["homes"]:
            room = home.split("/")[0]
            if room in rooms and package.get("title", name) not in living.get(room, []):
                living.setdefault(room, []).append(package.get("title", name))
    parts: list[str] = []
    y = 56
    for layer in reversed(find_layers(rooms)):
        width = (WIDTH - 2 * MARGIN - GAP * (len(layer) - 1)) / len(layer)
        letters = max(12, int((width - 2 * PADDING) / 5.9))
        texts = {name: textwrap.wrap(rooms[name]["idea"], letters) for name in layer}
        height = 2 * PADDING + 18 + LINE * (max(map(len, texts.values())) + 1)
        for column, name in enumerate(layer):
            x = MARGIN + column * (width + GAP)
            kind = "learner" if name in LEARNERS else "room"
            parts.append(
                f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" '
                'rx="6"/>'
            )
            left, top = x + PADDING, y + PADDING + 12
            parts.append(f'<text class="name" x="{left:.1f}" y="{top}">{escape(name)}</text>')
            for row, words in enumerate(texts[name]):
                parts.append(
                    f'<text class="what" x="{left:.1f}" y="{top + 18 + LINE * row}">'
                    f"{escape(words)}</text>"
                )
            if name in living:
                parts.append(
                    f'<text class="package" x="{left:.1f}" y="{y + height - PADDING + 2}">'
                    f"{escape(', '.join(living[name]))}</text>"
                )
        y += height + GAP
    layers = find_layers(rooms)
    words = "; ".join(", ".join(layer) for layer in reversed(layers))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 6}" role="img" '
            'aria-labelledby="t d">',
            '<title id="t">The packages of mien</title>',
            f'<desc id="d">One row per layer, from top to bottom: {escape(words)}. '
            "A package imports only packages of the rows below it.</desc>",
            f"<style>\n{STYLE}\n</style>",
            f'<rect width="{WIDTH}" height="{y + 6}" fill="#ffffff" rx="8"/>',
            f'<text class="name" x="{MARGIN}" y="28">The packages of mien</text>',
            f'<text class="layer" x="{MARGIN}" y="45">A package imports only packages below it. '
            "Green: the learners, arrays in and arrays out. In italics: the heavy dependency whose "
            "home it is.</text>",
            *parts,
            "</svg>\n",
        ]
    )


def write_tables(table: dict[str, Any]) -> dict[str, str]:
    """The tables of architecture.md by the name of their place."""
    rooms = ["| package | holds | may import |", "| --- | --- | --- |"]
    for name, room in table["rooms"].items():
        listed = ", ".join(f"`{other}`" for other in room["imports"]) or "nothing"
        rooms.append(f"| `{name}` | {room['idea']} | {listed} |")
    packages = [
        "| dependency | extra | the only place that imports it | without it |",
        "| --- | --- | --- | --- |",
    ]
    for name, package in table["packages"].items():
        extra = f"`{package['extra']}`" if "extra" in package else "none"
        homes = ", ".join(f"`{home}`" for home in package["homes"])
        packages.append(
            f"| {package.get('title', name)} | {extra} | {homes} | {package['without']} |"
        )
    return {"rooms": "\n".join(rooms), "packages": "\n".join(packages)}


def outputs() -> dict[Path, str]:
    """Every file that is made, with what it should hold."""
    table = read_table()
    page = (HERE / "architecture.md").read_text(encoding="utf-8")
    for place, text in write_tables(table).items():
        pattern = rf"(<!-- {place}: [^\n]*-->\n).*?(\n<!-- end of {place} -->)"
        page, found = re.subn(
            pattern, lambda m, text=text: f"{m[1]}\n{text}\n{m[2]}", page, flags=re.DOTALL
        )
        if found != 1:
            raise SystemExit(f"architecture.md has no place for the table of {place}")
    return {HERE / "_static" / "architecture.svg": draw(table), HERE / "architecture.md": page}


def main() -> None:
    """Write what changed, or with ``--check`` fail if anything would."""
    stale = [
        (path, text) for path, text in outputs().items() if path.read_text(encoding="utf-8") != text
    ]
    for path, text in stale:
        if "--check" in sys.argv:
            raise SystemExit(f"{path.name} is not up to date: run python docs/make_architecture.py")
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
