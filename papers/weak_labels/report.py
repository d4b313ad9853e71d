"""The weak-label paper whole: recognition, clusters, tracks and retrieval from nameless groups."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from mien.datasets import make_faces
from mien.errors import InputError, MissingDataError
from mien.reports import Report, plot_curves
from papers.weak_labels import run as runs
from papers.weak_labels.data import (
    FACE_SETS,
    load_corel,
    load_leaves,
    load_tracks,
    turn_into_span,
)
from papers.weak_labels.soft import compare_projections, leave_one_set_out, load_small_sets

__all__ = ["PARTS", "QUICK", "reproduce_weak_labels"]

PARTS = (
    *FACE_SETS,
    "dimension",
    "scatter",
    "clusters",
    "clusters-13",
    "tracks",
    "retrieval",
    "many-classes",
    "soft",
)
#: Those of a quick run.
QUICK = ("orl", "clusters", "retrieval")

# Table 1 of the paper: purity and accuracy in per cent with their deviations.
PAPER_TABLE = {
    ("kernel RCA", 3): ((94.2, 3.7), (96.0, 2.2)),
    ("kernel RCA", 5): ((96.9, 3.0), (97.9, 2.0)),
    ("kernel RCA", 7): ((93.5, 4.2), (95.7, 2.5)),
    ("kernel NP-PER", 3): ((98.3, 2.4), (98.8, 1.7)),
    ("kernel NP-PER", 5): ((99.7, 1.2), (99.8, 0.7)),
    ("kernel NP-PER", 7): ((97.7, 2.9), (98.4, 1.6)),
    ("PCA", 7): ((70.6, 8.5), (82.2, 8.9)),
}
# Blur in pixels, each so many frames, sizes of groups: what the order of the methods hangs on.
TRACKS = ((0.0, 1, (7, 15, 30)), (0.0, 4, (3, 5, 7)), (2.0, 1, (7, 15, 30)), (2.0, 4, (3, 5, 7)))
PAIRS = (("NP-PER", "RCA"), ("kernel NP-PER", "kernel RCA"), ("kernel NP-PER", "NP-PER"))


def reproduce_weak_labels(
    home: str | os.PathLike[str] | None = None,
    *,
    parts: Sequence[str] = PARTS,
    repeats: int = 100,
    starts: int = 100,
    random_state: int = 0,
) -> Report:
    """Run the experiments of Kumar and Rowley (2007) on the data at hand.

    Parameters
    ----------
    home : path or None
        The folder of real data; None takes ``MIEN_DATA``.
    parts : sequence of str
        Which of ``PARTS`` to run.
    repeats : int
        Random groupings for each number.
    starts : int
        Starts of K-means for each grouping.
    random_state : int
        Seed of everything that is drawn.

    Returns
    -------
    Report
        With the paper's figures redrawn, and its Table 1 beside ours.
    """
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        raise InputError(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    report = Report(
        "Weak labels: recognition from groups without names",
        "after Kumar and Rowley, Classification of weakly-labeled data with partial equivalence "
        "relations, 2007",
    )
    report.text(
        "Errors are in per cent, over random groupings and splits. Widths of kernels and RCA's "
        "dimension are chosen by held-out groups on the first grouping: no name is used."
    )
    for part in parts:
        if part in FACE_SETS:
            try:
                report_classification(report, part, home, repeats, random_state)
            except MissingDataError as error:
                if len(parts) == 1:
                    raise
                report.text(f"{part} was left out: {error}")
    if "dimension" in parts:
        report_dimension(report, home, repeats, random_state)
    if "scatter" in parts:
        report_scatter(report, home, repeats, random_state)
    if "clusters" in parts:
        report_clusters(report, home, repeats, starts, random_state)
    if "clusters-13" in parts:
        thirteen = ("yale-13-smoothed", "yale-13")
        report_clusters(report, home, repeats, starts, random_state, thirteen)
    if "tracks" in parts:
        report_tracks(report, home, repeats, random_state)
    if "retrieval" in parts:
        report_retrieval(report, home, repeats, random_state)
    if "many-classes" in parts:
        report_many_classes(report, home, min(repeats, 5), random_state)
    if "soft" in parts:
        report_soft(report, home, min(repeats, 5), random_state)
    return report


def report_soft(
    report: Report, home: str | os.PathLike[str] | None, repeats: int, random_state: int
) -> None:
    """The soft null space beside its rivals, and how its rule was chosen."""
    sets = load_small_sets(home, random_state)
    report.heading("The soft null space")
    report.text(
        f"Four sets at 32×32 pixels, {repeats} draws each, mean over groups of 2, 3 and 5. Same "
        "people: half of everybody's pictures are learned from in groups and are the gallery. New "
        "people: the projection has seen none of them, and two pictures of each are the gallery."
    )
    rows = compare_projections(sets, repeats, random_state, kernel=True)
    report.table(
        "Error of the nearest neighbour, in per cent, by cosine",
        rows,
        "Last column: of the wrong neighbours by Euclidean distance, the share that is shorter "
        "than a typical picture of the right person; 50 would be chance.",
    )
    report.table(
        "The rule for λ from the shrinkage s of the residuals, one set left out at a time",
        leave_one_set_out(sets, repeats, random_state + 1000),
        "Other draws than above. The rule is chosen on three sets, by errors relative to the best "
        "rule of each, and judged on the fourth.",
    )


def _error_curves(found: dict[int, dict[str, np.ndarray]]) -> dict[str, tuple]:
    """Series (sizes, means, deviations) of each method, for a figure like the paper's."""
    names = list(dict.fromkeys(name for methods in found.values() for name in methods))
    curves = {}
    for name in names:
        sizes = [size for size in found if name in found[size]]
        means = np.array([found[size][name].mean() for size in sizes])
        spread = np.array([found[size][name].std() for size in sizes])
        curves[name] = (np.asarray(sizes, dtype=float), means, np.minimum(spread, means))
    return curves


