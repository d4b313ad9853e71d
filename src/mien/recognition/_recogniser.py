"""A session: models, engines and a gallery that stay open between questions, and many pairs."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mien._core.types import PathLike
from mien.errors import DataError, InputError, MienError
from mien.faces import PictureResult, analyse_pictures
from mien.gallery import FaceModel, Gallery
from mien.recognition._enrol import Enrolment, enrol
from mien.recognition._galleries import open_gallery
from mien.recognition._identify import IdentifiedPicture, identify
from mien.recognition._models import engine_of, load_model, open_model
from mien.recognition._people import check_rate
from mien.recognition._verify import Verification, compare_faces, verify

__all__ = ["ComparedPair", "Pair", "Recogniser", "read_pairs", "verify_pairs"]

_TRUE, _FALSE = ("1", "true", "yes", "same"), ("0", "false", "no", "different")


class Pair(NamedTuple):
    """Two pictures, and whether they show one person where that is known."""

    a: Path
    b: Path
    same: bool | None = None


@dataclass(frozen=True)
class ComparedPair:
    """What became of a pair.

    Attributes
    ----------
    pair : Pair
        The pictures.
    answer : Verification or None
        None where a picture could not be used.
    error : str or None
        Why there is no answer.
    """

    pair: Pair
    answer: Verification | None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; no template."""
        told: dict[str, Any] = {"a": str(self.pair.a), "b": str(self.pair.b), "error": self.error}
        if self.pair.same is not None:
            told |= {"truth": self.pair.same}
        return told | ({} if self.answer is None else self.answer.to_dict())


