"""``mien train verification``: a verifier from a folder of people or a table of vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["show_verifier", "train_verification"]


def train_verification(
    data: Annotated[
        Path,
        typer.Argument(
            help="A folder with one folder of pictures a person, or an .npz file with X and y.",
            metavar="FEATURES_OR_FOLDER",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Model file to write.", show_default=False)],
    far: Annotated[
        float | None,
        typer.Option(min=1e-9, max=0.5, help="False accept rate that decisions should promise."),
    ] = None,
    components: Annotated[
        int, typer.Option(min=1, help="Most directions of the PCA of pictures.")
    ] = 100,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary for programs, and nothing else.")
    ] = False,
) -> None:
    """Learn to tell whether two pictures show one person.

    Faces should be cut out and aligned alike. Then:

      mien train verification crowd --out crowd.mien --far 0.001

      mien adapt family --model crowd.mien --out family.mien

      mien verify a.jpg b.jpg --model family.mien
    """
    import mien
    from mien.crops import train_verifier

    with showing_progress():
        model, summary = train_verifier(data, far=far, n_components=components)
        mien.save(model, out)
    show_verifier(summary, out, as_json=as_json)


def show_verifier(summary: dict[str, Any], out: Path, *, as_json: bool) -> None:
    """Say what was learned, how candidates were weighed, and what can be promised."""
    if as_json:
        print_json(summary | {"model": str(out)})
        return
    for name in summary["skipped"]:
        errors.print(f"skipped: {name}", style="yellow", highlight=False, markup=False)
    console.print(
        f"{summary['pictures']:,} pictures of {summary['people']:,} people, "
        f"{summary['rank']} directions.",
        highlight=False,
    )
    if "weight of the source" in summary:
        console.print(
            f"The source weighs {summary['weight of the source']:.2f} in the adapted model.",
            highlight=False,
        )
    if summary["calibrated"]:
        _show_weights(summary)
    else:
        console.print(
            "Not calibrated: that takes four people with two pictures or more. Ratios are raw.",
            style="yellow",
        )
    console.print(f"The model: {out}", highlight=False, markup=False, soft_wrap=True)


def _show_weights(summary: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("fused")
    table.add_column("weight", justify="right")
    for name, weight in summary["weights"].items():
        table.add_row(name, f"{weight:.4g}" if weight else "none")
    console.print(table)
    console.print(f"Cllr of the fused ratio {summary['cllr']:.4f} bits.", highlight=False)
    if summary["threshold"] is None:
        console.print(
            f"Not enough data to promise a false accept rate of {summary['far']:g}; the lowest "
            f"that these people support is {summary['lowest far']:.2g}.",
            style="yellow",
            highlight=False,
        )
