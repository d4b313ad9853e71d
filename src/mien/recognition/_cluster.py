"""Unsorted photographs or a video, sorted by person without a single name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mien._core.progress import track
from mien._core.text import count
from mien._core.types import PathLike
from mien._core.validation import NO_GROUP
from mien.distributed import analyse, finding_neighbours, workers_of
from mien.errors import DataError, InputError, MissingDataError
from mien.faces import FoundFace, PictureResult, analyse_pictures, analyse_video
from mien.gallery import Constraint, FaceModel, Gallery
from mien.media import gather_media, is_picture, pairs_in_pictures, resize_images
from mien.recognition._cluster_groups import BURST_SECONDS, group_photographs
from mien.recognition._cluster_linkage import link_faces, own_ratios
from mien.recognition._cluster_numbers import keep_numbers, read_numbers
from mien.recognition._cluster_rates import calibrate_faces
from mien.recognition._constraints import constrain, read_answers
from mien.recognition._galleries import open_gallery
from mien.recognition._models import check_engine, engine_of, load_model
from mien.recognition._people import (
    Failure,
    check_rate,
    digest_file,
    frame_digest,
    is_doubtful,
)
from mien.verification import OwnCalibration, UnnamedFaces, rate_per_person

__all__ = ["ClusteredFace", "PeopleFound", "cluster", "list_places"]

CROP = 64


class ClusteredFace(NamedTuple):
    """One face: where it is, and how sure its place is.

    Attributes
    ----------
    path : Path
        The picture or the video.
    frame : int or None
        Frame of a video.
    number : int
        Which face of the picture or frame, from 0, the largest first.
    box : tuple of float
        Left, top, width, height in pixels.
    quality : float or None
        0 to 1.
    """

    path: Path
    frame: int | None
    number: int
    box: tuple[float, float, float, float]
    quality: float | None


@dataclass(frozen=True, eq=False)
class PeopleFound:
    """Who goes with whom.

    Attributes
    ----------
    source : Path
        What was sorted.
    faces : list of ClusteredFace
    people : (n,)
        Person of each face from 0, the one with most faces first; -1 where there are fewer than
        ``min_faces`` of them. With ``before``, people keep their numbers, and others follow.
    groups : (n,)
        What was certain before: a track, a burst, copies of a file; -1 for none.
    cannot_link : (n_pairs, 2)
        Faces of one picture or frame: never one person.
    log_ratios : (n,)
        Of each face with the other faces of its person; NaN for a face alone. Low ones are worth
        a look.
    threshold : float
        Log ratio above which two sets of faces were joined.
    fpir : float
        What the threshold means: the part of faces for which it would be passed by a stranger,
        were all compared.
    promised : True, "shipped" or False
        How far that rate can be relied on; see :class:`mien.verification.Promise`.
    failures : list of Failure
        Pictures without a usable face, each with its reason.
    crops : (n, 64, 64, 3) uint8
        The aligned faces, small.
    observed : UnnamedFaces or None
        What the gallery learned from them about its camera, if one was given.
    """

    source: Path
    faces: list[ClusteredFace]
    people: np.ndarray
    groups: np.ndarray
    cannot_link: np.ndarray
    log_ratios: np.ndarray
    threshold: float
    fpir: float
    promised: bool | str
    model: str
    failures: list[Failure] = field(repr=False)
    crops: np.ndarray = field(repr=False)
    observed: UnnamedFaces | None = field(default=None, repr=False)

    @property
    def n_people(self) -> int:
        """People with enough faces."""
        return len(np.unique(self.people[self.people >= 0]))

    @property
    def sizes(self) -> list[int]:
        """Faces of each person, in the order of their numbers."""
        return np.unique(self.people[self.people >= 0], return_counts=True)[1].tolist()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; no template."""
        return {
            "source": str(self.source),
            "faces": len(self.faces),
            "people": self.n_people,
            "sizes": self.sizes,
            "unsorted_faces": int(np.count_nonzero(self.people < 0)),
            "groups": len(np.unique(self.groups[self.groups >= 0])),
            "cannot_link": len(self.cannot_link),
            "threshold": self.threshold,
            "fpir": self.fpir,
            "promised": self.promised,
            "model": self.model,
            "observed": None
            if self.observed is None
            else {"faces": self.observed.n_faces, "people": self.observed.n_people},
            "table": [self.row(k) for k in range(len(self.faces))],
            "failures": [
                {"file": str(f.path), "reason": f.reason, "detail": f.detail} for f in self.failures
            ],
        }

    def row(self, k: int) -> dict[str, Any]:
        """What is known of face ``k``."""
        face = self.faces[k]
        ratio = float(self.log_ratios[k])
        return {
            "file": str(face.path),
            "frame": face.frame,
            "face": face.number,
            **dict(zip("xywh", (round(side, 1) for side in face.box), strict=True)),
            "person": person_name(int(self.people[k])),
            "group": None if self.groups[k] < 0 else int(self.groups[k]),
            "log_ratio": None if np.isnan(ratio) else round(ratio, 2),
            "quality": None if face.quality is None else round(face.quality, 3),
        }

    def in_words(self) -> str:
        """The result in a few sentences."""
        from mien.recognition._cluster_output import in_words

        return in_words(self)

    def write(self, out: PathLike, how: str = "link") -> Path:
        """Write folders of people, the table and the overview."""
        from mien.recognition._cluster_output import write_people

        return write_people(self, Path(out), how)