def _error_tables(report: Report, found: dict[int, dict[str, np.ndarray]]) -> None:
    names = list(dict.fromkeys(name for methods in found.values() for name in methods))
    rows = []
    for name in names:
        row: dict[str, object] = {"method": name}
        for size, methods in found.items():
            row[f"groups of {size}"] = runs.summarise(methods[name]) if name in methods else None
        rows.append(row)
    report.table("Error in per cent", rows, "In brackets: 95 % intervals of the mean.")
    rows = []
    for better, worse in PAIRS:
        row = {"difference": f"{better} − {worse}"}
        for size, methods in found.items():
            row[f"groups of {size}"] = runs.summarise(methods[better] - methods[worse])
        rows.append(row)
    report.table(
        "Paired differences",
        rows,
        "Same splits and groups on both sides; an interval below zero favours the first.",
    )


def report_classification(
    report: Report, part: str, home: str | os.PathLike[str] | None, repeats: int, seed: int
) -> None:
    """Figures 2 to 4: error over group size of the linear and the kernel methods."""
    data = FACE_SETS[part](home)
    found = runs.classify(data, repeats, seed)
    n_people = len(np.unique(data.people))
    report.heading(f"{data.name}: error over group size")
    report.text(
        f"{len(data.X)} pictures of {n_people} people, {data.words}; {data.n_train} of each to "
        f"learn from; {repeats} groupings."
    )
    _error_tables(report, found)
    curves = _error_curves(found)
    linear = {k: v for k, v in curves.items() if not k.startswith("kernel")}
    kernel = {k: v for k, v in curves.items() if k.startswith("kernel")}
    for title, series in (("linear", linear), ("kernel", kernel)):
        report.figure(
            plot_curves(series, "Group size", "Error (%)", f"{data.name}, {title} methods"),
            "Mean error over the groupings; the bars are one standard deviation, as in the paper.",
            name=f"weak_labels_{part.replace('-', '_')}_{title}",
        )


