"""One way to compare numbers, which does not depend on the processor's last bit.

Two libraries, two kernels or two threads add in another order, so entries that nearly cancel may
differ in every digit while the array is right. What a test can ask for is that the largest
difference is small against the largest entry.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["assert_near", "relative_difference"]


def relative_difference(actual: Any, expected: Any, scale: float | None = None) -> float:
    """Largest difference over the largest expected entry (or over ``scale``); inf where NaN or inf
    stand in other places."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    finite = np.isfinite(expected) & np.isfinite(actual)
    others = np.broadcast_to(~finite, finite.shape)
    a, b = np.broadcast_arrays(actual, expected)
    if not np.array_equal(a[others], b[others], equal_nan=True):
        return np.inf
    gap = np.abs(a[finite].astype(np.float64) - b[finite].astype(np.float64)).max(initial=0.0)
    size = np.abs(b[finite].astype(np.float64)).max(initial=0.0) if scale is None else scale
    if gap == 0:
        return 0.0
    return float(gap / size) if size > 0 else np.inf


def assert_near(
    actual: Any, expected: Any, digits: float = 6, *, scale: float | None = None, note: str = ""
) -> None:
    """Assert that two arrays agree in so many digits of their largest entry.

    Parameters
    ----------
    actual, expected : array
        Of one shape; a number may stand for ``expected``. NaN equals NaN, inf equals inf.
    digits : float
        The largest difference is at most ``10**-digits`` times the largest expected entry.
        By custom 8 for sums and products in float64, 6 after an inverse, a decomposition or an
        iteration, 4 in float32.
    scale : float or None
        Size to compare with in place of the largest entry: needed where zeros are expected.
    note : str
        Said when it fails.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert expected.ndim == 0 or actual.shape == expected.shape, (
        f"shapes differ: {actual.shape} is not {expected.shape} {note}"
    )
    assert scale is not None or actual.size == 0 or np.any(expected), (
        "zeros have no size of their own: say what is small with scale="
    )
    found = relative_difference(actual, expected, scale)
    if log := os.environ.get("MIEN_MARGINS"):
        _record(log, found, digits)
    assert found <= 10.0**-digits, (
        f"the largest difference is {found:.2g} of the largest entry: "
        f"{-np.log10(found):.1f} digits agree, {digits} are asked for {note}"
    )


def _record(log: str, found: float, digits: float) -> None:
    """Write down how many digits agreed where, for ``tools/everywhere.py --margins``."""
    caller = sys._getframe(2)
    place = f"{Path(caller.f_code.co_filename).name}:{caller.f_lineno}"
    agreed = 17.0 if found == 0 else -np.log10(found)
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"{place}\t{digits}\t{agreed:.2f}\n")
