"""``mien crops cluster``: cut-out faces sorted by person, learned from groups without names."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mien.cli._cluster import OutFolder, Write, show_sizes
from mien.cli._display import count, note, print_json, say, showing_progress
from mien.cli._options import AsJson, refuse

__all__ = ["run"]


class Method(StrEnum):
    """How a projection is learned from the groups."""

    kernel_null_space = "kernel-null-space"
    null_space = "null-space"
    relevant_components = "relevant-components"
    kernel_relevant_components = "kernel-relevant-components"


class Linkage(StrEnum):
    """How two sets of faces are compared."""

    average = "average"
    complete = "complete"


_KERNELS = (Method.kernel_null_space, Method.kernel_relevant_components)
_NULL_SPACES = (Method.kernel_null_space, Method.null_space)


def run(
    faces: Annotated[
        Path, typer.Argument(metavar="FACES", help="Folder of pictures with one face each.")
    ],
    groups: Annotated[
        str,
        typer.Option(
            metavar="TABLE.csv|folders",
            help="What is known about the faces: a table with the columns file and group, or "
            "file, frame, "
            "x, y, w and h, from which tracks are made; faces with the same value in a column "
            "picture are different people. 'folders' makes each folder a group.",
            show_default=False,
        ),
    ],
    out: OutFolder = Path("people"),
    write: Annotated[
        Write,
        typer.Option(
            help="Put links or copies into one folder per person, or write the table only."
        ),
    ] = Write.link,
    people: Annotated[
        int | None,
        typer.Option(min=1, help="Number of people.", show_default="by the silhouette"),
    ] = None,
    method: Annotated[
        Method, typer.Option(help="How to learn from the groups.")
    ] = Method.kernel_null_space,
    components: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of directions to keep.",
            show_default="all; for relevant components, by held-out groups",
        ),
    ] = None,
    regularization: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="For null spaces: how much of what varies inside groups is kept; 0 is the paper's "
            "exact null space.",
            show_default="from the groups",
        ),
    ] = None,
    between_shrinkage: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="For null spaces: from 0, only directions along which groups differ, to 1, all "
            "directions alike.",
            show_default="from the groups",
        ),
    ] = None,
    sigma: Annotated[
        float | None,
        typer.Option(
            min=1e-9,
            help="For kernels: width of the Gaussian, in units of the vectors.",
            show_default="by held-out groups",
        ),
    ] = None,
    linkage: Annotated[
        Linkage, typer.Option(help="Compare groups by the mean or by the least of the cosines.")
    ] = Linkage.average,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of every random choice.", show_default="0")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Sort cut-out faces by person, learning from groups without names. No engine is needed.

    mien crops cluster faces --groups tracks.csv --out people

    The folder gets person-001, person-002 and so on, and faces.csv.
    """
    if method is Method.null_space:
        refuse("has no effect with --method null-space, which draws nothing", seed=seed)
    unused = f"has no effect with --method {method.value}"
    if method not in _KERNELS:
        refuse(unused, sigma=sigma)
    if method not in _NULL_SPACES:
        refuse(unused, regularization=regularization, between_shrinkage=between_shrinkage)
    if regularization == 0:
        refuse("has no effect with --regularization 0", between_shrinkage=between_shrinkage)
    options = {
        "n_components": components,
        "regularization": regularization,
        "between_shrinkage": between_shrinkage,
        "sigma": sigma,
    }
    from mien.crops import cluster, write_clusters

    with showing_progress():
        result = cluster(
            faces,
            groups,
            n_clusters=people,
            method=method.value,
            linkage=linkage.value,
            random_state=seed or 0,
            **{name: value for name, value in options.items() if value is not None},
        )
        place = write_clusters(result, out, how=write.value)
    if as_json:
        print_json(result.to_dict() | {"out": str(place)})
        return
    n_groups = len(set(result.groups[result.groups >= 0].tolist()))
    say(
        f"{count(len(result.files), 'picture')} of {count(result.n_clusters, 'person', 'people')}, "
        f"from {count(n_groups, 'group')} and {count(len(result.cannot_link), 'pair')} of "
        "different people."
    )
    show_sizes(result.sizes)
    for reason in result.skipped:
        note(f"not used: {reason}")
    note(f"Written: {place}")
