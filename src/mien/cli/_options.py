"""Options that several verbs share, and how an option without effect is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mien.errors import InputError

if TYPE_CHECKING:
    from mien.gallery import Gallery

__all__ = [
    "AsJson",
    "DataHome",
    "Engine",
    "Fpir",
    "GalleryOption",
    "Impostors",
    "Jobs",
    "MinQuality",
    "ModelOption",
    "ModelOut",
    "Passphrase",
    "PictureOut",
    "Scheduler",
    "Seed",
    "ask_key",
    "open_with_key",
    "refuse",
]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
DataHome = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Folder of the real data sets.", show_default="$MIEN_DATA"),
]
Engine = Annotated[
    str | None,
    typer.Option(
        help="Face engine: sface, dlib or sface+dlib.", show_default="the model's, or sface"
    ),
]
Fpir = Annotated[
    float,
    typer.Option(
        min=1e-9,
        max=0.5,
        help="Maximum share of unknown faces that may wrongly get a name (FPIR).",
    ),
]
GalleryOption = Annotated[
    Path,
    typer.Option(
        "--gallery",
        "-g",
        metavar="GALLERY",
        help="Gallery: a file, or postgresql://…",
        show_default=False,
    ),
]
Impostors = Annotated[
    str,
    typer.Option(
        help="Who may be mistaken for whom: lookalikes (family, colleagues; cautious) or strangers."
    ),
]
Jobs = Annotated[int, typer.Option(min=1, help="Number of pictures to process in parallel.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Let workers of Dask do the work: address of a scheduler, or local for workers of "
        "this machine.",
        show_default=False,
    ),
]
MinQuality = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Minimum quality of a face, from 0 to 1.")
]
ModelOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Model file written by mien adapt.", show_default="the shipped model"
    ),
]
ModelOut = Annotated[
    Path, typer.Option(metavar="FILE", help="Model file to write.", show_default=False)
]
Passphrase = Annotated[
    bool, typer.Option("--passphrase", help="Ask for the passphrase of a sealed gallery.")
]
PictureOut = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE|FOLDER",
        help="Picture to write, or folder for a folder.",
        show_default="beside the input",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of every random choice.")]


def ask_key(passphrase: bool, *, new: bool = False, label: str = "Passphrase") -> str | None:
    """The passphrase of a sealed gallery, typed without echo; twice if it is a ``new`` one."""
    if not passphrase:
        return None
    typed: str = typer.prompt(label, hide_input=True, err=True, confirmation_prompt=new)
    return typed


def open_with_key(gallery: Path, passphrase: bool, *, read_only: bool = False) -> Gallery:
    """The gallery of a verb; its passphrase is asked for where ``--passphrase`` was given."""
    from mien.gallery import Gallery

    return Gallery.open(gallery, key=ask_key(passphrase), read_only=read_only)


def refuse(reason: str, **options: Any) -> None:
    """Raise for the first option that was given although it has no effect here.

    Parameters
    ----------
    reason : str
        The rest of the sentence, such as "is for videos, and the input is a folder".
    **options
        Values by the name of the option; None and False mean that it was not given.
    """
    for name, value in options.items():
        if value is not None and value is not False:
            raise InputError(f"--{name.replace('_', '-')} {reason}: leave it out")
