"""Draws which_method.svg: from what one has to the method, as a tree with one question."""

from __future__ import annotations

from html import escape
from pathlib import Path

HAVE = [
    (
        "photographs, a video",
        [
            ("names of a few people", "mien enrol, identify"),
            ("no names", "mien cluster"),
            ("names without boxes", "WeakNames"),
        ],
    ),
    (
        "vectors of people",
        [
            ("a crowd and a few of mine", "TransferJointBayesian"),
            ("many of mine", "JointBayesian"),
            ("groups without names", "NullSpaceProjection"),
        ],
    ),
    (
        "pictures of a closed set",
        [
            ("few per person", "RandomSamplingLDA"),
            ("two kinds of descriptor", "MultiViewSuperVector"),
        ],
    ),
    ("half a face", [("the other half wanted", "FaceCompleter")]),
    ("scores of any system", [("how good is it?", "mien evaluate")]),
]
ROW, TOP, LEFT = 46, 20, 24
STYLE = (
    'text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;'
    "font-size:14px;fill:#1f2328}"
    ".have{fill:#eaf3f9;stroke:#7fb2d3}.use{fill:#eef7ee;stroke:#8dbf8d}.with{fill:#4a5057;font-size:13px}"
    ".code{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px}path{fill:none;stroke:#9aa4ad}"
)


def draw() -> str:
    """The picture as SVG."""
    parts, y = [], TOP
    for have, ways in HAVE:
        middle = y + ROW * len(ways) / 2
        parts.append(
            f'<rect class="have" x="{LEFT}" y="{middle - 17}" width="210" height="34" rx="6"/>'
        )
        parts.append(
            f'<text x="{LEFT + 105}" y="{middle + 5}" text-anchor="middle">{escape(have)}</text>'
        )
        for k, (words, use) in enumerate(ways):
            at = y + ROW * (k + 0.5)
            parts.append(
                f'<path d="M{LEFT + 210},{middle} '
                f'C{LEFT + 260},{middle} {LEFT + 250},{at} {LEFT + 300},{at}"/>'
            )
            parts.append(f'<text class="with" x="{LEFT + 306}" y="{at + 5}">{escape(words)}</text>')
            parts.append(f'<path d="M{LEFT + 490},{at} L{LEFT + 530},{at}"/>')
            parts.append(
                f'<rect class="use" x="{LEFT + 530}" y="{at - 16}" width="226" height="32" rx="6"/>'
            )
            parts.append(
                f'<text class="code" x="{LEFT + 643}" y="{at + 5}" text-anchor="middle">'
                f"{escape(use)}</text>"
            )
        y += ROW * len(ways) + 14
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 810 {y}" role="img">'
        f"<title>Which method?</title><style>{STYLE}</style>"
        f'<rect width="810" height="{y}" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )


if __name__ == "__main__":
    Path(__file__).with_name("_static").joinpath("which_method.svg").write_text(
        draw(), encoding="utf-8"
    )
