"""``mien train completer``: a model that completes faces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["train_completer"]


def train_completer(
    source: Annotated[
        str,
        typer.Argument(
            help="A folder with one folder of pictures per person, or: rendered, lfw.",
            metavar="FOLDER|rendered|lfw",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="Model file to write.", show_default=False)],
    completer: Annotated[
        str,
        typer.Option(
            help="auto, blend, ridge, low-rank, feature-ridge, mixture, dictionary, ksvd, fastfood "
            "or pca. ridge, low-rank, dictionary, ksvd and pca can complete any cover afterwards."
        ),
    ] = "blend",
    cover: Annotated[
        str, typer.Option(help="What will be covered: below-eyes, lower, upper, left or right.")
    ] = "below-eyes",
    size: Annotated[int, typer.Option(min=16, max=128, help="Side of a face in pixels.")] = 32,
    atoms: Annotated[
        int | None,
        typer.Option(min=1, help="Atoms of a dictionary. (Default: a quarter of the faces.)"),
    ] = None,
    atoms_per_face: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of atoms per face. (Default: 20.)")
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Extra weight of the visible part in a dictionary. (Default: chosen on held-out "
            "people; 100 for fastfood.)",
        ),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Rounds of K-SVD. (Default: 10.)")
    ] = None,
    components: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Directions of pca and low-rank (default: 100); components of a mixture "
            "(default: chosen on held-out people).",
        ),
    ] = None,
    expansion: Annotated[
        float | None,
        typer.Option(
            min=1, help="Frequencies per dimension of fastfood and feature-ridge. (Default: 5.)"
        ),
    ] = None,
    sigma: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            help="Width of the kernel of fastfood and feature-ridge in median distances. "
            "(Default: invertible; 2.)",
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            min=1e-12,
            help="Penalty of ridge, low-rank and feature-ridge. (Default: chosen on held-out "
            "people.)",
        ),
    ] = None,
    faces: Annotated[int, typer.Option(min=40, help="Number of faces to render.")] = 4000,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the real data, for lfw. (Default: MIEN_DATA.)")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="File from which an interrupted training of a dictionary continues."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random numbers.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON, and nothing else.")
    ] = False,
) -> None:
    """Learn whole faces, to complete others of which a part is covered.

    Faces should be cut out and aligned alike. Then:

      mien train completer faces --out faces.mien

      mien complete masked.jpg --model faces.mien --out completed.png
    """
    import mien
    from mien.crops import train_completer as train

    with showing_progress():
        model, n_faces = train(
            source,
            completer=completer,
            size=size,
            cover=cover,
            n_rendered=faces,
            home=data,
            random_state=seed,
            n_atoms=atoms,
            n_nonzero_coefs=atoms_per_face,
            beta=beta,
            max_iter=rounds,
            n_components=components,
            expansion=expansion,
            sigma=sigma,
            alpha=alpha,
            checkpoint=None if checkpoint is None else str(checkpoint),
        )
        for part in (model.completer, model.completer_):
            if checkpoint is not None:
                part.set_params(checkpoint=None)
        path = mien.save(model, out)
    covered = model.cover_
    gain = float(model.mean_error_[covered].mean() / model.error_[covered].mean())
    if as_json:
        print_json({"model": str(path), "completer": completer, "faces": n_faces, "gain": gain})
    else:
        console.print(f"{completer} learned from {n_faces:,} faces of {size}×{size} pixels.")
        console.print(
            f"On held-out people, covered pixels have 1/{gain:.2f} of the squared error of the "
            "mean face."
        )
        errors.print(f"The model: {path}", highlight=False, markup=False, soft_wrap=True)
