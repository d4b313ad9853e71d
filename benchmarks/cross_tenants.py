"""Two tenants try each other's doors: ``python -m benchmarks.cross_tenants [--requests 10000]``.

Each has a key for a gallery of its own and knows the names, numbers and ids of the other one. Of
every answer the text must not hold anything that is the other's, none may be a 500, and the gallery
of whoever is attacked must stay as it was.
"""

from __future__ import annotations

import random
from typing import Any

from benchmarks.service_server import Server, attack, encode, make_portraits

_PATHS = (
    "/v1/galleries/{g}", "/v1/galleries/{g}/people", "/v1/galleries/{g}/people/{p}",
    "/v1/galleries/{g}/people/{p}/faces", "/v1/galleries/{g}/people/{p}/merge",
    "/v1/galleries/{g}/people/{p}/split", "/v1/galleries/{g}/faces", "/v1/galleries/{g}/faces/{f}",
    "/v1/galleries/{g}/faces/{f}/move", "/v1/galleries/{g}/faces/{f}/thumbnail",
    "/v1/galleries/{g}/history", "/v1/galleries/{g}/undo", "/v1/galleries/{g}/constraints",
    "/v1/galleries/{g}/jobs", "/v1/galleries/{g}/streams", "/v1/galleries/{g}/streams/{s}",
    "/v1/galleries/{g}/streams/{s}/frames", "/v1/galleries/{g}/enrol?person={n}",
    "/v1/galleries/{g}/identify", "/v1/galleries", "/v1/keys", "/v1/keys/{k}", "/v1/verify",
    "/v1/jobs/{j}", "/v1/jobs/{j}/result", "/v1/jobs/{j}/cancel", "/metrics",
    "/api/v1/recognition/faces", "/api/v1/recognition/faces/{f}",
    "/api/v1/recognition/faces/{f}/img", "/api/v1/recognition/faces?subject={n}",
    "/api/v1/recognition/subjects", "/api/v1/recognition/subjects/{n}",
    "/api/v1/static/{x}/images/{f}", "/v1/vision/face/list", "/v1/vision/face/delete",
    "/v1/galleries/{o}/people", "/v1/galleries/{o}/people?q={n}", "/v1/galleries/{o}/people/{p}",
    "/v1/galleries/{o}/faces/{f}", "/v1/galleries/{o}/faces/{f}/move",
    "/v1/galleries/{o}/streams/{s}", "/v1/galleries/{o}/../{g}/people",
    "/v1/galleries/{o}%2F..%2F{g}/people", "/v1/galleries/{g}.gallery/people",
)  # fmt: skip
_METHODS = ("GET", "GET", "POST", "PATCH", "DELETE", "PUT")


def run(requests: int, server: Server, seed: int = 0) -> dict[int, int]:
    """Try so many doors; gives how often each status was answered."""

    draw = random.Random(seed)
    with server.client() as admin:
        homes = [_settle(admin, f"tenant-{seed}-{k}", k) for k in range(2)]
        master = admin.post("/v1/keys", json={"role": "admin"}).json()
        admin.headers["x-api-key"] = master["key"]
        try:
            for home in homes:
                wanted = {"role": "write", "gallery": home["g"]}
                made = admin.post("/v1/keys", json=wanted).json()
                home |= {"key": made["key"], "k": made["id"]}
            statuses: dict[int, int] = {}
            with server.client() as client:
                # One attacks and the other does nothing, then the other way round.
                for own, other in (homes, homes[::-1]):
                    before = _read(admin, other)
                    for _ in range(requests // 2):
                        status = _try(client, draw, own, other)
                        statuses[status] = statuses.get(status, 0) + 1
                    if _read(admin, other) != before:
                        raise RuntimeError(f"{other['g']} was changed by the other one")
        finally:
            kept = [one for one in admin.get("/v1/keys").json() if one["revoked"] is None]
            for one in sorted(kept, key=lambda one: one["id"] == master["id"]):
                admin.delete(f"/v1/keys/{one['id']}")
    return statuses


def _settle(admin: Any, name: str, number: int) -> dict[str, Any]:
    """A gallery with somebody in it, a camera and a job; gives what the other one may know."""
    admin.post("/v1/galleries", json={"name": name}).raise_for_status()
    base = f"/v1/galleries/{name}"
    picture = encode(make_portraits(2, 1)[number][0])
    person = f"Secret{number}x{name}"
    admin.post(f"{base}/enrol", params={"person": person}, files={"f": picture}).raise_for_status()
    hidden = f"Hidden{number}x{name}"  # a name that the other one does not know, and never writes
    admin.post(f"{base}/people", json={"name": hidden}).raise_for_status()
    stream = admin.post(f"{base}/streams", json={"camera": f"camera of {person}"}).json()
    job = admin.post(f"{base}/jobs", params={"kind": "identify"}, content=b"PK" + name.encode())
    return {
        "g": name, "n": person, "h": hidden, "p": 1,
        "f": admin.get(f"{base}/faces").json()["faces"][0]["id"], "s": stream["id"],
        "j": job.json()["id"],
    }  # fmt: skip


def _read(admin: Any, home: dict[str, Any]) -> tuple[Any, Any]:
    """Everybody, and all faces."""
    base = f"/v1/galleries/{home['g']}"
    people = admin.get(f"{base}/people", params={"limit": 1000}).raise_for_status().json()["people"]
    faces = admin.get(f"{base}/faces", params={"limit": 1000}).raise_for_status().json()["faces"]
    return people, faces


def _try(client: Any, draw: random.Random, own: dict[str, Any], other: dict[str, Any]) -> int:
    """One request with the key of one tenant and what it knows, or guesses, of the other."""
    names = {name: other[name] for name in "gnpfskj"} | {"o": own["g"], "x": own["key"]}
    if draw.random() < 0.1:
        guess = draw.choice("pfskj")
        names[guess] = draw.choice([0, 1, 2, 10**30, "..", "%00", "*", "a" * 300])
    path = draw.choice(_PATHS).format(**names)
    method = draw.choice(_METHODS)
    body: dict[str, Any] = draw.choice(
        [{}, {"name": "x"}, {"into": 1}, {"person": other["n"]}, {"subject": other["n"]},
         {"faces": [other["f"]], "name": "x"}, {"camera": "x"}, {"change": 1},
         {"kind": "not-a-face", "face": other["f"]}]
    )  # fmt: skip
    said = client.request(method, path, json=body, headers={"x-api-key": own["key"]})
    where = f"{method} {path.replace(own['key'], 'KEY')} answered {said.status_code}"
    if said.status_code >= 500 and said.status_code != 503:
        raise RuntimeError(f"{where}: {said.text[:200]}")
    # What a request says itself may come back in its answer; nothing else of the other's may.
    told = said.text.replace(path, "")
    asked = path + str(body)
    for secret in (other["h"], other["f"], other["s"], other["j"]):
        if str(secret) in told and str(secret) not in asked:
            raise RuntimeError(f"{where} with something of the other's")
    return int(said.status_code)


def main() -> None:
    print(attack(run, __doc__, 10_000) + "; nothing crossed")


if __name__ == "__main__":
    main()
