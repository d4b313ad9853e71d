"""Scores of any system from a table of text."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from mien._core.progress import report as report_progress
from mien.errors import DataError, InputError, MissingDataError

__all__ = ["ScoreTable", "read_scores"]

_TRUE = {"1", "1.0", "true", "t", "yes", "y", "same", "genuine", "mated"}
_FALSE = {"0", "0.0", "-1", "false", "f", "no", "n", "different", "impostor", "nonmated"}
_MISSING = {"", "nan", "na", "n/a", "none", "null"}
_CHUNK = 50_000


@dataclass(frozen=True)
class ScoreTable:
    """Scores of one or more systems on the same pairs.

    Attributes
    ----------
    source : str
        The file.
    same : (n_pairs,) bool
        Whether both pictures show one person.
    scores : dict of str to (n_pairs,)
        Similarities of each system; NaN where a comparison failed.
    people : (n_pairs, 2) or None
        Who is on each side.
    distance : bool
        Whether the file held distances; ``scores`` are then their negatives.
    """

    source: str
    same: np.ndarray
    scores: dict[str, np.ndarray]
    people: np.ndarray | None = None
    distance: bool = False


def _decode_lines(path: Path, file: BinaryIO) -> Iterator[str]:
    """Lines of a file as text; says how far it is, and where the text is none."""
    total = os.fstat(file.fileno()).st_size
    done = 0
    for number, raw in enumerate(file, start=1):
        done += len(raw)
        if number % 20_000 == 0:
            report_progress("reading scores (KiB)", done // 1024, total // 1024)
        if b"\x00" in raw:
            raise DataError(
                f"{path}, line {number}: this is not a table of text in UTF-8; "
                "save it as CSV (UTF-8) first"
            )
        try:
            yield (raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw).decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{path}, line {number}: byte {error.start + 1} is not UTF-8; "
                "save the table as CSV (UTF-8)"
            ) from error


def _pick_separator(header: str) -> str:
    """The separator that comes most often in the first line."""
    return max(",;\t|", key=header.count)


def _find_column(columns: list[str], wanted: str) -> int | None:
    """Index of a column by its name, exactly or else whatever its case."""
    if wanted in columns:
        return columns.index(wanted)
    folded = [column.casefold() for column in columns]
    return folded.index(wanted.casefold()) if wanted.casefold() in folded else None


def _parse_number(text: str, decimal_comma: bool) -> float:
    """A number, NaN if it is missing; ValueError otherwise."""
    text = text.strip()
    if text.casefold() in _MISSING:
        return float("nan")
    if "_" in text:
        raise ValueError(text)
    return float(text.replace(",", ".") if decimal_comma else text)


def _parse_numbers(texts: Sequence[str], decimal_comma: bool) -> np.ndarray | None:
    """All numbers of a column at once, or None if one of them is not one."""
    if not decimal_comma and "_" not in "".join(texts):
        # The quick way; it knows no missing values, which the other one does.
        with suppress(ValueError):
            return np.array(texts, dtype=np.float64)
    try:
        return np.array([_parse_number(text, decimal_comma) for text in texts], dtype=np.float64)
    except ValueError:
        return None


class _Reader:
    """One pass over a file: rows in chunks become columns of numbers."""

    def __init__(
        self, path: Path, file: BinaryIO, same: str, scores: Sequence[str], every: bool
    ) -> None:
        self.path = path
        self._text = _decode_lines(path, file)
        header = next(self._text, "")
        if not header.strip():
            raise DataError(f"{path} is empty: the first line must name the columns")
        self.separator = _pick_separator(header)
        self.decimal_comma = self.separator == ";"
        self.columns = [
            name.strip() for name in next(csv.reader([header], delimiter=self.separator))
        ]
        self._check_header()
        self.same = self._column(same, "the truth of each pair", "--same")
        people = [_find_column(self.columns, name) for name in ("person_a", "person_b")]
        if (people[0] is None) != (people[1] is None):
            raise DataError(f"{path} has one of person_a and person_b; both are needed, or neither")
        self.people = [column for column in people if column is not None]
        self.every = every
        taken = {self.same, *self.people}
        if every:
            self.scores = [i for i in range(len(self.columns)) if i not in taken]
        elif scores:
            self.scores = [self._column(name, "scores", "--score") for name in scores]
        else:
            self.scores = [self._column("score", "scores", "--score")]
        clash = taken & set(self.scores)
        if clash:
            raise InputError(f"the column {self.columns[min(clash)]!r} cannot be a score as well")

    def _check_header(self) -> None:
        doubled = sorted({name for name in self.columns if self.columns.count(name) > 1})
        if doubled:
            raise DataError(f"{self.path}, line 1: the column {doubled[0]!r} comes more than once")
        if all(_parse_numbers([name], self.decimal_comma) is not None for name in self.columns):
            raise DataError(
                f"{self.path}, line 1: the first line must name the columns, such as "
                f"'score,same'; got {','.join(self.columns)!r:.60}"
            )

    def _column(self, name: str, holds: str, option: str) -> int:
        found = _find_column(self.columns, name)
        if found is None:
            raise DataError(
                f"{self.path}, line 1: there is no column {name!r} with {holds}; the columns are "
                f"{', '.join(map(repr, self.columns))}. Name another with {option} COLUMN"
            )
        return found

    def _rows(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        """Chunks of (line numbers, rows); empty lines are left out."""
        numbers: list[int] = []
        rows: list[list[str]] = []
        reader = csv.reader(self._text, delimiter=self.separator)
        try:
            for row in reader:
                if not row or (len(row) == 1 and not row[0].strip()):
                    continue
                if len(row) != len(self.columns):
                    raise DataError(
                        f"{self.path}, line {reader.line_num + 1}: {len(row)} fields, and the "
                        f"first line names {len(self.columns)} columns"
                    )
                numbers.append(reader.line_num + 1)
                rows.append(row)
                if len(rows) == _CHUNK:
                    yield numbers, rows
                    numbers, rows = [], []
        except csv.Error as error:
            raise DataError(f"{self.path}, line {reader.line_num + 1}: {error}") from error
        if rows:
            yield numbers, rows

    def read(self, failures: bool) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray | None]:
        truth: list[np.ndarray] = []
        people: list[np.ndarray] = []
        numbers: dict[int, list[np.ndarray]] = {column: [] for column in self.scores}
        for lines, rows in self._rows():
            columns = list(zip(*rows, strict=True))
            truth.append(self._parse_truth(lines, columns[self.same]))
            for column in list(numbers):
                values = self._parse_scores(lines, columns[column], column, failures)
                if values is None:
                    del numbers[column]
                else:
                    numbers[column].append(values)
            if self.people:
                people.append(np.array([columns[i] for i in self.people]).T)
        if not truth:
            raise DataError(f"{self.path} has a first line and no pairs below it")
        if not numbers:
            raise DataError(
                f"{self.path} has no column of numbers beside {self.columns[self.same]!r}"
            )
        found = {self.columns[column]: np.concatenate(parts) for column, parts in numbers.items()}
        return np.concatenate(truth), found, np.concatenate(people) if people else None

    def _parse_truth(self, lines: list[int], texts: Sequence[str]) -> np.ndarray:
        meaning: dict[str, bool] = {}
        for text in dict.fromkeys(texts):
            word = text.strip().casefold()
            if word not in _TRUE and word not in _FALSE:
                raise DataError(
                    f"{self.path}, line {lines[texts.index(text)]}, column "
                    f"{self.columns[self.same]!r}: expected 1/0, true/false or yes/no; "
                    f"got {text!r:.60}"
                )
            meaning[text] = word in _TRUE
        return np.array([meaning[text] for text in texts])

    def _parse_scores(
        self, lines: list[int], texts: Sequence[str], column: int, failures: bool
    ) -> np.ndarray | None:
        values = _parse_numbers(texts, self.decimal_comma)
        if values is None:
            if self.every:
                return None
            wrong = (_parse_numbers([text], self.decimal_comma) is None for text in texts)
            place = next((i for i, bad in enumerate(wrong) if bad), 0)
            raise DataError(
                f"{self.path}, line {lines[place]}, column {self.columns[column]!r}: expected a "
                f"number; got {texts[place]!r:.60}"
            )
        missing = np.flatnonzero(np.isnan(values))
        if missing.size and not failures:
            text = texts[missing[0]]
            raise DataError(
                f"{self.path}, line {lines[missing[0]]}, column {self.columns[column]!r}: "
                f"{'nothing' if not text.strip() else repr(text)} where a score should be. Leave "
                "such pairs out, or count them as failed comparisons with --failures"
            )
        return values


def read_scores(
    path: str | os.PathLike[str],
    scores: Sequence[str] = (),
    *,
    same: str = "same",
    every: bool = False,
    distance: bool = False,
    failures: bool = False,
) -> ScoreTable:
    """Read scores and truth of pairs from a table of text.

    Parameters
    ----------
    path : path
        Text in UTF-8 whose first line names the columns, separated by comma, semicolon, tab or
        bar. With semicolons, a comma in a number is a decimal point.
    scores : sequence of str
        Columns to judge; ``score`` if empty.
    same : str
        Column with the truth: 1/0, true/false or yes/no.
    every : bool
        Judge every column that holds nothing but numbers.
    distance : bool
        Smaller means more alike in this file.
    failures : bool
        Count empty cells and NaN as comparisons that failed, instead of refusing them.

    Returns
    -------
    ScoreTable
        With people, if there are columns ``person_a`` and ``person_b``.
    """
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder; a table of scores is needed")
    if not path.exists():
        raise MissingDataError(f"{path} does not exist: give the path of a table of scores")
    try:
        with open(path, "rb") as file:
            reader = _Reader(path, file, same, scores, every)
            truth, columns, people = reader.read(failures)
    except OSError as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    if truth.all() or not truth.any():
        kind, other = ("the same person", "different people")[:: 1 if truth.all() else -1]
        raise DataError(
            f"{path}: all {truth.size} pairs are of {kind}; error rates need pairs of {other} too"
        )
    if people is not None:
        _check_people(path, truth, people)
    if distance:
        columns = {name: -values for name, values in columns.items()}
    return ScoreTable(str(path), truth, columns, people, distance)


def _check_people(path: Path, same: np.ndarray, people: np.ndarray) -> None:
    """Refuse a truth that the names of the people contradict."""
    equal = people[:, 0] == people[:, 1]
    wrong = np.flatnonzero(equal != same)
    if wrong.size:
        a, b = map(str, people[wrong[0]])
        says = "the same person" if same[wrong[0]] else "different people"
        raise DataError(
            f"{path}: {wrong.size} pairs contradict their people; the first, pair {wrong[0] + 1}, "
            f"is said to be of {says} and has person_a {a!r} and person_b {b!r}"
        )
