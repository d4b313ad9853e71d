"""Collections sorted by person, with the model card's threshold and with their own.

``python -m benchmarks.sorting [--draws 8]``: collections are drawn from LFW's vectors (clean,
covered, small and dark; SFace and dlib), one person or many in each, and sorted at the rate that
``mien cluster`` states. Printed are the share of faces that are together with somebody else's, to
be compared with the stated 3 %, and the share of pairs of one person that are together. The
shipped models have seen LFW's clean vectors, so the clean rows are easier than life.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.data import find_data, run_command

FPIR = 0.03
#: People and pictures of each kind of collection, drawn with a generator.
KINDS: dict[str, Callable[[Any], list[int]]] = {
    "150 people, one picture each": lambda rng: [1] * 150,
    "50 people, 1 to 6 pictures": lambda rng: rng.integers(1, 7, 50).tolist(),
    "4 people, 12 pictures": lambda rng: [12] * 4,
    "2 people, 25 and 5 pictures": lambda rng: [25, 5],
    "one person, 30 pictures": lambda rng: [30],
}


def load_vectors() -> dict[str, tuple[str, np.ndarray]]:
    """Engine and vectors (n, 128) of each kind of picture; rows without a face are zero."""
    names = {
        "SFace, clean": ("sface", "lfw_sface128"),
        "SFace, covered": ("sface", "lfw_sface128_covered"),
        "SFace, 20 pixels, dark": ("sface", "lfw_sface128_lowres"),
        "dlib, clean": ("dlib", "lfw_dlib128"),
    }
    found = {}
    for name, (engine, file) in names.items():
        with np.load(find_data("lfw", f"{file}.npz")) as data:
            X = data["embeddings"].astype(np.float64)
        norms = np.linalg.norm(X, axis=1, keepdims=True)
        found[name] = engine, np.divide(X, norms, out=np.zeros_like(X), where=norms > 0)
    return found


def draw(X: np.ndarray, people: np.ndarray, sizes: list[int], rng: Any) -> tuple:
    """Vectors and labels of people who have enough pictures."""
    usable = np.flatnonzero(X.any(axis=1))
    counts = np.bincount(people[usable], minlength=int(people.max()) + 1)
    chosen = rng.permutation(np.flatnonzero(counts >= max(sizes)))[: len(sizes)]
    rows = [
        rng.permutation(usable[people[usable] == person])[:size]
        for person, size in zip(chosen, sizes, strict=True)
    ]
    kept = np.concatenate(rows)
    return X[kept], people[kept]


def judge(people: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Share of faces with somebody else's, and of pairs of one person that are together."""
    same, together = people[:, None] == people, labels[:, None] == labels
    wrong = float((together & ~same).any(axis=1).mean())
    np.fill_diagonal(same, False)
    return wrong, float((together & same).sum() / max(same.sum(), 1))


def sort(model: Any, X: np.ndarray) -> dict[str, np.ndarray]:
    """Labels (n,) by the card's threshold, and by the collection's own."""
    from mien.recognition._cluster_linkage import link_faces
    from mien.recognition._cluster_rates import calibrate_faces
    from mien.verification import rate_per_person

    scorer, n = model.scorer, len(X)
    card = scorer.threshold(fpir=FPIR, n_people=n - 1, extrapolate=True)
    alone, none = np.full(n, -1), np.zeros((0, 2), dtype=np.int64)
    start = model.calibrate("strangers")
    own = calibrate_faces(scorer, start, X, FPIR, groups=alone, cannot_link=none)
    rate = rate_per_person(FPIR, n - 1)
    thresholds = {"card": card, "own": own.threshold(scorer.thresholds_, rate)}
    return {name: link_faces(scorer, X, value).labels for name, value in thresholds.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sorting", description=__doc__)
    parser.add_argument("--draws", type=int, default=8, help="collections of each kind")
    draws = parser.parse_args(arguments).draws
    from mien.recognition import load_source

    with np.load(find_data("lfw", "lfw_index.npz")) as index:
        people = index["label"]
    print("| vectors | collection | with others: card | own | together: card | own |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, (engine, X) in load_vectors().items():
        model = load_source(engine)
        for kind, make in KINDS.items():
            results: dict[str, list[tuple[float, float]]] = {"card": [], "own": []}
            for seed in range(draws):
                rng = np.random.default_rng(seed)
                vectors, truth = draw(X, people, make(rng), rng)
                for way, labels in sort(model, vectors).items():
                    results[way].append(judge(truth, labels))
            (wrong, whole), (own_wrong, own_whole) = (
                np.mean(results[way], axis=0) for way in ("card", "own")
            )
            both = ("–", "–") if max(make(np.random.default_rng(0))) == 1 else ()
            shown = both or (f"{whole:.3f}", f"{own_whole:.3f}")
            print(f"| {name} | {kind} | {wrong:.3f} | {own_wrong:.3f} | {' | '.join(shown)} |")


if __name__ == "__main__":
    run_command(main)
