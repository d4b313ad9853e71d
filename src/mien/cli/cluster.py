"""``mien cluster``: photographs, a video or cropped faces, sorted by person without a name."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress
from mien.errors import InputError

__all__ = ["cluster"]


class Write(StrEnum):
    copy = "copy"
    link = "link"
    table = "table"


def cluster(
    unsorted: Annotated[
        Path,
        typer.Argument(
            help="Folder of photographs or a video; with --groups, pictures of one face each.",
            metavar="UNSORTED",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder to write; it must be new.")] = Path("clusters"),
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an interrupted run in that folder.")
    ] = False,
    write: Annotated[
        Write | None,
        typer.Option(
            help="A folder a person with links or copies, or the table alone. "
            "(Default: link; with --groups copy.)"
        ),
    ] = None,
    fpir: Annotated[
        float,
        typer.Option(
            help="How careful to be: the part of faces for which a stranger among all others "
            "would pass the threshold.",
            min=0.0,
            max=1.0,
        ),
    ] = 0.03,
    min_faces: Annotated[
        int, typer.Option(help="People with fewer faces stay unsorted.", min=1)
    ] = 2,
    min_quality: Annotated[
        float, typer.Option(help="Leave out faces below this quality.", min=0.0, max=1.0)
    ] = 0.0,
    bursts: Annotated[
        float, typer.Option(help="Most seconds between two pictures of a burst; 0: none.", min=0.0)
    ] = 2.0,
    every: Annotated[int, typer.Option(help="Of a video, each so many frames.", min=1)] = 1,
    engine: Annotated[
        str | None, typer.Option(help="sface or dlib. (Default: the model's, or sface.)")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="From `mien adapt`. (Default: the shipped one.)")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Pictures at the same time.", min=1)] = 2,
    groups: Annotated[
        str | None,
        typer.Option(
            help="Pictures of one face each and what is known of them: a table with the columns "
            "file and group (or frame, x, y, w, h, to make tracks of), or 'folders'. A column "
            "picture says which faces were in one picture: two people. Learned from them; needs "
            "no engine.",
            metavar="TRACKS.csv",
        ),
    ] = None,
    people: Annotated[
        int | None,
        typer.Option(help="With --groups: how many people. (Default: by silhouette.)", min=1),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="With --groups: kernel-null-space, null-space, relevant-components or "
            "kernel-relevant-components."
        ),
    ] = "kernel-null-space",
    seed: Annotated[int, typer.Option(help="With --groups: seed of what is drawn.", min=0)] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result for programs, and nothing else.")
    ] = False,
) -> None:
    """Sort faces by person: no names are needed, and two faces of one picture are two people.

    mien cluster holiday --out people
    mien cluster party.mp4 --out people
    mien cluster faces --groups tracks.csv --out people
    """
    if groups is not None:
        _cluster_crops(unsorted, groups, out, people, write, method, seed, as_json)
        return
    if people is not None:
        raise InputError("--people needs --groups: the number of people follows from --fpir")
    from mien.recognition import cluster as sort
    from mien.recognition._cluster_output import check_new, in_words, open_journal, write_people

    check_new(out, resume, unsorted)
    with showing_progress():
        found = sort(
            unsorted,
            model=model,
            engine=engine,
            fpir=fpir,
            min_faces=min_faces,
            min_quality=min_quality,
            bursts=bursts,
            every=every,
            n_jobs=jobs,
            journal=open_journal(out),
        )
        place = write_people(found, out, (write or Write.link).value)
    if as_json:
        print_json(found.to_dict() | {"out": str(place)})
        return
    console.print(in_words(found), highlight=False)
    sizes = found.sizes
    if sizes:
        shown = ", ".join(map(str, sizes[:12])) + (" …" if len(sizes) > 12 else "")
        console.print(f"Faces of each: {shown}", highlight=False)
    for failure in found.failures:
        errors.print(f"left out: {failure.path}: {failure.detail}", markup=False, highlight=False)
    errors.print(f"Look at: {place / 'report.html'}", markup=False, highlight=False, soft_wrap=True)


def _cluster_crops(
    folder: Path,
    groups: str,
    out: Path,
    people: int | None,
    write: Write | None,
    method: str,
    seed: int,
    as_json: bool,
) -> None:
    """Pictures of one face each, learned from groups."""
    from mien.crops import cluster as cluster_crops
    from mien.crops import write_clusters

    with showing_progress():
        result = cluster_crops(folder, groups, n_clusters=people, method=method, random_state=seed)
        place = write_clusters(result, out, copy=(write or Write.copy).value)
    sizes = [int((result.clusters == k).sum()) for k in range(result.n_clusters)]
    if as_json:
        print_json(
            {
                "pictures": len(result.files),
                "clusters": dict(zip(result.files, result.clusters.tolist(), strict=True)),
                "sizes": sizes,
                "skipped": result.skipped,
                "out": str(place),
            }
        )
        return
    n_groups = len(set(result.groups[result.groups >= 0].tolist()))
    console.print(
        f"{len(result.files)} pictures, {n_groups} groups, {len(result.cannot_link)} pairs of two "
        f"people: {result.n_clusters} clusters of {', '.join(map(str, sizes[:12]))}"
        f"{' …' if len(sizes) > 12 else ''} pictures",
        highlight=False,
    )
    for reason in result.skipped:
        errors.print(f"left out: {reason}", markup=False, highlight=False)
    errors.print(f"Written: {place}", markup=False, highlight=False, soft_wrap=True)
