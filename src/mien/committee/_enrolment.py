"""People come and go after the committee was fitted; the projections stay."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mien._core.validation import check_labels
from mien.committee._lda import group_means
from mien.errors import InputError

__all__ = ["EnrolmentMixin"]


class EnrolmentMixin:
    """What a committee of linear members needs to add and remove people.

    The mean of a person's pictures goes through every member; members are linear, so the mean of
    old and new pictures together is the weighted mean of both.
    """

    classes_: np.ndarray
    counts_: np.ndarray
    member_means_: np.ndarray

    def _check(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    def _coordinates(self, X: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _through_members(self, coordinates: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def add_person(self, X: Any, label: Any) -> Self:
        """Enrol one person with pictures X (n, n_features), or add pictures to one enrolled.

        Examples
        --------
        >>> import numpy as np
        >>> from mien.committee import RandomSamplingLDA
        >>> rng = np.random.default_rng(0)
        >>> faces = np.repeat(rng.normal(size=(3, 50)), 6, axis=0) + rng.normal(size=(18, 50)) / 2
        >>> people = np.repeat(["ann", "bob", "cat"], 6)
        >>> committee = RandomSamplingLDA(5, random_state=0).fit(faces[:12], people[:12])
        >>> committee.add_person(faces[12:17], "cat").predict(faces[17:]).tolist()
        ['cat']
        >>> committee.remove_person("cat").classes_.tolist()
        ['ann', 'bob']
        """
        X = self._check(X)
        return self._enrol(X, [label] * len(X))

    def add_people(self, X: Any, y: Any) -> Self:
        """Enrol many people at once: pictures X (n, n_features) of the people y (n,)."""
        return self._enrol(self._check(X), y)

    def _enrol(self, X: np.ndarray, y: Any) -> Self:
        """Enrol pictures that are checked and prepared."""
        y = self._check_new_labels(y, len(X))
        labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        means = self._coordinates(group_means(X, codes, len(labels)).astype(X.dtype))
        means = self._through_members(means).astype(self.member_means_.dtype)

        classes, merged = np.unique(np.concatenate([self.classes_, labels]), return_inverse=True)
        old, new = np.split(merged, [len(self.classes_)])
        totals = np.zeros(len(classes), dtype=self.counts_.dtype)
        totals[old] += self.counts_
        totals[new] += counts
        shape = (len(means), len(classes), means.shape[2])
        together = np.zeros(shape, dtype=means.dtype)
        together[:, old] = self.member_means_ * (self.counts_ / totals[old])[:, None]
        together[:, new] += means * (counts / totals[new])[:, None]
        self.classes_, self.counts_, self.member_means_ = classes, totals, together
        return self

    def remove_person(self, label: Any) -> Self:
        """Forget a person; one must remain."""
        check_is_fitted(self)
        keep = self.classes_ != label
        if np.all(keep):
            raise InputError(f"{label!r} is not enrolled; {len(self.classes_)} people are")
        if not np.any(keep):
            raise InputError(f"{label!r} is the only person enrolled, and one must remain")
        self.classes_ = self.classes_[keep]
        self.counts_ = self.counts_[keep]
        self.member_means_ = self.member_means_[:, keep]
        return self

    def _check_new_labels(self, y: Any, n: int) -> np.ndarray:
        labels = check_labels("y", y, n, missing="class")
        kinds = {"U": "strings", "O": "strings"}
        mine = kinds.get(self.classes_.dtype.kind, "numbers")
        theirs = kinds.get(labels.dtype.kind, "numbers")
        if mine != theirs:
            raise InputError(
                f"the enrolled people are {mine}; new labels must be too, got {theirs}"
            )
        return labels.astype(object) if self.classes_.dtype.kind == "O" else labels
