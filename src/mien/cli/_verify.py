"""``mien verify``: do two photographs show the same person?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli._display import note, print_json, say, showing_progress
from mien.cli._models import check_model
from mien.cli._options import AsJson, Engine, Impostors, Model

__all__ = ["run", "show_answer"]


def run(
    first: Annotated[Path, typer.Argument(metavar="PHOTO", help="A photograph.")],
    second: Annotated[Path, typer.Argument(metavar="PHOTO", help="Another photograph.")],
    model: Model = None,
    engine: Engine = None,
    far: Annotated[
        float,
        typer.Option(
            min=1e-9,
            max=0.5,
            help="Decide so that at most this share of pairs of two people is accepted.",
        ),
    ] = 0.001,
    impostors: Impostors = "lookalikes",
    prior: Annotated[
        float,
        typer.Option(
            min=1e-9, max=1 - 1e-9, help="Prior probability that both show the same person."
        ),
    ] = 0.5,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write both faces and the answer as a PNG."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare the largest face of two photographs and give the likelihood ratio.

    mien verify a.jpg b.jpg --far 0.001 --out pair.png

    The exit code is 0 for every answer, and 2 if there is none (no face, no such file).
    """
    if model is not None:
        check_model(model, "mien verify")
    if out is not None:
        from mien.media import check_output

        check_output(out, [first, second])
    from mien.recognition import verify

    with showing_progress():
        answer = verify(
            first, second, model=model, engine=engine, far=far, prior=prior, impostors=impostors
        )
        if out is not None:
            from mien.media import write_image

            write_image(out, answer.draw())
    if as_json:
        print_json(answer.to_dict())
        return
    show_answer(answer.to_dict())
    for path, count in zip(answer.paths, answer.n_faces, strict=True):
        if count > 1:
            note(f"{path}: {count} faces were found; the largest was used")
    if out is not None:
        note(f"Picture: {out}")


def show_answer(answer: dict[str, Any]) -> None:
    """The decision, the ratio and the threshold in three lines."""
    from mien.cli._consoles import console

    words = {True: "[bold green]the same person[/]", False: "[bold]two people[/]"}
    console.print(words.get(answer["same"], "[yellow]no decision[/]"))
    if answer.get("reason"):
        say(answer["reason"])
    kind = "" if answer["calibrated"] else ", not calibrated"
    say(
        f"log-likelihood ratio {answer['log_ratio']:+.2f}{kind}; probability "
        f"{_in_words(answer['probability'])} at a prior of {answer['prior']:g}"
    )
    if answer.get("far") is not None and answer.get("threshold") is not None:
        say(
            f"decided at a false accept rate of {answer['far']:g}: the ratio must be at least "
            f"{answer['threshold']:+.2f}"
        )
        if answer.get("promised") == "shipped":
            say(
                "the rate rests on the model's card; elsewhere it may be up to "
                f"{answer['bound']:.2g}"
            )


def _in_words(probability: float) -> str:
    """A probability that is never rounded to certainty."""
    if probability > 0.9999:
        return "above 0.9999"
    return "below 0.0001" if probability < 0.0001 else f"{probability:.4f}"
