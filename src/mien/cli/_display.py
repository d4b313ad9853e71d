"""What every verb shows with: lines, JSON for programs, and the progress bar.

Tables are printed with the consoles of :mod:`mien.cli._consoles`, imported only by verbs that
print one.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mien._core.progress import listening
from mien._core.text import count, safe_text

__all__ = [
    "clean",
    "count",
    "note",
    "note_live",
    "print_json",
    "ratio_in_words",
    "say",
    "showing_progress",
    "tell_training",
    "warn",
]


def clean(text: str) -> str:
    """Text for the terminal: names, paths and errors from elsewhere can only be read."""
    if text.isprintable():
        return text
    return "".join(x if x in "\n\t" else safe_text(x) for x in text)


def say(text: str) -> None:
    """Print a line of the result; nothing in it is folded or styled."""
    sys.stdout.write(clean(text) + "\n")


def ratio_in_words(log_ratio: float) -> str:
    """What a natural-log likelihood ratio means, with two digits at most."""
    if not math.isfinite(log_ratio):
        return "no ratio"
    times = math.exp(min(abs(log_ratio), 30.0))
    if times < 1.05:
        return "as likely of one person as of two"
    digits = 1 - math.floor(math.log10(times))
    often = f"{round(times, digits):,.{max(digits, 0)}f}" if times < 1e6 else "over a million"
    one, other = ("one person", "two") if log_ratio > 0 else ("two people", "one")
    return f"{often} times likelier of {one} than of {other}"


def note(text: str) -> None:
    """Print a line beside the result, on the stream that pipes do not see."""
    sys.stderr.write(clean(text) + "\n")


def note_live(*places: Path) -> None:
    """Say how many videos of live photos were skipped, because their stills are used."""
    from mien.media import gather_media

    live = len(gather_media([place for place in places if place.exists()]).live)
    if live:
        note(f"skipped {count(live, 'video')} of live photos: their stills are used")


def tell_training(summary: dict[str, Any], model: Path, *, as_json: bool) -> bool:
    """Print what was learned as JSON; or name what was not used, and leave the words to the verb.

    Returns
    -------
    bool
        Whether words are still wanted.
    """
    if as_json:
        print_json(summary | {"model": str(model)})
        return False
    for name in summary["skipped"]:
        warn(f"not used: {name}")
    return True


def warn(text: str) -> None:
    """Print a line of warning, on the stream that pipes do not see."""
    shown = clean(text)
    sys.stderr.write((f"\x1b[33m{shown}\x1b[0m" if sys.stderr.isatty() else shown) + "\n")


def print_json(result: Any) -> None:
    """Print a result for programs: one JSON document and nothing else."""
    sys.stdout.write(json.dumps(result, indent=2, default=_plain) + "\n")


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


@contextmanager
def showing_progress() -> Iterator[None]:
    """Show what learners report inside the block as progress bars, one for each description."""
    if not sys.stderr.isatty():
        yield
        return
    from mien.cli._consoles import errors
    from mien.cli._progress import show_bars

    with show_bars(errors) as show, listening(show):
        yield
