"""Processes beside the server, which end when it does."""

from __future__ import annotations

import asyncio
import os
import sys

__all__ = ["start_process"]


async def start_process(module: str, **environment: str) -> asyncio.subprocess.Process:
    """Run ``main`` of a module of this package in a process that is spoken to through pipes."""
    path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", f"from mien.service.{module} import main; main()"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ | path | environment,
        start_new_session=True,
    )
