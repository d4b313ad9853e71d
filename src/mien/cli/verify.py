"""``mien verify``: do two pictures show one person?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, print_json, showing_progress

__all__ = ["verify"]


def verify(
    model: Annotated[
        Path, typer.Argument(help="From mien train verification or adapt.", metavar="MODEL")
    ],
    first: Annotated[Path, typer.Argument(help="A picture, or an .npy vector.", metavar="A")],
    second: Annotated[Path, typer.Argument(help="Another one.", metavar="B")],
    prior: Annotated[
        float,
        typer.Option(min=1e-9, max=1 - 1e-9, help="Probability of one person before looking."),
    ] = 0.5,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the answer for programs, and nothing else.")
    ] = False,
) -> None:
    """Say how much more likely two pictures are of one person than of two."""
    import mien
    from mien.experiments.verification import verify_pair

    with showing_progress():
        answer = verify_pair(mien.load(model), first, second, prior=prior)
    if as_json:
        print_json(answer)
        return
    words = {True: "[bold green]the same person[/]", False: "[bold]two people[/]"}
    console.print(words.get(answer["same"], "[yellow]no decision[/]"))
    if "reason" in answer:
        console.print(answer["reason"], highlight=False, markup=False)
    kind = "" if answer["calibrated"] else ", not calibrated"
    console.print(
        f"log-likelihood ratio {answer['log_ratio']:+.2f}{kind}; probability "
        f"{answer['probability']:.4f} under a prior of {answer['prior']:g}",
        highlight=False,
    )
