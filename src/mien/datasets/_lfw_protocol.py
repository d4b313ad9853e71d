"""The protocol of Labeled Faces in the Wild: Views 1 and 2, restricted and unrestricted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mien._core.validation import check_choice, check_labels
from mien.datasets._home import find_place, read_arrays
from mien.errors import DataError, InputError, MissingDataError

__all__ = ["LFWFold", "LFWProtocol", "PairList", "load_lfw_protocol"]

N_FOLDS = 10
INDEX = "lfw_index.npz"
_TEXTS = (
    "people.txt",
    "peopleDevTrain.txt",
    "peopleDevTest.txt",
    "pairs.txt",
    "pairsDevTrain.txt",
    "pairsDevTest.txt",
)
SETTINGS = ("restricted", "unrestricted")


class PairList(NamedTuple):
    """Pairs of rows (n, 2), and whether both pictures show one person (n,)."""

    pairs: np.ndarray
    same: np.ndarray


class LFWFold(NamedTuple):
    """One of the ten parts of View 2: what to learn from and what to test on.

    ``train_rows`` and ``train_people`` are None in the restricted setting, where nothing but the
    listed pairs may be known. In the unrestricted setting they are the pictures of everybody in
    the other nine folds with their names, from which any further pairs may be formed.
    """

    fold: int
    train: PairList
    test: PairList
    train_rows: np.ndarray | None
    train_people: np.ndarray | None


@dataclass(frozen=True, eq=False, repr=False)
class LFWProtocol:
    """Who may be compared with whom on LFW; rows are pictures in the order of their paths.

    Attributes
    ----------
    files : (13233,) str
        ``Name/Name_0001.jpg``, sorted: row ``r`` of every array and file about LFW here.
    people : (13233,) str
        The name on each row.
    names : (5749,) str
        Everybody, in the order of their first row.
    name_fold : (5749,) int
        The fold (0 … 9) of View 2 that each person belongs to.
    name_dev : (5749,) int
        1 where the person is in the training part of View 1, 2 in its test part.
    pairs : (6000, 2) int
        The pairs of View 2.
    same : (6000,) bool
        Whether both pictures show one person.
    fold : (6000,) int
        The fold (0 … 9) of each pair.
    dev_train, dev_test : PairList
        The 2,200 and 1,000 pairs of View 1, for choosing models; never for reporting.
    source : str
        Which files it was read from.

    Examples
    --------
    >>> from mien.datasets import load_lfw_protocol
    >>> protocol = load_lfw_protocol()                              # doctest: +SKIP
    >>> for part in protocol.view2("restricted"):                   # doctest: +SKIP
    ...     ...  # learn from part.train.pairs, part.train.same; report on part.test
    """

    files: np.ndarray
    people: np.ndarray
    names: np.ndarray
    name_fold: np.ndarray
    name_dev: np.ndarray
    pairs: np.ndarray
    same: np.ndarray
    fold: np.ndarray
    dev_train: PairList
    dev_test: PairList
    source: str

    def __repr__(self) -> str:
        return (
            f"LFWProtocol({len(self.files):,} pictures, {len(self.names):,} people, "
            f"{len(self.pairs):,} pairs in {N_FOLDS} folds)"
        )

    def rows_of_fold(self, fold: int) -> np.ndarray:
        """Return the rows of all pictures of the people of one fold."""
        if fold not in range(N_FOLDS):
            raise InputError(f"fold must be 0 … {N_FOLDS - 1}; got {fold!r}")
        return np.flatnonzero(np.isin(self.people, self.names[self.name_fold == fold]))

    def view1(self) -> tuple[PairList, PairList]:
        """Return the pairs to train and to test on while a model is being chosen."""
        return self.dev_train, self.dev_test

    def view1_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of the people to train and to test on in View 1, unrestricted."""
        train = np.isin(self.people, self.names[self.name_dev == 1])
        return np.flatnonzero(train), np.flatnonzero(~train)

    def view2(self, setting: str = "restricted") -> Iterator[LFWFold]:
        """Go through the ten folds: learn from nine, test on one.

        Parameters
        ----------
        setting : {"restricted", "unrestricted"}
            Whether only the listed pairs may be known in training, or the names as well.
        """
        check_choice("setting", setting, SETTINGS)
        return (self._fold(k, setting) for k in range(N_FOLDS))

    def _fold(self, k: int, setting: str) -> LFWFold:
        test = self.fold == k
        rows = None
        if setting == "unrestricted":
            rows = np.flatnonzero(~np.isin(self.people, self.names[self.name_fold == k]))
        return LFWFold(
            k,
            PairList(self.pairs[~test], self.same[~test]),
            PairList(self.pairs[test], self.same[test]),
            rows,
            None if rows is None else self.people[rows],
        )

    def locate(self, files: Any) -> np.ndarray:
        """Return the row of each file (such as ``faces.metadata["file"]``); strangers are named."""
        files = check_labels("files", files).astype(str)
        if files.size == 0:
            return np.zeros(0, dtype=np.int64)
        rows = np.minimum(np.searchsorted(self.files, files), len(self.files) - 1)
        strangers = files[self.files[rows] != files]
        if strangers.size:
            raise InputError(
                f"{strangers.size} of {files.size} files are not of LFW, such as "
                f"{str(strangers[0])!r}; they look like 'Aaron_Eckhart/Aaron_Eckhart_0001.jpg'"
            )
        return rows

    def pairs_among(self, files: Any) -> tuple[PairList, np.ndarray]:
        """Return the pairs of View 2 whose pictures are both at hand.

        Parameters
        ----------
        files : (n,) str
            The pictures at hand, such as ``faces.metadata["file"]`` of a part of LFW.

        Returns
        -------
        pairs : PairList
            Indices into ``files``, not rows of the whole.
        fold : (n_pairs,) int
        """
        place = np.full(len(self.files), -1, dtype=np.int64)
        rows = self.locate(files)
        place[rows] = np.arange(len(rows))
        here = place[self.pairs]
        both = np.all(here >= 0, axis=1)
        return PairList(here[both], self.same[both]), self.fold[both]


