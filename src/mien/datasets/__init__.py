"""Rendered people, real sets, splits and protocols."""

from mien.datasets._record import FaceSet
from mien.datasets.splits import (
    fold_people,
    make_groups,
    make_pairs,
    split_people,
    split_pictures,
)

__all__ = [
    "FaceSet",
    "fold_people",
    "make_groups",
    "make_pairs",
    "split_people",
    "split_pictures",
]
