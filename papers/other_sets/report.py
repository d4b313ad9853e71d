"""The comparison on other sets: run in parts, kept, judged with each set left out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from mien._core.progress import report as report_progress
from mien._core.validation import check_choice
from mien.cli import console
from mien.errors import MissingDataError
from mien.reports import Report
from papers.other_sets.parts import PARTS, Part, Scores, Work

__all__ = ["compare_on_other_sets", "judge", "leave_one_set_out"]


def compare_on_other_sets(
    home: Any = None,
    *,
    parts: Sequence[str] = tuple(PARTS),
    sets: Sequence[str] | None = None,
    draws: int = 4,
    quick: bool = False,
    random_state: int = 0,
    cache: Path | None = None,
    aloud: bool = False,
) -> Report:
    """Every default beside the best alternative, on every set.

    Parameters
    ----------
    home : path or None
        Where the real data are; None takes ``MIEN_DATA``.
    parts, sets : sequence of str
        What to compare, and on which of its sets; None takes all.
    draws : int
        Divisions per number.
    quick : bool
        Small sets, whose numbers mean little.
    random_state : int
        Seed of the divisions.
    cache : path or None
        Folder with a file per part and set; what is there is not run again.
    aloud : bool
        Whether to print each set when it is done.

    Returns
    -------
    Report
    """
    if sets is not None:
        there = {name for part in parts for name in PARTS[part].sets}
        for name in sets:
            check_choice("set", name, tuple(sorted(there)))
    work = Work(home, draws, random_state, quick)
    report = Report("Defaults on other sets", f"{draws} random divisions each, paired")
    for name in parts:
        part = PARTS[name]
        chosen = [s for s in part.sets if sets is None or s in sets]
        found: dict[str, Scores] = {}
        for done, where in enumerate(chosen):
            report_progress(part.title, done, len(chosen))
            try:
                found[where] = _run_or_read(name, where, work, cache)
            except MissingDataError as error:
                console.print(f"{where}: left out, {error}", markup=False)
                continue
            if aloud:
                row = judge(part, found[where])
                words = ", ".join(f"{key} {value}" for key, value in row.items())
                console.print(f"{name}, {where}: {words}", markup=False, soft_wrap=True)
        report_progress(part.title, len(chosen), len(chosen))
        if found:
            _add(report, part, found)
    if not report.to_dict()["parts"]:
        raise MissingDataError("none of the sets was found")
    return report


def _run_or_read(name: str, where: str, work: Work, cache: Path | None) -> Scores:
    """Scores of a part on a set: from the folder, or computed and put there."""
    if cache is None:
        return PARTS[name].run(where, work)
    words = "-".join(
        (name, where.replace(", ", "-").replace(" ", "-"), str(work.draws), str(work.seed))
    )
    path = cache / f"{words}{'-quick' if work.quick else ''}.json"
    if path.is_file():
        return dict(json.loads(path.read_text(encoding="utf-8")))
    found = PARTS[name].run(where, work)
    cache.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(found), encoding="utf-8")
    unfinished.replace(path)
    return found


def _mean(values: Any) -> float:
    return float(np.mean(values))


def judge(part: Part, scores: Scores) -> dict[str, Any]:
    """The default beside the best alternative on a set.

    The best alternative is picked by the same results, in its favour. The interval is Student's
    over the divisions, which share samples: it is somewhat too narrow.
    """
    sign = 1 if part.higher else -1
    default = np.asarray(scores[part.ours[0]])
    best = max(part.others, key=lambda name: sign * _mean(scores[name]))
    gain = sign * (default - np.asarray(scores[best]))
    half = 0.0
    if len(gain) > 1:
        spread = gain.std(ddof=1) / np.sqrt(len(gain))
        half = float(student.ppf(0.975, len(gain) - 1) * spread)
    mean = float(gain.mean())
    if abs(mean) <= part.margin:
        verdict = "level"
    elif abs(mean) <= half:
        verdict = "not told apart"
    else:
        verdict = "ahead" if mean > 0 else "behind"
    digits = 2 if part.margin < 0.1 else 1
    return {
        "default": round(_mean(default), digits),
        "best alternative": f"{best} {_mean(scores[best]):.{digits}f}",
        "gain": (round(mean, digits), round(mean - half, digits), round(mean + half, digits)),
        "verdict": verdict,
    }


def leave_one_set_out(part: Part, found: dict[str, Scores]) -> list[dict[str, Any]]:
    """Which of our methods the other sets choose for each set, and what that gives there.

    The method with the best mean rank on the other sets is chosen; the two ways of dividing one
    set ("same" and "new") are left out together.
    """
    sign = 1 if part.higher else -1
    ours = [m for m in part.ours if all(m in scores for scores in found.values())]
    means = {s: [sign * _mean(scores[m]) for m in ours] for s, scores in found.items()}
    ranks = {s: np.argsort(np.argsort(-np.asarray(values))) for s, values in means.items()}
    rows = []
    for name, scores in found.items():
        own = name.split(",")[0]
        others = [ranks[s] for s in found if s.split(",")[0] != own]
        if not others:
            continue
        chosen = ours[int(np.argmin(np.mean(others, axis=0)))]
        best = ours[int(np.argmax(means[name]))]
        rows.append(
            {
                "set left out": name,
                "chosen by the others": chosen,
                part.unit: round(_mean(scores[chosen]), 2),
                "best of ours there": f"{best} {_mean(scores[best]):.2f}",
            }
        )
    return rows


def _means(
    found: dict[str, Scores], title: str, names: list[str], digits: int
) -> list[dict[str, Any]]:
    """A row per name with its mean on every set."""
    return [
        {title: name}
        | {
            where: round(_mean(scores[name]), digits) if name in scores else None
            for where, scores in found.items()
        }
        for name in names
    ]


def _add(report: Report, part: Part, found: dict[str, Scores]) -> None:
    report.heading(part.title)
    report.table(
        f"{part.ours[0]} beside the best alternative, {part.unit}",
        [{"set": name} | judge(part, scores) for name, scores in found.items()],
        "Gain is positive where the default is better; 95 % interval over the divisions. Level: "
        f"at most {part.margin:g} apart. Not told apart: the interval contains zero.",
    )
    digits = 2 if part.margin < 0.1 else 1
    names = list(dict.fromkeys(name for scores in found.values() for name in scores))
    compared = {*part.ours, *part.others}
    report.table(
        f"All methods, {part.unit}",
        _means(found, "method", [name for name in names if name in compared], digits),
    )
    beside = [name for name in names if name not in compared]
    if beside:
        report.table("What goes with it", _means(found, "mean over divisions", beside, 3))
    chosen = leave_one_set_out(part, found)
    if chosen:
        report.table("Which of ours the other sets would choose", chosen)
