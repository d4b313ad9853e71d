"""The rows of a gallery, whatever database keeps them: what a gallery asks of its store."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mien.errors import InputError
from mien.gallery import (
    _row_changes,
    _row_faces,
    _row_links,
    _row_people,
    _row_rekey,
    _row_rotate,
    _row_sums,
    _row_writing,
)
from mien.gallery._checked_rows import CheckedRows, in_parts
from mien.gallery._index_key import user_key
from mien.gallery._protocol import (
    CandidateIndex,
    IndexWriter,
    NewTemplates,
    PeopleBatch,
    Removed,
    TemplateRows,
)
from mien.gallery._records import Change, Constraint, FaceKey, Person, StoredFace
from mien.gallery._row_codec import RowCodec
from mien.gallery._summary import Summary

if TYPE_CHECKING:
    from mien.verification import Scorer

__all__ = ["RowStore"]


class RowStore(CheckedRows):
    """People, templates and the rest as checked rows: the methods of a ``GalleryStore``.

    What takes more than a statement or two is a function in a module of its own, and a change is
    handed to :meth:`run`, which makes it one transaction.
    """

    def __init__(self) -> None:
        super().__init__()
        self.counted = (-1, 0)

    # ------------------------------------------------------------------------ settings

    def model(self) -> bytes:
        """The file of the model that compares the faces."""
        content = self.meta("verifier")
        if type(content) is not bytes:
            raise self.corrupted("its model is missing")
        return content

    def model_mark(self) -> str:
        """A digest of the model's file."""
        mark = self.meta("verifier_mark")
        return mark if type(mark) is str else hashlib.sha256(self.model()).hexdigest()

    def set_model(self, content: bytes) -> None:
        """Replace the model, and keep the one before; an index of the old one is forgotten."""
        self.run(_row_people.set_model, content)

    def model_before(self) -> bytes | None:
        """The model that was replaced last."""
        content = self.meta("verifier_before")
        return content if type(content) is bytes else None

    def fingerprint(self) -> str:
        """A text that changes whenever a template is added, moved or deleted."""
        held = Summary.parse(self.meta("summary"), self)
        return f"{held.counts['template']} {held.sums['template']:x}"

    def calibration(self) -> str | None:
        """The calibration by the gallery's own people that was stored last."""
        text = self.meta("calibration")
        return text if type(text) is str else None

    def set_calibration(self, text: str) -> None:
        """Store a calibration; it holds a few numbers and nothing of a person."""
        self.run(_row_people.set_setting, "calibration", text)

    def policy(self) -> str | None:
        """What the gallery keeps and demands, as it was set."""
        text = self.meta("policy")
        return text if type(text) is str else None

    def set_policy(self, text: str, *, thumbnails: bool) -> Removed:
        """Set it; without thumbnails those that are kept are erased."""
        return self.run(_row_people.set_policy, text, thumbnails)

    @property
    def codec(self) -> RowCodec:
        """How what is stored is read."""
        return self

    def seal_text(self) -> str | None:
        """How the gallery is sealed, for an export that the same key opens."""
        text = self.meta("seal")
        return None if text is None else str(text)

    def needs_purge(self) -> bool:
        """Whether somebody removed something and did not come to purging."""
        return self.meta("purge") is not None

    # ------------------------------------------------------------------------ the index

    def index_key(self) -> bytes | None:
        """With which the index beside the file is signed."""
        return user_key() if self.sealer is None else self.sealer.index_key

    def index_state(self) -> str | None:
        """What was noted about the index beside the file."""
        state = self.meta("index")
        return state if type(state) is str else None

    def save_index(self, write: IndexWriter) -> None:
        """Note a new index within the transaction in which it is written."""
        if self.index_state() is not None:
            # Killed between the two, nothing is noted about the file, and it goes at the next open.
            with self.writing():
                self.set_meta("index", None)
        with self.writing() as revision:
            self.set_meta("index", write(revision))

    def forget_index(self, people: Iterable[int] | None) -> None:
        """Some people, or all, are not as an index has them; within a transaction."""
        self.set_meta("index", None)

    def shared_index(self, scorer: Scorer, mark: str) -> CandidateIndex | None:
        """A file has its index beside it."""
        return None

    # ------------------------------------------------------------------------ people

    def note(self, action: str, people: int, templates: int) -> None:
        """Add to the trail."""
        self.run(_row_people.note_action, action, people, templates)

    def count_people(self) -> int:
        """All people."""
        return int(self.query("SELECT count(*) FROM person")[0][0])

    def count_enrolled(self) -> int:
        """People with at least one template; counted anew only after a change."""
        revision = self.revision()
        if self.counted[0] != revision:
            (n,) = self.query("SELECT count(DISTINCT person) FROM template")[0]
            self.counted = revision, int(n)
        return self.counted[1]

    def find_person(self, name: str) -> int | None:
        """The number of the person with this name."""
        rows = self.query("SELECT id FROM person WHERE tag = ?", (self.tag(name),))
        return int(rows[0][0]) if rows else None

    def find_people(self, names: Iterable[str]) -> dict[str, int]:
        """Numbers of those of these names who are there."""
        tags = {self.tag(name): name for name in dict.fromkeys(names)}
        return {
            tags[tag]: int(number)
            for some in in_parts(list(tags))
            for tag, number in self.query(
                f"SELECT tag, id FROM person WHERE tag IN ({','.join('?' * len(some))})", some
            )
        }

    def require_person(self, name: str) -> int:
        found = self.find_person(name)
        if found is None:
            raise InputError(f"nobody in {self.where} is called {name!r}")
        return found

    def people(self) -> list[Person]:
        """Everybody."""
        return _row_people.list_people(self)

    def get_people(self, ids: Iterable[int]) -> list[Person]:
        """Those of these numbers who are there."""
        with self.reading():
            return [
                person
                for some in in_parts(list(ids))
                for person in _row_people.list_people(self, some)
            ]

    def all_names(self) -> dict[int, str]:
        """Names of everybody by number."""
        return _row_people.all_names(self)

    def gone_since(self, revision: int) -> list[int]:
        """Numbers of people who went, or lost their last face, since a revision."""
        rows = self.query(
            "SELECT DISTINCT person FROM audit WHERE revision > ? AND person IS NOT NULL",
            (revision,),
        )
        here = self.names_of({row[0] for row in rows})
        faceless = self.query(
            "SELECT id FROM person WHERE revision > ? AND NOT EXISTS "
            "(SELECT 1 FROM template WHERE template.person = person.id)",
            (revision,),
        )
        gone = {int(row[0]) for row in rows} - set(here)
        return sorted(gone | {int(row[0]) for row in faceless})

    def people_batches(self, *, after: int | None = None) -> Iterator[PeopleBatch]:
        """Sums of everybody, or of those changed after a revision, by rising number."""
        return _row_sums.people_batches(self, after)

    def some_people(self, ids: Iterable[int]) -> PeopleBatch:
        """Sums of the named people, by rising number."""
        return _row_sums.some_people(self, ids)

    def sample(self, n_people: int, n_pictures: int) -> tuple[np.ndarray, np.ndarray]:
        """Templates (n, d) of the first people, and their numbers (n,)."""
        return _row_sums.sample(self, n_people, n_pictures)

    # ------------------------------------------------------------------------ changes

    def insert(self, new: NewTemplates) -> tuple[int, int]:
        """Add faces, all or none; gives how many are new, and how many were refused."""
        return self.run(_row_writing.insert_templates, new)

    def contains(self, digest: bytes) -> bool:
        """Whether a face of this picture is there."""
        return bool(self.query("SELECT 1 FROM template WHERE digest = ? LIMIT 1", (digest,)))

    def add_person(self, name: str) -> bool:
        """Somebody without faces; False where the name is taken."""
        return self.run(_row_people.add_person, name)

    def rename_person(self, old: str, new: str) -> None:
        """Give a person another name."""
        self.run(_row_people.rename_person, old, new)

    def hide_person(self, name: str, hidden: bool) -> None:
        """Whether a person is left out of lists."""
        self.run(_row_people.hide_person, name, hidden)

    def set_terms(self, name: str, consent: str | None, retain_until: float | None) -> None:
        """What a person agreed to, as text, and until when the faces are kept."""
        self.run(_row_people.set_terms, name, consent, retain_until)

    def note_use(self, numbers: Iterable[int], day: int) -> None:
        """People were recognised on a day, counted from 1970."""
        self.run(_row_people.note_use, sorted(numbers), day)

    def merge_people(self, person: str, into: str) -> int:
        """Move all templates of one person to another, and forget the first."""
        return self.run(_row_writing.merge_people, person, into)

    def delete_person(self, name: str) -> Removed:
        """Delete a person with all templates."""
        return self.run(_row_writing.delete_person, name)

    def delete_picture(self, digest: bytes) -> Removed:
        """Delete all faces of a picture, and people who have no other."""
        return self.run(_row_writing.delete_picture, digest)

    def list_faces(
        self, person: str | None, after: str | None, limit: int | None
    ) -> list[StoredFace]:
        """Faces in a fixed order, for reading in pages."""
        return _row_faces.list_faces(self, person, after, limit)

    def get_face(self, identifier: str) -> StoredFace | None:
        """The face with this id."""
        return _row_faces.get_face(self, identifier)

    def find_face(self, digest: bytes, face: int) -> StoredFace | None:
        """A face of a picture."""
        return _row_faces.find_face(self, digest, face)

    def read_vector(self, identifier: str) -> np.ndarray:
        """The template (1, d) of a face."""
        return _row_faces.read_vector(self, identifier)

    def move_faces(self, identifiers: Sequence[str], person: str, *, split: bool) -> list[str]:
        """Give faces to another person; gives who has none left, and is forgotten."""
        return self.run(_row_faces.move_faces, list(identifiers), person, split)

    def remove_faces(self, identifiers: Sequence[str]) -> None:
        """Take faces out so that they can be brought back."""
        self.run(_row_faces.remove_faces, list(identifiers))

    def delete_face(self, identifier: str) -> Removed:
        """Delete one face."""
        return self.run(_row_faces.delete_face, identifier)

    def thumbnail(self, identifier: str) -> bytes | None:
        """The small picture of a face, where one is kept."""
        return _row_faces.read_thumbnail(self, identifier)

    def set_thumbnail(self, identifier: str, content: bytes) -> None:
        """Keep one."""
        self.run(_row_faces.set_thumbnail, identifier, content)

    # ------------------------------------------------------------------------ links, history

    def add_link(self, kind: str, face: FaceKey, other: FaceKey | None, person: str | None) -> int:
        """Keep a statement about a face; gives its number."""
        return self.run(_row_links.add_link, kind, face, other, person)

    def drop_link(self, number: int) -> None:
        """Take a statement back."""
        self.run(_row_links.drop_link, number)

    def links(self) -> list[Constraint]:
        """All statements about faces, from the first."""
        return _row_links.list_links(self)

    def bans(self, faces: Sequence[FaceKey | None]) -> list[tuple[set[int] | None, int | None]]:
        """Per face: who it is not (None: not a face), and who it is by a statement."""
        return _row_links.find_bans(self, faces)

    def find_key(self, identifier: str) -> FaceKey | None:
        """Picture and number of the face with this id."""
        return _row_faces.find_key(self, identifier)

    def history(self, limit: int | None) -> list[Change]:
        """Changes that can be undone, from the last."""
        return _row_changes.history(self, limit)

    def undo(self, expected: int | None) -> tuple[Change, Removed]:
        """Undo the last change that was not undone."""
        return self.run(_row_changes.undo, expected)

    def clear_history(self) -> Removed:
        """Forget how to undo, with everything that was kept for it."""
        return self.run(_row_changes.clear)

    def change_key(self, key: bytes | str) -> None:
        """Exchange the gallery's key; nothing is sealed again."""
        self.run(_row_rekey.change_key, key)

    def rotate(self) -> int:
        """Turn all templates by a new secret; gives how many."""
        return self.run(_row_rotate.rotate)

    def all_rows(self) -> TemplateRows:
        """Everything, for an export."""
        with self.reading():
            people = [(row[0], row[2]) for row in self.rows("person")]
            templates: list[Any] = self.rows("template", order="person, digest, face")
        return TemplateRows(sorted(people), templates)
