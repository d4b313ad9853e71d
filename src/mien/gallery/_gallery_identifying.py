"""Identifying: who a face is, or that it is nobody in the gallery."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mien import verification
from mien._core.validation import check_choice, check_integer
from mien.errors import InputError
from mien.gallery._checks import check_probes
from mien.gallery._exact import Shortlist
from mien.gallery._gallery_model import GalleryModel
from mien.gallery._records import FaceKey, Identification

__all__ = ["GalleryIdentifying"]

_SEARCHES = ("auto", "exact", "approximate")
_FEWEST_SHORTLISTED = 8


class GalleryIdentifying(GalleryModel):
    """The part of a gallery that names faces."""

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
            The rate cannot be promised for this many people, and ``extrapolate`` is False.
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
