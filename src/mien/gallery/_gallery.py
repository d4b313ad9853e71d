"""The gallery: people and their templates in one file, searched by calibrated ratios."""

from __future__ import annotations

import time
import warnings
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mien import verification
from mien._core.text import safe_text, skeleton
from mien._core.validation import check_choice, check_integer
from mien.errors import (
    GalleryDamagedError,
    GalleryError,
    InputError,
    MienWarning,
    ModelDamagedError,
    ModelFileError,
)
from mien.gallery._addresses import DatabaseAddress, parse_address
from mien.gallery._checks import (
    check_digest,
    check_digests,
    check_name,
    check_probes,
    check_vectors,
    scale_vectors,
)
from mien.gallery._exact import Shortlist
from mien.gallery._face_model import FaceModel
from mien.gallery._gallery_changes import GalleryChanges, check_consent, check_thumbnail
from mien.gallery._gallery_reading import GalleryReading
from mien.gallery._making import making
from mien.gallery._own_rates import OwnRates
from mien.gallery._protocol import GalleryStore, NewTemplates
from mien.gallery._records import (
    AuditEntry,
    Consent,
    EnrolResult,
    FaceKey,
    Identification,
    Person,
    StoredFace,
)
from mien.gallery._search import Search
from mien.gallery._sqlite_store import SqliteStore

if TYPE_CHECKING:
    from mien.gallery._export import GalleryExport
    from mien.gallery._postgres_store import PostgresStore
    from mien.verification import OwnCalibration, UnnamedFaces, Verifier

__all__ = ["Gallery"]

_SEARCHES = ("auto", "exact", "approximate")
_FEWEST_SHORTLISTED = 8
# Names that look alike are looked for in galleries of up to so many people.
_MOST_COMPARED_NAMES = 20_000


