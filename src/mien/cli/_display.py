"""What every verb shows with: the consoles, lines, the progress bar, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, ConsoleDimensions

from mien._core.progress import listening

__all__ = ["console", "errors", "note", "print_json", "say", "showing_progress", "warn"]

_WIDE = 10_000


class _Console(Console):
    """As wide as the terminal; in a pipe or a file wide enough that nothing is folded."""

    @property
    def size(self) -> ConsoleDimensions:
        if self.is_terminal:
            return super().size
        return ConsoleDimensions(_WIDE, 25)


console = _Console(highlight=False)
errors = _Console(stderr=True, highlight=False)


def say(text: str) -> None:
    """Print a line of the result; names and paths are never folded."""
    console.print(text, markup=False, soft_wrap=True)


def note(text: str) -> None:
    """Print a line beside the result, on the stream that pipes do not see."""
    errors.print(text, markup=False, soft_wrap=True)


def warn(text: str) -> None:
    """Print a line of warning, on the stream that pipes do not see."""
    errors.print(text, style="yellow", markup=False, soft_wrap=True)


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
    if not errors.is_terminal:
        yield
        return
    from mien.cli._progress import show_bars

    with show_bars(errors) as show, listening(show):
        yield
