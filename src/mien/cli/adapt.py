"""``mien adapt``: a verifier moved to a few people of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mien.cli._display import console, errors, print_json, showing_progress
from mien.cli.enrol import ask_key, show_failures
from mien.cli.train_verification import show_verifier
from mien.errors import InputError

if TYPE_CHECKING:
    from mien.recognition import Adaptation

__all__ = ["adapt"]


def adapt(
    photos: Annotated[
        Path,
        typer.Argument(
            help="A folder with one folder of pictures a person, a CSV file with the columns file "
            "and person, or an .npz file with X and y.",
            metavar="PHOTOS",
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Model file to write.")] = None,
    gallery: Annotated[
        Path | None,
        typer.Option("--gallery", "-g", help="Gallery whose verifier is replaced.", metavar="FILE"),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            help="What to start from: a model of mien adapt, or of mien train verification. "
            "(Default: the shipped one.)"
        ),
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="sface or dlib. (Default: the model's, or sface.)")
    ] = None,
    far: Annotated[
        float | None,
        typer.Option(
            min=1e-9,
            max=0.5,
            help="With a model of mien train verification: false accept rate to promise.",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Pictures worked on at the same time.")] = 2,
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Ask for the passphrase of a sealed gallery.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary for programs, and nothing else.")
    ] = False,
) -> None:
    """Move the verifier to your own people, camera and light; a handful of people will do.

    mien adapt photos --gallery people.gallery

    mien adapt photos --out mine.mien

    Shows what it brings on people held out of the adaptation. Exit code 1: some pictures gave no
    template; the others were used.
    """
    from mien.files import load
    from mien.recognition import FaceModel
    from mien.recognition import adapt as adapt_photos

    found = None if model is None else load(model)
    if found is not None and not isinstance(found, FaceModel):
        _adapt_vectors(found, photos, out, far, as_json)
        return
    with showing_progress():
        result = adapt_photos(
            photos, model=found, engine=engine, gallery=gallery, out=out, n_jobs=jobs,
            key=ask_key(passphrase),
        )  # fmt: skip
    if as_json:
        print_json(result.to_dict() | {"model": None if out is None else str(out)})
    else:
        _show(result, out, gallery)
    if result.failures:
        raise typer.Exit(1)


def _adapt_vectors(
    model: Any, data: Path, out: Path | None, far: float | None, as_json: bool
) -> None:
    """Models of ``mien train verification``: vectors, or pictures that are cut out already."""
    from mien.crops import adapt as adapt_crops
    from mien.files import save

    if out is None:
        raise InputError("give --out FILE: where the adapted model should be written")
    with showing_progress():
        adapted, summary = adapt_crops(model, data, far=far)
        save(adapted, out)
    show_verifier(summary, out, as_json=as_json)


def _show(result: Adaptation, out: Path | None, gallery: Path | None) -> None:
    from mien.reports import Report

    console.print(
        f"{result.pictures:,} pictures of {result.people:,} people; the source weighs "
        f"{result.source_weight:.2f} in the adapted model.",
        highlight=False,
    )
    rows = result.rows()
    if rows:
        report = Report("On people held out", "a part of the people at a time, with 95 % intervals")
        report.table("Before and after", rows, "Cllr in bits: 0 is perfect, above 1 misleads.")
        report.print(console)
    if result.gain is not None:
        value, low, high = result.gain
        console.print(
            f"Cllr falls by {value:+.4f} bits [{low:+.4f}, {high:+.4f}].", highlight=False
        )
    show_failures(result.failures, result.pictures + len(result.failures))
    for warning in result.warnings:
        errors.print(warning, style="yellow", highlight=False, markup=False)
    for what, place in (("The model", out), ("The verifier of the gallery is replaced", gallery)):
        if place is not None:
            console.print(f"{what}: {place}", highlight=False, markup=False, soft_wrap=True)
    if out is None and gallery is None:
        errors.print("Nothing was written: give --out FILE or --gallery FILE.", highlight=False)
