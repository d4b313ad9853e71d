"""The verbs in one place, and what happens when one of them fails."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.markup import escape

import mien
from mien.cli._display import errors
from mien.cli.adapt import adapt
from mien.cli.cluster import cluster
from mien.cli.complete import complete
from mien.cli.data import data_app
from mien.cli.demo import demo
from mien.cli.encode import encode
from mien.cli.enrol import enrol
from mien.cli.evaluate import evaluate
from mien.cli.identify import identify
from mien.cli.people import people_app
from mien.cli.train_committee import train_committee
from mien.cli.train_completer import train_completer
from mien.cli.train_encoder import train_encoder
from mien.cli.train_verification import train_verification
from mien.cli.verify import verify
from mien.errors import MienError

app = typer.Typer(
    name="mien",
    help="Recognise, verify, group and complete faces from few, weak, foreign or partial labels.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
train_app = typer.Typer(help="Learn a model from your pictures or vectors.", no_args_is_help=True)
app.command()(complete)
app.command()(demo)
app.command()(encode)
app.command()(enrol)
app.command()(evaluate)
app.command()(cluster)
app.command()(identify)
app.command()(adapt)
app.command()(verify)
train_app.command("verification")(train_verification)
train_app.command("committee")(train_committee)
train_app.command("encoder")(train_encoder)
train_app.command("completer")(train_completer)
app.add_typer(data_app, name="data")
app.add_typer(people_app, name="people")
app.add_typer(train_app, name="train")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mien {mien.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Options of mien itself."""


def main() -> None:
    """Run a verb; an error that mien raises on purpose is one sentence, not a traceback."""
    try:
        app()
    except MienError as error:
        errors.print(f"[bold red]error:[/] {escape(str(error))}", markup=True, highlight=False)
        sys.exit(2)
    except KeyboardInterrupt:
        errors.print("interrupted")
        sys.exit(130)
