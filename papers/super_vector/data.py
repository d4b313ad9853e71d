"""The sets of the super vector's experiment: samples as bags of paired descriptors."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from scipy.io import loadmat
from sklearn.model_selection import StratifiedShuffleSplit

from mien.datasets import data_home, load_lfw, load_orl
from mien.errors import MissingDataError
from mien.features import PairedDescriptors, motion_descriptors
from mien.media import read_image
from mien.multiview import Bags

__all__ = ["SETS", "PairedSet", "divide_within", "load_set", "select_bags", "select_set"]

Split = tuple[np.ndarray, np.ndarray]

_WINDOW = 6  # frames that a point is followed in the action videos, of which some are short
_BLOCKS = 4


@dataclass(frozen=True)
class PairedSet:
    """Labelled bags of paired descriptors and how to divide them.

    Attributes
    ----------
    name : str
        What it is.
    first, second : Bags
        The two views, descriptor by descriptor paired.
    labels : (n,)
        The class of each bag.
    splits : list of (train, test)
        Indices of bags.
    n_components : int
        Components of the mixtures that share the budget of dimensions.
    note : str
        What a reader must know.
    groups : (n,) or None
        Bags that stay together when the training half is divided.
    """

    name: str
    first: Bags
    second: Bags
    labels: np.ndarray
    splits: list[Split]
    n_components: int
    note: str
    groups: np.ndarray | None = None


def _divide(labels: np.ndarray, n_splits: int, seed: int) -> list[Split]:
    """Half to learn from and half to test on, class by class, drawn again and again."""
    divider = StratifiedShuffleSplit(n_splits, test_size=0.5, random_state=seed)
    return list(divider.split(np.zeros(len(labels)), labels))


def select_bags(bags: Bags, rows: np.ndarray) -> Bags:
    """The bags with these indices, in this order."""
    lengths = np.diff(bags.offsets)[rows]
    parts = [np.arange(bags.offsets[i], bags.offsets[i + 1]) for i in rows]
    return Bags(bags.descriptors[np.concatenate(parts)], np.concatenate([[0], np.cumsum(lengths)]))


def select_set(data: PairedSet, rows: np.ndarray) -> PairedSet:
    """The same set with these bags only, and no divisions."""
    return replace(
        data,
        first=select_bags(data.first, rows),
        second=select_bags(data.second, rows),
        labels=data.labels[rows],
        splits=[],
        groups=None if data.groups is None else data.groups[rows],
    )


def divide_within(data: PairedSet, train: np.ndarray, n_inner: int, seed: int) -> list[Split]:
    """Three fifths of a training half to learn from and two to choose by, class by class.

    Where bags have groups, whole groups are held out in turn.
    """
    if data.groups is None:
        divider = StratifiedShuffleSplit(n_inner, test_size=0.4, random_state=seed)
        return [(train[a], train[b]) for a, b in divider.split(train, data.labels[train])]
    mine = data.groups[train]
    return [(train[mine != held], train[mine == held]) for held in np.unique(mine)[:n_inner]]


def _describe(pictures: np.ndarray, second: str, step: int) -> tuple[Bags, Bags]:
    describe = PairedDescriptors("gradients", second, step=step, n_components=None)
    first, other = describe.fit_transform(pictures)
    return Bags(*first), Bags(*other)


def load_orl_patches(home: Path, n_splits: int, seed: int, quick: bool) -> PairedSet:
    """ORL: 40 people, gradients and LBP on a grid."""
    faces = load_orl(home)
    rows = np.flatnonzero(faces.people <= 10) if quick else np.arange(len(faces))
    first, second = _describe(faces.images[rows], "lbp", 12 if quick else 6)
    labels = faces.people[rows]
    return PairedSet(
        "ORL, 40 people" if not quick else "ORL, 10 people", first, second, labels,
        _divide(labels, n_splits, seed), 4 if quick else 16,
        "gradients and LBP of patches; five pictures of each person to learn from",
    )  # fmt: skip


def load_lfw_patches(home: Path, n_splits: int, seed: int, quick: bool) -> PairedSet:
    """LFW: people with 30 pictures or more, 20 of each."""
    faces = load_lfw(home, size=80, min_pictures=100 if quick else 30)
    rng = np.random.default_rng(seed)
    rows = np.concatenate(
        [rng.permutation(np.flatnonzero(faces.people == p))[:20] for p in np.unique(faces.people)]
    )
    first, second = _describe(faces.images[rows], "lbp", 16 if quick else 6)
    labels = faces.people[rows]
    return PairedSet(
        f"LFW, {len(np.unique(labels))} people", first, second, labels,
        _divide(labels, n_splits, seed), 4 if quick else 16,
        "gradients and LBP of patches; ten pictures of each person to learn from",
    )  # fmt: skip


def load_corel(home: Path, n_splits: int, seed: int, quick: bool) -> PairedSet:
    """Corel-1K: ten classes of a hundred photographs, gradients and colours."""
    place = home / "corel1k"
    table = place / "labels.csv"
    if not table.is_file():
        raise MissingDataError(f"{str(table)!r} does not exist")
    lines = [line.split(",") for line in table.read_text(encoding="utf-8").splitlines()[1:]]
    lines = [line for line in lines if line[0].startswith("images/")]
    labels = np.array([line[3] for line in lines])
    rows = np.arange(len(lines))
    if quick:
        rows = np.concatenate([np.flatnonzero(labels == c)[:12] for c in np.unique(labels)])
    pictures = np.stack(
        [read_image(place / lines[i][0], colour=True, size=(144, 144)) for i in rows]
    )
    first, second = _describe(pictures, "colour", 32 if quick else 12)
    return PairedSet(
        "Corel-1K, 10 classes", first, second, labels[rows],
        _divide(labels[rows], n_splits, seed), 4 if quick else 16,
        "gradients and colours of patches",
    )  # fmt: skip


def _one_descriptor(X: np.ndarray) -> Bags:
    return Bags(np.asarray(X, dtype=np.float64), np.arange(len(X) + 1))


def _load_views(
    file: str, views: tuple[int, int], name: str, note: str
) -> Callable[[Path, int, int, bool], PairedSet]:
    def load(home: Path, n_splits: int, seed: int, quick: bool) -> PairedSet:
        path = home / "multiview" / file
        if not path.is_file():
            raise MissingDataError(f"{str(path)!r} does not exist")
        content = loadmat(path)
        if "data" in content:
            record = content["data"][0, 0]
            X, Y = record["X1"].T, record["X2"].T
            labels = record["Y"].argmax(axis=0)
        else:
            X, Y = (content["X"].ravel()[view] for view in views)
            labels = content["Y"].ravel()
        if quick:
            some = np.isin(labels, np.unique(labels)[:5])
            X, Y, labels = X[some][:300], Y[some][:300], labels[some][:300]
        splits = _divide(labels, n_splits, seed)
        return PairedSet(name, _one_descriptor(X), _one_descriptor(Y), labels, splits, 4, note)

    return load


def load_actions(
    home: Path,
    n_splits: int,
    seed: int,
    quick: bool,
    kinds: tuple[str, str] = ("gradients", "flow"),
    note: str = "gradients and optical flow",
) -> PairedSet:
    """KTH: six actions of one person, stretches of time to learn from and others to test on.

    A video is cut into four blocks of time; bags are windows inside a block, and each split holds
    one block of every video out.
    """
    place = home / "video" / "kth"
    files = sorted(place.glob("*.mat"))
    if not files:
        raise MissingDataError(f"{str(place)!r} has no videos")
    firsts, seconds, labels, blocks = [], [], [], []
    for path in files:
        frames = np.ascontiguousarray(loadmat(path)["video"].transpose(2, 0, 1))
        edges = np.linspace(0, len(frames), _BLOCKS + 1).astype(int)
        for block in range(_BLOCKS):
            for start in range(edges[block], edges[block + 1] - _WINDOW, 6 if quick else 2):
                window = frames[start : start + _WINDOW + 1]
                first, second = motion_descriptors(
                    window, kinds=kinds, length=_WINDOW, least_motion=1.0
                )
                firsts.append(first)
                seconds.append(second)
                labels.append(path.name.split("_")[1])
                blocks.append(block)
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in firsts])])
    where = np.array(blocks)
    splits = [
        (np.flatnonzero(where != block), np.flatnonzero(where == block)) for block in range(_BLOCKS)
    ]
    return PairedSet(
        f"KTH, 6 actions of one person, {note}",
        Bags(np.concatenate(firsts), offsets),
        Bags(np.concatenate(seconds), offsets),
        np.array(labels), splits[: max(2, min(n_splits, _BLOCKS))], 4 if quick else 8,
        f"{note} along points; a block of time of every video is held out",
        where,
    )  # fmt: skip


#: What the experiment runs on, in reading order.
SETS: dict[str, Callable[[Path, int, int, bool], PairedSet]] = {
    "orl": load_orl_patches,
    "lfw": load_lfw_patches,
    "corel": load_corel,
    "kth": load_actions,
    "kth-mbh": partial(
        load_actions,
        kinds=("boundaries-x", "boundaries-y"),
        note="motion boundaries in x and in y",
    ),
    "handwritten": _load_views(
        "handwritten.mat", (0, 1), "Handwritten digits", "pixels and Fourier coefficients"
    ),
    "leaves": _load_views("100Leaves.mat", (0, 2), "100 leaves", "the first and the third view"),
    "msrc": _load_views("MSRCV1.mat", (2, 4), "MSRC-v1", "the third and the fifth view"),
    "orl-views": _load_views("ORL.mat", (0, 1), "ORL, four views", "GIST and LBP"),
    "wiki": _load_views("wiki_roph.mat", (0, 1), "Wikipedia", "visual words and topics of text"),
}


def load_set(
    name: str, home: str | os.PathLike[str] | None, n_splits: int, seed: int, quick: bool
) -> PairedSet:
    """Read one of :data:`SETS`."""
    return SETS[name](data_home(home), n_splits, seed, quick)
