"""What can be done to the people of a gallery: each change is confirmed when its call returns."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

from mien._core.text import safe_text, skeleton
from mien._core.validation import check_choice, check_integer
from mien.errors import GalleryError, InputError, MienWarning
from mien.gallery._checks import check_consent, check_digest, check_name, check_thumbnail
from mien.gallery._gallery_reading import GalleryReading
from mien.gallery._picture_index import PictureIndex
from mien.gallery._records import Change, Consent, FaceKey, GalleryPolicy, StoredFace
from mien.gallery._row_links import KINDS

if TYPE_CHECKING:
    from mien.gallery._own_rates import OwnRates
    from mien.gallery._protocol import Removed
    from mien.gallery._search import Search

__all__ = ["GalleryChanges"]

# Names that look alike are looked for in galleries of up to so many people.
_MOST_COMPARED_NAMES = 20_000


class GalleryChanges(GalleryReading):
    """People, faces, constraints and the history; the part of a gallery that changes it."""

    _search: Search
    _rates: OwnRates
    _looks: dict[str, str] | None

    # People.

    def add_person(self, name: str) -> bool:
        """Somebody without faces yet; False where the name is already in the gallery."""
        name = check_name(name)
        self._warn_of_lookalikes([name])
        return self._store.add_person(name)

    def rename(self, person: str, name: str) -> None:
        """Give a person another name; the history keeps the old one until it is cleared."""
        person, name = check_name(person), check_name(name)
        self._warn_of_lookalikes([name], without=person)
        self._store.rename_person(person, name)

    def merge(self, person: str, into: str) -> int:
        """Move all templates of one person to another, and forget the first; gives how many."""
        self._looks = None
        return self._store.merge_people(check_name(person), check_name(into))

    def _warn_of_lookalikes(
        self, names: list[str], without: str | None = None, level: int = 3
    ) -> None:
        """Say when a new name reads like another one: it may be a mistake, or a trick."""
        n_people = len(self)
        if n_people + len(names) > _MOST_COMPARED_NAMES:
            return
        if self._looks is None or len(self._looks) > 2 * n_people + 100:
            self._looks = {skeleton(person.name): person.name for person in self._store.people()}
        if without is not None and self._looks.get(skeleton(without)) == without:
            del self._looks[skeleton(without)]
        for name in names:
            other = self._looks.setdefault(skeleton(name), name)
            if other != name:
                warnings.warn(
                    f"the gallery has {safe_text(other)!r}, and {safe_text(name)!r} looks like it: "
                    "if they are one person, merge them",
                    MienWarning,
                    stacklevel=level,
                )

    def hide(self, person: str) -> None:
        """Leave a person out of lists; hidden people are still recognised."""
        self._store.hide_person(check_name(person), True)

    def unhide(self, person: str) -> None:
        """Show a person in lists again."""
        self._store.hide_person(check_name(person), False)

    def delete(self, person: str) -> int:
        """Delete a person with all templates, for good; gives how many templates there were.

        This cannot be undone: history, thumbnails, constraints and the person's key go as well.
        Rows, index entries, the journal and freed pages are overwritten, and the bytes of the
        file are looked through for what was deleted. Copies that the file system or somebody
        else made are out of reach: see the guide.
        """
        self._looks = None
        removed = self._store.delete_person(check_name(person))
        self._purge(removed)
        if PictureIndex.exists(self._store.path):
            try:
                with PictureIndex(self._store.path) as index:
                    index.keep_people({held.number for held in self._store.people()})
            except GalleryError as error:
                warnings.warn(
                    "the person was deleted, but in which pictures their number was seen stays "
                    f"remembered: {error}",
                    MienWarning,
                    stacklevel=2,
                )
        return removed.templates

    # Faces.

    def move_faces(self, identifiers: Sequence[str], person: str) -> list[StoredFace]:
        """Move faces to another person, who may be new; people without faces left are removed.

        A moved face does not come back when its picture is enrolled again under the old name.
        """
        if isinstance(identifiers, str) or not identifiers:
            raise InputError("give the ids of one or more faces")
        self._looks = None
        self._store.move_faces(identifiers, check_name(person), split=False)
        return [face for face in map(self._store.get_face, identifiers) if face is not None]

    def move_face(self, identifier: str, person: str) -> StoredFace:
        """Give one face to another person; see :meth:`move_faces`."""
        (moved,) = self.move_faces([identifier], person)
        return moved

    def split(self, identifiers: Sequence[str], name: str) -> list[StoredFace]:
        """Make a new person of some faces; the name must not be in the gallery."""
        if isinstance(identifiers, str) or not identifiers:
            raise InputError("give the ids of one or more faces")
        name = check_name(name)
        self._warn_of_lookalikes([name])
        self._store.move_faces(identifiers, name, split=True)
        return [face for face in map(self._store.get_face, identifiers) if face is not None]

    def remove_faces(self, identifiers: Sequence[str]) -> None:
        """Take faces out, so that undoing brings them back; :meth:`delete_face` is for good.

        The person stays, also without a face. A face that was taken out is not enrolled again
        under the same name.
        """
        if isinstance(identifiers, str) or not identifiers:
            raise InputError("give the ids of one or more faces")
        self._store.remove_faces(identifiers)

    def remove_face(self, identifier: str) -> None:
        """Take one face out; see :meth:`remove_faces`."""
        self.remove_faces([identifier])

    def delete_face(self, identifier: str) -> None:
        """Delete a face permanently, and its person if it was the last face."""
        self._purge(self._store.delete_face(identifier))

    def delete_source(self, digest: str) -> int:
        """Delete all faces of one picture, and people who have no other; returns the number of
        faces."""
        removed = self._store.delete_picture(check_digest(digest))
        self._purge(removed)
        return removed.templates

    def set_thumbnail(self, identifier: str, content: bytes) -> None:
        """Keep a small picture (JPEG, PNG or WebP) of a face; the policy must allow it."""
        self._require_thumbnails()
        self._store.set_thumbnail(identifier, check_thumbnail(content))

    def _require_thumbnails(self) -> None:
        if not self.policy.thumbnails:
            raise InputError(
                f"{self._store.where} keeps no thumbnails: set_policy(thumbnails=True) allows them"
            )

    # Constraints.

    def add_constraint(
        self,
        kind: str,
        face: str | FaceKey | tuple[str, int],
        *,
        other: str | FaceKey | tuple[str, int] | None = None,
        person: str | None = None,
    ) -> int:
        """Keep for good what somebody said about a face; gives the number of the constraint.

        Parameters
        ----------
        kind : str
            "same-person", "different-people" or "not-sure" about ``face`` and ``other``;
            "not-a-face" about ``face``; "not-this-person" about ``face`` and ``person``.
        face, other : str, or (digest, number)
            The id of an enrolled face, or SHA-256 of a picture and which of its faces.
        person : str or None
            A name in the gallery.

        Notes
        -----
        A face is never enrolled as, nor named as, a person whom a constraint excludes. Of two
        answers about the same faces the later one holds. Deleting a person or a face for good
        deletes what was said about it.
        """
        check_choice("kind", kind, tuple(KINDS))
        needs_other, needs_person = KINDS[kind]
        if (other is not None) != needs_other or (person is not None) != needs_person:
            wanted = "other=" if needs_other else "person=" if needs_person else "nothing else"
            raise InputError(f"a constraint {kind!r} takes a face and {wanted}")
        return self._store.add_link(
            kind,
            self._face_key(face),
            None if other is None else self._face_key(other),
            None if person is None else check_name(person),
        )

    def remove_constraint(self, number: int) -> None:
        """Take back what was said."""
        self._store.drop_link(check_integer("number", number, 1))

    # What the gallery keeps and demands.

    def set_policy(
        self,
        *,
        thumbnails: bool | None = None,
        consent: bool | None = None,
        retain_days: float | None = -1,
    ) -> GalleryPolicy:
        """Change what the gallery keeps and demands; what is not given stays as it is.

        Parameters
        ----------
        thumbnails : bool, optional
            Whether small pictures of faces are kept; False erases those that are.
        consent : bool, optional
            Whether nobody is enrolled without a consent that holds.
        retain_days : float or None, optional
            Days after the last use until a person is due for purging; None is no limit.
        """
        held = self.policy
        if retain_days is not None and retain_days != -1 and not 0 < retain_days < 1e6:
            raise InputError(f"retain_days must be a positive number; got {retain_days!r}")
        new = GalleryPolicy(
            held.thumbnails if thumbnails is None else bool(thumbnails),
            held.consent if consent is None else bool(consent),
            held.retain_days if retain_days == -1 else retain_days,
        )
        removed = self._store.set_policy(json.dumps(asdict(new)), thumbnails=new.thumbnails)
        if removed.secrets:
            self._purge(removed)
        return new

    def set_consent(self, person: str, consent: Consent | None) -> None:
        """Record what a person agreed to; None withdraws it."""
        held = self._require_person(person)
        text = None if consent is None else check_consent(consent)
        self._store.set_terms(held.name, text, held.retain_until)

    def set_retention(self, person: str, until: float | None) -> None:
        """Until when a person's faces are kept, in seconds since 1970; None is no limit."""
        held = self._require_person(person)
        text = None if held.consent is None else check_consent(held.consent)
        self._store.set_terms(held.name, text, None if until is None else float(until))

    def change_key(self, key: bytes | str) -> None:
        """Exchange the key of a sealed gallery; nobody is enrolled again.

        Copies from before, such as backups, open with the old key only: destroy it, and what they
        hold of people who were deleted since is unreadable. Whoever has the gallery open must
        open it again.
        """
        self._store.change_key(key)
        self._store.purge(None)
        self._search.touch()

    def rotate(self) -> int:
        """Turn all templates of a sealed gallery by a new secret rotation; gives how many.

        Scores stay as they are, to rounding. Vectors of two galleries, or of one before and after,
        cannot be compared with each other without the secrets; see
        docs/gallery.md for what that does not protect against. The secret is sealed with the
        gallery's key. Others who have the gallery open need not open it again.
        """
        n = self._store.rotate()
        self._store.purge(None)
        self._search.touch()
        return n

    # The history.

    def undo(self, change: int | None = None) -> Change:
        """Undo the last change that was not undone; gives it.

        Enrolling, adding, renaming, merging, moving, splitting and hiding people, taking faces
        out, constraints and consents are undone exactly. What was deleted for good stays so.

        Parameters
        ----------
        change : int or None
            The number of the change that is meant: if somebody made another since, nothing is
            undone.
        """
        self._looks = None
        undone, removed = self._store.undo(
            None if change is None else check_integer("change", change, 1)
        )
        if removed.secrets or removed.names:
            self._purge(removed)
        return undone

    def clear_history(self) -> None:
        """Forget how to undo: old names, and faces that were taken out, are erased for good."""
        self._purge(self._store.clear_history())

    def _purge(self, removed: Removed) -> None:
        self._looks = None
        # On a full disk the counts of whoever is gone stay unread, and the purge goes on.
        with suppress(GalleryError):
            self._rates.forget()
        self._store.purge(removed)
        self._search.touch()

    def purge(self) -> None:
        """Rewrite the file, so that nothing that was ever deleted is in it."""
        self._store.purge(None)
        self._search.touch()
