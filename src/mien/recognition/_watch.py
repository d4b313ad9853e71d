"""Watch a camera and report who comes and goes."""

from __future__ import annotations

import os
from collections.abc import Iterator

from mien.faces import analyse_image, borrow_engine
from mien.gallery import Gallery
from mien.media import Camera
from mien.recognition._galleries import open_gallery
from mien.recognition._models import engine_of
from mien.recognition._strangers import Strangers
from mien.recognition._visits import VisitEvent, Visits

__all__ = ["watch"]


def watch(
    camera: Camera,
    gallery: Gallery | str | os.PathLike[str],
    *,
    name: str | None = None,
    fpir: float = 0.01,
    decide_after: int = 10,
    away: float = 5.0,
    strangers: str | os.PathLike[str] | None = None,
    days: float = 30.0,
    key: bytes | str | None = None,
    impostors: str = "lookalikes",
) -> Iterator[VisitEvent]:
    """Tell who comes and who goes, as it happens.

    Parameters
    ----------
    camera : Camera
        Where the frames come from.
    gallery : Gallery or path
        From :func:`enrol`.
    name : str or None
        Of the camera, for the events; None is its address without a password.
    fpir, decide_after, away, impostors
        As in :class:`Visits`.
    strangers : path or None
        Where people without a name are remembered; None remembers them until the end.
    days : float
        How long they are remembered.
    key : bytes, str or None
        Of a sealed gallery; strangers are then sealed as well.

    Yields
    ------
    VisitEvent
        Each when it is known.

    Examples
    --------
    >>> from mien.media import Camera
    >>> from mien.recognition import watch
    >>> for event in watch(Camera("rtsp://door.local/main"), "people.gallery"):  # doctest: +SKIP
    ...     print(event.kind, event.visit.person)
    """
    with (
        open_gallery(gallery, key=key, read_only=not isinstance(gallery, Gallery)) as opened,
        Strangers(opened.model, strangers, key=key, fpir=fpir, days=days) as unknown,
        borrow_engine(engine_of(opened.model)) as engine,
    ):
        visits = Visits(
            opened, fpir=fpir, camera=camera.name if name is None else name,
            decide_after=decide_after, away=away, strangers=unknown, impostors=impostors,
        )  # fmt: skip
        last = float("-inf")
        for frame in camera:
            if frame.seconds > last:  # a clock that is set back costs frames, not the run
                last = frame.seconds
                yield from visits.add(last, analyse_image(frame.image, engine, turns=False))
        yield from visits.finish()
