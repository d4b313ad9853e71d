"""Types that several packages name."""

from __future__ import annotations

import os

import numpy as np

__all__ = ["FLOATS", "PathLike"]

#: What names a file or folder.
PathLike = str | os.PathLike[str]
#: Precisions that learners compute in; everything else becomes the first.
FLOATS = [np.float64, np.float32]
