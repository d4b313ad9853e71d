"""``mien enrol``: people from a folder or a table into a gallery."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mien.cli._display import count, note, print_json, say, showing_progress, warn
from mien.cli._models import check_model
from mien.cli._options import AsJson, Jobs, MinQuality, Passphrase, Scheduler, ask_key, refuse
from mien.cli._outputs import check_file, saying_what_is_kept
from mien.errors import InputError

if TYPE_CHECKING:
    from mien.recognition import Failure, NamedEnrolment

__all__ = ["run", "show_failures"]

_NAMED = 10


def run(
    photos: Annotated[
        list[Path],
        typer.Argument(
            metavar="PHOTOS",
            help="A folder with one folder per person, a CSV file with the columns file and "
            "person, or what mien cluster wrote. With --person: pictures or folders of one "
            "person. With --names: any folder of pictures.",
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
    person: Annotated[
        str | None, typer.Option(metavar="NAME", help="The person on all pictures.")
    ] = None,
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
            help="For a new gallery: sface, dlib or sface+dlib.",
            show_default="the model's, or sface",
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE",
            help="Use the names that other programs wrote: auto, or takeout, picasa, xmp, folder, "
            "table; repeat for several.",
        ),
    ] = None,
    min_probability: Annotated[
        float | None,
        typer.Option(
            min=0.5,
            max=0.9999,
            help="With --names: minimum probability of a name whose face is not marked.",
            show_default="0.95",
        ),
    ] = None,
    adapt: Annotated[
        bool,
        typer.Option(
            "--adapt",
            help="With --names: adapt the verifier to faces whose names are certain, if that "
            "improves it on held-out people.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="With --names: write a page that shows every face to this folder.",
        ),
    ] = None,
    min_quality: MinQuality = 0.0,
    scheduler: Scheduler = None,
    jobs: Jobs = 2,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Enrol the faces of named people. Pictures that are already enrolled are skipped.

    mien enrol photos --gallery people.gallery

    mien enrol a.jpg b.jpg --person Ann --gallery people.gallery

    mien enrol people --gallery people.gallery (after mien cluster, with the folders renamed)

    mien enrol Takeout --names auto --gallery people.gallery

    An interrupted run continues when it is started again. Exit code 1: some pictures could not be
    processed; all others are enrolled.
    """
    from mien.gallery import has_gallery, is_address

    if model is not None:
        check_model(model, "mien enrol")
    if names:
        refuse("is for pictures of one person, not for names of other programs", person=person)
        refuse("is not for names of other programs", scheduler=scheduler)
        if len(photos) > 1:
            raise InputError(f"--names reads one folder at a time; {len(photos)} were given")
        _enrol_names(
            photos[0], gallery, names, min_probability or 0.95, adapt, out, model, engine,
            min_quality, jobs, ask_key(passphrase, new=not has_gallery(gallery)), as_json,
        )  # fmt: skip
        return
    refuse(
        "is for names of other programs (--names)",
        min_probability=min_probability, out=out, adapt=adapt,
    )  # fmt: skip
    from mien.recognition import enrol

    if not is_address(gallery):
        check_file(gallery)
    kept = "What was enrolled is kept: run it again to continue."
    with saying_what_is_kept(lambda: kept), showing_progress():
        result = enrol(
            photos,
            gallery,
            person=person,
            model=model,
            engine=engine,
            min_quality=min_quality,
            n_jobs=jobs,
            key=ask_key(passphrase, new=not has_gallery(gallery)),
            scheduler=scheduler,
        )
    if as_json:
        print_json(result.to_dict())
    else:
        known = f"; already enrolled: {result.already:,}" if result.already else ""
        say(
            f"{count(result.pictures, 'picture')}: {count(result.added, 'face')} of "
            f"{count(len(result.people), 'person', 'people')} enrolled{known}."
        )
        show_failures(result.failures, result.pictures)
        say(f"Gallery: {result.gallery}")
        if result.first_change is not None:
            note(f"To undo: mien gallery undo --to {result.first_change} --gallery {gallery}")
    if result.failures:
        raise typer.Exit(1)


def _enrol_names(
    photos: Path,
    gallery: Path,
    names: list[str],
    min_probability: float,
    adapt: bool,
    out: Path | None,
    model: Path | None,
    engine: str | None,
    min_quality: float,
    jobs: int,
    key: str | None,
    as_json: bool,
) -> None:
    """Names of other programs: what was used, what stays open, and why."""
    from mien.recognition import enrol_names, report_names

    with showing_progress():
        result = enrol_names(
            photos,
            gallery,
            sources="auto" if names == ["auto"] else names,
            min_probability=min_probability,
            adapt=adapt,
            model=model,
            engine=engine,
            min_quality=min_quality,
            n_jobs=jobs,
            key=key,
        )
    page = None if out is None else report_names(result).write(out)
    if as_json:
        print_json(result.to_dict())
        return
    used = ", ".join(f"{times:,} by {source}" for source, times in result.sources.items())
    named = sum(face.person is not None for face in result.faces)
    say(f"{count(result.pictures, 'picture')}, named: {used}.")
    say(
        f"{count(len(result.faces), 'face')}: {named:,} of "
        f"{count(len(result.people), 'person', 'people')} got a name, "
        f"{len(result.faces) - named:,} stay open; {result.added:,} enrolled now, "
        f"{result.already:,} before."
    )
    for name, times in list(result.people.items())[:_NAMED]:
        say(f"  {name}: {times:,}")
    if adapt:
        _say_adapted(result)
    if result.unplaced:
        note(f"Names at a place where no face was found: {len(result.unplaced):,}.")
    if result.unmatched:
        note(f"Names that no face of their picture got: {len(result.unmatched):,}.")
    show_failures(result.failures, result.pictures)
    say(f"Gallery: {result.gallery}")
    if page is not None:
        note(f"Page: {page}")


def _say_adapted(result: NamedEnrolment) -> None:
    """Whether the verifier learned from the sure faces."""
    learned = result.adaptation
    if learned is None:
        say("The verifier was kept: fewer than four people have two faces with certain names.")
    elif learned.better and learned.moved:
        say(f"The verifier was adapted to {count(learned.pictures, 'face')} with certain names.")
    else:
        say("The verifier was kept: adapting it is no better on held-out people.")


def show_failures(failures: list[Failure], n_pictures: int) -> None:
    """Count the pictures that could not be used by reason, and name the first of them."""
    from mien.recognition import count_reasons

    if not failures:
        return
    reasons = ", ".join(f"{times:,} {reason}" for reason, times in count_reasons(failures).items())
    warn(f"{len(failures):,} of {count(n_pictures, 'picture')} could not be used: {reasons}")
    for failure in failures[:_NAMED]:
        note(f"  {failure.path}: {failure.detail}")
    if len(failures) > _NAMED:
        note(f"  … and {len(failures) - _NAMED:,} more; --json lists all of them")
