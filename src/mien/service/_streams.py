"""Live pictures: one stream per camera, whose frames are joined into visits."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from typing import Any

from mien.faces import PictureResult
from mien.recognition import Visits
from mien.service._backend import Backend, Tenant
from mien.service._pictures import Upload
from mien.service._problems import Problem

__all__ = ["Stream", "Streams"]

_MOST_WAITING = 2
_LOOK_SECONDS = 1.0


class Stream:
    """A camera.

    Parameters
    ----------
    tenant : Tenant
        The gallery that knows the people.
    visits : Visits
        Who is there.
    """

    def __init__(self, tenant: Tenant, visits: Visits) -> None:
        self.id = secrets.token_hex(12)
        self.tenant = tenant
        self.visits = visits
        self.created = self.used = time.time()
        self.frames = 0
        self.waiting = 0
        self.lock = asyncio.Lock()
        self.last = float("-inf")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "id": self.id,
            "gallery": self.tenant.name,
            "camera": self.visits.camera,
            "frames": self.frames,
            "decisions": self.visits.n_decisions,
            "present": [
                {"visit": v.id, "person": v.person, "stranger": v.stranger, "began": v.began}
                for v in list(self.visits.present)
            ],
            "created": self.created,
        }


class Streams:
    """The cameras of a server; one that sends nothing for a while has ended."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._streams: dict[str, Stream] = {}
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look after streams that fell silent."""
        self._task = asyncio.create_task(self._look())

    async def close(self) -> None:
        """End all streams; everybody present leaves."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        for stream in list(self._streams.values()):
            await self.end(stream)

    async def create(self, tenant: Tenant, options: dict[str, Any]) -> Stream:
        """A new camera."""
        limits = self._backend.settings.limits
        if len(self._streams) >= limits.streams:
            raise Problem(
                503, "too-many-streams", f"At most {limits.streams} cameras at the same time.",
                headers={"Retry-After": str(int(limits.stream_seconds) + 1)},
            )  # fmt: skip

        def make() -> Visits:
            return Visits(tenant.gallery, strangers=tenant.strangers(), **options)

        stream = Stream(tenant, await tenant.run(make))
        self._streams[stream.id] = stream
        self._backend.events.begin(stream.visits.camera)
        return stream

    def get(self, gallery: str, identifier: str) -> Stream:
        """A camera of this gallery, or a problem."""
        stream = self._streams.get(identifier)
        if stream is None or stream.tenant.name != gallery:
            raise Problem(404, "no-stream", "There is no such stream, or it has ended.")
        return stream

    def of_gallery(self, gallery: str) -> list[Stream]:
        """All cameras of a gallery."""
        return [one for one in self._streams.values() if one.tenant.name == gallery]

    async def add(
        self, stream: Stream, frames: list[Upload], seconds: float | None
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """What is on these frames, and what there is to tell."""
        if stream.waiting >= _MOST_WAITING:
            raise Problem(
                429, "frames-too-fast", "Frames come faster than they are analysed; drop some.",
                headers={"Retry-After": "1"},
            )  # fmt: skip
        stream.waiting += 1
        try:
            async with stream.lock:
                self.get(stream.tenant.name, stream.id)  # it may have ended meanwhile
                return await self._add(stream, frames, seconds)
        finally:
            stream.waiting -= 1

    async def _add(
        self, stream: Stream, frames: list[Upload], seconds: float | None
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        shown, events = [], []
        results = await self._backend.analyse_all(frames, stream.tenant.engine)
        for result in results:
            now = time.time() if seconds is None else seconds
            seconds = None if seconds is None else seconds + 1e-3
            if not now > stream.last:
                if seconds is not None:
                    raise Problem(
                        422, "frames-out-of-order",
                        f"seconds must grow from frame to frame; the last was {stream.last:g}.",
                    )  # fmt: skip
                now = stream.last + 1e-3
            stream.last, stream.used = now, time.time()
            stream.frames += 1
            said, told = await stream.tenant.run(_step, stream.visits, now, result)
            shown.append(said)
            events += told
        for event in events:
            self._backend.events.send(stream.tenant.name, event)
        return shown, events

    async def end(self, stream: Stream) -> list[dict[str, Any]]:
        """End a camera; everybody present leaves."""
        self._streams.pop(stream.id, None)
        async with stream.lock:
            events = await stream.tenant.run(stream.visits.finish)
        told = [event.to_dict() for event in events]
        for event in told:
            self._backend.events.send(stream.tenant.name, event)
        return told

    async def forget(self, gallery: str) -> None:
        """End all cameras of a gallery that is deleted."""
        for stream in self.of_gallery(gallery):
            await self.end(stream)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            oldest = time.time() - self._backend.settings.limits.stream_seconds
            for stream in list(self._streams.values()):
                if stream.used < oldest:
                    with contextlib.suppress(Exception):
                        await self.end(stream)


def _step(
    visits: Visits, seconds: float, result: PictureResult
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One frame: everybody on it, and the events; in the gallery's thread."""
    events = visits.add(seconds, result.faces)
    faces = [
        {
            "box": [round(float(value), 1) for value in found.face.box],
            "visit": None if visit is None else visit.id,
            "person": None if visit is None else visit.person,
            "stranger": None if visit is None else visit.stranger,
        }
        for found, visit in zip(result.faces, visits.faces_now(result.faces), strict=True)
    ]
    told = [event.to_dict() for event in events]
    return {"seconds": seconds, "faces": faces, "error": result.error}, told
