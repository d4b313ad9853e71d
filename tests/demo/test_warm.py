"""Every compiled kernel is used by ``mien warm``."""

from __future__ import annotations

from pathlib import Path

import pytest

import mien
from mien._core import jit
from mien.demo import warm_kernels


@pytest.mark.needs("fast")
def test_no_kernel_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = set()
    # The NumPy twins run in their place: what is asked for is what counts here.
    monkeypatch.setattr(jit, "_load_once", asked.add)
    assert len(warm_kernels()) == 4
    root = Path(mien.__file__).parent
    files = {path.relative_to(root.parent) for path in root.rglob("_*_numba.py")}
    assert asked == {".".join(path.with_suffix("").parts) for path in files}
