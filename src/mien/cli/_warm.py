"""``mien warm``: compile now what would be compiled at the first call."""

from __future__ import annotations

from mien.cli._display import print_json, say, showing_progress
from mien.cli._options import AsJson

__all__ = ["run"]


def run(as_json: AsJson = False) -> None:
    """Compile the kernels of mien now, so that the first calls are fast."""
    from mien.demo import warm_kernels

    with showing_progress():
        ready = warm_kernels()
    if as_json:
        print_json({"ready": ready})
        return
    say(f"Compiled and kept: {', '.join(ready)}.")
