"""From names that other programs wrote down to a gallery: with places, and without."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.text import count
from mien._core.types import PathLike
from mien.errors import DataError, MienError
from mien.faces import FoundFace, PictureResult, analyse_pictures
from mien.gallery import FaceModel, Gallery
from mien.media import NamedRegion, PictureNames, read_image, read_names, resize_images
from mien.recognition._adapt import Adaptation
from mien.recognition._cluster_groups import group_photographs
from mien.recognition._galleries import open_or_create
from mien.recognition._models import engine_of
from mien.recognition._name_faces import NamedFaces, name_faces
from mien.recognition._people import Failure, check_rate, count_reasons
from mien.reports import Report

__all__ = ["NamedEnrolment", "NamedFace", "enrol_names", "report_names"]

_SAME_PLACE = 0.3
_SHOWN = 600
_SIDE = 96


@dataclass(frozen=True)
class NamedFace:
    """A face, and who it was found to be.

    Attributes
    ----------
    path : Path
        The picture.
    number : int
        Which face of the picture, from 0, the largest first.
    box : tuple of float
        Left, top, width, height in pixels.
    person : str or None
        None where it is open, or belongs to nobody who is named.
    probability : float
        Of the person, or of the likeliest one where it is open.
    candidate : str or None
        The likeliest person.
    how : {"place", "names", ""}
        Whether the name came with a place, or was found among names without places.
    """

    path: Path
    number: int
    box: tuple[float, float, float, float]
    person: str | None
    probability: float
    candidate: str | None
    how: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; no template."""
        return {
            "file": str(self.path),
            "face": self.number,
            "box": [round(value, 1) for value in self.box],
            "person": self.person,
            "probability": round(self.probability, 4),
            "candidate": self.candidate,
            "how": self.how,
        }


@dataclass(frozen=True)
class NamedEnrolment:
    """What became of the names.

    Attributes
    ----------
    gallery : Path
        The file.
    faces : list of NamedFace
        Every face that was found.
    added, already : int
        Faces that were enrolled, and that were in the gallery before.
    pictures : int
        Pictures that were looked through.
    sources : dict of str to int
        Pictures that each kind of source named somebody on.
    unplaced : list of (Path, str)
        Names with a place at which no face was found.
    unmatched : list of (Path, str)
        Names without a place that no face of their picture got.
    failures : list of Failure
        Pictures without a face, and files of names that could not be used.
    adaptation : Adaptation or None
        With ``adapt``: what moving the verifier to the sure faces brings; see :func:`name_faces`.
    """

    gallery: Path
    faces: list[NamedFace] = field(repr=False)
    added: int
    already: int
    pictures: int
    sources: dict[str, int]
    unplaced: list[tuple[Path, str]] = field(repr=False)
    failures: list[Failure] = field(repr=False)
    adaptation: Adaptation | None = None
    unmatched: list[tuple[Path, str]] = field(default_factory=list, repr=False)

    @property
    def people(self) -> dict[str, int]:
        """Faces that got each name, the most frequent first."""
        names = [face.person for face in self.faces if face.person is not None]
        return {
            name: names.count(name) for name in sorted(set(names), key=lambda n: -names.count(n))
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "gallery": str(self.gallery),
            "pictures": self.pictures,
            "added": self.added,
            "already": self.already,
            "people": self.people,
            "sources": self.sources,
            "faces": [face.to_dict() for face in self.faces],
            "unplaced": [{"file": str(path), "person": name} for path, name in self.unplaced],
            "unmatched": [{"file": str(path), "person": name} for path, name in self.unmatched],
            "failures": [
                {"file": str(f.path), "reason": f.reason, "detail": f.detail} for f in self.failures
            ],
            "failures by reason": count_reasons(self.failures),
            "adaptation": None if self.adaptation is None else self.adaptation.to_dict(),
        }


