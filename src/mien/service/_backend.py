"""What the routes call: galleries by name, warm workers, and the functions of recognition."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from mien.errors import GalleryError, MienError
from mien.faces import Face, FaceQuality, FoundFace, PictureResult
from mien.gallery import Gallery, gallery_name, has_gallery, remove_gallery
from mien.recognition import Strangers, engine_of, load_model
from mien.service._events import Events
from mien.service._jobs import JobStore
from mien.service._keys import KeyStore
from mien.service._middleware import Metrics, RateLimit
from mien.service._pictures import Upload
from mien.service._problems import Problem
from mien.service._sessions import SessionStore
from mien.service._settings import Settings
from mien.service._state import hold_state, open_state
from mien.service._workers import WorkerPool

__all__ = ["Backend", "Tenant", "find_id"]

T = TypeVar("T")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SUFFIX = ".gallery"
_HEAD, _SMALL = 1.3, 160


class Tenant:
    """One gallery and the one thread that works on it."""

    def __init__(
        self, name: str, path: Path, gallery: Gallery, strangers: Callable[[], Strangers]
    ) -> None:
        self.name = name
        self.path = path
        self._open_strangers = strangers
        self._strangers: Strangers | None = None
        self.gallery = gallery
        self.engine = engine_of(gallery.model)
        #: What was worked out for the page and may be asked for again.
        self.notes: dict[str, Any] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"gallery-{name}")

    async def run(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Call a function in the gallery's thread; a vanished client does not stop it half-way."""
        loop = asyncio.get_running_loop()
        try:
            call = loop.run_in_executor(self._thread, lambda: function(*arguments, **named))
        except RuntimeError:  # the thread has ended: the gallery was deleted in the meantime
            raise Problem(404, "no-gallery", f"There is no gallery {self.name!r}.") from None
        return await asyncio.shield(call)

    def strangers(self) -> Strangers:
        """Who remembers people without a name; opened when it is first asked for."""
        if self._strangers is None:
            self._strangers = self._open_strangers()
        return self._strangers

    def close(self) -> None:
        """Finish what was accepted, then let the files go."""
        self._thread.shutdown(wait=True)
        if self._strangers is not None:
            self._strangers.close()
        self.gallery.close()


def find_id(gallery: Gallery, digest: str, number: int = 0) -> str:
    """Id of the face of a picture that was enrolled a moment ago."""
    stored = gallery.find_face(digest, number)
    if stored is None:
        raise Problem(409, "face-gone", "The face was deleted while it was enrolled.")
    return stored.id


