"""``mien crops train encoder``: vectors for pictures, learned without any label."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import say, showing_progress, tell_training
from mien.cli._options import AsJson, ModelOut, Seed, refuse

__all__ = ["run"]

_LATENT = 8


class Second(StrEnum):
    """What is described beside the gradients."""

    lbp = "lbp"
    colour = "colour"


class Noise(StrEnum):
    """What the latent variables need not explain."""

    diagonal = "diagonal"
    full = "full"


class Kind(StrEnum):
    """How a picture's descriptors become one vector."""

    super_vector = "super-vector"
    fisher = "fisher"


class Parts(StrEnum):
    """Which parts of a super vector are kept."""

    both = "both"
    latent = "latent"
    gradient = "gradient"


class Lengths(StrEnum):
    """What is brought to unit length."""

    together = "together"
    each = "each"


class Scaling(StrEnum):
    """Units of the parts."""

    information = "information"
    none = "none"


def run(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="Folder of pictures; folders in it are read too."),
    ],
    out: ModelOut,
    second: Annotated[
        Second, typer.Option(help="Second view, in addition to gradients.")
    ] = Second.lbp,
    kind: Annotated[Kind, typer.Option(help="Kind of encoding.")] = Kind.super_vector,
    components: Annotated[
        int,
        typer.Option(
            min=1,
            help="Number of components of the mixture; 64 for tens of thousands of patches.",
        ),
    ] = 16,
    latent: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="For super-vector: number of latent variables per component.",
            show_default=str(_LATENT),
        ),
    ] = None,
    noise: Annotated[
        Noise | None,
        typer.Option(
            help="For super-vector: variances (diagonal) or covariances (full) of a view's noise.",
            show_default="diagonal",
        ),
    ] = None,
    parts: Annotated[
        Parts | None,
        typer.Option(
            help="For super-vector: what both views share (latent, Z), what each has of its own "
            "(gradient, G), or both.",
            show_default="both",
        ),
    ] = None,
    lengths: Annotated[
        Lengths | None,
        typer.Option(
            help="For super-vector: normalise the two parts together or each by itself.",
            show_default="together",
        ),
    ] = None,
    scaling: Annotated[
        Scaling | None,
        typer.Option(
            help="For super-vector: units of the Fisher information, or as printed in the paper.",
            show_default="information",
        ),
    ] = None,
    starts: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="For super-vector: number of starts of the mixture, of which the best is kept.",
            show_default="1",
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Maximum number of rounds of EM.",
            show_default="200; 100 for fisher",
        ),
    ] = None,
    power: Annotated[
        float, typer.Option(min=0.01, max=1, help="Exponent of the entries; 1 leaves them.")
    ] = 0.5,
    intra: Annotated[
        bool, typer.Option("--intra", help="Bring each component to unit length first.")
    ] = False,
    reduced: Annotated[
        int, typer.Option(min=1, help="Number of principal components kept per view.")
    ] = 32,
    patch: Annotated[int, typer.Option(min=4, help="Side of a patch in pixels.")] = 16,
    step: Annotated[int, typer.Option(min=1, help="Distance between patches in pixels.")] = 8,
    side: Annotated[
        int, typer.Option(min=16, help="Reduce larger pictures to this shorter side in pixels.")
    ] = 128,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Learn to turn a picture into one vector, from pictures without names.

    mien crops train encoder pictures --out encoder.mien

    mien crops encode encoder.mien pictures --out features.npz
    """
    if kind is Kind.fisher:
        refuse(
            "has no effect with --kind fisher",
            latent=latent,
            noise=noise,
            parts=parts,
            lengths=lengths,
            scaling=scaling,
            starts=starts,
        )
    if parts not in (None, Parts.both):
        refuse(f"has no effect with --parts {parts.value}", lengths=lengths)
    from mien.crops import train_encoder
    from mien.files import save

    with showing_progress():
        model, summary = train_encoder(
            folder,
            second=second.value,
            kind=kind.value,
            n_components=components,
            n_latent=latent or _LATENT,
            noise=(noise or Noise.diagonal).value,
            parts=(parts or Parts.both).value,
            joint=lengths is not Lengths.each,
            scaling=(scaling or Scaling.information).value,
            n_init=starts or 1,
            max_iter=rounds,
            power=power,
            intra=intra,
            n_reduced=reduced,
            patch=patch,
            step=step,
            side=side,
            random_state=seed,
        )
        save(model, out)
    if not tell_training(summary, out, as_json=as_json):
        return
    say(
        f"{summary['pictures']:,} pictures; gradients and {second.value}, {kind.value}: "
        f"{summary['dimensions']:,} features per picture. Model: {out}"
    )
