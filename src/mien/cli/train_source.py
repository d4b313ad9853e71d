"""``mien train source``: the verifiers that mien ships, from embeddings of LFW."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["train_source"]


def train_source(
    engines: Annotated[
        list[str] | None,
        typer.Argument(help="sface, dlib, or both, which is the default.", metavar="ENGINES..."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for sface.mien and dlib.mien.")] = Path("."),
    data: Annotated[
        Path | None, typer.Option(help="Folder of the real data. (Default: MIEN_DATA.)")
    ] = None,
    cards: Annotated[
        Path | None, typer.Option(help="Page of model cards to write (Markdown).")
    ] = None,
    folds: Annotated[
        bool, typer.Option(help="Measure by LFW's ten folds for the card; some minutes.")
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the cards for programs, and nothing else.")
    ] = False,
) -> None:
    """Learn the source models again, as they are shipped: statistics of LFW, nobody's vector."""
    import mien
    from mien.experiments import source_models
    from mien.faces import ENGINES

    found = {}
    for engine in engines or ENGINES:
        with showing_progress():
            model = source_models.train_source(engine, data, folds=folds)
        path = mien.save(model, out / f"{engine}.mien")
        path.chmod(0o644)  # statistics, not personal data: everybody may read them
        found[engine] = model.card
        errors.print(f"The model: {path}", highlight=False, markup=False, soft_wrap=True)
    if cards is not None:
        cards.write_text(source_models.describe_cards(out), encoding="utf-8")
    if as_json:
        print_json(found)
        return
    for engine, card in found.items():
        console.print(
            f"{engine}: {card['pictures']:,} pictures of {card['people']:,} people, "
            f"{card['failures to acquire']} without a face left out.",
            highlight=False,
        )
