"""The consoles for tables: as wide as the terminal, or wide enough that nothing is folded."""

from __future__ import annotations

from rich.console import Console, ConsoleDimensions

__all__ = ["console", "errors"]

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
