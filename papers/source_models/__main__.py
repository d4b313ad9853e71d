"""``python -m papers source-models``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli import console, errors, print_json
from mien.errors import InputError
from papers._command import Run, choose, command


@command()
def main(
    run: Run,
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
            help="sface, dlib or sface+dlib. Repeat for several; none skips LFW.",
            show_default="all, sface if --quick",
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
) -> Any:
    """Run LFW through the recipe of the shipped models, and measure transfer under real shifts."""
    from mien.faces import ENGINES
    from papers.source_models.data import SHIFTS
    from papers.source_models.report import reproduce_source_models

    engines = choose(engine or run.pick(None, ["sface"], None), ENGINES, "engine")
    if train is not None:
        _refuse("--train", shift=shift, repetitions=repetitions, out=run.out)
        _train(train, cards, engines, run.pick(folds, False, True), cache, run)
        return None
    _refuse("a report", cards=cards, folds=folds)
    if cache is None:
        _refuse("a report without --cache", shift=shift, repetitions=repetitions)
    return reproduce_source_models(
        run.data_home,
        cache=cache,
        engines=engines,
        shifts=choose(shift, tuple(SHIFTS), "shift"),
        n_repetitions=run.pick(repetitions, 2, 10),
        random_state=run.seed,
    )


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
    run: Run,
) -> None:
    from mien.files import save
    from papers.source_models.report import describe_cards, train_source

    found = {}
    for engine in engines:
        model = train_source(engine, run.data_home, folds=folds, cache=cache)
        path = save(model, folder / f"{engine}.mien")
        path.chmod(0o644)  # statistics, not personal data: everybody may read them
        found[engine] = model.card
        errors.print(f"Model: {path}", highlight=False, markup=False, soft_wrap=True)
    if cards is not None:
        cards.write_text(describe_cards(folder), encoding="utf-8")
    if run.as_json:
        print_json(found)
        return
    for engine, card in found.items():
        console.print(
            f"{engine}: {card['pictures']:,} pictures of {card['people']:,} people, "
            f"{card['failures to acquire']} left out because no face was found.",
            highlight=False,
        )
