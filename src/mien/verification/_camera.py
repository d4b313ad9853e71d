"""What pictures show of their camera, before any two of them are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from mien.errors import InputError
from mien.verification._impostors import ImpostorPrior
from mien.verification._thresholds import place

__all__ = ["CameraModel"]


@dataclass(frozen=True, eq=False)
class CameraModel:
    """Where impostors are expected before a camera, by the vectors that it gives of faces.

    Attributes
    ----------
    sizes : (k,)
        Numbers of pictures per person that the rows below are for, rising.
    weights, offsets : (k, d), (k,)
        The shift of the impostors of a camera is about ``weights @ x + offset``, for the mean x of
        its vectors.
    shift_sds : (k,)
        Standard deviation of what cameras differ by from that.
    face_sds : (k,)
        Standard deviation of ``weights @ x`` between people before one camera.

    Notes
    -----
    A bad camera gives all vectors a common part, which adds to every comparison. Its length shows
    in comparisons, of which few people have few: five people have ten. Its direction shows in every
    single face, as bad pictures of many kinds move vectors to much the same place. The weights are
    learned from cameras with random faults, by ridge regression.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.verification import CameraModel, ImpostorPrior
    >>> camera = CameraModel(
    ...     sizes=np.array([1]), weights=np.array([[2.0, 0.0]]), offsets=np.array([0.1]),
    ...     shift_sds=np.array([0.25]), face_sds=np.array([0.2]),
    ... )
    >>> moved = camera.expect(ImpostorPrior(), np.array([[0.4, 0.9], [0.6, 0.8]]), ["Ann", "Bob"])
    >>> round(moved.shift, 2), round(moved.shift_sd, 2)
    (1.1, 0.29)
    """

    sizes: np.ndarray
    weights: np.ndarray
    offsets: np.ndarray
    shift_sds: np.ndarray
    face_sds: np.ndarray

    def expect(self, prior: ImpostorPrior, X: np.ndarray, people: Any) -> ImpostorPrior:
        """The prior for pictures of this camera; what it says of all but the shift stays.

        Parameters
        ----------
        prior : ImpostorPrior
            For cameras in general, or made by this function from it.
        X : (n, d)
            Vectors of unit length.
        people : (n,)
            Who is on them: each person counts once.

        Returns
        -------
        ImpostorPrior
            Its narrow part about the expected shift; the wide one, for what the pictures do not
            show, is at least as wide as it was. A shift below that of the shipped calibration
            counts as 0.
        """
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != self.weights.shape[1]:
            raise InputError(
                f"vectors of {self.weights.shape[1]} numbers are expected, got {X.shape}"
            )
        _, owner, counts = np.unique(np.asarray(people), return_inverse=True, return_counts=True)
        if len(counts) == 0:
            return prior
        means = np.zeros((len(counts), X.shape[1]))
        np.add.at(means, owner, X)
        means /= counts[:, None]
        rows = [self._at(int(count), mean) for count, mean in zip(counts, means, strict=True)]
        shift, shift_sd, face_sd = np.mean(rows, axis=0).tolist()
        spread = float(np.hypot(shift_sd, face_sd / np.sqrt(len(counts))))
        return prior.moved_to(max(shift, 0.0), spread)

    def _at(self, size: int, mean: np.ndarray) -> np.ndarray:
        """Shift and both standard deviations for a person with a number of pictures."""
        low, high, way = place(self.sizes, size)
        shifts = self.weights @ mean + self.offsets
        values = np.column_stack([shifts, self.shift_sds, self.face_sds])
        found: np.ndarray = (1 - way) * values[low] + way * values[high]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {part.name: getattr(self, part.name).tolist() for part in fields(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> CameraModel:
        """The inverse of `to_dict`, after checking that its parts fit."""
        try:
            if set(values) != {part.name for part in fields(cls)}:
                raise ValueError(f"unknown or missing parts in {sorted(values)}")
            parts = {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}
        except (TypeError, ValueError) as error:
            raise InputError(f"not a valid camera model: {error}") from error
        found = cls(**parts)
        k = found.sizes.shape
        if (
            len(k) != 1
            or k[0] == 0
            or any(x.shape != k for x in (found.offsets, found.shift_sds, found.face_sds))
            or found.weights.ndim != 2
            or found.weights.shape[0] != k[0]
            or not all(np.isfinite(part).all() for part in parts.values())
            or np.any(np.diff(found.sizes) <= 0)
            or found.sizes[0] < 1
            or np.any(found.shift_sds <= 0)
            or np.any(found.face_sds <= 0)
        ):
            raise InputError("not a valid camera model: its parts do not fit each other")
        return found
