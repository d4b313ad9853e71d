"""First section of the demo: the people."""

from __future__ import annotations

import numpy as np

from mien.demo._data import DemoData
from mien.reports import Report

__all__ = ["show_faces"]


def show_faces(data: DemoData, report: Report) -> None:
    """A contact sheet: one person a row, eight pictures of each."""
    report.heading("The people")
    names, counts = np.unique(data.train.people, return_counts=True)
    columns = min(8, int(counts.max()))
    names = names[counts >= columns][:6]
    rows = [np.flatnonzero(data.train.people == name)[:columns] for name in names]
    who = "None of these people exists. " if data.rendered else ""
    report.text(
        f"{who}Each row is one person: light, expression, pose and sharpness differ, the person "
        f"does not. Everything below learns from {data.train.n_people} people and is tested on "
        f"{data.test.n_people} others."
    )
    report.gallery(
        data.train.images[np.concatenate(rows)],
        title="Contact sheet",
        columns=columns,
    )
