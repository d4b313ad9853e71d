"""Labeled Faces in the Wild: 13,233 pictures of 5,749 people, and embeddings of all of them."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from mien._core.validation import check_choice, check_labels
from mien.datasets._decode import ON_ERROR, decode_all, decode_path, join_failures
from mien.datasets._home import data_home, find_place, read_arrays
from mien.datasets._lfw_protocol import load_lfw_protocol
from mien.datasets._record import FaceSet
from mien.errors import DataError, InputError, MissingDataError
from mien.media import DecodedImage, decode_sized

__all__ = ["EmbeddingSet", "load_lfw", "load_lfw_embeddings", "load_lfw_landmarks"]

LICENCE = (
    "news photographs, rights with their owners; research and testing; "
    "not a proof of fitness for commerce"
)
SOURCE = "Labeled Faces in the Wild (Huang et al., 2007, 2012)"
FACES_FILE = "lfw_deepfunneled_128.zip"
# As the archives of the site and scikit-learn's fetcher unpack them.
_TREES = (
    "",
    "lfw",
    "lfw-deepfunneled",
    "lfw_funneled",
    "lfw_home/lfw_funneled",
    "lfw-deepfunneled/lfw-deepfunneled",
)
_FILE = re.compile(r"([^/]+)/\1_(\d{4})\.jpg")
_MAX_MEMBER = 32 * 2**20

EMBEDDINGS = {
    "dlib": (
        "lfw_dlib128.npz",
        "dlib's ResNet, 128 numbers, not of unit length; where no face was found the middle of "
        "the picture was taken",
        "computed with weights under CC0",
    ),
    "sface": (
        "lfw_sface128.npz",
        "OpenCV's YuNet and SFace, 128 numbers; zeros where no face was found",
        "computed with weights under MIT and Apache-2.0",
    ),
    "sface-covered": (
        "lfw_sface128_covered.npz",
        "OpenCV's SFace on the same aligned faces with the lower part covered by a mask",
        "computed with weights under MIT and Apache-2.0",
    ),
    "sface-lowres": (
        "lfw_sface128_lowres.npz",
        "OpenCV's SFace on the same faces, grey, 20 pixels wide, darkened and noisy",
        "computed with weights under MIT and Apache-2.0",
    ),
}


@dataclass(frozen=True)
class Listing:
    """Which pictures of LFW are at hand, before one of them is decoded."""

    place: Path
    files: list[str]
    people: np.ndarray
    grey: bool


def _list_archive(path: Path) -> Listing:
    """Read the names in the archive; nothing is ever unpacked to disk."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise DataError(f"{str(path)!r} is not a readable zip archive: {error}") from error
    wrong = []
    for member in members:
        name = member.filename
        if ".." in PurePosixPath(name).parts or name.startswith(("/", "\\")):
            wrong.append(f"{name!r} leads out of the archive")
        elif not _FILE.fullmatch(name):
            wrong.append(f"{name!r} is not named like 'Name/Name_0001.jpg'")
        elif member.file_size > _MAX_MEMBER:
            wrong.append(f"{name!r} has {member.file_size:,} bytes, more than {_MAX_MEMBER:,}")
    files = sorted(member.filename for member in members)
    if len(set(files)) < len(files):
        wrong.append("a name is there twice")
    if wrong:
        raise DataError(join_failures(f"{str(path)!r} is refused", wrong))
    if not files:
        raise DataError(f"{str(path)!r} holds no pictures")
    return Listing(path, files, np.array([file.split("/")[0] for file in files]), grey=True)


def _list_tree(place: Path) -> Listing | None:
    for name in _TREES:
        root = place / name
        if not root.is_dir():
            continue
        files = sorted(
            file
            for file in (path.relative_to(root).as_posix() for path in root.glob("*/*_*.jpg"))
            if _FILE.fullmatch(file)
        )
        if files:
            return Listing(root, files, np.array([file.split("/")[0] for file in files]), False)
    return None


def list_lfw(home: str | os.PathLike[str] | None = None, *, colour: bool = False) -> Listing:
    """Find the pictures of LFW: the prepared archive (grey) or an original tree."""
    base = data_home(home)
    looked = [place for place in (base / "lfw", base) if place.is_dir()]
    for place in looked:
        if (place / FACES_FILE).is_file() and not colour:
            return _list_archive(place / FACES_FILE)
        tree = _list_tree(place)
        if tree is not None:
            return tree
    archive = " (the prepared archive is grey)" if colour else f"{FACES_FILE} or "
    raise MissingDataError(
        f"no {'colour ' if colour else ''}pictures of LFW were found: looked for "
        f"{archive if not colour else ''}Name/Name_0001.jpg, also below "
        f"{', '.join(name for name in _TREES if name)}, in "
        f"{' and '.join(repr(str(place)) for place in looked)}{archive if colour else ''}; name "
        "another folder, or set MIEN_DATA to the folder that holds lfw/"
    )


