"""Who came and who went: frames that arrive one by one, joined into tracks and visits.

A track is a face that is followed from frame to frame. Its faces are one probe, which is decided
once: when there are enough of them, or when the track ends. Tracks of one person that follow each
other within a few seconds are one visit, which is reported once when it begins and once when it
ends.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mien._core.text import finite_or_none
from mien.errors import InputError
from mien.faces import FoundFace, face_joiner
from mien.gallery import Gallery, Identification
from mien.recognition._models import engine_of
from mien.recognition._people import check_rate
from mien.recognition._strangers import Strangers

__all__ = ["Visit", "VisitEvent", "Visits"]

_UNITS = 25.0  # frames per second for which motion is limited; see faces.face_joiner
_TRACK_GAP = 1.0
_MOST_FACES = 64


@dataclass(eq=False)
class Visit:
    """Somebody in front of the camera.

    Attributes
    ----------
    id : str
        Of this visit, the same in all of its events.
    person : str or None
        Who it is; None is unknown.
    stranger : int or None
        The number of somebody unknown, the same whenever they come; None where strangers are not
        remembered.
    began, last : float
        When the first and the last face was seen, in seconds.
    n_faces : int
        How many faces were seen.
    answer : Identification
        The decision, by all faces that were there when it was made.
    best : FoundFace
        The face of the best quality so far.
    """

    id: str
    person: str | None
    stranger: int | None
    began: float
    last: float
    n_faces: int
    answer: Identification = field(repr=False)
    best: FoundFace = field(repr=False)


@dataclass(frozen=True)
class VisitEvent:
    """Something to tell: ``seen``, ``unknown seen`` or ``left``.

    Attributes
    ----------
    kind : {"seen", "unknown seen", "left"}
        Somebody known came, somebody unknown came, or somebody went.
    time : float
        When: of the first face, or of the last one.
    visit : Visit
        Of whom.
    camera : str
        Where.
    """

    kind: str
    time: float
    visit: Visit
    camera: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; no template."""
        visit, answer = self.visit, self.visit.answer
        quality = visit.best.quality
        return {
            "event": self.kind,
            "time": self.time,
            "camera": self.camera,
            "visit": visit.id,
            "person": visit.person,
            "stranger": visit.stranger,
            "log_ratio": finite_or_none(answer.log_ratio),
            "threshold": finite_or_none(answer.threshold),
            "probability": answer.probability,
            "promised": answer.promised,
            "faces": visit.n_faces,
            "began": visit.began,
            "seconds": round(visit.last - visit.began, 3),
            "box": [round(float(value), 1) for value in visit.best.face.box],
            "quality": None if quality is None else float(quality.score),
        }


@dataclass(eq=False)
class _Track:
    """A face that is followed."""

    began: float
    last: float
    found: list[FoundFace]
    latest: FoundFace
    met: set[int] = field(default_factory=set)
    n_faces: int = 0
    visit: Visit | None = None

    @property
    def vectors(self) -> np.ndarray:
        return np.stack([one.vector for one in self.found])


