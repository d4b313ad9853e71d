"""Take the docs' figures out of a report: ``python -m papers weak-labels --out report`` first.

Usage: ``python docs/make_weak_labels_figures.py report/report.html``, or the pages of the parts in
their order.
"""

import re
import sys
from pathlib import Path

NAMES = (
    *(
        f"{name}_{kind}"
        for name in ("yale", "smoothed", "crops", "orl", "lfw")
        for kind in ("linear", "kernel")
    ),
    "dimension",
    *("tracks", "tracks_fourth", "tracks_blurred", "tracks_blurred_fourth"),
    *("retrieval_3", "retrieval_5", "retrieval_7", "retrieval_10"),
)
SHOWN = {
    "yale_linear",
    "yale_kernel",
    "orl_linear",
    "orl_kernel",
    "dimension",
    "tracks",
    "tracks_fourth",
    "retrieval_10",
}


def main(pages: list[str]) -> None:
    text = "".join(Path(page).read_text("utf-8") for page in pages)
    figures = re.findall(r"<figure>(<svg.*?</svg>)", text, re.DOTALL)
    for name, svg in zip(NAMES, figures, strict=True):
        if name in SHOWN:
            space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
            target = Path(__file__).parent / "_static" / f"weak_labels_{name}.svg"
            target.write_text(svg.replace("<svg", f"<svg {space}", 1), "utf-8")
            print(target)


if __name__ == "__main__":
    main(sys.argv[1:])
