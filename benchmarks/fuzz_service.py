"""Mutated bodies over HTTP: ``python -m benchmarks.fuzz_service [--requests 2000]``.

Multipart bodies, base64 and pictures with bytes changed, cut out, doubled or swapped, to every
route that takes a picture, with wrong lengths and types. Whatever is sent, the answer is no 500,
comes in time, and the server goes on: after every hundred requests a good picture is answered.
"""

from __future__ import annotations

import base64
import json
import random
from typing import Any

from benchmarks.service_server import Server, attack, encode, make_portraits

_ROUTES = (
    "/v1/analyse", "/v1/verify", "/v1/evaluate", "/v1/galleries/fuzz/enrol?person=x",
    "/v1/galleries/fuzz/identify", "/v1/galleries/fuzz/jobs?kind=enrol",
    "/v1/complete", "/api/v1/recognition/recognize",
    "/api/v1/recognition/faces?subject=x", "/api/v1/verification/verify",
    "/api/v1/detection/detect", "/api/v1/recognition/embeddings/recognize",
    "/v1/vision/face/recognize", "/v1/vision/face/register",
)  # fmt: skip
_KINDS = ("multipart/form-data; boundary=B", "application/json", "image/png", "image/jpeg",
          "application/octet-stream", "text/csv", "multipart/form-data",
          "multipart/form-data; boundary=",
          "nonsense", "multipart/form-data; boundary=" + "x" * 300)  # fmt: skip


def _mutate(content: bytes, draw: random.Random) -> bytes:
    """Change, cut, double or swap some bytes."""
    made = bytearray(content)
    for _ in range(draw.choice([0, 1, 1, 2, 5, 20])):
        if not made:
            break
        at = draw.randrange(len(made))
        what = draw.randrange(5)
        if what == 0:
            made[at] = draw.randrange(256)
        elif what == 1:
            del made[at : at + draw.randrange(1, 200)]
        elif what == 2:
            made[at:at] = made[at : at + draw.randrange(1, 200)]
        elif what == 3:
            made[at:at] = draw.choice([b"\r\n", b"--B", b"\0", b"\xff\xd8\xff", b'"', b"%00", b"{"])
        else:
            made = made[:at]
    return bytes(made)


def _multipart(picture: bytes, draw: random.Random) -> bytes:
    names = ("file", "a", "b", "source_image", "target_image", "image", "userid", "api_key")
    parts = []
    for name in draw.sample(names, draw.randrange(1, 5)):
        kind = draw.choice(["image/png", "text/plain", "application/octet-stream", ""])
        file = f'; filename="{draw.choice(["p.png", "../../x", "a" * 300, "", "x.jpg"])}"'
        head = f'Content-Disposition: form-data; name="{name}"{draw.choice([file, file, ""])}'
        parts.append(f"--B\r\n{head}\r\nContent-Type: {kind}\r\n\r\n".encode() + picture + b"\r\n")
    return b"".join(parts) + draw.choice([b"--B--\r\n", b"--B--", b"", b"--B"])


def _body(pictures: list[bytes], draw: random.Random) -> tuple[bytes, str]:
    picture = _mutate(draw.choice(pictures), draw)
    kind = draw.choice(_KINDS) if draw.random() < 0.3 else draw.choice(_KINDS[:4])
    if kind.startswith("multipart"):
        return (_multipart(picture, draw) if draw.random() < 0.5
                else _mutate(_multipart(picture, draw), draw)), kind  # fmt: skip
    if kind == "application/json":
        text = base64.b64encode(picture).decode()
        body: Any = draw.choice(
            [{"pictures": [text]}, {"a": text, "b": text}, {"file": text}, {"pictures": text},
             {"embeddings": [[1e400, 0.0]]}, {"embeddings": [[0.0] * 128]}, [], None, text,
             {"source_image": text, "target_image": text}, {"pictures": [None, 3, {}]}]
        )  # fmt: skip
        return _mutate(json.dumps(body).encode(), draw), kind
    return picture, kind


def run(requests: int, server: Server, seed: int = 0) -> dict[int, int]:
    """Send so many; gives how often each status was answered."""

    draw = random.Random(seed)
    portrait = make_portraits(1, 1, 64)[0][0]
    pictures = [encode(portrait, kind) for kind in ("PNG", "JPEG", "WEBP", "BMP", "GIF")]
    pictures.append(b"score,same\n1,1\n0,0\n")
    statuses: dict[int, int] = {}
    with server.client(headers={"x-api-key": "none"}) as client:
        client.post("/v1/galleries", json={"name": "fuzz"})
        for number in range(requests):
            route = draw.choice(_ROUTES)
            body, kind = _body(pictures, draw)
            said = client.post(route, content=body, headers={"content-type": kind})
            statuses[said.status_code] = statuses.get(said.status_code, 0) + 1
            if said.status_code >= 500 and said.status_code not in (501, 503):
                raise RuntimeError(f"{route} as {kind} answered {said.status_code}: {said.text}")
            if number % 100 == 99:
                files = {"file": ("p.png", pictures[0])}
                good = client.post("/v1/analyse", files=files)
                if good.status_code != 200:
                    raise RuntimeError(f"a good picture is answered with {good.status_code}")
        for job in client.get("/v1/galleries/fuzz/jobs").json()["jobs"]:
            client.post(f"/v1/jobs/{job['id']}/cancel")
    return statuses


def main() -> None:
    print(attack(run, __doc__, 2000, "waiting=1000"))


if __name__ == "__main__":
    main()
