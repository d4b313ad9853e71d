"""What is compared: each part runs its methods on one set and gives a score per division."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from mien.committee import Committee, RandomSamplingLDA, decide, fuse
from mien.completion import FaceCompleter, make_completer, make_cover
from mien.datasets import (
    load_lfw_embeddings,
    load_lfw_protocol,
    split_people,
    split_pictures,
)
from mien.errors import NumericsWarning
from mien.evaluation import psnr
from mien.faces import load_engine
from mien.subspace import (
    KernelNullSpaceProjection,
    NearestNeighbourIdentifier,
    NullSpaceLDA,
    NullSpaceProjection,
    RelevantComponents,
)
from papers.committee.preparation import CANDIDATES
from papers.other_sets.bags import CHOSEN, score_chosen, score_defaults
from papers.other_sets.data import (
    FACES,
    VECTORS,
    light_from_sides,
    load_faces,
    load_pictures_of_nobody,
    load_vectors,
)
from papers.source_models.data import SHIFTS
from papers.super_vector.data import load_set
from papers.weak_labels.soft import Centred, ShrunkenLDA, make_tasks, neighbour_errors

__all__ = ["PARTS", "Part", "Work"]

Scores = dict[str, list[float]]

# Where a kernel is searched for its width, which takes time with the square of the points.
_KERNEL_POINTS = 420


@dataclass(frozen=True)
class Work:
    """What a part is run with."""

    home: Any
    draws: int
    seed: int
    quick: bool


@dataclass(frozen=True)
class Part:
    """Methods on sets.

    Attributes
    ----------
    title, unit : str
        What is compared, and in what.
    sets : tuple of str
        On what.
    ours : tuple of str
        Methods between which a default was chosen; the first is the default.
    others : tuple of str
        Alternatives that anybody could take instead.
    run : callable
        Scores of all methods on a set, one per division, paired between methods.
    higher : bool
        Whether more is better.
    margin : float
        Differences up to this are level.
    """

    title: str
    unit: str
    sets: tuple[str, ...]
    ours: tuple[str, ...]
    others: tuple[str, ...]
    run: Callable[[str, Work], Scores]
    higher: bool = False
    margin: float = 0.5


def _add(scores: Scores, name: str, value: Any) -> None:
    scores.setdefault(name, []).append(float(value))


def _groups(name: str, work: Work) -> Scores:
    name, protocol = name.split(", ")
    X, people = load_vectors(name, work.home, work.quick, work.seed)
    scores: Scores = {}
    for task in _tasks_of(X, people, protocol, work):
        learn, groups = task[:2]
        models: dict[str, Any] = {
            "soft null space": NullSpaceProjection(),
            "soft, directions alike": NullSpaceProjection(between_shrinkage=1),
            "soft, λ = 0.1": NullSpaceProjection(regularization=0.1),
            "exact null space": NullSpaceProjection(
                regularization=0, fallback="relevant-components"
            ),
            "RCA": RelevantComponents(random_state=work.seed),
            "RCA, all directions": RelevantComponents(None, reduction="total"),
            "no projection": Centred(),
            "shrunken LDA, groups as classes": ShrunkenLDA(),
        }
        if len(X) <= _KERNEL_POINTS:
            models["soft kernel null space"] = KernelNullSpaceProjection(random_state=work.seed)
        for method, model in models.items():
            found = neighbour_errors(model.fit(learn, groups), task)
            _add(scores, method, found["cosine"])
            if method == "soft null space":
                _add(scores, "soft null space, Euclidean", found["euclidean"])
    return scores


def _tasks_of(X: np.ndarray, people: np.ndarray, protocol: str, work: Work) -> list[Any]:
    found = make_tasks(X, people, work.draws, work.seed)
    return [task for kind, _, task in found if kind.startswith(protocol)]


def _scale(name: str, work: Work) -> Scores:
    """Soft kernel null space, exact and on features, with the width of the median distance."""
    X, people = load_vectors(name, work.home, work.quick, work.seed)
    scores: Scores = {}
    for task in _tasks_of(X, people, "same", work):
        learn, groups, probes = task[0], task[1], task[4]
        settings: dict[str, dict[str, Any]] = {
            "exact kernel": {},
            "Nyström, all points": {"approximation": "nystroem", "approximation_size": len(learn)},
            "Nyström, half": {"approximation": "nystroem", "approximation_size": len(learn) // 2},
            "Fastfood, 4 per point": {
                "approximation": "fastfood",
                "approximation_size": 4 * len(learn),
            },
        }
        cosines = {}
        for method, setting in settings.items():
            model = KernelNullSpaceProjection(sigma="median", random_state=work.seed, **setting)
            model.fit(learn, groups)
            _add(scores, method, neighbour_errors(model, task)["cosine"])
            Z = model.transform(probes)
            Z /= np.linalg.norm(Z, axis=1, keepdims=True)
            cosines[method] = (Z @ Z.T)[np.triu_indices(len(Z), 1)]
            if method != "exact kernel":
                same = np.corrcoef(cosines["exact kernel"], cosines[method])[0, 1]
                _add(scores, f"agreement of {method}", same)
    return scores


class _WhitenedCosine:
    """Principal components of unit variance, nearest by cosine."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> _WhitenedCosine:
        self.pca = PCA(min(len(X) // 2, X.shape[1]), whiten=True, svd_solver="full").fit(X)
        self.nearest = NearestNeighbourIdentifier().fit(self.pca.transform(X), y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.nearest.predict(self.pca.transform(X))


def _committee(name: str, work: Work) -> Scores:
    base = name.removesuffix(", side lights")
    X, people = load_vectors(base, work.home, work.quick, work.seed)
    if name != base:
        X = light_from_sides(X, work.seed)
    fewest = int(np.unique(people, return_counts=True)[1].min())
    n_train = min(10, max(3, fewest // 2))
    scores: Scores = {}
    members = 5 if work.quick else 20
    for number, (train, test) in enumerate(
        split_pictures(people, n_train, work.draws, random_state=work.seed)
    ):
        seed = work.seed + number
        models: dict[str, Any] = {
            "committee": RandomSamplingLDA(members, random_state=seed),
            "committee, preparation chosen": RandomSamplingLDA(
                members, preparation=list(CANDIDATES), random_state=seed
            ),
            "soft null-space LDA, cosine": make_pipeline(
                NullSpaceLDA(), NearestNeighbourIdentifier()
            ),
            "ridge classifier": make_pipeline(StandardScaler(with_std=False), RidgeClassifier(1.0)),
            "whitened cosine": _WhitenedCosine(),
            # The lecture's questions: a margin instead of LDA, after a PCA, or after LDA.
            "linear SVM": make_pipeline(StandardScaler(with_std=False), LinearSVC()),
            "PCA, then linear SVM": make_pipeline(PCA(min(60, len(train) // 2)), LinearSVC()),
            "LDA, then linear SVM": make_pipeline(NullSpaceLDA(), StandardScaler(), LinearSVC()),
            "committee of linear SVM": Committee(LinearSVC(), members, pca=True, random_state=seed),
            "committee of LDA, then linear SVM": Committee(
                make_pipeline(NullSpaceLDA(), StandardScaler(), LinearSVC()),
                members,
                pca=True,
                random_state=seed,
            ),
        }
        for method, model in models.items():
            model.fit(X[train], people[train])
            _add(scores, method, 100 * np.mean(model.predict(X[test]) != people[test]))
    return scores


def _votes(name: str, work: Work) -> Scores:
    """Share of wrong names among all probes, where a posterior of .9 is asked for."""
    X, people = load_vectors(name, work.home, work.quick, work.seed)
    fewest = int(np.unique(people, return_counts=True)[1].min())
    scores: Scores = {}
    for number, (train, test) in enumerate(
        split_pictures(people, min(3, fewest - 1), work.draws, random_state=work.seed)
    ):
        model = RandomSamplingLDA(20, random_state=work.seed + number).fit(X[train], people[train])
        members, truth = model.member_proba(X[test]), people[test]
        agreed = fuse(members, "agree", min_votes=3)
        totals = agreed.sum(axis=1, keepdims=True)
        posteriors = {
            "3 of 20 agree": agreed,
            "3 of 20 agree, as one": np.divide(agreed, totals, out=agreed * 0, where=totals > 0),
            "vote": fuse(members, "vote"),
            "sum": fuse(members, "sum"),
        }
        codes = np.arange(len(model.classes_))
        for rule, values in posteriors.items():
            named = decide(values, codes, threshold=0.9)
            wrong = (named >= 0) & (model.classes_[named] != truth)
            _add(scores, rule, 100 * wrong.mean())
            _add(scores, f"named by {rule}", 100 * np.mean(named >= 0))
    return scores


def _engines(name: str, work: Work) -> Scores:
    """Misses at a false accept rate of 0.1 %, all pairs of people who did not weigh the engines.

    The weights of the two cosines come from the official pairs of the other folds. Covered faces
    go through the engine itself, with its own weights.
    """
    if name == "LFW, covered":
        return _engines_covered(work)
    first, second = "sface", "dlib"
    found = {engine: load_lfw_embeddings(work.home, engine) for engine in (first, second)}
    protocol = load_lfw_protocol(work.home)
    usable = np.logical_and.reduce([f.detected for f in found.values()])
    units = {}
    for engine, embedded in found.items():
        X = embedded.vectors.astype(np.float64)
        units[engine] = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    cosines = np.stack([_pair_cosines(units[e], protocol.pairs) for e in (first, second)], axis=1)
    same, fold = np.asarray(protocol.same), np.asarray(protocol.fold)
    known = usable[protocol.pairs].all(axis=1)
    scores: Scores = {}
    rng = np.random.default_rng(work.seed)
    for k in range(2 if work.quick else 10):
        learn = known & (fold != k)
        machine = LogisticRegression(C=1e3).fit(cosines[learn], same[learn])
        rows = np.unique(protocol.pairs[(fold == k) & known])
        i, j = np.triu_indices(len(rows), 1)
        i, j = rows[i], rows[j]
        alike = protocol.people[i] == protocol.people[j]
        both = np.stack(
            [_pair_cosines(units[e], np.column_stack([i, j])) for e in (first, second)], axis=1
        )
        # dlib's error is not SFace's: what one misses the other may see.
        weighed = machine.decision_function(both)
        _add_misses(scores, weighed, both, alike, rng)
    return scores


def _add_misses(
    scores: Scores, weighed: np.ndarray, both: np.ndarray, alike: np.ndarray, rng: Any
) -> None:
    """Misses of both engines together and of each, where one impostor in a thousand passes."""
    for method, values in (
        ("SFace + dlib", weighed), ("mean of the cosines", both.mean(axis=1)),
        ("SFace", both[:, 0]), ("dlib", both[:, 1]),
    ):  # fmt: skip
        impostors = np.sort(values[~alike] + 1e-12 * rng.random(int((~alike).sum())))
        threshold = impostors[int(np.ceil(0.999 * len(impostors))) - 1]
        _add(scores, method, 100 * np.mean(values[alike] <= threshold))


def _engines_covered(work: Work) -> Scores:
    """Every pair of covered faces of LFW, in five parts of the people."""
    engine: Any = load_engine("sface+dlib")
    shift = SHIFTS["covered"](work.home)
    rng = np.random.default_rng(work.seed)
    names = rng.permutation(np.unique(shift.people))[: 10 if work.quick else 100]
    vectors, people = [], []
    for name in names:
        for row in np.flatnonzero(shift.people == name)[:4]:
            colour = np.repeat(shift.images[row][..., None], 3, axis=2)
            found = engine.detect(colour)
            if not found:
                continue
            changed: Any = shift.change
            covered = np.ascontiguousarray(changed(colour, found[0]))
            again = engine.detect(covered)
            if again:
                vectors.append(engine.embed(covered, again[0]))
                people.append(name)
    X, who = np.asarray(vectors, dtype=np.float64), np.asarray(people)
    # The two halves of a vector are those of the engines.
    units = [half / np.linalg.norm(half, axis=1, keepdims=True) for half in np.split(X, 2, axis=1)]
    scores: Scores = {}
    for part in np.array_split(names, 2 if work.quick else 5):
        rows = np.flatnonzero(np.isin(who, part))
        i, j = (rows[index] for index in np.triu_indices(len(rows), 1))
        pairs = np.column_stack([i, j])
        both = np.stack([_pair_cosines(half, pairs) for half in units], axis=1)
        _add_misses(scores, _pair_cosines(X, pairs), both, who[i] == who[j], rng)
    return scores


def _missed(name: str, work: Work) -> Scores:
    """Pictures in which the face is not found, or, where nobody is, pictures with a false face.

    Only every second picture of a set: on the others the engine's second look was chosen.
    """
    engine: Any = load_engine("sface")
    rng = np.random.default_rng(work.seed)
    most = 40 if work.quick else 300
    nobody = name == "Corel, nobody"
    if nobody:
        pictures = load_pictures_of_nobody(work.home, most, work.seed)
    else:
        shift = SHIFTS["covered" if name == "covered" else "small"](work.home)
        rows = np.sort(rng.permutation(np.arange(1, len(shift.images), 2))[:most])
        colours = [np.repeat(shift.images[row][..., None], 3, axis=2) for row in rows]
        change: Any = shift.change
        found = [(colour, engine.detect(colour)) for colour in colours]
        pictures = [np.ascontiguousarray(change(c, faces[0])) for c, faces in found if faces]
    scores: Scores = {}
    for method, again in (("two looks", True), ("one look", False)):
        engine.second_look = again
        for part in np.array_split(np.arange(len(pictures)), 5):
            seen = [bool(engine.detect(pictures[i])) for i in part]
            _add(scores, method, 100 * (np.mean(seen) if nobody else 1 - np.mean(seen)))
    return scores


def _pair_cosines(X: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    return np.asarray(np.einsum("ij,ij->i", X[pairs[:, 0]], X[pairs[:, 1]]))


def _completion(name: str, work: Work) -> Scores:
    faces = load_faces(name, work.home, work.quick, work.seed)
    cover = make_cover("below-eyes", (32, 32))
    scores: Scores = {}
    for draw in range(work.draws):
        train, test = split_people(faces.people, 0.25, random_state=work.seed + draw)[:2]
        known, asked = faces.select(train), faces.select(test[:400])
        for method in ("auto", "mixture", "feature-ridge", "dictionary", "ridge", "ksvd", "pca",
                       "fastfood"):  # fmt: skip
            params = {} if method in ("ridge", "pca") else {"random_state": work.seed + draw}
            if method == "fastfood" and len(train) > 1000:
                params |= {"n_atoms": 300, "max_iter": 5}
            model = FaceCompleter(make_completer(method, **params))
            model.fit(known.images, people=known.people)
            completed = np.asarray(model.complete(asked.images))
            _add(scores, method, psnr(asked.images, completed, cover=cover).mean())
    return scores


def _bags(name: str, work: Work) -> Scores:
    return score_defaults(load_set(name, work.home, work.draws, work.seed, work.quick), work.seed)


def _chosen(name: str, work: Work) -> Scores:
    data = load_set(name, work.home, work.draws, work.seed, work.quick)
    return score_chosen(data, work.seed, (4, 8) if work.quick else (16, 64, 256))


def _quietly(run: Callable[[str, Work], Scores]) -> Callable[[str, Work], Scores]:
    """Leave out warnings that a comparison on odd sets makes by the hundred."""

    def quiet(name: str, work: Work) -> Scores:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", NumericsWarning)
            return run(name, work)

    return quiet


PARTS: dict[str, Part] = {
    "groups": Part(
        "Neighbours after learning from groups without names",
        "error %",
        tuple(f"{name}, {protocol}" for name in VECTORS for protocol in ("same", "new")),
        ("soft null space", "soft, directions alike", "soft, λ = 0.1", "exact null space",
         "soft null space, Euclidean", "RCA", "RCA, all directions", "soft kernel null space"),
        ("no projection", "shrunken LDA, groups as classes"),
        _quietly(_groups),
    ),
    "scale": Part(
        "The soft kernel null space on features",
        "error %",
        ("ORL", "rendered", "Corel", "leaves"),
        ("Nyström, half", "Nyström, all points", "Fastfood, 4 per point"),
        ("exact kernel",),
        _quietly(_scale),
        margin=1.0,
    ),
    "committee": Part(
        "Names of known people",
        "error %",
        (*FACES, *(f"{name}, side lights" for name in FACES)),
        ("committee, preparation chosen", "committee", "soft null-space LDA, cosine",
         "committee of linear SVM", "committee of LDA, then linear SVM"),
        ("ridge classifier", "whitened cosine", "linear SVM", "PCA, then linear SVM",
         "LDA, then linear SVM"),
        _quietly(_committee),
    ),
    "votes": Part(
        "Wrong names at a posterior of .9, three pictures per person to learn from",
        "wrong names, % of all probes",
        FACES,
        ("3 of 20 agree", "3 of 20 agree, as one"),
        ("vote", "sum"),
        _quietly(_votes),
    ),
    "engines": Part(
        "Two engines, pairs of people at a false accept rate of 0.1 %",
        "misses %",
        ("LFW", "LFW, covered"),
        ("SFace + dlib", "mean of the cosines"),
        ("SFace", "dlib"),
        _quietly(_engines),
        margin=0.05,
    ),
    "missed": Part(
        "Faces that SFace's detector misses, and false ones where nobody is",
        "wrong pictures, %",
        ("covered", "24 pixels", "Corel, nobody"),
        ("two looks",),
        ("one look",),
        _quietly(_missed),
    ),
    "completion": Part(
        "Half a face, people held out",
        "dB of the covered pixels",
        FACES,
        ("auto", "mixture", "feature-ridge", "dictionary", "fastfood"),
        ("ridge", "ksvd", "pca"),
        _quietly(_completion),
        higher=True,
        margin=0.05,
    ),
    "bags": Part(
        "Classes of bags of paired descriptors",
        "accuracy %",
        ("msrc", "orl-views", "wiki", "handwritten", "leaves", "corel", "lfw", "kth", "kth-mbh"),
        ("Z + G", "Z + G, each of unit length", "Z + G, each of unit length, intra", "G", "Z",
         "Z of 128 beside a Fisher vector"),
        ("Fisher vectors, concatenated", "joint Fisher vector"),
        _quietly(_bags),
        higher=True,
    ),
    "chosen": Part(
        "Classes of bags of many descriptors, settings chosen inside the training half",
        "accuracy %",
        ("orl", "corel", "lfw", "kth", "kth-mbh"),
        *CHOSEN,
        _quietly(_chosen),
        higher=True,
    ),
}  # fmt: skip
