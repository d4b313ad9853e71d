"""Photographs without names into a gallery: known people get theirs, strangers a number."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.progress import track
from mien._core.types import PathLike
from mien._core.validation import NO_GROUP
from mien.errors import InputError, MissingDataError
from mien.faces import FoundFace, PictureResult, analyse_pictures
from mien.gallery import Gallery, StoredFace
from mien.media import encode_jpeg, find_media, pairs_in_pictures
from mien.recognition._cluster import person_name
from mien.recognition._cluster_linkage import link_faces
from mien.recognition._constraints import constrain
from mien.recognition._galleries import open_gallery
from mien.recognition._models import engine_of
from mien.recognition._people import Failure, check_rate

__all__ = ["PhotoImport", "find_photo", "import_photos", "is_placeholder", "make_thumbnails"]


_PLACEHOLDER = re.compile(r"person-(\d+)")
_QUALITY = 0.02


def is_placeholder(name: str) -> bool:
    """Whether a name is mien's own for somebody without one: ``person-001`` and so on."""
    return _PLACEHOLDER.fullmatch(name) is not None


@dataclass(frozen=True)
class PhotoImport:
    """What became of photographs.

    Attributes
    ----------
    pictures : int
        Analysed.
    known : int
        Faces that were added to people of the gallery.
    unknown : int
        Faces of strangers that were added.
    groups : int
        New people without a name that they make.
    already : int
        Faces that were in the gallery before.
    people : dict
        Faces per person who was there before.
    failures : list of Failure
        Pictures without a usable face, each with its reason.
    """

    pictures: int
    known: int
    unknown: int
    groups: int
    already: int
    people: dict[str, int]
    failures: list[Failure] = field(default_factory=list, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "pictures": self.pictures,
            "known": self.known,
            "unknown": self.unknown,
            "groups": self.groups,
            "already": self.already,
            "people": self.people,
            "failures": [
                {"file": str(f.path), "reason": f.reason, "detail": f.detail} for f in self.failures
            ],
        }


@dataclass
class _Strangers:
    """Faces that nobody in the gallery has, one entry each."""

    vectors: list[np.ndarray] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    qualities: list[float | None] = field(default_factory=list)
    thumbnails: list[bytes | None] = field(default_factory=list)
    pictures: list[int] = field(default_factory=list)


def import_photos(
    photos: PathLike,
    gallery: Gallery | PathLike,
    *,
    fpir: float = 0.01,
    min_quality: float = _QUALITY,
    n_jobs: int = 2,
    journal: PathLike | None = None,
    key: bytes | str | None = None,
) -> PhotoImport:
    """Add the faces of photographs to a gallery: to the people they show, or to new ones.

    Parameters
    ----------
    photos : path
        A folder, or one picture.
    gallery : Gallery or path
        Must exist. Where its policy keeps thumbnails, they are made.
    fpir : float
        Maximum share of unknown faces that may wrongly get a name.
    min_quality : float
        Faces below this quality are left out.
    n_jobs : int
        Pictures that are worked on at the same time.
    journal : path or None
        File to go on from after an interruption.
    key : bytes, str or None
        Of a sealed gallery.

    Returns
    -------
    PhotoImport

    Notes
    -----
    Faces that nobody in the gallery has are grouped among themselves, as ``mien cluster`` does,
    and each group becomes a person called ``person-001`` and so on: a name to be given later.
    Whoever comes again is recognised by that, also those seen once. Answers that were given about
    a face are respected. The same picture is added once.
    """
    check_rate("fpir", fpir)
    source = Path(photos)
    if not isinstance(gallery, Gallery):
        with open_gallery(gallery, key=key) as opened:
            return import_photos(
                source, opened, fpir=fpir, min_quality=min_quality, n_jobs=n_jobs, journal=journal
            )
    listed = find_media(source)
    failures = [Failure(path, "unreadable", reason) for path, reason in listed.left_out]
    if not listed.pictures:
        raise MissingDataError(f"there is no picture in {str(source)!r}")
    keep = gallery.policy.thumbnails
    strangers = _Strangers()
    people: dict[str, int] = {}
    n_pictures = already = 0
    for picture in analyse_pictures(
        listed.pictures, engine_of(gallery.model), n_jobs=n_jobs, journal=journal, keep_crops=keep
    ):
        n_pictures += 1
        if picture.error is not None or not picture.faces:
            reason = "no face" if picture.error is None else "unreadable"
            failures.append(Failure(picture.path, reason, picture.error or "no face was found"))
            continue
        fresh = []
        for number, found in enumerate(picture.faces):
            if found.quality is not None and found.quality.score < min_quality:
                continue
            if gallery.find_face(picture.digest, number) is not None:
                already += 1
            else:
                fresh.append((number, found))
        if not fresh:
            if not already:
                detail = f"the quality of every face is below {min_quality:g}"
                failures.append(Failure(picture.path, "low quality", detail))
            continue
        _place(gallery, picture, fresh, n_pictures, fpir, people, strangers)
    groups = _add_strangers(gallery, strangers, fpir) if strangers.vectors else 0
    return PhotoImport(
        n_pictures, sum(people.values()), len(strangers.vectors), groups, already, people, failures
    )


