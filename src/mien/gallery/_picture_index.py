"""Who was seen on which picture or in which video: what ``mien find`` answers from.

A small SQLite file beside the gallery, written on request only. It holds paths, places, times and
the numbers of people; no name and no template. Without the gallery nobody can say who a number is.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from mien.errors import GalleryDamagedError, GalleryError, GalleryFormatError
from mien.gallery._addresses import parse_address
from mien.gallery._index_key import state_home
from mien.gallery._making import beside, wipe_file

__all__ = ["PICTURES_SUFFIX", "PictureIndex", "SeenPicture", "Sighting", "settle_pictures"]

#: Behind the name of the gallery.
PICTURES_SUFFIX = "-pictures"
_OURS = 0x4D49454E  # "MIEN"
_FORMAT = 1
_TABLES = """
CREATE TABLE picture (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, digest TEXT NOT NULL, taken REAL, clock TEXT
);
CREATE TABLE sighting (
    picture INTEGER NOT NULL REFERENCES picture(id) ON DELETE CASCADE, person INTEGER NOT NULL,
    x REAL, y REAL, w REAL, h REAL, probability REAL NOT NULL, enrolled INTEGER NOT NULL,
    first REAL, last REAL
);
CREATE INDEX sighting_person ON sighting(person);
CREATE INDEX picture_digest ON picture(digest);
"""


@dataclass(frozen=True)
class Sighting:
    """Somebody on a picture, or in a stretch of a video.

    Attributes
    ----------
    person : int
        Number of the person in the gallery.
    box : tuple of float
        Left, top, width, height as shares of the picture's width and height.
    probability : float
        As it was identified; 1 where the face is enrolled.
    enrolled : bool
        Whether somebody said who it is.
    seconds : (float, float) or None
        Of a video: from when to when.
    """

    person: int
    box: tuple[float, float, float, float]
    probability: float
    enrolled: bool
    seconds: tuple[float, float] | None = None


@dataclass(frozen=True)
class SeenPicture:
    """A picture or video that was looked through.

    Attributes
    ----------
    path : Path
        Absolute.
    digest : str
        SHA-256 of the file when it was looked through.
    taken : float or None
        When it was taken, in seconds.
    clock : str
        Of which clock: "exif", "file" or "".
    sightings : tuple of Sighting
        Everybody who was named; nobody for a picture without a known face.
    """

    path: Path
    digest: str
    taken: float | None = None
    clock: str = ""
    sightings: tuple[Sighting, ...] = field(default=())


def _find_place(gallery: str | os.PathLike[str]) -> Path:
    """Beside a gallery's file; of a gallery in a database, in the folder of this user's state."""
    address = parse_address(os.fspath(gallery))
    if address is None:
        return beside(Path(gallery), PICTURES_SUFFIX)
    mark = hashlib.sha256(address.shown.encode()).hexdigest()[:16]
    return state_home() / "mien" / f"{address.gallery}-{mark}{PICTURES_SUFFIX}"


def settle_pictures(gallery: Path) -> None:
    """Take away the journal that a killed change of the index beside a gallery left.

    Half a change is undone first; where somebody changes the index at this moment, or it cannot be
    read, nothing happens.
    """
    place = beside(gallery, PICTURES_SUFFIX)
    journal = beside(place, "-journal")
    if not journal.is_file() or journal.is_symlink() or place.is_symlink():
        return
    with suppress(sqlite3.Error, OSError):
        if not place.exists():
            wipe_file(journal)
            return
        address = f"{place.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(address, uri=True, timeout=0, isolation_level=None)) as file:
            file.execute("BEGIN EXCLUSIVE")
            wipe_file(journal)  # one that was not needed any more
            file.execute("ROLLBACK")


class PictureIndex:
    """Who was seen where, beside a gallery that is not sealed; use it in a ``with`` block.

    Parameters
    ----------
    gallery : path
        The gallery's file, or the address of one in a database: pictures are those of this
        machine, so that what was seen on them stays here.
    read_only : bool
        Whether nothing will be written; then the index must exist.

    Notes
    -----
    People are numbers, which a gallery never gives twice: after somebody was deleted from the
    gallery the number means nobody, and :meth:`keep_people` removes it from the file, whose
    freed bytes are overwritten. The file is readable by its owner only.
    """

    def __init__(self, gallery: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.path = _find_place(gallery)
        if self.path.is_symlink():
            raise GalleryError(f"{self.path} is a link: an index is never written through one")
        if not read_only:
            self._claim()
        mode = "ro" if read_only else "rw"
        with self._told():
            self._file = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode={mode}", uri=True, timeout=30.0
            )
        try:
            with self._told():
                if not read_only:
                    self._make()
                self._check(read_only)
        except BaseException:
            self._file.close()
            raise

    @staticmethod
    def exists(gallery: str | os.PathLike[str]) -> bool:
        """Whether anything was ever remembered for this gallery."""
        place = _find_place(gallery)
        return place.is_file() and place.stat().st_size > 0

    @staticmethod
    def forget(gallery: str | os.PathLike[str]) -> bool:
        """Overwrite and remove the whole index; False where there was none."""
        place = _find_place(gallery)
        there = place.exists() or place.is_symlink()
        for suffix in ("-journal", ""):
            wipe_file(beside(place, suffix))
        return there

    def _claim(self) -> None:
        """An empty file that only its owner may read, where there is none."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise GalleryError(f"{self.path} cannot be made: {error.strerror or error}") from error

    def _make(self) -> None:
        """Make an index of an empty file, whoever made it; a kill changes nothing."""
        if self.path.stat().st_size > 0:
            return
        self._file.execute("BEGIN IMMEDIATE")
        with self._file:
            if not self._file.execute("SELECT name FROM sqlite_master").fetchall():
                self._file.execute(f"PRAGMA application_id = {_OURS}")
                self._file.execute(f"PRAGMA user_version = {_FORMAT}")
                for statement in _TABLES.split(";"):
                    self._file.execute(statement)

    def _check(self, read_only: bool) -> None:
        self._file.execute("PRAGMA trusted_schema = OFF")
        self._file.execute("PRAGMA foreign_keys = ON")
        (ours,) = self._file.execute("PRAGMA application_id").fetchone()
        (version,) = self._file.execute("PRAGMA user_version").fetchone()
        if ours != _OURS:
            raise GalleryFormatError(f"{self.path} is not an index of pictures")
        if version != _FORMAT:
            raise GalleryFormatError(f"{self.path} has the format {version}; mien reads {_FORMAT}")
        if not read_only:
            self._file.execute("PRAGMA secure_delete = ON")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """SQLite's errors in one sentence."""
        try:
            yield
        except GalleryError:
            raise
        except sqlite3.OperationalError as error:
            raise GalleryError(f"{self.path} cannot be used: {error}") from error
        except (sqlite3.DatabaseError, OverflowError, ValueError, TypeError) as error:
            raise GalleryDamagedError(f"{self.path} is corrupted: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go."""
        with suppress(sqlite3.Error):
            self._file.close()

    def __len__(self) -> int:
        with self._told():
            (n,) = self._file.execute("SELECT count(*) FROM picture").fetchone()
        return int(n)

    def remember(self, pictures: Sequence[SeenPicture]) -> None:
        """Store who was seen, in one transaction; what was known of the same paths is replaced."""
        with self._told(), self._file:
            for one in pictures:
                path = str(one.path)
                self._file.execute("DELETE FROM picture WHERE path = ?", (path,))
                cursor = self._file.execute(
                    "INSERT INTO picture (path, digest, taken, clock) VALUES (?, ?, ?, ?)",
                    (path, one.digest, one.taken, one.clock),
                )
                self._file.executemany(
                    "INSERT INTO sighting VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        (
                            cursor.lastrowid,
                            s.person,
                            *s.box,
                            s.probability,
                            int(s.enrolled),
                            *(s.seconds or (None, None)),
                        )
                        for s in one.sightings
                    ],
                )

    def pictures(self) -> list[SeenPicture]:
        """Everything that was remembered, by path."""
        with self._told():
            seen: dict[int, list[Sighting]] = {}
            for row in self._file.execute("SELECT * FROM sighting"):
                picture, person, x, y, w, h, probability, enrolled, first, last = row
                times = None if first is None else (float(first), float(last))
                box = (float(x), float(y), float(w), float(h))
                one = Sighting(int(person), box, float(probability), bool(enrolled), times)
                seen.setdefault(int(picture), []).append(one)
            return [
                SeenPicture(
                    Path(str(path)),
                    str(digest),
                    None if taken is None else float(taken),
                    str(clock or ""),
                    tuple(seen.get(int(number), ())),
                )
                for number, path, digest, taken, clock in self._file.execute(
                    "SELECT id, path, digest, taken, clock FROM picture ORDER BY path"
                )
            ]

    def keep_people(self, numbers: Collection[int]) -> int:
        """Remove everybody else, overwritten in the file; gives how many sightings that were."""
        kept = set(numbers)
        with self._told(), self._file:
            found = self._file.execute("SELECT DISTINCT person FROM sighting").fetchall()
            gone = [(int(n),) for (n,) in found if int(n) not in kept]
            removed = self._file.executemany("DELETE FROM sighting WHERE person = ?", gone)
        return max(removed.rowcount, 0)
