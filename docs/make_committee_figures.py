"""Take the figures of the docs out of a report: ``python -m papers committee --out report`` first.

Usage: ``python docs/make_committee_figures.py report/report.html``.
"""

import re
import sys
from pathlib import Path

NAMES = ("members", "law", "sizes", "randomness", "strength")


def main(page: str) -> None:
    figures = re.findall(r"<figure>(<svg.*?</svg>)", Path(page).read_text("utf-8"), re.DOTALL)
    for name, svg in zip(NAMES, figures, strict=True):
        space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        target = Path(__file__).parent / "_static" / f"committee_{name}.svg"
        target.write_text(svg.replace("<svg", f"<svg {space}", 1), "utf-8")
        print(target)


if __name__ == "__main__":
    main(sys.argv[1])
