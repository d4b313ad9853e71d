"""``mien crops train verification``: a verifier from cut-out faces or from vectors."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli._display import say, showing_progress, tell_training
from mien.cli._options import AsJson, ModelOut, Scheduler, refuse

__all__ = ["EStep", "Far", "Rounds", "WhichEStep", "run", "show_verifier"]

_COMPONENTS = 100
Far = Annotated[
    float | None,
    typer.Option(
        min=1e-9,
        max=0.5,
        help="False accept rate at which pairs are decided.",
        show_default="0.001",
    ),
]


class EStep(StrEnum):
    """How identities are expected from pictures."""

    exact = "exact"
    approximate = "approximate"


WhichEStep = Annotated[
    EStep, typer.Option("--e-step", help="The exact E-step, or the paper's approximate one.")
]

Rounds = Annotated[
    int | None,
    typer.Option(min=1, help="Maximum number of rounds of EM.", show_default="200"),
]


def run(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="FACES",
            help="A folder with one folder of cut-out faces per person, or an .npz file with X and "
            "y.",
        ),
    ],
    out: ModelOut,
    far: Far = None,
    components: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="For pictures: maximum number of principal components.",
            show_default=str(_COMPONENTS),
        ),
    ] = None,
    e_step: WhichEStep = EStep.exact,
    prior_people: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Number of people that the prior of the scatters counts for.",
            show_default="from the faces",
        ),
    ] = None,
    rounds: Rounds = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Learn a verifier from cut-out faces that are all framed alike, or from vectors.

    mien crops train verification crowd --out crowd.mien --far 0.001

    mien crops adapt crowd.mien family --out family.mien

    mien crops verify family.mien a.png b.png
    """
    if not data.is_dir():
        refuse("is for pictures, and the input is not a folder", components=components)
    from mien.crops import train_verifier
    from mien.files import save

    with showing_progress():
        model, summary = train_verifier(
            data,
            far=far,
            n_components=components or _COMPONENTS,
            e_step=e_step.value,
            prior_people=prior_people,
            max_iter=rounds,
            scheduler=scheduler,
        )
        save(model, out)
    show_verifier(summary, out, as_json=as_json)


def show_verifier(summary: dict[str, Any], out: Path, *, as_json: bool) -> None:
    """Say what was learned, how the candidates were weighted, and what can be promised."""
    from mien.cli._consoles import console

    if not tell_training(summary, out, as_json=as_json):
        return
    say(
        f"{summary['pictures']:,} pictures of {summary['people']:,} people, "
        f"{summary['rank']} dimensions."
    )
    if "weight of the source" in summary:
        say(
            f"The source has a weight of {summary['weight of the source']:.2f} in the adapted "
            "model."
        )
    if summary["calibrated"]:
        _show_weights(summary)
    else:
        console.print(
            "Not calibrated: this needs four people with at least two pictures each. Ratios are "
            "raw.",
            style="yellow",
        )
    say(f"Model: {out}")


def _show_weights(summary: dict[str, Any]) -> None:
    from rich.table import Table

    from mien.cli._consoles import console

    table = Table(box=None, pad_edge=False)
    table.add_column("fused")
    table.add_column("weight", justify="right")
    for name, weight in summary["weights"].items():
        table.add_row(name, f"{weight:.4g}" if weight else "none")
    console.print(table)
    say(f"Cllr of the fused ratio: {summary['cllr']:.4f} bits.")
    if summary["threshold"] is None:
        console.print(
            f"Not enough data to promise a false accept rate of {summary['far']:g}; the lowest "
            f"that these people support is {summary['lowest far']:.2g}.",
            style="yellow",
        )