class _Lines:
    """The lines of a text file, with errors that name the file and the line."""

    def __init__(self, path: Path) -> None:
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise MissingDataError(f"{str(path)!r} does not exist") from error
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{str(path)!r} cannot be read as text: {error}") from error
        self.path = path
        self.lines = text.rstrip("\r\n").split("\n")
        self.number = 0

    def wrong(self, reason: str) -> DataError:
        return DataError(f"{str(self.path)!r}, line {self.number}: {reason}")

    def next(self, wanted: str, n_fields: int) -> list[str]:
        self.number += 1
        if self.number > len(self.lines):
            raise self.wrong(f"the file ends where {wanted} is expected")
        fields = self.lines[self.number - 1].rstrip("\r").split("\t")
        if len(fields) != n_fields or not all(fields):
            raise self.wrong(
                f"{wanted} with {n_fields} field(s) separated by tabs is expected; "
                f"got {self.lines[self.number - 1]!r:.80}"
            )
        return fields

    def count(self, text: str, what: str) -> int:
        if not (text.isascii() and text.isdigit()) or not 1 <= len(text) <= 9 or int(text) < 1:
            raise self.wrong(f"{what} must be a number from 1 on; got {text!r:.40}")
        return int(text)

    def finish(self) -> None:
        if self.number < len(self.lines):
            self.number += 1
            raise self.wrong("nothing more is expected here")


def _read_people(lines: _Lines) -> Iterator[tuple[str, int]]:
    n_people = lines.count(lines.next("the number of people", 1)[0], "the number of people")
    for _ in range(n_people):
        name, count = lines.next("a name and its number of pictures", 2)
        if "/" in name or name.startswith("."):
            raise lines.wrong(f"{name!r} is not the name of a person's folder")
        yield name, lines.count(count, "the number of pictures")


class _Rows:
    """Rows of pictures by name and number."""

    def __init__(self, counts: dict[str, int]) -> None:
        files = sorted(
            (f"{name}/{name}_{number:04}.jpg", name, number)
            for name, count in counts.items()
            for number in range(1, count + 1)
        )
        self.counts = counts
        self.files = np.array([file for file, _, _ in files])
        self.people = np.array([name for _, name, _ in files])
        self.row = {(name, number): row for row, (_, name, number) in enumerate(files)}

    def find(self, lines: _Lines, name: str, number: str) -> int:
        if name not in self.counts:
            raise lines.wrong(f"{name!r} is not in people.txt")
        n = lines.count(number, "the number of a picture")
        if n > self.counts[name]:
            raise lines.wrong(f"{name!r} has {self.counts[name]} picture(s), not {n}")
        return self.row[name, n]

    def read_pairs(self, lines: _Lines, n_each: int) -> list[tuple[int, int, bool]]:
        """Read ``n_each`` pairs of one person and then as many of two people."""
        found: list[tuple[int, int, bool]] = []
        for _ in range(n_each):
            name, a, b = lines.next("a pair of one person (name, number, number)", 3)
            first, second = self.find(lines, name, a), self.find(lines, name, b)
            if first == second:
                raise lines.wrong("a picture is paired with itself")
            found.append((first, second, True))
        for _ in range(n_each):
            name, a, other, b = lines.next("a pair of two people (name, number, name, number)", 4)
            if name == other:
                raise lines.wrong("a pair of two people names one person")
            found.append((self.find(lines, name, a), self.find(lines, other, b), False))
        return found


def _pair_list(found: list[tuple[int, int, bool]]) -> PairList:
    array = np.array(found, dtype=np.int64)
    return PairList(array[:, :2], array[:, 2].astype(bool))


