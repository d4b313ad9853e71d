"""Who does the work: this process, processes of this machine, or the workers of Dask.

Tasks are functions without side effects that anybody may repeat, so a worker that dies costs time
and nothing else. A team answers in the order in which it was asked, whoever is quicker.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mien._core.parallel import count_processors
from mien._core.progress import report
from mien._core.validation import require_module
from mien.errors import DataError, InputError

__all__ = ["Team", "connect", "open_team", "stream", "unshare"]

_RESTARTS = 5
_AHEAD = 3


class Team(Protocol):
    """Runs functions; what it gives for a call can be an argument of the next one."""

    n_workers: int
    #: Whether results stay with the workers until they are asked for.
    keeps_results: bool

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Begin ``function(*args)``; lists of earlier calls may stand among the arguments."""

    def get(self, call: Any) -> Any:
        """Wait for the result of a call, or raise its error."""

    def settle(self, call: Any) -> Any:
        """Wait for a call: its result, or the call where results stay with the workers."""

    def share(self, array: np.ndarray) -> Any:
        """What stands for a large array among the arguments of many calls; see `unshare`."""

    def send(self, value: Any) -> Any:
        """What stands for any value among the arguments of many calls; a task gets the value."""


class _Here:
    """One after the other in this process."""

    n_workers = 1
    keeps_results = False

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        return function(*args)

    def get(self, call: Any) -> Any:
        return call

    settle = get

    def share(self, array: np.ndarray) -> Any:
        return array

    def send(self, value: Any) -> Any:
        return value


@dataclass(frozen=True)
class _Mapped:
    """An array in a file of this machine."""

    path: str


def unshare(held: Any) -> np.ndarray:
    """The array that was shared, inside a task."""
    if isinstance(held, _Mapped):
        mapped: np.ndarray = np.load(held.path, mmap_mode="r", allow_pickle=False)
        return mapped
    return np.asarray(held)


class _Call:
    """A call of a process: what to do, so that it can be done again, and its future."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.function, self.args = function, args
        self.future: Any = None

    def done(self) -> bool:
        return bool(
            self.future is not None and self.future.done() and not _is_lost(self.future.exception())
        )


class _Processes:
    """Processes of this machine, started again when one of them dies."""

    keeps_results = False

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._open: list[_Call] = []
        self._restarts = self._shared = 0
        self._folder = tempfile.TemporaryDirectory(prefix="mien-")
        self._pool = self._start()

    def _start(self) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor

        threads = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA")}
        return ProcessPoolExecutor(self.n_workers, env=threads)

    def call(self, function: Callable[..., Any], *args: Any) -> _Call:
        call = _Call(function, tuple(self._resolve(argument) for argument in args))
        self._open = [one for one in self._open if not one.done()]
        self._open.append(call)
        self._submit(call)
        return call

    def _resolve(self, argument: Any) -> Any:
        if isinstance(argument, list):
            return [self._resolve(one) for one in argument]
        return self.get(argument) if isinstance(argument, _Call) else argument

    def _submit(self, call: _Call) -> None:
        try:
            call.future = self._pool.submit(call.function, *call.args)
        except Exception as error:
            if not _is_lost(error):
                raise
            self._restart(error)

    def get(self, call: Any) -> Any:
        while isinstance(call, _Call):
            try:
                return call.future.result()
            except Exception as error:
                if not _is_lost(error):
                    raise
                self._restart(error)
        return call

    settle = get

    def share(self, array: np.ndarray) -> Any:
        """Write it once; the processes map the same memory."""
        self._shared += 1
        path = os.path.join(self._folder.name, f"{self._shared}.npy")
        np.save(path, array, allow_pickle=False)
        return _Mapped(path)

    def send(self, value: Any) -> Any:
        return value

    def _restart(self, error: BaseException) -> None:
        """Start anew and repeat what was not finished."""
        self._restarts += 1
        if self._restarts > _RESTARTS:
            raise DataError(
                f"processes died {self._restarts} times, most likely because memory ran out: use "
                "fewer "
                "workers or smaller parts"
            ) from error
        self._pool.shutdown(wait=False, kill_workers=True)
        self._pool = self._start()
        for call in self._open:
            if not call.done():
                call.future = self._pool.submit(call.function, *call.args)

    def close(self) -> None:
        self._pool.shutdown(wait=True, kill_workers=True)
        self._folder.cleanup()


def _is_lost(error: BaseException | None) -> bool:
    from concurrent.futures.process import BrokenProcessPool

    from joblib.externals.loky.process_executor import ShutdownExecutorError

    return isinstance(error, (BrokenProcessPool, ShutdownExecutorError))


class _Dask:
    """Workers of a Dask scheduler; it repeats what a lost worker had done."""

    keeps_results = True

    def __init__(self, client: Any) -> None:
        self.client = client
        self.n_workers = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
        self.address = str(client.scheduler.address)

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        with self._explaining():
            return self.client.submit(function, *args, pure=False, retries=0)

    def get(self, call: Any) -> Any:
        with self._explaining():
            return call.result()

    def settle(self, call: Any) -> Any:
        """Wait for a call; its result stays with the workers, its error is raised."""
        from distributed import wait

        with self._explaining():
            wait(call)
            return call.result() if call.status in ("error", "cancelled", "lost") else call

    def share(self, array: np.ndarray) -> Any:
        with self._explaining():
            return self.client.scatter(array, broadcast=True, hash=False)

    def send(self, value: Any) -> Any:
        # As the result of a task, which the scheduler can repeat: data that are scattered are gone
        # with the last worker that held them.
        with self._explaining(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="(?s)Sending large graph")
            return self.client.submit(_Sent(value), pure=False)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        from concurrent.futures import CancelledError

        from distributed.client import FutureCancelledError, FuturesCancelledError
        from distributed.comm import CommClosedError

        from distributed import KilledWorker

        lost = CommClosedError, CancelledError, FutureCancelledError, FuturesCancelledError

        try:
            yield
        except KilledWorker as error:
            raise DataError(
                "a task has killed several workers, most likely because memory ran out: give "
                "workers "
                "more memory, or make smaller parts"
            ) from error
        except lost as error:
            if "lost dependencies" in str(error):
                raise DataError(
                    "every worker that held the vectors was lost: nothing was written. Run the "
                    "same command again; with more workers, others hold a copy"
                ) from error
            raise DataError(
                f"the scheduler at {self.address} is lost: nothing was written. Start it and run "
                "the same command again; work recorded in a journal is not repeated"
            ) from error


class _Sent:
    """A task that gives a value; Dask does not look into it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self) -> Any:
        return self.value


