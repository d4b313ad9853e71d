"""Load on a server: ``python -m benchmarks.load_service [--seconds 10] [--connections 1000]``.

Prints, of one run: the engine's own rate (as many processes as the server has workers, pictures
decoded and analysed without HTTP), the server's rate with p50 and p99, in turns of a few seconds
each so that both see the same machine, and the processor time per picture of the engine alone and
per request of workers, server and client, which another load on the machine changes less; what a
thousand connections at once are answered with; and the memory of the server and its workers over
an hour's worth of requests (3,600, one per second, sent as fast as they are answered), every 200
of them.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.service_server import Server, encode, free_port, make_portraits

_WORKERS = 2
_TURNS = 3
#: Of OpenCV in each process of the engine alone: as workers have while all are busy on two
#: processors, and as many as it takes by itself.
_THREADS = (1, 0)
_MEMORY_EVERY = 200


def _analyse_for(seconds: float, picture: bytes, threads: int, start: Any, answers: Any) -> None:
    """The work of a worker, without pipes and HTTP."""
    os.environ["OMP_NUM_THREADS"] = "1"
    from mien.faces import analyse_image, load_engine, set_threads
    from mien.media import decode_image

    engine = load_engine("sface")
    if threads:
        set_threads(threads)
    analyse_image(decode_image(picture, "p", colour=True), engine)
    while True:
        start.wait()
        end = time.perf_counter() + seconds
        begin, used = time.perf_counter(), time.process_time()
        done = 0
        while time.perf_counter() < end:
            analyse_image(decode_image(picture, "p", colour=True), engine)
            done += 1
        answers.put((done / (time.perf_counter() - begin), (time.process_time() - used) / done))
        start.wait()


async def _ask_for(
    server: Server, seconds: float, picture: bytes, clients: int
) -> tuple[float, list[float], dict[int, int]]:
    """Requests per second, times of all requests, statuses.

    The bytes of a request are made once and written to plain sockets, so that the load takes
    hardly anything of the processor that it is to measure.
    """
    times: list[float] = []
    statuses: dict[int, int] = {}
    request = (
        f"POST /v1/galleries/load/identify HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Content-Type: image/jpeg\r\nContent-Length: {len(picture)}\r\n\r\n"
    ).encode() + picture
    end = time.perf_counter() + seconds

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        while time.perf_counter() < end:
            begin = time.perf_counter()
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
            times.append(time.perf_counter() - begin)
            status = int(head.split(b" ", 2)[1])
            statuses[status] = statuses.get(status, 0) + 1
        writer.close()

    begin = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    return len(times) / (time.perf_counter() - begin), times, statuses


async def _storm(url: str, connections: int, picture: bytes) -> dict[str, int]:
    """So many connections at once, one request each; gives statuses and kinds of errors."""
    import httpx

    found: dict[str, int] = {}
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    opened = httpx.AsyncClient(base_url=url, timeout=600, limits=limits)

    async def one() -> None:
        try:
            said = await opened.post(
                "/v1/galleries/load/identify",
                content=picture,
                headers={"content-type": "image/jpeg"},
            )
            kind = str(said.status_code)
            if kind in ("429", "503") and "retry-after" not in said.headers:
                kind += " without Retry-After"
        except httpx.HTTPError as error:
            kind = type(error).__name__
        found[kind] = found.get(kind, 0) + 1

    async with opened:
        await asyncio.gather(*(one() for _ in range(connections)))
    return found


def _used(pid: int) -> np.ndarray:
    """Processor seconds of a server, of its workers, and of this process."""
    import psutil

    server, here = psutil.Process(pid), psutil.Process()
    groups = [[server], server.children(), [here]]
    return np.array([sum(sum(one.cpu_times()[:2]) for one in group) for group in groups])


def _memory(pid: int) -> list[float]:
    """MiB of a process and of each of its children."""
    import psutil

    process = psutil.Process(pid)
    return [one.memory_info().rss / 2**20 for one in [process, *process.children()]]


def run(seconds: float, connections: int, requests: int, folder: Path) -> None:
    """Measure and print; a length or number of 0 leaves its part out."""
    import httpx

    picture = encode(make_portraits(1, 1, 340)[0][0], "JPEG")
    server = Server(folder, free_port(), ("requests_per_minute=100000000",), workers=_WORKERS)
    server.start()
    try:
        httpx.post(f"{server.url}/v1/galleries", json={"name": "load"}, timeout=300)
        content = {"f": ("p.jpg", picture)}
        httpx.post(
            f"{server.url}/v1/galleries/load/enrol", params={"person": "Ann"}, files=content,
            timeout=300,
        ).raise_for_status()  # fmt: skip
        if seconds:
            _compare_rates(server, seconds, picture)
        if connections:
            storm = asyncio.run(_storm(server.url, connections, picture))
            print(f"{connections:,} connections at once: {dict(sorted(storm.items()))}")
        if requests:
            _watch_memory(server, requests)
    finally:
        server.stop(kill=True)


def _compare_rates(server: Server, seconds: float, picture: bytes) -> None:
    """The engine alone and the server, in turns."""
    assert server.process is not None
    engines = {threads: _Engines(seconds, picture, threads) for threads in _THREADS}
    try:
        asyncio.run(_ask_for(server, 1.0, picture, 2 * _WORKERS))
        alone: dict[int, list[tuple[float, float]]] = {threads: [] for threads in _THREADS}
        served, used, times = [], [], []
        for _ in range(_TURNS):
            for threads, group in engines.items():
                alone[threads].append(group.run())
            before = _used(server.process.pid)
            rate, some, statuses = asyncio.run(_ask_for(server, seconds, picture, 2 * _WORKERS))
            served.append(rate)
            times += some
            used.append(1000 * (_used(server.process.pid) - before) / len(some))
            if set(statuses) != {200}:
                raise RuntimeError(f"under load: {statuses}")
    finally:
        for group in engines.values():
            group.end()
    times.sort()
    print(f"pictures of 510 x 510, {_WORKERS} workers, identify:")
    for threads, turns in alone.items():
        rate, took = (statistics.median(column) for column in zip(*turns, strict=True))
        ratio = statistics.median(b / a for (a, _), b in zip(turns, served, strict=True))
        print(
            f"  engine alone, {_name(threads)}: {rate:.1f} pictures/s, "
            f"{1000 * took:.1f} ms of a processor each; the server's rate is {ratio:.3f} of it"
        )
    print(
        f"  server         {statistics.median(served):8.1f} requests/s, "
        f"p50 {1000 * times[len(times) // 2]:.0f} ms, "
        f"p99 {1000 * times[int(0.99 * len(times))]:.0f} ms, {len(times):,} requests"
    )
    of_server, of_workers, of_client = np.median(used, axis=0)
    print(
        f"  of a processor per request: workers {of_workers:.1f} ms, server {of_server:.1f} ms, "
        f"this client {of_client:.1f} ms"
    )


def _name(threads: int) -> str:
    return "one thread each" if threads == 1 else "threads as OpenCV takes them"


class _Engines:
    """Processes that do the work of the workers, for a time, whenever they are told."""

    def __init__(self, seconds: float, picture: bytes, threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._start = context.Barrier(_WORKERS + 1)
        self._answers: Any = context.Queue()
        given = (seconds, picture, threads, self._start, self._answers)
        self._processes = [
            context.Process(target=_analyse_for, args=given, daemon=True) for _ in range(_WORKERS)
        ]
        for process in self._processes:
            process.start()

    def run(self) -> tuple[float, float]:
        """Pictures per second of all of them, and processor seconds per picture."""
        self._start.wait()
        told = [self._answers.get() for _ in self._processes]
        self._start.wait()
        return sum(rate for rate, _ in told), statistics.mean(used for _, used in told)

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            process.join()


async def _send(url: str, picture: bytes, n: int, clients: int) -> None:
    """So many requests: mostly names, now and then a list, a comparison, a write."""
    import httpx

    left = iter(range(n))

    async def client() -> None:
        async with httpx.AsyncClient(base_url=url, timeout=300) as opened:
            for k in left:
                if k % 10 == 3:
                    said = await opened.get("/v1/galleries/load/people")
                elif k % 10 == 6:
                    said = await opened.post("/v1/verify", files={"a": picture, "b": picture})
                elif k % 50 == 9:
                    body = {"name": "nobody"}
                    said = await opened.post("/v1/galleries/load/people", json=body)
                    said.raise_for_status()
                    place = f"/v1/galleries/load/people/{said.json()['id']}"
                    said = await opened.delete(place)
                else:
                    kind = {"content-type": "image/jpeg"}
                    place = "/v1/galleries/load/identify"
                    said = await opened.post(place, content=picture, headers=kind)
                said.raise_for_status()

    await asyncio.gather(*(client() for _ in range(clients)))


def _watch_memory(server: Server, requests: int) -> None:
    """Small pictures, so that many requests fit into the time; memory after every 200 of them."""
    assert server.process is not None
    small = encode(make_portraits(1, 1, 64)[0][0], "JPEG")
    begin = time.perf_counter()
    counts, totals = [], []
    for count in range(0, requests + 1, _MEMORY_EVERY):
        if count:
            # One client: a write is made and taken back before the next.
            asyncio.run(_send(server.url, small, _MEMORY_EVERY, 1))
        server_mib, *workers = _memory(server.process.pid)
        counts.append(count)
        totals.append(server_mib + sum(workers))
        print(
            f"  {count:6,} requests: server {server_mib:.1f} MiB, workers "
            + " + ".join(f"{one:.1f}" for one in workers)
            + f" MiB ({time.perf_counter() - begin:.0f} s)",
            flush=True,
        )
    half = len(counts) // 2
    if half >= 2:
        slope = 1000 * statistics.linear_regression(counts[half:], totals[half:]).slope
        print(
            f"memory over {counts[-1]:,} requests: {totals[0]:.1f} MiB at first, "
            f"{totals[half]:.1f} MiB in the middle, {totals[-1]:.1f} MiB at the end; "
            f"{slope:+.2f} MiB per 1,000 requests over the second half"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="Length of a turn; 0: none.")
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument(
        "--requests", type=int, default=3600, help="For the memory: an hour of one per second."
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(arguments.seconds, arguments.connections, arguments.requests, Path(folder))


if __name__ == "__main__":
    main()
