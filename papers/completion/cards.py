"""Model cards of the two files with which photographs are completed."""

from __future__ import annotations

import hashlib
from pathlib import Path

__all__ = ["describe_completion_cards"]

# Kind of card -> (file below the package, rows of its table, known limits).
_CARDS: dict[str, tuple[str, dict[str, str], list[str]]] = {
    "completion": (
        "recognition/models/completion.mien",
        {
            "name": "mien model of aligned grey faces, for `mien complete`",
            "made by": "`mien crops train completer lfw --completer low-rank --components 110 "
            "--size 64 --cover lower --out completion.mien`",
            "data": "Labeled Faces in the Wild (Huang et al., 2007, 2012), deep-funneled: 13,230 "
            "pictures of 5,749 people (three without a face left out), each also mirrored; 500 "
            "held out to choose one number",
            "method": "factor analysis (`LowRankCompleter`): the best linear estimate of covered "
            "pixels from visible ones",
            "contents": "the mean face, 110 directions of 64×64 pixels in half precision, a "
            "variance and two mean errors per pixel: sums over more than 25,000 pictures. No "
            "picture, and no number that belongs to one picture or one person",
            "terms": "Part of mien, under mien's licence. LFW's photographs belong to their owners "
            "and are not part of mien; its publisher says that it is no proof of fitness for "
            "commerce.",
            "intended use": "to show what a covered part may look like. Not to recognise a person, "
            "and not as evidence of what lies under a cover",
        },
        [
            "News photographs of adults of about the year 2000, mostly frontal, most of them men "
            "and light-skinned. What it puts in is biased towards such faces; errors were not "
            "measured by group.",
            "The estimate is smooth: it has the detail of a face of 64 pixels. Large turns of the "
            "head, beards and glasses come out blurred.",
            "Errors on people learned from and on others are alike (AUC .50 to .52), so that the "
            "file does not tell whose pictures it was learned from: docs/completion.md.",
        ],
    ),
    "covered": (
        "faces/covered.npz",
        {
            "name": "mien map of what is covered of an aligned face",
            "made by": "`python -m papers covered --train covered.npz`",
            "data": "Faces of Labeled Faces in the Wild (one grey picture per person, 120 in "
            "colour) and of the photographs in the data folder, with covers painted on them: "
            "masks, scarves, hands, glasses and patches, of cloth, skin colour, patterns or parts "
            "of Corel photographs. People and Corel pictures are split into learning, "
            "calibration and test",
            "method": "a network of one hidden layer of 80 units on grey values, differences of "
            "colour and roughness; a logistic calibration of the lower half",
            "contents": "two matrices of weights in half precision, their biases and two numbers "
            "of the calibration. No picture",
            "terms": "Part of mien, under mien's licence. The pictures it was learned from belong "
            "to their owners and are not part of mien.",
            "intended use": "to warn that a face is covered, and to propose to `mien complete` "
            "what to complete",
        },
        [
            "The covers are painted: no set of really covered faces with known covers was at hand. "
            "Patches are mostly missed; transparent and patterned things often.",
            "Measured by form of cover, not by group of people: docs/faces.md.",
        ],
    ),
}


def describe_completion_cards(package: Path) -> list[str]:
    """Lines of Markdown for both files below the folder of the package."""
    lines = []
    for kind, (place, rows, limits) in _CARDS.items():
        content = (package / place).read_bytes()
        lines += ["", f"## {kind}", "", "| | |", "| --- | --- |"]
        lines += [f"| file | `{Path(place).name}`, {len(content):,} bytes |"]
        lines += [f"| SHA-256 | `{hashlib.sha256(content).hexdigest()}` |"]
        lines += [f"| {name} | {text} |" for name, text in rows.items()]
        lines += ["", "Known limits:", "", *(f"- {limit}" for limit in limits)]
    return lines
