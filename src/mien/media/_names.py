"""Names that people gave their pictures elsewhere: Google Takeout, Picasa, XMP, folders, tables."""

from __future__ import annotations

import bisect
import configparser
import csv
import json
import os
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from mien._core.validation import check_choice
from mien.errors import DataError, MissingDataError
from mien.media._listing import find_pictures
from mien.media._regions import NamedRegion, PictureNames
from mien.media._xmp import read_xmp

__all__ = ["NAME_SOURCES", "read_names"]

#: Where names may come from, in the order in which they are believed.
NAME_SOURCES = ("table", "xmp", "picasa", "takeout", "folder")
_MAX_JSON = 2**20
_MAX_TABLE = 64 * 2**20
_TAKEOUT_CUT = 46
_TAKEOUT_WORD = ".supplemental-metadata"
_EDITED = (
    "-edited", "-bearbeitet", "-modifié", "-editado", "-ha editado", "-editat", "-modificato",
    "-bewerkt", "-edytowane", "-編集済み",
    "-effects", "-EFFECTS", "-smile", "-SMILE", "-mix", "-MIX",
)  # fmt: skip
#: Letters of a picture's name without its suffix that Takeout keeps.
_PICTURE_CUT = 47
_NOBODY = "ffffffffffffffff"


def read_names(
    photos: str | os.PathLike[str], sources: Sequence[str] | str = "auto"
) -> tuple[list[PictureNames], list[tuple[Path, str]]]:
    """Who is on the pictures of a folder, as far as other programs have written it down.

    Parameters
    ----------
    photos : path
        A folder of pictures, or a CSV table with the columns ``file`` and ``people`` (names
        separated by semicolons).
    sources : "auto" or list of {"table", "xmp", "picasa", "takeout", "folder"}
        What to read. "auto" is everything but the names of folders, which it takes only if
        nothing else names anybody.

    Returns
    -------
    pictures : list of PictureNames
        Every picture of the folder, also those that nobody named.
    left_out : list of (Path, str)
        Files that could not be read or matched, with the reason.

    Examples
    --------
    >>> from mien.media import read_names
    >>> pictures, left_out = read_names("Takeout/Google Photos")            # doctest: +SKIP
    >>> pictures[0].names                                                   # doctest: +SKIP
    ['Ann', 'Bob']
    """
    root = Path(photos)
    if not root.exists():
        raise MissingDataError(f"{str(root)!r} does not exist: a folder or a CSV table is needed")
    if root.is_file():
        return _read_table(root)
    wanted = NAME_SOURCES if sources == "auto" else tuple(sources)
    for source in wanted:
        check_choice("sources", source, NAME_SOURCES)
    paths = find_pictures(root)
    left_out: list[tuple[Path, str]] = []
    found = {path: PictureNames(path) for path in paths}
    if "xmp" in wanted:
        _add_xmp(found, left_out)
    if "picasa" in wanted:
        _add_picasa(found, left_out)
    if "takeout" in wanted:
        _add_takeout(found, left_out)
    named = any(one.names or one.regions for one in found.values())
    if "folder" in wanted and (sources != "auto" or not named):
        for path, one in found.items():
            inside = path.relative_to(root).parts
            if len(inside) > 1:
                _add(one, [], [inside[0]], "folder")
    return list(found.values()), left_out


def _add(one: PictureNames, regions: list[NamedRegion], names: list[str], source: str) -> None:
    """Take what a source says about a picture, unless a source before it said so."""
    if not regions and not names:
        return
    one.sources.append(source)
    placed = {region.name for region in one.regions}
    one.regions.extend(region for region in regions if region.name not in placed or not region.name)
    placed |= {region.name for region in regions}
    one.names.extend(name for name in names if name not in placed and name not in one.names)
    one.names[:] = [name for name in one.names if name not in placed]


