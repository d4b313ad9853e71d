"""Completion by a dictionary: the code of the visible part gives the whole vector."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from mien._core.constraints import NON_NEGATIVE, POSITIVE, POSITIVE_INTEGER
from mien.completion._base import (
    BatchStream,
    Completer,
    Completion,
    gather,
    see,
    squared_error,
)
from mien.sparse import WeightedKSVD, orthogonal_matching_pursuit

__all__ = ["DictionaryCompleter", "code_atoms", "default_atoms"]

# Extra weights of the visible part that are tried; 0 is plain K-SVD.
_BETAS = (0.0, 100.0, 1000.0, 10000.0)
# Vectors on which they are tried, and the largest dictionary that is taken by default.
_TRIAL_ROWS = 4000
_MAX_ATOMS = 1000
# Faces are learned mirrored as well, so that this is an atom for every four faces.
_VECTORS_PER_ATOM = 8


def default_atoms(n_vectors: int) -> int:
    """Default number of atoms for a given number of vectors."""
    return max(1, min(n_vectors // _VECTORS_PER_ATOM, _MAX_ATOMS))


def code_atoms(seen: np.ndarray, atoms: np.ndarray, view: np.ndarray, n_nonzero_coefs: int) -> Any:
    """Sparse codes (n, k) of what a view shows of vectors in atoms (k, d)."""
    shown = see(atoms, view)
    return orthogonal_matching_pursuit(
        seen.astype(atoms.dtype), shown, n_nonzero_coefs=min(n_nonzero_coefs, *shown.shape)
    )


class DictionaryCompleter(Completer):
    """Code the visible part in a dictionary of whole vectors: K-SVD, or DW-KSVD with weights.

    Parameters
    ----------
    n_atoms : int or None
        Size of the dictionary. None takes an eighth of the number of vectors (an atom for every
        four faces, as each is also learned mirrored), at most 1,000: more atoms than the data
        support follow single faces.
    n_nonzero_coefs : int
        Maximum number of atoms in a code. 10 to 20 for faces of 32 pixels.
    beta : float or None
        Extra weight of the visible features when the dictionary is learned (DW-KSVD); 0 is plain
        K-SVD. None chooses among 0, 100, 1,000 and 10,000 on the vectors held out.
    max_iter : int
        Rounds of K-SVD.
    max_entry : float or None
        Largest magnitude of an entry of an atom (the paper's shrinkage); None sets no bound.
    cover : (n_features,) of bool or None
        True for the features that will be covered; None takes the second half. Any other cover
        can be completed, for which the weights are then not the best.
    checkpoint : path or None
        File from which an interrupted training continues.
    random_state : int, RandomState or None
        Seed of the start.

    Attributes
    ----------
    components_ : (n_atoms, n_features)
        The atoms.
    mean_ : (n_features,)
        Mean of the vectors, which is subtracted before coding.
    beta_ : float
        The extra weight in use.
    beta_errors_ : dict of float to float
        Mean squared error of the covered features on the vectors held out, for each weight tried.
    n_nonzero_coefs_ : int
        Maximum number of atoms in a code.
    objective_ : (n_iter,)
        Objective of K-SVD after each round.
    n_iter_ : int
        Number of rounds done.
    cover_ : (n_features,) of bool
        The cover of ``fit``.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    mien.sparse.WeightedKSVD : learns the dictionary.
    RidgeCompleter : linear regression, which is ahead of it in all our tables.
    FastfoodCompleter : a dictionary of random features.

    Notes
    -----
    Data that fit into memory (1 GiB) are kept there: K-SVD then converges in fewer rounds than
    from sums over batches. Vectors are centred, so that atoms are differences between faces and
    not copies of the mean face. A constant feature beside them, as the linearised random features
    of the paper have it, changed nothing beyond chance on ORL and LFW.

    References
    ----------
    [JuefeiXu2016]_, [Aharon2006]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.completion import DictionaryCompleter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 12))
    >>> model = DictionaryCompleter(20, n_nonzero_coefs=3, random_state=0).fit(X[:250])
    >>> model.complete(X[250:], cover=np.arange(12) > 7).shape
    (50, 12)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_atoms": [POSITIVE_INTEGER, None],
        "n_nonzero_coefs": [POSITIVE_INTEGER],
        "beta": [NON_NEGATIVE, None],
        "max_iter": [POSITIVE_INTEGER],
        "max_entry": [POSITIVE, None],
        "cover": ["array-like", None],
        "checkpoint": [str, os.PathLike, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_atoms: int | None = None,
        *,
        n_nonzero_coefs: int = 20,
        beta: float | None = None,
        max_iter: int = 10,
        max_entry: float | None = None,
        cover: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_atoms = n_atoms
        self.n_nonzero_coefs = n_nonzero_coefs
        self.beta = beta
        self.max_iter = max_iter
        self.max_entry = max_entry
        self.cover = cover
        self.checkpoint = checkpoint
        self.random_state = random_state

    def _learn(self, stream: BatchStream, held_out: np.ndarray) -> None:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        X = gather(stream)
        self.beta_errors_: dict[float, float] = {}
        betas = _BETAS if self.beta is None else (float(self.beta),)
        if len(betas) > 1:
            sample = _take(stream, _TRIAL_ROWS) if X is None else _spread(X, _TRIAL_ROWS)
            for beta in betas:
                self._take(self._build(beta, len(sample), seed, None).fit(sample))
                values = self._estimate(held_out[:, ~self.cover_], ~self.cover_).values
                self.beta_errors_[beta] = squared_error(held_out, values, self.cover_)
        self.beta_ = min(self.beta_errors_, key=self.beta_errors_.__getitem__, default=betas[0])
        if X is None:
            n = sum(len(batch) for batch in stream())
            self._take(self._build(self.beta_, n, seed, self.checkpoint).fit_batches(stream))
        else:
            self._take(self._build(self.beta_, len(X), seed, self.checkpoint).fit(X))

    def _build(self, beta: float, n: int, seed: int, checkpoint: Any) -> WeightedKSVD:
        n_atoms = default_atoms(n) if self.n_atoms is None else self.n_atoms
        return WeightedKSVD(
            min(n_atoms, n),
            visible=~self.cover_,
            beta=beta,
            n_nonzero_coefs=self.n_nonzero_coefs,
            max_iter=self.max_iter,
            max_entry=self.max_entry,
            checkpoint=checkpoint,
            random_state=seed,
        )

    def _take(self, model: WeightedKSVD) -> None:
        self.components_, self.mean_ = model.components_, model.mean_
        self.n_nonzero_coefs_ = model.n_nonzero_coefs_
        self.objective_, self.n_iter_ = model.objective_, model.n_iter_

    def _estimate(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        centred = seen - see(self.mean_[None], view)
        codes = code_atoms(centred, self.components_, view, self.n_nonzero_coefs_)
        return Completion(np.asarray(codes @ self.components_) + self.mean_, codes)

    def get_pictures(self) -> np.ndarray:
        """The atoms (n_atoms, n_features), added to the mean."""
        scale = float(np.abs(self.components_).max()) or 1.0
        return np.asarray(self.components_ * (0.5 / scale) + self.mean_)


def _take(stream: BatchStream, n: int) -> np.ndarray:
    """The first n vectors of a stream."""
    parts: list[np.ndarray] = []
    for batch in stream():
        parts.append(batch)
        if sum(map(len, parts)) >= n:
            break
    return np.concatenate(parts)[:n]


def _spread(X: np.ndarray, n: int) -> np.ndarray:
    """At most n rows of X, from all over it."""
    return X if len(X) <= n else X[np.linspace(0, len(X) - 1, n).astype(int)]
