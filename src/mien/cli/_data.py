"""``mien data``: list and show data sets, and make an album to try things on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli._display import print_json, say, showing_progress
from mien.cli._options import AsJson, DataHome, refuse
from mien.cli._outputs import check_file, check_folder

__all__ = ["list_known", "make", "show"]

_ROWS, _COLUMNS = 10, 10


def list_known(data_home: DataHome = None, as_json: AsJson = False) -> None:
    """List the known data sets and where they were found."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from mien.cli._consoles import console
    from mien.datasets import list_sets

    rows = list_sets(data_home)
    if as_json:
        print_json(rows)
        return
    base = data_home or os.environ.get("MIEN_DATA")
    where = f" in {base}" if base else ""
    # Text, not markup: a path may contain brackets.
    table = Table(
        title=Text(f"Data sets{where}"),
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 0, 0, 1),
    )
    table.add_column("set", no_wrap=True)
    table.add_column("pictures", justify="right")
    table.add_column("people", justify="right")
    table.add_column("found", overflow="fold")
    table.add_column("terms", no_wrap=True)
    for row in rows:
        rendered = row["name"] == "rendered"
        table.add_row(
            row["name"],
            "any" if rendered else _number(row["pictures"]),
            "any" if rendered else _number(row["people"]),
            Text(_below(row["place"], base), style="" if row["place"] else "dim"),
            row["terms"],
        )
    console.print(table)
    problems = {row["name"].split()[0]: row["problem"] for row in reversed(rows) if row["problem"]}
    for problem in dict.fromkeys(reversed(problems.values())):
        say(f"• {problem}")
    say("Look at one with `mien data show NAME`, or at your own folder with `mien data show PATH`.")


def _below(place: str | None, base: str | Path | None) -> str:
    """Say where a set is, seen from the folder of all of them."""
    if place is None:
        return "not found"
    return os.path.relpath(place, base) if base and Path(place).is_absolute() else place


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _summarise(faces: Any, name: str) -> dict[str, Any]:
    """Count what is in a set, as a plain dict."""
    import numpy as np

    _, counts = np.unique(faces.people, return_counts=True)
    summary: dict[str, Any] = {
        "set": name,
        "pictures": len(faces),
        "people": faces.n_people,
        "pictures per person": {
            "fewest": int(counts.min()),
            "median": float(np.median(counts)),
            "most": int(counts.max()),
        },
        "people with one picture": int(np.count_nonzero(counts == 1)),
        "size": list(faces.size),
        "colour": faces.colour,
        "brightness": {
            "mean": round(float(faces.images.mean(dtype=np.float64)), 3),
            "range": [float(faces.images.min()), float(faces.images.max())],
        },
        "known of each picture": sorted(faces.metadata),
        "source": faces.source,
        "licence": faces.licence,
        "skipped": faces.skipped,
    }
    if "original_size" in faces.metadata:
        sizes = np.asarray(faces.metadata["original_size"])
        summary["original sizes"] = {
            "smallest": sizes[np.argmin(sizes.prod(axis=1))].tolist(),
            "largest": sizes[np.argmax(sizes.prod(axis=1))].tolist(),
        }
    return summary