def _read_texts(place: Path) -> LFWProtocol:
    people = _Lines(place / "people.txt")
    n_folds = people.count(people.next("the number of folds", 1)[0], "the number of folds")
    if n_folds != N_FOLDS:
        raise people.wrong(f"{N_FOLDS} folds are expected; got {n_folds}")
    counts: dict[str, int] = {}
    fold_of: dict[str, int] = {}
    for k in range(N_FOLDS):
        for name, count in _read_people(people):
            if name in counts:
                raise people.wrong(f"{name!r} is listed twice")
            counts[name], fold_of[name] = count, k
    people.finish()
    dev_of: dict[str, int] = {}
    for part, file in ((1, "peopleDevTrain.txt"), (2, "peopleDevTest.txt")):
        lines = _Lines(place / file)
        for name, count in _read_people(lines):
            if counts.get(name) != count or name in dev_of:
                raise lines.wrong(
                    f"{name!r} with {count} picture(s) does not agree with people.txt, or is "
                    "listed twice"
                )
            dev_of[name] = part
        lines.finish()
        if part == 2 and len(dev_of) != len(counts):
            raise lines.wrong(f"{len(counts) - len(dev_of)} people of people.txt are in no part")
    rows = _Rows(counts)

    lines = _Lines(place / "pairs.txt")
    folds, each = lines.next("the number of folds and of pairs", 2)
    if lines.count(folds, "the number of folds") != N_FOLDS:
        raise lines.wrong(f"{N_FOLDS} folds are expected; got {folds}")
    n_each = lines.count(each, "the number of pairs")
    found = [pair for _ in range(N_FOLDS) for pair in rows.read_pairs(lines, n_each)]
    lines.finish()
    dev: list[PairList] = []
    for file in ("pairsDevTrain.txt", "pairsDevTest.txt"):
        lines = _Lines(place / file)
        n_dev = lines.count(lines.next("the number of pairs", 1)[0], "the number of pairs")
        dev.append(_pair_list(rows.read_pairs(lines, n_dev)))
        lines.finish()

    view2 = _pair_list(found)
    names = rows.people[np.sort(np.unique(rows.people, return_index=True)[1])]
    return LFWProtocol(
        rows.files,
        rows.people,
        names,
        np.array([fold_of[name] for name in names]),
        np.array([dev_of[name] for name in names]),
        view2.pairs,
        view2.same,
        np.repeat(np.arange(N_FOLDS), 2 * n_each),
        dev[0],
        dev[1],
        f"the official texts in {place}",
    )


def _read_index(path: Path) -> LFWProtocol:
    arrays = read_arrays(
        path,
        {
            "names": ("U", 1),
            "number": ("iu", 1),
            "people": ("U", 1),
            "people_fold": ("iu", 1),
            "people_dev": ("iu", 1),
            "pairs": ("iu", 2),
            "pairs_fold": ("iu", 1),
            "pairs_dev_train": ("iu", 2),
            "pairs_dev_test": ("iu", 2),
        },
    )
    n = len(arrays["names"])
    lists = []
    for name in ("pairs", "pairs_dev_train", "pairs_dev_test"):
        array = arrays[name].astype(np.int64)
        if array.shape[1] != 3 or array.min(initial=0) < 0 or array[:, :2].max(initial=0) >= n:
            raise DataError(
                f"{name} in {str(path)!r} must be rows (row, row, same) below {n}; "
                f"got the shape {array.shape}"
            )
        lists.append(PairList(array[:, :2], array[:, 2].astype(bool)))
    for name, other in (
        ("number", "names"),
        ("people_fold", "people"),
        ("people_dev", "people"),
        ("pairs_fold", "pairs"),
    ):
        if len(arrays[name]) != len(arrays[other]):
            raise DataError(
                f"{name} and {other} in {str(path)!r} have {len(arrays[name])} and "
                f"{len(arrays[other])} rows"
            )
    pairs = zip(arrays["names"].tolist(), arrays["number"].tolist(), strict=True)
    files = np.array([f"{name}/{name}_{number:04}.jpg" for name, number in pairs])
    if np.any(files[1:] <= files[:-1]):
        raise DataError(f"the rows of {str(path)!r} are not in the order of their paths")
    return LFWProtocol(
        files,
        arrays["names"],
        arrays["people"],
        arrays["people_fold"].astype(np.int64),
        arrays["people_dev"].astype(np.int64),
        lists[0].pairs,
        lists[0].same,
        arrays["pairs_fold"].astype(np.int64),
        lists[1],
        lists[2],
        str(path),
    )


def load_lfw_protocol(home: str | os.PathLike[str] | None = None) -> LFWProtocol:
    """Read the protocol of LFW, from the official texts or from the prepared index.

    Parameters
    ----------
    home : path or None
        The folder that holds ``lfw/``, or that folder itself; None takes ``MIEN_DATA``. In it are
        ``pairs.txt``, ``people.txt`` and their four ``Dev`` companions, or ``lfw_index.npz``.

    Raises
    ------
    DataError
        If a text departs from the official form; the message names the file and the line.
    """
    place = find_place("lfw", home, f"pairs.txt or {INDEX}", ("pairs.txt", INDEX))
    if all((place / name).is_file() for name in _TEXTS) or not (place / INDEX).is_file():
        return _read_texts(place)
    return _read_index(place / INDEX)
