"""Every compiled kernel is used by ``mien warm``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import mien
from mien.demo import warm_kernels


@pytest.mark.needs("fast")
def test_no_kernel_is_forgotten() -> None:
    root = Path(mien.__file__).parent
    files = {path.relative_to(root.parent) for path in root.rglob("_*_numba.py")}
    modules = {".".join(path.with_suffix("").parts) for path in files}
    for module in modules:
        sys.modules.pop(module, None)
    from mien._core.jit import _load_once

    _load_once.cache_clear()
    assert len(warm_kernels()) == 4
    assert modules <= set(sys.modules)
