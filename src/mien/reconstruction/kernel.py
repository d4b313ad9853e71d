"""Completion in the space of Fastfood features: a joint dictionary, or ridge regression."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from mien.errors import NumericsWarning
from mien.kernelmaps import Fastfood
from mien.reconstruction._completer import (
    Completer,
    Completion,
    Stream,
    see,
    solve_ridge,
    squared_error,
)
from mien.reconstruction.dictionary import _NOT_KEPT
from mien.sparse import KSVD, orthogonal_matching_pursuit

__all__ = ["BlendCompleter", "FastfoodCompleter", "FeatureRidgeCompleter"]

# Penalties that are tried, where a feature vector has length one.
ALPHAS = (3e-6, 1e-5, 3e-5, 1e-4)


def _fit_map(sample: np.ndarray, sigma: float | str, **options: Any) -> Fastfood:
    """A Fastfood map for such vectors; a number for sigma counts their median distance."""
    if isinstance(sigma, str):
        return Fastfood(sigma=sigma, **options).fit(sample)
    median = Fastfood(sigma="median", **options).fit(sample).sigma_
    return Fastfood(sigma=float(sigma) * median, **options).fit(sample)


class FastfoodCompleter(Completer):
    """A joint dictionary of the features of whole faces and of what is seen of them.

    Parameters
    ----------
    beta : float
        Weight of the features of what is seen.
    expansion, features, sigma : float, str, float or str
        Of :class:`mien.kernelmaps.Fastfood`; a number for sigma is a multiple of the median
        distance between two faces.
    dekernelize : {"reconstruction", "dictionary"}
        Turn back the features of the completed face, or the atoms once and for all.
    options : dict
        Arguments of :class:`mien.sparse.KSVD`.
    random_state : int
        Seed of the map.

    Notes
    -----
    The mean face is taken off first, which keeps the angles small. In feature space weighting
    and stacking differ, so the features of what is seen, times √β, are stacked below the others.
    With ``dekernelize="dictionary"`` the features of an atom are turned back to a face, and faces
    are coded by those in image space.
    """

    any_view = False

    def __init__(
        self,
        beta: float,
        expansion: float,
        features: str,
        sigma: float | str,
        dekernelize: str,
        options: dict[str, Any],
        random_state: int,
    ) -> None:
        self.beta = beta
        self.expansion = expansion
        self.features = features
        self.sigma = sigma
        self.dekernelize = dekernelize
        self.options = options
        self.random_state = random_state

    def fit(self, stream: Stream, mask: np.ndarray, held_out: np.ndarray) -> Self:
        sample = next(iter(stream()))
        self.mean = sample.mean(axis=0)
        centred = sample - self.mean
        options = {
            "expansion": self.expansion,
            "features": self.features,
            "random_state": self.random_state,
        }
        self.whole = _fit_map(centred, self.sigma, **options)
        self.part = _fit_map(np.ascontiguousarray(centred[:, mask]), self.sigma, **options)

        def stacked() -> Iterator[np.ndarray]:
            for batch in stream():
                batch = batch - self.mean
                seen = self._part_features(np.ascontiguousarray(batch[:, mask]))
                yield np.concatenate([self.whole.transform(batch), seen], axis=1)

        model = KSVD(**self.options).fit_batches(stacked)
        width = self.whole.n_frequencies_ * (2 if self.features == "sincos" else 1)
        self.atoms = np.ascontiguousarray(model.components_[:, :width])
        self.part_atoms = np.ascontiguousarray(model.components_[:, width:])
        self.n_nonzero = model.n_nonzero_
        self.objective = model.objective_
        self.options = {k: v for k, v in self.options.items() if k not in _NOT_KEPT}
        return self.turn(self.dekernelize)

    def turn(self, dekernelize: str) -> Self:
        """The same dictionary, turned back in this way from now on."""
        self.dekernelize = dekernelize
        self.any_view = dekernelize == "dictionary"
        if self.any_view:
            self.face_atoms = self._turn_back(self._orient(self.atoms)) + self.mean
        return self

    def complete(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        if self.dekernelize == "dictionary":
            atoms = see(self.face_atoms, view)
            codes = orthogonal_matching_pursuit(
                seen.astype(np.float32), atoms, n_nonzero=min(self.n_nonzero, atoms.shape[1])
            )
            return Completion(np.asarray(codes @ self.face_atoms), codes)
        features = self._part_features(
            np.ascontiguousarray(seen - see(self.mean[None], view), dtype=np.float32)
        )
        codes = orthogonal_matching_pursuit(features, self.part_atoms, n_nonzero=self.n_nonzero)
        return Completion(self._turn_back(np.asarray(codes @ self.atoms)) + self.mean, codes)

    def pictures(self) -> np.ndarray:
        if self.dekernelize == "dictionary":
            return np.asarray(self.face_atoms)
        return np.asarray(self._turn_back(self._orient(self.atoms)) + self.mean)

    def _part_features(self, seen: np.ndarray) -> np.ndarray:
        return self.part.transform(seen) * np.float32(np.sqrt(self.beta))

    def _orient(self, atoms: np.ndarray) -> np.ndarray:
        """Atoms scaled to the length of features, with the sign that makes cosines positive."""
        if self.features == "sincos":
            m = self.whole.n_frequencies_
            atoms = atoms * np.where(atoms[:, :m].sum(axis=1) < 0, -1, 1)[:, None]
            return np.asarray(atoms, dtype=np.float32)
        bound = 1 / np.sqrt(self.whole.n_frequencies_)
        largest = np.abs(atoms).max(axis=1, keepdims=True)
        return np.asarray(atoms * np.minimum(1, bound / np.maximum(largest, 1e-12)))

    def _turn_back(self, features: np.ndarray) -> np.ndarray:
        """Centred faces of features; what lies outside the domain is part of the method."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericsWarning)
            return self.whole.inverse_transform(features).astype(np.float32)


