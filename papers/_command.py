"""What the papers' command lines share: options, how a report is shown, and how errors are."""

from __future__ import annotations

import contextlib
import inspect
import json
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from mien._core.atomic import write_atomically
from mien._core.progress import listening
from mien.cli import PlainCommand, console, errors, print_json, showing_progress
from mien.distributed import workers_of
from mien.errors import InputError, MienError

__all__ = ["Run", "choose", "command", "run_command", "show_report", "spell_command"]

#: Options that say where to write, to read or to work, and nothing about what is measured.
_PLACES = {
    "--data-home", "--out", "--figures", "--results", "--page", "--resume", "--train", "--cards",
    "--scheduler",
}  # fmt: skip
#: Those whose presence matters, and whose value does not.
_FOLDERS = {"--cache"}
#: Name and options of the paper that is running.
_given: ContextVar[tuple[str, tuple[str, ...]]] = ContextVar("given")


@dataclass(frozen=True)
class Run:
    """The options that all papers have.

    Attributes
    ----------
    quick : bool
        Whether to run the small version.
    seed : int
        Seed of every random choice.
    data_home : Path or None
        Folder of the real data sets; None takes MIEN_DATA.
    out, figures : Path or None
        Folders for the report and for its figures.
    results : Path or None
        File for the results pages of the docs.
    scheduler : str or None
        Workers of Dask for the repetitions; None makes them one after the other.
    as_json : bool
        Whether to print JSON.
    """

    quick: Annotated[
        bool, typer.Option("--quick", help="A small version that takes a minute or two.")
    ] = False
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0
    data_home: Annotated[
        Path | None, typer.Option(help="Folder of the real data sets.", show_default="MIEN_DATA")
    ] = None
    out: Annotated[Path | None, typer.Option(help="Write report.html and report.json here.")] = None
    figures: Annotated[
        Path | None, typer.Option(help="Write each figure as an SVG file here, for the docs.")
    ] = None
    results: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write tables, figures and this command as data for the results pages of the "
            "docs: docs/results/data/NAME.json.",
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Let workers of Dask make the repetitions: address of a scheduler, or local for "
            "workers of this machine.",
            show_default=False,
        ),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False

    def pick(self, given: Any, small: Any, full: Any) -> Any:
        """What an option says; where it says nothing, the small or the full value."""
        if given is not None:
            return given
        return small if self.quick else full


def command(
    *, seed: bool = True, figures: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Make a paper's command line of a function that takes a :class:`Run` and returns a report.

    Parameters
    ----------
    seed, figures : bool
        Whether the paper has these options; it has all others of :class:`Run`.
    """
    left_out = {name for name, has in (("seed", seed), ("figures", figures)) if not has}
    every = inspect.signature(Run, eval_str=True).parameters.values()
    shared = [parameter for parameter in every if parameter.name not in left_out]

    def decorate(paper: Callable[..., Any]) -> Callable[..., None]:
        _, *own = inspect.signature(paper, eval_str=True).parameters.values()

        def main(**options: Any) -> None:
            run = Run(**{p.name: options.pop(p.name) for p in shared})
            shown = showing_progress() if sys.stderr.isatty() else _printing_progress()
            with shown, workers_of(run.scheduler):
                report = paper(run, **options)
            if report is not None:
                show_report(report, run)

        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in [*own, *shared]]
        main.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        main.__doc__ = paper.__doc__
        return main

    return decorate


@contextlib.contextmanager
def _printing_progress() -> Iterator[None]:
    """Where there is no terminal: a line when something begins, and every ten seconds after it."""
    begin = time.perf_counter()
    printed: dict[str, float] = {}

    def show(what: str, done: int, total: int | None) -> None:
        now = time.perf_counter() - begin
        if now - printed.get(what, -10.0) < 10.0:
            return
        printed[what] = now
        amount = f"{done:,}" if total is None else f"{done:,} of {total:,}"
        sys.stderr.write(f"{now:6.0f} s  {what}: {amount}\n")

    with listening(show):
        yield


def choose(given: Sequence[str] | None, known: Sequence[str], what: str) -> tuple[str, ...]:
    """Names given by a repeated option: all of them if none was, nothing for ``none`` alone."""
    if not given:
        return tuple(known)
    if list(given) == ["none"]:
        return ()
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InputError(f"there is no {what} {unknown[0]!r}; there are {', '.join(known)}")
    return tuple(given)


def show_report(report: Any, run: Run) -> None:
    """Write a report into a folder, if one is named, and print it as tables or as JSON."""
    if run.figures is not None:
        report.write_figures(run.figures)
    if run.results is not None:
        _write_results(report, run)
    page = None if run.out is None else report.write(run.out)
    if run.as_json:
        print_json(report.to_dict())
    else:
        report.print(console)
    if page is not None:
        errors.print(f"\nReport: {page}", highlight=False, markup=False, soft_wrap=True)


def _write_results(report: Any, run: Run) -> None:
    """Write a report as data for the docs: no pictures of people, no paths, no date."""
    name, options = _given.get()
    found = {
        "paper": name,
        "command": spell_command(name, options),
        "quick": run.quick,
        **report.to_dict(),
    }
    found["parts"] = [part for part in found["parts"] if part["kind"] != "gallery"]
    text = json.dumps(_round_numbers(found), indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(Path(str(run.results)), (text + "\n").encode("utf-8"))


def spell_command(name: str, options: Sequence[str]) -> str:
    """A paper's command without what says only where to write or to read."""
    words = ["python", "-m", "papers", name]
    left = list(options)
    while left:
        option, equals, value = left.pop(0).partition("=")
        if not equals and option in _PLACES | _FOLDERS and left:
            value = left.pop(0)
        if option in _FOLDERS:
            words += [option, option.strip("-").upper()]
        elif option not in _PLACES | {"--json"}:
            words.append(shlex.quote(option + equals + value))
    return " ".join(words)


def _round_numbers(value: Any) -> Any:
    """Fractions with six digits: more are noise, and make the files large."""
    if isinstance(value, dict):
        return {key: _round_numbers(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_round_numbers(entry) for entry in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def run_command(main: Callable[..., None], name: str, options: list[str]) -> int:
    """Run a paper's function on the options of the command line; return the exit code."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(cls=PlainCommand)(main)
    _given.set((name, tuple(options)))
    try:
        app(options, prog_name=f"python -m papers {name}", standalone_mode=True)
    except MienError as error:
        errors.print(f"error: {error}", style="red", highlight=False, markup=False, soft_wrap=True)
        return 2
    except SystemExit as done:
        return int(done.code or 0)
    return 0
