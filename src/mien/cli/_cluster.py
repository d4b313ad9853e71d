"""``mien cluster``: photographs or a video, sorted by person without any name."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import count, note, note_live, print_json, say, showing_progress
from mien.cli._models import check_model
from mien.cli._options import (
    AsJson,
    Engine,
    Jobs,
    MinQuality,
    ModelOption,
    Passphrase,
    Scheduler,
    ask_key,
    refuse,
)
from mien.cli._outputs import check_folder, saying_what_is_kept

__all__ = ["OutFolder", "Write", "run", "show_sizes"]

_BURSTS = 2.0
_SIZES_SHOWN = 12
_FAILURES_SHOWN = 10


class Write(StrEnum):
    """What is put into the folder of a person."""

    link = "link"
    copy = "copy"
    table = "table"


OutFolder = Annotated[Path, typer.Option(metavar="FOLDER", help="New folder to write.")]


def run(
    photos: Annotated[
        list[Path],
        typer.Argument(metavar="PHOTOS", help="Folders and files of photographs, or one video."),
    ],
    out: OutFolder = Path("people"),
    resume: Annotated[
        bool,
        typer.Option("--resume", help="For photographs: continue an interrupted run in --out."),
    ] = False,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep",
            help="For photographs: store face templates in --out, so that photographs can be "
            "added later.",
        ),
    ] = False,
    add: Annotated[
        bool,
        typer.Option(
            "--add",
            help="For photographs, with an --out that was sorted with --keep: analyse only new "
            "photographs; people keep their numbers.",
        ),
    ] = False,
    write: Annotated[
        Write | None,
        typer.Option(
            help="What goes into the folder of a person: links to the photographs or copies of "
            "them (always small pictures for a video); or write the table only.",
            show_default="link",
        ),
    ] = None,
    fpir: Annotated[
        float,
        typer.Option(
            min=1e-9,
            max=0.5,
            help="Maximum share of faces that may match somebody else; smaller values split "
            "people rather than mix them.",
        ),
    ] = 0.03,
    min_faces: Annotated[
        int, typer.Option(min=1, help="Minimum number of faces per person; others stay unsorted.")
    ] = 2,
    min_quality: MinQuality = 0.0,
    collages: Annotated[
        bool,
        typer.Option(
            "--collages",
            help="For photographs: two faces in one picture may be one person, as in collages and "
            "mirrors.",
        ),
    ] = False,
    bursts: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="For photographs: maximum seconds between two pictures of a burst; 0 turns bursts "
            "off.",
            show_default=f"{_BURSTS:g}",
        ),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(min=1, help="For a video: analyse every N-th frame.", show_default="1"),
    ] = None,
    engine: Engine = None,
    model: ModelOption = None,
    gallery: Annotated[
        Path | None,
        typer.Option(
            "--gallery",
            "-g",
            metavar="FILE",
            help="Gallery whose model decides. The faces also calibrate its error rates for this "
            "camera; nobody is enrolled, and only counts are kept.",
            show_default=False,
        ),
    ] = None,
    passphrase: Passphrase = False,
    neighbours: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of nearest neighbours to compare each face with; 0 compares all with all.",
            show_default="all with all up to 10,000 faces, then 24",
        ),
    ] = None,
    scheduler: Scheduler = None,
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Sort faces by person, without names. Two faces in one picture are two people.

    mien cluster holiday --out people

    mien cluster IMG_*.JPG party --out people

    mien cluster party.mp4 --out people

    The folder gets person-001, person-002 and so on, faces.csv and report.html. Rename the folders
    and give them to mien enrol.
    """
    from mien.media import is_picture

    if len(photos) > 1 or photos[0].is_dir() or is_picture(photos[0]):
        refuse("is for a video, and the input is photographs", every=every)
    elif photos[0].is_file():
        placed = None if write is Write.table else write
        refuse(
            "is for photographs, and the input is a video",
            bursts=bursts, resume=resume, write=placed, collages=collages, keep=keep, add=add,
        )  # fmt: skip
    if model is not None:
        check_model(model, "mien cluster")
    if gallery is None:
        refuse("is for a gallery, and none was given", passphrase=passphrase)
    else:
        refuse("has no effect with --gallery, which has its own model", model=model)
    check_folder(out)
    from mien.recognition import cluster_files

    keeping = saying_what_is_kept(lambda: _kept(out, add), journal=lambda: _has_journal(out))
    with keeping, showing_progress():
        found = cluster_files(
            photos,
            out,
            resume=resume,
            add=add,
            keep=keep,
            how=(write or Write.link).value,
            model=model,
            engine=engine,
            fpir=fpir,
            min_faces=min_faces,
            min_quality=min_quality,
            collages=collages,
            bursts=_BURSTS if bursts is None else bursts,
            every=every or 1,
            n_jobs=jobs,
            gallery=gallery,
            key=ask_key(passphrase),
            neighbours=neighbours,
            scheduler=scheduler,
        )
    if as_json:
        print_json(found.to_dict() | {"out": str(out)})
        return
    say(found.in_words())
    show_sizes(found.sizes)
    for failure in found.failures[:_FAILURES_SHOWN]:
        note(f"not used: {failure.path}: {failure.detail}")
    if len(found.failures) > _FAILURES_SHOWN:
        note(f"… and {len(found.failures) - _FAILURES_SHOWN:,} more; --json lists all of them")
    if found.observed is not None:
        note(
            f"{gallery} has learned from {count(found.observed.n_faces, 'unnamed face')} of about "
            f"{count(found.observed.n_people, 'person', 'people')}: see mien gallery check"
        )
    if keep or add:
        note(f"{out} keeps the templates of the faces: add photographs with --add.")
    note_live(*photos)
    note(f"Overview: {out / 'report.html'}")
    if found.n_people and write is not Write.table:
        command = f"mien enrol {shlex.quote(str(out))} --gallery FILE"
        note(f"To name them: rename the folders in {out}, then {command}")


def _has_journal(out: Path) -> bool:
    return any(out.glob(".*.journal"))


def _kept(out: Path, add: bool) -> str:
    """What an interrupted run leaves behind."""
    if add:
        return "The earlier result is unchanged, and the faces found so far are kept: run it again."
    if not _has_journal(out):
        return "Nothing was written."
    return (
        f"The faces found so far are kept in {out}: add --resume to continue, or delete the folder "
        "(it holds templates)."
    )


def show_sizes(sizes: list[int]) -> None:
    """How many faces the largest clusters have."""
    if sizes:
        more = " …" if len(sizes) > _SIZES_SHOWN else ""
        say(f"Faces per person: {', '.join(map(str, sizes[:_SIZES_SHOWN]))}{more}")
