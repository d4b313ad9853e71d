"""The tables of WeakNames: names right, wrong and left open."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t as student

from mien._core.progress import track
from mien.errors import InputError
from mien.reports import Report
from papers.weak_names.data import (
    OTHER_SETS,
    Album,
    People,
    draw_album,
    load_others,
    load_people,
)
from papers.weak_names.run import ADAPTING, METHODS, judge

__all__ = ["DOMAINS", "ENGINES", "PARTS", "Kept", "reproduce_weak_names"]

ENGINES = ("sface", "dlib")
#: Kinds of faces that model and calibration did not see.
DOMAINS = ("sface-covered", "sface-lowres")
_AIM = (0.2, 0.05)  # shares of missing names and of pictures with a wrong one
_FOUND = 0.05  # share of faces that are not found, unless a part says otherwise
# Parts that are not asked of each engine, and what their tables are called.
_FOREIGN = {"sets": ("other sets",), "cameras": ("sface",)}
Methods = Mapping[str, Callable[[Album, Any], np.ndarray]]


class Setting(NamedTuple):
    """One kind of album; `people` is None where pictures have one to six named people."""

    vectors: str
    missing: float = _AIM[0]
    wrong: float = _AIM[1]
    people: int | None = None
    not_found: float = _FOUND

    def __str__(self) -> str:
        people = "1 to 6" if self.people is None else str(self.people)
        return (
            f"{self.vectors}, names missing {self.missing:.0%}, wrong {self.wrong:.0%}, people per "
            f"picture {people}, faces not found {self.not_found:.0%}"
        )


def _settings(part: str, engine: str) -> list[Setting]:
    if part in _FOREIGN:
        return [Setting(vectors) for vectors in (OTHER_SETS if part == "sets" else DOMAINS)]
    base = Setting(engine)
    if part == "names":
        shares = [(m, w) for m in (0.0, 0.1, 0.2, 0.3) for w in (0.0, 0.05, 0.1)]
        return [base._replace(missing=m, wrong=w) for m, w in shares]
    if part == "people":
        return [base._replace(people=n) for n in range(1, 7)]
    if part == "faces":
        return [base._replace(not_found=share) for share in (0.0, 0.05, 0.1, 0.2)]
    return [base]


#: What each part asks.
PARTS = {
    "aim": "20 % of the names missing, 5 % wrong",
    "names": "missing and wrong names",
    "people": "named people per picture",
    "faces": "faces that were not found",
    "sets": "people of other sets, the verifier that mien ships",
    "cameras": "learning from the sure faces",
}


class Kept:
    """Judgements of albums, in a file of JSON lines from which a run goes on.

    Parameters
    ----------
    path : Path or None
        The file; None keeps nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._found: dict[str, list[float]] = {}
        if path is not None and path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            for number, line in enumerate(lines, 1):
                try:
                    key, values = json.loads(line)
                    self._found[json.dumps(key)] = [float(value) for value in values]
                except (ValueError, TypeError):
                    if number < len(lines):  # the last line may be cut off
                        raise InputError(
                            f"{str(path)!r} is not a file of this command: line {number}"
                        ) from None

    def get(self, key: Sequence[Any], make: Callable[[], Sequence[float]]) -> list[float]:
        """The numbers of a key; made and written if they are not there."""
        name = json.dumps(list(key))
        if name not in self._found:
            self._found[name] = [float(value) for value in make()]
            if self.path is not None:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([json.loads(name), self._found[name]]) + "\n")
        return self._found[name]


