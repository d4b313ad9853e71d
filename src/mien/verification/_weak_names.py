"""Who is who, when each picture only says which people are on it and not where."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mien._core.progress import track
from mien._core.rows import check_rows
from mien.errors import InputError

__all__ = ["WeakNames"]

_MOST_EXACT = 12  # names per picture up to which all assignments are summed
_HIGHEST = 50.0  # log ratios are clipped here: nothing is surer than that
_TEMPERATURES = (4.0, 2.0)
_SMOOTHING = 2.0
_AT_ONCE = 256
_SURE = 0.9
_WORTH_A_LOOK = -4.0


class _Bags(NamedTuple):
    """Faces and names by picture, as numbers."""

    faces: list[np.ndarray]
    names: list[np.ndarray]


def assignment_marginals(log_weights: np.ndarray) -> np.ndarray:
    """Probabilities (..., n_faces, n_names) that a face has a name, over all partial matchings.

    Parameters
    ----------
    log_weights : (..., n_faces, n_names)
        Log weight of a pair beside leaving both alone. A matching has the product of its pairs.

    Notes
    -----
    Exact, by dynamic programming over sets of names: 2^n_names x n_faces x n_names steps, for many
    pictures at once. Above twelve names the best matching is taken, and each face is weighed
    against its own alternatives with the names of the other faces taken away.
    """
    n_faces, n_names = log_weights.shape[-2:]
    if n_faces == 0 or n_names == 0:
        return np.zeros(log_weights.shape)
    flat = log_weights.reshape(-1, n_faces, n_names)
    if n_names > _MOST_EXACT:
        greedy = np.stack([_greedy_marginals(one) for one in flat])
        return greedy.reshape(log_weights.shape)
    n_sets = 1 << n_names
    sets = np.arange(n_sets)
    without = [sets[(sets >> p) & 1 == 0] for p in range(n_names)]
    forward = np.full((n_faces + 1, len(flat), n_sets), -np.inf)
    forward[0, :, 0] = 0.0
    backward = np.zeros((n_faces + 1, len(flat), n_sets))
    for i in range(n_faces):
        forward[i + 1] = forward[i]
        for p, free in enumerate(without):
            taken = free | (1 << p)
            forward[i + 1][:, taken] = np.logaddexp(
                forward[i + 1][:, taken], forward[i][:, free] + flat[:, i, p, None]
            )
    for i in reversed(range(n_faces)):
        backward[i] = backward[i + 1]
        for p, free in enumerate(without):
            backward[i][:, free] = np.logaddexp(
                backward[i][:, free], flat[:, i, p, None] + backward[i + 1][:, free | (1 << p)]
            )
    total = backward[0, :, 0]
    marginals = np.empty_like(flat)
    for i in range(n_faces):
        for p, free in enumerate(without):
            ways = forward[i][:, free] + backward[i + 1][:, free | (1 << p)]
            marginals[:, i, p] = np.exp(_log_sum(ways) + flat[:, i, p] - total)
    return np.minimum(marginals, 1.0).reshape(log_weights.shape)


def _log_sum(x: np.ndarray) -> np.ndarray:
    """Logarithm of the sum of exponentials along the last axis."""
    highest = x.max(axis=-1)
    highest = np.where(np.isfinite(highest), highest, 0.0)
    with np.errstate(divide="ignore"):
        summed: np.ndarray = np.log(np.exp(x - highest[..., None]).sum(axis=-1)) + highest
    return summed


def _marginals_of_many(weights: Sequence[np.ndarray]) -> list[np.ndarray]:
    """`assignment_marginals` of matrices of any shapes, those of one shape together."""
    found: list[np.ndarray] = [np.zeros(one.shape) for one in weights]
    shapes: dict[tuple[int, ...], list[int]] = {}
    for b, one in enumerate(weights):
        if one.size:
            shapes.setdefault(one.shape, []).append(b)
    for alike in shapes.values():
        for start in range(0, len(alike), _AT_ONCE):
            some = alike[start : start + _AT_ONCE]
            together = assignment_marginals(np.stack([weights[b] for b in some]))
            for b, marginals in zip(some, together, strict=True):
                found[b] = marginals
    return found


def _greedy_marginals(log_weights: np.ndarray) -> np.ndarray:
    gain = np.maximum(log_weights, 0.0)
    rows, columns = linear_sum_assignment(gain, maximize=True)
    owner = {int(p): int(i) for i, p in zip(rows, columns, strict=True) if gain[i, p] > 0}
    marginals = np.zeros_like(log_weights)
    for i in range(len(log_weights)):
        open_to = [p for p in range(log_weights.shape[1]) if owner.get(p, i) == i]
        if open_to:
            mine = log_weights[i, open_to]
            marginals[i, open_to] = np.exp(mine - np.logaddexp(0.0, _log_sum(mine)))
    return marginals


class WeakNames(BaseEstimator):
    """Find out which face has which name, from pictures that list names without places.

    A picture (a bag) has faces and a set of names. Some faces belong to nobody who is named, some
    names belong to nobody whose face was found, and some names are wrong. Two faces of one picture
    are two people. Alternates between the assignments within each picture and the set of faces of
    each person, and says how sure it is of each face.

    Parameters
    ----------
    verifier : Verifier
        Fitted: gives calibrated log-likelihood ratios of sets of vectors. Anything with its
        ``score_sums(k, probe_sums, m, gallery_sums)`` will do.
    min_probability : float, default=0.95
        A face gets a name if it has it with at least this probability. Raise it where a wrong
        name costs more than an open one.
    missing : float, default=0.1
        Share of listed names whose face is not in the picture, to begin with; it is estimated.
    strangers : float, default=0.3
        Faces per picture that belong to nobody who is listed, to begin with; it is estimated.
    unlisted : float, default=0.2
        Faces per picture that belong to somebody whose name appears only with other pictures, to
        begin with; it is estimated. 0 gives a face no name that its picture does not list.
    max_iter : int, default=20
        Maximum number of rounds.

    Attributes
    ----------
    people_ : (n_people,) ndarray of object
        All names, in the order of their first appearance.
    labels_ : (n_faces,) ndarray of object
        The name of each face; None where it is open or belongs to nobody who is named.
    probabilities_ : list of dict
        For each face the names of its picture and their probabilities; what is left to one is
        "somebody else".
    missing_, strangers_, unlisted_ : float
        The three shares as estimated.
    n_iter_ : int
        Rounds that were run.

    See Also
    --------
    Verifier : gives the ratios that it uses.

    Notes
    -----
    With F faces and N names a matching of m pairs has the weight

    .. math:: \\prod_{(i,p)} r_{ip} \\; (1-\\phi)^m \\phi^{N-m} \\lambda^{F-m} / F!

    where :math:`r_{ip}` is the likelihood ratio of face i and the other faces of person p,
    :math:`\\phi` the share of names without a face, and the number of strangers is Poisson with
    mean :math:`\\lambda`. The probability of a pair is summed over all matchings. The first rounds
    compare a face with every face of the other pictures that list the name (one of them should be
    the same person), at a higher temperature; from then on it is compared with the faces that the
    person has so far, itself left out. When that has settled, faces are also compared with people
    whom their picture does not list; such a pair has the weight
    :math:`r_{ip} \\, u / (n \\lambda)`, u unlisted faces per picture among n people. Two
    people who are only ever listed together cannot be told apart, and stay open.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.verification import JointBayesian, Verifier, WeakNames
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(200), 5)
    >>> X = 3 * rng.standard_normal((200, 16))[y] + rng.standard_normal((1000, 16))
    >>> X /= np.linalg.norm(X, axis=1, keepdims=True)
    >>> model = JointBayesian().fit(X[:500], y[:500])
    >>> verifier = Verifier(model, random_state=0).fit(X[500:900], y[500:900])
    >>> faces = X[[900, 901, 905, 902, 906]]
    >>> weak = WeakNames(verifier).fit(faces, [0, 1, 1, 2, 2], [["Ann"], ["Ann", "Bob"], ["Bob"]])
    >>> weak.labels_.tolist()
    ['Ann', 'Ann', 'Bob', 'Ann', 'Bob']
    """

    def __init__(
        self,
        verifier: Any,
        *,
        min_probability: float = 0.95,
        missing: float = 0.1,
        strangers: float = 0.3,
        unlisted: float = 0.2,
        max_iter: int = 20,
    ) -> None:
        self.verifier = verifier
        self.min_probability = min_probability
        self.missing = missing
        self.strangers = strangers
        self.unlisted = unlisted
        self.max_iter = max_iter

    def fit(
        self,
        X: Any,
        bags: Any,
        names: Sequence[Iterable[Hashable]],
        *,
        groups: Any = None,
        absent: Sequence[Iterable[Hashable]] | None = None,
    ) -> Self:
        """Find the names of all faces.

        Parameters
        ----------
        X : (n_faces, d)
            Vectors, as the verifier takes them.
        bags : (n_faces,)
            The picture of each face: a number from 0 to ``len(names) - 1``.
        names : sequence of collections
            The names that each picture lists; may be empty.
        groups : (n_faces,) or None
            Faces that are one person, as of a track or a burst; -1 is "in no group".
        absent : sequence of collections or None
            People whom no face of a picture can be, for each picture: those whose face is known.
            They may be listed with other pictures.
        """
        self._check_parameters()
        X = check_rows(X, dtype=np.float64)
        owner = self._check_bags(bags, len(X), len(names))
        everybody = list(dict.fromkeys(name for listed in names for name in listed))
        numbers = {name: p for p, name in enumerate(everybody)}
        listed = [
            np.asarray(sorted({numbers[name] for name in one}), dtype=np.int64) for one in names
        ]
        ends = np.cumsum(np.bincount(owner, minlength=len(names)))
        members = np.split(np.argsort(owner, kind="stable"), ends[:-1]) if len(names) else []
        pictures = _Bags([np.asarray(one) for one in members], listed)
        away = self._check_absent(absent, listed, numbers)
        probes = self._sum_groups(X, groups)
        candidates = self._find_candidates(pictures, len(everybody))
        self.missing_, self.strangers_ = float(self.missing), float(self.strangers)
        ratios = self._consensus(X, owner, candidates)
        chance = self._assign(pictures, candidates, ratios, _TEMPERATURES[0])
        before: list[frozenset[int]] = []
        self.n_iter_ = 0
        for _ in track(range(self.max_iter), "finding who is who", self.max_iter):
            self.n_iter_ += 1
            ratios, sets = self._compare(X, probes, candidates, chance, ratios)
            temperature = _TEMPERATURES[1] if self.n_iter_ == 1 else 1.0
            chance = self._assign(pictures, candidates, ratios, temperature)
            self._estimate(pictures, chance)
            if sets == before and temperature == 1.0:
                break
            before = sets
        found = self._collect(everybody, candidates, chance, len(X))
        self.unlisted_ = float(self.unlisted)
        if self.unlisted > 0 and everybody:
            found = self._look_beyond(X, probes, pictures, candidates, ratios, chance, found, away)
        self._keep(everybody, found)
        self.n_features_in_ = X.shape[1]
        return self

    def _check_parameters(self) -> None:
        for name in ("min_probability", "missing"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(f"{name} must be between 0 and 1; got {getattr(self, name)!r}")
        if not self.strangers > 0:
            raise InputError(f"strangers must be greater than 0; got {self.strangers!r}")
        if self.max_iter < 1:
            raise InputError(f"max_iter must be at least 1; got {self.max_iter!r}")
        if not hasattr(self.verifier, "score_sums"):
            raise InputError(
                "WeakNames needs a fitted verifier of sets, such as "
                f"mien.verification.Verifier; got {type(self.verifier).__name__}"
            )

    @staticmethod
    def _check_bags(bags: Any, n_faces: int, n_bags: int) -> np.ndarray:
        owner = np.asarray(bags)
        if owner.shape != (n_faces,):
            raise InputError(f"bags must have the shape ({n_faces},); got {owner.shape}")
        if owner.dtype.kind not in "iu" or (
            n_faces and not 0 <= owner.min() <= owner.max() < n_bags
        ):
            raise InputError(f"bags must be whole numbers from 0 to {n_bags - 1}, one per face")
        return owner.astype(np.int64)

    @staticmethod
    def _check_absent(
        absent: Sequence[Iterable[Hashable]] | None,
        listed: list[np.ndarray],
        numbers: dict[Hashable, int],
    ) -> list[np.ndarray]:
        """Numbers of the people whom no face of each picture can be."""
        if absent is None:
            return [np.zeros(0, dtype=np.int64) for _ in listed]
        if len(absent) != len(listed):
            raise InputError(
                f"absent must have one collection per picture, {len(listed)}; got {len(absent)}"
            )
        away = [
            np.asarray(sorted({numbers[name] for name in one if name in numbers}), dtype=np.int64)
            for one in absent
        ]
        for number, (mine, others) in enumerate(zip(listed, away, strict=True)):
            if np.isin(mine, others).any():
                raise InputError(f"picture {number} lists somebody who is said to be absent")
        return away

    @staticmethod
    def _sum_groups(X: np.ndarray, groups: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Number of faces and sum of vectors of each face's group, and the groups (own if none)."""
        own = np.arange(len(X)) + 1_000_000_000
        if groups is None:
            return np.ones(len(X), np.int64), X, own
        labels = np.asarray(groups)
        if labels.shape != (len(X),) or labels.dtype.kind not in "iu":
            raise InputError(f"groups must be whole numbers of the shape ({len(X)},), -1 for none")
        labels = np.where(labels < 0, own, labels)
        _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
        sums = np.zeros((len(counts), X.shape[1]))
        np.add.at(sums, inverse, X)
        return counts[inverse], sums[inverse], labels

    @staticmethod
    def _find_candidates(pictures: _Bags, n_people: int) -> list[np.ndarray]:
        """Faces of all pictures that list a person, for each person."""
        found: list[list[int]] = [[] for _ in range(n_people)]
        for faces, names in zip(pictures.faces, pictures.names, strict=True):
            for p in names:
                found[p].extend(faces.tolist())
        return [np.asarray(one, dtype=np.int64) for one in found]

    def _consensus(
        self, X: np.ndarray, owner: np.ndarray, candidates: list[np.ndarray]
    ) -> list[np.ndarray]:
        """Log ratios of the first round: does one face of each other picture look like this one?"""
        ratios = []
        for mine in candidates:
            if len(mine) == 0:
                ratios.append(np.zeros(0))
                continue
            ones = np.ones(len(mine), np.int64)
            pairs = np.minimum(self.verifier.score_sums(ones, X[mine], ones, X[mine]), _HIGHEST)
            pictures, inverse, sizes = np.unique(
                owner[mine], return_inverse=True, return_counts=True
            )
            order = np.argsort(inverse, kind="stable")
            starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
            same = np.logaddexp.reduceat(pairs[:, order], starts, axis=1) - np.log(sizes)
            evidence = np.logaddexp(
                np.log(self.missing_), np.log1p(-self.missing_) + same
            )  # the person is not in that picture, or is one of its faces
            evidence[np.arange(len(mine)), inverse] = 0.0
            others = max(len(pictures) - 1, 1)
            # The comparisons share a face, so that many of them count as three.
            ratios.append(evidence.sum(axis=1) * min(others, 3) / others)
        return ratios

    def _compare(
        self,
        X: np.ndarray,
        probes: tuple[np.ndarray, np.ndarray, np.ndarray],
        candidates: list[np.ndarray],
        chance: list[np.ndarray],
        ratios: list[np.ndarray],
    ) -> tuple[list[np.ndarray], list[frozenset[int]]]:
        """Log ratios of each candidate and the faces that its person has, itself left out."""
        counts, sums, groups = probes
        found, sets = [], []
        for mine, probability, before in zip(candidates, chance, ratios, strict=True):
            held = mine[probability > 0.5]
            sets.append(frozenset(held.tolist()))
            if len(held) == 0:
                found.append(before)
                continue
            # One comparison per set of held faces that is left when a group is taken out.
            left_out, which = np.unique(groups[held], return_inverse=True)
            total = X[held].sum(axis=0)
            away = np.zeros((len(left_out), X.shape[1]))
            np.add.at(away, which, X[held])
            sizes = np.concatenate([[len(held)], len(held) - np.bincount(which)])
            galleries = np.vstack([total, total - away])
            usable = sizes > 0
            scores = np.full((len(mine), len(sizes)), np.nan)
            scores[:, usable] = self.verifier.score_sums(
                counts[mine], sums[mine], sizes[usable], galleries[usable]
            )
            column = np.zeros(len(mine), np.int64)
            place = {group: k + 1 for k, group in enumerate(left_out.tolist())}
            for row, face in enumerate(mine.tolist()):
                column[row] = place.get(int(groups[face]), 0)
            new = scores[np.arange(len(mine)), column]
            # The only face of a person has nothing to be compared with: it stays as it was.
            new = np.where(np.isnan(new), before, new)
            found.append(np.clip(new, -_HIGHEST, _HIGHEST))
        return found, sets

    def _assign(
        self,
        pictures: _Bags,
        candidates: list[np.ndarray],
        ratios: list[np.ndarray],
        temperature: float,
    ) -> list[np.ndarray]:
        """Probabilities of all candidates, by the matchings within each picture."""
        prior = np.log1p(-self.missing_) - np.log(self.missing_) - np.log(self.strangers_)
        filled = np.zeros(len(candidates), np.int64)
        places = []
        weights = []
        for faces, names in zip(*pictures, strict=True):
            places.append([slice(filled[p], filled[p] + len(faces)) for p in names])
            filled[names] += len(faces)
            columns = [ratios[p][place] for p, place in zip(names, places[-1], strict=True)]
            columns = columns or [np.zeros(0)]
            weights.append(np.stack(columns, axis=1) / temperature + prior)
        chance = [np.zeros(len(mine)) for mine in candidates]
        for b, marginals in enumerate(_marginals_of_many(weights)):
            for column, (p, place) in enumerate(zip(pictures.names[b], places[b], strict=True)):
                chance[p][place] = marginals[:, column]
        return chance

    def _estimate(self, pictures: _Bags, chance: list[np.ndarray]) -> None:
        """Shares of missing names and of strangers, shrunk towards where they began."""
        matched = sum(float(one.sum()) for one in chance)
        n_names = sum(map(len, pictures.names))
        n_faces = sum(len(faces) for faces, names in zip(*pictures, strict=True) if len(names))
        n_bags = sum(1 for names in pictures.names if len(names))
        self.missing_ = float(
            np.clip(
                (n_names - matched + _SMOOTHING * self.missing) / (n_names + _SMOOTHING), 1e-3, 0.9
            )
        )
        self.strangers_ = float(
            max((n_faces - matched + _SMOOTHING * self.strangers) / (n_bags + _SMOOTHING), 1e-2)
        )

    @staticmethod
    def _collect(
        everybody: list[Any], candidates: list[np.ndarray], chance: list[np.ndarray], n_faces: int
    ) -> list[dict[int, float]]:
        """Probabilities by face and number of the person."""
        found: list[dict[int, float]] = [{} for _ in range(n_faces)]
        for p, (mine, probability) in enumerate(zip(candidates, chance, strict=True)):
            for face, value in zip(mine.tolist(), probability.tolist(), strict=True):
                found[face][p] = value
        return found

    def _look_beyond(
        self,
        X: np.ndarray,
        probes: tuple[np.ndarray, np.ndarray, np.ndarray],
        pictures: _Bags,
        candidates: list[np.ndarray],
        ratios: list[np.ndarray],
        chance: list[np.ndarray],
        found: list[dict[int, float]],
        away: list[np.ndarray],
    ) -> list[dict[int, float]]:
        """Assign once more, with people whom a picture does not list as further candidates."""
        counts, sums, _ = probes
        held = [mine[p > _SURE] for mine, p in zip(candidates, chance, strict=True)]
        known = np.asarray([p for p, mine in enumerate(held) if len(mine)], dtype=np.int64)
        if len(known) == 0:
            return found
        sizes = np.asarray([len(held[p]) for p in known])
        galleries = np.stack([X[held[p]].sum(axis=0) for p in known])
        scores = np.minimum(self.verifier.score_sums(counts, sums, sizes, galleries), _HIGHEST)
        listed = self._collect([], candidates, ratios, len(X))
        n_bags = max(len(pictures.faces), 1)
        for _ in range(3):
            prior = np.log(self.unlisted_) - np.log(len(known)) - np.log(self.strangers_)
            own_prior = np.log1p(-self.missing_) - np.log(self.missing_) - np.log(self.strangers_)
            numbers, weights = [], []
            for faces, names, absent in zip(*pictures, away, strict=True):
                extra = scores[faces] + prior
                extra[:, np.isin(known, names) | np.isin(known, absent)] = -np.inf
                highest = extra.max(axis=0, initial=-np.inf)
                best = np.flatnonzero(highest > _WORTH_A_LOOK)
                best = best[np.argsort(-highest[best])][: 2 * len(faces)]
                numbers.append([*names.tolist(), *known[best].tolist()])
                own = np.array([[listed[f][p] for p in names] for f in faces.tolist()])
                own = own.reshape(len(faces), len(names)) + own_prior
                weights.append(np.hstack([own, extra[:, best]]))
            beyond = 0.0
            for b, marginals in enumerate(_marginals_of_many(weights)):
                for face, row in zip(pictures.faces[b].tolist(), marginals.tolist(), strict=True):
                    found[face] = dict(zip(numbers[b], row, strict=True))
                beyond += float(marginals[:, len(pictures.names[b]) :].sum())
            self.unlisted_ = float(max(beyond / n_bags, 1e-3))
        return found

    def _keep(self, everybody: list[Any], found: list[dict[int, float]]) -> None:
        self.people_ = np.empty(len(everybody), dtype=object)
        self.people_[:] = everybody
        self.probabilities_: list[dict[Any, float]] = [
            {everybody[p]: value for p, value in one.items()} for one in found
        ]
        self.labels_ = np.empty(len(found), dtype=object)
        for face, options in enumerate(self.probabilities_):
            best = max(options, key=lambda name: options[name], default=None)
            if best is not None and options[best] >= self.min_probability:
                self.labels_[face] = best

    def fit_predict(
        self,
        X: Any,
        bags: Any,
        names: Sequence[Iterable[Hashable]],
        *,
        groups: Any = None,
        absent: Sequence[Iterable[Hashable]] | None = None,
    ) -> np.ndarray:
        """Decide which listed name belongs to which face.

        Parameters
        ----------
        X : (n_faces, d)
            Vectors of all faces.
        bags : (n_faces,) int
            Picture of each face, as a row of ``names``.
        names : sequence of iterables
            Names that are listed for each picture; any hashable labels, in any order.
        groups : (n_faces,) int or None
            Faces that are known to be one person, such as a track; -1 for none.
        absent : sequence of iterables or None
            People whom no face of a picture can be, for each picture.

        Returns
        -------
        (n_faces,) object
            The name of each face; None where the evidence leaves it open, or where the face is of
            somebody who is not listed.
        """
        self.fit(X, bags, names, groups=groups, absent=absent)
        check_is_fitted(self, "labels_")
        return self.labels_
