"""``mien enrol``: people of a folder or a table into a gallery."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress

if TYPE_CHECKING:
    from mien.recognition import Failure

__all__ = ["ask_key", "enrol", "show_failures"]

_NAMED = 10


def enrol(
    photos: Annotated[
        Path,
        typer.Argument(
            help="A folder with one folder a person, or a CSV file with the columns file and "
            "person.",
            metavar="PHOTOS",
        ),
    ],
    gallery: Annotated[
        Path, typer.Option("--gallery", "-g", help="The gallery; made if it is not there.")
    ],
    model: Annotated[
        Path | None,
        typer.Option(help="Of a new gallery: from mien adapt. (Default: the shipped model.)"),
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="Of a new gallery: sface or dlib. (Default: sface.)")
    ] = None,
    min_quality: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Refuse faces of a lower quality.")
    ] = 0.0,
    jobs: Annotated[int, typer.Option(min=1, help="Pictures worked on at the same time.")] = 2,
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Ask for the passphrase of a sealed gallery.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result for programs, and nothing else.")
    ] = False,
) -> None:
    """Enrol people: one face a picture, the same picture once, and again where it stopped.

    mien enrol photos --gallery people.gallery

    Exit code 1: some pictures gave no template; the others are enrolled.
    """
    from mien.recognition import enrol as enrol_photos

    with showing_progress():
        result = enrol_photos(
            photos, gallery, model=model, engine=engine, min_quality=min_quality, n_jobs=jobs,
            key=ask_key(passphrase, new=not gallery.exists()),
        )  # fmt: skip
    if as_json:
        print_json(result.to_dict())
    else:
        known = f"; {result.already:,} known already" if result.already else ""
        console.print(
            f"{result.pictures:,} pictures: {result.added:,} faces of {len(result.people):,} "
            f"people enrolled{known}.",
            highlight=False,
        )
        show_failures(result.failures, result.pictures)
        console.print(
            f"The gallery: {result.gallery}", highlight=False, markup=False, soft_wrap=True
        )
    if result.failures:
        raise typer.Exit(1)


def ask_key(passphrase: bool, *, new: bool = False) -> str | None:
    """The passphrase of a sealed gallery, typed in unseen; twice where it is a ``new`` one."""
    if not passphrase:
        return None
    typed: str = typer.prompt("Passphrase", hide_input=True, err=True, confirmation_prompt=new)
    return typed


def show_failures(failures: list[Failure], n_pictures: int) -> None:
    """Count failures to acquire by reason, and name the first of them."""
    from mien.recognition._people import count_reasons

    if not failures:
        return
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in count_reasons(failures).items())
    errors.print(
        f"{len(failures):,} of {n_pictures:,} pictures gave no template: {reasons}",
        style="yellow", highlight=False, markup=False,
    )  # fmt: skip
    for failure in failures[:_NAMED]:
        errors.print(
            f"  {failure.path}: {failure.detail}", highlight=False, markup=False, soft_wrap=True
        )
    if len(failures) > _NAMED:
        errors.print(f"  … and {len(failures) - _NAMED:,} more; --json lists all of them")
