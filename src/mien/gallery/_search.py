"""The search that fits the size of a gallery, kept up to date with its file."""

from __future__ import annotations

import hmac
import json
import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mien._core.progress import report
from mien.errors import MienError, MissingDependencyError, PerformanceWarning
from mien.gallery._approximate import ApproximateIndex
from mien.gallery._exact import ExactIndex, Shortlist, best_of
from mien.gallery._index_key import SIGNATURE, sign_index
from mien.gallery._making import beside, replace_index, wipe_file
from mien.gallery._protocol import GalleryStore

if TYPE_CHECKING:
    from mien.verification import Scorer

__all__ = ["EXACT_LIMIT", "Search"]

#: Rows up to which "auto" searches exactly.
EXACT_LIMIT = 100_000
# Candidates that are rescored exactly.
_DEPTH = 128


class Search:
    """Indices of a gallery in memory, and the file of the approximate one beside it."""

    def __init__(self, store: GalleryStore, scorer: Callable[[], Scorer], mark: str) -> None:
        self.store = store
        self._load_scorer = scorer
        self.mark = mark
        self._exact: ExactIndex | None = None
        self._approximate: ApproximateIndex | None = None
        self._seen: dict[str, int] = {}
        self._dirty = False

    @property
    def scorer(self) -> Scorer:
        """Loaded when something is searched for."""
        return self._load_scorer()

    @property
    def file(self) -> Any:
        return beside(self.store.path, "-index")

    def choose(self, search: str, n_people: int) -> str:
        if search != "auto":
            return search
        return "exact" if n_people <= EXACT_LIMIT else "approximate"

    def find(self, X: np.ndarray, depth: int, search: str, n_people: int) -> Shortlist:
        """The best people of single probes X (n, d), by the chosen search."""
        how = self.choose(search, n_people)
        if how == "approximate":
            try:
                shared = self.store.shared_index(self.scorer, self.mark)
                index = self._fresh_approximate() if shared is None else shared
            except MissingDependencyError as error:
                if search != "auto":
                    raise
                warnings.warn(f"{error}; searching exactly", PerformanceWarning, stacklevel=4)
            else:
                return self._rescore(X, index.candidates(X, max(_DEPTH, 2 * depth)), depth)
        return self._fresh_exact().search(X, depth)

    def find_sets(self, k: np.ndarray, sums: np.ndarray, depth: int) -> Shortlist:
        """The best people of probes with several pictures, exactly, in one pass over the file."""
        best: Shortlist | None = None
        with self.store.reading():
            for batch in self.store.people_batches():
                scores = self.scorer.score_sums(k, sums, batch.counts, batch.sums)
                sizes = np.minimum(batch.counts, self.scorer.sizes_[-1])
                part = best_of(batch.ids, sizes, scores.astype(np.float64), depth)
                best = part if best is None else _join(best, part, depth)
        return Shortlist.empty(len(k)) if best is None else best

    def _rescore(self, X: np.ndarray, candidates: list[np.ndarray], depth: int) -> Shortlist:
        """Exact ratios of candidates, from the templates in the file."""
        batch = self.store.some_people(np.unique(np.concatenate(candidates)))
        if len(batch.ids) == 0:
            return Shortlist.empty(len(X))
        vectors, constants, sizes = self.scorer.index_people(batch.counts, batch.sums)
        kinds, kind = np.unique(sizes, return_inverse=True)
        terms = self.scorer.query_terms(X, kinds)
        width = max(map(len, candidates))
        ids = np.full((len(X), width), -1, dtype=np.int64)
        scores = np.full((len(X), width), -np.inf)
        found = np.ones((len(X), width), dtype=np.int64)
        for i, mine in enumerate(candidates):
            # Somebody may have been deleted since the index was made.
            rows = np.flatnonzero(np.isin(batch.ids, mine, assume_unique=True))
            n = len(rows)
            ids[i, :n] = batch.ids[rows]
            scores[i, :n] = vectors[rows] @ X[i] + constants[rows] + terms[i, kind[rows]]
            found[i, :n] = sizes[rows]
        short = Shortlist(ids, scores, found)
        return Shortlist(short.ids[:, :depth], short.scores[:, :depth], short.sizes[:, :depth])

    # Keeping up with the file.

    def _fresh_exact(self) -> ExactIndex:
        with self.store.reading():
            # Taken out first: what cannot be brought up to date is not asked again.
            index, self._exact = self._exact, None
            if index is None:
                n = self.store.count_people()
                index = ExactIndex(self.scorer, self.store.dimension, n)
                self._build(index, "exact", n)
            else:
                self._follow(index, "exact")
            self._exact = index
            return index

    def _fresh_approximate(self) -> ApproximateIndex:
        with self.store.reading():
            index, self._approximate = self._approximate or self._read_file(), None
            if index is None:
                index = ApproximateIndex(self.scorer, self.store.dimension)
                n = self.store.count_people()
                self._build(index, "approximate", n)
                self._dirty = True
            elif self._follow(index, "approximate"):
                self._dirty = True
            self._approximate = index
            return index

    def _build(self, index: ExactIndex | ApproximateIndex, name: str, n: int) -> None:
        revision = self.store.revision()
        done = 0
        for batch in self.store.people_batches():
            index.put(batch)
            done += len(batch.ids)
            report("indexing people", done, n)
        self._seen[name] = revision

    def _follow(self, index: ExactIndex | ApproximateIndex, name: str) -> bool:
        """Take over what was changed since, by whatever process."""
        revision, seen = self.store.revision(), self._seen[name]
        if revision == seen:
            return False
        gone = self.store.gone_since(seen)
        if gone:
            index.remove(np.asarray(gone, dtype=np.int64))
        for batch in self.store.people_batches(after=seen):
            index.put(batch)
        self._seen[name] = revision
        return True

    # The file of the approximate index.

    def _identity(self, state: str) -> bytes:
        """What an index belongs to: this gallery, its model, and what was noted about it."""
        return f"{self.store.codec.uuid}\x00{self.mark}\x00{state}".encode()

    def _read_file(self) -> ApproximateIndex | None:
        """The index beside the gallery, if we signed it for what the gallery notes about it."""
        text, key = self.store.index_state(), self.store.index_key()
        if text is None or key is None or self.file.is_symlink() or not self.file.is_file():
            return None
        try:
            state = json.loads(text)
            content = self.file.read_bytes()
            signature, content = content[:SIGNATURE], content[SIGNATURE:]
            # What does not come from us is never given to the library that reads it.
            wanted = sign_index(key, self._identity(text), content)
            if not hmac.compare_digest(signature, wanted):
                return None
            sealer = self.store.codec.sealer
            if sealer is not None:
                content = sealer.unseal(content, b"index", "the index")
            index = ApproximateIndex(self.scorer, self.store.dimension, content)
            self._seen["approximate"] = int(state["revision"])
            return index
        except MissingDependencyError:
            raise
        except (MienError, KeyError, ValueError, TypeError, RuntimeError, OSError):
            return None

    def save(self) -> None:
        """Write the approximate index beside the gallery, if it changed; it is only a copy."""
        index = self._approximate
        if not self._dirty or index is None or self.store.read_only:
            return
        key = self.store.index_key()
        if key is None:
            return
        try:
            self.store.save_index(lambda revision: self._write_file(index, key, revision))
        except (MienError, OSError) as error:
            wipe_file(self.file)
            warnings.warn(
                f"the index of {self.store.where} was not kept, and will be made again: {error}",
                PerformanceWarning,
                stacklevel=3,
            )
        self._dirty = False

    def _write_file(self, index: ApproximateIndex, key: bytes, revision: int) -> str:
        # Within the transaction nobody can delete a person whom the file would still hold.
        self._follow(index, "approximate")
        content = index.save()
        sealer = self.store.codec.sealer
        if sealer is not None:
            content = sealer.seal(content, b"index")
        text = json.dumps({"revision": revision})
        replace_index(self.file, sign_index(key, self._identity(text), content) + content)
        return text

    def touch(self) -> None:
        """The file beside the gallery is gone: write it again when the gallery is closed."""
        self._dirty = self._approximate is not None

    def forget(self) -> None:
        """Remove the file beside the gallery."""
        wipe_file(self.file)

    def forget_stray(self) -> None:
        """Remove an index about which nothing is noted: whoever wrote it was killed."""
        if os.path.lexists(self.file) and self.store.index_state() is None:
            wipe_file(self.file)

    def check(self) -> list[str]:
        """What is wrong with the index beside the gallery; nothing if there is none."""
        text, key = self.store.index_state(), self.store.index_key()
        if self.file.is_symlink():
            return ["the index beside the gallery is a link, and is not read"]
        if not self.file.exists():
            return []
        if text is None:
            return ["an index lies beside the gallery that it does not know"]
        content = self.file.read_bytes()
        if key is None or not hmac.compare_digest(
            content[:SIGNATURE], sign_index(key, self._identity(text), content[SIGNATURE:])
        ):
            return ["the index beside the gallery was altered, or is not ours; it is made again"]
        return []


def _join(first: Shortlist, second: Shortlist, depth: int) -> Shortlist:
    both = Shortlist(
        *(
            np.concatenate([getattr(first, name), getattr(second, name)], axis=1)
            for name in ("ids", "scores", "sizes")
        )
    )
    return Shortlist(both.ids[:, :depth], both.scores[:, :depth], both.sizes[:, :depth])
