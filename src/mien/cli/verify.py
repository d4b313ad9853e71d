"""``mien verify``: do two pictures show one person?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["in_words", "verify"]


def verify(
    first: Annotated[Path, typer.Argument(help="A picture, or an .npy vector.", metavar="A")],
    second: Annotated[Path, typer.Argument(help="Another one.", metavar="B")],
    model: Annotated[
        Path | None,
        typer.Option(
            help="From mien adapt or mien train verification. (Default: the shipped model.)"
        ),
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="sface or dlib. (Default: the model's, or sface.)")
    ] = None,
    far: Annotated[
        float | None,
        typer.Option(min=1e-9, max=0.5, help="Decide at this false accept rate."),
    ] = None,
    prior: Annotated[
        float,
        typer.Option(min=1e-9, max=1 - 1e-9, help="Probability of one person before looking."),
    ] = 0.5,
    out: Annotated[
        Path | None, typer.Option(help="Picture of both faces and the verdict (PNG).")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the answer for programs, and nothing else.")
    ] = False,
) -> None:
    """Say how much more likely two pictures are of one person than of two.

    mien verify a.jpg b.jpg --far 0.001 --out pair.png

    The exit code is 0 whatever the answer, and 2 where there is none (no face, no such file).
    """
    from mien.files import load
    from mien.media import write_image
    from mien.recognition import FaceModel, load_source
    from mien.recognition import verify as verify_pictures

    found = load(model) if model is not None else load_source(engine or "sface")
    if not isinstance(found, FaceModel):
        _verify_vectors(found, first, second, prior, as_json)
        return
    with showing_progress():
        answer = verify_pictures(first, second, model=found, engine=engine, far=far, prior=prior)
        if out is not None:
            write_image(out, answer.draw())
    if as_json:
        print_json(answer.to_dict())
        return
    _say(answer.to_dict())
    for path, count in zip(answer.paths, answer.n_faces, strict=True):
        if count > 1:
            errors.print(
                f"{path}: {count} faces were found; the largest was taken",
                markup=False, highlight=False, soft_wrap=True,
            )  # fmt: skip
    if out is not None:
        errors.print(f"The picture: {out}", markup=False, highlight=False, soft_wrap=True)


def _verify_vectors(model: Any, first: Path, second: Path, prior: float, as_json: bool) -> None:
    """Models of ``mien train verification``: vectors, or pictures that are cut out already."""
    from mien.crops import verify as verify_crops

    with showing_progress():
        answer = verify_crops(model, first, second, prior=prior)
    if as_json:
        print_json(answer)
    else:
        _say(answer)


def in_words(probability: float) -> str:
    """A probability that is never rounded to certainty."""
    if probability > 0.9999:
        return "above 0.9999"
    return "below 0.0001" if probability < 0.0001 else f"{probability:.4f}"


def _say(answer: dict[str, Any]) -> None:
    words = {True: "[bold green]the same person[/]", False: "[bold]two people[/]"}
    console.print(words.get(answer["same"], "[yellow]no decision[/]"))
    if answer.get("reason"):
        console.print(answer["reason"], highlight=False, markup=False)
    kind = "" if answer["calibrated"] else ", not calibrated"
    console.print(
        f"log-likelihood ratio {answer['log_ratio']:+.2f}{kind}; probability "
        f"{in_words(answer['probability'])} under a prior of {answer['prior']:g}",
        highlight=False,
    )
    if answer.get("far") is not None and answer.get("threshold") is not None:
        console.print(
            f"decided at a false accept rate of {answer['far']:g}: the ratio must be "
            f"{answer['threshold']:+.2f} or more",
            highlight=False,
        )
