"""The encodings that the super vector's experiment compares, and the settings that are chosen."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from sklearn.svm import LinearSVC

from mien.multiview import Bags, FisherVector, MixturePCCA, MultiViewSuperVector, join_views
from mien.multiview._normalise import normalise
from mien.multiview._super_vector import information_scale
from papers.super_vector.data import select_bags

__all__ = ["METHODS", "Budget", "Division", "Setting"]

#: Most descriptors that a mixture or a PCA is learned from.
DESCRIPTORS = 20_000
_ITERATIONS = 15
_FLOOR = 1e-4
# Descriptors that a component needs: a full covariance wants more than its size.
_OF_A_COMPONENT = {"diagonal": 10, "full": 400}
_SHARES = (1.0, 0.25)
_LATENT = (16, 8, 4)
_MANY_PAIRS = 10_000
_SCALINGS = ("information", "none")
_NORMALISATIONS = ((True, 0.5), (False, 0.5), (True, 1.0), (False, 1.0))

# Parts (n, K * m) of an encoding before any normalisation, each with its K.
Parts = list[tuple[np.ndarray, int]]


@dataclass(frozen=True)
class Budget:
    """Sizes that give every method about the same number of dimensions."""

    n_components: int
    first: int
    second: int

    @property
    def dimensions(self) -> int:
        return self.n_components * self.of_gradient

    @property
    def of_gradient(self) -> int:
        """Numbers by the means and variances of both views that a component gives."""
        return 2 * (self.first + self.second)

    def components(self, of_one: int, share: float = 1.0) -> int:
        """How many components with so many numbers each fit into a share of the budget."""
        return max(1, round(share * self.dimensions / of_one))


@dataclass(frozen=True)
class Setting:
    """What is chosen for a method inside the training half.

    Attributes
    ----------
    share : float
        Of the budget of dimensions that is used: fewer components may do better.
    latent : int or None
        Latent variables of a component, where there are any.
    scaling : str or None
        Of the gradient, where there is one.
    intra, power : bool, float
        Normalisation of the encoding; unit length always follows.
    """

    share: float = 1.0
    latent: int | None = None
    scaling: str | None = None
    intra: bool = True
    power: float = 0.5

    def __str__(self) -> str:
        words = [f"{self.share:.0%} of the budget"]
        words += [] if self.latent is None else [f"q = {self.latent}"]
        words += [] if self.scaling is None else [f"scaling {self.scaling}"]
        words += ["intra" if self.intra else "no intra", f"power {self.power:g}"]
        return ", ".join(words)


class Division:
    """Bags to learn from and all bags to encode; what two methods share is learned once.

    Parameters
    ----------
    first, second : Bags
        All bags, reduced.
    learn : (m,)
        Bags to learn from.
    budget : Budget
        Of dimensions.
    seed : int
        Of draws and starts, the same for all methods.
    most : int
        Descriptors that a mixture is learned from.
    """

    def __init__(
        self,
        first: Bags,
        second: Bags,
        learn: np.ndarray,
        budget: Budget,
        seed: int,
        most: int = DESCRIPTORS,
    ) -> None:
        self.views = {"first": first, "second": second, "both": join_views(first, second)}
        self.learn = learn
        self.budget = budget
        self.seed = seed
        self.most = most
        self._taught = {name: select_bags(view, learn) for name, view in self.views.items()}
        self.n_pairs = min(len(self._taught["both"].descriptors), most)
        self.fisher = functools.cache(self._fisher)
        self.mixture = functools.cache(self._mixture)

    def _fisher(self, view: str, n_components: int) -> Parts:
        """Fisher vectors of all bags, not normalised."""
        model = FisherVector(
            n_components, power=1, l2=False, max_descriptors=self.most,
            max_iter=_ITERATIONS, random_state=self.seed,
        ).fit(self._taught[view])  # fmt: skip
        return [(model.transform(self.views[view]), n_components)]

    def _mixture(
        self, n_components: int, n_latent: int, noise: str, gradient: bool
    ) -> dict[str, np.ndarray]:
        """Z, and G in both scalings, of all bags, not normalised."""
        mixture = MixturePCCA(
            n_components, n_latent, noise=noise, max_iter=_ITERATIONS, tol=1e-3, floor=_FLOOR,
            random_state=self.seed,
        )  # fmt: skip
        model = MultiViewSuperVector(
            mixture, gradient=gradient, max_descriptors=self.most, random_state=self.seed
        ).fit(self._taught["first"], self._taught["second"])  # fmt: skip
        latent, printed = model.encode_parts(self.views["first"], self.views["second"])
        found = {"latent": latent}
        if gradient:
            found |= {"none": printed, "information": printed * information_scale(model.mixture_)}
        return {name: part.reshape(len(part), -1) for name, part in found.items()}


@dataclass(frozen=True)
class Method:
    """An encoding: its parts for a setting, and the settings to choose from."""

    encode: Callable[[Division, Setting], Parts]
    latent: tuple[int | None, ...] = (None,)
    scalings: tuple[str | None, ...] = (None,)

    def choose(self, judge: Callable[[Setting], float], n_pairs: int) -> Setting:
        """What is judged best: latent variables, then share, scaling and normalisation.

        Where several do equally well the first is taken.
        """
        best = Setting(scaling=self.scalings[0])
        # Z alone has hundreds of components where q is small: too slow with many pairs.
        slow = self.scalings == (None,) and n_pairs >= _MANY_PAIRS
        latent = self.latent[:1] if slow else self.latent
        best = max((replace(best, latent=q) for q in latent), key=judge)
        best = max((replace(best, share=share) for share in _SHARES), key=judge)
        best = max((replace(best, scaling=scaling) for scaling in self.scalings), key=judge)
        styles = [replace(best, intra=intra, power=power) for intra, power in _NORMALISATIONS]
        return max(styles, key=judge)

    def features(self, division: Division, setting: Setting) -> np.ndarray:
        """Encodings (n, dimensions) of all bags, normalised; of unit length."""
        parts = [
            normalise(part, K, setting.intra, setting.power, True)
            for part, K in self.encode(division, setting)
        ]
        return np.hstack(parts) / np.sqrt(len(parts))

    def accuracy(
        self, division: Division, setting: Setting, labels: np.ndarray, judge: np.ndarray
    ) -> tuple[float, int]:
        """Share of the bags to judge that are classified rightly, and the dimensions."""
        encoded = self.features(division, setting)
        machine = LinearSVC(C=10.0, dual=True, max_iter=3000, random_state=0)
        machine.fit(encoded[division.learn], labels[division.learn])
        return float(machine.score(encoded[judge], labels[judge])), encoded.shape[1]


def _of_one_view(view: str) -> Method:
    def encode(division: Division, setting: Setting) -> Parts:
        size = division.views[view].descriptors.shape[1]
        return division.fisher(view, division.budget.components(2 * size, setting.share))

    return Method(encode)


def _concatenate(division: Division, setting: Setting) -> Parts:
    K = division.budget.components(division.budget.of_gradient, setting.share)
    return division.fisher("first", K) + division.fisher("second", K)


def _join(division: Division, setting: Setting) -> Parts:
    K = division.budget.components(division.budget.of_gradient, setting.share)
    return division.fisher("both", K)


def _of_mixture(noise: str, *parts: str, scalings: tuple[str | None, ...] = _SCALINGS) -> Method:
    """Z, G or both under a mixture with as many components as fit into the budget."""

    def encode(division: Division, setting: Setting) -> Parts:
        q, budget = setting.latent or 0, division.budget
        of_one = budget.of_gradient if "gradient" in parts else 0
        of_one += q if "latent" in parts else 0
        most = max(1, division.n_pairs // _OF_A_COMPONENT[noise])
        K = min(budget.components(of_one, setting.share), most)
        found = division.mixture(K, q, noise, "gradient" in parts)
        names = [part if part == "latent" else str(setting.scaling) for part in parts]
        return [(found[name], K) for name in names]

    return Method(encode, _LATENT, scalings if "gradient" in parts else (None,))


#: Name -> how bags are encoded and what may be chosen for it.
METHODS: dict[str, Method] = {
    "Fisher vector, view 1": _of_one_view("first"),
    "Fisher vector, view 2": _of_one_view("second"),
    "both, concatenated": Method(_concatenate),
    "joint vector": Method(_join),
    "latent Z": _of_mixture("diagonal", "latent"),
    "latent Z, full noise": _of_mixture("full", "latent"),
    "gradient G": _of_mixture("diagonal", "gradient"),
    "super vector Z + G": _of_mixture("diagonal", "latent", "gradient"),
    "Z + G, gradient as printed": _of_mixture("diagonal", "latent", "gradient", scalings=("none",)),
    "Z + G, full noise": _of_mixture("full", "latent", "gradient"),
}