def report_dimension(
    report: Report, home: str | os.PathLike[str] | None, repeats: int, seed: int
) -> None:
    """Figure 2, right: how RCA depends on the number of directions that it keeps."""
    data = FACE_SETS["yale"](home)
    dimensions = (5, 10, 15, 20, 30, 40, 50, 60, 75, 90)
    found = runs.rca_dimensions(data, dimensions, repeats, seed)
    curves = {
        f"groups of {size}": (
            np.asarray(list(errors), dtype=float),
            np.array([values.mean() for values in errors.values()]),
            np.array([values.std() for values in errors.values()]),
        )
        for size, errors in found.items()
    }
    report.heading("RCA's dependence on its dimension")
    report.figure(
        plot_curves(curves, "Directions kept", "Test error (%)", "Yale, RCA"),
        "The paper draws the training error. Null-space projection has no such number to choose.",
        name="weak_labels_dimension",
    )


def report_scatter(
    report: Report, home: str | os.PathLike[str] | None, repeats: int, seed: int
) -> None:
    """Section 4.4: the scatter that groups show, over their size."""
    sizes = (2, 3, 4, 5, 6, 7, 8, 9, 10)
    curves: dict[str, tuple] = {}
    rows: list[dict[str, object]] = [
        {"set": "1 − 1/n"} | {f"groups of {n}": round(1 - 1 / n, 3) for n in sizes}
    ]
    for part in ("orl", "yale-crops", "lfw"):
        data = FACE_SETS[part](home)
        found = runs.scatter_law(data.X, data.people, sizes, min(repeats, 20), seed)
        means = np.array([values.mean() for values in found.values()])
        curves[data.name] = (np.asarray(sizes, dtype=float), means)
        rows.append(
            {"set": data.name}
            | {f"groups of {n}": round(float(values.mean()), 3) for n, values in found.items()}
        )
    curves["1 − 1/n"] = (np.asarray(sizes, dtype=float), 1 - 1 / np.asarray(sizes, dtype=float))
    report.heading("Section 4.4: what groups show of the scatter inside people")
    report.table(
        "Scatter inside random groups, as a share of what whole people show",
        rows,
        "Groups of n show 1 − 1/n of it, whatever the data: the paper has the limit only.",
    )
    report.figure(
        plot_curves(curves, "Group size", "Share of the scatter", "Scatter over group size"),
        "Half of it with pairs, nine tenths with groups of ten.",
        name="weak_labels_scatter",
    )


def report_clusters(
    report: Report,
    home: str | os.PathLike[str] | None,
    repeats: int,
    starts: int,
    seed: int,
    sets: Sequence[str] = ("yale-smoothed", "yale", "yale-crops"),
) -> None:
    """Table 1: K-means in the projected space, beside the paper's numbers."""
    report.heading("K-means on Yale: Table 1")
    report.text(
        f"Purity / accuracy in per cent, over {repeats} groupings and {starts} starts each; ± is "
        "the deviation between groupings. Clustered are the pictures in groups, into as many "
        "clusters as people. Over pairs: of pairs in one cluster, those of one person / of pairs "
        "of one person, those in one cluster. By majority: pictures that are of their cluster's "
        "first person / in their person's first cluster. 'As printed' takes rows of the kernel "
        "for vectors. The paper's PCA is not said to be of any group size."
    )
    for part in sets:
        try:
            data = FACE_SETS[part](home)
        except MissingDataError as error:
            report.text(f"{part} was left out: {error}")
            continue
        found = runs.cluster_by_kmeans(data, repeats, starts, seed)
        rows = [
            _cluster_row(size, name, methods)
            for size, methods in found.items()
            for name in dict.fromkeys(name for name, _ in methods)
        ]
        report.table(f"{data.name}: {data.words}", rows)


def _cluster_row(
    size: int, name: str, found: dict[tuple[str, str], np.ndarray]
) -> dict[str, object]:
    row: dict[str, object] = {"groups of": size, "method": name}
    for word, init, k in (
        ("over pairs", "k-means++", 0),
        ("by majority", "k-means++", 2),
        ("best start, pairs", "k-means++", 4),
        ("random starts, majority", "random", 2),
    ):
        values = found[name, init][:, k : k + 2]
        row[word] = _purity_accuracy(values.mean(axis=0), values.std(axis=0))
    paper = PAPER_TABLE.get((name.removesuffix(", as printed"), size))
    row["paper"] = None if paper is None else _purity_accuracy(*zip(*paper, strict=True))
    return row


