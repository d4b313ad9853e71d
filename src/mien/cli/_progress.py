"""Progress bars on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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

__all__ = ["show_bars"]


class _Rate(ProgressColumn):
    """Steps per second, or seconds per step where that is easier to read."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if not speed:
            return Text("")
        return Text(f"{speed:.1f}/s" if speed >= 1 else f"{1 / speed:.1f} s each", style="dim")


@contextmanager
def show_bars(console: Console) -> Iterator[Callable[[str, int, int | None], None]]:
    """One bar per description, gone when it is done."""
    bars: dict[str, TaskID] = {}
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as progress:

        def show(description: str, done: int, total: int | None) -> None:
            if description not in bars:
                bars[description] = progress.add_task(description, total=total)
            finished = total is not None and done >= total
            progress.update(bars[description], completed=done, total=total, visible=not finished)

        yield show
