"""The soft null space beside its rivals on four sets, its rule chosen with one set left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mien._core.linalg import oas_shrinkage
from mien._core.progress import track
from mien.datasets import (
    load_lfw,
    load_orl,
    load_yale,
    make_faces,
    make_groups,
    split_people,
    split_pictures,
)
from mien.features import local_vectors
from mien.media import resize_images
from mien.subspace import (
    Eigenfaces,
    KernelNullSpaceProjection,
    NearestNeighbourIdentifier,
    NullSpaceProjection,
    RelevantComponents,
)
from papers.weak_labels.data import Home

__all__ = [
    "RULES",
    "SETS",
    "Centred",
    "ShrunkenLDA",
    "compare_projections",
    "leave_one_set_out",
    "load_small_sets",
    "make_tasks",
    "neighbour_errors",
]

SIZES = (2, 3, 5)
_SMALL = 400
SETS = ("ORL", "Yale", "LFW", "rendered")

#: How λ could follow from the shrinkage s of the residuals' covariance, and what directions
#: between groups get: all alike (1), or what the groups say ("auto").
RULES: dict[str, tuple[Callable[[float], float], float | str]] = {
    "s / (1 − s), alike": (lambda s: s / max(1 - s, 1e-3), 1),
    "s (1 − s), alike": (lambda s: min(s, 0.5) * (1 - min(s, 0.5)), 1),
    "0.1, alike": (lambda s: 0.1, 1),
    "s (1 − s)": (lambda s: min(s, 0.5) * (1 - min(s, 0.5)), "auto"),
    "s (1 − s) + 0.05": (lambda s: min(s, 0.5) * (1 - min(s, 0.5)) + 0.05, "auto"),
    "s (1 − s) + 0.1": (lambda s: min(s, 0.5) * (1 - min(s, 0.5)) + 0.1, "auto"),
    "0.1": (lambda s: 0.1, "auto"),
}

Sets = dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]


def load_small_sets(
    home: Home = None,
    random_state: int = 0,
    names: Sequence[str] = SETS,
    kinds: Sequence[str] = ("pixels", "local"),
) -> Sets:
    """Vectors and people of each set at 32×32, as pixels and locally normalised."""
    out: Sets = {}
    for name in names:
        images, people = _load_small(name, home, random_state)
        if "pixels" in kinds:
            pixels = np.asarray(images, dtype=np.float64).reshape(len(images), -1)
            out[name, "pixels"] = pixels / (255 if pixels.max() > 1 else 1), people
        if "local" in kinds:
            out[name, "local"] = local_vectors(images, smooth=1.0), people
    return out


def _load_small(name: str, home: Home, random_state: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures (n, 32, 32) and people of a set."""
    if name == "ORL":
        orl = load_orl(home, variant="64x64", size=32)
        return orl.images, orl.people
    if name == "Yale":
        yale = load_yale(home, variant="64x64", size=32)
        return yale.images, yale.people
    if name == "LFW":
        lfw = load_lfw(home, min_pictures=20)
        names, counts = np.unique(lfw.people, return_counts=True)
        chosen = np.sort(names[np.argsort(-counts, kind="stable")[:60]])
        rows = np.concatenate([np.flatnonzero(lfw.people == who)[:16] for who in chosen])
        return resize_images(lfw.images[rows][:, 16:112, 16:112], 32), lfw.people[rows]
    rendered = make_faces(60, 14, size=64, random_state=random_state + 7)
    return resize_images(rendered.images, 32), rendered.people


