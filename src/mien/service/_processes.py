"""Processes beside the server, which end when it does."""

from __future__ import annotations

import asyncio
import json
import os
import struct
import sys
from typing import Any

__all__ = ["frame", "start_process"]

_LARGE = 2**19


def frame(header: dict[str, Any], payload: bytes) -> list[bytes]:
    """A header and bytes as they go through a pipe: in one piece, unless a copy would cost more."""
    text = json.dumps({**header, "payload": len(payload)}).encode("ascii")
    head = struct.pack(">I", len(text)) + text
    return [head + payload] if len(payload) < _LARGE else [head, payload]


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