def person_name(person: int) -> str | None:
    """Name of a person's folder; None for a face that is with nobody."""
    return None if person < 0 else f"person-{person + 1:03d}"


class _Material(NamedTuple):
    """Faces of all pictures or frames, one a row."""

    faces: list[ClusteredFace]
    vectors: np.ndarray
    crops: np.ndarray
    groups: np.ndarray
    pictures: np.ndarray
    apart: np.ndarray
    failures: list[Failure]
    digests: list[str]


def cluster(
    photos: PathLike | Sequence[PathLike],
    *,
    model: FaceModel | PathLike | None = None,
    engine: str | None = None,
    fpir: float = 0.03,
    min_faces: int = 2,
    min_quality: float = 0.0,
    collages: bool = False,
    bursts: float = BURST_SECONDS,
    every: int = 1,
    n_jobs: int = 2,
    journal: PathLike | None = None,
    gallery: Gallery | PathLike | None = None,
    key: bytes | str | None = None,
    neighbours: int | None = None,
    scheduler: Any = None,
    before: PathLike | None = None,
) -> PeopleFound:
    """Sort the faces of photographs, or of a video, by person.

    Parameters
    ----------
    photos : path or sequence of path
        Folders and files of pictures with any number of faces each, or one video.
    model : FaceModel, path or None
        From :func:`adapt`; None takes the shipped one.
    engine : {"sface", "dlib", "sface+dlib"} or None
        Which faces and vectors; None is the model's, or "sface".
    fpir : float
        How careful to be: the part of faces for which a stranger among all others would pass the
        threshold. Fewer wrong joins, and more people in two parts, the smaller it is.
    min_faces : int
        People with fewer faces are not listed: their faces stay unsorted.
    min_quality : float
        Faces below this quality are left out and counted.
    collages : bool
        Two faces of one picture may be one person, as in collages and mirrors.
    bursts : float
        Most seconds between two pictures of a burst; 0 makes no groups of bursts.
    every : int
        For a video: analyse every N-th frame.
    n_jobs : int
        Pictures that are worked on at the same time.
    journal : path or None
        File to go on from after an interruption; see `analyse_pictures`.
    gallery : Gallery, path or None
        Gallery whose model and calibration decide. What was answered in it is respected: faces of
        the same person are together, those of different people are not, and what is not a face is
        left out. It also learns from the faces where impostors
        lie in pictures of this camera, and keeps that as counts; see
        :meth:`mien.gallery.Gallery.observe`. One that was opened ``read_only`` learns nothing.
        Nobody is enrolled.
    key : bytes, str or None
        Of a sealed gallery.
    neighbours : int or None
        Compare each set of faces with this many nearest neighbours; 0 compares every set with every
        other. None compares all with all up to 10,000 sets, and 24 neighbours each beyond.
    scheduler : str, distributed.Client or None
        Workers of Dask that find the faces of photographs and the neighbours: the address of a
        scheduler, ``"local"`` for workers of this machine, or a client. The journal is then a
        folder.
    before : path or None
        Table ``faces.csv`` of an earlier result about these photographs. Its people stay together
        and keep their numbers; only faces that are not in it are compared with all others.

    Returns
    -------
    PeopleFound
        Two faces of one picture or frame are never one person, unless ``collages``.

    Notes
    -----
    Faces that are one person for certain (tracks of a video, bursts, copies) are sets from the
    start; sets are joined by the calibrated log ratio of all their pictures while it is above the
    threshold for ``fpir`` among as many sets as there are. The threshold is that of the model card
    or the gallery, moved by the faces themselves: different people among them show where impostors
    lie with this camera. Up to 10,000 sets are compared
    all with all, and time grows with the square of their number; beyond, each is compared with its
    nearest neighbours, and time is close to linear.

    Examples
    --------
    >>> from mien.recognition import cluster
    >>> found = cluster("holiday")                                          # doctest: +SKIP
    >>> found.write("people")                                               # doctest: +SKIP
    """
    check_rate("fpir", fpir)
    if min_faces < 1:
        raise InputError(f"min_faces must be at least 1; got {min_faces}")
    own = None
    answers: list[Constraint] = []
    if gallery is None:
        model = load_model(model, engine)
    elif model is not None:
        raise InputError("the gallery has its own model: give the gallery or the model, not both")
    else:
        with open_gallery(gallery, key=key, read_only=not isinstance(gallery, Gallery)) as opened:
            model, own = opened.model, opened.calibration
            answers = read_answers(opened)
        if engine is not None:
            check_engine(model, engine)
    places = list_places(photos)
    source = find_source(places)
    with workers_of(scheduler) as client:
        if source.is_dir():
            analyse = _analyser(n_jobs, journal, client)
            material = _from_photographs(places, model, analyse, min_quality, bursts, collages)
        else:
            material = _from_video(source, model, n_jobs, every, min_quality)
        if answers and material.faces:
            material = _respect(material, answers)
        if not material.faces:
            reasons = [
                failure.detail for failure in material.failures if failure.reason != "no face"
            ]
            n_failed = "1 picture" if len(reasons) == 1 else f"{len(reasons):,} pictures"
            first = f"; {n_failed} failed, the first: {reasons[0]}" if reasons else ""
            raise DataError(f"no face was found in {name_places(places)}{first}")
        find: Any = nullcontext(None) if client is None else finding_neighbours(client)
        with find as by:
            search = {"neighbours": neighbours} | ({} if by is None else {"find": by})
            if before is not None:
                search["known"] = read_numbers(Path(before), material.faces)
            found, labels = _sort(source, material, model, own, fpir, min_faces, search)
    if gallery is None:
        return found
    if isinstance(gallery, Gallery) and gallery.read_only:
        return found
    with open_gallery(gallery, key=key) as opened:
        observed = opened.observe(material.vectors, labels.tolist(), material.pictures.tolist())
    return replace(found, observed=observed)


