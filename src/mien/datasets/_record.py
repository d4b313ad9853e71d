"""The small record that every set of faces comes as, rendered or real."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mien._core.validation import check_labels
from mien.errors import InputError

__all__ = ["FaceSet"]


@dataclass(frozen=True, eq=False, repr=False)
class FaceSet:
    """Pictures, the people on them, and what else is known.

    Attributes
    ----------
    images : (n, h, w) or (n, h, w, 3)
        ``uint8`` where they come from files, ``float32`` in [0, 1] where they are rendered.
    people : (n,)
        Who is on each picture: integers or strings, in any order, with gaps.
    metadata : dict of str to (n, ...) arrays
        What else is known of each picture, such as its file, its condition or its landmarks.
    source : str
        Where the pictures come from.
    licence : str
        On which terms they may be used.
    skipped : list of str
        Pictures that could not be read and were left out, each with its reason.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.datasets import FaceSet
    >>> faces = FaceSet(np.zeros((3, 4, 4), np.uint8), ["ann", "bob", "ann"])
    >>> faces
    FaceSet(3 pictures of 4×4 pixels, grey, 2 people)
    >>> faces.select(faces.people == "ann").people.tolist()
    ['ann', 'ann']
    """

    images: np.ndarray
    people: np.ndarray
    metadata: dict[str, np.ndarray] = field(default_factory=dict)
    source: str = ""
    licence: str = ""
    skipped: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        images = np.asarray(self.images)
        if not (images.ndim == 3 or (images.ndim == 4 and images.shape[-1] == 3)):
            raise InputError(
                f"images must have the shape (n, h, w) or (n, h, w, 3); got {images.shape}"
            )
        n = len(images)
        object.__setattr__(self, "images", images)
        object.__setattr__(self, "people", check_labels("people", self.people, n))
        metadata = {name: np.asarray(values) for name, values in self.metadata.items()}
        for name, values in metadata.items():
            if values.ndim == 0 or len(values) != n:
                raise InputError(
                    f"metadata[{name!r}] must have one row for each of {n} pictures; "
                    f"got the shape {values.shape}"
                )
        object.__setattr__(self, "metadata", metadata)

    def __len__(self) -> int:
        return len(self.images)

    def __repr__(self) -> str:
        height, width = self.images.shape[1:3]
        left_out = f", {len(self.skipped)} skipped" if self.skipped else ""
        return (
            f"FaceSet({len(self):,} pictures of {height}×{width} pixels, "
            f"{'colour' if self.colour else 'grey'}, {self.n_people:,} people{left_out})"
        )

    @property
    def colour(self) -> bool:
        """Whether the pictures have three channels."""
        return self.images.ndim == 4

    @property
    def n_people(self) -> int:
        """How many different people there are."""
        return len(np.unique(self.people))

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of a picture."""
        return int(self.images.shape[1]), int(self.images.shape[2])

    def select(self, rows: Any) -> FaceSet:
        """Return the chosen pictures (a mask, indices or a slice) as a set of their own."""
        rows = rows if isinstance(rows, slice) else np.asarray(rows)
        return FaceSet(
            self.images[rows],
            self.people[rows],
            {name: values[rows] for name, values in self.metadata.items()},
            self.source,
            self.licence,
            list(self.skipped),
        )

    def vectors(self) -> np.ndarray:
        """Return the pictures as rows (n, h·w) or (n, h·w·3), ``float32`` in [0, 1]."""
        flat = self.images.reshape(len(self), int(np.prod(self.images.shape[1:])))
        if flat.dtype == np.uint8:
            return flat.astype(np.float32) / np.float32(255)
        return flat.astype(np.float32, copy=False)
