"""``mien keys``: who may use a server, and for what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mien.cli._display import print_json, say
from mien.cli._options import AsJson
from mien.cli._serve import ServedGallery, StateOption, find_state

if TYPE_CHECKING:
    from mien.service import KeyStore

__all__ = ["create_key", "list_keys", "make_link", "revoke_key"]


@contextmanager
def _open(gallery: Path, state: Path | None) -> Iterator[KeyStore]:
    from mien.service import KeyStore, open_state

    opened = open_state(find_state(gallery, state))
    try:
        yield KeyStore(opened)
    finally:
        opened.close()


def create_key(
    role: Annotated[str, typer.Argument(help="read, write or admin.")],
    gallery: ServedGallery,
    state: StateOption = None,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Gallery that the key is for; * is all of them.")
    ] = "*",
    label: Annotated[str, typer.Option(help="A note to tell keys apart.")] = "",
    days: Annotated[
        float | None, typer.Option(help="Days until the key expires.", show_default="never")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key for a server and print it. It is shown only once; only its digest is stored."""
    with _open(gallery, state) as keys:
        key, record = keys.create(role, gallery=name, label=label, days=days)
    if as_json:
        print_json({"key": key, **asdict(record)})
    else:
        say(key)
        say(f"Keep it: it is not shown again. Its id is {record.id}")


def list_keys(gallery: ServedGallery, state: StateOption = None, as_json: AsJson = False) -> None:
    """List the keys of a server, without the keys themselves."""
    with _open(gallery, state) as keys:
        records = keys.list()
    if as_json:
        print_json({"keys": [asdict(record) for record in records]})
        return
    for one in records:
        ended = "revoked" if one.revoked else ""
        say(f"{one.id}  {one.role:5}  {one.gallery}  {one.label}  {ended}".rstrip())
    say(f"{len(records)} keys")


def revoke_key(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="Id of the key.")],
    gallery: ServedGallery,
    state: StateOption = None,
    as_json: AsJson = False,
) -> None:
    """Revoke a key immediately."""
    with _open(gallery, state) as keys:
        keys.revoke(identifier)
    if as_json:
        print_json({"revoked": identifier})
    else:
        say(f"{identifier} is revoked")


def make_link(
    gallery: ServedGallery,
    state: StateOption = None,
    host: Annotated[str, typer.Option(help="Address of the server.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the server.")] = 8080,
    as_json: AsJson = False,
) -> None:
    """Print a link that signs in to a server's page; it works once, within an hour."""
    from mien.service import Settings
    from mien.service import make_link as make

    link = make(Settings(gallery, find_state(gallery, state), host=host, port=port))
    if as_json:
        print_json({"page": link})
    else:
        say(link)