def reproduce_weak_names(
    home: Any = None,
    *,
    parts: Sequence[str] = tuple(PARTS),
    engines: Sequence[str] = ENGINES,
    n_draws: int = 5,
    n_named: int = 150,
    random_state: int = 0,
    resume: Path | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Report:
    """Albums drawn from people of LFW whom neither model nor calibration has seen.

    Parameters
    ----------
    home : path or None
        Where the real data are; None takes ``MIEN_DATA``.
    parts : sequence of str
        Of `PARTS`.
    engines : sequence of str
        Whose vectors.
    n_draws : int
        Albums per setting, each with its own division of the people; four times as many for the
        parts "aim" and "sets", at most three for "cameras".
    n_named : int
        People with names per album.
    random_state : int
        Seed of every draw.
    resume : Path or None
        File of what is done: written album by album, and read by the next run.
    say : callable
        Called with one line per setting when it is done.
    """
    kept = Kept(resume)

    @lru_cache(maxsize=32)
    def load(vectors: str, draw: int) -> People:
        if vectors in OTHER_SETS:
            return load_others(vectors, home)
        engine, _, domain = vectors.partition("-")
        return load_people(home, engine, random_state + draw, vectors if domain else None)

    def judge_all(setting: Setting, methods: Methods, n: int) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        albums: dict[int, Album] = {}

        def album(draw: int) -> Album:
            if draw not in albums:
                albums[draw] = draw_album(
                    load(setting.vectors, draw),
                    np.random.default_rng([random_state, draw]),
                    n_named=n_named,
                    missing_names=setting.missing,
                    wrong_names=setting.wrong,
                    missing_faces=setting.not_found,
                    n_people=setting.people,
                    n_strangers=OTHER_SETS.get(setting.vectors),
                )
            return albums[draw]

        def judged(draw: int, method: Callable[[Album, Any], np.ndarray]) -> Sequence[float]:
            labels = method(album(draw), load(setting.vectors, draw).verifier)
            return judge(labels, album(draw))

        for name, method in methods.items():
            rows = [
                kept.get(
                    (*setting, n_named, random_state, draw, name), partial(judged, draw, method)
                )
                for draw in range(n)
            ]
            found[name] = np.asarray(rows)
        best = found["WeakNames"].mean(axis=0)
        say(f"{setting}: {100 * best[0]:.1f} % right, {100 * best[2]:.2f} % wrong; albums: {n}")
        return found

    report = Report(
        "Names without boxes",
        f"LFW's vectors, {n_named} named people per album (of ORL and Yale all but the strangers); "
        "right and open are shares of the faces of named people, wrong of all faces, in per cent: "
        "mean over albums, and its 95 % interval; least right and most wrong of any album",
    )
    for part in parts:
        adapting = part == "cameras"
        often = part in ("aim", "sets")
        n = min(n_draws, 3) if adapting else 4 * n_draws if often else n_draws
        for vectors in _FOREIGN.get(part, engines):
            settings = _settings(part, vectors)
            rows = []
            for setting in track(settings, f"albums of {vectors}", len(settings)):
                for name, found in judge_all(setting, ADAPTING if adapting else METHODS, n).items():
                    rows.append(_row(setting, name, found))
            rows, alike = _split_columns(rows)
            words = "; ".join(f"{name}: {value}" for name, value in alike.items())
            report.table(f"{vectors}: {PARTS[part]}", rows, f"In all lines: {words}.")
    return report


_JUDGED = ("right", "open", "wrong", "least right", "most wrong")


def _split_columns(
    rows: list[dict[str, Any]],
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Rows without the settings that all of them share, and those settings."""
    names = [name for name in rows[0] if name not in ("method", *_JUDGED)]
    alike = {name: rows[0][name] for name in names if len({str(r[name]) for r in rows}) == 1}
    return [{k: v for k, v in row.items() if k not in alike} for row in rows], alike


def _row(setting: Setting, method: str, found: np.ndarray) -> dict[str, Any]:
    """One method in one setting, from the judgements (n_albums, 3)."""
    shares = 100 * found
    mean = shares.mean(axis=0)
    row: dict[str, Any] = {
        "faces": setting.vectors,
        "names missing": f"{setting.missing:.0%}",
        "wrong names": f"{setting.wrong:.0%}",
        "people per picture": "1 to 6" if setting.people is None else str(setting.people),
        "faces not found": f"{setting.not_found:.0%}",
        "method": method,
    }
    for k, name in enumerate(("right", "open", "wrong")):
        if len(shares) < 2:
            row[name] = float(mean[k])
            continue
        margin = student.ppf(0.975, len(shares) - 1) * shares[:, k].std(ddof=1) / len(shares) ** 0.5
        row[name] = (mean[k], max(mean[k] - margin, 0.0), min(mean[k] + margin, 100.0))
    row["albums"] = len(shares)
    row["least right"], row["most wrong"] = float(shares[:, 0].min()), float(shares[:, 2].max())
    return row
