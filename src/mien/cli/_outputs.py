"""Places to write to are tried before the work begins; what was kept is said if it is stopped."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from mien.cli._display import note
from mien.errors import DataError, InputError

__all__ = ["check_file", "check_folder", "saying_what_is_kept"]

_BLOCK = 65536


def check_folder(path: Path | None) -> None:
    """Refuse a folder into which nothing can be written; it need not exist yet."""
    if path is None:
        return
    place = path.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        raise InputError(f"{str(path)!r} cannot be written: {str(place)!r} is not a folder")
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(bytes(_BLOCK))
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror}") from error


def check_file(path: Path | None) -> None:
    """Refuse a file that cannot be written; its folder must exist."""
    if path is None:
        return
    if not path.absolute().parent.is_dir():
        raise InputError(f"{str(path)!r} cannot be written: its folder does not exist")
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder: give the name of a file")
    check_folder(path.absolute().parent)


@contextmanager
def saying_what_is_kept(
    words: Callable[[], str], *, journal: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """On Ctrl-C say what is kept and how to continue; the exit code is 130.

    So it is on a full disk or another failure, where there is a journal by then.
    """
    try:
        yield
    except DataError:
        if journal():
            note(words())
        raise
    except KeyboardInterrupt:
        note(f"\nInterrupted. {words()}")
        raise typer.Exit(130) from None
