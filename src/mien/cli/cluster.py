"""``mien cluster``: the faces of a folder, sorted by person, learned from groups without names."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["cluster"]


class Write(StrEnum):
    copy = "copy"
    link = "link"
    table = "table"


def cluster(
    folder: Annotated[
        Path,
        typer.Argument(help="Pictures of one face each, in any folders below.", metavar="FOLDER"),
    ],
    groups: Annotated[
        str,
        typer.Option(
            help="Table with the columns file and group (or frame, x, y, w, h, to make tracks of), "
            "or 'folders'. A column picture says which faces were in one picture: two people.",
            metavar="TRACKS.csv",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder to write; it must be new.")] = Path("clusters"),
    people: Annotated[
        int | None, typer.Option(help="How many people. (Default: by silhouette.)", min=1)
    ] = None,
    write: Annotated[
        Write, typer.Option(help="A folder a person with copies or links, or the table alone.")
    ] = Write.copy,
    method: Annotated[
        str,
        typer.Option(
            help="kernel-null-space, null-space, relevant-components or kernel-relevant-components."
        ),
    ] = "kernel-null-space",
    seed: Annotated[int, typer.Option(help="Seed of what is drawn.", min=0)] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result for programs, and nothing else.")
    ] = False,
) -> None:
    """Sort faces by person, learned from tracks or bursts: no names are needed.

    mien cluster faces --groups tracks.csv --out people
    """
    from mien.experiments.cluster import cluster_folder, write_clusters

    with showing_progress():
        result = cluster_folder(folder, groups, n_clusters=people, method=method, random_state=seed)
        place = write_clusters(result, out, copy=write.value)
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
