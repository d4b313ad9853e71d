"""Evaluation: all against all of 16,028 samples, ROC of 10⁷ scores, bootstrap by person.

Each measurement runs in a process of its own, so that the peak memory is its own as well.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.measure import Row, seconds

N_SAMPLES = 16_028
N_SCORES = 10_000_000


def _draw_templates() -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors (16028, 128) of 4,007 people in no order."""
    rng = np.random.default_rng(0)
    people = rng.permutation(np.repeat(np.arange(N_SAMPLES // 4), 4))
    X = rng.normal(size=(people.max() + 1, 128))[people] + 1.3 * rng.normal(size=(people.size, 128))
    X = X.astype(np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True), people


def _draw_scores() -> tuple[np.ndarray, np.ndarray]:
    """A tenth genuine, float32 as a network gives them."""
    rng = np.random.default_rng(0)
    genuine = rng.normal(2, 1, N_SCORES // 10).astype(np.float32)
    return genuine, rng.normal(0, 1, N_SCORES - genuine.size).astype(np.float32)


def _all_pairs() -> dict[str, Any]:
    from mien.evaluation import evaluate_all_pairs, iter_score_blocks

    X, people = _draw_templates()

    def blocks() -> Iterator[tuple[np.ndarray, slice, slice]]:
        return iter_score_blocks(lambda r, c: X[r] @ X[c].T, N_SAMPLES)

    def produce() -> None:
        for _ in blocks():
            pass

    result: dict[str, Any] = {}

    def evaluate() -> None:
        result.update(evaluate_all_pairs(blocks, people))

    # by turns, so that whatever else the machine does falls on both
    times = [(seconds(produce, 1), seconds(evaluate, 1)) for _ in range(3)]
    floor, took = np.min(times, axis=0).tolist()
    low, high = result["eer"]["bounds"]
    return {
        "floor": floor,
        "seconds": took,
        "note": f"{result['n_genuine'] + result['n_impostor']:.4g} pairs, bins of "
        f"{result['resolution']:.2g}, EER in [{low:.6f}, {high:.6f}]",
    }


def _ours() -> dict[str, Any]:
    from mien.evaluation import roc

    genuine, impostor = _draw_scores()
    took = seconds(lambda: roc(genuine, impostor, drop_intermediate=True))
    return {"seconds": took, "note": "corners of the curve"}


def _scikit_learn() -> dict[str, Any]:
    from sklearn.metrics import roc_curve

    scores = np.concatenate(_draw_scores())
    same = np.arange(N_SCORES) < N_SCORES // 10
    return {"seconds": seconds(lambda: roc_curve(same, scores)), "note": "corners of the curve"}


def _ours_streamed() -> dict[str, Any]:
    from mien.evaluation import ScoreHistogram

    genuine, impostor = _draw_scores()

    def count() -> None:
        histogram = ScoreHistogram()
        for part in np.array_split(np.concatenate([genuine, impostor]), 20):
            histogram.collect(part[None, :])
        histogram.collect_genuine(genuine)
        histogram.accepted()

    return {"seconds": seconds(count), "note": "exact at 2^18 edges"}


def _bootstrap() -> dict[str, Any]:
    from mien.evaluation import bootstrap_verification, equal_error_rate, verification_rate

    rng = np.random.default_rng(0)
    own = np.arange(3000) % 1000
    both = np.column_stack([rng.integers(0, 500, 3000), rng.integers(500, 1000, 3000)])
    genuine, impostor = rng.normal(2, 1, 3000), rng.normal(0, 1, 3000)
    drawn = rng.integers(0, 3000, (1000, 2, 3000))

    def loop() -> None:
        for g, i in drawn:
            equal_error_rate(genuine[g], impostor[i])
            verification_rate(genuine[g], impostor[i], [0.1, 0.01, 0.001])

    took = seconds(
        lambda: bootstrap_verification(genuine, impostor, (own, both), random_state=0), repeats=1
    )
    return {
        "floor": seconds(loop, repeats=1),
        "seconds": took,
        "note": "1,000 draws of EER, VR at three FAR, AUC and minCllr of 6,000 scores",
    }


JOBS: dict[str, Callable[[], dict[str, Any]]] = {
    "all-pairs": _all_pairs,
    "roc": _ours,
    "roc-streamed": _ours_streamed,
    "roc-sklearn": _scikit_learn,
    "bootstrap": _bootstrap,
}


def _run(job: str) -> dict[str, Any]:
    """Run a job in a new process; adds its peak MiB (imports and data included)."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench_evaluation", job],
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def rows() -> Iterator[Row]:
    """All against all, ROC at 10⁷ scores, bootstrap by person."""
    job = "all against all, 16,028 × 128 in float32"
    result = _run("all-pairs")
    yield Row(job, "the product alone", result["floor"])
    yield Row(
        job,
        "mien evaluate_all_pairs",
        result["seconds"],
        result["seconds"] / result["floor"],
        "product alone",
        f"{result['note']}, peak {result['peak']:.0f} MiB",
    )
    job = "ROC of 10^7 scores"
    peer = _run("roc-sklearn")
    yield Row(job, "sklearn roc_curve", peer["seconds"], None, "", f"peak {peer['peak']:.0f} MiB")
    for name, who in (("roc", "mien roc"), ("roc-streamed", "mien ScoreHistogram")):
        result = _run(name)
        yield Row(
            job,
            who,
            result["seconds"],
            result["seconds"] / peer["seconds"],
            "sklearn",
            f"{result['note']}, peak {result['peak']:.0f} MiB",
        )
    job = "bootstrap, 1,000 draws of people"
    result = _run("bootstrap")
    yield Row(job, "loop over drawn scores", result["floor"], None, "", "EER and VR only")
    yield Row(
        job,
        "mien bootstrap_verification",
        result["seconds"],
        result["seconds"] / result["floor"],
        "loop",
        result["note"],
    )


if __name__ == "__main__":
    outcome = JOBS[sys.argv[1]]()
    outcome["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(outcome))