def _respect(material: _Material, answers: Sequence[Constraint]) -> _Material:
    """The same faces with what was answered about them, without what is not a face."""
    numbers = [face.number for face in material.faces]
    keys = list(zip(material.digests, numbers, strict=True))
    known = constrain(answers, keys, material.groups, material.apart)
    rows = np.flatnonzero(known.keep)
    left = {material.faces[k].path for k in rows}
    gone = dict.fromkeys(face.path for face in material.faces if face.path not in left)
    detail = "somebody said that what was found is not a face"
    both = known.keep[known.apart].all(axis=1)
    return _Material(
        [material.faces[k] for k in rows],
        material.vectors[rows],
        material.crops[rows],
        known.groups[rows],
        material.pictures[rows],
        (np.cumsum(known.keep) - 1)[known.apart[both]],
        [*material.failures, *(Failure(path, "no face", detail) for path in gone)],
        [material.digests[k] for k in rows],
    )


def _sort(
    source: Path,
    material: _Material,
    model: FaceModel,
    own: OwnCalibration | None,
    fpir: float,
    min_faces: int,
    search: dict[str, Any],
) -> tuple[PeopleFound, np.ndarray]:
    """The result, and the set (n,) of each face, those of a single face as well."""
    groups = material.groups
    n_sets = int(np.count_nonzero(groups < 0)) + len(np.unique(groups[groups >= 0]))
    others = max(1, n_sets - 1)
    scorer = model.scorer
    rate = rate_per_person(fpir, others)
    own = calibrate_faces(
        scorer,
        model.calibrate("strangers") if own is None else own,
        material.vectors,
        fpir,
        groups=groups,
        cannot_link=material.apart,
    )
    threshold = own.threshold(scorer.thresholds_, rate)
    linked = link_faces(
        scorer, material.vectors, threshold, groups=groups, cannot_link=material.apart, **search
    )
    sizes = np.bincount(linked.labels)
    numbers = linked.labels
    if "known" in search:
        numbers = keep_numbers(linked.labels, search["known"])
    found = PeopleFound(
        source=source,
        faces=material.faces,
        people=np.where(sizes[linked.labels] >= min_faces, numbers, NO_GROUP),
        groups=groups,
        cannot_link=material.apart,
        log_ratios=own_ratios(scorer, material.vectors, linked.labels),
        threshold=threshold,
        fpir=fpir,
        promised=own.promise(rate).promised,
        model=model.features,
        failures=material.failures,
        crops=material.crops,
    )
    return found, linked.labels