class FeatureRidgeCompleter(Completer):
    """Ridge regression of all pixels on Fastfood features of those seen.

    Parameters
    ----------
    expansion : float
        Frequencies for each visible pixel.
    sigma : float or "median"
        Width of the kernel in median distances of what is seen.
    alpha : float or None
        Penalty, where a feature vector has length one; None chooses it on the faces held out.
    random_state : int
        Seed of the map.
    """

    any_view = False

    def __init__(
        self, expansion: float, sigma: float | str, alpha: float | None, random_state: int
    ) -> None:
        self.expansion = expansion
        self.sigma = sigma
        self.alpha = alpha
        self.random_state = random_state

    def fit(self, stream: Stream, mask: np.ndarray, held_out: np.ndarray) -> Self:
        sample = next(iter(stream()))
        seen = np.ascontiguousarray(sample[:, mask])
        self.map = _fit_map(
            seen, self.sigma, expansion=self.expansion, random_state=self.random_state
        )
        # Sums about the means of the first batch lose no digits in float32.
        face_shift, shift = sample.mean(axis=0), self.map.transform(seen).mean(axis=0)
        gram = np.zeros((len(shift), len(shift)), np.float32)
        products = np.zeros((len(shift), len(mask)), np.float32)
        total, faces, n = np.zeros(len(shift)), np.zeros(len(mask)), 0
        for batch in stream():
            features = self.map.transform(np.ascontiguousarray(batch[:, mask])) - shift
            centred = batch - face_shift
            gram += features.T @ features
            products += features.T @ centred
            total += features.sum(axis=0, dtype=np.float64)
            faces += centred.sum(axis=0, dtype=np.float64)
            n += len(batch)
        total, faces = total / n, faces / n
        covariance = gram / n - np.outer(total, total)
        cross = products / n - np.outer(total, faces)
        errors = {}
        for alpha in ALPHAS if self.alpha is None else (self.alpha,):
            self.alpha = alpha
            self.weights = solve_ridge(covariance, cross, alpha).astype(np.float32)
            self.offset = (face_shift + faces - (shift + total) @ self.weights).astype(np.float32)
            error = squared_error(held_out, self.complete(held_out[:, mask], mask).values)
            errors[error] = (alpha, self.weights, self.offset)
        self.alpha, self.weights, self.offset = errors[min(errors)]
        return self

    def complete(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        features = self.map.transform(np.ascontiguousarray(seen, dtype=np.float32))
        return Completion(features @ self.weights + self.offset)


class BlendCompleter(Completer):
    """A weighted mean of the linear and the kernel estimate, which err in different places.

    Parameters
    ----------
    linear, kernel : Completer
        The two.
    """

    any_view = False

    def __init__(self, linear: Completer, kernel: Completer) -> None:
        self.linear = linear
        self.kernel = kernel

    def fit(self, stream: Stream, mask: np.ndarray, held_out: np.ndarray) -> Self:
        first, second = (
            part.fit(stream, mask, held_out).complete(held_out[:, mask], mask).values
            for part in (self.linear, self.kernel)
        )
        difference = second - first
        best = np.vdot(difference, held_out - first) / max(np.vdot(difference, difference), 1e-12)
        #: Weight of the kernel estimate: the best one on the faces held out.
        self.share = float(np.clip(best, 0, 1))
        return self

    def complete(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        first = self.linear.complete(seen, view).values
        second = self.kernel.complete(seen, view).values
        return Completion(first + np.float32(self.share) * (second - first))