def connect(scheduler: Any) -> Any:
    """A Dask client for an address, or for workers of this machine.

    Parameters
    ----------
    scheduler : str, dask Client or None
        ``"tcp://host:8786"``, ``"local"`` for a scheduler with one worker per core on this
        machine, or a client, which is returned.

    Returns
    -------
    distributed.Client
        Close it when you are done; it is a context manager.
    """
    if not isinstance(scheduler, str):
        if hasattr(scheduler, "submit") and hasattr(scheduler, "scheduler_info"):
            return scheduler
        raise InputError(
            f'a scheduler is an address, "local" or a Dask client; got {type(scheduler).__name__}'
        )
    distributed = require_module("distributed", "distributed", "work on Dask")
    if scheduler == "local":
        return distributed.Client(
            n_workers=count_processors(),
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
        )
    try:
        return distributed.Client(scheduler, timeout="20s")
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {scheduler!r}: {error}") from error


@contextmanager
def open_team(client: Any, n_workers: int | None, n_tasks: int | None = None) -> Iterator[Team]:
    """The workers of a client, or processes of this machine where there is none."""
    if n_workers is not None and (isinstance(n_workers, bool) or n_workers < 1):
        raise InputError(f"n_workers must be at least 1; got {n_workers!r}")
    if client is not None:
        if n_workers is not None:
            raise InputError("a client has its own workers: give client or n_workers, not both")
        if isinstance(client, str):
            with connect(client) as made:
                yield _Dask(made)
            return
        yield _Dask(connect(client))
        return
    wanted = n_workers or count_processors()
    if n_tasks is not None:
        wanted = min(wanted, n_tasks)
    if wanted <= 1:
        yield _Here()
        return
    team = _Processes(wanted)
    try:
        yield team
    finally:
        team.close()


def stream(
    team: Team,
    function: Callable[..., Any],
    items: Iterable[Any],
    *args: Any,
    words: str,
    total: int | None = None,
) -> Iterator[Any]:
    """Calls ``function(item, *args)`` in order, each of them finished; some are begun ahead."""
    waiting: deque[Any] = deque()
    done = 0
    for item in items:
        waiting.append(team.call(function, item, *args))
        if len(waiting) > _AHEAD * team.n_workers:
            yield team.settle(waiting.popleft())
            report(words, done := done + 1, total)
    while waiting:
        yield team.settle(waiting.popleft())
        report(words, done := done + 1, total)
