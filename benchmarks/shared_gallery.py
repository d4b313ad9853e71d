"""A gallery in PostgreSQL beside one in a file, and servers that are killed.

``python -m benchmarks.shared_gallery size [--people 1000000]``: enrol, identify, recall against the
exact search, size; both stores with the same drawn people, one face each.

``python -m benchmarks.shared_gallery kills [--seconds 600]``: two servers over one database and
eight clients that enrol through them; a server is killed every few seconds and started again, and
the database is killed or stopped five times. At the end everything that was confirmed must be
there, once.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.connection import Client, Listener
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_gallery import _draw, _verifier
from benchmarks.postgres import PostgresServer
from mien.errors import GalleryBusyError, MienError
from mien.gallery import Gallery
from mien.verification import Verifier

_BATCH = 20_000
_PROBES = 200


def _parts(n: int) -> Iterator[tuple[int, np.ndarray]]:
    for start in range(0, n, _BATCH):
        size = min(_BATCH, n - start)
        yield start, _draw(size, 2, seed=start + 7)


def _fill(gallery: Gallery, n: int) -> float:
    spent = 0.0
    for start, X in _parts(n):
        names = [f"person {start + i}" for i in range(len(X))]
        digests = [hashlib.sha256(name.encode()).hexdigest() for name in names]
        began = time.perf_counter()
        gallery.enrol_many(names, X[:, 0], digests=digests)
        spent += time.perf_counter() - began
        if (start + len(X)) % 100_000 == 0:
            print(f"  {start + len(X):,} in {spent:.0f} s", flush=True)
    return n / spent


def _ask(
    gallery: Gallery, probes: np.ndarray, search: str
) -> tuple[list[str | None], float, float]:
    best: list[str | None] = []
    times = []
    for probe in probes:
        began = time.perf_counter()
        found = gallery.identify(probe[None], search=search)[0]
        times.append(time.perf_counter() - began)
        best.append(found.candidates[0][0] if found.candidates else None)
    return best, *(float(q) for q in np.percentile(np.asarray(times) * 1000, [50, 99]))


def _processor(server: PostgresServer) -> float:
    """Seconds of the processor so far, of this process and of the database's."""
    spent, main = time.process_time(), server.pid
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, _, rest = file.read_text("utf-8", "replace").rpartition(")")
        except OSError:  # it has ended
            continue
        fields = rest.split()
        if int(number.split()[0]) == main:
            spent += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        elif int(fields[1]) == main:
            spent += sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
    return spent


def compare_sizes(n: int, store: str = "both") -> None:
    """Print a row for each store."""
    verifier = _verifier()
    with tempfile.TemporaryDirectory() as folder:
        server = PostgresServer(shared_buffers="1GB", maintenance_work_mem="1GB")
        try:
            places = {"SQLite": f"{folder}/g", "PostgreSQL": server.address}
            for name, place in places.items():
                if store in ("both", name.lower()):
                    _measure(name, place, verifier, n, server)
        finally:
            server.remove()


def _measure(name: str, place: str, verifier: Verifier, n: int, server: PostgresServer) -> None:
    with Gallery.create(place, verifier) as gallery:
        cpu = _processor(server)
        rate = _fill(gallery, n)
        cpu = _processor(server) - cpu
        print(
            f"{name}: {n:,} people enrolled, {rate:,.0f} a second, {cpu:.1f} s of CPU", flush=True
        )
        first = next(_parts(n))[1]
        chosen = np.random.default_rng(0).choice(len(first), min(_PROBES, n), replace=False)
        probes = first[chosen, 1]
        answers = {}
        for search in ("exact", "approximate"):
            began, cpu = time.perf_counter(), _processor(server)
            gallery.identify(probes[:1], search=search)
            took, cpu = time.perf_counter() - began, _processor(server) - cpu
            asking = _processor(server)
            answers[search], p50, p99 = _ask(gallery, probes, search)
            asking = 1000 * (_processor(server) - asking) / len(probes)
            right = np.mean(
                [a == f"person {i}" for a, i in zip(answers[search], chosen, strict=True)]
            )
            print(
                f"{name}, {search}: first answer {took:.1f} s ({cpu:.1f} s of CPU), then p50 "
                f"{p50:.1f} ms, p99 {p99:.1f} ms ({asking:.1f} ms of CPU); right person first "
                f"{right:.3f}",
                flush=True,
            )
        same = np.mean(
            [a == b for a, b in zip(answers["exact"], answers["approximate"], strict=True)]
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{name}: best person as by the exact search {same:.3f}; peak memory of this process "
            f"so far {peak:.1f} GiB",
            flush=True,
        )
    if name == "SQLite":
        size = sum(p.stat().st_size for p in Path(place).parent.glob("g*"))
        print(f"{name}: {size / 2**20:,.0f} MiB in all files", flush=True)
    else:
        import psycopg

        with psycopg.connect(server.address) as connection:
            rows = connection.execute(
                "SELECT split_part(c.relname, '_', 1), sum(pg_total_relation_size(c.oid))::bigint "
                "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                "WHERE n.nspname = 'mien' AND c.relkind = 'r' GROUP BY 1 ORDER BY 2 DESC"
            ).fetchall()
        total = sum(size for _, size in rows)
        parts = ", ".join(f"{table} {size / 2**20:,.0f}" for table, size in rows[:4])
        print(f"{name}: {total / 2**20:,.0f} MiB in tables and indexes ({parts})", flush=True)


