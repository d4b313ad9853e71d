"""All against all by blocks of pairs on many workers: two histograms and the genuine scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from mien._core.parallel import one_blas_thread
from mien._core.validation import check_labels
from mien.distributed._parts import find_parts, read_part
from mien.distributed._team import open_team, stream, unshare
from mien.errors import InputError
from mien.evaluation import ScoreHistogram, count_pairs, summarise_histogram

__all__ = ["evaluate_pairs"]

#: Rows of a block of vectors: a task is one block against a run of others.
_ROWS = 4096
_PAIRS_PER_TASK = 2**28


class _Task(NamedTuple):
    """Rows ``top`` against the columns from ``left`` to ``right``."""

    top: slice
    left: int
    right: int


def evaluate_pairs(
    scorer: Any,
    X: Any,
    y: Any,
    *,
    fars: Sequence[float] = (0.01, 0.001, 0.0001, 0.00001, 0.000001),
    resolution: int = 2**18,
    limits: tuple[float, float] | None = None,
    llr: bool = True,
    client: Any = None,
    n_workers: int | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Verification of every vector against every other: 10¹⁰ pairs and more.

    Parameters
    ----------
    scorer : JointBayesian, Verifier or Scorer
        Has ``score_matrix(X, Y)``, and is sent to every worker once.
    X : array, Dask array, path, list of paths, or iterable
        Vectors, as for :func:`fit`. They must fit into the memory of each worker.
    y : labels
        Who each vector is, as for :func:`fit`.
    fars : sequence of float
        False accept rates at which the verification rate is wanted.
    resolution : int
        Bins that the range of the scores is divided into.
    limits : (float, float) or None
        Range in which thresholds are wanted; None takes all scores.
    llr : bool
        The scores are natural-log likelihood ratios: Cllr is given as well.
    client, n_workers
        As for :func:`fit`.
    **options
        Of :func:`mien.evaluation.evaluate_all_pairs`.

    Returns
    -------
    dict
        As :func:`mien.evaluation.evaluate_all_pairs`, whose notes say what is exact: all counts,
        and both error rates at every edge of a bin; what lies between is given with its bounds.

    Notes
    -----
    A task is a block of vectors against a run of others; it returns counts of all scores and of
    genuine ones in bins whose width is a power of two, and the genuine scores themselves. Counts
    are whole numbers: their sum is the same in any order, so workers change nothing in the result.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.distributed import evaluate_pairs
    >>> from mien.verification import JointBayesian
    >>> rng = np.random.default_rng(0)
    >>> people = np.repeat(np.arange(50), 4)
    >>> X = 3 * rng.normal(size=(50, 8))[people] + rng.normal(size=(200, 8))
    >>> model = JointBayesian().fit(X, people)
    >>> result = evaluate_pairs(model, X, people, fars=[0.01], n_workers=1)
    >>> result["n_genuine"], result["n_impostor"]
    (300, 19600)
    """
    if not hasattr(scorer, "score_matrix"):
        raise InputError(f"{type(scorer).__name__} has no score_matrix: it cannot compare vectors")
    vectors, people = _load(X, y)
    codes = np.unique(check_labels("y", people, len(vectors)), return_inverse=True)[1]
    n_people = int(codes.max()) + 1
    if n_people in (1, len(codes)):
        only = "genuine" if n_people == 1 else "impostor"
        raise InputError(f"among all pairs there are only {only} ones: both are needed")
    tasks = list(_cut(len(vectors)))
    histogram = ScoreHistogram(resolution, limits)
    genuine, owners = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    with open_team(client, n_workers, len(tasks)) as team:
        held = (team.share(vectors), team.share(codes), scorer, resolution, limits)
        words = "all against all"
        for call in stream(team, _count, tasks, *held, words=words, total=len(tasks)):
            counted, found, whose = team.get(call)
            histogram.merge(counted)
            genuine.append(found)
            owners.append(whose)
    return summarise_histogram(
        histogram,
        np.concatenate(genuine),
        np.concatenate(owners),
        n_people=n_people,
        fars=fars,
        limits=limits,
        llr=llr,
        **options,
    )


def _load(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """All vectors, in single precision, and their labels."""
    rows, labels = [], []
    for part in find_parts(X, y).parts:
        vectors, people = read_part(part)
        if people is None:
            raise InputError(f"{part.name} has no labels: give the person in each picture")
        rows.append(np.asarray(vectors, dtype=np.float32))
        labels.append(np.asarray(people))
    if not rows:
        raise InputError("there are no vectors: at least one part with rows is needed")
    if len({array.dtype.kind in "US" for array in labels}) > 1:
        raise InputError("labels are text in some parts and numbers in others")
    return np.concatenate(rows), np.concatenate(labels)


def _cut(n: int) -> Iterator[_Task]:
    """The upper triangle in tasks of about as many pairs each, by the number of vectors alone."""
    rows = min(_ROWS, max(1, n))
    run = max(rows, _PAIRS_PER_TASK // rows)
    for top in range(0, n, rows):
        for left in range(top, n, run):
            yield _Task(slice(top, min(top + rows, n)), left, min(left + run, n))


def _count(
    task: _Task,
    shared_vectors: Any,
    shared_codes: Any,
    scorer: Any,
    resolution: int,
    limits: tuple[float, float] | None,
) -> tuple[ScoreHistogram, np.ndarray, np.ndarray]:
    """Counts of the scores of a task, its genuine scores, and whose they are."""
    X, codes = unshare(shared_vectors), unshare(shared_codes)
    histogram = ScoreHistogram(resolution, limits)
    rows = np.ascontiguousarray(X[task.top])
    runs = (slice(k, min(k + _ROWS, task.right)) for k in range(task.left, task.right, _ROWS))
    with one_blas_thread():
        blocks = ((scorer.score_matrix(rows, X[run]), task.top, run) for run in runs)
        genuine, owners = count_pairs(blocks, codes, histogram)
    return histogram, genuine, owners