def _rows_of_sheet(faces: Any, n_people: int, columns: int) -> tuple[Any, int]:
    """Choose pictures for the sheet: one row per person, those with the most pictures first."""
    import numpy as np

    names, counts = np.unique(faces.people, return_counts=True)
    columns = min(columns, int(counts.max()))
    order = np.argsort(-np.minimum(counts, columns), kind="stable")[:n_people]
    blank = np.ones_like(faces.images[:1])
    blank = blank * (255 if faces.images.dtype == np.uint8 else 1)
    pictures = []
    for name in names[np.sort(order)]:
        mine = np.flatnonzero(faces.people == name)[:columns]
        pictures.append(faces.images[mine])
        pictures.extend([blank] * (columns - len(mine)))
    return np.concatenate(pictures), columns


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FOLDER",
            help="rendered, orl, yale, lfw, or a folder with one folder per person.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a contact sheet, one row per person (PNG)."),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1024,
            help="Resize the pictures to this many pixels.",
            show_default="as they are; 96 for a folder",
        ),
    ] = None,
    colour: Annotated[bool, typer.Option("--colour", help="Read the pictures in colour.")] = False,
    people: Annotated[
        int | None,
        typer.Option(
            min=1, help="With --out: number of people on the sheet.", show_default=str(_ROWS)
        ),
    ] = None,
    columns: Annotated[
        int | None,
        typer.Option(
            min=1, help="With --out: number of pictures per person.", show_default=str(_COLUMNS)
        ),
    ] = None,
    skip: Annotated[
        bool,
        typer.Option("--skip", help="Skip and count pictures that cannot be read."),
    ] = False,
    data_home: DataHome = None,
    as_json: AsJson = False,
) -> None:
    """Summarise a data set, and draw a contact sheet of some of its faces."""
    from rich.table import Table
    from rich.text import Text

    from mien.cli._consoles import console
    from mien.datasets import KNOWN_SETS, load_faces
    from mien.media import contact_sheet, write_image

    known = name in KNOWN_SETS
    if out is None:
        refuse("is for the contact sheet, and no --out was given", people=people, columns=columns)
    if not known or name == "rendered":
        refuse(f"is for the real data sets, not for {name}", data_home=data_home)
    if name == "rendered":
        refuse("is for files, and rendered faces are made on request", skip=skip)
    if size is None and not known:
        size = 96  # the pictures of a folder rarely have one size
    check_file(out)
    with showing_progress():
        faces = load_faces(
            name, home=data_home, size=size, colour=colour, on_error="skip" if skip else "raise"
        )
    summary = _summarise(faces, name)
    if out is not None:
        pictures, n_columns = _rows_of_sheet(faces, people or _ROWS, columns or _COLUMNS)
        summary["sheet"] = str(write_image(out, contact_sheet(pictures, n_columns)))
    if as_json:
        print_json(summary)
        return
    table = Table(title=Text(f"{name}"), title_justify="left", show_header=False)
    table.add_column(style="bold")
    table.add_column()
    for key, value in summary.items():
        table.add_row(key, Text(_words(key, value)))
    console.print(table)


def _words(key: str, value: Any) -> str:
    """Say a value of the summary in words."""
    if key == "size":
        return f"{value[0]}×{value[1]} (height×width)"
    if key == "original sizes":
        return " to ".join(f"{height}×{width}" for height, width in value.values())
    if key == "skipped":
        more = f"\n… and {len(value) - 5:,} more" if len(value) > 5 else ""
        return f"{len(value):,}" + "".join(f"\n{line}" for line in value[:5]) + more
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words('', inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(_words("", inner) for inner in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def make(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new or empty folder.")],
    people: Annotated[int, typer.Option(min=3, max=12, help="Number of people with a name.")] = 8,
    strangers: Annotated[
        int, typer.Option(min=1, help="Number of people who have no name in the album.")
    ] = 4,
    pictures: Annotated[int, typer.Option(min=2, help="Named pictures per person.")] = 5,
    unsorted: Annotated[int, typer.Option(min=2, help="Unsorted pictures per person.")] = 4,
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives other people.")] = 4,
    as_json: AsJson = False,
) -> None:
    """Write an album of rendered people, who do not exist, to try the other verbs on."""
    from mien.datasets import make_album

    check_folder(folder)
    with showing_progress():
        make_album(
            folder,
            n_people=people,
            n_strangers=strangers,
            n_named=pictures,
            n_unsorted=unsorted,
            random_state=seed,
        )
    counts = {
        "folder": str(folder),
        "people": people,
        "strangers": strangers,
        "named pictures": people * pictures,
        "unsorted pictures": (people + strangers) * unsorted,
    }
    if as_json:
        print_json(counts)
        return
    say(
        f"{folder}: {counts['named pictures']} pictures of {people} people in photos/, "
        f"{counts['unsorted pictures']} in unsorted/ ({strangers} strangers among them), "
        "a.jpg, b.jpg, c.jpg, party.jpg, masked.jpg; answers.csv says who is in unsorted/."
    )