def _decode_member(archive: zipfile.ZipFile, name: str, **options: Any) -> DecodedImage:
    try:
        data = archive.read(name)
    except Exception as error:  # zipfile and zlib each have their own
        raise DataError(f"{name!r} in {archive.filename!r} cannot be read: {error}") from error
    return decode_sized(data, f"{name!r} in {archive.filename!r}", **options)


def _choose_rows(listing: Listing, people: Iterable[str] | None, min_pictures: int) -> np.ndarray:
    """Choose pictures by their people, before anything is decoded."""
    names, inverse, counts = np.unique(listing.people, return_inverse=True, return_counts=True)
    keep = counts >= min_pictures
    if people is not None:
        wanted = check_labels(
            "people", [people] if isinstance(people, str) else list(people)
        ).astype(str)
        strangers = sorted(set(wanted.tolist()) - set(names.tolist()))
        if strangers:
            raise MissingDataError(
                join_failures(
                    f"{len(strangers):,} of {len(wanted):,} people are not in "
                    f"{str(listing.place)!r}",
                    [repr(name) for name in strangers],
                )
            )
        keep &= np.isin(names, wanted)
    if not keep.any():
        raise DataError(
            f"nobody is left of {len(names):,} people in {str(listing.place)!r}: the most pictures "
            f"that one has is {counts.max()}, and min_pictures is {min_pictures}"
        )
    return np.flatnonzero(keep[inverse])


def load_lfw(
    home: str | os.PathLike[str] | None = None,
    *,
    size: int | tuple[int, int] | None = None,
    colour: bool = False,
    fit: str = "crop",
    people: Iterable[str] | None = None,
    min_pictures: int = 1,
    on_error: str = "raise",
    download: bool = False,
) -> FaceSet:
    """Read LFW, or a part of it: from an original tree or the prepared archive.

    Parameters
    ----------
    home : path or None
        The folder that holds ``lfw/``, or that folder itself; None takes ``MIEN_DATA``. In it is
        ``lfw_deepfunneled_128.zip`` (grey, 128×128) or a tree ``Name/Name_0001.jpg``.
    size : int or (height, width) or None
        Resize to this.
    colour : bool
        True gives RGB and needs a tree; False gives grey.
    fit : {"crop", "stretch", "pad"}
        What happens when the proportions differ.
    people : iterable of str or None
        Only these people; others are not decoded.
    min_pictures : int
        Only people with at least this many pictures; others are not decoded.
    on_error : {"raise", "skip"}
        Whether damaged pictures are an error that names them, or left out and listed.
    download : bool
        If nothing is found, fetch the funneled pictures with scikit-learn (about 230 MB).

    Returns
    -------
    FaceSet
        In the order of the paths, as the rows of `LFWProtocol`. ``metadata`` has ``file`` and
        ``number``.

    See Also
    --------
    load_lfw_protocol : the pairs and folds.
    load_lfw_embeddings : vectors instead of pictures.
    """
    check_choice("on_error", on_error, ON_ERROR)
    if min_pictures < 1:
        raise InputError(f"min_pictures must be at least 1; got {min_pictures!r}")
    try:
        listing = list_lfw(home, colour=colour)
    except MissingDataError:
        if not download:
            raise
        listing = _fetch()
    rows = _choose_rows(listing, people, min_pictures)
    files = [listing.files[row] for row in rows]
    options = {"size": size, "colour": colour, "fit": fit}

    def decode_with(read: Callable[..., DecodedImage], places: Iterable[Any]) -> FaceSet:
        decoded = decode_all(
            [partial(read, place, **options) for place in places],
            on_error=on_error,
            description="reading LFW",
        )
        kept = np.array(files)[decoded.rows]
        return FaceSet(
            decoded.images,
            listing.people[rows[decoded.rows]],
            {"file": kept, "number": np.array([int(file[-8:-4]) for file in kept])},
            source=f"{SOURCE}, {listing.place}",
            licence=LICENCE,
            skipped=decoded.skipped,
        )

    if listing.place.is_dir():
        return decode_with(decode_path, (listing.place / file for file in files))
    with zipfile.ZipFile(listing.place) as archive:
        return decode_with(partial(_decode_member, archive), files)