class Visits:
    """Frames in, events out.

    Parameters
    ----------
    gallery : Gallery
        Of the people who are known.
    fpir : float
        Maximum share of visits of unknown people that may wrongly get a name.
    camera : str
        Name that the events bear.
    decide_after : int
        Faces of a track after which it is decided who it is; 10 are two seconds at five frames a
        second. A track that ends before is decided then.
    min_faces : int
        Minimum number of faces of a track; shorter ones count as nothing.
    away : float
        Seconds without a face after which a visit has ended.
    strangers : Strangers or None
        Who remembers people without a name.
    impostors : {"lookalikes", "strangers"}
        Who the unknown are expected to be.

    Examples
    --------
    >>> from mien.recognition import Visits
    >>> visits = Visits(gallery, camera="door")                             # doctest: +SKIP
    >>> for seconds, faces in frames:                                       # doctest: +SKIP
    ...     for event in visits.add(seconds, faces):
    ...         print(event.kind, event.visit.person)
    """

    def __init__(
        self,
        gallery: Gallery,
        *,
        fpir: float = 0.01,
        camera: str = "",
        decide_after: int = 10,
        min_faces: int = 3,
        away: float = 5.0,
        strangers: Strangers | None = None,
        impostors: str = "lookalikes",
    ) -> None:
        check_rate("fpir", fpir)
        if not 1 <= min_faces <= decide_after <= _MOST_FACES:
            raise InputError(
                f"1 <= min_faces <= decide_after <= {_MOST_FACES} must hold; got {min_faces} "
                f"and {decide_after}"
            )
        if not away > 0:
            raise InputError(f"away must be greater than 0 seconds; got {away!r}")
        self.camera = camera
        self.n_decisions = 0
        self._gallery = gallery
        self._fpir = fpir
        self._decide_after = decide_after
        self._min_faces = min_faces
        self._away = away
        self._strangers = strangers
        self._impostors = impostors
        self._joiner = face_joiner(engine_of(gallery.model), _TRACK_GAP * _UNITS)
        self._tracks: dict[int, _Track] = {}
        self._visits: list[Visit] = []
        self._now = float("-inf")
        self.present: list[Visit] = self._visits

    def add(self, seconds: float, faces: Sequence[FoundFace]) -> list[VisitEvent]:
        """What there is to tell after one more frame.

        Parameters
        ----------
        seconds : float
            Time of the frame; later than that of the frame before.
        faces : list of FoundFace
            Everybody on it, from ``analyse_image``.
        """
        if not seconds > self._now:
            raise InputError(
                f"frames must come in the order of their times; got {seconds:g} after {self._now:g}"
            )
        self._now = seconds
        boxes = np.array([one.face.box for one in faces], dtype=np.float64).reshape(-1, 4)
        corners = np.column_stack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]])
        vectors = np.stack([one.vector for one in faces]) if faces else np.zeros((0, 1))
        numbers = self._joiner.step(_UNITS * seconds, corners, vectors).tolist()
        for number, found in zip(numbers, faces, strict=True):
            track = self._tracks.setdefault(number, _Track(seconds, seconds, [], found))
            track.last, track.latest = seconds, found
            track.n_faces += 1
            track.met.update(set(numbers) - {number})
            if len(track.found) < _MOST_FACES:
                track.found.append(found)
            if track.visit is not None:
                track.visit.last = seconds
                track.visit.n_faces += 1
                track.visit.best = _better(track.visit.best, found)
        return self._tell(seconds)

    def faces_now(self, faces: Sequence[FoundFace]) -> list[Visit | None]:
        """The visit of each face of the last frame; None where it is not decided yet."""
        known = {id(track.latest): track.visit for track in self._tracks.values()}
        return [known.get(id(face)) for face in faces]

    def finish(self) -> list[VisitEvent]:
        """Events at the end: everybody present leaves."""
        return self._tell(float("inf"))

    def _tell(self, now: float) -> list[VisitEvent]:
        events = []
        for number, track in list(self._tracks.items()):
            over = now - track.last > _TRACK_GAP
            enough = track.n_faces >= self._decide_after
            if track.visit is None and (enough or (over and track.n_faces >= self._min_faces)):
                events += self._decide(number, track)
            if over:
                del self._tracks[number]
        for visit in list(self._visits):
            if now - visit.last > self._away:
                self._visits.remove(visit)
                events.append(VisitEvent("left", visit.last, visit, self.camera))
        return events

    def _decide(self, number: int, track: _Track) -> list[VisitEvent]:
        """Who a track is: somebody who is there already, or a visit that begins."""
        met = {k: one for k, one in self._tracks.items() if k in track.met and one.n_faces > 1}
        probes = [track.vectors, *(one.vectors for one in met.values())]
        answer = self._gallery.identify(
            probes,
            fpir=self._fpir,
            top=3,
            apart=[(0, k) for k in range(1, len(probes))],
            impostors=self._impostors,
        )[0]
        self.n_decisions += 1
        beside = [one.visit for one in met.values() if one.visit is not None]
        stranger = None
        if answer.person is None and self._strangers is not None:
            others = frozenset(one.stranger for one in beside if one.stranger is not None)
            stranger = self._strangers.number(track.vectors, apart=others)
        best = track.found[0]
        for found in track.found[1:]:
            best = _better(best, found)
        for visit in self._visits:
            same = (visit.person, visit.stranger) == (answer.person, stranger)
            if same and (answer.person or stranger) and visit not in beside:
                visit.last = max(visit.last, track.last)
                visit.n_faces += track.n_faces
                visit.best = _better(visit.best, best)
                track.visit = visit
                return []
        track.visit = Visit(
            uuid.uuid4().hex, answer.person, stranger, track.began, track.last, track.n_faces,
            answer, best,
        )  # fmt: skip
        self._visits.append(track.visit)
        kind = "unknown seen" if answer.person is None else "seen"
        return [VisitEvent(kind, track.began, track.visit, self.camera)]


def _better(first: FoundFace, second: FoundFace) -> FoundFace:
    def rank(one: FoundFace) -> tuple[float, float]:
        return (0.0 if one.quality is None else float(one.quality.score), one.face.area)

    return second if rank(second) > rank(first) else first
