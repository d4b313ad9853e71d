"""What every verb shows with: the console, the progress bar, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from mien._core.progress import listening

__all__ = ["console", "errors", "print_json", "showing_progress"]

console = Console()
errors = Console(stderr=True)


def print_json(result: Any) -> None:
    """Print a result for programs: one JSON document and nothing else."""
    console.file.write(json.dumps(result, indent=2, default=_plain) + "\n")


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


class _Rate(ProgressColumn):
    """Steps a second, or seconds a step where that is more telling."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if not speed:
            return Text("")
        return Text(f"{speed:.1f}/s" if speed >= 1 else f"{1 / speed:.1f} s each", style="dim")


@contextmanager
def showing_progress() -> Iterator[None]:
    """Show what learners report inside the block as progress bars, one for each description."""
    bars: dict[str, TaskID] = {}
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=errors,
        transient=True,
    ) as progress:

        def show(description: str, done: int, total: int | None) -> None:
            if description not in bars:
                bars[description] = progress.add_task(description, total=total)
            finished = total is not None and done >= total
            progress.update(bars[description], completed=done, total=total, visible=not finished)

        with listening(show):
            yield
