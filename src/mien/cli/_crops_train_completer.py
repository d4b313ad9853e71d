"""``mien crops train completer``: a model that completes faces."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli._display import note, print_json, say, showing_progress
from mien.cli._options import AsJson, DataHome, ModelOut, Seed, refuse

__all__ = ["run"]

_FACES = 4000
_HELD_OUT = "chosen on held-out people"
_LEANING = ("auto", "blend", "ridge")


class Functions(StrEnum):
    """Of the random features."""

    sincos = "sincos"
    sin = "sin"


class Dekernelize(StrEnum):
    """What is turned back into pictures."""

    result = "result"
    atoms = "atoms"


def run(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER|rendered|lfw",
            help="A folder with one folder of cut-out faces per person; rendered people; or lfw.",
        ),
    ],
    out: ModelOut,
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
    size: Annotated[
        int, typer.Option(min=16, max=128, help="Resize the faces to this many pixels.")
    ] = 32,
    atoms: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="For dictionaries: number of atoms.",
            show_default="a quarter of the faces",
        ),
    ] = None,
    atoms_per_face: Annotated[
        int | None,
        typer.Option(
            min=1, help="For dictionaries: maximum number of atoms per face.", show_default="20"
        ),
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="For dictionary and fastfood: extra weight of the visible part.",
            show_default=f"{_HELD_OUT}; 100 for fastfood",
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, help="For dictionaries: rounds of K-SVD.", show_default="10"),
    ] = None,
    components: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="For pca, low-rank and mixture: number of components.",
            show_default=f"100; {_HELD_OUT} for mixture",
        ),
    ] = None,
    expansion: Annotated[
        float | None,
        typer.Option(
            min=1,
            help="For fastfood and feature-ridge: number of frequencies per dimension.",
            show_default="5",
        ),
    ] = None,
    sigma: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            help="For fastfood and feature-ridge: width of the kernel in median distances.",
            show_default="invertible for fastfood, else 2",
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            min=1e-12,
            help="For ridge, low-rank and feature-ridge: penalty.",
            show_default=_HELD_OUT,
        ),
    ] = None,
    latent: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="For mixture: number of latent variables that both parts share.",
            show_default=_HELD_OUT,
        ),
    ] = None,
    starts: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="For mixture: number of mixtures whose estimates are averaged.",
            show_default="1",
        ),
    ] = None,
    directions: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="For mixture: number of principal directions kept per part.",
            show_default="100",
        ),
    ] = None,
    max_entry: Annotated[
        float | None,
        typer.Option(
            min=1e-6,
            help="For dictionaries: largest entry of an atom (the paper's shrinkage).",
            show_default="no bound",
        ),
    ] = None,
    functions: Annotated[
        Functions | None,
        typer.Option(
            help="For fastfood: both functions, or the sine alone as in the paper.",
            show_default="sincos",
        ),
    ] = None,
    dekernelize: Annotated[
        Dekernelize | None,
        typer.Option(
            help="For fastfood: convert the completed features back to pixels, or the atoms once.",
            show_default="result",
        ),
    ] = None,
    mirror: Annotated[
        bool,
        typer.Option(
            "--mirror/--no-mirror",
            help="Also learn from every face mirrored; not for faces whose sides differ.",
        ),
    ] = True,
    shift: Annotated[
        int,
        typer.Option(
            min=0,
            max=8,
            help="Also learn from every face moved by this many pixels in each direction: 1 for "
            "hundreds of faces that are not exactly aligned.",
        ),
    ] = 0,
    foreign: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL|shipped",
            help="For ridge, blend and auto: a completer of many faces of others, of the same "
            "size, to lean on where yours are few; shipped takes mien's own, of 64 pixels.",
        ),
    ] = None,
    faces: Annotated[
        int | None,
        typer.Option(
            min=40, help="For rendered: number of faces to render.", show_default=str(_FACES)
        ),
    ] = None,
    data_home: DataHome = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="For dictionaries: file from which an interrupted training continues.",
        ),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Learn from whole faces, all framed alike, to complete partly covered ones.

    mien crops train completer faces --out faces.mien

    mien crops complete faces.mien masked.png --out completed.png
    """
    from mien.crops import completer_parameters, train_completer
    from mien.files import save

    if source != "rendered":
        refuse(f"is for rendered faces, and the source is {source}", faces=faces)
    if source != "lfw":
        refuse(f"is for lfw, and the source is {source}", data_home=data_home)
    options: dict[str, tuple[str, Any]] = {
        "atoms": ("n_atoms", atoms),
        "atoms_per_face": ("n_nonzero_coefs", atoms_per_face),
        "beta": ("beta", beta),
        "rounds": ("max_iter", rounds),
        "components": ("n_components", components),
        "expansion": ("expansion", expansion),
        "sigma": ("sigma", sigma),
        "alpha": ("alpha", alpha),
        "latent": ("n_latent", latent),
        "starts": ("n_starts", starts),
        "directions": ("n_directions", directions),
        "max_entry": ("max_entry", max_entry),
        "functions": ("functions", None if functions is None else functions.value),
        "dekernelize": ("dekernelize", None if dekernelize is None else dekernelize.value),
        "checkpoint": ("checkpoint", None if checkpoint is None else str(checkpoint)),
    }
    known = completer_parameters(completer)
    for option, (parameter, value) in options.items():
        if parameter not in known:
            refuse(f"has no effect with --completer {completer}", **{option: value})
    if completer not in _LEANING:
        refuse(f"has no effect with --completer {completer}", foreign=foreign)
    settings = {name: value for name, value in options.values() if value is not None}
    with showing_progress():
        model, n_faces = train_completer(
            source,
            completer=completer,
            size=size,
            cover=cover,
            mirror=mirror,
            shift=shift,
            foreign=foreign,
            n_rendered=faces or _FACES,
            home=data_home,
            random_state=seed,
            **settings,
        )
        if checkpoint is not None:
            model.set_params(completer__checkpoint=None)
            model.completer_.set_params(checkpoint=None)
        path = save(model, out)
    covered = model.cover_
    gain = float(model.mean_error_[covered].mean() / model.error_[covered].mean())
    if as_json:
        print_json({"model": str(path), "completer": completer, "faces": n_faces, "gain": gain})
        return
    say(f"{completer} learned from {n_faces:,} faces of {size}×{size} pixels.")
    say(
        "On held-out people the squared error of covered pixels is "
        f"1/{gain:.2f} of the mean face's."
    )
    note(f"Model: {path}")
