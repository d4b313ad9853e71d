"""The table of WeakNames: names right, wrong and left open."""

from __future__ import annotations

from typing import Any

import numpy as np

from mien._core.progress import track
from mien.reports import Report
from papers.weak_names.data import draw_album, load_people
from papers.weak_names.run import METHODS, judge

__all__ = ["SETTINGS", "reproduce_weak_names"]

#: Shares of missing names and of pictures with a wrong name.
SETTINGS = ((0.0, 0.0), (0.1, 0.02), (0.2, 0.05), (0.3, 0.1))


def reproduce_weak_names(
    home: Any = None,
    *,
    n_draws: int = 5,
    n_named: int = 150,
    engines: tuple[str, ...] = ("sface", "dlib"),
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
    random_state : int
        Seed of every draw.
    """
    report = Report(
        "Names without boxes",
        f"LFW's vectors, {n_named} named people, 5 % of the faces not found, {n_draws} albums per "
        "setting",
    )
    for engine in engines:
        people = load_people(home, engine, random_state)
        rows = []
        for missing, wrong in track(SETTINGS, f"albums of {engine}", len(SETTINGS)):
            found: dict[str, list[Any]] = {name: [] for name in METHODS}
            for draw in range(n_draws):
                rng = np.random.default_rng([random_state, draw])
                album = draw_album(
                    people, rng, n_named=n_named, missing_names=missing, wrong_names=wrong
                )
                for name, method in METHODS.items():
                    found[name].append(judge(method(album, people.verifier), album))
            for name, judged in found.items():
                mean = np.mean(judged, axis=0)
                spread = np.std(judged, axis=0, ddof=1) if n_draws > 1 else np.zeros(3)
                shown = [
                    f"{100 * m:.1f} ± {100 * s:.1f}" for m, s in zip(mean, spread, strict=True)
                ]
                rows.append(
                    {
                        "names missing": f"{missing:.0%}",
                        "wrong names": f"{wrong:.0%}",
                        "method": name,
                        **dict(zip(("right, %", "open, %", "wrong, %"), shown, strict=True)),
                    }
                )
        report.table(
            f"{engine}: names found",
            rows,
            "Right and open are shares of the faces of named people, wrong of all faces; mean and "
            "standard deviation over albums. Wrong names: share of pictures that list one.",
        )
    return report
