"""What a gallery needs of a store: people, templates, the trail, purging, and rows to search in.

:class:`~mien.gallery._sqlite_store.SqliteStore` keeps it in one file. Another store, such as a
shared one on a server, has the same methods; nothing above this page knows where rows are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from mien.gallery._records import AuditEntry, Change, Constraint, FaceKey, Person, StoredFace
from mien.gallery._row_codec import RowCodec

if TYPE_CHECKING:
    from mien.verification import Scorer

__all__ = [
    "CandidateIndex",
    "GalleryStore",
    "IndexWriter",
    "NewTemplates",
    "PeopleBatch",
    "Removed",
    "TemplateRows",
]


class PeopleBatch(NamedTuple):
    """People (g,) by number, how many templates each has, and the sums (g, d) of those."""

    ids: np.ndarray
    counts: np.ndarray
    sums: np.ndarray


@dataclass(frozen=True)
class NewTemplates:
    """Faces to be added, one entry each; ``added`` is now if it is None.

    ``consent`` is what new people agreed to, as text; ``consent_demanded`` refuses whoever has
    none.
    """

    names: list[str]
    vectors: np.ndarray
    digests: list[bytes]
    faces: list[int]
    sources: Sequence[str | None] | None
    qualities: Sequence[float | None] | None
    added: Sequence[float] | None
    thumbnails: Sequence[bytes | None] | None = None
    consent: str | None = None
    consent_demanded: bool = False


class Removed(NamedTuple):
    """How many templates were removed, and what must not be found in the store any more."""

    templates: int
    secrets: list[bytes]
    names: list[str]


class TemplateRows(NamedTuple):
    """Everything that an export holds, as it is stored: sealed where the store is sealed."""

    people: list[tuple[int, bytes]]
    templates: list[tuple[int, bytes, int, bytes, bytes | None, float | None, float, int]]


class GalleryStore(Protocol):
    """A store of people and templates; each method that changes something is one transaction."""

    @property
    def where(self) -> str:
        """What to call it in errors."""

    @property
    def path(self) -> Path:
        """The file, for a store that is one."""

    @property
    def features(self) -> str:
        """What the vectors are."""

    @property
    def dimension(self) -> int:
        """Their length."""

    @property
    def sealed(self) -> bool:
        """Whether templates are encrypted."""

    @property
    def read_only(self) -> bool:
        """Whether nothing may be changed."""

    def close(self) -> None:
        """Let it go."""

    def reading(self) -> AbstractContextManager[None]:
        """All that is read in the block is of one moment."""

    # Settings.
    def revision(self) -> int:
        """A number that grows with every change."""

    def model(self) -> bytes:
        """The file of the model that compares the faces."""

    def model_mark(self) -> str:
        """A digest of it, quick to ask for."""

    def set_model(self, content: bytes) -> None:
        """Replace it, and keep the one before; an index of the old one is forgotten."""

    def model_before(self) -> bytes | None:
        """The model that was replaced last; None if none was."""

    def fingerprint(self) -> str:
        """A text that changes whenever a template is added, moved or deleted."""

    def calibration(self) -> str | None:
        """The calibration by the gallery's own people that was stored last."""

    def set_calibration(self, text: str) -> None:
        """Store one."""

    def policy(self) -> str | None:
        """What the gallery keeps and demands, as it was set."""

    def set_policy(self, text: str, *, thumbnails: bool) -> Removed:
        """Set it; without thumbnails those that are kept are erased."""

    # People.
    def count_people(self) -> int:
        """All people."""

    def count_enrolled(self) -> int:
        """People with at least one template."""

    def people(self) -> list[Person]:
        """Everybody."""

    def all_names(self) -> dict[int, str]:
        """Names of everybody by number."""

    def get_people(self, ids: Iterable[int]) -> list[Person]:
        """Those of these numbers who are there."""

    def find_person(self, name: str) -> int | None:
        """The number of the person with this name."""

    def names_of(self, ids: Iterable[int]) -> dict[int, str]:
        """Names by number, of those who are there."""

    def add_person(self, name: str) -> bool:
        """Somebody without faces; False where the name is taken."""

    def rename_person(self, old: str, new: str) -> None:
        """Give a person another name."""

    def hide_person(self, name: str, hidden: bool) -> None:
        """Whether a person is left out of lists."""

    def set_terms(self, name: str, consent: str | None, retain_until: float | None) -> None:
        """What a person agreed to, as text, and until when the faces are kept."""

    def note_use(self, numbers: Iterable[int], day: int) -> None:
        """People were recognised on a day, counted from 1970."""

    def merge_people(self, person: str, into: str) -> int:
        """Move all templates of one person to another, and forget the first; gives how many."""

    def delete_person(self, name: str) -> Removed:
        """Delete a person with all templates."""

    # Templates.
    def insert(self, new: NewTemplates) -> tuple[int, int]:
        """Add faces, all or none; gives how many are new, and how many were refused."""

    def contains(self, digest: bytes) -> bool:
        """Whether a face of this picture is there."""

    def delete_picture(self, digest: bytes) -> Removed:
        """Delete all faces of a picture, and people who have no other."""

    def list_faces(
        self, person: str | None, after: str | None, limit: int | None
    ) -> list[StoredFace]:
        """Faces in a fixed order, for reading in pages."""

    def get_face(self, identifier: str) -> StoredFace | None:
        """The face with this id."""

    def find_face(self, digest: bytes, face: int) -> StoredFace | None:
        """A face of a picture."""

    def read_vector(self, identifier: str) -> np.ndarray:
        """The template (1, d) of a face."""

    def move_faces(self, identifiers: Sequence[str], person: str, *, split: bool) -> list[str]:
        """Give faces to another person, who is new if they are split off; gives who is gone."""

    def remove_faces(self, identifiers: Sequence[str]) -> None:
        """Take faces out so that they can be brought back."""

    def delete_face(self, identifier: str) -> Removed:
        """Delete one face."""

    def find_key(self, identifier: str) -> FaceKey | None:
        """Picture and number of the face with this id."""

    def thumbnail(self, identifier: str) -> bytes | None:
        """The small picture of a face, where one is kept."""

    def set_thumbnail(self, identifier: str, content: bytes) -> None:
        """Keep one."""

    # Statements about faces, and the history.
    def add_link(self, kind: str, face: FaceKey, other: FaceKey | None, person: str | None) -> int:
        """Keep a statement about a face; gives its number."""

    def drop_link(self, number: int) -> None:
        """Take a statement back."""

    def links(self) -> list[Constraint]:
        """All statements, from the first."""

    def bans(self, faces: Sequence[FaceKey | None]) -> list[tuple[set[int] | None, int | None]]:
        """Per face: who it is not (None: not a face), and who it is by a statement."""

    def history(self, limit: int | None) -> list[Change]:
        """Changes, from the last."""

    def undo(self, expected: int | None) -> tuple[Change, Removed]:
        """Undo the last change that was not undone."""

    def clear_history(self) -> Removed:
        """Forget how to undo, with everything that was kept for it."""

    def change_key(self, key: bytes | str) -> None:
        """Exchange the gallery's key."""

    def rotate(self) -> int:
        """Turn all templates by a new secret; gives how many."""

    @property
    def rotated(self) -> bool:
        """Whether templates are turned by a secret before they are sealed."""

    def all_rows(self) -> TemplateRows:
        """Everything, for an export, as it is stored."""

    @property
    def codec(self) -> RowCodec:
        """How what is stored is read."""

    def seal_text(self) -> str | None:
        """How the store is sealed, for an export that the same key opens."""

    # Rows to search in.
    def people_batches(self, *, after: int | None = None) -> Iterator[PeopleBatch]:
        """Sums of everybody, or of those changed after a revision, by rising number."""

    def some_people(self, ids: Iterable[int]) -> PeopleBatch:
        """Sums of the named people."""

    def sample(self, n_people: int, n_pictures: int) -> tuple[np.ndarray, np.ndarray]:
        """Templates (n, d) of the first people, and their numbers (n,)."""

    def gone_since(self, revision: int) -> list[int]:
        """Numbers of people who were deleted or merged since."""

    def index_key(self) -> bytes | None:
        """With which an index beside the store is signed; None where none is kept."""

    def index_state(self) -> str | None:
        """What was noted about the index that lies beside the store."""

    def save_index(self, write: IndexWriter) -> None:
        """Note a new index; nobody can be deleted between its writing and the note."""

    def shared_index(self, scorer: Scorer, mark: str) -> CandidateIndex | None:
        """An index that the store keeps itself, up to date; None where there is none."""

    # The trail, and forgetting.
    def trail(self) -> list[AuditEntry]:
        """What was done, from the first."""

    def note(self, action: str, people: int, templates: int) -> None:
        """Add to the trail."""

    def purge(self, removed: Removed | None) -> None:
        """See that nothing removed is left in the store; None rewrites everything."""

    def needs_purge(self) -> bool:
        """Whether somebody removed something and did not come to purging."""

    def find_faults(self) -> list[str]:
        """What is wrong, one sentence each."""


class CandidateIndex(Protocol):
    """Finds likely people of probes."""

    def candidates(self, X: np.ndarray, depth: int) -> list[np.ndarray]:
        """Numbers of the likely best people of each probe X (n, d)."""


class IndexWriter(Protocol):
    """Writes an index of the state at a revision, and gives what to note about it."""

    def __call__(self, revision: int) -> str: ...
