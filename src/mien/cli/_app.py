"""All verbs in one table, loaded when they are used, and what happens when one of them fails."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Annotated, NoReturn

import typer

from mien.cli._lazy import Verb, make_group_class
from mien.errors import MienError

__all__ = ["app", "main"]

_TRAIN = {
    "verification": Verb("mien.cli._crops_train_verification", "Learn a verifier."),
    "committee": Verb("mien.cli._crops_train_committee", "Learn to name the people in a folder."),
    "completer": Verb("mien.cli._crops_train_completer", "Learn to complete faces."),
    "encoder": Verb("mien.cli._crops_train_encoder", "Learn to turn a picture into one vector."),
}
_CROPS = {
    "train": Verb(_TRAIN, "Learn a model from cut-out faces or vectors."),
    "verify": Verb("mien.cli._crops_verify", "Compare two cut-out faces or vectors."),
    "adapt": Verb("mien.cli._crops_adapt", "Adapt a verifier to your own faces or vectors."),
    "identify": Verb("mien.cli._crops_identify", "Name cut-out faces with a committee."),
    "cluster": Verb("mien.cli._crops_cluster", "Sort cut-out faces by person."),
    "complete": Verb("mien.cli._crops_complete", "Complete cut-out faces."),
    "encode": Verb("mien.cli._crops_encode", "Turn each picture of a folder into one vector."),
}
_PEOPLE = {
    "list": Verb("mien.cli._people:list_people", "List the people in a gallery."),
    "rename": Verb("mien.cli._people:rename_person", "Give a person another name."),
    "merge": Verb("mien.cli._people:merge_people", "Merge two people into one."),
    "delete": Verb("mien.cli._people:delete_person", "Delete a person and all their faces."),
    "purge": Verb("mien.cli._keeping:purge_people", "Delete people whose time has expired."),
    "export": Verb("mien.cli._keeping:export_person", "Export everything stored about a person."),
    "faces": Verb("mien.cli._faces:list_faces", "List the enrolled faces of a person."),
    "move-face": Verb("mien.cli._faces:move_face", "Give faces to another person."),
    "remove-face": Verb("mien.cli._faces:remove_face", "Take faces out of a gallery."),
}
_KEYS = {
    "create": Verb("mien.cli._keys:create_key", "Make a key for a server and print it."),
    "link": Verb("mien.cli._keys:make_link", "Print a link that signs in to the page, once."),
    "list": Verb("mien.cli._keys:list_keys", "List the keys of a server."),
    "revoke": Verb("mien.cli._keys:revoke_key", "Revoke a key immediately."),
}
_GALLERY = {
    "change-key": Verb("mien.cli._keeping:change_key", "Change the passphrase of a gallery."),
    "check": Verb("mien.cli._gallery:check", "Check a gallery and whether its rates hold."),
    "forget": Verb("mien.cli._gallery:forget", "Delete what was remembered about pictures."),
    "move": Verb("mien.cli._keeping:move", "Copy a gallery between files and databases."),
    "rotate": Verb("mien.cli._keeping:rotate", "Turn all vectors by a new secret rotation."),
    "history": Verb("mien.cli._faces:show_history", "List the most recent changes."),
    "undo": Verb("mien.cli._faces:undo", "Undo the most recent changes."),
}
_EXPORT = {
    "xmp": Verb("mien.cli._export", "Write names as XMP for photo applications."),
}
_DATA = {
    "list": Verb("mien.cli._data:list_known", "List the known data sets."),
    "make": Verb("mien.cli._data:make", "Write an album of people who do not exist."),
    "show": Verb("mien.cli._data:show", "Summarise a data set and draw a contact sheet."),
}
#: Name -> module (or table of verbs) and the line that the list of verbs shows.
VERBS = {
    "verify": Verb("mien.cli._verify", "Compare the faces in photographs."),
    "enrol": Verb("mien.cli._enrol", "Add people to a gallery."),
    "identify": Verb("mien.cli._identify", "Name the people in photographs and videos."),
    "find": Verb("mien.cli._find", "List the photographs that show people."),
    "export": Verb(_EXPORT, "Write names for photo applications."),
    "watch": Verb("mien.cli._watch", "Watch a camera and report who comes and goes."),
    "people": Verb(_PEOPLE, "List, rename, merge, correct and delete the people in a gallery."),
    "gallery": Verb(_GALLERY, "Check a gallery and its error rates; undo changes."),
    "adapt": Verb("mien.cli._adapt", "Adapt the verifier to your own people and camera."),
    "cluster": Verb("mien.cli._cluster", "Sort photographs or the faces of a video by person."),
    "complete": Verb("mien.cli._complete", "Complete the covered part of faces."),
    "evaluate": Verb("mien.cli._evaluate", "Evaluate the scores of any verification system."),
    "serve": Verb("mien.cli._serve", "Serve a gallery over HTTP."),
    "keys": Verb(_KEYS, "Make, list and revoke the keys of a server."),
    "data": Verb(_DATA, "List, show and make data sets of faces."),
    "demo": Verb("mien.cli._demo", "Run every method once and write a report."),
    "warm": Verb("mien.cli._warm", "Compile the kernels once, so that the first calls are fast."),
    "crops": Verb(_CROPS, "The same verbs for cut-out faces and for vectors."),
}

app = typer.Typer(
    name="mien",
    cls=make_group_class(VERBS),
    help="Recognise, verify, group and complete faces in photographs and videos.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from mien import __version__

        typer.echo(f"mien {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Options of mien itself."""


def main() -> None:
    """Run a verb; an error that mien raises on purpose is one sentence, not a traceback."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # what a pipe or a full disk refuses is refused here, not at the end
    except BrokenPipeError:
        _silence()
        sys.exit(0)  # whoever reads has enough
    except MienError as error:
        _fail(str(error))
    except OSError as error:
        _silence()
        place = f"{error.filename!r}: " if error.filename else ""
        _fail(place + (error.strerror or str(error)))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)


def _fail(words: str) -> NoReturn:
    """Say in one sentence why there is no result."""
    from mien.cli._display import clean

    sys.stderr.write(f"error: {clean(words)}\n")
    sys.exit(2)


def _silence() -> None:
    """Let what is still in the buffer go nowhere, so that Python does not complain at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
