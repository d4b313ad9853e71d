"""``mien verify``: do photographs show the same person? Two of them, one and many, or a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mien.cli._display import count, note, print_json, ratio_in_words, say, showing_progress
from mien.cli._models import check_model
from mien.cli._options import AsJson, Engine, Impostors, ModelOption, Passphrase, ask_key, refuse
from mien.errors import InputError

if TYPE_CHECKING:
    from mien.recognition import ComparedPair

__all__ = ["run", "show_answer"]


def run(
    photos: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PHOTO",
            help="A photograph, and one or more to compare it with.",
            show_default=False,
        ),
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV file with the columns a and b, and same (1 or 0) where it is known.",
        ),
    ] = None,
    model: ModelOption = None,
    gallery: Annotated[
        Path | None,
        typer.Option(
            "--gallery",
            "-g",
            metavar="GALLERY",
            help="Gallery whose model and people decide, for pictures of the same camera: a file, "
            "or postgresql://…",
            show_default=False,
        ),
    ] = None,
    passphrase: Passphrase = False,
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
    """Compare the largest face of two or more photographs and print the likelihood ratio.

    mien verify a.jpg b.jpg --far 0.001 --out pair.png

    mien verify a.jpg holiday/*.jpg

    mien verify a.jpg b.jpg --gallery people.gallery

    mien verify --pairs pairs.csv --json

    Exit code 0: there is an answer. Exit code 2: there is none (no face, no such file). With
    several pairs, a failed one does not stop the others, and the exit code is 1.
    """
    photos = photos or []
    if pairs is not None and photos:
        raise InputError("--pairs lists the photographs: give no others")
    if pairs is None and len(photos) < 2:
        raise InputError("two photographs are needed, or a table of them with --pairs")
    if model is not None:
        check_model(model, "mien verify")
    if gallery is None:
        refuse("is for a gallery, and none was given", passphrase=passphrase)
    else:
        refuse("has no effect with --gallery, which has its own model", model=model)
    settings: dict[str, Any] = {"model": model, "engine": engine, "far": far, "prior": prior}
    settings |= {"impostors": impostors, "gallery": gallery, "key": ask_key(passphrase)}
    if pairs is not None or len(photos) > 2:
        refuse("is for two photographs", out=out)
        _verify_many(photos, pairs, as_json, **settings)
        return
    first, second = photos
    if out is not None:
        from mien.media import check_output

        check_output(out, photos)
    from mien.recognition import verify

    with showing_progress():
        answer = verify(first, second, **settings)
        if out is not None:
            from mien.media import write_image

            write_image(out, answer.draw())
    if as_json:
        print_json(answer.to_dict())
        return
    show_answer(answer.to_dict())
    for path, n_faces in zip(answer.paths, answer.n_faces, strict=True):
        if n_faces > 1:
            note(f"{path}: {n_faces} faces were found; the largest was used")
    if out is not None:
        note(f"Picture: {out}")


def _verify_many(photos: list[Path], table: Path | None, as_json: bool, **settings: Any) -> None:
    """Many pairs, a line each."""
    from mien.recognition import read_pairs, verify_pairs

    pairs = read_pairs(table) if table is not None else [(photos[0], one) for one in photos[1:]]
    with showing_progress():
        results = list(verify_pairs(pairs, **settings))
    if as_json:
        print_json([one.to_dict() for one in results])
    else:
        _show_many(results)
    if any(one.error is not None for one in results):
        raise typer.Exit(1)


def _show_many(results: list[ComparedPair]) -> None:
    """Words first, as columns that programs can cut; then the totals."""
    right = known = 0
    said: dict[str, int] = {}
    for one in results:
        if one.answer is None:
            words, numbers = "failed", one.error or ""
        else:
            words = one.answer.in_words()
            numbers = f"{one.answer.log_ratio:+.2f}"
            known += one.pair.same is not None and one.answer.same is not None
            right += one.pair.same is not None and one.answer.same == one.pair.same
        said[words] = said.get(words, 0) + 1
        say(f"{one.pair.a}\t{one.pair.b}\t{words}\t{numbers}")
    totals = ", ".join(f"{words} {times:,}" for words, times in said.items())
    note(f"{count(len(results), 'pair')}: {totals}")
    if known:
        note(f"{right:,} of {count(known, 'decision')} agree with the column same")


def show_answer(answer: dict[str, Any]) -> None:
    """The decision, the ratio and the threshold in three lines."""
    from mien.cli._consoles import console

    words = {True: "[bold green]the same person[/]", False: "[bold]two people[/]"}
    console.print(words.get(answer["same"], "[yellow]no decision[/]"))
    if answer.get("reason"):
        say(answer["reason"])
    kind = "" if answer["calibrated"] else ", not calibrated"
    say(
        f"log-likelihood ratio {answer['log_ratio']:+.2f}{kind} "
        f"({ratio_in_words(answer['log_ratio'])}); probability "
        f"{_in_words(answer['probability'])} at a prior of {answer['prior']:g}"
    )
    if answer.get("far") is not None and answer.get("threshold") is not None:
        say(
            f"decided at a false accept rate of {answer['far']:g}: the ratio must be at least "
            f"{answer['threshold']:+.2f}"
        )
        supported = {
            True: f"your own people support the rate; it is at most {answer.get('bound', 0):.2g}",
            "shipped": "the rate rests on the model's card; elsewhere it may be up to "
            f"{answer.get('bound', 0):.2g}",
            False: "nothing supports that rate: your own people are unlike those of the model's "
            f"card, and it may be up to {answer.get('bound', 0):.2g}",
        }
        if "promised" in answer:
            say(supported[answer["promised"]])


def _in_words(probability: float) -> str:
    """A probability that is never rounded to certainty."""
    if probability > 0.9999:
        return "above 0.9999"
    return "below 0.0001" if probability < 0.0001 else f"{probability:.4f}"
