"""From photographs with names to a gallery."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mien._core.types import PathLike
from mien.distributed import analyse, workers_of
from mien.errors import InputError, MienError
from mien.faces import PictureResult, analyse_image, analyse_pictures, load_engine
from mien.gallery import FaceModel, Gallery
from mien.media import encode_jpeg, open_frames
from mien.recognition._galleries import open_or_create
from mien.recognition._models import engine_of
from mien.recognition._people import (
    Failure,
    LabelledPicture,
    choose_face,
    count_reasons,
    digest_file,
    frame_digest,
    label_pictures,
    list_people,
)

__all__ = ["Enrolment", "analyse_labelled", "enrol"]

_BATCH = 32


@dataclass(frozen=True)
class Enrolment:
    """What became of the pictures.

    Attributes
    ----------
    gallery : Path
        The file.
    people : dict of str to int
        Faces that were added, by name.
    pictures : int
        Pictures that were looked through.
    added : int
        Faces that were added.
    already : int
        Pictures that were in the gallery before.
    failures : list of Failure
        Pictures that gave no template, each with its reason.
    first_change : int or None
        Number of the first change in the gallery's history: undoing back to it undoes the
        enrolment. None where nothing was added.
    """

    gallery: Path
    people: dict[str, int]
    pictures: int
    added: int
    already: int
    failures: list[Failure] = field(default_factory=list)
    first_change: int | None = None

    @property
    def reasons(self) -> dict[str, int]:
        """Failures to acquire, counted by reason."""
        return count_reasons(self.failures)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "gallery": str(self.gallery),
            "pictures": self.pictures,
            "added": self.added,
            "already": self.already,
            "people": self.people,
            "failures": [
                {"file": str(f.path), "reason": f.reason, "detail": f.detail} for f in self.failures
            ],
            "failures by reason": self.reasons,
            "first change": self.first_change,
        }


def enrol(
    photos: PathLike | Sequence[PathLike],
    gallery: Gallery | PathLike,
    *,
    person: str | None = None,
    model: FaceModel | PathLike | None = None,
    engine: str | None = None,
    min_quality: float = 0.0,
    n_jobs: int = 2,
    key: bytes | str | None = None,
    scheduler: Any = None,
) -> Enrolment:
    """Put the people of a folder, or of a table, into a gallery.

    Parameters
    ----------
    photos : path, or list of path
        A folder with one folder per person, or a CSV file with the columns ``file`` and
        ``person``; what :func:`cluster` wrote, also with folders renamed, faces deleted or moved.
        With ``person``: pictures of that person, or folders of them.
    gallery : Gallery or path
        The gallery; created if it does not exist.
    person : str or None
        Who is on all pictures.
    model : FaceModel, path or None
        For a new gallery: from :func:`adapt`; None takes the shipped one.
    engine : {"sface", "dlib", "sface+dlib"} or None
        For a new gallery; None is the model's, or "sface". A gallery keeps its engine.
    min_quality : float
        Refuse faces whose quality is below this, between 0 and 1.
    n_jobs : int
        Pictures that are worked on at the same time.
    key : bytes, str or None
        Of a sealed gallery.
    scheduler : str, distributed.Client or None
        Workers of Dask that find the faces: the address of a scheduler, ``"local"`` for workers of
        this machine, or a client. The gallery is written here.

    Returns
    -------
    Enrolment

    Notes
    -----
    A picture is known by the SHA-256 of its file: one that is in the gallery is not analysed
    again, so an interrupted run goes on where it stopped, and a second one adds nothing. A picture
    with several faces is refused unless the box of the largest has at least twice the area of the
    next. A picture that is in the folders of two people is refused for the second. In what
    :func:`cluster` wrote every picture comes with the box of a face: that face is enrolled, so
    group photographs serve everybody on them, and the folder ``unsorted`` is left out.

    Examples
    --------
    >>> from mien.recognition import enrol
    >>> enrol("photos", "people.gallery").added                             # doctest: +SKIP
    55
    """
    listed, failures, root = _list(photos, person)
    n_pictures = len(listed) + len(failures)
    with (
        open_or_create(gallery, model=model, engine=engine, key=key) as opened,
        workers_of(scheduler) as client,
    ):
        todo, already, refused = _leave_out_known(listed, opened)
        failures += refused
        before = max((change.number for change in opened.history(1)), default=0)
        people: dict[str, int] = {}
        owners: dict[Any, str] = {}
        batch: list[tuple[LabelledPicture, PictureResult, int]] = []
        results: Iterable[tuple[LabelledPicture, PictureResult]] = ()
        if todo:  # an engine takes a while to load
            keep = opened.policy.thumbnails
            results = analyse_labelled(
                todo, engine_of(opened.model), n_jobs, client, keep_crops=keep
            )
        for picture, result in results:
            chosen = choose_face(result, min_quality=min_quality, box=picture.box)
            if isinstance(chosen, Failure):
                failures.append(chosen)
                continue
            number = next(k for k, face in enumerate(result.faces) if face is chosen)
            known = _ask_known(opened, picture, result.digest, number, owners)
            if isinstance(known, Failure):
                failures.append(known)
            elif known:
                already += 1
            else:
                batch.append((picture, result, number))
            if len(batch) == _BATCH:
                _store(opened, batch, root, people)
                batch = []
        _store(opened, batch, root, people)
        # The people calibrate the gallery; what they say is kept in it.
        _ = opened.calibration
        path = opened.path
        made = [change.number for change in opened.history() if change.number > before]
    added = sum(people.values())
    first = min(made, default=None)
    return Enrolment(path, people, n_pictures, added, already, failures, first)


def _list(
    photos: PathLike | Sequence[PathLike], person: str | None
) -> tuple[list[LabelledPicture], list[Failure], Path]:
    """What is to be enrolled, what cannot be, and the folder from which paths are told."""
    places = [photos] if isinstance(photos, (str, os.PathLike)) else list(photos)
    if person is not None:
        return *label_pictures(places, person), Path()
    if len(places) != 1:
        raise InputError(
            f"{len(places)} places were given and nobody is named: give one folder with a folder "
            "per person, or the name of the person on all pictures with --person"
        )
    place = Path(places[0])
    return *list_people(place), place if place.is_dir() else place.parent


def analyse_labelled(
    todo: list[LabelledPicture],
    engine: str,
    n_jobs: int,
    client: Any = None,
    *,
    keep_crops: bool = False,
) -> Iterator[tuple[LabelledPicture, PictureResult]]:
    """Every picture once, however many of its faces have a name; then the frames of videos."""
    pictures: dict[Path, list[LabelledPicture]] = {}
    frames: dict[Path, list[LabelledPicture]] = {}
    for one in todo:
        kind = pictures if one.frame is None else frames
        kind.setdefault(one.path.resolve() if one.box else one.path, []).append(one)
    shown = [mine[0].path for mine in pictures.values()]
    results: Iterable[PictureResult] = ()
    if shown and client is None:
        results = analyse_pictures(shown, engine, n_jobs=n_jobs, keep_crops=keep_crops)
    elif shown:
        results = analyse(shown, engine, client=client, keep_crops=keep_crops)
    for mine, result in zip(pictures.values(), results, strict=True):
        for one in mine:
            yield one, result
    for video, mine in frames.items():
        yield from _analyse_frames(video, mine, engine, keep_crops)


def _analyse_frames(
    video: Path, todo: list[LabelledPicture], engine: str, keep_crops: bool
) -> Iterator[tuple[LabelledPicture, PictureResult]]:
    """The frames of a video on which somebody has a name."""
    wanted: dict[int, list[LabelledPicture]] = {}
    for one in todo:
        wanted.setdefault(one.frame or 0, []).append(one)
    reason = f"{str(video)!r} has no such frame"
    try:
        digest, loaded = digest_file(video), load_engine(engine)
        for frame in open_frames(video, 1).frames:
            for one in (mine := wanted.pop(frame.number, [])):
                name = frame_digest(digest, frame.number)
                if one is mine[0]:
                    found = analyse_image(frame.image, loaded, keep_crops=keep_crops)
                height, width = frame.image.shape[:2]
                yield one, PictureResult(video, name, (height, width), found)
            if not wanted:
                break
    except MienError as error:
        reason = str(error)
    for one in (one for mine in wanted.values() for one in mine):
        yield one, PictureResult(video, "", (0, 0), [], f"frame {one.frame}: {reason}")


def _leave_out_known(
    listed: list[LabelledPicture], gallery: Gallery
) -> tuple[list[LabelledPicture], int, list[Failure]]:
    """Pictures that are new, how many are known, and those that two people claim."""
    todo: list[LabelledPicture] = []
    refused: list[Failure] = []
    owner: dict[str, str] = {}
    already = 0
    for picture in listed:
        if picture.box is not None:  # another face of the picture may be known
            todo.append(picture)
            continue
        digest = digest_file(picture.path)
        if digest is None:  # the analysis says why
            todo.append(picture)
            continue
        first = owner.get(digest)
        if first is not None and first != picture.person:
            detail = f"the same file is there as {first!r}"
            refused.append(Failure(picture.path, "two names", detail))
        elif first is not None or gallery.contains(digest):
            already += 1
        else:
            todo.append(picture)
        owner.setdefault(digest, picture.person)
    return todo, already, refused


def _ask_known(
    gallery: Gallery, picture: LabelledPicture, digest: str, number: int, owners: dict[Any, str]
) -> Failure | bool:
    """Whether a face of a picture is there already; or that it has another name."""
    if picture.box is None:  # was asked before the picture was looked at
        return False
    there = gallery.find_face(digest, number)
    person = there.person if there is not None else owners.get((digest, number))
    owners[digest, number] = person or picture.person
    if person is not None and person != picture.person:
        detail = f"this face is {person!r} already: `mien people rename` or `merge` changes it"
        return Failure(picture.path, "two names", detail)
    return person is not None


def _store(
    gallery: Gallery,
    batch: list[tuple[LabelledPicture, PictureResult, int]],
    root: Path,
    people: dict[str, int],
) -> None:
    """Add a batch in one transaction, and count whose faces they were."""
    if not batch:
        return
    faces = [result.faces[number] for _, result, number in batch]
    gallery.enrol_many(
        [picture.person for picture, _, _ in batch],
        [face.vector for face in faces],
        digests=[result.digest for _, result, _ in batch],
        faces=[0 if picture.box is None else number for picture, _, number in batch],
        sources=[_relative(picture.path, root) for picture, _, _ in batch],
        qualities=[None if f.quality is None else float(f.quality.score) for f in faces],
        thumbnails=[None if f.crop is None else encode_jpeg(f.crop) for f in faces]
        if gallery.policy.thumbnails
        else None,
    )
    for picture, _, _ in batch:
        people[picture.person] = people.get(picture.person, 0) + 1


def _relative(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