class Gallery(GalleryChanges, GalleryReading):
    """People and their templates in one SQLite file; made by ``create`` or ``open``.

    Enrolling is confirmed when the call returns: no crash loses it. The same face of the same
    picture is enrolled once. Several processes may read and enrol at the same time. Every change
    but deleting can be undone. Close it, or use it in a ``with`` block.

    Parameters
    ----------
    store : GalleryStore
        Where the rows are kept.
    model : FaceModel
        Read from it.

    Notes
    -----
    A person with m pictures is one row whatever m: the exact ratio of the model depends on the
    number of pictures and the sum of their vectors. For single probes of unit length ratio,
    cosine and calibration fold into one vector a person, so that a search is one matrix product.
    Above 100,000 people a graph gives 128 candidates, which are rescored exactly.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from mien.verification import JointBayesian, Verifier
    >>> rng = np.random.default_rng(0)
    >>> people = np.repeat(np.arange(300), 5)
    >>> X = 3 * rng.standard_normal((300, 16))[people] + rng.standard_normal((1500, 16))
    >>> X /= np.linalg.norm(X, axis=1, keepdims=True)
    >>> model = JointBayesian(features="an example").fit(X[:700], people[:700])
    >>> verifier = Verifier(model, random_state=0).fit(X[700:1400], people[700:1400])
    >>> digests = [f"{i:064x}" for i in range(3)]  # of the picture files, by SHA-256
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Gallery.create(f"{folder}/people.gallery", verifier) as gallery:
    ...         gallery.enrol("Ann", X[1400:1403], digests=digests)
    ...         [found.person for found in gallery.identify(X[[1403, 1405]], fpir=0.05)]
    EnrolResult(added=3, already=0, refused=0)
    ['Ann', None]
    """

    def __init__(self, store: GalleryStore, model: FaceModel | None) -> None:
        self._store = store
        self._count: tuple[int, int] = (-1, 0)
        self._looks: dict[str, str] | None = None
        self._names: tuple[int, list[tuple[str, int]]] = (-1, [])
        self._adopt(model)

    @classmethod
    def create(
        cls,
        path: str | Path,
        model: FaceModel | Verifier,
        *,
        key: bytes | str | None = None,
        seal_names: bool = True,
        timeout: float = 30.0,
    ) -> Self:
        """Make an empty gallery.

        Parameters
        ----------
        path : str or Path
            A file that does not exist yet; it will be readable by its owner only. Or the address
            of a PostgreSQL database, ``postgresql://user@host/database?gallery=NAME``.
        model : FaceModel or Verifier
            What compares the faces. It is stored in the file, and its features are those of the
            gallery. A bare verifier is for vectors from elsewhere, of any kind.
        key : bytes, str or None
            32 bytes, or a passphrase of at least ten characters, with which templates are sealed
            (AES-256-GCM) and everything else is signed.
        seal_names : bool
            With a key: whether names and sources are sealed as well.
        timeout : float
            How long to wait for other processes, in seconds.
        """
        model = FaceModel.of(model)
        address = parse_address(path)
        if address is not None:
            cls._make_shared(address, model, key, seal_names, timeout)
        else:
            with making(Path(path)) as temporary:
                cls._make(temporary, model, key, seal_names, timeout).close()
        return cls.open(path, key=key, timeout=timeout)

    @staticmethod
    def _make_shared(
        address: DatabaseAddress,
        model: FaceModel,
        key: bytes | str | None,
        seal_names: bool,
        timeout: float,
    ) -> None:
        from mien.files import save_bytes
        from mien.gallery._postgres_store import PostgresStore

        given = model.features, model.n_features, save_bytes(model), key, seal_names
        PostgresStore.make(address, *given, timeout)
        store = PostgresStore(address, key, read_only=False, timeout=timeout)
        try:
            store.note("create", 0, 0)
        finally:
            store.close()

    @classmethod
    def _make(
        cls,
        path: Path,
        model: FaceModel,
        key: bytes | str | None,
        seal_names: bool,
        timeout: float,
    ) -> Self:
        """An open gallery in a file that nobody else knows of."""
        from mien.files import save_bytes

        content = save_bytes(model)
        SqliteStore.make(path, model.features, model.n_features, content, key, seal_names)
        store = SqliteStore(path, key, read_only=False, timeout=timeout)
        store.note("create", 0, 0)
        return cls(store, model)

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        key: bytes | str | None = None,
        read_only: bool = False,
        timeout: float = 30.0,
    ) -> Self:
        """Open a gallery, after checking that it is one.

        Raises
        ------
        MissingDataError
            Nothing is there.
        GalleryFormatError
            The file is not a gallery, or of a newer format.
        GalleryDamagedError
            It is one, and damaged.
        GalleryKeyError
            It is sealed and the key is missing or wrong; or it is not sealed and a key was given.
        """
        store = _open_store(path, key, read_only, timeout)
        try:
            # Listing people needs no model; writing is refused where it is damaged.
            gallery = cls(store, None if read_only else _read_model(store))
            if not read_only:
                gallery._search.forget_stray()
                if store.needs_purge():
                    gallery._finish_purge()
        except BaseException:
            store.close()
            raise
        return gallery

    def _finish_purge(self) -> None:
        """Clean up after a process that removed something and did not come to it."""
        try:
            self._store.purge(None)
        except GalleryError as error:
            warnings.warn(
                f"traces of what was deleted earlier are still in {self.path}: {error}",
                MienWarning,
                stacklevel=4,
            )

    def _adopt(self, model: FaceModel | None) -> None:
        self._model = model
        self._mark = self._store.model_mark()
        self._search = Search(self._store, lambda: self.model.scorer, self._mark)
        self._rates = OwnRates(self._store, self._mark)

    @property
    def model(self) -> FaceModel:
        """What names faces; read when it is first used if the gallery was opened to read only."""
        if self._model is None:
            self._model = _read_model(self._store)
        return self._model

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Keep the index of a large gallery and the calibration, and let the file go."""
        try:
            self._search.save()
            self._rates.keep()
        finally:
            self._store.close()

    @property
    def path(self) -> Path:
        """Where the file is; of a gallery in a database its address, without a password."""
        return self._store.path

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self._store.dimension

    @property
    def features(self) -> str:
        """What the vectors are; a verifier or an engine of other features is refused."""
        return self._store.features

    @property
    def sealed(self) -> bool:
        """Whether templates are encrypted."""
        return self._store.sealed

    @property
    def read_only(self) -> bool:
        """Whether it was opened to be read only."""
        return self._store.read_only

    @property
    def rotated(self) -> bool:
        """Whether templates are turned by a secret rotation before they are sealed."""
        return self._store.rotated

    def __repr__(self) -> str:
        return f"Gallery({str(self.path)!r}, {len(self):,} people, {self.features!r})"

    def __len__(self) -> int:
        revision = self._store.revision()
        if self._count[0] != revision:
            self._count = revision, self._store.count_people()
        return self._count[1]

    # Enrolling.

    def enrol(
        self,
        person: str,
        vectors: Any,
        *,
        digests: Sequence[str] | None = None,
        faces: Sequence[int] | None = None,
        sources: Sequence[str | None] | None = None,
        qualities: Sequence[float | None] | None = None,
        thumbnails: Sequence[bytes | None] | None = None,
        consent: Consent | None = None,
    ) -> EnrolResult:
        """Add faces of one person, all or none; those that are there already are left alone.

        Parameters
        ----------
        person : str
            A name; whoever has it already gets more templates.
        vectors : (n, d)
            As the engine gives them, or any others of the model's features. They are scaled to
            unit length.
        digests : list of str, optional
            SHA-256 of the picture file of each, in hexadecimal. Without them each vector stands
            for its own picture, and the same vector is the same picture.
        faces : list of int, optional
            Which face of the picture each is; 0 if not given. One face of one picture belongs to
            one person: another name for it is an error.
        sources : list of str, optional
            Where the pictures were, for people to read.
        qualities : list of float, optional
            Of each face.
        thumbnails : list of bytes, optional
            A small picture of each face, where the policy of the gallery keeps them.
        consent : Consent, optional
            What the person agreed to, if that is not recorded yet.

        Returns
        -------
        EnrolResult
            Once this is returned, no crash loses it.

        Raises
        ------
        ConsentError
            The policy of the gallery demands a consent, and there is none that holds.
        """
        X = scale_vectors(vectors, self._store.dimension)
        given = digests, faces, sources, qualities
        return self._enrol([person] * len(X), X, *given, None, thumbnails, consent)

    def enrol_many(
        self,
        people: Sequence[str],
        vectors: Any,
        *,
        digests: Sequence[str] | None = None,
        faces: Sequence[int] | None = None,
        sources: Sequence[str | None] | None = None,
        qualities: Sequence[float | None] | None = None,
        thumbnails: Sequence[bytes | None] | None = None,
        consent: Consent | None = None,
    ) -> EnrolResult:
        """Add faces of many people, one name for each vector, in one transaction."""
        X = scale_vectors(vectors, self._store.dimension)
        given = digests, faces, sources, qualities
        return self._enrol(people, X, *given, None, thumbnails, consent)

    def _enrol(
        self,
        people: Sequence[str],
        X: np.ndarray,
        digests: Sequence[str] | None,
        faces: Sequence[int] | None,
        sources: Sequence[str | None] | None,
        qualities: Sequence[float | None] | None,
        added: Sequence[float] | None = None,
        thumbnails: Sequence[bytes | None] | None = None,
        consent: Consent | None = None,
    ) -> EnrolResult:
        if isinstance(people, str) or len(people) != len(X):
            raise InputError(f"people must be {len(X)} names, one for each vector")
        cleaned = {name: check_name(name) for name in dict.fromkeys(people)}
        names = [cleaned[name] for name in people]
        raw, which = check_digests(digests, faces, X)
        lists = {"sources": sources, "qualities": qualities, "thumbnails": thumbnails}
        for label, given in lists.items():
            if given is not None and len(given) != len(X):
                raise InputError(f"{label} has {len(given)} entries for {len(X)} vectors")
        if thumbnails is not None:
            self._require_thumbnails()
            thumbnails = [None if one is None else check_thumbnail(one) for one in thumbnails]
        if qualities is not None:
            qualities = [None if q is None else _check_quality(q) for q in qualities]
        self._warn_of_lookalikes(list(cleaned.values()))
        rows = NewTemplates(
            names,
            X,
            raw,
            which,
            sources,
            qualities,
            added,
            thumbnails,
            None if consent is None else check_consent(consent),
            self.policy.consent,
        )
        inserted, refused = self._store.insert(rows)
        return EnrolResult(inserted, len(X) - inserted - refused, refused)

    def _warn_of_lookalikes(self, names: list[str]) -> None:
        """Say when a new name reads like another one: it may be a mistake, or a trick."""
        if len(self) + len(names) > _MOST_COMPARED_NAMES:
            return
        if self._looks is None or len(self._looks) > 2 * len(self) + 100:
            self._looks = {skeleton(person.name): person.name for person in self._store.people()}
        for name in names:
            other = self._looks.setdefault(skeleton(name), name)
            if other != name:
                warnings.warn(
                    f"the gallery has {safe_text(other)!r}, and {safe_text(name)!r} looks like it: "
                    "if they are one person, merge them",
                    MienWarning,
                    stacklevel=4,
                )

    def contains(self, digest: str) -> bool:
        """Whether a face of the picture with this SHA-256 is enrolled."""
        return self._store.contains(check_digest(digest))

    # Asking.

    def identify(
        self,
        probes: Any,
        *,
        fpir: float = 0.01,
        top: int = 5,
        search: str = "auto",
        extrapolate: bool = True,
        apart: str | Iterable[tuple[int, int]] | None = None,
        impostors: str = "lookalikes",
        faces: Sequence[FaceKey | tuple[str, int] | None] | None = None,
    ) -> list[Identification]:
        """Say who each probe is, or that it is nobody in the gallery.

        Parameters
        ----------
        probes : (n, d), or a list of (m_i, d)
            One picture a probe, or several that show one person, as of a track.
        fpir : float
            False positive identification rate: of probes of strangers, the share that may be
            named as anybody.
        top : int
            How many candidates to tell.
        search : {"auto", "exact", "approximate"}
            "auto" is exact up to 100,000 people. A probe of several pictures is always compared
            exactly, in one pass over the file.
        extrapolate : bool
            Whether a rate that nothing supports is decided nevertheless (then ``promised`` is
            False), or is an error.
        apart : None, "all", or iterable of (int, int)
            Probes that are different people, and never get one name: none are known to be, all of
            them are (the faces of one picture), or these pairs of rows (tracks that share a
            frame). See :func:`mien.verification.decide_people`.
        impostors : {"lookalikes", "strangers"}
            Who the unknown probes are expected to be: people who look like those enrolled, which
            is careful, or anybody.
        faces : list of (digest, number) or None, optional
            Which face of which picture each probe is, so that constraints about it are respected:
            a person whom they exclude is no candidate, what is not a face is nobody, and a face
            that was said to be of the same person as an enrolled one gets that name.

        Raises
        ------
        NotEnoughDataError
            The rate cannot be promised for so many people, and ``extrapolate`` is False.
        """
        check_choice("search", search, _SEARCHES)
        top = check_integer("top", top, 1)
        counts, sums = check_probes(probes, self._store.dimension)
        self._follow_model()
        n_people = self._store.count_enrolled()
        if n_people == 0:
            verification.rate_per_person(fpir, 1)
            return [Identification(None, float("-inf"), 0.0)] * len(counts)
        # As many candidates as probes that are different people: no assignment needs more.
        depth = max(top, _FEWEST_SHORTLISTED, 0 if apart is None else len(counts))
        bans = self._find_bans(faces, len(counts))
        depth += max((len(banned) for banned, _ in bans if banned), default=0)
        short = self._find_best(counts, sums, depth, search, n_people)
        short.exclude([banned for banned, _ in bans])
        found = verification.decide_people(
            self.model.scorer.thresholds_,
            short.ids,
            short.scores,
            short.sizes,
            counts,
            n_people=n_people,
            fpir=fpir,
            top=top,
            extrapolate=extrapolate,
            apart=apart,
            own=self.calibrate(impostors),
        )
        shown = {number for one in found for number, _ in one.candidates}
        shown |= {one.person for one in found if one.person is not None}
        said = [person for _, person in bans] or [None] * len(found)
        names = self._store.names_of(shown | {person for person in said if person is not None})
        self._note_use(found)
        # Somebody who was deleted in the meantime is nobody.
        return [
            Identification(
                names.get(-1 if one.person is None else one.person)
                if told is None
                else names.get(told),
                one.log_ratio,
                one.probability,
                [(names[number], ratio) for number, ratio in one.candidates if number in names],
                one.threshold,
                one.promised,
                one.bound,
                one.n_comparisons,
            )
            for one, told in zip(found, said, strict=True)
        ]

    def _find_bans(
        self, faces: Sequence[FaceKey | tuple[str, int] | None] | None, n: int
    ) -> list[tuple[set[int] | None, int | None]]:
        """What constraints say about the probes; empty without ``faces``."""
        if faces is None:
            return []
        if len(faces) != n:
            raise InputError(f"faces has {len(faces)} entries for {n} probes")
        return self._store.bans([None if face is None else self._face_key(face) for face in faces])

    def _note_use(self, found: Sequence[Any]) -> None:
        """Note the day on which people were recognised, where they are kept by their last use."""
        if self._store.read_only or self.policy.retain_days is None:
            return
        people = {one.person for one in found if one.person is not None}
        if people:
            self._store.note_use(people, int(time.time() // 86_400))

    # What the gallery's own people say about the rates.

    @property
    def calibration(self) -> OwnCalibration:
        """What the people of this gallery say about its impostors; see :meth:`calibrate`."""
        return self.calibrate()

    def calibrate(self, impostors: str = "lookalikes") -> OwnCalibration:
        """Calibrate on the enrolled people, who are impostors of each other.

        It is made anew whenever faces are added, moved or deleted: without a person it is as if
        the person had never been there. It is kept in the file, as a few numbers.

        Parameters
        ----------
        impostors : {"lookalikes", "strangers"}
            Who is expected to be mistaken for whom.
        """
        self._follow_model()
        return self._rates.get(self.model, impostors)

    def observe(
        self, vectors: Any, sets: Sequence[int] | None = None, pictures: Sequence[int] | None = None
    ) -> UnnamedFaces:
        """Learn from faces without names where impostors lie in pictures of this camera.

        Only counts are kept, no vector; they take the place of those of an earlier call. What was
        counted with a person is taken back when the person is deleted.

        Parameters
        ----------
        vectors : (n, d)
            Faces of anybody; people of the gallery may be among them.
        sets : (n,) int, optional
            Faces that are one person, as far as is known, such as a track of a video or a group
            of :func:`mien.recognition.cluster`; each counts once. None: every face is its own.
        pictures : (n,) int, optional
            Picture or frame of each face; two of one are never one person. -1 for none.

        Returns
        -------
        UnnamedFaces
        """
        X = scale_vectors(vectors, self.dimension)
        numbers = [np.arange(len(X)) if sets is None else np.asarray(sets, dtype=np.int64)]
        numbers.append(
            np.full(len(X), -1) if pictures is None else np.asarray(pictures, dtype=np.int64)
        )
        for name, given in zip(("sets", "pictures"), numbers, strict=True):
            if given.shape != (len(X),):
                raise InputError(f"{name} must have one number per face; got {given.shape}")
        self._follow_model()
        return self._rates.observe(self.model, X, *numbers)

    def unnamed(self) -> UnnamedFaces | None:
        """What :meth:`observe` has counted, with the people who are still there."""
        self._follow_model()
        return self._rates.unnamed()

    def forget_unnamed(self) -> None:
        """Forget what :meth:`observe` has counted."""
        self._rates.forget(unnamed=True)

    def sample_vectors(
        self, n_people: int = 300, n_pictures: int = 4
    ) -> tuple[np.ndarray, np.ndarray]:
        """Templates (n, d) of the first people, and the numbers (n,) of those people."""
        return self._store.sample(n_people, n_pictures)

    def _find_best(
        self, counts: np.ndarray, sums: np.ndarray, depth: int, search: str, n_people: int
    ) -> Shortlist:
        """The best people of all probes, of those with one picture and of those with several."""
        single = counts == 1
        if single.all():
            return self._search.find(sums, depth, search, n_people)
        sets = self._search.find_sets(counts[~single], sums[~single], depth)
        if not single.any():
            return sets
        ones = self._search.find(sums[single], depth, search, n_people)
        return Shortlist.interleave(single, ones, sets)

    def _follow_model(self) -> None:
        """Take over a model that another process has set."""
        if self._store.model_mark() != self._mark:
            self._adopt(_read_model(self._store))

    def set_model(self, model: FaceModel | Verifier) -> None:
        """Replace the model, as after an adaptation; its features must be the same."""
        model = FaceModel.of(model)
        if (model.features, model.n_features) != (self.features, self._store.dimension):
            raise InputError(
                f"the gallery holds {self._store.dimension} numbers of {self.features!r}; the "
                f"model is for {model.n_features} of {model.features!r}: vectors of two engines "
                "are never compared, so enrol the pictures again with the other engine"
            )
        from mien.files import save_bytes

        self._store.set_model(save_bytes(model))
        self._search.forget()
        self._adopt(model)

    def revert_model(self) -> FaceModel:
        """Go back to the model that was replaced last; once more returns to the present one."""
        before = self._store.model_before()
        if before is None:
            raise InputError(f"the model of {self.path} was never replaced: nothing to go back to")
        self._store.set_model(before)
        self._search.forget()
        self._adopt(_read_model(self._store))
        return self.model

    def people(self) -> list[Person]:
        """Everybody, by name."""
        found = self._store.people()
        return sorted(found, key=lambda person: (person.name.casefold(), person.number))

    def list_people(
        self,
        *,
        containing: str = "",
        after: tuple[str, int] | None = None,
        limit: int | None = None,
    ) -> list[Person]:
        """A page of people, by name; only those of the page are read from the file.

        Parameters
        ----------
        containing : str
            Part of the name, whatever the case.
        after : (str, int) or None
            Only those who come after this name in lower case (``str.casefold``) and number.
        limit : int or None
            At most this many.
        """
        revision = self._store.revision()
        if self._names[0] != revision:
            names = self._store.all_names()
            self._names = revision, sorted((n.casefold(), number) for number, n in names.items())
        ordered = self._names[1]
        wanted: list[int] = []
        part = containing.casefold()
        for k in range(0 if after is None else bisect_right(ordered, after), len(ordered)):
            if limit is not None and len(wanted) >= limit:
                break
            folded, number = ordered[k]
            if part in folded:
                wanted.append(number)
        found = {person.number: person for person in self._store.get_people(wanted)}
        return [found[number] for number in wanted if number in found]

    def get_person(self, number: int) -> Person | None:
        """Whoever has this number, or None."""
        if not 0 <= check_integer("number", number) < 2**63:
            return None
        found = self._store.get_people([number])
        return found[0] if found else None

    def find_person(self, name: str) -> Person | None:
        """Whoever has this name, or None."""
        number = self._store.find_person(check_name(name))
        return None if number is None else self.get_person(number)

    def faces(
        self, person: str | None = None, *, after: str | None = None, limit: int | None = None
    ) -> list[StoredFace]:
        """Faces of everybody or of one person, in a fixed order.

        Parameters
        ----------
        person : str or None
            Whose faces; None is everybody's.
        after : str or None
            Only those that come after the face with this id: for reading in pages.
        limit : int or None
            At most this many.
        """
        name = None if person is None else check_name(person)
        return self._store.list_faces(name, after, limit)

    def get_face(self, identifier: str) -> StoredFace | None:
        """The face with this id, or None."""
        return self._store.get_face(identifier)

    def find_face(self, digest: str, face: int = 0) -> StoredFace | None:
        """A face of the picture with this SHA-256, or None."""
        return self._store.find_face(check_digest(digest), check_integer("face", face, 0))

    def score_face(self, identifier: str, vectors: Any) -> np.ndarray:
        """Log ratios (n,) of one stored face and each of ``vectors`` (n, d)."""
        X = scale_vectors(vectors, self._store.dimension).astype(np.float64)
        stored = self._store.read_vector(identifier).astype(np.float64)
        return self.model.scorer.score_pairs(np.repeat(stored, len(X), axis=0), X)

    def export_person(self, person: str) -> dict[str, Any]:
        """Everything that the gallery holds about a person, as plain values for JSON."""
        held = self._find(person)
        faces = []
        for face in self.faces(held.name):
            picture = self.thumbnail(face.id)
            faces.append(
                {
                    **asdict(face),
                    "vector": self._store.read_vector(face.id)[0].tolist(),
                    "thumbnail": None if picture is None else b64encode(picture).decode("ascii"),
                }
            )
        digests = {face["digest"] for face in faces}
        return {
            **asdict(held),
            "features": self.features,
            "faces": faces,
            "constraints": [
                asdict(one)
                for one in self.constraints()
                if one.person == held.name or one.face.digest in digests
            ],
            "history": [asdict(one) for one in self.history() if held.name in one.names],
            "audit": [asdict(one) for one in self.audit() if one.person == held.number],
        }

    def audit(self) -> list[AuditEntry]:
        """What was done, from the first; without biometric data and without names."""
        return self._store.trail()

    def check(self) -> list[str]:
        """Look at everything: what is wrong, one sentence each; nothing is an empty list."""
        return self._store.find_faults() + self._search.check()

    # Moving.

    def export(self, path: str | Path, *, plaintext: bool = False) -> Path:
        """Write everybody to one model file, for :meth:`import_from`.

        Parameters
        ----------
        path : str or Path
            Replaced at once or not at all; readable by its owner only.
        plaintext : bool
            A sealed gallery is exported sealed, to be opened with the same key, unless this is
            True.
        """
        with self._store.reading():
            from mien.gallery._export import write_export

            written = write_export(self._store, self.model, Path(path), plaintext=plaintext)
        if not self._store.read_only:
            self._store.note("export", len(self), written)
        return Path(path)

    @classmethod
    def import_from(
        cls,
        source: str | Path,
        path: str | Path,
        *,
        key: bytes | str | None = None,
        seal_names: bool = True,
        timeout: float = 30.0,
    ) -> Self:
        """Make a gallery at ``path`` of what :meth:`export` wrote to ``source``.

        Parameters
        ----------
        source, path : str or Path
            The exported file; a file that does not exist yet.
        key : bytes, str or None
            Opens a sealed export and seals the new gallery; for a plain export it only seals.
        seal_names, timeout
            As in :meth:`create`.
        """
        from mien.gallery._export import read_export

        held: GalleryExport = read_export(Path(source), key)
        if parse_address(path) is not None:
            with cls.create(path, held.model, key=key, seal_names=seal_names) as made:
                made._take_in(held)
            return cls.open(path, key=key, timeout=timeout)
        # The file gets its name when everybody is in it: killed, there is no gallery.
        with making(Path(path)) as temporary:
            gallery = cls._make(temporary, held.model, key, seal_names, timeout)
            try:
                gallery._take_in(held)
            finally:
                gallery._store.close()
        return cls.open(path, key=key, timeout=timeout)

    def _take_in(self, held: GalleryExport) -> None:
        if len(held.people):
            vectors = check_vectors(held.vectors, self._store.dimension)
            names = held.people, vectors, held.digests, held.faces
            self._enrol(*names, held.sources, held.qualities, held.added)
        for name in held.faceless:
            self._store.add_person(check_name(name))
        self._store.note("import", len(self), len(held.people))


def _open_store(
    path: str | Path, key: bytes | str | None, read_only: bool, timeout: float
) -> SqliteStore | PostgresStore:
    address = parse_address(path)
    if address is None:
        return SqliteStore(Path(path), key, read_only=read_only, timeout=timeout)
    from mien.gallery._postgres_store import PostgresStore

    return PostgresStore(address, key, read_only=read_only, timeout=timeout)


def _check_quality(quality: Any) -> float:
    try:
        value = float(quality)
    except (TypeError, ValueError) as error:
        raise InputError(f"a quality is a number between 0 and 1; got {quality!r:.40}") from error
    if not -1e6 <= value <= 1e6:
        raise InputError(f"a quality is a number between 0 and 1; got {value:.4g}")
    return value


def _read_model(store: GalleryStore) -> FaceModel:
    from mien.files import load_bytes

    try:
        held = load_bytes(store.model(), "its model")
        if not FaceModel.takes(held):
            raise ModelDamagedError(f"a {type(held).__name__} compares no faces")
        model = FaceModel.of(held)
    except (ModelFileError, InputError) as error:
        raise GalleryDamagedError(f"{store.where} is corrupted: {error}") from error
    if model.features != store.features or model.n_features != store.dimension:
        raise GalleryDamagedError(f"{store.where} is corrupted: its model is for other vectors")
    return model