def _analyser(
    n_jobs: int, journal: PathLike | None, client: Any
) -> Callable[[list[Path], str], Iterator[PictureResult]]:
    """What finds the faces of pictures: threads of this process, or workers."""
    if client is None:
        return partial(analyse_pictures, n_jobs=n_jobs, journal=journal, keep_crops=True)
    return partial(analyse, client=client, journal=journal, keep_crops=True)


def list_places(photos: PathLike | Sequence[PathLike]) -> list[Path]:
    """What was named, one or many; all of it must be there."""
    places = [photos] if isinstance(photos, (str, os.PathLike)) else list(photos)
    if not places:
        raise InputError("there is nothing to sort: name a folder, photographs or a video")
    for place in places:
        if not os.path.exists(place):
            raise MissingDataError(f"{os.fspath(place)!r} does not exist")
    found = [Path(place) for place in places]
    if len(found) > 1 and any(place.is_absolute() or ".." in place.parts for place in found):
        return [Path(os.path.abspath(place)) for place in found]  # so that they have one root
    return found


def name_places(places: Sequence[Path]) -> str:
    """The first of several places, and how many there are."""
    more = f" and {count(len(places) - 1, 'other place')}" if len(places) > 1 else ""
    return f"{str(places[0])!r}{more}"


def find_source(places: Sequence[Path]) -> Path:
    """The folder that holds all photographs, or the video where that is all there is."""
    first = places[0]
    if len(places) == 1 and not is_picture(first):
        return first
    folders = [place if place.is_dir() else place.parent for place in places]
    try:
        return Path(os.path.commonpath(folders))
    except ValueError as error:  # Windows' drives
        raise InputError("all photographs must be on one drive") from error


