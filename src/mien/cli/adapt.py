"""``mien adapt``: a verifier moved to a few people of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import showing_progress
from mien.cli.train_verification import show_verifier

__all__ = ["adapt"]


def adapt(
    model: Annotated[Path, typer.Argument(help="From mien train verification.", metavar="MODEL")],
    data: Annotated[
        Path,
        typer.Argument(
            help="A folder with one folder of pictures a person, or an .npz file with X and y.",
            metavar="FOLDER",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Model file to write.", show_default=False)],
    far: Annotated[
        float | None,
        typer.Option(min=1e-9, max=0.5, help="False accept rate that decisions should promise."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary for programs, and nothing else.")
    ] = False,
) -> None:
    """Move a verifier to your own people, camera and light; a handful of people will do."""
    import mien
    from mien.experiments.verification import adapt_verifier

    with showing_progress():
        adapted, summary = adapt_verifier(mien.load(model), data, far=far)
        mien.save(adapted, out)
    show_verifier(summary, out, as_json=as_json)
