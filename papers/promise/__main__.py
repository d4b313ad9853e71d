"""``python -m papers promise``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli import showing_progress
from papers._command import AsJson, DataHome, Out, Quick, choose, show_report


def main(
    cache: Annotated[
        Path,
        typer.Option(
            help="Folder for the vectors that the engines make: personal data, readable by you "
            "alone."
        ),
    ],
    engine: Annotated[
        list[str] | None, typer.Option(help="sface or dlib. Repeat for both. [default: both]")
    ] = None,
    draws: Annotated[
        int | None, typer.Option(min=1, help="Galleries per setting. [default: 10, 3 if --quick]")
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write reliability-ENGINE.svg here: the diagrams of all domains in one picture.",
        ),
    ] = None,
    quick: Quick = False,
    data_home: DataHome = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Judge stated error rates on galleries of every camera and crowd there is."""
    from papers.promise.report import ENGINES, reproduce_promise
    from papers.promise.run import SETTINGS

    engines = choose(engine, ENGINES, "engine")
    n_draws = draws or (3 if quick else 10)
    with showing_progress():
        report = reproduce_promise(
            cache,
            data_home,
            engines=engines,
            n_draws=n_draws,
            settings=[s for s in SETTINGS if s[0] <= 25] if quick else SETTINGS,
        )
    if figures is not None:
        _draw(figures, engines, report.to_dict()["parts"])
    show_report(report, out, as_json)


def _draw(folder: Path, engines: tuple[str, ...], parts: list[dict[str, Any]]) -> None:
    from mien.reports import figure_to_svg
    from papers.promise.figure import draw_panels

    folder.mkdir(parents=True, exist_ok=True)
    for engine in engines:
        name = f"reliability-{engine}"
        svg = figure_to_svg(draw_panels(parts, engine), name)
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
