"""Writes docs/_static/badges/*.svg from pyproject.toml: only what is true can be on them.

``python docs/make_badges.py``; a test compares the files with what this writes.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

HERE = Path(__file__).parent
STEP, HEIGHT = 6.6, 20


def read_facts() -> dict[str, str]:
    """What the project says of itself."""
    with (HERE.parent / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    return {
        "version": project["version"],
        "python": project["requires-python"].replace(">=", "") + " or newer",
        "license": project["license"],
    }


def draw_badge(name: str, value: str) -> str:
    """Two boxes with words, as an SVG that needs nothing else."""
    left, right = (round(len(words) * STEP) + 14 for words in (name, value))
    text = (
        f'<text x="{left / 2:g}" y="14">{name}</text>'
        f'<text x="{left + right / 2:g}" y="14">{value}</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}" '
        f'role="img" aria-label="{name}: {value}">'
        f'<rect width="{left + right}" height="{HEIGHT}" rx="3" fill="#3d4350"/>'
        f'<path d="M{left} 0h{right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{left}z" fill="#2b6cb0"/>'
        f'<g fill="#fff" text-anchor="middle" font-family="sans-serif" font-size="11">{text}</g>'
        "</svg>\n"
    )


def main() -> None:
    """Write every badge."""
    folder = HERE / "_static" / "badges"
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in read_facts().items():
        (folder / f"{name}.svg").write_text(draw_badge(name, value), encoding="utf-8")


if __name__ == "__main__":
    main()
