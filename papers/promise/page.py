"""The tables of docs/rates.md, from the numbers of a report; written between the page's marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tools.tables import make_table

__all__ = ["make_tables"]

Row = dict[str, Any]
_METHODS = {
    "before": "before",
    "own": "with the enrolled",
    "own and unnamed": "and unnamed faces",
}
#: Beside those, what a calibration that knew the strangers would do.
_ALL = _METHODS | {"strangers known": "the strangers known"}
_RATES = (("FPIR", 0.01), ("FPIR", 0.05), ("FAR", 0.001), ("FAR", 0.01))


def _share(x: float) -> str:
    """A share in per cent, with two digits or so."""
    return f"{100 * x:.1f}" if x < 0.0995 else f"{100 * x:.0f}"


def _range(values: Sequence[float]) -> str:
    low, high = _share(min(values)), _share(max(values))
    return low if low == high else f"{low} – {high}"


def _signed(x: float) -> str:
    return ("−" if x < 0 else "+") + f"{abs(x):.2f}"


def _moves(rows: Sequence[Row]) -> str:
    return make_table(
        ("domain", "shift", "stretch", "tail", "as shipped", "shift known", "stretch too"),
        [
            (
                row["domain"], _signed(row["shift"]), f"{row['stretch']:.2f}",
                f"{row['tail']:.2f}",
                *(f"{row[name]:.1f}" for name in ("as shipped", "shift known", "stretch too")),
            )
            for row in rows
            if row["pictures"] == 1
        ],
    )  # fmt: skip


def _cameras(rows: Sequence[Row]) -> str:
    return make_table(
        ("domain", "pictures", "shift", "expected from the vectors", "±, of five faces"),
        [
            (
                row["domain"], str(row["pictures"]), _signed(row["shift"]),
                _signed(row["expected"]), f"{row['of five']:.2f}",
            )
            for row in rows
            if row["shift"] is not None
        ],
    )  # fmt: skip


def _normalisations(rows: Sequence[Row]) -> str:
    names = (
        "shipped score", "centred cosine", "cohort of the model", "nearest of that cohort",
        "cohort of the domain", "height of the look",
    )  # fmt: skip
    missed = {row["domain"]: row for row in rows if row["what"] == "misses"}
    return make_table(
        ("domain", *names),
        [
            (
                row["domain"],
                *(f"{row[n]:.1f} ({100 * missed[row['domain']][n]:.0f})" for n in names),
            )
            for row in rows
            if row["what"] != "misses"
        ],
    )


def _held(rows: Sequence[Row]) -> str:
    found = []
    for kind, stated in _RATES:
        for method, words in _ALL.items():
            (row,) = (
                row
                for row in rows
                if row["people"] == "real people"
                and (row["method"], row["rate"], row["stated"]) == (method, kind, stated)
            )
            found.append(
                (
                    f"{kind} {100 * stated:g} %", words, str(row["settings"]),
                    *(
                        f"{100 * row[name]:.0f} %"
                        for name in ("at most 2 times stated", "between half and 2",
                                     "at most 3 times")
                    ),
                    f"{row['largest factor']:.1f} ({row['its lower end']:.1f})",
                    f"{row['clearly above 2']}, {row['clearly above 3']}",
                    str(row["clearly below half"]),
                    f"{100 * row['excess misses ≤ 2 points']:.0f} %",
                    str(row["clearly more misses"]),
                    str(row["clearly worse than cosine"]),
                )
            )  # fmt: skip
    return make_table(
        (
            "rate", "method", "settings", "at most 2 ×", "½ to 2 ×", "at most 3 ×",
            "largest (its lower end)", "clearly above 2 ×, 3 ×", "clearly below ½",
            "misses within 2 points", "clearly not", "clearly worse than cosine",
        ),
        found,
    )  # fmt: skip


def _promises(rows: Sequence[Row]) -> str:
    return make_table(
        ("method", "`promised`", "settings", "at most 2 ×", "at most 3 ×", "largest"),
        [
            (
                _METHODS[row["method"]], row["promised"], str(row["settings"]),
                f"{100 * row['at most 2 times stated']:.0f} %",
                f"{100 * row['at most 3 times']:.0f} %", f"{row['largest factor']:.1f}",
            )
            for row in rows
            if row["method"] in _METHODS
        ],
    )  # fmt: skip


def _domains(rows: Sequence[Row]) -> str:
    found = []
    for domain in dict.fromkeys(row["domain"] for row in rows):
        here = [row for row in rows if row["domain"] == domain]

        def column(name: str, here: Sequence[Row] = here) -> list[float]:
            return [row[name] for row in here]

        found.append(
            (
                domain, str(len(here)),
                *(_range(column(f"FPIR, {method}")) for method in _METHODS),
                *(_share(float(np.mean(column(f"misses, {m}")))) for m in _METHODS),
                _share(float(np.mean(column("misses, oracle")))),
            )
        )  # fmt: skip
    return make_table(
        (
            "domain", "settings", *_METHODS.values(), "misses: before", "with the enrolled",
            "and unnamed faces", "oracle",
        ),
        found,
    )  # fmt: skip


def _adapted(rows: Sequence[Row]) -> str:
    return make_table(
        (
            "domain", "people", "stated", "realised", "largest draw", "missed",
            "oracle, shipped scores", "oracle, its own scores", "moved",
        ),
        [
            (
                row["domain"], str(row["people"]), f"{100 * row['stated']:g} %",
                f"{_share(row['realised'])} %",
                f"{_share(row['largest'])} %", f"{_share(row['misses'])} %",
                f"{_share(row['oracle, shipped'])} %", f"{_share(row['oracle'])} %",
                f"{row['moved']} of {row['draws']}",
            )
            for row in rows
        ],
    )  # fmt: skip


def _groups(rows: Sequence[Row]) -> str:
    rates = [name for name in rows[0] if name.startswith("FAR")]
    return make_table(
        ("group", "people", *rates),
        [
            (
                str(row["group"]),
                str(row["people"]),
                *(f"{100 * row[rate]:.2f} %" for rate in rates),
            )
            for row in rows
        ],
    )


#: Title of a table of the report, after the engine's name -> name of the mark, how it is shown.
_SHOWN: dict[str, tuple[str, Callable[[Sequence[Row]], str]]] = {
    "what moves impostors": ("moves", _moves),
    "what vectors show of their camera": ("cameras", _cameras),
    "normalisations, FAR 0.1 %": ("normalisations", _normalisations),
    "false accept rates within groups of people who look alike": ("groups", _groups),
    "how often a stated rate held": ("held", _held),
    "promises": ("promises", _promises),
    "FPIR stated 1.0%, every setting": ("domains", _domains),
    "kept aside, how often a stated rate held": ("aside-held", _held),
    "kept aside, promises": ("aside-promises", _promises),
    "kept aside, FPIR stated 1.0%, every setting": ("aside-domains", _domains),
    "after adapting": ("adapted", _adapted),
}


def make_tables(parts: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Tables as Markdown by the name of their mark, such as "held sface"."""
    found = {}
    for part in parts:
        engine, _, title = str(part.get("title", "")).partition(": ")
        if part.get("rows") and title in _SHOWN:
            name, show = _SHOWN[title]
            found[f"{name} {engine}"] = show(part["rows"])
    return found
