"""A folder of faces sorted by person: groups teach a projection, clusters are found in it."""

from __future__ import annotations

import csv
import io
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import silhouette_score

from mien._core.atomic import write_atomically
from mien._core.progress import track
from mien._core.text import safe_text
from mien._core.validation import check_choice
from mien.errors import DataError, ImageError, InputError, MissingDataError, NotEnoughDataError
from mien.features import local_vectors
from mien.media import (
    find_pictures,
    group_folders,
    group_table,
    group_tracks,
    pairs_in_pictures,
    read_image,
)
from mien.subspace import (
    ConstrainedClustering,
    KernelNullSpaceProjection,
    KernelRelevantComponents,
    NullSpaceProjection,
    RelevantComponents,
)

__all__ = ["METHODS", "FolderClusters", "cluster", "write_clusters"]

_MOST_CLUSTERS = 200

#: How a projection is learned from the groups.
METHODS = ("kernel-null-space", "null-space", "relevant-components", "kernel-relevant-components")


@dataclass(frozen=True)
class FolderClusters:
    """Which picture is in which cluster.

    Attributes
    ----------
    folder : Path
    files : list of str
        Relative to the folder.
    clusters : (n,)
        From 0, the largest first.
    groups : (n,)
        What was learned from; -1 for none.
    cannot_link : (n_pairs, 2)
        Rows that are two people.
    skipped : list of str
        Pictures that could not be read, each with its reason.
    """

    folder: Path
    files: list[str]
    clusters: np.ndarray
    groups: np.ndarray
    cannot_link: np.ndarray
    skipped: list[str] = field(default_factory=list)

    @property
    def n_clusters(self) -> int:
        """Number of people."""
        return int(self.clusters.max()) + 1

    @property
    def sizes(self) -> list[int]:
        """Number of faces per person."""
        return np.bincount(self.clusters).tolist()

    def row(self, k: int) -> dict[str, Any]:
        """File, person and group of picture ``k``."""
        group = int(self.groups[k])
        person = f"person-{int(self.clusters[k]) + 1:03d}"
        return {"file": self.files[k], "person": person, "group": None if group < 0 else group}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "source": str(self.folder),
            "faces": len(self.files),
            "people": self.n_clusters,
            "sizes": self.sizes,
            "groups": len(np.unique(self.groups[self.groups >= 0])),
            "cannot_link": len(self.cannot_link),
            "table": [self.row(k) for k in range(len(self.files))],
            "skipped": self.skipped,
        }


def list_pictures(folder: Path) -> list[str]:
    """Pictures below a folder, sorted, relative to it."""
    if not folder.is_dir():
        raise MissingDataError(f"{str(folder)!r} is not a folder")
    found = [path.relative_to(folder).as_posix() for path in find_pictures(folder)]
    if not found:
        raise MissingDataError(f"there are no pictures in {str(folder)!r}")
    return found


def read_table(path: Path) -> dict[str, dict[str, str]]:
    """Rows of a table with a column ``file``, by file."""
    if not path.is_file():
        raise MissingDataError(f"the table {str(path)!r} does not exist")
    with path.open(newline="", encoding="utf-8-sig") as lines:
        reader = csv.DictReader(lines)
        columns = reader.fieldnames or []
        if "file" not in columns:
            raise DataError(
                f"{str(path)!r} has no column 'file'; it has {', '.join(columns) or 'nothing'}"
            )
        return {row["file"].replace("\\", "/"): row for row in reader if row["file"]}


def groups_of(files: list[str], table: dict[str, dict[str, str]]) -> np.ndarray:
    """Groups (n,): the column ``group``, or tracks from ``frame``, ``x``, ``y``, ``w``, ``h``."""
    columns = set(next(iter(table.values()), {}))
    if "group" in columns:
        return group_table(files, {name: row["group"] for name, row in table.items()})
    wanted = {"frame", "x", "y", "w", "h"}
    if not wanted <= columns:
        raise DataError(
            "the table needs a column 'group', or 'frame', 'x', 'y', 'w' and 'h' from which tracks "
            f"are made; it has {', '.join(sorted(columns))}"
        )
    rows = [k for k, name in enumerate(files) if name in table]
    if not rows:
        raise DataError(f"the table lists none of the {len(files)} pictures")
    try:
        boxes = [[float(table[files[k]][c]) for c in ("x", "y", "w", "h")] for k in rows]
        frames = [int(float(table[files[k]]["frame"])) for k in rows]
    except (TypeError, ValueError) as error:
        raise DataError(f"the table has a frame or a box that is not a number: {error}") from error
    videos = [table[files[k]].get("video") or "." for k in rows]
    groups = np.full(len(files), -1)
    groups[rows] = group_tracks(boxes, frames, videos=videos)
    return groups


def pairs_of(files: list[str], table: dict[str, dict[str, str]]) -> np.ndarray:
    """Pairs of faces from one picture or frame, from the column ``picture`` or ``frame``."""
    columns = set(next(iter(table.values()), {}))
    column = "picture" if "picture" in columns else "frame" if "frame" in columns else None
    rows = np.array([k for k, name in enumerate(files) if name in table], dtype=int)
    if column is None or rows.size == 0:
        return np.zeros((0, 2), dtype=int)
    keys = np.array([table[files[k]][column] or f"\0{k}" for k in rows])
    videos = np.array([table[files[k]].get("video") or "." for k in rows])
    return rows[pairs_in_pictures(keys, videos)]


