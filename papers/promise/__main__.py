"""``python -m papers promise``."""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from papers._command import Run, choose, command


@command(seed=False)
def main(
    run: Run,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the vectors that the engines make: personal data, readable by you "
            "alone. Without it they are made again every time, which takes most of the time."
        ),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option(help="sface or dlib. Repeat for both.", show_default="both, sface if --quick"),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="reasons (what moves impostors), rates, adapt (after adapting to five and ten "
            "people) or aside (people and cameras kept aside). Repeat for several.",
            show_default="all, rates if --quick",
        ),
    ] = None,
    camera: Annotated[
        list[str] | None,
        typer.Option(
            help="Of the domains whose pictures go through an engine only this one, such as orl; "
            "none for LFW's stored vectors alone. Repeat for several.",
            show_default="all; photos, orl and yale if --quick",
        ),
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
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Put the tables into this page, between its marks: docs/rates.md. - prints them.",
        ),
    ] = None,
) -> Any:
    """Judge stated error rates on galleries of every camera and crowd there is."""
    from papers.promise.data import DOMAINS, KEPT_ASIDE
    from papers.promise.page import make_tables
    from papers.promise.report import PARTS, reproduce_promise
    from papers.promise.run import JUDGED, SETTINGS
    from tools.tables import write_tables

    known = tuple(DOMAINS | KEPT_ASIDE)
    cameras = choose(run.pick(camera, ["photos", "orl", "yale"], None), known, "camera")
    engines = choose(run.pick(engine, ["sface"], JUDGED), JUDGED, "engine")
    with tempfile.TemporaryDirectory() if cache is None else nullcontext(cache) as folder:
        report = reproduce_promise(
            folder,
            run.data_home,
            engines=engines,
            parts=choose(run.pick(part, ["rates"], PARTS), PARTS, "part"),
            cameras=cameras,
            n_draws=run.pick(draws, 3, 10),
            settings=run.pick(None, [s for s in SETTINGS if s[0] <= 25], SETTINGS),
        )
    found = report.to_dict()["parts"]
    if figures is not None:
        _draw(figures, engines, found)
    tables = make_tables(found)
    if page is not None:
        write_tables(page, tables)
    return report


def _draw(folder: Path, engines: tuple[str, ...], parts: list[dict[str, Any]]) -> None:
    from mien.reports import figure_to_svg
    from papers.promise.figure import draw_panels

    folder.mkdir(parents=True, exist_ok=True)
    for engine in engines:
        name = f"reliability-{engine}"
        svg = figure_to_svg(draw_panels(parts, engine), name, standalone=True)
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
