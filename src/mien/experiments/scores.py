"""Any system's scores from a table of text: read, judged, and reported."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mien._core.progress import report as report_progress
from mien.errors import (
    DataError,
    InputError,
    MissingDataError,
    MissingDependencyError,
    NotEnoughDataError,
)
from mien.evaluation import (
    LogisticCalibration,
    cllr,
    evaluate_verification,
    roc,
    threshold_at_far,
    wilson_interval,
)
from mien.evaluation import plots as draw
from mien.evaluation.report import Report

__all__ = ["ScoreTable", "evaluate_scores", "read_scores", "report_scores"]

_TRUE = {"1", "1.0", "true", "t", "yes", "y", "same", "genuine", "mated"}
_FALSE = {"0", "0.0", "-1", "false", "f", "no", "n", "different", "impostor", "nonmated"}
_MISSING = {"", "nan", "na", "n/a", "none", "null"}
_CHUNK = 50_000
_MOST_IN_A_PLOT = 7
_MOST_TO_CALIBRATE_ON = 200_000


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


# ---------------------------------------------------------------- reading


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
        raise MissingDataError(f"{path} is not there: give the path of a table of scores")
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


# ---------------------------------------------------------------- judging


def _fold_of_pairs(
    same: np.ndarray, people: np.ndarray | None, n_folds: int, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(train, test) masks: every pair is tested once, by what saw neither of its people.

    With people, they are dealt into folds; the pairs between folds i and j are tested by a
    calibration that saw only pairs of people from the other folds. Without, pairs are dealt.
    """
    rng = np.random.default_rng(seed)
    if people is None:
        fold = np.empty(same.size, dtype=np.int64)
        for kind in (True, False):
            rows = np.flatnonzero(same == kind)
            fold[rows] = rng.permutation(rows.size) % n_folds
        return [(fold != k, fold == k) for k in range(n_folds)]
    codes = np.unique(people, return_inverse=True)[1].reshape(people.shape)
    dealt = rng.permutation(int(codes.max()) + 1) % n_folds
    low, high = np.sort(dealt[codes], axis=1).T
    splits = []
    for i, j in combinations_with_replacement(range(n_folds), 2):
        test = (low == i) & (high == j)
        seen = (low == i) | (low == j) | (high == i) | (high == j)
        if test.any():
            splits.append((~seen, test))
    return splits


def _calibrate_across_folds(
    scores: np.ndarray, same: np.ndarray, people: np.ndarray | None, seed: int
) -> np.ndarray | None:
    """Log-likelihood ratios (n_pairs,) by calibrations that did not see the pair, or None."""
    if not np.all(np.isfinite(scores)):
        return None
    rng = np.random.default_rng(seed)
    ratios = np.full(scores.size, np.nan)
    for train, test in _fold_of_pairs(same, people, 5, seed):
        rows = np.flatnonzero(train)
        if min(np.count_nonzero(same[rows]), np.count_nonzero(~same[rows])) < 5:
            return None
        if rows.size > _MOST_TO_CALIBRATE_ON:
            rows = rng.choice(rows, _MOST_TO_CALIBRATE_ON, replace=False)
        calibration = LogisticCalibration().fit(scores[rows], same[rows])
        ratios[test] = calibration.transform(scores[test])
    return ratios


def _evaluate_system(
    table: ScoreTable, name: str, fars: Sequence[float], llr: bool, seed: int
) -> dict[str, Any]:
    scores = table.scores[name]
    there = ~np.isnan(scores)
    same = table.same[there]
    found = scores[there]
    genuine, impostor = found[same], found[~same]
    lost = (
        int(np.count_nonzero(table.same)) - genuine.size,
        int(np.count_nonzero(~table.same)) - impostor.size,
    )
    if min(genuine.size, impostor.size) == 0:
        raise DataError(
            f"{table.source}, column {name!r}: no score of one of the two kinds of pair"
        )
    people = None
    if table.people is not None:
        ids = table.people[there]
        people = (ids[same, 0], ids[~same])
    # Resampling people costs their number of pairs each time; beyond this it takes minutes.
    n_bootstrap = int(np.clip(3e8 / found.size, 100, 1000))
    result = evaluate_verification(
        genuine,
        impostor,
        fars=fars,
        llr=llr,
        people=people,
        failures=lost,
        n_bootstrap=n_bootstrap,
        random_state=seed,
    )
    sign = -1.0 if table.distance else 1.0
    thresholds: list[dict[str, Any]] = []
    for far in fars:
        try:
            threshold = sign * threshold_at_far(impostor, far)
            thresholds.append({"far": far, "threshold": threshold, "refused": None})
        except NotEnoughDataError as error:
            thresholds.append({"far": far, "threshold": None, "refused": str(error)})
    ids = None if table.people is None else table.people[there]
    ratios = _calibrate_across_folds(found, same, ids, seed)
    calibrated = None if ratios is None else cllr(ratios[same], ratios[~same])
    return {
        "name": name,
        **result,
        "calibrated_cllr": calibrated,
        "thresholds": thresholds,
        "_genuine": genuine,
        "_impostor": impostor,
        "_ratios": None if ratios is None else (ratios[same], ratios[~same]),
    }