def make_projection(method: str, random_state: int, **params: Any) -> Any:
    """The estimator of a method's name, with parameters of its own."""
    if method not in METHODS:
        raise InputError(f"there is no method {method!r}; there are {', '.join(METHODS)}")
    model: Any = {
        "kernel-null-space": KernelNullSpaceProjection(
            fallback="relevant-components", random_state=random_state
        ),
        "null-space": NullSpaceProjection(fallback="relevant-components"),
        "relevant-components": RelevantComponents("auto", random_state=random_state),
        "kernel-relevant-components": KernelRelevantComponents("auto", random_state=random_state),
    }[method]
    unknown = sorted(set(params) - set(model.get_params(deep=False)))
    if unknown:
        raise InputError(f"the method {method!r} has no parameter {', '.join(unknown)}")
    return model.set_params(**params)


def cluster(
    folder: str | os.PathLike[str],
    groups: str | os.PathLike[str],
    *,
    n_clusters: int | None = None,
    method: str = "kernel-null-space",
    linkage: str = "average",
    random_state: int = 0,
    **params: Any,
) -> FolderClusters:
    """Sort the faces below a folder by person, without a single name.

    Parameters
    ----------
    folder : path
        Pictures of one face each, in any folders below.
    groups : path or "folders"
        A table with the column ``file`` and a column ``group`` (empty for none), or ``frame``,
        ``x``, ``y``, ``w``, ``h`` and perhaps ``video``, of which tracks are made; a column
        ``picture`` (or the frames) says which faces were in one picture and are two people.
        ``"folders"`` takes the folder of a picture for its group.
    n_clusters : int or None
        How many people; None takes the number with the best silhouette.
    method : str
        One of ``METHODS``.
    linkage : {"average", "complete"}
        Of the clusters, over cosines: groups that were learned from lie far out in the null space
        and other pictures near its middle, so lengths say who was in a group, not who it is.
    random_state : int
        Seed of what is drawn.
    **params
        Parameters of the method's estimator, such as ``regularization`` or ``sigma``.
    """
    folder = Path(folder)
    files = list_pictures(folder)
    images, skipped, kept = [], [], []
    for name in track(files, "reading pictures"):
        try:
            images.append(read_image(folder / name, size=48))
            kept.append(name)
        except ImageError as error:
            skipped.append(str(error))
    if not images:
        raise DataError(f"none of the {len(files)} pictures in {str(folder)!r} can be read")
    if str(groups) == "folders":
        known, pairs = group_folders(kept), np.zeros((0, 2), dtype=int)
    else:
        table = read_table(Path(groups))
        known, pairs = groups_of(kept, table), pairs_of(kept, table)
    if np.unique(known[known >= 0]).size < 2:
        raise NotEnoughDataError("learning needs at least two groups of two pictures each")
    X = local_vectors(np.stack(images), smooth=2.0)
    # Pictures in no group would each get a direction of their own: they are only projected.
    model = make_projection(method, random_state, **params)
    Z = model.fit(X[known >= 0], known[known >= 0]).transform(X)
    labels = _cut(Z, known, pairs, n_clusters, linkage)
    order = np.argsort(-np.bincount(labels), kind="stable")
    labels = np.argsort(order)[labels]
    return FolderClusters(folder, kept, labels, known, pairs, skipped)


def _cut(
    Z: np.ndarray, groups: np.ndarray, pairs: np.ndarray, n_clusters: int | None, linkage: str
) -> np.ndarray:
    def cluster(count: int) -> np.ndarray:
        model = ConstrainedClustering(count, linkage=linkage, metric="cosine")
        return model.fit_predict(Z, groups=groups, cannot_link=pairs)

    if n_clusters is not None:
        return cluster(n_clusters)
    # A group has collapsed to a point, which would be a perfect cluster: it counts once.
    firsts = np.unique(
        np.where(groups >= 0, groups, -1 - np.arange(len(groups))), return_index=True
    )
    rows = firsts[1]
    best, found = -2.0, np.zeros(len(Z), dtype=int)
    counts = range(2, min(len(rows), _MOST_CLUSTERS + 1))
    for count in track(counts, "trying numbers of people"):
        labels = cluster(count)
        here = labels[rows]
        n_here = len(np.unique(here))
        score = silhouette_score(Z[rows], here, metric="cosine") if n_here < len(rows) else -1.0
        if score > best:
            best, found = score, labels
    return found


def write_clusters(
    result: FolderClusters, out: str | os.PathLike[str], *, how: str = "link"
) -> Path:
    """Write ``faces.csv`` and, unless ``how`` is "table", one folder per person.

    Parameters
    ----------
    result : FolderClusters
    out : path
        A new or empty folder.
    how : {"link", "copy", "table"}
        Links to the pictures, copies of them, or no folders at all.

    Returns
    -------
    Path
        The folder, with ``person-001`` … and ``faces.csv``, as `mien.recognition.cluster` has it.
    """
    check_choice("how", how, ("link", "copy", "table"))
    out = Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{str(out)!r} exists and is not empty: choose another folder")
    out.mkdir(parents=True, exist_ok=True)
    rows = [result.row(k) for k in range(len(result.files))]
    lines = io.StringIO(newline="")
    writer = csv.DictWriter(lines, ["file", "person", "group"])
    writer.writeheader()
    for row in rows:
        words = {name: safe_text(v, "csv") for name, v in row.items() if isinstance(v, str)}
        writer.writerow(row | words)
    write_atomically(out / "faces.csv", lines.getvalue().encode(), private=True)
    if how == "table":
        return out
    for row in rows:
        place = out / row["person"]
        place.mkdir(exist_ok=True)
        target = place / row["file"].replace("/", "__")
        if how == "link":
            target.symlink_to((result.folder / row["file"]).resolve())
        else:
            shutil.copyfile(result.folder / row["file"], target)
    return out
