"""Who is on these pictures, or in this video?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.text import count, finite_or_none
from mien._core.types import PathLike
from mien.errors import DataError
from mien.faces import (
    FoundFace,
    PictureResult,
    VideoResult,
    analyse_pictures,
    analyse_video,
    annotate,
)
from mien.gallery import Gallery, Identification
from mien.media import caption_pictures, gather_media, read_image
from mien.recognition._galleries import open_gallery
from mien.recognition._models import engine_of
from mien.recognition._people import check_rate

__all__ = [
    "IdentifiedFace",
    "IdentifiedPicture",
    "identify",
    "identify_result",
    "iter_identified",
]

KNOWN, UNKNOWN = "#009e73", "#b0b0b0"
_SHOWN_TRACKS = 24
_COLUMNS = 6


@dataclass(frozen=True)
class IdentifiedFace:
    """A face, or a track of a video, and who it is.

    Attributes
    ----------
    person : str or None
        None is "unknown".
    log_ratio, probability, threshold, promised, bound, n_comparisons, candidates
        As in :class:`mien.gallery.Identification`; of the person that was assigned, or of the best
        candidate.
    found : FoundFace
        The face; of a track, the one of the best quality.
    frames : tuple of int
        First frame, last frame and number of faces of a track; empty for a picture.
    rate : float
        Frames per second of the video; 0 if unknown.
    """

    person: str | None
    log_ratio: float
    probability: float
    threshold: float
    promised: bool | str
    candidates: list[tuple[str, float]]
    found: FoundFace = field(repr=False)
    frames: tuple[int, ...] = ()
    bound: float = float("nan")
    n_comparisons: int = 0
    rate: float = 0.0

    @property
    def times(self) -> tuple[float, float] | None:
        """Seconds at which a track begins and ends; None for a picture, or if unknown."""
        return (self.frames[0] / self.rate, self.frames[1] / self.rate) if self.rate else None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; no template."""
        return {
            "person": self.person,
            "log_ratio": finite_or_none(self.log_ratio),
            "probability": self.probability,
            "threshold": finite_or_none(self.threshold),
            "promised": self.promised,
            "bound": finite_or_none(self.bound),
            "comparisons": self.n_comparisons,
            "candidates": [[name, ratio] for name, ratio in self.candidates],
            "box": [round(float(value), 1) for value in self.found.face.box],
            **({"frames": list(self.frames)} if self.frames else {}),
            **({"seconds": [round(t, 2) for t in self.times]} if self.times else {}),
        }


@dataclass(frozen=True)
class IdentifiedPicture:
    """A picture or a video with everybody on it, the largest face (the longest track) first.

    Attributes
    ----------
    path : Path
        The file.
    faces : list of IdentifiedFace
        Nobody is named twice in one picture, nor in one frame.
    error : str or None
        Why it could not be used.
    size : (int, int)
        Height and width in which the boxes are; a very large JPEG is analysed at a reduced size.
    note : str
        What else is to be said, such as that some of very many faces were left out.
    """

    path: Path
    faces: list[IdentifiedFace]
    error: str | None = None
    size: tuple[int, int] = (0, 0)
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        faces = [face.to_dict() for face in self.faces]
        told = {"file": str(self.path), "faces": faces, "error": self.error}
        return told | ({"note": self.note} if self.note else {})

    def draw(self) -> np.ndarray:
        """The picture with boxes and names; of a video, one face a track. (h, w, 3) uint8."""
        labels = [face.person or "unknown" for face in self.faces]
        if self.faces and self.faces[0].frames:
            return self._draw_tracks(labels)
        image = read_image(self.path, colour=True)
        colours = [KNOWN if face.person else UNKNOWN for face in self.faces]
        return annotate(image, [face.found for face in self.faces], labels, colours)

    def _draw_tracks(self, labels: list[str]) -> np.ndarray:
        """One face a track, in rows; the longest tracks where there are many."""
        blank = np.full((112, 112, 3), 255, np.uint8)
        crops = [blank if face.found.crop is None else face.found.crop for face in self.faces]
        crops, labels = crops[:_SHOWN_TRACKS], labels[:_SHOWN_TRACKS]
        columns = min(_COLUMNS, len(crops))
        while len(crops) % columns:
            crops, labels = [*crops, blank], [*labels, ""]
        title = f"{self.path.name}: {count(len(self.faces), 'track')}"
        rows = [
            caption_pictures(
                crops[k : k + columns], labels[k : k + columns], "" if k else title, side=150
            )
            for k in range(0, len(crops), columns)
        ]  # fmt: skip
        return np.vstack(rows)


def _show(
    found: Sequence[Identification],
    faces: Sequence[FoundFace],
    frames: Sequence[tuple[int, ...]] | None = None,
    rate: float = 0.0,
) -> list[IdentifiedFace]:
    return [
        IdentifiedFace(
            one.person, one.log_ratio, one.probability, one.threshold, one.promised,
            one.candidates, face, () if frames is None else frames[i], one.bound,
            one.n_comparisons, rate,
        )
        for i, (one, face) in enumerate(zip(found, faces, strict=True))
    ]  # fmt: skip


