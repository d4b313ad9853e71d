"""The gallery: people and their templates in one file, searched by calibrated ratios."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Self

from mien.errors import GalleryError, MienWarning
from mien.gallery._addresses import DatabaseAddress, parse_address
from mien.gallery._checks import check_name, check_vectors
from mien.gallery._face_model import FaceModel
from mien.gallery._gallery_enrolling import GalleryEnrolling
from mien.gallery._gallery_identifying import GalleryIdentifying
from mien.gallery._gallery_model import read_model
from mien.gallery._making import making
from mien.gallery._protocol import GalleryStore
from mien.gallery._sqlite_store import SqliteStore

if TYPE_CHECKING:
    from mien.gallery._export import GalleryExport
    from mien.gallery._postgres_store import PostgresStore
    from mien.verification import Verifier

__all__ = ["Gallery"]


class Gallery(GalleryEnrolling, GalleryIdentifying):
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
        super().__init__(store)
        self._looks = None
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
            gallery = cls(store, None if read_only else read_model(store))
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

    def __repr__(self) -> str:
        return f"Gallery({str(self.path)!r}, {len(self):,} people, {self.features!r})"

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
