"""The table of WeakNames: names right, wrong and left open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mien._core.progress import track
from mien.reports import Report
from papers.weak_names.data import Album, People, draw_album, load_people
from papers.weak_names.run import ADAPTING, METHODS, judge

__all__ = ["DOMAINS", "SETTINGS", "reproduce_weak_names"]

#: Shares of missing names and of pictures with a wrong name.
SETTINGS = ((0.0, 0.0), (0.1, 0.02), (0.2, 0.05), (0.3, 0.1))
#: Kinds of faces that model and calibration did not see.
DOMAINS = ("sface-covered", "sface-lowres")
_FEW_DRAWS = 3  # of those that adapt, which takes most of the time


def reproduce_weak_names(
    home: Any = None,
    *,
    n_draws: int = 5,
    n_named: int = 150,
    engines: tuple[str, ...] = ("sface", "dlib"),
    domains: tuple[str, ...] = DOMAINS,
    random_state: int = 0,
) -> Report:
    """Albums drawn from people of LFW whom neither model nor calibration has seen.

    Parameters
    ----------
    home : path or None
        Where the real data are; None takes ``MIEN_DATA``.
    n_draws : int
        Albums per setting.
    n_named : int
        People with names per album.
    engines : tuple of str
        Whose vectors.
    domains : tuple of str
        Kinds of faces that model and calibration did not see, for adapting to them.
    random_state : int
        Seed of every draw.
    """
    report = Report(
        "Names without boxes",
        f"LFW's vectors, {n_named} named people, 5 % of the faces not found, {n_draws} albums per "
        "setting",
    )
    settings = {"n_named": n_named, "n_draws": n_draws, "random_state": random_state}
    for engine in engines:
        people = load_people(home, engine, random_state)
        rows = []
        for missing, wrong in track(SETTINGS, f"albums of {engine}", len(SETTINGS)):
            rows += _judge_all(people, METHODS, missing, wrong, **settings)
        report.table(
            f"{engine}: names found",
            rows,
            "Right and open are shares of the faces of named people, wrong of all faces; mean and "
            "standard deviation over albums. Wrong names: share of pictures that list one.",
        )
    if domains:
        settings["n_draws"] = min(n_draws, _FEW_DRAWS)
        rows = []
        for domain in track(domains, "albums of other cameras", len(domains)):
            people = load_people(home, "sface", random_state, domain)
            found = _judge_all(people, ADAPTING, 0.2, 0.05, **settings)
            rows += [{"faces": domain, **row} for row in found]
        report.table(
            "Learning from the sure faces",
            rows,
            f"Model and calibration are of clear faces; {settings['n_draws']} albums.",
        )
    return report


def _judge_all(
    people: People,
    methods: Mapping[str, Callable[[Album, Any], np.ndarray]],
    missing: float,
    wrong: float,
    *,
    n_named: int,
    n_draws: int,
    random_state: int,
) -> list[dict[str, Any]]:
    """Rows of one setting: all methods on the same albums."""
    found: dict[str, list[Any]] = {name: [] for name in methods}
    for draw in range(n_draws):
        rng = np.random.default_rng([random_state, draw])
        album = draw_album(people, rng, n_named=n_named, missing_names=missing, wrong_names=wrong)
        for name, method in methods.items():
            found[name].append(judge(method(album, people.verifier), album))
    rows = []
    for name, judged in found.items():
        mean = np.mean(judged, axis=0)
        spread = np.std(judged, axis=0, ddof=1) if n_draws > 1 else np.zeros(3)
        shown = [f"{100 * m:.1f} ± {100 * s:.1f}" for m, s in zip(mean, spread, strict=True)]
        rows.append(
            {
                "names missing": f"{missing:.0%}",
                "wrong names": f"{wrong:.0%}",
                "method": name,
                **dict(zip(("right, %", "open, %", "wrong, %"), shown, strict=True)),
            }
        )
    return rows