def identify_result(
    result: PictureResult, gallery: Gallery, fpir: float, top: int, impostors: str = "lookalikes"
) -> IdentifiedPicture:
    """Name the faces of a picture that was analysed already; what was said of them holds."""
    if result.error is not None or not result.faces:
        return IdentifiedPicture(result.path, [], result.error, result.size)
    vectors = np.stack([face.vector for face in result.faces])
    found = gallery.identify(
        vectors, fpir=fpir, top=top, apart="all", impostors=impostors,
        faces=[(result.digest, k) if result.digest else None for k in range(len(vectors))],
    )  # fmt: skip
    shown = _show(found, result.faces)
    return IdentifiedPicture(result.path, shown, None, result.size, result.note)


def _identify_video(
    video: VideoResult, gallery: Gallery, fpir: float, top: int, impostors: str
) -> IdentifiedPicture:
    """Every track as one set of pictures; two tracks with a frame in common are two people."""
    tracks, frames, vectors = video.tracks, video.frames, video.vectors
    numbers, counts = np.unique(tracks[tracks >= 0], return_counts=True)
    numbers = numbers[np.argsort(-counts, kind="stable")]
    if numbers.size == 0:
        return IdentifiedPicture(video.path, [])
    rows = [np.flatnonzero(tracks == number) for number in numbers]
    seen = [set(frames[mine].tolist()) for mine in rows]
    apart = [(i, j) for i in range(len(rows)) for j in range(i) if seen[i] & seen[j]]
    found = gallery.identify(
        [vectors[mine] for mine in rows], fpir=fpir, top=top, apart=apart, impostors=impostors
    )
    best = [video.detections[_best_row(video, mine)].found for mine in rows]
    spans = [(int(frames[m].min()), int(frames[m].max()), len(m)) for m in rows]
    return IdentifiedPicture(video.path, _show(found, best, spans, video.rate))


def _best_row(video: VideoResult, rows: np.ndarray) -> int:
    """The detection of the best quality, or the largest where none is known."""

    def rank(row: int) -> tuple[float, float]:
        found = video.detections[row].found
        return (0.0 if found.quality is None else float(found.quality.score), found.face.area)

    return max(rows.tolist(), key=rank)


def iter_identified(
    photos: PathLike | Sequence[PathLike],
    gallery: Gallery | PathLike,
    *,
    fpir: float = 0.01,
    top: int = 3,
    every: int = 5,
    n_jobs: int = 2,
    key: bytes | str | None = None,
    impostors: str = "lookalikes",
    videos: bool = True,
) -> Iterator[IdentifiedPicture]:
    """As :func:`identify`, one picture after the other: for more than fit into memory.

    With ``videos=False`` those are left out.
    """
    check_rate("fpir", fpir)
    places = [photos] if isinstance(photos, (str, os.PathLike)) else list(photos)
    found = gather_media(places)
    pictures, left_out = found.pictures, found.left_out
    films = found.videos if videos else []
    if not pictures and not films:
        named = ", ".join(repr(os.fspath(place)) for place in places)
        skipped = (
            f"; left out: {count(len(left_out), 'file')} ({left_out[0][1]})" if left_out else ""
        )
        raise DataError(f"no picture and no video was found in {named}{skipped}")
    with open_gallery(gallery, key=key, read_only=not isinstance(gallery, Gallery)) as opened:
        engine = engine_of(opened.model)
        if pictures:
            for result in analyse_pictures(pictures, engine, n_jobs=n_jobs):
                yield identify_result(result, opened, fpir, top, impostors)
        for path in films:
            try:
                video = analyse_video(path, engine, every=every, n_jobs=n_jobs, keep_crops=True)
            except DataError as error:  # a damaged video does not cost the others
                yield IdentifiedPicture(path, [], str(error))
                continue
            yield _identify_video(video, opened, fpir, top, impostors)
        for path, reason in left_out:
            yield IdentifiedPicture(path, [], reason)


def identify(
    photos: PathLike | Sequence[PathLike],
    gallery: Gallery | PathLike,
    *,
    fpir: float = 0.01,
    top: int = 3,
    every: int = 5,
    n_jobs: int = 2,
    key: bytes | str | None = None,
    impostors: str = "lookalikes",
) -> list[IdentifiedPicture]:
    """Name everybody on pictures or in videos, or say that it is nobody in the gallery.

    Parameters
    ----------
    photos : path, or list of paths
        Pictures, folders of pictures, or videos.
    gallery : Gallery or path
        From :func:`enrol`.
    fpir : float
        Maximum share of unknown faces that may wrongly get a name. A name also needs a ratio above
        0, whatever the rate allows: nobody is named against the evidence.
    top : int
        Number of candidates to show per face.
    every : int
        Analyse every N-th frame of a video.
    n_jobs : int
        Pictures that are worked on at the same time.
    key : bytes, str or None
        Of a sealed gallery.
    impostors : {"lookalikes", "strangers"}
        Who unknown faces are expected to be: people who look like those enrolled, as family or
        colleagues, which is careful, or anybody.

    Returns
    -------
    list of IdentifiedPicture
        In order, videos last. No two faces of one picture get one name; a track of a video is one
        probe with all its faces.

    Examples
    --------
    >>> from mien.recognition import identify
    >>> for picture in identify("party.jpg", "people.gallery"):             # doctest: +SKIP
    ...     print(picture.path, [face.person for face in picture.faces])
    """
    return list(
        iter_identified(
            photos, gallery, fpir=fpir, top=top, every=every, n_jobs=n_jobs, key=key,
            impostors=impostors,
        )
    )  # fmt: skip