def _purity_accuracy(means: Sequence[float], spreads: Sequence[float]) -> str:
    return " / ".join(f"{m:.1f} ± {s:.1f}" for m, s in zip(means, spreads, strict=True))


def report_tracks(
    report: Report, home: str | os.PathLike[str] | None, repeats: int, seed: int
) -> None:
    """Figure 6: recognition in video from tracks."""
    report.heading("Tracks of videos")
    for smooth, every, sizes in TRACKS:
        data = load_tracks(home, smooth)
        found = runs.classify_tracks(data, sizes, repeats, seed, every=every)
        tracked = data.tracks >= 0
        words = "as printed" if not smooth else f"blurred by {smooth:g} pixels"
        words += ", every frame" if every == 1 else f", each {every}th frame"
        report.text(
            f"{words}: {len(data.X)} faces of {len(np.unique(data.people))} people; group_tracks "
            f"joins {int(tracked.sum())} of them into {len(np.unique(data.tracks[tracked]))} "
            "tracks. The first half of everybody's frames is learned from, the second asked for."
        )
        _error_tables(report, found)
        report.figure(
            plot_curves(
                _error_curves(found), "Group size", "Error (%)", f"Faces in video, {words}"
            ),
            "The paper has eight people of 17 videos, and groups up to 60 frames.",
            name="weak_labels_tracks" + "_blurred" * bool(smooth) + "_fourth" * (every == 4),
        )


def report_many_classes(
    report: Report, home: str | os.PathLike[str] | None, repeats: int, seed: int
) -> None:
    """Retrieval with as many classes as the paper has, and more: leaves and rendered people."""
    rendered = make_faces(100, 20, size=32, random_state=seed + 7)
    sets = {
        "100 leaves": (*load_leaves(home), 4, 8),
        "rendered people": (turn_into_span(rendered.vectors()), rendered.people, 5, 10),
    }
    report.heading("Retrieval with many classes")
    for name, (X, classes, group_size, top) in sets.items():
        found = runs.retrieve(
            np.asarray(X, dtype=np.float64), classes, (20, 50, 70, 100), repeats, seed,
            group_size=group_size, top=top, words=name,
        )  # fmt: skip
        report.table(
            f"{name}: right ones among the top {top}",
            _retrieval_rows(found),
            f"Half of each class in groups of {group_size}; classes drawn {repeats} times.",
        )


def _retrieval_rows(found: dict[int, dict[str, np.ndarray]]) -> list[dict[str, object]]:
    rows = []
    for count, methods in found.items():
        row: dict[str, object] = {"classes": count}
        for name, values in methods.items():
            row[name] = runs.summarise(values[:, -1])
        difference = methods["kernel NP-PER"] - methods["kernel RCA"]
        row["NP-PER − RCA"] = runs.summarise(difference[:, -1])
        rows.append(row)
    return rows


def report_retrieval(
    report: Report, home: str | os.PathLike[str] | None, repeats: int, seed: int
) -> None:
    """Figure 8: right pictures among the top K for growing numbers of classes."""
    X, classes = load_corel(home)
    counts = tuple(c for c in (3, 5, 7, 10) if c <= len(np.unique(classes)))
    found = runs.retrieve(X, classes, counts, repeats, seed)
    report.heading("Retrieval on Corel-1K")
    rows = _retrieval_rows(found)
    report.table("Right pictures among the top 15", rows, "In brackets: 95 % intervals.")
    k = np.arange(1, 16, dtype=float)
    for count, methods in found.items():
        report.figure(
            plot_curves(
                {
                    name: (k, values.mean(axis=0), values.std(axis=0))
                    for name, values in methods.items()
                },
                "Top K",
                "Right pictures",
                f"Corel-1K, {count} classes",
            ),
            "LUV histogram and block DCT, 5,120 numbers; groups of 5.",
            name=f"weak_labels_retrieval_{count}",
        )
