"""The committee's report: every method, every rule, every setting, on ORL and Yale."""

from __future__ import annotations

from typing import Any

from mien.datasets import FaceSet
from mien.reports import Report, plot_curves, plot_scatter
from papers.committee.data import load_halved_orl, load_yale_crops
from papers.committee.preparation import compare_preparations
from papers.committee.run import (
    compare_methods,
    meet_strangers,
    repeat_draws,
    sweep_members,
    sweep_sizes,
)
from papers.weak_labels.soft import load_small_sets

__all__ = ["reproduce_committee"]

#: Seeds of the splits on which the default sizes were chosen; never those that are reported.
DEVELOPMENT = 1000


def reproduce_committee(
    home: Any = None,
    *,
    n_splits: int = 20,
    n_members: int = 20,
    n_draws: int = 10,
    sweep_splits: int = 4,
    random_state: int = 0,
) -> Report:
    """ORL and Yale over random splits: every method, every rule, every dial.

    Parameters
    ----------
    home : path or None
        Where the real data are; None takes ``MIEN_DATA``.
    n_splits : int
        Of the comparison; five pictures per person to learn from, the rest to test on.
    n_members : int
        T.
    n_draws : int
        Draws of ``n_splits`` splits of ORL, for the committee and PCA 60 + LDA alone.
    sweep_splits : int
        Of the dials. These are other splits, and those on which the defaults were chosen.
    random_state : int
        Seed of the reported splits.

    Returns
    -------
    Report
        Tables and figures.
    """
    report = Report(
        "Committees: random-sampling LDA",
        f"ORL and Yale, five pictures per person to learn from, {n_splits} splits",
    )
    orl = load_halved_orl(home)
    _add_comparison(report, "ORL, 56×46", orl, n_splits, n_members, random_state)
    report.text(
        "Marks of our specification, other splits: Eigenfaces 5.2, PCA 60 + LDA 3.7, null-space "
        "LDA 3.5, one member 3.9, committee of 20 by the sum 2.35."
    )
    report.table(
        "ORL: how much the draw of the splits matters",
        repeat_draws(orl, n_draws, n_splits, n_members, random_state),
        f"Error % over {n_splits} splits each. The first draw is the one above. The interval of "
        "the mean is over the draws.",
    )
    _add_comparison(report, "Yale, 64×64", load_yale_crops(home), n_splits, n_members, random_state)
    _add_dials(report, orl, sweep_splits, n_members, random_state + DEVELOPMENT)
    _add_strangers(report, orl, random_state)
    _add_preparations(report, home, min(n_splits, 5), min(n_members, 10), random_state)
    return report


def _add_preparations(
    report: Report, home: Any, n_splits: int, n_members: int, random_state: int
) -> None:
    sets = {
        name: vectors
        for (name, kind), vectors in load_small_sets(home, random_state).items()
        if kind == "pixels"
    }
    report.heading("Light, length and other members, on four sets")
    report.table(
        f"Five pictures per person to learn from, 32×32 pixels, {n_splits} splits",
        compare_preparations(sets, n_splits, n_members, random_state),
        "Chosen by the out-of-bag error of the training pictures, among the vectors as they are, "
        "unit length, local light taken out, and that blurred by a pixel.",
    )


def _add_comparison(
    report: Report, name: str, faces: FaceSet, n_splits: int, n_members: int, random_state: int
) -> None:
    rows = compare_methods(faces, n_splits, n_members, random_state, name)
    report.heading(name)
    report.text(
        f"{len(faces)} pictures of {faces.n_people} people. ORL is smoothed by a Gaussian of one "
        "pixel and halved by means of 2×2; "
        "Yale has the 64×64 crops without its nine copies."
    )
    report.table(
        f"{name}: {n_splits} splits, committees of {n_members}",
        rows,
        "In brackets: 95 % intervals from resampling people. Above ours: the same pictures, minus "
        "the errors of the committee on random subspaces by the sum. A mean member is the average "
        "over the members of that committee; plain is LDA without shrinkage.",
    )


def _add_dials(
    report: Report, faces: FaceSet, n_splits: int, n_members: int, random_state: int
) -> None:
    report.heading("The dials of the committee")
    report.text(
        f"ORL, {n_splits} splits other than those above; the default sizes were chosen on such "
        "splits. E is the squared error of the posteriors. The law predicts E_com from E_av and "
        "the correlation of the members' errors alone."
    )
    rows = sweep_members(faces, n_splits, random_state)
    report.table("Over the number of members", rows)
    t = [row["T"] for row in rows]
    report.figure(
        plot_curves(
            {
                "committee": (t, [row["committee error %"] for row in rows]),
                "mean member": (t, [row["member error %"] for row in rows]),
            },
            "Members T",
            "Error %",
            "Error over the number of members",
            logx=True,
        ),
        "A few members bring most of the gain; the mean member does not change with T.",
        name="committee_members",
    )
    report.figure(
        plot_curves(
            {
                "E_av": (t, [row["E_av"] for row in rows]),
                "E_com": (t, [row["E_com"] for row in rows]),
                "the law": (t, [row["E_com by the law"] for row in rows]),
            },
            "Members T",
            "Squared error of the posteriors",
            "The committee's error law",
            logx=True,
        ),
        "E_com against E_av (1/T + rho (1 − 1/T)), with rho measured: what is common to the "
        "members is not averaged away.",
        name="committee_law",
    )
    found = sweep_sizes(faces, n_splits, n_members, random_state)
    _add_size_figures(report, found)


def _add_size_figures(report: Report, found: dict[str, list[dict[str, Any]]]) -> None:
    grid, share = found["sizes"], found["randomness"]
    report.table("Over M0 and M1", grid)
    series = {}
    for m0 in sorted({row["M0"] for row in grid}):
        mine = [row for row in grid if row["M0"] == m0]
        series[f"M0 = {m0}"] = ([r["M1"] for r in mine], [r["committee error %"] for r in mine])
    report.figure(
        plot_curves(series, "Random eigenfaces M1", "Error %", "Error over M0 and M1"),
        "Without fixed eigenfaces members are weak; with them more random ones help.",
        name="committee_sizes",
    )
    report.table("Over the randomness: M0 + M1 = 150", share)
    m1 = [row["M1"] for row in share]
    report.figure(
        plot_curves(
            {
                "mean member": (m1, [row["member error %"] for row in share]),
                "committee": (m1, [row["committee error %"] for row in share]),
            },
            "Random among 150 eigenfaces, M1",
            "Error %",
            "Error over the randomness",
        ),
        "At the left all members are the same; at the right nothing is fixed.",
        name="committee_randomness",
    )
    report.table("Over the samplings", found["samplings"])
    report.figure(
        plot_scatter(
            {
                name: ([r["correlation"] for r in rows], [100 - r["member error %"] for r in rows])
                for name, rows in (
                    ("M0 and M1", grid),
                    ("randomness", share),
                    ("samplings", found["samplings"]),
                )
            },
            "Mean correlation of the members' errors",
            "Strength: mean accuracy of a member, %",
            "Correlation against strength",
        ),
        "What makes members differ makes them weaker: each point is a committee.",
        name="committee_strength",
    )


def _add_strangers(report: Report, faces: FaceSet, random_state: int) -> None:
    report.heading("People who are not enrolled")
    report.table(
        "ORL, 20 people enrolled, 20 strangers, 10 draws",
        meet_strangers(faces, 10, random_state),
        "The posterior is over the enrolled people only, so a stranger always resembles somebody; "
        "members that disagree lower the posterior of the sum rule.",
    )
