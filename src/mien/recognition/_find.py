"""On which pictures are these people? From what a gallery knows; nothing is analysed."""

from __future__ import annotations

import calendar
import difflib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mien._core.text import count
from mien._core.types import PathLike
from mien.errors import InputError, MienError
from mien.gallery import Gallery, PictureIndex, SeenPicture, Sighting
from mien.media import is_picture, picture_time, read_image, upright_size
from mien.recognition._galleries import open_gallery
from mien.recognition._identify import IdentifiedFace, IdentifiedPicture
from mien.recognition._people import digest_file
from mien.reports import Report

__all__ = [
    "FoundPicture",
    "find",
    "forget_pictures",
    "read_period",
    "remember",
    "report_found",
]

_SHOWN = 300
_SIDE = 320


@dataclass(frozen=True)
class FoundPicture:
    """A picture or video with the people that were asked for.

    Attributes
    ----------
    path : Path
        Where it is, or was when the gallery learned of it.
    people : dict of str to float
        Everybody who is known to be there, with a probability: 1 for faces that are enrolled.
    enrolled : tuple of str
        Those of them whose face in this picture is enrolled: a person said so.
    taken : float or None
        When it was taken, in seconds on the camera's clock.
    seconds : dict of str to list of (float, float)
        Of a video: when each of them is seen.
    looked_through : bool
        Whether all its faces were named (``identify --remember``). If not, others may be on it.
    """

    path: Path
    people: dict[str, float]
    enrolled: tuple[str, ...] = ()
    taken: float | None = None
    seconds: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    looked_through: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        day = None
        if self.taken is not None:
            day = datetime.fromtimestamp(self.taken, tz=UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return {
            "file": str(self.path),
            "people": {name: round(chance, 4) for name, chance in self.people.items()},
            "enrolled": list(self.enrolled),
            "taken": day,
            "seconds": {name: [list(t) for t in times] for name, times in self.seconds.items()},
            "looked_through": self.looked_through,
        }


def read_period(text: str) -> tuple[float, float]:
    """First and last second of a year, month or day: "2024", "2024-06" or "2024-06-15"."""
    match = re.fullmatch(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?", text.strip())
    try:
        if match is None:
            raise ValueError
        year, month, day = (None if part is None else int(part) for part in match.groups())
        begin = datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
        last_month = month or 12
        last_day = day or calendar.monthrange(year or 0, last_month)[1]
        end = datetime(year or 0, last_month, last_day, 23, 59, 59, 999_999, tzinfo=UTC)
    except (ValueError, calendar.IllegalMonthError) as error:
        raise InputError(
            f"{text!r} is not a date: give a year, a month or a day as 2024, 2024-06 or 2024-06-15"
        ) from error
    return begin.timestamp(), end.timestamp()


def remember(pictures: Sequence[IdentifiedPicture], gallery: Gallery) -> int:
    """Keep who was found on pictures beside the gallery, for :func:`find`; gives how many.

    Parameters
    ----------
    pictures : sequence of IdentifiedPicture
        From :func:`identify`; those that could not be used are left out.
    gallery : Gallery
        That named them. It must not be sealed: the index beside it is not.

    Notes
    -----
    Kept are paths, places of faces, times and the numbers of people; no names, no templates.
    ``forget_pictures`` deletes it all, and people who are deleted from the gallery are deleted here
    the next time it is opened.
    """
    _check_open(gallery)
    people = gallery.people()
    numbers = {person.name: person.number for person in people}
    seen = []
    for picture in pictures:
        digest = None if picture.error is not None else digest_file(picture.path)
        if digest is not None:
            seen.append(_see(picture, digest, gallery, numbers))
    if seen or PictureIndex.exists(gallery.path):
        with PictureIndex(gallery.path) as index:
            index.keep_people({person.number for person in people})
            index.remember(seen)
    return len(seen)


def forget_pictures(gallery: Gallery | PathLike) -> bool:
    """Delete what was remembered about pictures, overwritten; False where there was nothing."""
    return PictureIndex.forget(gallery.path if isinstance(gallery, Gallery) else gallery)


def _check_open(gallery: Gallery) -> None:
    if gallery.sealed:
        raise InputError(
            f"{gallery.path} is sealed, and the index of pictures beside it would not be: only "
            "galleries without a passphrase can remember pictures"
        )


def _see(
    picture: IdentifiedPicture, digest: str, gallery: Gallery, numbers: dict[str, int]
) -> SeenPicture:
    """What is kept of a picture: everybody who was named, or who is enrolled from it."""
    video = bool(picture.faces and picture.faces[0].frames)
    height, width = (1, 1) if video or not picture.faces else picture.size
    sightings = []
    for number, face in enumerate(picture.faces):
        stored = None if video else gallery.find_face(digest, number)
        name = stored.person if stored is not None else face.person
        if name in numbers:
            x, y, w, h = (float(side) for side in face.found.face.box)
            box = (x / width, y / height, w / width, h / height)
            sightings.append(_sight(numbers[name], face, box, stored is not None))
    when = picture_time(picture.path)
    taken, clock = (None, "") if when is None else (when.seconds, when.clock)
    return SeenPicture(picture.path.absolute(), digest, taken, clock, tuple(sightings))


def _sight(
    number: int, face: IdentifiedFace, box: tuple[float, float, float, float], enrolled: bool
) -> Sighting:
    chance = 1.0 if enrolled else float(face.probability)
    return Sighting(number, box, chance, enrolled, face.times)


def find(
    people: Sequence[str],
    gallery: Gallery | PathLike,
    *,
    without: Sequence[str] = (),
    since: str | None = None,
    until: str | None = None,
    anybody: bool = False,
    confirmed: bool = False,
    photos: PathLike | None = None,
    key: bytes | str | None = None,
) -> list[FoundPicture]:
    """Pictures and videos on which people are, from what the gallery knows.

    Parameters
    ----------
    people : sequence of str
        Names; all of them must be on the picture. May be empty if ``without`` is not.
    gallery : Gallery or path
        Knows the pictures that people were enrolled from, and those that were looked through with
        ``mien identify --remember``.
    without : sequence of str
        Names that must not be on it.
    since, until : str or None
        "2024", "2024-06" or "2024-06-15"; both ends are included. Pictures whose time is unknown
        are left out then.
    anybody : bool
        Whether one of ``people`` is enough.
    confirmed : bool
        Count only faces that are enrolled, not those that mien named.
    photos : path or None
        Folder in which pictures that people were enrolled from are looked for; None is the
        current one.
    key : bytes, str or None
        Of a sealed gallery.

    Returns
    -------
    list of FoundPicture
        By time, those without one last.

    Examples
    --------
    >>> from mien.recognition import find
    >>> [one.path.name for one in find(["Ann", "Bob"], "people.gallery")]   # doctest: +SKIP
    ['IMG_0412.jpg', 'IMG_0977.jpg']
    """
    if not people and not without:
        raise InputError("no name was given: name at least one person")
    begin = None if since is None else read_period(since)[0]
    end = None if until is None else read_period(until)[1]
    with open_gallery(gallery, key=key, read_only=not isinstance(gallery, Gallery)) as opened:
        names = {person.number: person.name for person in opened.people()}
        _check_names([*people, *without], sorted(names.values()), opened)
        known = _seen_pictures(opened, names, confirmed)
        _add_enrolled(known, opened, [*people, *without] if people else [], photos)
    wanted, unwanted = set(people), set(without)
    enough: Callable[[set[str]], bool] = (
        (lambda there: bool(there & wanted)) if anybody and wanted else wanted.issubset
    )
    found = [
        one
        for one in known.values()
        if enough(set(one.people))
        and not unwanted & set(one.people)
        and (one.people or one.looked_through)
        and _is_between(one.taken, begin, end)
    ]
    return sorted(found, key=lambda one: (one.taken is None, one.taken or 0.0, str(one.path)))


def _is_between(taken: float | None, begin: float | None, end: float | None) -> bool:
    if begin is None and end is None:
        return True
    return taken is not None and (begin is None or taken >= begin) and (end is None or taken <= end)


def _check_names(asked: Sequence[str], names: list[str], gallery: Gallery) -> None:
    for name in asked:
        if name not in names:
            folded = {one.casefold(): one for one in names}
            close = difflib.get_close_matches(name.casefold(), list(folded), 3)
            hint = f": is it {' or '.join(repr(folded[one]) for one in close)}?" if close else ""
            raise InputError(f"nobody in {gallery.path} is called {name!r}{hint}")


def _seen_pictures(
    gallery: Gallery, names: dict[int, str], confirmed: bool
) -> dict[str, FoundPicture]:
    """What was remembered, by the digest of the file."""
    if not PictureIndex.exists(gallery.path):
        return {}
    with PictureIndex(gallery.path, read_only=True) as index:
        seen = index.pictures()
    known = {}
    for one in seen:
        chance: dict[str, float] = {}
        enrolled: dict[str, None] = {}
        seconds: dict[str, list[tuple[float, float]]] = {}
        for sighting in one.sightings:
            name = names.get(sighting.person)  # whoever was deleted is nobody
            if name is None or (confirmed and not sighting.enrolled):
                continue
            chance[name] = max(chance.get(name, 0.0), sighting.probability)
            if sighting.enrolled:
                enrolled[name] = None
            if sighting.seconds is not None:
                seconds.setdefault(name, []).append(sighting.seconds)
        place = one.digest if one.digest not in known else f"{one.digest} {one.path}"  # a copy
        known[place] = FoundPicture(one.path, chance, tuple(enrolled), one.taken, seconds)
    return known


def _add_enrolled(
    known: dict[str, FoundPicture], gallery: Gallery, asked: list[str], photos: PathLike | None
) -> None:
    """Pictures that the people were enrolled from."""
    root = Path(photos) if photos is not None else Path()
    for name in dict.fromkeys(asked):
        for face in gallery.faces(name):
            one = known.get(face.digest)
            if one is None:
                path = root / (face.source or f"picture {face.digest[:12]}")
                when = picture_time(path)
                one = FoundPicture(
                    path, {}, (), None if when is None else when.seconds, looked_through=False
                )
            chance = {**one.people, name: 1.0}
            confirmed = tuple(dict.fromkeys([*one.enrolled, name]))
            known[face.digest] = FoundPicture(
                one.path, chance, confirmed, one.taken, one.seconds, one.looked_through
            )


def report_found(found: Sequence[FoundPicture], folder: PathLike, people: Sequence[str]) -> Report:
    """A page with small pictures that lead to the files, in the order of time.

    Parameters
    ----------
    found : sequence of FoundPicture
        From :func:`find`.
    folder : path
        Where the page will be written; links are seen from there.
    people : sequence of str
        Who was asked for, for the title.
    """
    report = Report(
        " and ".join(people) or "Pictures",
        count(len(found), "picture or video", "pictures and videos"),
    )
    pictures, captions, links, others = [], [], [], []
    root = Path(folder).resolve()
    for one in found[:_SHOWN]:
        small = _shrink(one.path)
        if small is None:
            others.append({"file": str(one.path), "people": ", ".join(one.people)})
            continue
        pictures.append(small)
        captions.append(f"{one.path.name}: {', '.join(one.people)}")
        links.append(Path(os.path.relpath(one.path.resolve(), root)).as_posix())
    if pictures:
        report.gallery(pictures, captions, columns=None, links=links)
    if others:
        report.table("Videos, and pictures that were not found from here", others)
    if len(found) > _SHOWN:
        report.text(f"The first {_SHOWN:,} of {len(found):,} are shown.")
    return report


def _shrink(path: Path) -> Any:
    """The whole picture, small, so that nobody is cut off; None where it cannot be read."""
    if not is_picture(path):
        return None
    try:
        width, height = upright_size(path)
        scale = _SIDE / max(width, height, 1)
        size = max(1, round(height * scale)), max(1, round(width * scale))
        return read_image(path, colour=True, size=size, fit="stretch")
    except MienError:
        return None