def _fetch() -> Listing:
    """Let scikit-learn download and unpack the pictures, and read its folder as a tree."""
    from sklearn.datasets import fetch_lfw_people, get_data_home

    try:
        # Few people, so that it does not decode all of them as well.
        fetch_lfw_people(min_faces_per_person=200)
        listing = _list_tree(Path(get_data_home()))
    except Exception as error:  # no network, a proxy, a changed checksum: each has its own
        raise MissingDataError(f"LFW could not be downloaded: {error}") from error
    if listing is None:
        raise MissingDataError("scikit-learn downloaded LFW to an unknown place")
    return listing


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddingSet:
    """Vectors that some engine made of faces, and the people they belong to.

    Attributes
    ----------
    vectors : (n, d) float32
        As the engine gave them, not normalised.
    people : (n,)
        Who each vector belongs to.
    files : (n,) str
        The picture of each vector.
    detected : (n,) bool
        False where the engine found no face: a failure to acquire.
    description : str
        Which engine, and what was done.
    licence : str
        On which terms they may be used.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.datasets import EmbeddingSet
    >>> EmbeddingSet(np.zeros((2, 8), np.float32), np.array(["a", "b"]), np.array(["1", "2"]),
    ...              np.array([True, False]), "an engine", "free")
    EmbeddingSet(2 vectors of 8 numbers, 2 people, 1 without a face found: an engine)
    """

    vectors: np.ndarray
    people: np.ndarray
    files: np.ndarray
    detected: np.ndarray
    description: str
    licence: str

    def __len__(self) -> int:
        return len(self.vectors)

    def __repr__(self) -> str:
        return (
            f"EmbeddingSet({len(self):,} vectors of {self.vectors.shape[1]} numbers, "
            f"{len(np.unique(self.people)):,} people, "
            f"{np.count_nonzero(~self.detected):,} without a face found: {self.description})"
        )


def load_lfw_embeddings(
    home: str | os.PathLike[str] | None = None, name: str = "dlib"
) -> EmbeddingSet:
    """Read the embeddings of all of LFW, rows as in `LFWProtocol`.

    Parameters
    ----------
    home : path or None
        The folder that holds ``lfw/``, or that folder itself; None takes ``MIEN_DATA``.
    name : {"dlib", "sface", "sface-covered", "sface-lowres"}
        Which engine and condition. The last two are the faces of ``"sface"`` under a real shift
        of domain: masked, and small, dark and noisy.
    """
    check_choice("name", name, tuple(EMBEDDINGS))
    file, description, licence = EMBEDDINGS[name]
    place = find_place("lfw", home, file, (file,))
    arrays = read_arrays(place / file, {"embeddings": ("f", 2), "detected": ("iub", 1)})
    protocol = load_lfw_protocol(place)
    vectors, detected = arrays["embeddings"], arrays["detected"]
    if not len(vectors) == len(detected) == len(protocol.files):
        raise DataError(
            f"{str(place / file)!r} has {len(vectors):,} vectors and {len(detected):,} marks for "
            f"the {len(protocol.files):,} pictures of LFW"
        )
    return EmbeddingSet(
        vectors.astype(np.float32, copy=False),
        protocol.people,
        protocol.files,
        detected.astype(bool),
        f"LFW by {description}",
        f"{licence}; of pictures that are {LICENCE}",
    )


def load_lfw_landmarks(home: str | os.PathLike[str] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Read the five landmarks of every face of LFW, rows as in `LFWProtocol`.

    Parameters
    ----------
    home : path or None
        The folder that holds ``lfw/``, or that folder itself; None takes ``MIEN_DATA``.

    Returns
    -------
    landmarks : (n, 5, 2) float64
        x and y in pixels of the prepared archive's 128×128 pictures.
    detected : (n,) bool
        False where YuNet found no face; the landmarks of that row mean nothing.
    """
    file = EMBEDDINGS["sface"][0]
    place = find_place("lfw", home, file, (file,))
    arrays = read_arrays(place / file, {"landmarks_xy": ("fiu", 3), "detected": ("iub", 1)})
    # Stored for pictures of 250 pixels, of which the archive has the middle 160 at 128.
    return (arrays["landmarks_xy"].astype(np.float64) - 45) * 0.8, arrays["detected"].astype(bool)
