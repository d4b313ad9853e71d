"""The consoles for tables: as wide as the terminal, or wide enough that nothing is folded."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleDimensions
from rich.segment import Segment

from mien.cli._display import clean

__all__ = ["console", "errors"]

_WIDE = 10_000


class _Console(Console):
    """As wide as the terminal; in a pipe or a file wide enough that nothing is folded."""

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        # The last step before the terminal: what is text by now can only be read.
        return super()._render_buffer(
            segment if segment.control else segment._replace(text=clean(segment.text))
            for segment in buffer
        )

    @property  # type: ignore[misc]  # Nobody sets the size.
    def size(self) -> ConsoleDimensions:
        if self.is_terminal:
            return super().size
        return ConsoleDimensions(_WIDE, 25)


console = _Console(highlight=False)
errors = _Console(stderr=True, highlight=False)