def evaluate_scores(
    table: ScoreTable,
    *,
    fars: Sequence[float] = (0.1, 0.01, 0.001),
    llr: bool = False,
    random_state: int = 0,
) -> dict[str, Any]:
    """Judge every system of a table on its pairs.

    Parameters
    ----------
    table : ScoreTable
        As :func:`read_scores` gives it.
    fars : sequence of float
        False accept rates of interest, in (0, 1).
    llr : bool
        The scores are natural-log likelihood ratios: their Cllr is meant seriously.
    random_state : int
        Seed of the bootstrap and of the folds.

    Returns
    -------
    dict
        ``source``, ``n_pairs``, ``distance`` and ``systems``, best equal error rate first. Each
        has what :func:`mien.evaluation.evaluate_verification` gives, ``calibrated_cllr`` (each
        pair calibrated by pairs of other people) and ``thresholds`` in the units of the file, or
        why there is none. Keys that begin with ``_`` hold arrays for the report.
    """
    fars = sorted({float(far) for far in fars}, reverse=True)
    for far in fars:
        if not 0 < far < 1:
            raise InputError(f"a false accept rate must be between 0 and 1; got {far:g}")
    systems = []
    for done, name in enumerate(table.scores):
        report_progress("judging systems", done, len(table.scores))
        systems.append(_evaluate_system(table, name, fars, llr, random_state))
    report_progress("judging systems", len(systems), len(systems))
    systems.sort(key=lambda system: system["eer"]["value"])
    return {
        "source": table.source,
        "n_pairs": int(table.same.size),
        "distance": table.distance,
        "systems": systems,
    }


# ---------------------------------------------------------------- reporting


def _percent(far: float) -> str:
    return f"{100 * far:g} %"


def _summary_row(system: dict[str, Any], llr: bool, failures: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"system": system["name"], "EER": system["eer"]}
    for rate in system["verification_rates"]:
        if rate["measurable"]:
            row[f"VR at FAR {_percent(rate['far'])}"] = rate
    row["AUC"] = system["auc"]["value"]
    if llr:
        row["Cllr"] = system["cllr"]
    row["min Cllr"] = system["min_cllr"]["value"]
    row["calibrated Cllr"] = system["calibrated_cllr"]
    if failures:
        row["failed"] = system["failures"]["genuine"] + system["failures"]["impostor"]
    return row


def _explain(result: dict[str, Any]) -> str:
    """What the columns of the summary mean, and what the data cannot say."""
    first = result["systems"][0]
    share = f"{100 * first['confidence']:g} %"
    if first["intervals"] == "person":
        how = f"{share} intervals from resampling the {first['n_people']:,} people"
    else:
        how = f"{share} intervals as if all pairs were independent (too narrow if people recur)"
    notes = [f"In brackets: {how}."]
    for rate in first["verification_rates"]:
        if not rate["measurable"]:
            notes.append(
                f"A FAR of {_percent(rate['far'])} needs {rate['impostors_needed']:,} pairs of "
                f"different people, and there are {first['n_impostor']:,}."
            )
    if any(system["calibrated_cllr"] is None for system in result["systems"]):
        notes.append(
            "No calibrated Cllr where scores are infinite or people too few to hold some out."
        )
    return " ".join(notes)