# ---------------------------------------------------------------------------------- kills


def _serve(place: str, socket: str) -> None:
    """A server: enrols what clients send, and confirms it."""
    import threading

    lock = threading.Lock()
    while True:
        try:
            gallery = Gallery.open(place, timeout=60)
            break
        except GalleryBusyError:  # the database is being started
            time.sleep(0.2)
    listener = Listener(socket, "AF_UNIX", backlog=64)

    def talk(connection: Any) -> None:
        try:
            while True:
                name, vector, digest = connection.recv()
                with lock:
                    result = gallery.enrol(name, vector, digests=[digest])
                    found = gallery.identify(vector)[0]
                connection.send((result.added, found.person))
        except (EOFError, OSError):
            return
        except MienError as error:
            connection.send(str(error))

    while True:
        threading.Thread(target=talk, args=(listener.accept(),), daemon=True).start()


def _client(number: int, sockets: list[str], seconds: float, out: str) -> None:
    """Enrol until the time is over; what is not confirmed is sent again, to either server."""
    draw = random.Random(number)
    rng = np.random.default_rng(number)
    deadline = time.monotonic() + seconds
    i, again = 0, 0
    with open(out, "w", encoding="utf-8") as confirmed:
        while time.monotonic() < deadline:
            vector = rng.standard_normal((1, 8))
            vector /= np.linalg.norm(vector)
            digest = hashlib.sha256(f"{number} {i}".encode()).hexdigest()
            while True:
                try:
                    with Client(draw.choice(sockets), "AF_UNIX") as server:
                        server.send((f"client {number} {i // 10}", vector, digest))
                        answer = server.recv()
                    if isinstance(answer, tuple):
                        break
                except (OSError, EOFError):
                    pass
                again += 1
                time.sleep(0.05)
            confirmed.write(digest + "\n")
            confirmed.flush()
            i += 1
        confirmed.write(f"again {again}\n")


def kill_servers(seconds: float) -> None:
    """Print what was confirmed, and what of it is there."""
    from benchmarks.kill_gallery import make_gallery
    from mien.gallery import move_gallery

    context = multiprocessing.get_context("spawn")
    started: list[Any] = []
    draw = random.Random(0)
    database = PostgresServer()
    try:
        with tempfile.TemporaryDirectory() as folder:
            make_gallery(Path(folder) / "empty")
            move_gallery(f"{folder}/empty", database.address)
            sockets = [f"{folder}/server-{i}" for i in range(2)]
            servers: list[Any] = [None, None]

            def start(i: int) -> None:
                if os.path.exists(sockets[i]):
                    os.unlink(sockets[i])
                servers[i] = context.Process(target=_serve, args=(database.address, sockets[i]))
                servers[i].start()
                started.append(servers[i])

            for i in range(2):
                start(i)
            clients = [
                context.Process(target=_client, args=(k, sockets, seconds, f"{folder}/client-{k}"))
                for k in range(8)
            ]
            for client in clients:
                client.start()
                started.append(client)
            began, kills, restarts, told = time.monotonic(), 0, 0, 0
            while any(client.is_alive() for client in clients):
                time.sleep(draw.uniform(2, 6))
                i = draw.randrange(2)
                # Whoever listens is in the middle of something; a starting one would never end.
                if os.path.exists(sockets[i]):
                    servers[i].kill()
                    servers[i].join()
                    kills += 1
                    start(i)
                spent = time.monotonic() - began
                if spent > (restarts + 1) * seconds / 6 and spent < seconds:
                    # Killed as by a failing power, or stopped, by turns; servers stay.
                    database.stop(kill=restarts % 2 == 0)
                    time.sleep(1)
                    database.start()
                    restarts += 1
                if spent > 60 * (told + 1):
                    told += 1
                    print(f"  {told} min: {kills} servers, {restarts} databases", flush=True)
            for server in servers:
                server.kill()
                server.join()
            said = [
                line
                for k in range(8)
                for line in Path(f"{folder}/client-{k}").read_text("utf-8").splitlines()
            ]
            confirmed = {line for line in said if not line.startswith("again")}
            repeated = sum(int(line.split()[1]) for line in said if line.startswith("again"))
            with Gallery.open(database.address) as gallery:
                held = [face.digest for face in gallery.faces()]
                faults = gallery.check()
            print(
                f"{seconds:g} s, 2 servers, 8 clients, {kills} servers killed, the database "
                f"killed or stopped {restarts} times: {len(confirmed):,} faces confirmed "
                f"({repeated:,} sent again), "
                f"{len(confirmed - set(held))} lost, {len(held) - len(set(held))} twice; "
                f"check: {faults or 'clean'}"
            )
    finally:
        for process in started:
            process.kill()
        database.remove()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["size", "kills"])
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument(
        "--store", choices=["both", "sqlite", "postgresql"], default="both", help="for size"
    )
    parser.add_argument("--seconds", type=float, default=600)
    given = parser.parse_args()
    # So that the database is stopped and removed, whoever ends this.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if given.what == "size":
        compare_sizes(given.people, given.store)
    else:
        kill_servers(given.seconds)