def _from_photographs(
    named: Sequence[Path],
    model: FaceModel,
    analyse: Callable[[list[Path], str], Iterator[PictureResult]],
    min_quality: float,
    bursts: float,
    collages: bool,
) -> _Material:
    listed = gather_media(named)
    left_out = [Failure(path, "unreadable", reason) for path, reason in listed.left_out]
    detail = "it is a video: sort it alone, with `mien cluster VIDEO`"
    left_out += [Failure(path, "unreadable", detail) for path in listed.videos]
    if not listed.pictures:
        why = f"; {left_out[0].path.name}: {left_out[0].detail}" if left_out else ""
        raise MissingDataError(f"there is no picture in {name_places(named)}{why}")
    pictures: list[PictureResult] = []
    faces, vectors, crops, places = [], [], [], []
    failures = left_out
    for picture in analyse(listed.pictures, engine_of(model)):
        failures += _failures(picture, min_quality, model.engine)
        kept = []
        for number, found in enumerate(picture.faces):
            if _too_poor(found, min_quality, model.engine):
                continue
            places.append(len(pictures))
            faces.append(_face(picture.path, None, number, found))
            vectors.append(found.vector)
            crops.append(_shrink(found.crop))
            # What is kept for thousands of pictures holds no crops.
            kept.append(found)
        pictures.append(
            PictureResult(picture.path, picture.digest, picture.size, _light(kept), picture.error)
        )
    n = len(faces)
    groups = np.full(n, NO_GROUP, dtype=np.int64)
    apart = np.zeros((0, 2), dtype=np.int64)
    if n:
        rows, X = np.asarray(places), np.stack(vectors)
        apart = apart if collages else pairs_in_pictures(rows)
        if bursts > 0:
            boxes = np.asarray([face.box for face in faces])
            groups = group_photographs(pictures, rows, boxes, X, model.scorer, seconds=bursts)
    owners = np.full(n, NO_GROUP) if collages else np.asarray(places, dtype=np.int64)
    digests = [pictures[place].digest for place in places]
    return _Material(faces, _rows(vectors), _rows(crops), groups, owners, apart, failures, digests)


def _light(found: Sequence[Any]) -> list[Any]:
    """The same faces without their crops."""
    return [replace(one, crop=None) for one in found]


def _from_video(
    source: Path, model: FaceModel, n_jobs: int, every: int, min_quality: float
) -> _Material:
    video = analyse_video(source, engine_of(model), every=every, n_jobs=n_jobs, keep_crops=True)
    numbers: dict[int, int] = {}
    faces, keep = [], []
    for k, one in enumerate(track(video.detections, "faces of the video")):
        number = numbers.get(one.frame, 0)
        numbers[one.frame] = number + 1
        if not _too_poor(one.found, min_quality, model.engine, video=True):
            keep.append(k)
            faces.append(_face(source, one.frame, number, one.found))
    failures = []
    if not video.complete:
        detail = f"only {video.n_frames} frames could be read"
        failures.append(Failure(source, "unreadable", detail))
    rows = np.asarray(keep, dtype=np.int64)
    apart = pairs_in_pictures(video.frames[rows]) if len(rows) else np.zeros((0, 2), np.int64)
    detections = [video.detections[k] for k in keep]
    digest = digest_file(source)
    return _Material(
        faces,
        _rows([one.found.vector for one in detections]),
        _rows([_shrink(one.found.crop) for one in detections]),
        video.tracks[rows],
        video.frames[rows],
        apart,
        failures,
        [frame_digest(digest, one.frame) for one in detections],
    )


def _face(path: Path, frame: int | None, number: int, found: Any) -> ClusteredFace:
    left, top, width, height = (float(side) for side in found.face.box)
    quality = None if found.quality is None else float(found.quality.score)
    return ClusteredFace(path, frame, number, (left, top, width, height), quality)


def _too_poor(found: FoundFace, least: float, engine: str | None, *, video: bool = False) -> bool:
    low = found.quality is not None and found.quality.score < least
    return low or is_doubtful(found, engine, video=video)


def _failures(picture: PictureResult, min_quality: float, engine: str | None) -> list[Failure]:
    if picture.error is not None:
        return [Failure(picture.path, "unreadable", picture.error)]
    if not picture.faces:
        return [Failure(picture.path, "no face", "no face was found")]
    if all(is_doubtful(found, engine) for found in picture.faces):
        detail = "what was found is hardly a person's face"
        return [Failure(picture.path, "no face", detail)]
    if all(_too_poor(found, min_quality, engine) for found in picture.faces):
        detail = f"the quality of every face is below {min_quality:g}"
        return [Failure(picture.path, "low quality", detail)]
    return []


def _shrink(crop: np.ndarray | None) -> np.ndarray:
    if crop is None:
        return np.zeros((CROP, CROP, 3), np.uint8)
    return resize_images(crop[None], CROP)[0]


def _rows(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.stack(parts) if parts else np.zeros((0, 0), np.float32)
