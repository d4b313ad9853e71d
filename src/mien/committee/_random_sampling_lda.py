"""Random-sampling LDA: one PCA, many small discriminant classifiers, fused."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mien._core.constraints import (
    AT_LEAST_TWO,
    FRACTION,
    NON_NEGATIVE_INTEGER,
    POSITIVE_FRACTION,
    POSITIVE_INTEGER,
)
from mien._core.linalg import gram_svd
from mien._core.parallel import count_threads, map_threads, one_blas_thread
from mien._core.rows import validate_rows
from mien._core.types import FLOATS
from mien.committee._enrolment import EnrolmentMixin
from mien.committee._fusion import fuse_members
from mien.committee._lda import check_some_variation, discriminants, group_means, posteriors
from mien.committee._preparation import Prepared, prepare
from mien.committee._sampling import (
    draw_columns,
    draw_pictures,
    draw_training_people,
    member_generators,
    unique_share,
)
from mien.errors import InputError

__all__ = ["RandomSamplingLDA"]

_BLOCK = 2**22  # numbers in a block of posteriors: 32 MiB, so memory does not grow with the probes
_MOST_EIGENFACES = 200  # of a default member; more cost much and gave nothing where we looked


class _Sizes(NamedTuple):
    n_fixed: int
    n_random: int
    n_discriminants: int
    shrinkage: float
    mean_shrinkage: float


class RandomSamplingLDA(
    Prepared,
    EnrolmentMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """A committee of LDA classifiers on random eigenfaces, people or pictures.

    With more pixels than pictures one Fisherface model overfits. Here the PCA is done once; each
    member solves LDA on few of its coordinates, or on a part of the pictures, so it is stable; and
    together the members cover the whole space.

    Parameters
    ----------
    n_members : int
        T, the size of the committee.
    sampling : {"subspace", "people", "images", "both"}
        What differs between the members. ``"subspace"``: the ``n_fixed`` largest eigenfaces and
        ``n_random`` random ones of the rest. ``"people"``: ``n_people`` of the people.
        ``"images"``: a bootstrap or subset of each person's pictures. ``"both"``: subspace and
        images (and people, if ``n_people`` is given). Without the subspace, members use the
        ``n_fixed + n_random`` largest eigenfaces.
    n_fixed, n_random : int or None
        M0 and M1. None chooses from the data, see Notes.
    n_people : int or None
        c₁; None is half of the people with two pictures or more, two at least.
    n_images : int, float or None
        None: a bootstrap of each person's pictures. A number or a share: a random subset without
        replacement, of two pictures at least.
    n_discriminants : int or None
        At most ``min(c - 1, n_fixed + n_random)``, with the c of a member. None takes that, less
        the share ``mean_shrinkage_`` of it: the last ones tell noise apart.
    shrinkage : float or "auto"
        Share of a ball in the scatter within people: ``(1 - s) Sw + s (trace Sw / M) I`` with
        ``M = n_fixed + n_random``. "auto" is ``0.1 M / (N - c)``; 0 is plain LDA.
    mean_shrinkage : float or "auto"
        Share of the way that the people's means are pulled towards the mean of all training
        pictures before distances are taken. "auto" is ``0.4 M / (N - c)``; 0 is plain LDA.
    preparation : transformer, list of them or None, default=None
        What is done to the vectors first, such as ``sklearn.preprocessing.Normalizer()`` (length)
        or :class:`mien.features.LightNormalizer` (light, then length). A list is a choice, in
        which None means the vectors as they are: small committees learn from 63 % of
        everybody's pictures, five times, and the candidate with the least error on the others, the
        out-of-bag error, is taken. Under strong changes of light give
        ``[None, Normalizer(), LightNormalizer(), LightNormalizer(smooth=1.0)]``.
    fusion : {"sum", "product", "min", "max", "vote"}
        See :func:`fuse`.
    priors : {"uniform", "empirical"}
        Every person is equally likely, or as likely as they have enrolled pictures. For faces the
        number of pictures seldom says who comes next, so the default is uniform.
    n_jobs : int or None
        Threads. The result is the same whatever it is.
    random_state : int, RandomState or None
        Seed of the draws.

    Attributes
    ----------
    classes_ : (c,)
        Enrolled people, sorted.
    counts_ : (c,)
        Their enrolled pictures.
    mean_ : (n_features,)
        Mean of the training pictures.
    components_ : (n_used, n_features)
        Eigenfaces that at least one member uses, largest first.
    columns_ : (T, M)
        Which of them each member uses; M is ``n_fixed_ + n_random_``.
    projections_ : (T, M, q)
        From those coordinates to the member's whitened discriminants; q is ``n_discriminants_``.
    member_means_ : (T, c, q)
        The people's means there, not pulled.
    shrinkage_, mean_shrinkage_ : float
        Resolved values.
    n_fixed_, n_random_, n_discriminants_, n_eigenfaces_ : int
        Resolved values; ``n_eigenfaces_`` is the rank of the training pictures.
    unique_share_ : (T,)
        Share of the training pictures that each member saw.
    preparation_ : transformer or None
        The fitted preparation.
    choice_ : list of dict
        Name and out-of-bag error of every candidate, and which was chosen; empty without a choice.

    See Also
    --------
    Committee : The same with any scikit-learn classifier as a member.
    fuse : The rules that make one posterior of many.
    committee_report : Strength and correlation of the members.
    mien.subspace.NullSpaceLDA : One discriminant model with a shrunk covariance.

    Notes
    -----
    A member's posterior is that of LDA's own model, ``softmax(-½ ‖Vᵀ(x - mean_c)‖² + log prior)``
    with ``Vᵀ Sw V = I`` and ``Sw`` the scatter within people divided by ``N - c``. Both Sw and the
    means are estimates, and the more of the ``N - c`` degrees of freedom a member's M eigenfaces
    use up, the worse: in the whitened space of the training pictures, new pictures of a person lie
    at about 0.8 of the way to the person's mean (ORL, M = 150 of 160). So both are shrunk, by
    shares that vanish as pictures become plenty; ``shrinkage=0, mean_shrinkage=0`` is plain LDA.

    A member that saw only some people or pictures fixes a projection; the means of all people, of
    all their pictures, go through it. So any member knows everybody, and people can be enrolled
    later.

    ``Sw`` is regular for ``n_fixed + n_random ≤ N - c`` (with the distinct pictures and people of
    the smallest replicate); more is refused. None takes ``M = n_fixed + n_random`` as the least of
    ``0.94 (N - c)``, three quarters of the eigenfaces (so that there is something to draw) and
    200, and a third of it fixed. These rules were chosen on splits of ORL other than those that
    ``python -m papers committee`` reports.

    Deviations from the lecture: the PCA is shared also where pictures are sampled (the lecture
    allows one for each replicate); coordinates with singular values below 1e-6 of the largest are
    left out. People are drawn among those with two pictures or more.

    References
    ----------
    [Wang2004]_, [Kim2014]_, [Ho1998]_, [Breiman1996]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.committee import RandomSamplingLDA
    >>> rng = np.random.default_rng(0)
    >>> people = np.repeat(["ann", "bob", "cat"], 6)
    >>> faces = np.repeat(rng.normal(size=(3, 50)), 6, axis=0) + 0.5 * rng.normal(size=(18, 50))
    >>> committee = RandomSamplingLDA(n_members=5, random_state=0).fit(faces, people)
    >>> committee.predict(faces[::6]).tolist()
    ['ann', 'bob', 'cat']
    >>> committee.member_proba(faces[:2]).shape
    (5, 2, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_members": [POSITIVE_INTEGER],
        "sampling": [StrOptions({"subspace", "people", "images", "both"})],
        "n_fixed": [NON_NEGATIVE_INTEGER, None],
        "n_random": [NON_NEGATIVE_INTEGER, None],
        "n_people": [AT_LEAST_TWO, None],
        "n_images": [
            AT_LEAST_TWO,
            POSITIVE_FRACTION,
            None,
        ],
        "n_discriminants": [POSITIVE_INTEGER, None],
        "shrinkage": [FRACTION, StrOptions({"auto"})],
        "mean_shrinkage": [FRACTION, StrOptions({"auto"})],
        "preparation": [HasMethods(["fit", "transform"]), list, tuple, None],
        "fusion": [StrOptions({"sum", "product", "min", "max", "vote"})],
        "priors": [StrOptions({"uniform", "empirical"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_members: int = 20,
        *,
        sampling: str = "subspace",
        n_fixed: int | None = None,
        n_random: int | None = None,
        n_people: int | None = None,
        n_images: int | float | None = None,
        n_discriminants: int | None = None,
        shrinkage: float | str = "auto",
        mean_shrinkage: float | str = "auto",
        preparation: Any = None,
        fusion: str = "sum",
        priors: str = "uniform",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_members = n_members
        self.sampling = sampling
        self.n_fixed = n_fixed
        self.n_random = n_random
        self.n_people = n_people
        self.n_images = n_images
        self.n_discriminants = n_discriminants
        self.shrinkage = shrinkage
        self.mean_shrinkage = mean_shrinkage
        self.preparation = preparation
        self.fusion = fusion
        self.priors = priors
        self.n_jobs = n_jobs
        self.random_state = random_state

    # A part of the pictures allows no sizes that were meant for all of them.
    _sizes_of_all = ("n_fixed", "n_random", "n_people", "n_discriminants")

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from pictures X (n_samples, n_features) of the people y (n_samples,)."""
        X, y = validate_rows(self, X, y, dtype=FLOATS)
        check_classification_targets(y)
        self.classes_, codes, self.counts_ = np.unique(y, return_inverse=True, return_counts=True)
        if len(self.classes_) < 2:
            raise InputError("a committee needs two people (classes) or more; got one class")
        check_some_variation(self.counts_)
        X = self._prepare(X, y)

        generators = member_generators(self.n_members, self.random_state)
        rows = [self._draw_rows(codes, rng) for rng in generators]
        mean = X.mean(axis=0, dtype=np.float64)
        pca = gram_svd(X - mean)
        sizes = self._resolve_sizes(rows, codes, len(pca.s))
        random_columns = self.sampling in ("subspace", "both")
        columns = np.stack(
            [
                draw_columns(sizes.n_fixed, sizes.n_random, len(pca.s), rng)
                if random_columns
                else np.arange(sizes.n_fixed + sizes.n_random)
                for rng in generators
            ]
        )
        used, renumbered = np.unique(columns, return_inverse=True)
        coordinates = pca.U[:, used] * pca.s[used]
        self.columns_ = renumbered.reshape(columns.shape).astype(np.int64)
        # Members are small: threads inside one of them would only wait for each other.
        with one_blas_thread():
            projections = map_threads(
                lambda given: discriminants(
                    coordinates[:, given[0]],
                    codes,
                    given[1],
                    sizes.n_discriminants,
                    sizes.shrinkage,
                ),
                zip(self.columns_, rows, strict=True),
                count_threads(self.n_jobs),
            )
        self.mean_ = mean.astype(X.dtype)
        self.components_ = pca.Vt[used].astype(X.dtype)
        self.projections_ = np.stack(projections).astype(X.dtype)
        means = group_means(coordinates, codes, len(self.classes_))
        self.member_means_ = self._through_members(means).astype(X.dtype)
        self.n_fixed_, self.n_random_, self.n_discriminants_ = sizes[:3]
        self.shrinkage_, self.mean_shrinkage_ = sizes[3:]
        self.n_eigenfaces_ = len(pca.s)
        ones = np.ones(len(X), dtype=np.int64)
        self.unique_share_ = unique_share(np.stack([ones if r is None else r for r in rows]))
        return self

    def _draw_rows(self, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
        """How often each training picture is in a member's replicate; None is once each."""
        row: np.ndarray | None = None
        if self.sampling in ("images", "both"):
            row = draw_pictures(codes, self.counts_, self.n_images, rng)
        if self.sampling == "people" or (self.sampling == "both" and self.n_people is not None):
            chosen = draw_training_people(self.counts_, self._resolve_people(), rng)[codes]
            row = chosen * (1 if row is None else row)
        return row

    def _resolve_people(self) -> int:
        able = int(np.count_nonzero(self.counts_ >= 2))
        if able < 2:
            raise InputError(
                f"sampling={self.sampling!r} draws among people with two pictures or more, and "
                f"{able} of {len(self.counts_)} have them; use sampling='subspace'"
            )
        wanted = max(2, (able + 1) // 2) if self.n_people is None else self.n_people
        if wanted > able:
            raise InputError(
                f"n_people = {wanted} cannot be drawn: {able} of {len(self.counts_)} people have "
                "two pictures or more"
            )
        return wanted

    def _resolve_sizes(
        self, rows: list[np.ndarray | None], codes: np.ndarray, n_eigenfaces: int
    ) -> _Sizes:
        """Choose or check M0, M1 and the number of discriminants."""
        pictures, people = len(codes), len(self.classes_)
        for row in rows:
            if row is not None:
                seen = codes[row > 0]
                n, c = len(seen), len(np.unique(seen))
                if n - c < pictures - people:
                    pictures, people = n, c
        if n_eigenfaces == 0:
            raise InputError("all pictures are the same: there is no eigenface with variance")
        if pictures - people < 1:
            raise InputError(
                f"a member saw {pictures} distinct pictures of {people} people, one each, so the "
                "variation within a person is unknown; give more pictures per person, or "
                "use sampling='subspace'"
            )
        most = min(pictures - people, n_eigenfaces)
        n_fixed, n_random = self._default_sizes(pictures - people, n_eigenfaces)
        if n_fixed + n_random > most or n_fixed + n_random < 1:
            raise InputError(
                f"n_fixed + n_random = {n_fixed} + {n_random} must be 1 … {most}: there are "
                f"{n_eigenfaces} eigenfaces, and the smallest replicate has {pictures} distinct "
                f"pictures of {people} people, which leaves {pictures - people} for the scatter "
                "within people"
            )
        limit = min(people - 1, n_fixed + n_random)
        used_up = (n_fixed + n_random) / (pictures - people)
        shrinkage = 0.1 * used_up if self.shrinkage == "auto" else float(self.shrinkage)
        pull = 0.4 * used_up if self.mean_shrinkage == "auto" else float(self.mean_shrinkage)
        wanted = self.n_discriminants
        if wanted is None:
            wanted = limit - int(pull * limit)
        if wanted > limit:
            raise InputError(
                f"n_discriminants = {wanted} is more than {limit}: a member has {people} people "
                f"and {n_fixed + n_random} eigenfaces, so at most min({people} - 1, "
                f"{n_fixed + n_random}) directions tell them apart"
            )
        return _Sizes(n_fixed, n_random, wanted, shrinkage, pull)

    def _default_sizes(self, freedom: int, n_eigenfaces: int) -> tuple[int, int]:
        """Choose M0 and M1 where they are None; see the class's Notes."""
        if self.n_fixed is not None and self.n_random is not None:
            return self.n_fixed, self.n_random
        total = min(int(0.94 * freedom), ceil(0.75 * n_eigenfaces), _MOST_EIGENFACES)
        total = max(total, 1)
        if self.n_fixed is not None:
            return self.n_fixed, max(total - self.n_fixed, 0)
        if self.n_random is not None:
            return max(total - self.n_random, 0), self.n_random
        return ceil(total / 3), total - ceil(total / 3)

    def _coordinates(self, X: np.ndarray) -> np.ndarray:
        return (X - self.mean_) @ self.components_.T

    def _through_members(self, coordinates: np.ndarray) -> np.ndarray:
        """Whitened discriminants (T, n, n_discriminants) of coordinates (n, n_used)."""
        members = zip(self.columns_, self.projections_, strict=True)
        return np.stack([coordinates[:, mine] @ V for mine, V in members])

    def _log_prior(self) -> np.ndarray:
        weights = self.counts_ if self.priors == "empirical" else np.ones(len(self.classes_))
        return np.asarray(np.log(weights / weights.sum()), dtype=self.mean_.dtype)

    def _blocks(self, n: int) -> list[slice]:
        rows = max(1, _BLOCK // max(len(self.classes_), len(self.components_)))
        return [slice(start, start + rows) for start in range(0, n, rows)]

    def _member_posteriors(self, X: np.ndarray) -> Iterator[np.ndarray]:
        coordinates, log_prior = self._coordinates(X), self._log_prior()
        for mine, V, means in zip(
            self.columns_, self.projections_, self.member_means_, strict=True
        ):
            yield posteriors(coordinates[:, mine] @ V, means, log_prior, 1 - self.mean_shrinkage_)

    def _fused_block(self, X: np.ndarray) -> np.ndarray:
        return fuse_members(self._member_posteriors(X), self.fusion)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Posterior (n, c) of the committee, fused member by member."""
        X = self._check(X)
        blocks = map_threads(
            lambda rows: self._fused_block(X[rows]),
            self._blocks(len(X)),
            count_threads(self.n_jobs),
        )
        return np.concatenate(blocks)

    def predict(self, X: Any) -> np.ndarray:
        """Likeliest person (n,) of each picture."""
        X = self._check(X)
        blocks = map_threads(
            lambda rows: self._fused_block(X[rows]).argmax(axis=1),
            self._blocks(len(X)),
            count_threads(self.n_jobs),
        )
        return self.classes_[np.concatenate(blocks)]

    def member_proba(self, X: Any) -> np.ndarray:
        """Posteriors (T, n, c) of every member; mind the memory for many people."""
        X = self._check(X)
        return np.stack(list(self._member_posteriors(X)))

    def transform(self, X: Any) -> np.ndarray:
        """Discriminants (n, T · q) of all members side by side, divided by √T.

        Squared distances between rows are the members' mean squared distances.
        """
        X = self._check(X)
        members = self._through_members(self._coordinates(X))
        stacked = members.transpose(1, 0, 2).reshape(len(X), -1)
        return stacked / np.sqrt(np.asarray(len(members), dtype=stacked.dtype))

    def _check(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = np.asarray(validate_rows(self, X, dtype=FLOATS, reset=False))
        return prepare(getattr(self, "preparation_", None), X)

    @property
    def _n_features_out(self) -> int:
        return len(self.columns_) * self.n_discriminants_