def _read_table(path: Path) -> tuple[list[PictureNames], list[tuple[Path, str]]]:
    if path.stat().st_size > _MAX_TABLE:
        raise DataError(
            f"{str(path)!r} is larger than {_MAX_TABLE:,} bytes, too large for a table of names"
        )
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            columns = reader.fieldnames or []
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{str(path)!r} cannot be read as a table: {error}") from error
    column = next((name for name in ("people", "person") if name in columns), None)
    if "file" not in columns or column is None:
        raise DataError(
            f"{str(path)!r} must have the columns file and people; it has "
            f"{', '.join(map(repr, columns)):.120}"
        )
    found: dict[Path, PictureNames] = {}
    left_out: list[tuple[Path, str]] = []
    for number, row in enumerate(rows, start=2):
        written = (row["file"] or "").strip()
        if not written or "\0" in written:
            left_out.append((path, f"row {number} names no file"))
            continue
        place = path.parent / written
        names = [name.strip() for name in (row[column] or "").split(";") if name.strip()]
        _add(found.setdefault(place, PictureNames(place)), [], names, "table")
    return list(found.values()), left_out


# ------------------------------------------------------------------ XMP


def _add_xmp(found: dict[Path, PictureNames], left_out: list[tuple[Path, str]]) -> None:
    for path, one in found.items():
        try:
            said = read_xmp(path)
        except (DataError, OSError, ValueError) as error:
            left_out.append((path, str(error)))
            continue
        _add(one, said.regions, said.names, "xmp")


# ------------------------------------------------------------------ Picasa


def _add_picasa(found: dict[Path, PictureNames], left_out: list[tuple[Path, str]]) -> None:
    folders: dict[Path, list[PictureNames]] = {}
    for path, one in found.items():
        folders.setdefault(path.parent, []).append(one)
    contacts = _read_contacts(set(folders))
    for folder, mine in folders.items():
        for name in (".picasa.ini", "Picasa.ini"):
            place = folder / name
            if not place.is_file():
                continue
            if place.stat().st_size > _MAX_JSON:
                left_out.append((place, f"it is larger than {_MAX_JSON:,} bytes"))
                continue
            parser = configparser.RawConfigParser(strict=False, delimiters=("=",))
            parser.optionxform = str  # type: ignore[assignment, method-assign]
            try:
                parser.read_string(place.read_text(encoding="utf-8-sig", errors="replace"))
            except (OSError, configparser.Error) as error:
                left_out.append((place, f"it cannot be read: {type(error).__name__}"))
                continue
            known = contacts | {
                key: value.split(";")[0].strip()
                for section in ("Contacts2", "Contacts")
                if parser.has_section(section)
                for key, value in parser.items(section)
            }
            for one in mine:
                if parser.has_option(one.path.name, "faces"):
                    text = parser.get(one.path.name, "faces")
                    _add(one, _picasa_regions(text, known), [], "picasa")


def _picasa_regions(text: str, contacts: dict[str, str]) -> list[NamedRegion]:
    """``rect64(…),contact;…``: Picasa's places are of the upright picture."""
    regions = []
    for digits, contact in re.findall(r"rect64\(([0-9a-fA-F]{1,16})\),([0-9a-fA-F]+)", text):
        whole = digits.zfill(16)
        left, top, right, bottom = (int(whole[k : k + 4], 16) / 65535 for k in (0, 4, 8, 12))
        name = None if contact == _NOBODY else contacts.get(contact)
        if right > left and bottom > top:
            regions.append(NamedRegion(name or None, (left, top, right - left, bottom - top)))
    return regions


def _read_contacts(folders: set[Path]) -> dict[str, str]:
    """Names from ``contacts.xml``, which Picasa keeps beside its database."""
    found: dict[str, str] = {}
    for folder in folders:
        place = folder / "contacts.xml"
        if not place.is_file() or place.stat().st_size > _MAX_JSON:
            continue
        content = place.read_bytes()
        if b"<!" in content or content.count(b"<") > 100_000:
            continue
        try:
            tree = ElementTree.fromstring(content)
        except ElementTree.ParseError:
            continue
        for contact in tree.iter("contact"):
            if contact.get("id") and contact.get("name"):
                found[str(contact.get("id"))] = str(contact.get("name"))
    return found


# ------------------------------------------------------------------ Google Takeout


def _add_takeout(found: dict[Path, PictureNames], left_out: list[tuple[Path, str]]) -> None:
    folders: dict[Path, dict[str, PictureNames]] = {}
    for path, one in found.items():
        folders.setdefault(path.parent, {})[path.name] = one
    for folder, pictures in folders.items():
        known = TakeoutPictures(list(pictures))
        for place in sorted(folder.glob("*.json")):
            said = _read_people(place)
            if said is None:
                continue
            title, names = said
            owner = known.match(place.name, title)
            if owner is None:
                if names:
                    left_out.append((place, "no picture of its name is beside it"))
                continue
            _add(pictures[owner], [], names, "takeout")
            for edited in known.edited(owner):
                _add(pictures[edited], [], names, "takeout")


