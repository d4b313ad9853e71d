"""Real data for benchmarks, and what a command says where they are missing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

__all__ = ["find_data", "run_command"]


def find_data(*parts: str) -> Path:
    """Return a file or folder below ``MIEN_DATA``.

    Parameters
    ----------
    *parts : str
        Names of the folders that lead to it, and its own.

    Raises
    ------
    MissingDataError
        If ``MIEN_DATA`` is not set, or does not hold it.
    """
    from mien.datasets import data_home
    from mien.errors import MissingDataError

    wanted = f"this benchmark needs {'/'.join(parts)} of the real data"
    try:
        home = data_home()
    except MissingDataError as error:
        raise MissingDataError(f"{wanted}: {error}") from None
    path = home.joinpath(*parts)
    if not path.exists():
        raise MissingDataError(f"{wanted}, which {str(home)!r} does not have")
    return path


def run_command(main: Callable[[], int | None]) -> None:
    """Run a command and end the process; where data are missing, with a sentence and code 2."""
    from mien.errors import MissingDataError

    try:
        code = main()
    except MissingDataError as error:
        sys.stderr.write(f"error: {error}\n")
        code = 2
    sys.exit(code)