def make_tasks(
    X: np.ndarray, people: np.ndarray, repeats: int, seed: int
) -> Iterator[tuple[str, int, tuple[np.ndarray, ...]]]:
    """Name of the protocol, group size, and learn, groups, gallery, names, probes, truth.

    "same": half of everybody's pictures are learned from in groups and are the gallery. "new":
    groups of one half of the people; of the others two pictures are the gallery.
    """
    for size in SIZES:
        for r in range(repeats):
            s = seed + 100 * size + r
            fewest = int(np.unique(people, return_counts=True)[1].min())
            train, test = next(split_pictures(people, max(size, fewest // 2), random_state=s))
            groups = make_groups(people[train], size, random_state=s)
            same = (X[train], groups, X[train], people[train], X[test], people[test])
            yield "same people", size, same
            learn, rest = split_people(people, 0.5, random_state=s)[:2]
            groups = make_groups(people[learn], size, random_state=s)
            known, asked = next(split_pictures(people[rest], 2, random_state=s))
            known, asked = rest[known], rest[asked]
            yield "new people", size, (
                X[learn], groups, X[known], people[known], X[asked], people[asked]
            )  # fmt: skip


class ShrunkenLDA:
    """Ten lines of scikit-learn: groups as classes, the covariance shrunk by a tenth."""

    def fit(self, X: np.ndarray, groups: np.ndarray) -> ShrunkenLDA:
        self.pca = Eigenfaces().fit(X)
        kept = groups >= 0
        Z = self.pca.transform(X[kept])
        self.lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1).fit(Z, groups[kept])
        self.most = len(np.unique(groups[kept])) - 1
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.pca.transform(X) @ self.lda.scalings_[:, : self.most])


class Centred:
    """No projection: what was learned from is centred."""

    def fit(self, X: np.ndarray, groups: np.ndarray) -> Centred:
        self.mean = X.mean(axis=0)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return X - self.mean


def _methods(seed: int, kernel: bool) -> dict[str, Any]:
    found = {
        "no projection": Centred(),
        "shrunken LDA, groups as classes": ShrunkenLDA(),
        "RCA": RelevantComponents(random_state=seed),
        "exact null space": NullSpaceProjection(regularization=0, fallback="relevant-components"),
        "soft null space": NullSpaceProjection(),
    }
    if kernel:
        found["exact kernel null space"] = KernelNullSpaceProjection(
            regularization=0, fallback="relevant-components", random_state=seed
        )
        found["soft kernel null space"] = KernelNullSpaceProjection(random_state=seed)
    return found


def neighbour_errors(model: Any, task: tuple[np.ndarray, ...]) -> dict[str, float]:
    """Error in per cent by both metrics, and how wrong neighbours compare in length."""
    _, _, gallery, names, probes, truth = task
    G, P = model.transform(gallery), model.transform(probes)
    out = {}
    for metric in ("euclidean", "cosine"):
        nearest = NearestNeighbourIdentifier(metric=metric).fit(G, names)
        rows = nearest.kneighbors(P, 1)[1][:, 0]
        wrong = names[rows] != truth
        out[metric] = 100 * float(wrong.mean())
        if metric == "euclidean":
            lengths = np.linalg.norm(G, axis=1)
            typical = {name: np.median(lengths[names == name]) for name in np.unique(names)}
            right = np.asarray([typical[name] for name in truth[wrong]])
            shorter = lengths[rows[wrong]] < right
            out["shorter"] = 100 * float(shorter.mean()) if wrong.any() else np.nan
    return out


def compare_projections(
    sets: Sets, repeats: int, seed: int, *, kernel: bool = True
) -> list[dict[str, Any]]:
    """A row per set, features, protocol and method: errors over groups of 2, 3 and 5."""
    found: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for (name, kind), (X, people) in track(sets.items(), "projections", len(sets)):
        for protocol, _, task in make_tasks(X, people, repeats, seed):
            # Widths of kernels are searched for: on the larger sets that takes hours.
            for method, model in _methods(seed, kernel and len(X) <= _SMALL).items():
                values = neighbour_errors(model.fit(task[0], task[1]), task)
                row = found.setdefault((name, kind, protocol, method), {})
                for key, value in values.items():
                    row.setdefault(key, []).append(value)
    return [
        {"set": name, "features": kind, "protocol": protocol, "method": method}
        | {
            "error %": round(float(np.mean(values["cosine"])), 1),
            "Euclidean": round(float(np.mean(values["euclidean"])), 1),
            "wrong ones shorter %": round(float(np.nanmean(values["shorter"])), 0)
            if np.isfinite(values["shorter"]).any()
            else None,
        }
        for (name, kind, protocol, method), values in found.items()
    ]


def _rule_errors(sets: Sets, repeats: int, seed: int) -> dict[str, dict[str, float]]:
    """Mean error in per cent of each rule on each set, over features, protocols and sizes."""
    found: dict[str, dict[str, list[float]]] = {}
    for (name, _), (X, people) in track(sets.items(), "rules", len(sets)):
        for _, _, task in make_tasks(X, people, repeats, seed):
            learn, groups = task[:2]
            kept = groups >= 0
            flat = Eigenfaces().fit(learn)
            Z = flat.transform(learn)
            residuals = Z[kept].copy()
            for group in np.unique(groups[kept]):
                rows = groups[kept] == group
                residuals[rows] -= residuals[rows].mean(axis=0)
            n_residuals = int(kept.sum()) - len(np.unique(groups[kept]))
            values = np.linalg.eigvalsh(residuals.T @ residuals / n_residuals)
            share = oas_shrinkage(np.maximum(values, 0), n_residuals)
            for rule, (value, between) in RULES.items():
                model = NullSpaceProjection(regularization=value(share), between_shrinkage=between)
                model.fit(learn, groups)
                error = neighbour_errors(model, task)["cosine"]
                found.setdefault(name, {}).setdefault(rule, []).append(error)
    return {
        name: {rule: float(np.mean(values)) for rule, values in rules.items()}
        for name, rules in found.items()
    }


def leave_one_set_out(sets: Sets, repeats: int, seed: int) -> list[dict[str, Any]]:
    """Which rule the three other sets choose for each set, and what it costs there.

    The rule of the least mean of errors relative to the best rule of each set is chosen; one per
    cent is added to both, so that sets without errors count.
    """
    errors = _rule_errors(sets, repeats, seed)
    out = []
    for name, mine in errors.items():
        others = [errors[other] for other in errors if other != name]
        relative = {
            rule: np.mean([(1 + e[rule]) / (1 + min(e.values())) for e in others]) for rule in RULES
        }
        chosen = min(relative, key=lambda rule: relative[rule])
        out.append(
            {"set left out": name, "chosen by the others": chosen}
            | {"error %": round(mine[chosen], 2), "best rule there": round(min(mine.values()), 2)}
            | {rule: round(value, 2) for rule, value in mine.items()}
        )
    return out
