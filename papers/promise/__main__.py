"""``python -m papers promise``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from papers._command import Run, choose, command


@command(seed=False)
def main(
    run: Run,
    cache: Annotated[
        Path,
        typer.Option(
            help="Folder for the vectors that the engines make: personal data, readable by you "
            "alone."
        ),
    ],
    engine: Annotated[
        list[str] | None, typer.Option(help="sface or dlib. Repeat for both.", show_default="both")
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(min=1, help="Galleries per setting.", show_default="10, 3 if --quick"),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write reliability-ENGINE.svg here: the diagrams of all domains in one picture.",
        ),
    ] = None,
) -> Any:
    """Judge stated error rates on galleries of every camera and crowd there is."""
    from papers.promise.report import ENGINES, reproduce_promise
    from papers.promise.run import SETTINGS

    engines = choose(engine, ENGINES, "engine")
    report = reproduce_promise(
        cache,
        run.data_home,
        engines=engines,
        n_draws=run.pick(draws, 3, 10),
        settings=run.pick(None, [s for s in SETTINGS if s[0] <= 25], SETTINGS),
    )
    if figures is not None:
        _draw(figures, engines, report.to_dict()["parts"])
    return report


def _draw(folder: Path, engines: tuple[str, ...], parts: list[dict[str, Any]]) -> None:
    from mien.reports import figure_to_svg
    from papers.promise.figure import draw_panels

    folder.mkdir(parents=True, exist_ok=True)
    for engine in engines:
        name = f"reliability-{engine}"
        svg = figure_to_svg(draw_panels(parts, engine), name)
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
