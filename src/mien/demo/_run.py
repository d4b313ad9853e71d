"""The demo: every method of the library on the same faces, one section each, under a minute.

A section is a function ``(data, report) -> None`` in its own file, named in
``SECTIONS``. It adds a heading, words, tables, figures and galleries to the report, and, if it
has a number worth a line at the top, calls ``data.add_result``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from mien._core.progress import report as report_progress
from mien.demo._baselines import compare_baselines
from mien.demo._committee import show_committee
from mien.demo._completion import complete_faces
from mien.demo._data import DemoData, load_demo_data
from mien.demo._faces import show_faces
from mien.demo._people import show_people
from mien.demo._two_views import compare_two_views
from mien.demo._verification import show_verification
from mien.demo._weak_labels import learn_from_groups
from mien.errors import MienError
from mien.reports import Report

__all__ = ["SECTIONS", "DemoResult", "run_demo"]

Section = Callable[[DemoData, Report], None]

#: In reading order: one line a section.
SECTIONS: tuple[Section, ...] = (
    show_faces,
    compare_baselines,
    show_verification,
    show_committee,
    compare_two_views,
    learn_from_groups,
    complete_faces,
    show_people,
)


@dataclass(frozen=True)
class DemoResult:
    """What the demo found.

    Attributes
    ----------
    report : Report
        All sections, with the summary first.
    summary : Report
        The small table alone.
    skipped : list of str
        Sections that could not run, each with its reason.
    """

    report: Report
    summary: Report
    skipped: list[str]


def run_demo(
    data: str | os.PathLike[str] = "rendered",
    *,
    n_people: int = 80,
    n_per_person: int = 10,
    random_state: int = 0,
    home: str | os.PathLike[str] | None = None,
) -> DemoResult:
    """Run every section on rendered or real faces.

    Parameters
    ----------
    data : str or path
        ``"rendered"``, ``"orl"``, ``"lfw"``, or a folder with one folder per person.
    n_people, n_per_person : int
        How many faces to render.
    random_state : int
        Seed of every random choice.
    home : path or None
        Where the named sets are; None takes ``MIEN_DATA``.

    Returns
    -------
    DemoResult
        A section that cannot run here (an extra is missing, the data are too few) is named in
        ``skipped`` and in the report; the others run.
    """
    report_progress("demo: making the faces", 0, 1)
    faces = load_demo_data(
        data, n_people=n_people, n_per_person=n_per_person, random_state=random_state, home=home
    )
    report_progress("demo: making the faces", 1, 1)
    sections, skipped = [], []
    # The problems are small: threads that wait for each other take longer than one that works.
    with threadpool_limits(limits=1, user_api="blas"):
        for done, section in enumerate(SECTIONS):
            report_progress("demo: sections", done, len(SECTIONS))
            part = Report("")
            try:
                section(faces, part)
            except MienError as error:
                title = section.__name__.replace("_", " ")
                skipped.append(f"{title}: {error}")
                part.text(f"The rest of this section ({title}) is left out: {error}")
            sections.append(part)
    report_progress("demo: sections", len(SECTIONS), len(SECTIONS))
    summary = Report("A demonstration of mien", faces.name)
    if faces.summary:
        summary.table(
            "What the methods reach",
            faces.summary,
            "In brackets: 95 % intervals. Each section says who was learned from and who was not.",
        )
    report = Report("A demonstration of mien", faces.name)
    for part in (summary, *sections):
        report.extend(part)
    return DemoResult(report, summary, skipped)
