"""Grouping of very many faces: agreement with all against all, time, memory.

``python -m benchmarks grouping [--faces N ...] [--exact N] [--per-person 10] [--workers N]``:
vectors are drawn from the shipped model, so that people are as hard to tell apart as it says, and
joined by the rule and the threshold of ``mien cluster``. ``--exact`` also compares all with all,
for so many faces. With ``--workers`` so many workers of Dask find the neighbours. ``--new N`` also
adds so many new faces to the sorted ones.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.distributed import Watch
from mien._core.progress import listening


def draw_faces(n_faces: int, per_person: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Vectors (n, 128) of unit length drawn from the shipped model, and who they are (n,)."""
    from mien.recognition import load_source

    model = load_source("sface").scorer.model_
    rng = np.random.default_rng(seed)
    n_people = max(1, round(n_faces / per_person))
    people = np.sort(
        np.concatenate([np.arange(n_people), rng.integers(0, n_people, n_faces - n_people)])
    )
    d = len(model.mean_)
    roots = [
        np.linalg.cholesky(np.asarray(c, np.float64) + 1e-9 * np.eye(d)).T.astype(np.float32)
        for c in (model.identity_covariance_, model.variation_covariance_)
    ]
    who = rng.standard_normal((n_people, d), dtype=np.float32) @ roots[0]
    X = np.empty((n_faces, d), dtype=np.float32)
    order = rng.permutation(n_faces)
    people = people[order]
    for low in range(0, n_faces, 65536):
        rows = slice(low, min(low + 65536, n_faces))
        noise = rng.standard_normal((rows.stop - low, d), dtype=np.float32) @ roots[1]
        part = model.mean_.astype(np.float32) + who[people[rows]] + noise
        X[rows] = part / np.linalg.norm(part, axis=1, keepdims=True)
    return X, people


def drawn_threshold(scorer: Any, rate: float) -> float:
    """Log ratio that strangers among drawn vectors pass at a rate, by the tail of their scores.

    The table of the model is of real pictures, whose trials hold relatives and wrong labels: at
    rates below one in a million it asks for more than any two drawn vectors of a person have.
    """
    X = draw_faces(6_000, 1.0, seed=1)[0]
    scores = np.concatenate(
        [scorer.score_matrix(X[k : k + 1000], X[k + 1000 :]).ravel() for k in range(0, 5000, 1000)]
    )
    share = 1e-4
    edge = np.quantile(scores, 1 - share)
    slope = float(np.mean(scores[scores > edge] - edge))
    return float(edge + slope * np.log(share / rate))


@contextmanager
def finding(n_workers: int) -> Iterator[dict[str, Any]]:
    """Options of `link_faces` by which so many workers of Dask find the neighbours."""
    if not n_workers:
        yield {}
        return
    from distributed import Client, LocalCluster
    from mien.distributed import finding_neighbours

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster) as client,
        finding_neighbours(client) as find,
    ):
        yield {"find": find}


def run(
    n_faces: int,
    per_person: float,
    *,
    exact: bool,
    neighbours: int | None,
    drawn: bool,
    n_workers: int,
    n_new: int,
) -> dict[str, object]:
    from sklearn.metrics import adjusted_rand_score

    from mien.recognition import load_source
    from mien.recognition._cluster_linkage import link_faces
    from mien.recognition._cluster_rates import calibrate_faces
    from mien.verification import rate_per_person

    model = load_source("sface")
    scorer = model.scorer
    X, people = draw_faces(n_faces, per_person)
    if drawn:
        threshold = drawn_threshold(scorer, 0.03 / n_faces)
    else:
        alone, none = np.full(n_faces, -1), np.zeros((0, 2), dtype=np.int64)
        own = calibrate_faces(
            scorer, model.calibrate("strangers"), X, 0.03, groups=alone, cannot_link=none
        )
        threshold = own.threshold(scorer.thresholds_, rate_per_person(0.03, n_faces - 1))
    row: dict[str, object] = {"faces": n_faces, "people": len(np.unique(people))}
    row["threshold"] = round(threshold, 2)
    last = [0.0, ""]

    def show(words: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if words != last[1] or now - last[0] > 20:
            print(f"  {now - began:7.1f} s  {words}: {done:,} of {total or 0:,}", flush=True)
            last[:] = [now, words]

    with finding(n_workers) as options, Watch() as watch:
        began = time.monotonic()
        with listening(show):
            linked = link_faces(scorer, X, threshold, neighbours=neighbours, **options)
        seconds = time.monotonic() - began
    row |= {
        "neighbours": neighbours,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(watch.cpu, 1),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "workers": n_workers,
        "worker_mib": watch.mib,
        "sets_found": int(linked.labels.max()) + 1,
        "ari_truth": round(float(adjusted_rand_score(people, linked.labels)), 5),
    }
    if n_new:
        more, _ = draw_faces(n_new, per_person, seed=2)
        known = np.concatenate([linked.labels, np.full(n_new, -1)])
        began, cpu = time.monotonic(), time.process_time()
        both = np.concatenate([X, more])
        added = link_faces(scorer, both, threshold, known=known, neighbours=neighbours)
        row |= {
            "added": n_new,
            "added_seconds": round(time.monotonic() - began, 1),
            "added_cpu_seconds": round(time.process_time() - cpu, 1),
            "kept": round(float(adjusted_rand_score(linked.labels, added.labels[:n_faces])), 5),
        }
    if exact:
        began, cpu = time.monotonic(), time.process_time()
        whole = link_faces(scorer, X, threshold, neighbours=0)
        row |= {
            "exact_seconds": round(time.monotonic() - began, 1),
            "exact_cpu_seconds": round(time.process_time() - cpu, 1),
            "exact_ari_truth": round(float(adjusted_rand_score(people, whole.labels)), 5),
            "ari_exact": round(float(adjusted_rand_score(whole.labels, linked.labels)), 5),
        }
    return row


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks grouping", description=__doc__)
    parser.add_argument("--faces", type=int, nargs="+", default=[5_000, 20_000, 100_000])
    parser.add_argument("--exact", type=int, default=20_000, help="largest size for all with all")
    parser.add_argument(
        "--drawn", action="store_true", help="threshold at the rate of the drawn vectors themselves"
    )
    parser.add_argument("--per-person", type=float, default=10.0)
    parser.add_argument("--neighbours", type=int, default=24)
    parser.add_argument("--workers", type=int, default=0, help="of Dask; 0 does it in this process")
    parser.add_argument("--new", type=int, default=0, help="faces to add to the sorted ones")
    parser.add_argument("--out", type=Path, default=None, help="append rows of JSON to this file")
    chosen = parser.parse_args(argv)
    for n in chosen.faces:
        exact = n <= chosen.exact
        settings = {"neighbours": chosen.neighbours, "drawn": chosen.drawn}
        settings |= {"n_workers": chosen.workers, "n_new": chosen.new}
        row = run(n, chosen.per_person, exact=exact, **settings)
        print(json.dumps(row), flush=True)
        if chosen.out is not None:
            with chosen.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