def enrol_names(
    photos: PathLike,
    gallery: Gallery | PathLike,
    *,
    sources: Sequence[str] | str = "auto",
    min_probability: float = 0.95,
    adapt: bool = False,
    model: FaceModel | PathLike | None = None,
    engine: str | None = None,
    min_quality: float = 0.0,
    n_jobs: int = 2,
    key: bytes | str | None = None,
) -> NamedEnrolment:
    """Enrol people whom other programs have named: Google Takeout, Picasa, digiKam, Lightroom, …

    A name with a place goes to the face at that place. Names without places, which only say who is
    on a picture, are given to faces by :class:`mien.verification.WeakNames`; what stays open is
    not enrolled.

    Parameters
    ----------
    photos : path
        A folder of pictures with what the programs wrote beside or into them, or a CSV table with
        the columns ``file`` and ``people`` (names separated by semicolons).
    gallery : Gallery or path
        The gallery; made if it does not exist.
    sources : "auto" or list of {"table", "xmp", "picasa", "takeout", "folder"}
        What to read; see :func:`mien.media.read_names`.
    min_probability : float
        Least probability of a name without a place.
    adapt : bool
        Whether the faces whose names are sure may move the gallery's verifier; they do so only if
        that is better on people held out.
    model, engine, min_quality, n_jobs, key
        As in :func:`enrol`.

    Returns
    -------
    NamedEnrolment

    Examples
    --------
    >>> from mien.recognition import enrol_names
    >>> enrol_names("Takeout", "people.gallery").people                     # doctest: +SKIP
    {'Ann': 112, 'Bob': 97}
    """
    check_rate("min_probability", min_probability)
    listed, left_out = read_names(photos, sources)
    failures = [Failure(path, "unusable names", reason) for path, reason in left_out]
    if not any(one.names or one.regions for one in listed):
        raise DataError(
            f"nobody is named in {os.fspath(photos)!r}: mien reads Google Takeout's JSON files, "
            ".picasa.ini, XMP regions and lists of people, and a CSV table with the columns file "
            "and people"
        )
    with open_or_create(gallery, model=model, engine=engine, key=key) as opened:
        paths = [one.path for one in listed]
        results = list(analyse_pictures(paths, engine_of(opened.model), n_jobs=n_jobs))
        usable, more = _leave_out_faces(results, min_quality)
        failures += more
        placed, unplaced = _match_places(listed, results, usable)
        faces, learned = _find_names(
            listed, results, usable, placed, opened.model, min_probability, adapt
        )
        if learned is not None and learned.model is not opened.model:
            opened.set_model(learned.model)
        added, already, refused = _store(opened, results, usable, faces, Path(photos))
        failures += refused
        path = opened.path
    counts: dict[str, int] = {}
    for one in listed:
        for source in one.sources:
            counts[source] = counts.get(source, 0) + 1
    return NamedEnrolment(
        path, faces, added, already, len(listed), counts, unplaced, failures,
        None if learned is None else learned.adaptation, _list_unmatched(listed, faces),
    )  # fmt: skip


def _list_unmatched(listed: list[PictureNames], faces: list[NamedFace]) -> list[tuple[Path, str]]:
    """Names without a place that no face of their picture has."""
    given = {(face.path, face.person) for face in faces}
    return [
        (one.path, name) for one in listed for name in one.names if (one.path, name) not in given
    ]


def _leave_out_faces(
    results: list[PictureResult], min_quality: float
) -> tuple[list[list[int]], list[Failure]]:
    """Numbers of the usable faces of each picture, and pictures that have none."""
    usable, failures = [], []
    for result in results:
        good = [
            k
            for k, found in enumerate(result.faces)
            if found.quality is None or found.quality.score >= min_quality
        ]
        usable.append(good)
        if result.error is not None:
            failures.append(Failure(result.path, "unreadable", result.error))
        elif not result.faces:
            failures.append(Failure(result.path, "no face", "no face was found"))
    return usable, failures


def _match_places(
    listed: list[PictureNames], results: list[PictureResult], usable: list[list[int]]
) -> tuple[dict[tuple[int, int], str], list[tuple[Path, str]]]:
    """Names by picture and face, and those at whose place no face was found."""
    placed: dict[tuple[int, int], str] = {}
    unplaced: list[tuple[Path, str]] = []
    for i, (names, result) in enumerate(zip(listed, results, strict=True)):
        for region in names.regions:
            if region.name is None:
                continue
            free = [k for k in usable[i] if (i, k) not in placed]
            scores = [_agreement(region, result.faces[k], result.size) for k in free]
            if scores and max(scores) >= _SAME_PLACE:
                placed[i, free[int(np.argmax(scores))]] = region.name
            else:
                unplaced.append((names.path, region.name))
    return placed, unplaced


def _agreement(region: NamedRegion, found: FoundFace, size: tuple[int, int]) -> float:
    """Intersection over the smaller of both: programs draw boxes of different sizes."""
    height, width = size
    left, top, wide, high = region.box
    a = (left * width, top * height, wide * width, high * height)
    b = tuple(float(value) for value in found.face.box)
    across = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    down = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    shared = max(across, 0.0) * max(down, 0.0)
    areas = (a[2] * a[3], b[2] * b[3])
    # A box that is ten times as large as the other is not about the same face.
    return 0.0 if max(areas) > 10 * min(areas) else shared / min(areas)


