"""Where a gallery is: a file, or a gallery of a PostgreSQL database by its address."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from mien.errors import InputError

__all__ = ["DatabaseAddress", "gallery_name", "has_gallery", "is_address", "parse_address"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class DatabaseAddress:
    """A gallery of a database.

    Attributes
    ----------
    server : str
        What libpq takes, with a password if one was given.
    gallery : str
        Name of the gallery in the database.
    shown : str
        For people: without a password.
    """

    server: str
    gallery: str
    shown: str


def is_address(place: str | Path) -> bool:
    """Whether a gallery is in a database, and not in a file."""
    return parse_address(place) is not None


def gallery_name(place: str | Path) -> str:
    """The name of a gallery: of its file without the suffix, or in its database."""
    address = parse_address(place)
    return Path(place).name.removesuffix(".gallery") if address is None else address.gallery


def has_gallery(place: str | Path) -> bool:
    """Whether a gallery is at a place: a file that exists, or a name in a database."""
    address = parse_address(place)
    if address is None:
        return Path(place).exists()
    from mien.gallery._postgres_store import PostgresStore

    return PostgresStore.exists(address)


def parse_address(place: str | Path) -> DatabaseAddress | None:
    """A database's address, or None for a file.

    The gallery is named by ``?gallery=NAME``; without it, it is called "people". A path that
    was made of an address (two slashes are one in a path) is understood.
    """
    text = str(place)
    found = re.match(r"(postgres(?:ql)?):(/+)(.*)", text, re.S)
    if found is None:
        return None
    scheme, slashes, rest = found.groups()
    if len(slashes) == 1:
        local = "host=" in rest and "@" not in rest.split("/")[0]
        slashes = "///" if local else "//"
    parts = urlsplit(f"{scheme}:{slashes}{rest}")
    options = parse_qsl(parts.query, keep_blank_values=True)
    names = [value for name, value in options if name == "gallery"] or ["people"]
    if len(names) > 1 or not _NAME.fullmatch(names[0]):
        raise InputError(
            "a gallery's name in an address (?gallery=NAME) has letters, digits, '.', '_' and "
            f"'-', at most 64 of them; got {names[-1]!r:.80}"
        )
    others = [(name, value) for name, value in options if name != "gallery"]
    # A socket's folder is read by libpq as it is written.
    query = urlencode(others, safe="/", quote_via=quote)
    server = urlunsplit((scheme, parts.netloc, parts.path, query, ""))
    if not parts.netloc:
        server = (
            server.replace(f"{scheme}:/", f"{scheme}:///", 1) if "///" not in server else server
        )
    user, at, host = parts.netloc.rpartition("@")
    shown = urlunsplit(
        (
            scheme,
            user.split(":")[0] + at + host,
            parts.path,
            urlencode([(n, v) for n, v in others if n != "password"] + [("gallery", names[0])],
                      safe="/", quote_via=quote),
            "",
        )
    )  # fmt: skip
    return DatabaseAddress(server, names[0], shown)
