"""Thresholds of a calibrated ratio: which rate each one keeps, and for how many pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from mien.errors import InputError, ModelDamagedError, NotEnoughDataError
from mien.verification._impostors import ImpostorCurve

__all__ = ["ThresholdTable", "interpolate", "place", "rate_per_person"]

_LEVELS_PER_DECADE = 24
# The highest impostor ratios through which the exponential tail is laid.
_TAIL = 200
# A tail that is borrowed counts as much as so many of these ratios.
_BORROWED = 20


def rate_per_person(fpir: float | None, n_people: int | None) -> float:
    """False accept rate per comparison that gives ``fpir`` in a gallery of ``n_people``.

    Parameters
    ----------
    fpir : float
        Maximum share of unknown probes that may be named as anybody, between 0 and 1.
    n_people : int
        People in the gallery: a probe has as many chances to be taken for somebody.

    Returns
    -------
    float
        :math:`1 - (1 - fpir)^{1/n}`. The chances of one probe are not independent, which makes
        the true rate lower.

    Examples
    --------
    >>> from mien.verification import rate_per_person
    >>> round(rate_per_person(0.01, 100), 7)
    0.0001005
    """
    if fpir is None or n_people is None or not 0 < fpir < 1 or n_people < 1:
        raise InputError(
            "fpir must be between 0 and 1 and n_people at least 1; "
            f"got fpir={fpir}, n_people={n_people}"
        )
    return float(-np.expm1(np.log1p(-fpir) / n_people))


def place(sizes: np.ndarray, size: int) -> tuple[int, int, float]:
    """Neighbours of a size among the sorted ``sizes``, and the way to the second, in log size."""
    if size <= sizes[0]:
        return 0, 0, 0.0
    above = int(np.searchsorted(sizes, size))
    if above >= len(sizes):
        return len(sizes) - 1, len(sizes) - 1, 0.0
    low, high = np.log(sizes[above - 1]), np.log(sizes[above])
    return above - 1, above, float((np.log(size) - low) / (high - low))


def interpolate(grid: np.ndarray, k: tuple[int, int, float], m: tuple[int, int, float]) -> Any:
    """Value of a grid (n_k, n_m, ...) between its nodes, linear in the logs of both sizes."""
    rows = (1 - k[2]) * grid[k[0]] + k[2] * grid[k[1]]
    return (1 - m[2]) * rows[m[0]] + m[2] * rows[m[1]]


@dataclass(frozen=True, eq=False)
class ThresholdTable:
    """Thresholds on a calibrated log ratio, by false accept rate and by numbers of pictures.

    Made by :class:`Verifier` from the impostor trials of held-out people. It never changes: what
    would change it makes a new one.

    Parameters
    ----------
    probe_sizes, sizes : (n_k,), (n_m,) int
        Numbers of pictures of the probe and of the person, rising.
    rates : (n_rates,)
        False accept rates, rising.
    values : (n_k, n_m, n_rates)
        The natural-log ratio that each rate needs; NaN where the trials of that size are too few.
    tail_scale : (n_k, n_m)
        Mean excess of the highest impostor ratios in nats, at the upper end of its 95 % interval:
        by so much a threshold rises when the rate falls by a factor of e, beyond the trials.
    n_impostor : (n_k, n_m) int
        Impostor trials.
    lowest_far : float
        The lowest rate that a single picture on either side supports.

    See Also
    --------
    Verifier : Fits the ratio and this table.

    Notes
    -----
    The threshold of a rate lies just above the first impostor that would be one too many. A rate
    between two of the table takes the next lower one. A size whose trials are too few takes the
    threshold of the next smaller size that has it: with more pictures, impostors' ratios fall.
    Beyond the lowest rate the tail is taken to be exponential, which is an assumption about
    look-alikes and not a promise.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.verification import ThresholdTable
    >>> impostors = np.random.default_rng(0).exponential(1.0, 10_000) - 8
    >>> table = ThresholdTable.from_impostors([1], [1], [impostors], n_errors=3)
    >>> round(table.lowest_far, 6), round(table.threshold(0.01), 1)
    (0.0003, -3.4)
    """

    probe_sizes: np.ndarray
    sizes: np.ndarray
    rates: np.ndarray
    values: np.ndarray
    tail_scale: np.ndarray
    n_impostor: np.ndarray
    lowest_far: float

    @classmethod
    def from_impostors(
        cls,
        probe_sizes: Sequence[int] | np.ndarray,
        sizes: Sequence[int] | np.ndarray,
        impostors: Sequence[np.ndarray],
        n_errors: int,
    ) -> Self:
        """Count impostor ratios, one array for each pair of sizes, those of the probe outermost.

        Parameters
        ----------
        probe_sizes, sizes : (n_k,), (n_m,) int
            Numbers of pictures.
        impostors : list of n_k · n_m arrays
            Calibrated ratios of impostor trials.
        n_errors : int
            False accepts that must be expected among the trials before a rate is supported.
        """
        lowest = min(min(n_errors / len(scores) for scores in impostors), 0.25)
        n_rates = int(np.ceil(_LEVELS_PER_DECADE * np.log10(0.5 / lowest))) + 1
        rates = np.geomspace(lowest, 0.5, n_rates)
        values: np.ndarray = np.full((len(impostors), n_rates), np.nan)
        scale = np.empty(len(impostors))
        for i, scores in enumerate(impostors):
            falling = np.sort(scores.astype(np.float64))[::-1]
            allowed = np.floor(rates * len(falling) * (1 + 1e-12)).astype(int)
            enough = rates * len(falling) >= n_errors * (1 - 1e-9)
            enough[-1] = True
            chosen = falling[np.minimum(allowed, len(falling) - 1)][enough]
            values[i, enough] = np.nextafter(chosen.astype(np.float32), np.float32(np.inf))
            n = min(_count_tail(len(falling)), len(falling) - 1)
            excess = falling[:n] - falling[n]
            scale[i] = excess.mean() * _upper(n)
        shape = len(probe_sizes), len(sizes)
        cells = values.reshape(*shape, n_rates)
        return cls(
            np.asarray(probe_sizes),
            np.asarray(sizes),
            rates,
            cells,
            scale.reshape(shape),
            np.asarray([len(scores) for scores in impostors]).reshape(shape),
            float(rates[np.isfinite(cells[0, 0])][0]),
        )

    def borrow_tail(self, scale: float) -> ThresholdTable:
        """The same table with some of another tail: its ``scale`` counts as twenty trials.

        The scale of a handful of trials is mostly chance. Ratios are calibrated on both sides, so
        that the scale of a verifier of many people is in the same unit.
        """
        n = np.vectorize(_count_tail, otypes=[float])(self.n_impostor)
        own = self.tail_scale / _upper(n)
        mixed = (n * own + _BORROWED * scale) / (n + _BORROWED)
        return replace(self, tail_scale=mixed * _upper(n + _BORROWED))

    def supports(self, far: float) -> bool:
        """Whether the trials are enough for a false accept rate.

        Parameters
        ----------
        far : float
            The rate, between 0 and 1.

        Returns
        -------
        bool
            False where the rate would have to be extrapolated.
        """
        return far >= self.lowest_far

    def threshold(
        self,
        far: float,
        *,
        size: int | None = None,
        probe_size: int = 1,
        extrapolate: bool = False,
    ) -> float:
        """Log ratio from which on a comparison is accepted.

        Parameters
        ----------
        far : float
            Maximum share of impostor comparisons that may be accepted.
        size : int or None
            Pictures of the person; None takes the highest threshold of all sizes, which holds for
            every size.
        probe_size : int
            Pictures of the probe.
        extrapolate : bool
            Whether a rate that the trials do not support is taken from the exponential tail
            instead of being refused.

        Raises
        ------
        NotEnoughDataError
            The trials do not support the rate.
        """
        if not 0 < far < 1:
            raise InputError(f"far must be between 0 and 1; got {far}")
        if not self.supports(far) and not extrapolate:
            raise NotEnoughDataError(
                f"not enough data to promise a false accept rate of {far:.2g}: the lowest that "
                f"{int(self.n_impostor[0, 0]):,} impostor trials of held-out people support is "
                f"{self.lowest_far:.2g}; calibrate on more people, allow more errors, or let "
                "the tail be extrapolated, which assumes that it is exponential"
            )
        nodes = self._nodes(far)
        k = place(self.probe_sizes, probe_size)
        wanted = self.sizes if size is None else [size]
        return float(max(interpolate(nodes, k, place(self.sizes, int(m))) for m in wanted))

    def curve(self, size: int = 1, probe_size: int = 1) -> ImpostorCurve:
        """Where the impostors of this table lie, for one number of pictures on either side.

        Parameters
        ----------
        size, probe_size : int
            Pictures of the person and of the probe; between two sizes of the table, in log size.
        """
        values = interpolate(
            self.values, place(self.probe_sizes, probe_size), place(self.sizes, size)
        )
        return ImpostorCurve.from_thresholds(self.rates, values)

    def _nodes(self, rate: float) -> np.ndarray:
        """Thresholds (n_k, n_m) of a rate, with what is borrowed or extrapolated."""
        # The next lower rate of the table: a threshold between two is rounded up.
        at = int(np.searchsorted(self.rates, rate * (1 + 1e-9), side="right")) - 1
        grid = np.empty(self.values.shape[:2])
        for i, row in enumerate(self.values):
            for j, curve in enumerate(row):
                if at >= 0 and np.isfinite(curve[at]):
                    grid[i, j] = curve[at]
                elif at >= 0 and j > 0:
                    grid[i, j] = grid[i, j - 1]
                elif at >= 0 and i > 0:
                    grid[i, j] = grid[i - 1, j]
                else:
                    first = int(np.flatnonzero(np.isfinite(curve))[0])
                    beyond = np.log(self.rates[first] / rate)
                    grid[i, j] = curve[first] + self.tail_scale[i, j] * beyond
        return grid

    def to_arrays(self) -> dict[str, Any]:
        """Plain values that :meth:`from_arrays` takes back, for saving."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> Self:
        """Build the table from :meth:`to_arrays`, after checking that its parts fit."""
        if set(arrays) != {part.name for part in fields(cls)}:
            raise ModelDamagedError("a table of thresholds has missing or unknown parts")
        table = cls(**{**arrays, "lowest_far": float(arrays["lowest_far"])})
        shape = len(table.probe_sizes), len(table.sizes)
        if (
            table.values.shape != (*shape, len(table.rates))
            or table.tail_scale.shape != shape
            or table.n_impostor.shape != shape
            or not np.all(np.isfinite(table.values).any(axis=2))
        ):
            raise ModelDamagedError("the parts of a table of thresholds do not fit each other")
        return table


def _count_tail(n_trials: int) -> int:
    """How many of the highest ratios are the tail: never more than a tenth of few trials."""
    return max(2, min(_TAIL, int(n_trials) // 10))


def _upper(n: Any) -> Any:
    """From a mean excess of n ratios to the upper end of its interval."""
    return 1 + 1.64 / np.sqrt(n)