def _find_names(
    listed: list[PictureNames],
    results: list[PictureResult],
    usable: list[list[int]],
    placed: dict[tuple[int, int], str],
    model: FaceModel,
    min_probability: float,
    adapt: bool,
) -> tuple[list[NamedFace], NamedFaces | None]:
    """Who every face is; a face whose name came with its place is a picture of its own."""
    places: list[tuple[int, int]] = []
    bags: list[int] = []
    names: list[list[str]] = []
    absent: list[list[str]] = []
    for i, one in enumerate(listed):
        mine = [(i, k) for k in usable[i] if (i, k) not in placed]
        marked = [(i, k) for k in usable[i] if (i, k) in placed]
        for place in marked:
            places.append(place)
            bags.append(len(names))
            names.append([placed[place]])
            absent.append([])
        if mine:
            places += mine
            bags += [len(names)] * len(mine)
            # Whose face is marked is not one of the others.
            absent.append([placed[place] for place in marked])
            names.append([name for name in one.names if name not in absent[-1]])
    if not places:
        return [], None
    vectors = np.stack([results[i].faces[k].vector for i, k in places]).astype(np.float64)
    # Faces of a burst are one person; those of a picture must come in its own order.
    order = np.asarray(sorted(range(len(places)), key=places.__getitem__))
    groups = np.empty(len(places), dtype=np.int64)
    groups[order] = group_photographs(
        results,
        np.asarray([places[row][0] for row in order]),
        np.asarray([results[places[row][0]].faces[places[row][1]].face.box for row in order]),
        vectors[order],
        model.scorer,
    )
    found = name_faces(
        model,
        vectors,
        np.asarray(bags),
        names,
        groups=groups,
        absent=absent,
        min_probability=min_probability,
        adapt=adapt,
    )
    weak = found.names
    faces = []
    for place, label, options in zip(places, weak.labels_, weak.probabilities_, strict=True):
        i, k = place
        left, top, width, height = (float(value) for value in results[i].faces[k].face.box)
        best = max(options, key=lambda name: options[name], default=None)
        person, chance, how = label, options.get(best, 0.0), "names" if label else ""
        if place in placed:
            person, chance, how, best = placed[place], 1.0, "place", placed[place]
        faces.append(
            NamedFace(listed[i].path, k, (left, top, width, height), person, chance, best, how)
        )
    return sorted(faces, key=lambda face: (str(face.path), face.number)), found


def _store(
    gallery: Gallery,
    results: list[PictureResult],
    usable: list[list[int]],
    faces: list[NamedFace],
    photos: Path,
) -> tuple[int, int, list[Failure]]:
    """Enrol every face that has a name; a face that is somebody else's in the gallery stays so."""
    root = photos if photos.is_dir() else photos.parent
    found = {result.path: result for result in results}
    added = already = 0
    refused: list[Failure] = []
    for face in faces:
        if face.person is None:
            continue
        result = found[face.path]
        one = result.faces[face.number]
        path = face.path
        try:
            done = gallery.enrol(
                face.person,
                one.vector[None],
                digests=[result.digest],
                faces=[face.number],
                sources=[str(path.relative_to(root)) if path.is_relative_to(root) else str(path)],
                qualities=[None if one.quality is None else float(one.quality.score)],
            )
        except MienError as error:
            refused.append(Failure(path, "two names", str(error)))
            continue
        added += done.added
        already += done.already
    return added, already, refused


def report_names(result: NamedEnrolment) -> Report:
    """A page with every face: who it was found to be and how, the open ones first."""
    report = Report(
        "Names from other programs",
        f"{count(result.pictures, 'picture')}, {count(len(result.faces), 'face')}, "
        f"{count(len(result.people), 'person', 'people')}",
    )
    used = [
        {"source": source, "pictures it names somebody on": times}
        for source, times in result.sources.items()
    ]
    report.table("What was used", used)
    ways = {"place": "by the place that came with the name", "names": "by who is on the picture"}
    became = [
        {"faces": words, "number": sum(face.how == how for face in result.faces)}
        for how, words in {**ways, "": "open: not enrolled"}.items()
    ]
    report.table("How faces got a name", became)
    if result.people:
        rows = [{"person": name, "faces": count} for name, count in result.people.items()]
        report.table("People", rows)
    ranked = sorted(result.faces, key=lambda face: (face.person is not None, -face.probability))
    crops, captions = [], []
    for face in ranked[:_SHOWN]:
        crop = _cut_out(face)
        if crop is not None:
            crops.append(crop)
            guess = f"open ({face.candidate}?)" if face.candidate else "nobody named"
            name = face.person or guess
            captions.append(f"{name}, {face.probability:.2f}, {face.path.name}")
    if crops:
        report.gallery(crops, captions, "Faces, the open ones first", columns=None)
    if len(ranked) > _SHOWN:
        report.text(f"The first {_SHOWN:,} of {len(ranked):,} faces are shown.")
    if result.unplaced:
        rows = [{"file": str(path), "person": name} for path, name in result.unplaced]
        report.table("Names at a place where no face was found", rows)
    if result.unmatched:
        rows = [{"file": str(path), "person": name} for path, name in result.unmatched]
        report.table("Names that no face of their picture got", rows)
    if result.failures:
        rows = [{"file": str(f.path), "reason": f.reason} for f in result.failures]
        report.table("Files that could not be used", rows)
    return report


def _cut_out(face: NamedFace) -> np.ndarray | None:
    """The face with some of its surroundings, small."""
    try:
        image = read_image(face.path, colour=True)
    except MienError:
        return None
    left, top, width, height = face.box
    side = 1.4 * max(width, height)
    x, y = left + width / 2 - side / 2, top + height / 2 - side / 2
    rows = slice(max(0, int(y)), max(1, int(y + side)))
    columns = slice(max(0, int(x)), max(1, int(x + side)))
    cut = image[rows, columns]
    return resize_images(cut[None], (_SIDE, _SIDE))[0] if cut.size else None
