"""Completion by a joint dictionary of Fastfood features: the paper's own method."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from mien._core.constraints import POSITIVE, POSITIVE_INTEGER
from mien.completion._base import BatchStream, Completer, Completion, first_batch, gather, see
from mien.completion._dictionary import code_atoms, default_atoms
from mien.completion._feature_ridge import fit_map
from mien.errors import NumericsWarning
from mien.sparse import KSVD, orthogonal_matching_pursuit

__all__ = ["FastfoodCompleter"]


class FastfoodCompleter(Completer):
    """A joint dictionary of the random features of whole vectors and of their visible part.

    Parameters
    ----------
    n_atoms : int or None
        Size of the dictionary; None takes an eighth of the number of vectors (an atom for
        every four faces, as each is also learned mirrored), at most 1,000.
    n_nonzero_coefs : int
        Maximum number of atoms in a code.
    beta : float
        Weight of the features of the visible part.
    max_iter : int
        Rounds of K-SVD.
    max_entry : float or None
        Largest magnitude of an entry of an atom (the paper's shrinkage); None sets no bound.
    expansion : float
        Number of frequencies per (padded) dimension; 5 and 10 in the paper. Time and memory grow
        with it.
    functions : {"sincos", "sin"}
        Of :class:`mien.kernelmaps.Fastfood`. The paper uses the sine alone.
    sigma : float or "invertible"
        Width of the kernel in median distances between vectors. "invertible" is wide enough for
        an exact way back, and then the features are nearly linear.
    dekernelize : {"result", "atoms"}
        Invert the features of the completed vector, or those of the atoms once and for all;
        with "atoms" any cover can be completed.
    cover : (n_features,) of bool or None
        True for the features that will be covered; None takes the second half.
    checkpoint : path or None
        File from which an interrupted training continues.
    random_state : int, RandomState or None
        Seed of the map and of the start.

    Attributes
    ----------
    map_, visible_map_ : mien.kernelmaps.Fastfood
        Random features of whole vectors and of their visible part.
    atoms_, visible_atoms_ : (n_atoms, n_map_features)
        The joint dictionary in its two halves.
    components_ : (n_atoms, n_features)
        The atoms turned back into vectors; with ``dekernelize="atoms"`` only.
    mean_ : (n_features,)
        Mean of the first vectors, which is subtracted.
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
    DictionaryCompleter : the same without a kernel, at a fraction of the cost.
    FeatureRidgeCompleter : regression on the random features of the visible part.

    Notes
    -----
    In feature space weighting and stacking differ, so the features of the visible part, times √β,
    are stacked below the others. At widths that can be inverted sin(Vy) ≈ Vy and cos(Vy) ≈ 1: the
    dictionary is then one of [1, y/σ], and what it gains over the uncentred DW-KSVD of the paper
    is centring and weight. The guide has the numbers.

    References
    ----------
    [JuefeiXu2016]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.completion import FastfoodCompleter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 8))
    >>> model = FastfoodCompleter(20, n_nonzero_coefs=4, max_iter=2, random_state=0).fit(X)
    >>> model.complete(X, cover=model.cover_).shape
    (200, 8)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_atoms": [POSITIVE_INTEGER, None],
        "n_nonzero_coefs": [POSITIVE_INTEGER],
        "beta": [POSITIVE],
        "max_iter": [POSITIVE_INTEGER],
        "max_entry": [POSITIVE, None],
        "expansion": [POSITIVE],
        "functions": [StrOptions({"sincos", "sin"})],
        "sigma": [POSITIVE, StrOptions({"invertible"})],
        "dekernelize": [StrOptions({"result", "atoms"})],
        "cover": ["array-like", None],
        "checkpoint": [str, os.PathLike, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_atoms: int | None = None,
        *,
        n_nonzero_coefs: int = 20,
        beta: float = 100.0,
        max_iter: int = 10,
        max_entry: float | None = None,
        expansion: float = 5,
        functions: str = "sincos",
        sigma: float | str = "invertible",
        dekernelize: str = "result",
        cover: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_atoms = n_atoms
        self.n_nonzero_coefs = n_nonzero_coefs
        self.beta = beta
        self.max_iter = max_iter
        self.max_entry = max_entry
        self.expansion = expansion
        self.functions = functions
        self.sigma = sigma
        self.dekernelize = dekernelize
        self.cover = cover
        self.checkpoint = checkpoint
        self.random_state = random_state

    @property
    def any_cover(self) -> bool:  # type: ignore[override]
        """Whether other covers can be completed: with atoms that were turned back."""
        return hasattr(self, "components_")

    def _learn(self, stream: BatchStream, held_out: np.ndarray) -> None:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        sample = first_batch(stream)
        self.mean_ = sample.mean(axis=0)
        centred = sample - self.mean_
        visible = ~self.cover_
        options = {
            "expansion": self.expansion,
            "functions": self.functions,
            "random_state": seed,
        }
        self.map_ = fit_map(centred, self.sigma, **options)
        seen = np.ascontiguousarray(centred[:, visible])
        self.visible_map_ = fit_map(seen, self.sigma, **options)

        def stacked() -> Iterator[np.ndarray]:
            for batch in stream():
                batch = batch - self.mean_
                part = self._visible_features(np.ascontiguousarray(batch[:, visible]))
                yield np.concatenate([self.map_.transform(batch), part], axis=1)

        n = sum(len(batch) for batch in stream())
        model = KSVD(
            min(n, self.n_atoms or default_atoms(n)),
            n_nonzero_coefs=self.n_nonzero_coefs,
            # The cosines are the constant that centring would remove.
            fit_intercept=False,
            max_iter=self.max_iter,
            max_entry=self.max_entry,
            checkpoint=self.checkpoint,
            random_state=seed,
        )
        everything = gather(stacked)
        if everything is None:
            model.fit_batches(stacked)
        else:
            model.fit(everything)
        width = self.map_.n_frequencies_ * (2 if self.functions == "sincos" else 1)
        self.atoms_ = np.ascontiguousarray(model.components_[:, :width])
        self.visible_atoms_ = np.ascontiguousarray(model.components_[:, width:])
        self.n_nonzero_coefs_ = model.n_nonzero_coefs_
        self.objective_, self.n_iter_ = model.objective_, model.n_iter_
        self.invert(self.dekernelize)

    def invert(self, dekernelize: str) -> Self:
        """Use the same dictionary with the features of the "result" or of the "atoms" inverted."""
        self.dekernelize = dekernelize
        if dekernelize == "atoms":
            self.components_ = self._invert(self._orient(self.atoms_)) + self.mean_
        elif hasattr(self, "components_"):
            del self.components_
        return self

    def _estimate(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        if hasattr(self, "components_"):
            codes = code_atoms(seen, self.components_, view, self.n_nonzero_coefs_)
            return Completion(np.asarray(codes @ self.components_), codes)
        centred = seen - see(self.mean_[None], view)
        features = self._visible_features(np.ascontiguousarray(centred, dtype=self.mean_.dtype))
        codes = orthogonal_matching_pursuit(
            features, self.visible_atoms_, n_nonzero_coefs=self.n_nonzero_coefs_
        )
        return Completion(self._invert(np.asarray(codes @ self.atoms_)) + self.mean_, codes)

    def get_pictures(self) -> np.ndarray:
        """The atoms turned back into vectors (n_atoms, n_features)."""
        if hasattr(self, "components_"):
            return np.asarray(self.components_)
        return np.asarray(self._invert(self._orient(self.atoms_)) + self.mean_)

    def _visible_features(self, seen: np.ndarray) -> np.ndarray:
        return self.visible_map_.transform(seen) * seen.dtype.type(np.sqrt(self.beta))

    def _orient(self, atoms: np.ndarray) -> np.ndarray:
        """Atoms scaled to the length of features, with the sign that makes cosines positive."""
        m = self.map_.n_frequencies_
        if self.functions == "sincos":
            atoms = atoms * np.where(atoms[:, :m].sum(axis=1) < 0, -1, 1)[:, None]
            return np.asarray(atoms, dtype=self.atoms_.dtype)
        largest = np.abs(atoms).max(axis=1, keepdims=True)
        return np.asarray(atoms * np.minimum(1, 1 / np.sqrt(m) / np.maximum(largest, 1e-12)))

    def _invert(self, features: np.ndarray) -> np.ndarray:
        """Centred vectors of features; what lies outside the domain is part of the method."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericsWarning)
            return self.map_.inverse_transform(features).astype(self.mean_.dtype)