def _place(
    gallery: Gallery,
    picture: PictureResult,
    fresh: list[tuple[int, FoundFace]],
    n: int,
    fpir: float,
    people: dict[str, int],
    strangers: _Strangers,
) -> None:
    """Give known faces to their people; keep the others for later."""
    named = gallery.identify(
        np.stack([found.vector for _, found in fresh]),
        fpir=fpir,
        apart="all",
        faces=[(picture.digest, number) for number, _ in fresh],
    )
    for (number, found), who in zip(fresh, named, strict=True):
        quality = None if found.quality is None else float(found.quality.score)
        small = None if found.crop is None else encode_jpeg(found.crop)
        if who.person is not None:
            done = gallery.enrol(
                who.person, found.vector[None], digests=[picture.digest], faces=[number],
                sources=[str(picture.path)], qualities=[quality],
                thumbnails=None if small is None else [small],
            )  # fmt: skip
            people[who.person] = people.get(who.person, 0) + done.added
        else:
            strangers.vectors.append(found.vector)
            strangers.digests.append(picture.digest)
            strangers.numbers.append(number)
            strangers.sources.append(str(picture.path))
            strangers.qualities.append(quality)
            strangers.thumbnails.append(small)
            strangers.pictures.append(n)


def _add_strangers(gallery: Gallery, strangers: _Strangers, fpir: float) -> int:
    """Group strangers and enrol each group under a number that is free."""
    X = np.stack(strangers.vectors)
    verifier = gallery.model.verifier
    threshold = verifier.threshold(fpir=fpir, n_people=max(1, len(X) - 1), extrapolate=True)
    known = constrain(
        gallery.constraints(),
        list(zip(strangers.digests, strangers.numbers, strict=True)),
        np.full(len(X), NO_GROUP),
        pairs_in_pictures(np.asarray(strangers.pictures)),
    )
    labels = link_faces(verifier, X, threshold, groups=known.groups, cannot_link=known.apart).labels
    labels = np.where(known.keep, labels, NO_GROUP)
    first = 1 + max(
        (int(found[1]) for p in gallery.people() if (found := _PLACEHOLDER.fullmatch(p.name))),
        default=0,
    )
    keep = any(one is not None for one in strangers.thumbnails)
    made = 0
    for label in track(range(int(labels.max()) + 1), "strangers"):
        rows = np.flatnonzero(labels == label).tolist()
        if not rows:
            continue
        name = person_name(first - 1 + made)
        if name is None:
            raise InputError("a group has no number")
        gallery.enrol(
            name, X[rows],
            digests=[strangers.digests[k] for k in rows],
            faces=[strangers.numbers[k] for k in rows],
            sources=[strangers.sources[k] for k in rows],
            qualities=[strangers.qualities[k] for k in rows],
            thumbnails=[strangers.thumbnails[k] for k in rows] if keep else None,
        )  # fmt: skip
        made += 1
    return made


def find_photo(source: str | None, folders: Sequence[PathLike]) -> Path | None:
    """The photograph of a face, if it lies below one of the folders; None where it does not.

    Parameters
    ----------
    source : str or None
        As the gallery keeps it: a path, or one seen from the folder that was enrolled.
    folders : list of path
        Nothing else is read, not even through links.
    """
    if source is None or "\0" in source:
        return None
    for folder in folders:
        root = os.path.realpath(folder)
        place = Path(os.path.realpath(os.path.join(root, source)))
        if place.is_relative_to(root) and place.is_file():
            return place
    return None


def make_thumbnails(
    gallery: Gallery | PathLike,
    folders: Sequence[PathLike],
    *,
    n_jobs: int = 2,
    journal: PathLike | None = None,
    key: bytes | str | None = None,
) -> int:
    """Small pictures of faces that were enrolled without one, from the photographs; gives how many.

    Parameters
    ----------
    gallery : Gallery or path
        Its policy must keep thumbnails.
    folders : list of path
        Only photographs below these are read, and only if they have not changed.
    n_jobs, journal, key
        As in :func:`import_photos`.
    """
    if not isinstance(gallery, Gallery):
        with open_gallery(gallery, key=key) as opened:
            return make_thumbnails(opened, folders, n_jobs=n_jobs, journal=journal)
    wanted: dict[str, list[StoredFace]] = {}
    for face in gallery.faces():
        if gallery.thumbnail(face.id) is None:
            place = find_photo(face.source, folders)
            if place is not None:
                wanted.setdefault(str(place), []).append(face)
    made = 0
    engine = engine_of(gallery.model)
    for picture in analyse_pictures(
        sorted(wanted), engine, n_jobs=n_jobs, journal=journal, keep_crops=True
    ):
        for face in wanted[str(picture.path)]:
            if picture.digest == face.digest and face.face < len(picture.faces):
                crop = picture.faces[face.face].crop
                if crop is not None:
                    gallery.set_thumbnail(face.id, encode_jpeg(crop))
                    made += 1
    return made
