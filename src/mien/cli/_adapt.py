"""``mien adapt``: the verifier, moved to a few people of your own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mien.cli._display import count, note, print_json, say, showing_progress, warn
from mien.cli._enrol import show_failures
from mien.cli._models import check_model
from mien.cli._options import AsJson, Engine, Jobs, Passphrase, Scheduler, ask_key, refuse
from mien.cli._outputs import check_file
from mien.errors import InputError

if TYPE_CHECKING:
    from mien.recognition import Adaptation

__all__ = ["run"]


def run(
    photos: Annotated[
        Path | None,
        typer.Argument(
            metavar="PHOTOS",
            help="A folder with one folder per person, or a CSV file with the columns file and "
            "person.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Model file to write.")] = None,
    gallery: Annotated[
        Path | None,
        typer.Option(
            "--gallery",
            "-g",
            metavar="FILE",
            help="Gallery that gets the adapted verifier, if it is better on held-out people.",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Model file to start from, written by mien adapt.",
            show_default="the shipped model",
        ),
    ] = None,
    engine: Engine = None,
    revert: Annotated[
        bool,
        typer.Option(
            "--revert", help="Restore the verifier that --gallery had before the last change."
        ),
    ] = False,
    jobs: Jobs = 2,
    scheduler: Scheduler = None,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Adapt the verifier to your own people, camera and lighting; a handful of people is enough.

    mien adapt photos --gallery people.gallery

    mien adapt photos --out mine.mien

    mien adapt --revert --gallery people.gallery

    Without --out and --gallery, nothing is written and the gain on held-out people is shown. Exit
    code 1: some pictures could not be processed; all others were.
    """
    if gallery is None:
        refuse("is for a sealed gallery, and no --gallery was given", passphrase=passphrase)
    if revert:
        words = "has no effect with --revert"
        refuse(words, out=out, model=model, engine=engine, photos=photos, scheduler=scheduler)
        _revert(gallery, passphrase, as_json)
        return
    if photos is None:
        raise InputError("photographs are needed: a folder with one folder per person, or a table")
    if model is not None:
        check_model(model, "mien adapt")
    check_file(out)
    from mien.recognition import adapt

    with showing_progress():
        result = adapt(
            photos,
            model=model,
            engine=engine,
            gallery=gallery,
            out=out,
            n_jobs=jobs,
            key=ask_key(passphrase),
            scheduler=scheduler,
        )
    if as_json:
        print_json(
            result.to_dict()
            | {
                "model": None if out is None else str(out),
                "replaced": gallery is not None and result.better,
            }
        )
    else:
        _show(result, out, gallery)
    if result.failures:
        raise typer.Exit(1)


def _revert(gallery: Path | None, passphrase: bool, as_json: bool) -> None:
    """The verifier before the last change comes back."""
    from mien.gallery import Gallery

    if gallery is None:
        raise InputError("--revert needs --gallery")
    with Gallery.open(gallery, key=ask_key(passphrase)) as opened:
        name = opened.revert_model().card.get("name", "")
    if as_json:
        print_json({"gallery": str(gallery), "reverted to": name})
    else:
        say(f"{gallery} has its previous verifier again: {name or 'without a name'}.")
        note("The other one is kept: run --revert again to return to it.")


def _show(result: Adaptation, out: Path | None, gallery: Path | None) -> None:
    from mien.cli._consoles import console
    from mien.reports import Report

    what = (
        f"the model was moved; the source has a weight of {result.source_weight:.2f} in it"
        if result.moved
        else "they calibrate the model, and moving it as well is not clearly better"
    )
    pictures, people = count(result.pictures, "picture"), count(result.people, "person", "people")
    say(f"{pictures} of {people}: {what}.")
    rows = result.rows()
    if rows:
        report = Report("Held-out people", "one part of the people at a time, 95 % intervals")
        report.table("Before and after", rows, "Cllr in bits: 0 is perfect, above 1 is misleading.")
        report.print(console)
    if result.gain is not None:
        value, low, high = result.gain
        change = "falls" if value > 0 else "rises"
        say(
            f"Cllr {change} by {abs(value):.4f} bits (95 % interval of its fall: {low:+.4f} to "
            f"{high:+.4f})."
        )
    show_failures(result.failures, result.pictures + len(result.failures))
    for warning in result.warnings:
        warn(warning)
    if out is not None:
        say(f"Model: {out}")
    if gallery is not None and result.better:
        say(f"Verifier replaced in {gallery}; mien adapt --revert restores the old one.")
    elif gallery is not None:
        say(f"{gallery} keeps its verifier: there is no evidence that the adapted one is better.")
    if out is None and gallery is None:
        note("Nothing was written: give --out FILE or --gallery FILE.")
