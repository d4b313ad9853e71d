"""The same on real workers of Dask, and when one of them is killed."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

from mien._core.progress import listening
from mien.distributed import connect, fit
from mien.errors import DataError, InputError
from mien.sparse import KSVD
from mien.verification import JointBayesian
from tests.near import assert_near

pytestmark = [
    pytest.mark.needs("distributed"),
    # Dask closes the connections of a killed worker in its own time.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def cluster():
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    ) as made:
        yield made


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster) as made:
        made.wait_for_workers(2, timeout=600)
        yield made


def draw(n_people: int = 600) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    people = rng.permutation(np.repeat(np.arange(n_people), 4))
    X = 2 * rng.normal(size=(n_people, 8))[people] + rng.normal(size=(len(people), 8))
    return X.astype(np.float32), people


def test_workers_and_one_pass_agree(client, tmp_path):
    import dask.array as da

    X, people = draw()
    here = fit(JointBayesian(), da.from_array(X, chunks=(400, 8)), people, n_workers=1)
    runs = [
        fit(JointBayesian(), da.from_array(X, chunks=(400, 8)), people, client=client)
        for _ in range(2)
    ]
    for model in runs:
        assert np.array_equal(model.projection_, here.projection_)
    assert_near(here.variance_ratios_, JointBayesian().fit(X, people).variance_ratios_, 6)
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "y.npy").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"y\.npy. cannot be read"):
        fit(JointBayesian(), tmp_path / "x.npy", tmp_path / "y.npy", client=client)
    np.save(tmp_path / "y.npy", people)
    np.save(tmp_path / "x.npy", np.where(X[3, 3] == X, np.nan, X))
    with pytest.raises(InputError, match=r"x\.npy.* 1 NaN"):  # found by a worker
        fit(JointBayesian(), tmp_path / "x.npy", tmp_path / "y.npy", client=client)


def test_a_worker_killed_in_the_middle_changes_nothing(client):
    X, people = draw()
    parts = [(X[i::12], people[i::12]) for i in range(12)]
    expected = fit(JointBayesian(), iter(parts), n_workers=1)
    pids = list(client.run(os.getpid).values())

    def slow():
        for k, part in enumerate(parts):
            if k == 7:
                os.kill(pids[0], signal.SIGKILL)
            time.sleep(0.05)
            yield part

    model = fit(JointBayesian(), slow(), client=client)
    assert np.array_equal(model.projection_, expected.projection_)
    assert model.n_samples_ == len(X)


def test_the_only_worker_killed_between_passes_changes_nothing():
    """What the tasks share is sent again to the worker that takes its place."""
    from distributed import Client, LocalCluster

    X, _ = draw()
    settings = {"n_nonzero_coefs": 2, "max_iter": 3, "random_state": 0}
    parts = [X[k::6] for k in range(6)]
    expected = fit(KSVD(10, **settings), parts, n_workers=1)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as alone,
        Client(alone) as client,
    ):
        (pid,) = client.run(os.getpid).values()
        seen: list[str] = []

        def show(words: str, done: int, total: int | None) -> None:
            seen.append(words)
            if seen.count("pass over the parts") == 9:
                os.kill(pid, signal.SIGKILL)

        with listening(show):
            model = fit(KSVD(10, **settings), parts, client=client)
    assert np.array_equal(model.components_, expected.components_)


def test_a_process_of_this_machine_killed_in_the_middle_changes_nothing(tmp_path):
    import psutil

    X, people = draw()
    parts = [(X[i::12], people[i::12]) for i in range(12)]
    expected = fit(JointBayesian(), iter(parts), n_workers=1)
    before = {child.pid for child in psutil.Process().children(recursive=True)}

    def slow():
        for k, part in enumerate(parts):
            if k == 9:
                for child in psutil.Process().children(recursive=True):
                    if child.pid not in before and "loky" in " ".join(child.cmdline()):
                        os.kill(child.pid, signal.SIGKILL)
                        break
            time.sleep(0.02)
            yield part

    model = fit(JointBayesian(), slow(), n_workers=2)
    assert np.array_equal(model.projection_, expected.projection_)


def test_a_scheduler_that_is_lost_is_said(tmp_path):
    """A scheduler of its own, killed while parts are read."""
    import subprocess
    import sys

    from distributed import Client

    X, people = draw()
    named = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    start = [sys.executable, "-m", "dask"]
    place = ["--scheduler-file", str(named)]
    scheduler = subprocess.Popen(
        [*start, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", *place],
        **quiet,
    )
    worker = None
    try:
        deadline = time.monotonic() + 120
        while not named.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        worker = subprocess.Popen(
            [*start, "worker", *place, "--nthreads", "1", "--no-nanny", "--no-dashboard",
             "--local-directory", str(tmp_path)], **quiet,
        )  # fmt: skip
        with Client(scheduler_file=str(named), timeout="120s") as client:
            client.wait_for_workers(1, timeout=120)

            def ending():
                for k in range(12):
                    if k == 7:
                        scheduler.kill()
                    yield X[k::12], people[k::12]

            with pytest.raises(DataError, match="is lost: nothing was written"):
                fit(JointBayesian(), ending(), client=client)
    finally:
        for process in (scheduler, worker):
            if process is not None:
                process.kill()
                process.wait()


def test_a_worker_that_joins_changes_nothing(cluster, client):
    X, people = draw()
    parts = [(X[i::12], people[i::12]) for i in range(12)]
    expected = fit(JointBayesian(), iter(parts), n_workers=1)

    def growing():
        for k, part in enumerate(parts):
            if k == 4:
                cluster.scale(3)
            yield part

    try:
        model = fit(JointBayesian(), growing(), client=client)
    finally:
        cluster.scale(2)
    assert np.array_equal(model.projection_, expected.projection_)
    assert model.n_samples_ == len(X)


def test_nobody_answers():
    with pytest.raises(InputError, match="got int"):
        connect(5)
    with pytest.raises(InputError, match="client or n_workers"):
        fit(JointBayesian(), *draw(9), client="local", n_workers=2)
