"""Boxes of faces: left, top, width, height."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["overlap_boxes"]


def overlap_boxes(a: Sequence[float] | Any, b: Sequence[float] | Any) -> float:
    """Intersection over union of two boxes (4,); 0 where neither has an area."""
    across = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    down = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    shared = max(float(across), 0.0) * max(float(down), 0.0)
    union = float(a[2] * a[3]) + float(b[2] * b[3]) - shared
    return shared / union if union > 0 else 0.0