def _read_people(place: Path) -> tuple[str, list[str]] | None:
    """Title and people of a file of Takeout; None where it is another kind of file."""
    try:
        if not place.is_file() or place.stat().st_size > _MAX_JSON:
            return None
        said: Any = json.loads(place.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or not isinstance(said.get("title"), str):
        return None
    people = said.get("people")
    names = [
        one["name"].strip()
        for one in (people if isinstance(people, list) else [])
        if isinstance(one, dict) and isinstance(one.get("name"), str) and one["name"].strip()
    ]
    return said["title"], list(dict.fromkeys(names))


class TakeoutPictures:
    """The pictures of a folder of Takeout, to be found by the names of its JSON files.

    ``IMG.jpg`` has ``IMG.jpg.supplemental-metadata.json``, or anything shorter when the whole is
    longer than 46 letters; ``IMG(1).jpg`` has ``IMG.jpg.supplemental-metadata(1).json``; older
    exports have ``IMG.jpg.json`` and ``IMG.jpg(1).json``, and ``IMG.json`` for a title without a
    suffix. Accents may be one letter or two, as the disk has them.

    Parameters
    ----------
    pictures : sequence of str
        Names of the pictures.
    """

    def __init__(self, pictures: Sequence[str]) -> None:
        self._wholes: dict[tuple[str, str], list[str]] = {}
        self._stems: dict[tuple[str, str], list[str]] = {}
        self._names = {_compose(picture): picture for picture in pictures}
        for name, picture in self._names.items():
            stem, suffix = os.path.splitext(name)
            plain, number = _split_count(stem)
            for key in {(plain + suffix, number), (name, "")}:
                self._wholes.setdefault(key, []).append(picture)
            self._stems.setdefault((plain, number), []).append(picture)
        self._ordered = sorted(self._wholes)

    def match(self, name: str, title: str) -> str | None:
        """The picture that a JSON file belongs to, by its name and, if need be, its title."""
        base, count = _split_count(_compose(name).removesuffix(".json"))
        title = _compose(title)
        fitting: dict[str, None] = {}
        # The whole name of a picture, and as much of the word as there is room for.
        for length in range(max(1, len(base) - len(_TAKEOUT_WORD)), len(base) + 1):
            if _TAKEOUT_WORD.startswith(base[length:]):
                fitting |= dict.fromkeys(self._wholes.get((base[:length], count), []))
        if len(base) >= _TAKEOUT_CUT - 8:  # not even the picture's own name is whole
            at = bisect.bisect_left(self._ordered, (base, ""))
            while at < len(self._ordered) and self._ordered[at][0].startswith(base):
                if self._ordered[at][1] == count:
                    fitting |= dict.fromkeys(self._wholes[self._ordered[at]])
                at += 1
        if not fitting:
            fitting |= dict.fromkeys(
                picture
                for picture in self._stems.get((base, count), [])
                if title in (base, base + os.path.splitext(_compose(picture))[1])
            )
        found = list(fitting)
        if len(found) > 1:
            wanted = os.path.splitext(title)[0]
            exact = [one for one in found if _plain_stem(one) == wanted]
            found = exact if len(exact) == 1 else []
        return found[0] if found else None

    def edited(self, owner: str) -> list[str]:
        """What Google's editor made of a picture, ``IMG-edited.jpg``.

        The word is in the language of whoever edited, and cut where the name would be too long.
        """
        stem, suffix = os.path.splitext(_compose(owner))
        plain, count = _split_count(stem)
        mark = f"({count})" if count else ""
        stems = dict.fromkeys((plain + word)[:_PICTURE_CUT] for word in _EDITED)
        names = [f"{one}{mark}{suffix}" for one in stems if one != plain]
        return [self._names[name] for name in names if name in self._names]


def _split_count(text: str) -> tuple[str, str]:
    """A name without the number that Takeout puts behind a second file of that name."""
    match = re.fullmatch(r"(.*)\((\d+)\)", text)
    return (match[1], match[2]) if match else (text, "")


def _compose(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _plain_stem(name: str) -> str:
    return _split_count(os.path.splitext(_compose(name))[0])[0]
