"""Enrolling: faces of named people become templates, all of a call or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mien.errors import InputError
from mien.gallery._checks import (
    check_consent,
    check_digests,
    check_name,
    check_quality,
    check_thumbnail,
    scale_vectors,
)
from mien.gallery._gallery_changes import GalleryChanges
from mien.gallery._protocol import NewTemplates
from mien.gallery._records import Consent, EnrolResult

__all__ = ["GalleryEnrolling"]


class GalleryEnrolling(GalleryChanges):
    """The part of a gallery that adds faces."""

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
            Name of the person; an existing person gets more templates.
        vectors : (n, d)
            As the engine gives them, or any others of the model's features. They are scaled to
            unit length.
        digests : list of str, optional
            SHA-256 of the picture file of each, in hexadecimal. Without them each vector counts
            as its own picture, and the same vector is the same picture.
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
            qualities = [None if q is None else check_quality(q) for q in qualities]
        self._warn_of_lookalikes(list(cleaned.values()), level=4)
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
