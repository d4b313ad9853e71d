"""``mien train hallucinator``: a model that completes faces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["train_hallucinator"]


def train_hallucinator(
    source: Annotated[
        str,
        typer.Argument(
            help="A folder with one folder of pictures a person, or: rendered, lfw.",
            metavar="FOLDER|rendered|lfw",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="Model file to write.", show_default=False)],
    method: Annotated[
        str,
        typer.Option(
            help="blend, ridge, low-rank, feature-ridge, dw-ksvd, fastfood, ksvd or pca; all but "
            "blend, feature-ridge and fastfood complete any mask afterwards."
        ),
    ] = "blend",
    mask: Annotated[
        str, typer.Option(help="What will be visible: periocular, upper, lower, left or right.")
    ] = "periocular",
    size: Annotated[int, typer.Option(min=16, max=128, help="Side of a face in pixels.")] = 32,
    atoms: Annotated[int, typer.Option(min=1, help="Atoms of a dictionary.")] = 1000,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of K-SVD.")] = 10,
    components: Annotated[int, typer.Option(min=1, help="Directions of pca and low-rank.")] = 100,
    expansion: Annotated[float, typer.Option(min=1, help="Fastfood expansion.")] = 5,
    faces: Annotated[int, typer.Option(min=40, help="Faces to render.")] = 4000,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the real data, for lfw. (Default: MIEN_DATA.)")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="File from which an interrupted training of a dictionary goes on."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is drawn.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary for programs, and nothing else.")
    ] = False,
) -> None:
    """Learn whole faces, to complete others of which a part is hidden.

    Faces should be cut out and aligned alike. Then:

      mien train hallucinator faces --out faces.mien

      mien complete masked.jpg --model faces.mien --out completed.png
    """
    import mien
    from mien.crops import train_completer

    with showing_progress():
        model, n_faces = train_completer(
            source,
            size=size,
            mask=mask,
            n_rendered=faces,
            home=data,
            random_state=seed,
            method=method,
            n_atoms=atoms,
            max_iter=rounds,
            n_components=components,
            expansion=expansion,
            checkpoint=None if checkpoint is None else str(checkpoint),
        )
        model.set_params(checkpoint=None)
        path = mien.save(model, out)
    hidden = ~model.mask_
    gain = float(model.prior_[hidden].mean() / model.error_[hidden].mean())
    if as_json:
        print_json({"model": str(path), "method": method, "faces": n_faces, "gain": gain})
    else:
        console.print(f"{method} learned from {n_faces:,} faces of {size}×{size} pixels.")
        console.print(
            f"On faces held out, hidden pixels have 1/{gain:.2f} of the mean face's squared error."
        )
        errors.print(f"The model: {path}", highlight=False, markup=False, soft_wrap=True)
