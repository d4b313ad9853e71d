"""Classes of bags of paired descriptors: encodings by default, and with settings chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.svm import LinearSVC

from mien._core.progress import track
from mien.multiview import Bags, FisherVector, MixturePCCA, MultiViewSuperVector, join_views
from mien.multiview._normalise import normalise, unit_length
from mien.multiview._super_vector import information_scale, latent_scale
from papers.super_vector.data import PairedSet, divide_within, select_bags, select_set
from papers.super_vector.methods import DESCRIPTORS
from papers.super_vector.run import reduce_view

__all__ = ["CHOSEN", "score_chosen", "score_defaults"]

Scores = dict[str, list[float]]

_LATENT = 8
_PCA = 32
_ITERATIONS = 15
_SIZES = (16, 64, 256)
_WEIGHTS = (0.1, 0.25, 0.5, 0.75, 0.9)
_STYLES = ((False, 0.5), (True, 0.5), (False, 1.0), (True, 1.0))
_INNER = 2


def score_defaults(data: PairedSet, seed: int) -> Scores:
    """Accuracy of each encoding with the settings that it has by default, one per division."""
    scores: Scores = {}
    for draw, (train, test) in enumerate(data.splits):
        rng = np.random.default_rng(seed + draw)
        first, second = (reduce_view(view, train, rng) for view in (data.first, data.second))
        # A mixture of few pairs follows each of them: a component needs a thousand, and a hundred
        # where there is nothing but Z. Fisher vectors have the components that suit them.
        pairs = int(np.diff(first.offsets)[train].sum())
        sizes = min(64, max(1, pairs // 1000)), min(128, max(1, pairs // 100))
        K = max(data.n_components, sizes[0])
        encoded = _encode_by_default(first, second, train, K, sizes, seed + draw)
        for method, vectors in encoded.items():
            machine = _machine().fit(vectors[train], data.labels[train])
            accuracy = machine.score(vectors[test], data.labels[test])
            scores.setdefault(method, []).append(100 * float(accuracy))
    return scores


def _machine() -> LinearSVC:
    return LinearSVC(C=10.0, dual=True, max_iter=3000, random_state=0)


def _encode_by_default(
    first: Bags, second: Bags, train: np.ndarray, K: int, sizes: tuple[int, int], seed: int
) -> dict[str, np.ndarray]:
    """Vectors (n_bags, d) of each encoding with the settings that it has by default."""
    views = {"first": first, "second": second, "both": join_views(first, second)}
    known = {view: select_bags(bags, train) for view, bags in views.items()}
    fisher = {
        view: FisherVector(K, max_descriptors=DESCRIPTORS, max_iter=15, random_state=seed)
        .fit(known[view])
        .transform(bags)
        for view, bags in views.items()
    }
    q = min(_LATENT, *(view.descriptors.shape[1] for view in (first, second)))

    def learn(components: int, gradient: bool) -> MultiViewSuperVector:
        mixture = MixturePCCA(components, q, max_iter=30, tol=1e-3, floor=1e-4, random_state=seed)
        encoder = MultiViewSuperVector(
            mixture, gradient=gradient, max_descriptors=DESCRIPTORS, random_state=seed
        )
        return encoder.fit(known["first"], known["second"])

    model = learn(sizes[0], True)
    found = {}
    for method, params in (
        ("Z + G", {}),
        ("Z + G, each of unit length, intra", {"joint": False, "intra": True}),
        ("Z + G, each of unit length", {"joint": False}),
        ("G", {"latent": False}),
        ("Z", {"gradient": False}),
    ):
        model.set_params(latent=True, gradient=True, joint=True, intra=False)
        found[method] = model.set_params(**params).transform(first, second)
    alone = learn(sizes[1], False).transform(first, second)
    joint = fisher["both"]
    found["Z of 128 beside a Fisher vector"] = np.hstack([alone, joint]) / np.sqrt(2)
    found["Fisher vectors, concatenated"] = np.hstack([fisher["first"], fisher["second"]])
    found["Fisher vectors, concatenated"] /= np.sqrt(2)
    found["joint Fisher vector"] = joint
    return found


# --------------------------------------------------------------------------- settings chosen


@dataclass(frozen=True)
class _Setting:
    """What is chosen for an encoding.

    Attributes
    ----------
    K : int
        Number of components.
    style : (bool, float)
        Unit length of each component's part, and the signed power.
    weight : float or None
        Share of the first part (Z) in the squared length; None normalises both as one vector.
    """

    K: int
    style: tuple[bool, float]
    weight: float | None = 0.5


class _Encoded:
    """Inner products of all bags in each encoding, learned from some of the bags."""

    def __init__(self, data: PairedSet, learn: np.ndarray, seed: int) -> None:
        self.labels, self.learn, self.seed = data.labels, learn, seed
        rng = np.random.default_rng(seed)
        first, second = (_whiten(view, learn, rng) for view in (data.first, data.second))
        self.views = {"first": first, "second": second, "both": join_views(first, second)}
        self.known = {name: select_bags(view, learn) for name, view in self.views.items()}
        self.parts = cache(self._parts)
        self.products = cache(self._products)

    def _parts(self, K: int) -> dict[str, np.ndarray]:
        """Z, G and Fisher vectors (n, K, m), scaled and not normalised."""
        mixture = MixturePCCA(
            K, _LATENT, max_iter=_ITERATIONS, tol=1e-3, floor=1e-4, random_state=self.seed
        )
        model = MultiViewSuperVector(mixture, max_descriptors=DESCRIPTORS, random_state=self.seed)
        model.fit(self.known["first"], self.known["second"])
        latent, gradient = model.encode_parts(self.views["first"], self.views["second"])
        found = {
            "Z": latent * latent_scale(model.mixture_),
            "G": gradient * information_scale(model.mixture_),
        }
        for name, view in self.views.items():
            fisher = FisherVector(
                K, power=1, l2=False, max_descriptors=DESCRIPTORS, max_iter=_ITERATIONS,
                random_state=self.seed,
            )  # fmt: skip
            vectors = fisher.fit(self.known[name]).transform(view)
            found[name] = vectors.reshape(len(vectors), K, -1)
        return {name: part.astype(np.float32) for name, part in found.items()}

    def _products(self, part: str, K: int, style: tuple[bool, float]) -> np.ndarray:
        """Inner products (n, n) of the unit vectors of a part, or of Z and G as one ("Z, G")."""
        intra, exponent = style
        found = self.parts(K)
        blocks = [unit_length(found[name]) if intra else found[name] for name in part.split(", ")]
        vectors = np.concatenate([block.reshape(len(block), -1) for block in blocks], axis=1)
        vectors = normalise(vectors, K, False, exponent, True)
        return np.asarray(vectors @ vectors.T, dtype=np.float64)

    def accuracy(self, products: np.ndarray, judge: np.ndarray) -> float:
        """Share of bags classified rightly by a linear machine on these inner products (n, n)."""
        values, vectors = np.linalg.eigh(products[np.ix_(self.learn, self.learn)])
        kept = values > 1e-9 * values[-1]
        # The vectors themselves, turned into as many dimensions as there are bags to learn from.
        turned = products[:, self.learn] @ (vectors[:, kept] / np.sqrt(values[kept]))
        machine = _machine().fit(turned[self.learn], self.labels[self.learn])
        return float(machine.score(turned[judge], self.labels[judge]))


def _whiten(bags: Bags, train: np.ndarray, rng: np.random.Generator) -> Bags:
    """Principal components of unit variance of a view, learned from the bags to learn from."""
    rows = np.concatenate([np.arange(bags.offsets[i], bags.offsets[i + 1]) for i in train])
    rows = rng.permutation(rows)[:DESCRIPTORS]
    size = min(_PCA, bags.descriptors.shape[1])
    pca = PCA(size, svd_solver="covariance_eigh", whiten=True).fit(bags.descriptors[rows])
    return Bags(pca.transform(bags.descriptors).astype(np.float32), bags.offsets)


Products = Callable[[_Encoded, _Setting], np.ndarray]


def _alone(part: str) -> Products:
    return lambda encoded, setting: encoded.products(part, setting.K, setting.style)


def _weigh(weight: float, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return weight * first + (1 - weight) * second


def _both(encoded: _Encoded, setting: _Setting) -> np.ndarray:
    K, style, weight = setting.K, setting.style, setting.weight
    if weight is None:
        return encoded.products("Z, G", K, style)
    return _weigh(weight, encoded.products("Z", K, style), encoded.products("G", K, style))


def _concatenated(encoded: _Encoded, setting: _Setting) -> np.ndarray:
    first, second = (encoded.products(v, setting.K, setting.style) for v in ("first", "second"))
    return _weigh(0.5, first, second)


_METHODS: dict[str, Products] = {
    "Z + G": _both,
    "Z": _alone("Z"),
    "G": _alone("G"),
    "Fisher vectors, concatenated": _concatenated,
    "joint Fisher vector": _alone("both"),
}
_BESIDE = "Z beside a Fisher vector"
#: Ours, then the alternatives.
CHOSEN = (("Z + G", "Z", "G", _BESIDE), ("Fisher vectors, concatenated", "joint Fisher vector"))


def score_chosen(data: PairedSet, seed: int, sizes: Iterable[int] = _SIZES) -> Scores:
    """Accuracy of each encoding with settings chosen inside the training half.

    Parameters
    ----------
    data : PairedSet
        Labelled bags.
    seed : int
        Of draws and starts, the same for all methods.
    sizes : iterable of int
        Numbers of components to choose from.

    Returns
    -------
    dict
        Method -> accuracy per division, %; also what was chosen, such as "components of Z".

    Notes
    -----
    Components, the two normalisations, and the weight of Z are chosen: whitening, mixtures and
    classifiers learn from three fifths of the training half, and what does best on the other two
    fifths (of two such divisions) is learned again from all of it.
    """
    scores: Scores = {}
    grid = [_Setting(K, style) for K in sizes for style in _STYLES]
    for draw, (train, test) in enumerate(track(data.splits, f"{data.name}: divisions")):
        # No bag of the other half is met before everything is chosen, not even to encode it.
        half = select_set(data, train)
        within = divide_within(half, np.arange(len(train)), _INNER, seed + draw)
        inner = [
            (_Encoded(half, learn, seed + draw + 1000 * (1 + i)), judge)
            for i, (learn, judge) in enumerate(within)
        ]

        chosen: dict[str, _Setting] = {}
        for name, products in _METHODS.items():
            judge_setting = _judge(inner, products)
            tried = [replace(setting, weight=None) for setting in grid] if name == "Z + G" else []
            best = max([*tried, *grid], key=judge_setting)
            if name == "Z + G":
                best = max([best, *(replace(best, weight=w) for w in _WEIGHTS)], key=judge_setting)
            chosen[name] = best
        weight = max(_WEIGHTS, key=_judge(inner, partial(_beside, chosen=chosen)))
        encoded = _Encoded(data, train, seed + draw)
        judged = {name: p(encoded, chosen[name]) for name, p in _METHODS.items()}
        judged[_BESIDE] = _beside(encoded, weight, chosen)
        for name in (*CHOSEN[0], *CHOSEN[1]):
            accuracy = encoded.accuracy(judged[name], test)
            scores.setdefault(name, []).append(100 * accuracy)
        for name, setting in chosen.items():
            for what, value in (
                ("components", setting.K), ("intra", setting.style[0]), ("power", setting.style[1])
            ):  # fmt: skip
                scores.setdefault(f"{what} of {name}", []).append(float(value))
        shared = chosen["Z + G"].weight
        scores.setdefault("Z and G as one vector", []).append(float(shared is None))
        if shared is not None:
            scores.setdefault("weight of Z in Z + G", []).append(shared)
        scores.setdefault(f"weight of {_BESIDE}", []).append(weight)
    return scores


def _judge(
    inner: list[tuple[_Encoded, np.ndarray]], products: Callable[[_Encoded, Any], np.ndarray]
) -> Callable[[Any], float]:
    """How to judge a setting: mean accuracy on the bags held out of each inner division."""

    def judge(setting: Any) -> float:
        found = [encoded.accuracy(products(encoded, setting), held) for encoded, held in inner]
        return float(np.mean(found))

    return judge


def _beside(encoded: _Encoded, weight: float, chosen: dict[str, _Setting]) -> np.ndarray:
    """Z and the joint Fisher vector, each with its own settings, side by side."""
    latent, joint = chosen["Z"], chosen["joint Fisher vector"]
    return _weigh(
        weight,
        encoded.products("Z", latent.K, latent.style),
        encoded.products("both", joint.K, joint.style),
    )
