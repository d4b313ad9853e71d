"""Long work: kept in the server's state, done in a separate process, resumed after a restart."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mien.service._problems import Problem
from mien.service._processes import start_process
from mien.service._state import State

__all__ = ["ENDED", "Job", "JobRunner", "JobStore"]

log = logging.getLogger("mien.service")
ENDED = ("done", "failed", "cancelled")
_MAX_ATTEMPTS = 3
_PAUSE = 1.0
_INCOMING = ".incoming-"
_WAITING = "waiting to go on"
_COLUMNS = "id, gallery, kind, state, stage, done, total, detail, attempts, created, changed"


@dataclass(frozen=True)
class Job:
    """A job as a client sees it.

    Attributes
    ----------
    id, gallery, kind : str
        Which job, of which gallery, and what it does.
    state : {"queued", "running", "done", "failed", "cancelled"}
        How far it is.
    stage, done, total
        What it does at present, and how far that is; ``total`` is None where nobody knows.
    detail : str
        Why it failed.
    attempts : int
        How often it was started; a server that ends in the middle starts it again.
    created, changed : float
        Seconds since 1970.
    """

    id: str
    gallery: str
    kind: str
    state: str
    stage: str
    done: int
    total: int | None
    detail: str
    attempts: int
    created: float
    changed: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


class JobStore:
    """Jobs in the state of a server, each with a folder for what it reads and writes."""

    def __init__(self, state: State, folder: Path) -> None:
        self._state = state
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in folder.glob(f"{_INCOMING}*"):  # of a server that ended while it came
            shutil.rmtree(left, ignore_errors=True)

    def folder(self, identifier: str) -> Path:
        """Where a job has its files."""
        return self._folder / identifier

    def add(
        self,
        gallery: str,
        kind: str,
        options: dict[str, Any],
        given: Path | None = None,
        *,
        identifier: str | None = None,
    ) -> Job:
        """A new job, which is kept before this returns; one with a known identifier is there.

        ``given`` is a folder of :meth:`receive`, which becomes the job's.
        """
        identifier = secrets.token_hex(12) if identifier is None else identifier
        with contextlib.suppress(Problem):
            return self.get(identifier)
        folder = self.folder(identifier)
        if given is None:
            folder.mkdir(mode=0o700, exist_ok=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
            for place in given.rglob("*"):
                _flush(place)
            os.replace(given, folder)
            _flush(self._folder)
        now = time.time()
        self._state.write(
            "INSERT INTO job VALUES (?, ?, ?, ?, 'queued', '', 0, NULL, '', 0, ?, ?)",
            (identifier, gallery, kind, json.dumps(options), now, now),
        )
        return self.get(identifier)

    @contextlib.contextmanager
    def receive(self) -> Iterator[Path]:
        """A folder for what a job will be given; it goes unless :meth:`add` took it."""
        folder = self._folder / f"{_INCOMING}{secrets.token_hex(8)}"
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def get(self, identifier: str) -> Job:
        """A job, or a problem."""
        rows = self._state.read(f"SELECT {_COLUMNS} FROM job WHERE id = ?", (identifier,))
        if not rows:
            raise Problem(404, "no-job", "There is no such job.")
        return Job(*rows[0])

    def options(self, identifier: str) -> dict[str, Any]:
        """What a job was asked to do."""
        ((text,),) = self._state.read("SELECT options FROM job WHERE id = ?", (identifier,))
        options: dict[str, Any] = json.loads(text)
        return options

    def list(self, gallery: str | None = None) -> list[Job]:
        """Jobs, the newest first."""
        rows = self._state.read(
            f"SELECT {_COLUMNS} FROM job WHERE ?1 IS NULL OR gallery = ?1 ORDER BY created DESC, "
            "id DESC",
            (gallery,),
        )
        return [Job(*row) for row in rows]

    def change(self, identifier: str, **values: Any) -> None:
        """Set columns of a job."""
        names = ", ".join(f"{name} = ?" for name in values)
        self._state.write(
            f"UPDATE job SET {names}, changed = ? WHERE id = ?",
            (*values.values(), time.time(), identifier),
        )

    def result(self, identifier: str) -> dict[str, Any]:
        """What a job found."""
        try:
            with open(self.folder(identifier) / "result.json", encoding="utf-8") as file:
                found: dict[str, Any] = json.load(file)
        except (OSError, ValueError) as error:
            raise Problem(404, "no-result", "The job has no result, or it was deleted.") from error
        return found

    def forget(self, identifier: str) -> None:
        """Delete a job with its files."""
        shutil.rmtree(self.folder(identifier), ignore_errors=True)
        self._state.write("DELETE FROM job WHERE id = ?", (identifier,))

    def forget_old(self, seconds: float) -> None:
        """Delete jobs that ended longer ago than this."""
        for job in self.list():
            if job.state in ENDED and job.changed < time.time() - seconds:
                self.forget(job.id)


def _flush(place: Path) -> None:
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class JobRunner:
    """Runs the jobs one after the other, each in a separate process.

    Parameters
    ----------
    jobs : JobStore
        Where they are kept.
    paths : callable
        Gallery name -> path of its file.
    secret_key : bytes, str or None
        Of sealed galleries; handed to the process through its pipe, never on its command line.
    keep_seconds : float
        How long results are kept.
    hide : callable
        Sentence -> the same for clients, without paths of this machine.
    """

    def __init__(
        self,
        jobs: JobStore,
        paths: Callable[[str], Path],
        secret_key: bytes | str | None,
        keep_seconds: float,
        *,
        hide: Callable[[str], str] = str,
    ) -> None:
        self._jobs = jobs
        self._hide = hide
        self._paths = paths
        self._secret_key = secret_key
        self._keep_seconds = keep_seconds
        self._news = asyncio.Condition()
        self._process: asyncio.subprocess.Process | None = None
        self._current: str | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, with what an earlier server left unfinished."""
        for job in self._jobs.list():
            if job.state == "running":
                self._jobs.change(job.id, state="queued", stage=_WAITING)
        self._task = asyncio.create_task(self._work())

    async def close(self) -> None:
        """Stop; the job at hand goes on when a server starts again."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await self._kill()

    async def announce(self) -> None:
        """Wake everybody who waits for news."""
        async with self._news:
            self._news.notify_all()

    async def cancel(self, identifier: str) -> Job:
        """End a job; what it wrote to the gallery before stays."""
        job = self._jobs.get(identifier)
        if job.state not in ENDED:
            self._jobs.change(identifier, state="cancelled", stage="")
            if self._current == identifier:
                await self._kill()
        await self.announce()
        return self._jobs.get(identifier)

    async def cancel_all(self, gallery: str) -> None:
        """End all jobs of a gallery."""
        for job in self._jobs.list(gallery):
            await self.cancel(job.id)

    def forget_all(self, gallery: str) -> None:
        """Delete all jobs of a gallery that is no more, with what they were given and found."""
        for job in self._jobs.list(gallery):
            self._jobs.forget(job.id)

    async def follow(self, identifier: str) -> AsyncIterator[Job]:
        """A job each time that something changed, until it has ended."""
        before: Job | None = None
        while True:
            try:
                job = self._jobs.get(identifier)
            except Problem:
                return  # somebody deleted it
            if job != before:
                yield job
                before = job
            if job.state in ENDED:
                return
            async with self._news:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), 1.0)

    async def _kill(self) -> None:
        process = self._process
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _work(self) -> None:
        while True:
            try:
                await self._work_once()
            except Exception as error:  # a full disk, a job that was deleted under its process
                log.error("jobs: %s", type(error).__name__)
                await asyncio.sleep(_PAUSE)

    async def _work_once(self) -> None:
        self._jobs.forget_old(self._keep_seconds)
        queued = [job for job in reversed(self._jobs.list()) if job.state == "queued"]
        if not queued:
            async with self._news:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), 2.0)
            return
        job = queued[0]
        try:
            await self._do(job)
        except Problem as problem:  # its gallery is no more
            self._jobs.change(job.id, state="failed", stage="", detail=problem.detail)
        except asyncio.CancelledError:  # the server ends: the next one goes on, as if not begun
            with contextlib.suppress(Problem):
                if self._jobs.get(job.id).state == "running":
                    self._jobs.change(job.id, state="queued", stage=_WAITING, attempts=job.attempts)
            raise
        await self.announce()

    async def _do(self, job: Job) -> None:
        if job.attempts >= _MAX_ATTEMPTS:
            self._jobs.change(
                job.id,
                state="failed",
                detail=f"it was started {job.attempts} times and never ended",
            )
            return
        self._jobs.change(job.id, state="running", attempts=job.attempts + 1, stage="starting")
        self._current = job.id
        key = self._secret_key
        order = {
            "kind": job.kind,
            "gallery": str(self._paths(job.gallery)),
            "folder": str(self._jobs.folder(job.id)),
            "options": self._jobs.options(job.id),
            "key": key.hex() if isinstance(key, bytes) else key,
            "key_is_bytes": isinstance(key, bytes),
        }
        try:
            self._process = await start_process("_job_process")
            if self._jobs.get(job.id).state == "running":  # it may have been cancelled meanwhile
                await self._listen(self._process, order, job.id)
        finally:
            self._current = None
            await self._kill()

    async def _listen(
        self, process: asyncio.subprocess.Process, order: dict[str, Any], identifier: str
    ) -> None:
        if process.stdin is None or process.stdout is None:
            return
        said: dict[str, Any] = {}
        with contextlib.suppress(OSError):
            process.stdin.write(json.dumps(order).encode("ascii") + b"\n")
            await process.stdin.drain()
            process.stdin.close()
        async for line in process.stdout:
            with contextlib.suppress(ValueError):
                said = json.loads(line)
            if "stage" in said:
                self._jobs.change(
                    identifier, stage=said["stage"], done=said["done"], total=said["total"]
                )
                await self.announce()
        await process.wait()
        if self._jobs.get(identifier).state == "cancelled":
            return
        if said.get("end") == "done":
            self._jobs.change(identifier, state="done", stage="")
        else:
            reason = said.get("detail") if said.get("end") == "failed" else None
            self._jobs.change(
                identifier, state="failed", stage="",
                detail=self._hide(reason or "the process of the job ended before the job did"),
            )  # fmt: skip