def _wilson_band(system: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    far, vr = np.asarray(system["roc"]["far"]), np.asarray(system["roc"]["vr"])
    n = system["n_genuine"]
    low, high = wilson_interval(np.clip(vr * n, 0, n), n, system["confidence"])
    return far, low, high


def _add_figures(report: Report, result: dict[str, Any]) -> None:
    systems = result["systems"]
    shown = systems[:_MOST_IN_A_PLOT]
    curves = {s["name"]: roc(s["_genuine"], s["_impostor"]) for s in shown}
    best = "" if len(shown) == len(systems) else f" The best {len(shown)} of {len(systems)}."
    bands = {s["name"]: _wilson_band(s) for s in shown} if len(shown) <= 2 else None
    shaded = " Shaded: pointwise interval, pairs taken as independent." if bands else ""
    report.heading("Curves")
    report.figure(
        draw.plot_roc(curves, bands=bands, title="ROC"),
        f"Genuine pairs accepted, over impostor pairs accepted (logarithmic).{best}{shaded}",
    )
    report.figure(
        draw.plot_det({name: (c.far, 1 - c.vr) for name, c in curves.items()}, title="DET"),
        "Both errors on the scale of normal deviates; lower left is better, and the dotted "
        f"diagonal is where both are equal.{best}",
    )
    report.heading("Scores")
    sign, words = (-1.0, "Distance") if result["distance"] else (1.0, "Score")
    for system in shown[:4]:
        thresholds = {
            f"FAR {_percent(row['far'])}": row["threshold"]
            for row in system["thresholds"]
            if row["threshold"] is not None
        }
        report.figure(
            draw.plot_score_histograms(
                sign * system["_genuine"],
                sign * system["_impostor"],
                thresholds=thresholds,
                xlabel=words,
                title=system["name"],
            ),
            f"Where the two kinds of pair lie, {system['name']}"
            + (", with thresholds at measurable false accept rates." if thresholds else "."),
        )
    calibrated = {s["name"]: s["_ratios"] for s in shown[:3] if s["_ratios"] is not None}
    if calibrated:
        report.heading("Calibrated evidence")
        report.figure(
            draw.plot_tippett(calibrated, title="Tippett plot"),
            "Share of pairs whose calibrated likelihood ratio is above each value. Impostor pairs "
            "right of zero, and genuine pairs left of it, are misleading evidence.",
        )


def report_scores(result: dict[str, Any], *, figures: bool = True) -> Report:
    """Lay out what :func:`evaluate_scores` gave as a report.

    Parameters
    ----------
    result : dict
        Of one or more systems.
    figures : bool
        Whether to draw and explain, as a page wants; tables alone suit a terminal.
    """
    systems = result["systems"]
    first = systems[0]
    title = "Verification scores" if len(systems) == 1 else f"{len(systems)} systems compared"
    counts = (
        f"{Path(result['source']).name}: {first['n_genuine']:,} pairs of the same person, "
        f"{first['n_impostor']:,} of different people"
    )
    report = Report(title, counts)
    llr = first["cllr"] is not None
    failures = any(sum(system["failures"].values()) for system in systems)
    report.table(
        "Summary", [_summary_row(system, llr, failures) for system in systems], _explain(result)
    )
    rows = [
        {
            "system": system["name"],
            "FAR": _percent(row["far"]),
            # All digits that matter: a threshold that is rounded is another threshold.
            "threshold": f"{row['threshold']:.6g}",
            "VR": rate,
            "false accepts": rate["false_accepts"],
        }
        for system in systems
        for row, rate in zip(system["thresholds"], system["verification_rates"], strict=True)
        if row["threshold"] is not None
    ]
    if rows:
        accept = "at or below" if result["distance"] else "at or above"
        report.table("Thresholds", rows, f"Accept a pair {accept} the threshold.")
    if not figures:
        return report
    try:
        _add_figures(report, result)
    except MissingDependencyError as error:
        report.text(f"No figures: {error}")
    report.heading("How to read this")
    report.text(
        "EER: the rate at which as many impostors are accepted as genuine pairs are refused. "
        "VR at FAR: the share of genuine pairs accepted when that share of impostors is. "
        "AUC: how often a genuine pair scores above an impostor pair. "
        "min Cllr: the cost in bits if the scores were perfectly calibrated, from 0 (perfect) to 1 "
        "(worthless). Calibrated Cllr: the same after a logistic calibration learned on other "
        "pairs, of other people where people are known; it is what a user can reach."
    )
    return report