class Backend:
    """Everything that a server holds while it runs."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.rate = RateLimit(settings.limits.requests_per_minute)
        self.pool = WorkerPool(settings.workers, settings.engine, settings.limits)
        self._held = hold_state(settings.state)
        self.state = open_state(settings.state)
        self.unanswered: set[tuple[str, str]] = set()
        self.keys = KeyStore(self.state)
        self.sessions = SessionStore(self.state)
        self.jobs = JobStore(self.state, settings.state / "jobs")
        self.events = Events(settings)
        self._tenants: dict[str, Tenant] = {}
        self._going: set[str] = set()
        self._lock = threading.Lock()

    async def start(self) -> None:
        """Start the workers and open the gallery that was named."""
        await self.pool.start()
        if not self._is_folder:
            self.tenant(self.names()[0])

    async def close(self) -> None:
        """Finish accepted writes, then end."""
        await self.pool.close()
        await self.events.close()
        with self._lock:
            tenants, self._tenants = list(self._tenants.values()), {}
        for tenant in tenants:
            await asyncio.to_thread(tenant.close)
        self.state.close()
        os.close(self._held)

    # Galleries.

    @property
    def only_gallery(self) -> str | None:
        """The name of the gallery of a server that serves one; None where it is a folder."""
        return None if self._is_folder else self.names()[0]

    @property
    def _is_folder(self) -> bool:
        return self.settings.galleries.is_dir()

    def names(self) -> list[str]:
        """Names of all galleries."""
        place = self.settings.galleries
        if not self._is_folder:
            return [gallery_name(place)]
        return sorted(path.name.removesuffix(_SUFFIX) for path in place.glob(f"*{_SUFFIX}"))

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise Problem(
                422, "invalid-name",
                "A gallery's name has letters, digits, '.', '_' and '-', at most 64 of them.",
            )  # fmt: skip
        place = self.settings.galleries
        if self._is_folder:
            return place / f"{name}{_SUFFIX}"
        if name != self.names()[0]:
            raise Problem(404, "no-gallery", f"There is no gallery {name!r}.")
        return place

    def hide_places(self, text: str) -> str:
        """A sentence for clients: galleries by their names, and no folder of this machine."""
        place, name = self.settings.galleries, self.only_gallery
        if name is not None:
            text = text.replace(str(place.absolute()), name).replace(str(place), name)
        parents = [folder.parent for folder in self.settings.photos]
        for folder in (place, self.settings.state, place.parent, *parents):
            for path in (folder.absolute(), folder):
                if len(path.parts) > 1:
                    text = text.replace(f"{path}{os.sep}", "")
        return text

    def tenant(self, name: str) -> Tenant:
        """The open gallery of this name."""
        path = self._path(name)
        with self._lock:
            if name not in self._tenants:
                if name in self._going or not has_gallery(path):
                    raise Problem(404, "no-gallery", f"There is no gallery {name!r}.")
                gallery = self._open(path)
                self._tenants[name] = self._hold(name, path, gallery)
            return self._tenants[name]

    def _hold(self, name: str, path: Path, gallery: Gallery) -> Tenant:
        """A tenant, which remembers strangers for as long as the server was told."""

        def remember() -> Strangers:
            days, key = self.settings.strangers_days, self.settings.secret_key
            place = self._strangers_path(name) if days else None
            if place is not None:
                place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            sealed = key if gallery.sealed else None
            return Strangers(gallery.model, place, key=sealed, fpir=self.settings.fpir, days=days)

        return Tenant(name, path, gallery, remember)

    def _strangers_path(self, name: str) -> Path:
        return self.settings.state / "strangers" / f"{name}{_SUFFIX}"

    def _open(self, path: Path) -> Gallery:
        key = self.settings.secret_key
        try:
            return Gallery.open(path, key=key)
        except GalleryError:
            if key is None:
                raise
            return Gallery.open(path)

    def create(self, name: str, engine: str | None) -> Tenant:
        """Make a gallery in the folder of galleries."""
        if not self._is_folder:
            raise Problem(
                409,
                "one-gallery",
                "This server serves one gallery; start it with a folder to make more.",
            )
        path = self._path(name)
        with self._lock:
            if name in self._tenants or name in self._going or path.exists():
                raise Problem(409, "gallery-exists", f"There is a gallery {name!r} already.")
            model = load_model(None, engine or self.settings.engine)
            gallery = Gallery.create(path, model, key=self.settings.secret_key)
            self._tenants[name] = self._hold(name, path, gallery)
            return self._tenants[name]

    def delete(self, name: str) -> None:
        """Delete a gallery with everybody in it; its bytes are overwritten first."""
        if not self._is_folder:
            raise Problem(409, "one-gallery", "The only gallery of a server cannot be deleted.")
        path = self._path(name)
        tenant = self.tenant(name)
        with self._lock:
            if self._tenants.get(name) is not tenant:
                raise Problem(404, "no-gallery", f"There is no gallery {name!r}.")
            del self._tenants[name]
            self._going.add(name)  # nobody opens it while it is taken away
        try:
            sealed = tenant.gallery.sealed
            tenant.close()
            key = self.settings.secret_key if sealed else None
            remove_gallery(path, key=key)
            if self._strangers_path(name).exists():
                remove_gallery(self._strangers_path(name), key=key)
            self.keys.expire(name)
        finally:
            with self._lock:
                self._going.discard(name)

    # Pictures.

    async def analyse(
        self, picture: Upload, engine: str, *, max_faces: int | None = None, admitted: bool = False
    ) -> PictureResult:
        """Faces of one picture, found by a worker."""
        self.metrics.waiting.set(self.pool.waiting)
        limits = self.settings.limits
        header = {
            "name": picture.name,
            "engine": engine,
            "max_faces": min(max_faces or limits.faces, limits.faces),
        }
        answer = await self.pool.ask(header, picture.content, admitted=admitted)
        self.metrics.workers_ended.set(self.pool.ended)
        said = answer.header
        faces = said["faces"]
        self.metrics.faces.inc(len(faces))
        vectors = np.frombuffer(answer.payload[: said["vector_bytes"]], "<f4")
        vectors = vectors.reshape(len(faces), len(vectors) // max(len(faces), 1))
        found = [
            FoundFace(
                Face(one["box"], one["landmarks"], one["confidence"]),
                vector,
                None if one["quality"] is None else FaceQuality(**one["quality"]),
            )
            for one, vector in zip(faces, vectors, strict=True)
        ]
        return PictureResult(
            Path(picture.name), said["digest"], (said["height"], said["width"]), found
        )

    async def complete(
        self, picture: Upload, engine: str, cover: str
    ) -> tuple[dict[str, Any], bytes]:
        """What was completed, and the picture as PNG."""
        header = {"task": "complete", "name": picture.name, "engine": engine, "cover": cover}
        answer = await self.pool.ask(header, picture.content)
        return answer.header, answer.payload

    async def convert(
        self,
        picture: Upload,
        *,
        part: list[float] | None = None,
        max_side: int = 2048,
        quality: int = 88,
    ) -> tuple[dict[str, Any], bytes]:
        """A picture, or a part of it, as JPEG, by a worker.

        Parameters
        ----------
        picture : Upload
            What to decode.
        part : list of float or None
            Left, top, width, height.
        max_side : int
            No side is longer.
        quality : int
            Of the JPEG.
        """
        header = {
            "name": picture.name, "task": "jpeg", "part": part, "max_side": max_side,
            "quality": quality,
        }  # fmt: skip
        answer = await self.pool.ask(header, picture.content)
        return answer.header, answer.payload

    async def draw_head(
        self, picture: Upload, box: Sequence[float] | np.ndarray, tenant: Tenant
    ) -> bytes | None:
        """The head around a box as a small JPEG; None where the gallery keeps no thumbnails."""
        if not await tenant.run(lambda: tenant.gallery.policy.thumbnails):
            return None
        left, top, width, height = (float(side) for side in box)
        side = _HEAD * max(width, height)
        part = [left + (width - side) / 2, top + (height - side) / 2, side, side]
        return (await self.convert(picture, part=part, max_side=_SMALL))[1]

    async def analyse_all(
        self, pictures: list[Upload], engine: str, *, max_faces: int | None = None
    ) -> list[PictureResult]:
        """Faces of several pictures; one that cannot be used is a result with its reason.

        As many at the same time as there are workers: others are answered in between.
        """
        with self.pool.admit():
            if len(pictures) == 1:
                return [await self._analyse_one(pictures[0], engine, max_faces, alone=True)]
            gate = asyncio.Semaphore(self.settings.workers)

            async def one(picture: Upload) -> PictureResult:
                async with gate:
                    return await self._analyse_one(picture, engine, max_faces, alone=False)

            return list(await asyncio.gather(*(one(picture) for picture in pictures)))

    async def _analyse_one(
        self, picture: Upload, engine: str, max_faces: int | None, *, alone: bool
    ) -> PictureResult:
        """Of an admitted request; the reason is an error only where the picture is ``alone``."""
        try:
            return await self.analyse(picture, engine, max_faces=max_faces, admitted=True)
        except Problem as problem:
            if problem.status >= 500 or alone:
                raise
            return PictureResult(Path(picture.name), "", (0, 0), [], problem.detail)
        except MienError as error:
            return PictureResult(Path(picture.name), "", (0, 0), [], str(error))
