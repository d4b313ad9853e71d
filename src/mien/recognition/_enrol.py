"""From photographs with names to a gallery."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mien.faces import FoundFace, PictureResult, analyse_pictures
from mien.gallery import FaceModel, Gallery
from mien.recognition._galleries import open_or_create
from mien.recognition._models import engine_of
from mien.recognition._people import (
    Failure,
    LabelledPicture,
    choose_face,
    count_reasons,
    digest_file,
    list_people,
)

__all__ = ["Enrolment", "enrol"]

PathLike = str | os.PathLike[str]
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
    """

    gallery: Path
    people: dict[str, int]
    pictures: int
    added: int
    already: int
    failures: list[Failure] = field(default_factory=list)

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
        }


def enrol(
    photos: PathLike,
    gallery: Gallery | PathLike,
    *,
    model: FaceModel | PathLike | None = None,
    engine: str | None = None,
    min_quality: float = 0.0,
    n_jobs: int = 2,
    key: bytes | str | None = None,
) -> Enrolment:
    """Put the people of a folder, or of a table, into a gallery.

    Parameters
    ----------
    photos : path
        A folder with one folder a person, or a CSV file with the columns ``file`` and ``person``.
    gallery : Gallery or path
        The gallery; made if it is not there.
    model : FaceModel, path or None
        For a new gallery: from :func:`adapt`; None takes the shipped one.
    engine : {"sface", "dlib"} or None
        For a new gallery; None is the model's, or "sface". A gallery keeps its engine.
    min_quality : float
        Refuse faces whose quality is below this, between 0 and 1.
    n_jobs : int
        Pictures that are worked on at the same time.
    key : bytes, str or None
        Of a sealed gallery.

    Returns
    -------
    Enrolment

    Notes
    -----
    A picture is known by the SHA-256 of its file: one that is in the gallery is not looked at
    again, so an interrupted run goes on where it stopped, and a second one adds nothing. A picture
    with several faces is refused unless the box of the largest has at least twice the area of the
    next. A picture that is in the folders of two people is refused for the second.

    Examples
    --------
    >>> from mien.recognition import enrol
    >>> enrol("photos", "people.gallery").added                             # doctest: +SKIP
    55
    """
    listed, failures = list_people(photos)
    root = Path(photos) if Path(photos).is_dir() else Path(photos).parent
    with open_or_create(gallery, model=model, engine=engine, key=key) as opened:
        todo, already, refused = _leave_out_known(listed, opened)
        failures += refused
        people: dict[str, int] = {}
        batch: list[tuple[LabelledPicture, PictureResult, FoundFace]] = []
        results: Iterable[PictureResult] = ()
        if todo:  # an engine takes a while to load
            results = analyse_pictures(
                [picture.path for picture in todo], engine_of(opened.model), n_jobs=n_jobs
            )
        for picture, result in zip(todo, results, strict=True):
            chosen = choose_face(result, min_quality=min_quality)
            if isinstance(chosen, Failure):
                failures.append(chosen)
                continue
            batch.append((picture, result, chosen))
            if len(batch) == _BATCH:
                _store(opened, batch, root, people)
                batch = []
        _store(opened, batch, root, people)
        # The people calibrate the gallery; what they say is kept in it.
        _ = opened.calibration
        path = opened.path
    n_pictures = len(listed) + sum(failure.reason == "nobody named" for failure in failures)
    return Enrolment(path, people, n_pictures, sum(people.values()), already, failures)


def _leave_out_known(
    listed: list[LabelledPicture], gallery: Gallery
) -> tuple[list[LabelledPicture], int, list[Failure]]:
    """Pictures that are new, how many are known, and those that two people claim."""
    todo: list[LabelledPicture] = []
    refused: list[Failure] = []
    owner: dict[str, str] = {}
    already = 0
    for picture in listed:
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


def _store(
    gallery: Gallery,
    batch: list[tuple[LabelledPicture, PictureResult, FoundFace]],
    root: Path,
    people: dict[str, int],
) -> None:
    """Add a batch in one transaction, and count whose faces they were."""
    if not batch:
        return
    gallery.enrol_many(
        [picture.person for picture, _, _ in batch],
        [face.vector for _, _, face in batch],
        digests=[result.digest for _, result, _ in batch],
        sources=[_relative(picture.path, root) for picture, _, _ in batch],
        qualities=[None if f.quality is None else float(f.quality.score) for _, _, f in batch],
    )
    for picture, _, _ in batch:
        people[picture.person] = people.get(picture.person, 0) + 1


def _relative(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
