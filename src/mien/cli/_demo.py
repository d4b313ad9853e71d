"""``mien demo``: every method once, on rendered or real faces."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import note, print_json, showing_progress
from mien.cli._options import AsJson, DataHome, Seed, refuse
from mien.cli._outputs import check_folder

__all__ = ["run"]

_PEOPLE, _PICTURES = 80, 10


def run(
    data: Annotated[
        str,
        typer.Option(
            metavar="NAME|FOLDER",
            help="rendered (people who do not exist), orl, yale, lfw, or a folder with one folder "
            "per person.",
        ),
    ] = "rendered",
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for report.html and report.json.")
    ] = Path("demo-report"),
    people: Annotated[
        int | None,
        typer.Option(min=4, help="Number of people to render.", show_default=str(_PEOPLE)),
    ] = None,
    pictures: Annotated[
        int | None,
        typer.Option(
            min=2, help="Number of pictures to render per person.", show_default=str(_PICTURES)
        ),
    ] = None,
    data_home: DataHome = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Run every method once, in about a minute, and write a report."""
    from mien.cli._consoles import console

    if data != "rendered":
        refuse(f"is for rendered people, and --data is {data}", people=people, pictures=pictures)
    if data not in ("orl", "yale", "lfw"):
        refuse(f"is for orl, yale and lfw, and --data is {data}", data_home=data_home)
    check_folder(out)
    start = time.perf_counter()
    with showing_progress():
        from mien.demo import run_demo

        result = run_demo(
            data,
            n_people=people or _PEOPLE,
            n_per_person=pictures or _PICTURES,
            random_state=seed,
            home=data_home,
        )
        page = result.report.write(out)
    if as_json:
        print_json(result.report.to_dict())
    else:
        result.summary.print(console)
    for reason in result.skipped:
        note(f"left out: {reason}")
    note(f"\nReport ({time.perf_counter() - start:.0f} s): {page}")
    if data == "rendered" and not as_json:
        _offer_page(out, seed)


def _offer_page(out: Path, seed: int) -> None:
    """Make an album of rendered people and say how to open the page on it."""
    from mien.demo import make_demo_album
    from mien.errors import MissingDependencyError

    try:
        with showing_progress():
            gallery, photos = make_demo_album(out, random_state=seed)
    except MissingDependencyError as error:
        note(f"left out: the album for the page ({error})")
        return
    program = sys.argv[0] if Path(sys.argv[0]).name == "mien" else "mien"
    command = [program, "serve", "--gallery", str(gallery), "--photos", str(photos)]
    note(f"Look at people on the page: {shlex.join(command)}")
