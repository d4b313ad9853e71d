"""Engines in processes of their own, kept warm: a picture that kills its worker costs one request.

A question is a JSON header with a four-byte length in front and the bytes of one picture; the
answer is a JSON header and the bytes of the vectors. Nothing is pickled.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import struct
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

from mien._core.parallel import count_processors
from mien.service._problems import Problem
from mien.service._processes import frame, start_process
from mien.service._settings import Limits

__all__ = ["WorkerAnswer", "WorkerPool"]

# A busy or small machine takes minutes to import and load; ending it then would only begin again.
_START_SECONDS = 900.0


@dataclass(frozen=True)
class WorkerAnswer:
    """What a worker said: plain values, and bytes."""

    header: dict[str, Any]
    payload: bytes


class _Ended(Exception):
    """The process is gone, or says nothing that can be understood."""


class _Worker:
    """One process."""

    def __init__(self, limits: Limits, engine: str) -> None:
        self._limits = limits
        self._engine = engine
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._process = await start_process("_worker_process", **one_thread)
        limits = {"worker_bytes": self._limits.worker_bytes, "engine": self._engine}
        await asyncio.wait_for(self._ask(limits, b""), _START_SECONDS)

    async def ask(self, header: dict[str, Any], payload: bytes) -> WorkerAnswer:
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await self._ask(header, payload)
        except (TimeoutError, _Ended, asyncio.CancelledError):
            await self.end()
            raise

    async def _ask(self, header: dict[str, Any], payload: bytes) -> WorkerAnswer:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise _Ended
        try:
            for piece in frame(header, payload):
                process.stdin.write(piece)
            await process.stdin.drain()
            text = await process.stdout.readexactly(
                struct.unpack(">I", await process.stdout.readexactly(4))[0]
            )
            said = json.loads(text)
            return WorkerAnswer(said, await process.stdout.readexactly(int(said["payload"])))
        except (OSError, asyncio.IncompleteReadError, ValueError, KeyError) as error:
            raise _Ended from error

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def end(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


class WorkerPool:
    """A fixed number of workers, and a bounded number of pictures that wait for one.

    Parameters
    ----------
    n_workers : int
        Processes.
    engine : str
        The engine that each loads when it starts; others are loaded on first use.
    limits : Limits
        Time and memory per picture, and how many may wait.
    """

    def __init__(self, n_workers: int, engine: str, limits: Limits) -> None:
        self._limits = limits
        self._workers = [_Worker(limits, engine) for _ in range(n_workers)]
        self._free: asyncio.Queue[_Worker] = asyncio.Queue()
        self._processors = count_processors()
        self._admitted = 0
        self.waiting = 0
        self.ended = 0

    async def start(self) -> None:
        """Start all workers; an engine that is not installed is said here."""
        try:
            await asyncio.gather(*(worker.start() for worker in self._workers))
        except (TimeoutError, _Ended) as error:
            await self.close()
            raise RuntimeError(
                "a worker did not start: is the extra 'faces' installed, and is there memory?"
            ) from error
        for worker in self._workers:
            self._free.put_nowait(worker)

    async def close(self) -> None:
        """End all workers."""
        await asyncio.gather(*(worker.end() for worker in self._workers))

    @property
    def ready(self) -> bool:
        """Whether at least one worker is there."""
        return any(worker.alive for worker in self._workers)

    @contextlib.contextmanager
    def admit(self) -> Iterator[None]:
        """A place for one request, which is then not refused half-way; a problem if all are taken.

        Whoever has one may ask with several pictures, as many at the same time as there are
        workers.
        """
        if self._admitted >= self._limits.waiting + len(self._workers):
            raise Problem(
                429, "busy", "All workers are busy and the queue is full; try again.",
                headers={"Retry-After": "1"},
            )  # fmt: skip
        self._admitted += 1
        try:
            yield
        finally:
            self._admitted -= 1

    async def ask(
        self, header: dict[str, Any], payload: bytes, *, admitted: bool = False
    ) -> WorkerAnswer:
        """The answer of a worker, or a problem: busy, too slow, or the end of the worker."""
        if not admitted:
            with self.admit():
                return await self.ask(header, payload, admitted=True)
        async with self._hire() as worker:
            # Alone a picture may use all processors; several at once share them.
            busy = len(self._workers) - self._free.qsize()
            header = {**header, "threads": max(1, self._processors // busy)}
            try:
                answer = await worker.ask(header, payload)
            except TimeoutError as error:
                raise Problem(
                    422,
                    "picture-too-slow",
                    f"The picture took longer than {self._limits.seconds:g} s and was given up.",
                ) from error
            except _Ended as error:
                raise Problem(
                    422, "picture-ended-worker", "The picture crashed the process that read it."
                ) from error
        if "problem" in answer.header:
            said = answer.header["problem"]
            raise Problem(int(said["status"]), str(said["code"]), str(said["detail"]))
        return answer

    @contextlib.asynccontextmanager
    async def _hire(self) -> AsyncIterator[_Worker]:
        self.waiting += 1
        try:
            worker = await self._free.get()
        finally:
            self.waiting -= 1
        try:
            if not worker.alive:
                self.ended += 1
                try:
                    await worker.start()
                except (TimeoutError, _Ended) as error:
                    raise Problem(503, "no-worker", "A worker could not be started.") from error
            yield worker
        finally:
            self._free.put_nowait(worker)