def read_pairs(path: PathLike) -> list[Pair]:
    """Pairs of pictures from a CSV table with the columns ``a`` and ``b``, and perhaps ``same``.

    Parameters
    ----------
    path : path
        Names of files are seen from the table's folder. ``same`` is 1, true, yes or 0, false, no,
        or empty where nobody knows.
    """
    place = Path(path)
    try:
        with open(place, newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            columns, rows = reader.fieldnames or [], list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{str(place)!r} is not a readable table: {error}") from error
    if not {"a", "b"} <= set(columns):
        raise DataError(
            f"{str(place)!r} must have the columns a and b; it has {', '.join(columns) or 'none'}"
        )
    pairs = []
    for number, row in enumerate(rows, start=2):
        a, b, same = ((row.get(name) or "").strip() for name in ("a", "b", "same"))
        if not a or not b:
            raise DataError(f"{str(place)!r}, line {number}: a and b must not be empty")
        if same and same.lower() not in _TRUE + _FALSE:
            raise DataError(f"{str(place)!r}, line {number}: same must be 1 or 0; got {same!r}")
        truth = None if not same else same.lower() in _TRUE
        pairs.append(Pair(place.parent / a, place.parent / b, truth))
    if not pairs:
        raise DataError(f"{str(place)!r} lists no pairs")
    return pairs


def verify_pairs(
    pairs: Iterable[Pair | tuple[PathLike, PathLike]],
    *,
    model: FaceModel | PathLike | None = None,
    engine: str | None = None,
    far: float = 0.001,
    prior: float = 0.5,
    impostors: str = "lookalikes",
    gallery: Gallery | PathLike | None = None,
    key: bytes | str | None = None,
    n_jobs: int = 2,
) -> Iterator[ComparedPair]:
    """Compare many pairs of pictures; each picture is analysed once.

    Parameters
    ----------
    pairs : iterable of (path, path)
        For example of :func:`read_pairs`.
    model, engine, far, prior, impostors, gallery, key
        As in :func:`verify`.
    n_jobs : int
        Pictures that are worked on at the same time.

    Yields
    ------
    ComparedPair
        One for each pair, in order. A picture that cannot be used costs its own pairs only.

    Examples
    --------
    >>> from mien.recognition import verify_pairs
    >>> for one in verify_pairs([("a.jpg", "b.jpg"), ("a.jpg", "c.jpg")]):  # doctest: +SKIP
    ...     print(one.error or one.answer.log_ratio)
    """
    check_rate("prior", prior)
    check_rate("far", far)
    listed = [Pair(Path(pair[0]), Path(pair[1]), *pair[2:]) for pair in pairs]
    chosen, own = open_model(model, engine, gallery, key, impostors)
    return _compare(listed, chosen, n_jobs, {"far": far, "prior": prior, "own": own})


def _compare(
    pairs: list[Pair], model: FaceModel, n_jobs: int, settings: dict[str, Any]
) -> Iterator[ComparedPair]:
    # A result waits until the last pair that needs it.
    last = {path: k for k, pair in enumerate(pairs) for path in pair[:2]}
    wanted = list(dict.fromkeys(path for pair in pairs for path in pair[:2]))
    results = (
        iter(analyse_pictures(wanted, engine_of(model), n_jobs=n_jobs)) if wanted else iter(())
    )
    known: dict[Path, PictureResult] = {}
    for k, pair in enumerate(pairs):
        for path in pair[:2]:
            while path not in known:
                found = next(results)
                known[found.path] = found
        try:
            yield ComparedPair(pair, compare_faces(known[pair.a], known[pair.b], model, **settings))
        except MienError as error:
            yield ComparedPair(pair, None, str(error))
        for path in {pair.a, pair.b}:
            if last[path] == k:
                del known[path]


class Recogniser:
    """Ask many questions without loading anything twice.

    Parameters
    ----------
    gallery : Gallery, path or None
        Who is known; needed for :meth:`identify` and :meth:`enrol`. It must exist.
    model : FaceModel, path or None
        Compares; None is the gallery's, or the shipped one. Not together with a gallery.
    engine : {"sface", "dlib", "sface+dlib"} or None
        Which faces and vectors; None is the model's, or "sface".
    n_jobs : int
        Pictures that are worked on at the same time.
    key : bytes, str or None
        Of a sealed gallery.

    Attributes
    ----------
    model : FaceModel
        What compares.
    gallery : Gallery or None
        The open gallery.

    Notes
    -----
    Engines stay loaded for the rest of the process (:func:`mien.faces.borrow_engine`), the model
    and the gallery until the end of the ``with`` block.

    Examples
    --------
    >>> from mien.recognition import Recogniser
    >>> with Recogniser(gallery="people.gallery") as r:                     # doctest: +SKIP
    ...     r.verify("a.jpg", "b.jpg").same
    ...     r.identify("party.jpg")[0].faces[0].person
    True
    'Ann'
    """

    def __init__(
        self,
        *,
        gallery: Gallery | PathLike | None = None,
        model: FaceModel | PathLike | None = None,
        engine: str | None = None,
        n_jobs: int = 2,
        key: bytes | str | None = None,
    ) -> None:
        if gallery is not None and model is not None:
            raise InputError(
                "the gallery has its own model: give the gallery or the model, not both"
            )
        self.n_jobs = n_jobs
        self.gallery: Gallery | None = None
        self._stack = ExitStack()
        if gallery is not None:
            self.gallery = self._stack.enter_context(open_gallery(gallery, key=key))
        try:
            self._model = load_model(self.gallery.model if self.gallery else model, engine)
        except BaseException:
            self.close()
            raise

    @property
    def model(self) -> FaceModel:
        """What compares: the gallery's model as it is now, or the one that was given."""
        return self._model if self.gallery is None else self.gallery.model

    def verify(self, a: PathLike, b: PathLike, **settings: Any) -> Verification:
        """As :func:`verify`: do two pictures show one person?"""
        return verify(a, b, **self._comparing(), **settings)

    def _comparing(self) -> dict[str, Any]:
        """The gallery, whose people calibrate the answers, or the model."""
        return {"model": self._model} if self.gallery is None else {"gallery": self.gallery}

    def verify_pairs(
        self, pairs: Iterable[Pair | tuple[PathLike, PathLike]], **settings: Any
    ) -> Iterator[ComparedPair]:
        """As :func:`verify_pairs`: many pairs, each picture analysed once."""
        return verify_pairs(pairs, n_jobs=self.n_jobs, **self._comparing(), **settings)

    def verify_many(
        self, a: PathLike, others: Iterable[PathLike], **settings: Any
    ) -> Iterator[ComparedPair]:
        """One picture against many."""
        return self.verify_pairs([Pair(Path(a), Path(b)) for b in others], **settings)

    def identify(
        self, photos: PathLike | Sequence[PathLike], **settings: Any
    ) -> list[IdentifiedPicture]:
        """As :func:`identify`, with the open gallery."""
        return identify(photos, self._known(), n_jobs=self.n_jobs, **settings)

    def enrol(self, photos: PathLike | Sequence[PathLike], **settings: Any) -> Enrolment:
        """As :func:`enrol`, into the open gallery."""
        return enrol(photos, self._known(), n_jobs=self.n_jobs, **settings)

    def _known(self) -> Gallery:
        if self.gallery is None:
            raise InputError("there is no gallery to search: give one, Recogniser(gallery=…)")
        return self.gallery

    def close(self) -> None:
        """Close the gallery, if it was opened here."""
        self._stack.close()

    def __enter__(self) -> Recogniser:
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()
