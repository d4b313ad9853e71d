"""``python -m papers source-models``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli import console, errors, print_json, showing_progress
from mien.errors import InputError
from papers._command import AsJson, DataHome, Out, Quick, Seed, choose, show_report


def main(
    train: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Instead of the report: make the shipped models again and write ENGINE.mien here.",
        ),
    ] = None,
    cards: Annotated[
        Path | None, typer.Option(help="With --train: page of model cards to write (Markdown).")
    ] = None,
    folds: Annotated[
        bool | None,
        typer.Option(
            "--folds/--no-folds",
            help="With --train: measure on LFW's ten folds for the card; takes minutes.",
            show_default="folds, unless --quick",
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder for vectors that the engines make: personal data, readable by you alone. "
            "Without it, shifts are left out of the report, and what other cameras and crowds "
            "say about impostors out of the cards."
        ),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            help="sface or dlib. Repeat for both; none skips LFW.",
            show_default="both, sface if --quick",
        ),
    ] = None,
    shift: Annotated[
        list[str] | None,
        typer.Option(
            help="With --cache: grey, covered, small, orl or yale. Repeat for several.",
            show_default="all",
        ),
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="With --cache: random draws of people; 0 leaves transfer out.",
            show_default="10, 2 if --quick",
        ),
    ] = None,
    quick: Quick = False,
    seed: Seed = 0,
    data_home: DataHome = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Run LFW through the recipe of the shipped models, and measure transfer under real shifts."""
    from mien.faces import ENGINES
    from papers.source_models.data import SHIFTS
    from papers.source_models.report import reproduce_source_models

    engines = choose(engine, ("sface",) if quick and not engine else ENGINES, "engine")
    if train is not None:
        _refuse("--train", shift=shift, repetitions=repetitions, out=out)
        measured = not quick if folds is None else folds
        _train(train, cards, engines, measured, cache, data_home, as_json)
        return
    _refuse("a report", cards=cards, folds=folds)
    if cache is None:
        _refuse("a report without --cache", shift=shift, repetitions=repetitions)
    with showing_progress():
        report = reproduce_source_models(
            data_home,
            cache=cache,
            engines=engines,
            shifts=choose(shift, tuple(SHIFTS), "shift"),
            n_repetitions=(2 if quick else 10) if repetitions is None else repetitions,
            random_state=seed,
        )
    show_report(report, out, as_json)


def _refuse(mode: str, **options: Any) -> None:
    for name, value in options.items():
        if value is not None and value != []:
            raise InputError(f"--{name} has no effect with {mode}: leave it out")


def _train(
    folder: Path,
    cards: Path | None,
    engines: tuple[str, ...],
    folds: bool,
    cache: Path | None,
    data_home: Path | None,
    as_json: bool,
) -> None:
    from mien.files import save
    from papers.source_models.report import describe_cards, train_source

    found = {}
    for engine in engines:
        with showing_progress():
            model = train_source(engine, data_home, folds=folds, cache=cache)
        path = save(model, folder / f"{engine}.mien")
        path.chmod(0o644)  # statistics, not personal data: everybody may read them
        found[engine] = model.card
        errors.print(f"Model: {path}", highlight=False, markup=False, soft_wrap=True)
    if cards is not None:
        cards.write_text(describe_cards(folder), encoding="utf-8")
    if as_json:
        print_json(found)
        return
    for engine, card in found.items():
        console.print(
            f"{engine}: {card['pictures']:,} pictures of {card['people']:,} people, "
            f"{card['failures to acquire']} left out because no face was found.",
            highlight=False,
        )
