"""Kill a server under enrolling clients: ``python -m benchmarks.kill_service [--kills 100]``.

With ``--folder`` the gallery and what was confirmed are kept there, so that a run which ended after
``--seconds`` goes on where it was.

Clients enrol pictures and make people, each write with an ``Idempotency-Key``; what is not
answered is sent again with the same key after the next start. At a random moment the server is
killed. At the end everything that was confirmed must be there, and nothing may be there twice.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.service_server import PATIENCE, Server, encode, free_port, make_portraits

_GALLERY = "/v1/galleries/g"


class Client(threading.Thread):
    """Writes one after the other; an unanswered one is sent again, with the same key."""

    def __init__(
        self, server: Server, number: int, portrait: np.ndarray, before: dict[str, Any]
    ) -> None:
        super().__init__(daemon=True)
        self.server = server
        self.number = number
        self.portrait = portrait
        self.stopped = threading.Event()
        self.step = int(before.get("step", 0))
        self.people: dict[str, int] = before.get("people", {})
        self.faces: dict[str, str] = before.get("faces", {})
        self.sent_again = int(before.get("sent again", 0))
        self.wrong: list[str] = []

    def to_dict(self) -> dict[str, Any]:
        """What was confirmed, and which write is next."""
        return {
            "step": self.step, "people": self.people, "faces": self.faces,
            "sent again": self.sent_again,
        }  # fmt: skip

    def run(self) -> None:

        with self.server.client() as client:
            for step in itertools.count(self.step):
                self.step = step
                said = self._insist(client, step)
                if said is None:
                    return
                if said.status_code not in (200, 201):
                    self.wrong.append(f"{said.status_code} {said.text[:200]}")
                    return
                if step % 3 == 2:
                    self.people[f"nobody {self.number}-{step}"] = said.json()["id"]
                elif said.json()[0]["face"] is not None:
                    self.faces[f"{self.number}-{step}.png"] = said.json()[0]["face"]

    def _insist(self, client: Any, step: int) -> Any:
        import httpx

        name = f"{self.number}-{step}"
        headers = {"Idempotency-Key": name}
        noise = np.random.default_rng([self.number, step]).integers(0, 6, self.portrait.shape)
        picture = encode(np.clip(self.portrait.astype(int) + noise, 0, 255).astype(np.uint8))
        while not self.stopped.is_set():
            try:
                if step % 3 == 2:
                    body = {"name": f"nobody {name}"}
                    said = client.post(f"{_GALLERY}/people", json=body, headers=headers)
                else:
                    files = {"file": (f"{name}.png", picture)}
                    said = client.post(
                        f"{_GALLERY}/enrol", files=files, params={"person": f"P{self.number}"},
                        headers=headers,
                    )  # fmt: skip
                if said.status_code not in (409, 429, 503):
                    return said
                if said.status_code == 409 and said.json()["code"] != "idempotency-busy":
                    return said
            except httpx.TransportError:
                self.sent_again += 1
            time.sleep(0.05)
        return None


def run(
    kills: int, folder: Path, seed: int = 0, longest: float = 2.0, seconds: float = float("inf")
) -> dict[str, int]:
    """Kill so often; gives what was confirmed, and raises where something is lost or twice."""

    ledger = folder / "confirmed.json"
    held = json.loads(ledger.read_text()) if ledger.exists() else {"kills": 0, "clients": [{}] * 3}
    end = time.monotonic() + seconds
    server = Server(folder, free_port(), ("requests_per_minute=1000000",))
    server.start()
    if not ledger.exists():
        with server.client() as client:
            client.post("/v1/galleries", json={"name": "g"}).raise_for_status()
    portraits = make_portraits(3, 1)
    clients = [Client(server, k, portraits[k][0], held["clients"][k]) for k in range(3)]
    for client in clients:
        client.start()
    draw = random.Random(f"{seed} {held['kills']}")
    done = held["kills"]
    try:
        while done < kills and time.monotonic() < end:
            time.sleep(draw.uniform(0, longest))
            server.stop(kill=True)
            server.start()
            done += 1
            if done % 10 == 0:
                confirmed = sum(len(client.faces) for client in clients)
                print(f"{done} kills, {confirmed:,} faces confirmed", flush=True)
        confirmed = sum(len(client.faces) for client in clients)
        limit = time.monotonic() + PATIENCE  # one more answer: the last start serves as well
        while sum(len(c.faces) for c in clients) <= confirmed and time.monotonic() < limit:
            time.sleep(0.1)
        for client in clients:
            client.stopped.set()
        for client in clients:
            client.join(PATIENCE)
        found = _look(server, clients)
    finally:
        server.stop(kill=True)
    told = {"kills": done, "clients": [client.to_dict() for client in clients]}
    ledger.write_text(json.dumps(told))
    return found | {"kills": done}


def _read_all(client: Any, what: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        parameters = {"limit": 500} | ({} if cursor is None else {"cursor": cursor})
        page = client.get(f"{_GALLERY}/{what}", params=parameters).raise_for_status().json()
        found += page[what]
        cursor = page["cursor"]
        if cursor is None:
            return found


def _look(server: Server, clients: list[Client]) -> dict[str, int]:

    wrong = [one for client in clients for one in client.wrong]
    if wrong:
        raise RuntimeError(f"an answer that nobody expected: {wrong[0]}")
    with server.client() as client:
        faces, people = _read_all(client, "faces"), _read_all(client, "people")
    ids = [one["id"] for one in faces]
    names = [one["name"] for one in people]
    confirmed = {face for client in clients for face in client.faces.values()}
    said = {name for client in clients for name in client.people}
    if lost := confirmed - set(ids):
        raise RuntimeError(f"{len(lost)} confirmed faces are lost")
    if missing := said - set(names):
        raise RuntimeError(f"{len(missing)} confirmed people are lost")
    if len(set(ids)) != len(ids) or len(set(names)) != len(names):
        raise RuntimeError("something is there twice")
    answered = [face for client in clients for face in client.faces.values()]
    if len(set(answered)) != len(answered):
        raise RuntimeError("two pictures got one face")
    # Of every client at most the write that was never answered may be there beyond what it knows.
    if len(ids) > len(confirmed) + len(clients) or len(said) + 3 + len(clients) < len(names):
        raise RuntimeError("more is there than was asked for")
    return {
        "faces": len(confirmed),
        "people": len(said),
        "sent again": sum(client.sent_again for client in clients),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="Where to keep what is to go on.")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="End after so many.")
    arguments = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        place = arguments.folder or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        found = run(arguments.kills, place, arguments.seed, seconds=arguments.seconds)
    print(
        f"{found['kills']} kills ({time.perf_counter() - start:.0f} s of this run): "
        f"{found['faces']:,} faces and {found['people']:,} people were confirmed, "
        f"{found['sent again']:,} requests were sent again; nothing was lost, nothing was there "
        "twice"
    )


if __name__ == "__main__":
    main()
