"""``mien enrol``: people from a folder or a table into a gallery."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mien.cli._display import note, print_json, say, showing_progress, warn
from mien.cli._models import check_model
from mien.cli._options import AsJson, Jobs, MinQuality, Passphrase, ask_key

if TYPE_CHECKING:
    from mien.recognition import Failure

__all__ = ["run", "show_failures"]

_NAMED = 10


def run(
    photos: Annotated[
        Path,
        typer.Argument(
            metavar="PHOTOS",
            help="A folder with one folder per person, or a CSV file with the columns file and "
            "person.",
        ),
    ],
    gallery: Annotated[
        Path,
        typer.Option(
            "--gallery",
            "-g",
            metavar="FILE",
            help="Gallery file; created if it does not exist.",
            show_default=False,
        ),
    ],
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="For a new gallery: model file written by mien adapt.",
            show_default="the shipped model",
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="For a new gallery: sface or dlib.", show_default="the model's, or sface"
        ),
    ] = None,
    min_quality: MinQuality = 0.0,
    jobs: Jobs = 2,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Enrol the faces of named people. Pictures that are already enrolled are skipped.

    mien enrol photos --gallery people.gallery

    An interrupted run continues when it is started again. Exit code 1: some pictures could not be
    used; all others are enrolled.
    """
    if model is not None:
        check_model(model, "mien enrol")
    from mien.recognition import enrol

    with showing_progress():
        result = enrol(
            photos,
            gallery,
            model=model,
            engine=engine,
            min_quality=min_quality,
            n_jobs=jobs,
            key=ask_key(passphrase, new=not gallery.exists()),
        )
    if as_json:
        print_json(result.to_dict())
    else:
        known = f"; {result.already:,} were enrolled already" if result.already else ""
        say(
            f"{result.pictures:,} pictures: {result.added:,} faces of {len(result.people):,} "
            f"people enrolled{known}."
        )
        show_failures(result.failures, result.pictures)
        say(f"Gallery: {result.gallery}")
    if result.failures:
        raise typer.Exit(1)


def show_failures(failures: list[Failure], n_pictures: int) -> None:
    """Count the pictures that could not be used by reason, and name the first of them."""
    from mien.recognition import count_reasons

    if not failures:
        return
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in count_reasons(failures).items())
    warn(f"{len(failures):,} of {n_pictures:,} pictures could not be used: {reasons}")
    for failure in failures[:_NAMED]:
        note(f"  {failure.path}: {failure.detail}")
    if len(failures) > _NAMED:
        note(f"  … and {len(failures) - _NAMED:,} more; --json lists all of them")
