"""Keys, tenants, limits, and what happens when workers, servers and clients end."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import random
import socket
import threading
import time
import uuid
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest

from mien.errors import InputError
from tests.extras import skip_without
from tests.service.conftest import PATIENCE, Server

pytestmark = [pytest.mark.xdist_group("service"), pytest.mark.needs("service")]


@pytest.fixture
def keys(tmp_path: Path) -> Any:
    from mien.service import KeyStore, open_state

    state = open_state(tmp_path / "state")
    yield KeyStore(state)
    state.close()


def test_a_key_is_shown_once_and_kept_as_a_digest(keys: Any, tmp_path: Path) -> None:
    key, record = keys.create("write", gallery="family", label="camera")
    assert keys.check(key).gallery == "family"
    assert [one.id for one in keys.list()] == [record.id]
    for place in (tmp_path / "state").iterdir():
        assert place.stat().st_mode & 0o077 == 0
        assert key.encode() not in place.read_bytes()
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0
    held = b"".join(place.read_bytes() for place in (tmp_path / "state").iterdir())
    assert hashlib.sha256(key.encode()).digest() in held


def test_keys_end(keys: Any) -> None:
    key, record = keys.create("read")
    keys.revoke(record.id)
    assert keys.check(key) is None
    with pytest.raises(InputError, match="no valid key"):
        keys.revoke(record.id)
    short, _ = keys.create("read", days=1e-12)
    assert keys.check(short) is None
    assert not keys.any_valid()
    with pytest.raises(InputError, match="role"):
        keys.create("owner")


@pytest.mark.parametrize("guess", ["", "mien_", "x" * 10_000, "\udce4", "*", "' OR 1=1 --"])
def test_guesses_open_nothing(keys: Any, guess: str) -> None:
    keys.create("admin")
    assert keys.check(guess) is None


def test_roles(keys: Any) -> None:
    grants = {role: keys.check(keys.create(role, gallery="g")[0]) for role in ("read", "write")}
    assert grants["read"].allows("g", "read")
    assert not grants["read"].allows("g", "write")
    assert grants["write"].allows("g", "read")
    assert not grants["write"].allows("other", "read")
    assert not grants["write"].allows(None, "read")
    assert keys.check(keys.create("admin")[0]).allows("anything", "write")


def test_only_loopback_without_a_key(tmp_path: Path) -> None:
    skip_without("service")
    from mien.service import Settings, serve

    with pytest.raises(InputError, match="a key is needed"):
        serve(Settings(tmp_path / "a.gallery", tmp_path / "state", host="0.0.0.0"))


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True), ("127.8.8.8:80", True), ("localhost:1", True), ("[::1]:80", True),
        ("::1", True), ("0.0.0.0", False), ("example.org", False), ("localhost.example.org", False),
        ("", False), ("10.0.0.1", False), ("127.0.0.1.example.org:80", False),
    ],
)  # fmt: skip
def test_what_loopback_is(host: str, expected: bool) -> None:
    from mien.service._settings import is_loopback

    assert is_loopback(host) is expected


def test_a_client_that_asks_too_often_waits() -> None:
    from mien.service._middleware import RateLimit

    rate = RateLimit(60, n_clients=3)
    assert [rate.take("a", now=0.0) > 0 for _ in range(12)] == [False] * 10 + [True] * 2
    assert rate.take("b", now=0.0) == 0
    assert rate.take("a", now=2.0) == 0
    for other in "cdefg":
        rate.take(other, now=2.0)
    assert len(rate._buckets) == 3


def test_a_port_that_is_taken_is_said_in_one_sentence(tmp_path: Path) -> None:
    skip_without("service", "faces")
    from mien.service import Settings, serve

    told: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        settings = Settings(tmp_path / "a.gallery", tmp_path / "state", port=port)
        with pytest.raises(InputError, match=f"port {port}"):
            serve(settings, tell=lambda: told.append("serving"))
    assert told == []


def make_tenants(server: Server, portraits: dict[str, list[bytes]]) -> tuple[Any, dict[str, str]]:
    """Two galleries with one person each, a key for each, and an administrator."""
    admin = server.client()
    names = [f"t{uuid.uuid4().hex[:8]}" for _ in range(2)]
    for name, person in zip(names, ("Ann", "Bob"), strict=True):
        assert admin.post("/v1/galleries", json={"name": name}).status_code == 201
        said = admin.post(
            f"/v1/galleries/{name}/enrol",
            params={"person": f"{person} of {name}"},
            files={"f": portraits[person][0]},
        )
        assert said.json()[0]["face"], said.text
    boss = admin.post("/v1/keys", json={"role": "admin"}).json()["key"]
    admin.headers["x-api-key"] = boss
    found = {
        name: admin.post("/v1/keys", json={"role": "write", "gallery": name}).json()["key"]
        for name in names
    }
    return admin, found


def end_keys(admin: httpx.Client) -> None:
    listed = [one for one in admin.get("/v1/keys").json() if one["revoked"] is None]
    for one in sorted(listed, key=lambda one: one["gallery"] == "*"):
        admin.delete(f"/v1/keys/{one['id']}")
    admin.close()


def test_reading_is_not_writing(server: Server, portraits: dict[str, list[bytes]]) -> None:
    admin, found = make_tenants(server, portraits)
    try:
        name = next(iter(found))
        read = admin.post("/v1/keys", json={"role": "read", "gallery": name}).json()["key"]
        with server.client(headers={"authorization": f"Bearer {read}"}) as own:
            assert own.get(f"/v1/galleries/{name}/people").status_code == 200
            for method, path in (
                ("POST", f"/v1/galleries/{name}/people"), ("DELETE", f"/v1/galleries/{name}"),
                ("POST", "/v1/galleries"), ("GET", "/v1/keys"),
            ):  # fmt: skip
                said = own.request(method, path, json={"name": "x"})
                assert said.status_code in (401, 403), (method, path)
            said = own.delete("/api/v1/recognition/subjects", headers={"x-api-key": read})
            assert said.status_code == 405
    finally:
        end_keys(admin)


def test_limits_are_kept_before_memory_is_taken(
    own_server: Server, portraits: dict[str, list[bytes]]
) -> None:
    own_server.options = (
        "body_bytes=200000",
        "picture_bytes=100000",
        "pictures=2",
        "body_seconds=5",
    )
    own_server.start()
    with own_server.client() as client:
        big = client.post("/v1/analyse", files={"f": b"x" * 150_000})
        assert (big.status_code, big.json()["code"]) == (413, "picture-too-large")
        huge = client.post("/v1/analyse", content=b"x" * 300_000)
        assert (huge.status_code, huge.json()["code"]) == (413, "body-too-large")

        def chunks() -> Any:
            for _ in range(30):
                yield b"x" * 10_000

        lying = client.post("/v1/analyse", content=chunks(), headers={"content-type": "image/png"})
        assert lying.status_code == 413
        many = client.post("/v1/analyse", files=[("f", b"x")] * 3)
        assert many.status_code == 400
        fine = client.post("/v1/analyse", files={"f": portraits["Ann"][0]})
        assert fine.status_code == 200
    # A client that vanishes in the middle of its request costs nothing; a slow one is told so.
    head = b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nab"
    with socket.create_connection(("127.0.0.1", own_server.port)) as gone:
        gone.sendall(head)
    with socket.create_connection(("127.0.0.1", own_server.port), timeout=PATIENCE) as slow:
        slow.sendall(head)
        assert b"408" in slow.recv(1000).splitlines()[0]
    with own_server.client() as client:
        assert client.get("/readyz").status_code == 200


def test_an_archive_may_be_larger_than_other_bodies(own_server: Server) -> None:
    own_server.options = ("body_bytes=50000", "archive_bytes=200000")
    own_server.start()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("Ann/0.png", random.Random(2).randbytes(100_000))
    fitting = buffer.getvalue()
    with own_server.client() as client:
        client.post("/v1/galleries", json={"name": "g"}).raise_for_status()
        place = "/v1/galleries/g/jobs?kind=identify"
        for ask in (
            {"content": fitting}, {"files": {"file": fitting}},
            {"content": iter([fitting[:70_000], fitting[70_000:]])},
        ):  # fmt: skip
            said = client.post(place, headers={"idempotency-key": uuid.uuid4().hex}, **ask)
            assert said.status_code == 202, said.text
        for ask in ({"content": b"PK" * 150_000}, {"content": iter([b"PK" * 50_000] * 3)}):
            assert client.post(place, **ask).status_code == 413
        for ask in ({"content": b""}, {"content": b"no"}, {"files": {"file": b"no"}}):
            said = client.post(place, **ask)
            assert (said.status_code, said.json()["code"]) == (422, "no-archive")
        assert client.post(place, data={"a": "b"}).status_code == 422
        too_long = client.post("/v1/analyse", content=fitting)
        assert too_long.status_code == 413
        assert len(client.get("/v1/galleries/g/jobs").json()["jobs"]) == 3
    left = [one.name for one in (own_server.folder / "state" / "jobs").iterdir()]
    assert not any(name.startswith(".") for name in left)


def test_a_request_with_many_pictures_is_not_refused_half_way() -> None:
    """One place is for a whole request; it asks as many workers at once as there are."""
    from mien.service._backend import Backend
    from mien.service._pictures import Upload
    from mien.service._problems import Problem
    from mien.service._settings import Limits
    from mien.service._workers import WorkerPool

    pool = WorkerPool(2, "sface", Limits(waiting=1))
    at_once = []

    class Stub:
        settings = type("", (), {"workers": 2})
        _analyse_one = Backend._analyse_one

        def __init__(self) -> None:
            self.pool, self.now = pool, 0

        async def analyse(self, picture: Upload, *_: Any, **__: Any) -> str:
            self.now += 1
            at_once.append(self.now)
            await asyncio.sleep(0)
            self.now -= 1
            return picture.name

    async def story() -> None:
        stub = Stub()
        pictures = [Upload(str(k), b"") for k in range(20)]
        found = await Backend.analyse_all(stub, pictures, "sface")  # type: ignore[arg-type]
        assert found == [str(k) for k in range(20)]
        refused = pytest.raises(Problem, match="try again")
        with pool.admit(), pool.admit(), pool.admit(), refused:  # two workers, and one may wait
            await Backend.analyse_all(stub, pictures[:1], "sface")  # type: ignore[arg-type]
        await Backend.analyse_all(stub, pictures[:1], "sface")  # type: ignore[arg-type]

    asyncio.run(story())
    assert max(at_once) == 2


def test_a_full_queue_asks_to_come_back(
    own_server: Server, portraits: dict[str, list[bytes]]
) -> None:
    """Whatever is asked at once: an answer, or 429 with the time to wait."""
    own_server.options = ("waiting=1",)
    own_server.start()

    async def storm() -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=own_server.url, timeout=PATIENCE) as client:
            asked = (
                client.post("/v1/analyse", files={"f": portraits["Ann"][k % 3]}) for k in range(24)
            )
            return await asyncio.gather(*asked)

    said: list[httpx.Response] = []
    for _ in range(10):  # a busy machine may ask so slowly that nobody has to wait
        said += asyncio.run(storm())
        if {one.status_code for one in said} == {200, 429}:
            break
    assert {one.status_code for one in said} == {200, 429}
    for one in said:
        if one.status_code == 429:
            assert (one.json()["code"], one.headers["retry-after"]) == ("busy", "1")


@pytest.mark.parametrize("waits", [0, 0.01, 0.1, 1])
def test_a_client_that_vanishes_leaves_no_write_half_done(
    server: Server, portraits: dict[str, list[bytes]], waits: float
) -> None:
    """It sends everything and leaves before, while or after the server works on it.

    Whoever asks again with its key, by another name of the server, gets one face.
    """
    name = f"v{uuid.uuid4().hex[:8]}"
    with server.client() as client:
        client.post("/v1/galleries", json={"name": name}).raise_for_status()
        place = f"/v1/galleries/{name}/enrol"
        body = portraits["Ann"][0]
        head = (
            f"POST {place}?person=Ann HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n"
            f"Idempotency-Key: {name}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", server.port)) as gone:
            gone.sendall(head.encode() + body)
            time.sleep(waits)
        headers = {"idempotency-key": name, "content-type": "image/png"}
        for _ in range(20 * PATIENCE):
            said = client.post(place, params={"person": "Ann"}, content=body, headers=headers)
            if not (said.status_code == 409 and said.json()["code"] == "idempotency-busy"):
                break  # the first one is no longer at work
            time.sleep(0.05)
        assert said.status_code == 200, said.text
        faces = client.get(f"/v1/galleries/{name}/faces").json()["faces"]
        assert [one["id"] for one in faces] == [said.json()[0]["face"]]
        client.delete(f"/v1/galleries/{name}")


def test_a_worker_that_is_killed_costs_one_request(
    own_server: Server, portraits: dict[str, list[bytes]]
) -> None:
    psutil = pytest.importorskip("psutil")
    own_server.start()
    assert own_server.process is not None
    with own_server.client() as client:
        for _ in range(2):
            for child in psutil.Process(own_server.process.pid).children():
                child.kill()
                child.wait(PATIENCE)
            statuses = {
                client.post("/v1/analyse", files={"f": portraits["Ann"][0]}).status_code
                for _ in range(2)
            }
            assert 200 in statuses
            assert statuses <= {200, 422}
        garbage = bytes(random.Random(1).randbytes(5000))
        assert client.post("/v1/analyse", files={"f": garbage}).status_code == 422


def test_a_job_goes_on_after_the_end_of_the_server(
    own_server: Server, portraits: dict[str, list[bytes]]
) -> None:
    own_server.start()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, pictures in portraits.items():
            archive.writestr(f"{name}/0.png", pictures[0])
    with own_server.client() as client:
        client.post("/v1/galleries", json={"name": "g"}).raise_for_status()
        said = client.post("/v1/galleries/g/jobs?kind=enrol", content=buffer.getvalue())
        assert said.status_code == 202
    own_server.stop(kill=True)
    own_server.start()
    with own_server.client() as client:
        place = f"/v1/jobs/{said.json()['id']}"
        with client.stream("GET", f"{place}/events") as events:
            assert [line for line in events.iter_lines() if line.startswith("data:")]
        job = client.get(place).json()
        assert (job["state"], job["detail"]) == ("done", "")
        people = client.get("/v1/galleries/g/people").json()["people"]
        assert {one["name"]: one["faces"] for one in people} == dict.fromkeys(portraits, 1)


def test_an_accepted_write_is_finished_when_the_server_is_told_to_stop(
    own_server: Server, portraits: dict[str, list[bytes]]
) -> None:
    """SIGTERM comes while the first of several pictures is being enrolled."""
    own_server.start()
    process = own_server.process
    assert process is not None
    pictures = [one for many in portraits.values() for one in many]
    files = [("f", (f"{k}.png", one)) for k, one in enumerate(pictures)]
    answers: list[httpx.Response] = []

    def enrol() -> None:
        with own_server.client() as writer:
            answers.append(
                writer.post("/v1/galleries/g/enrol", params={"person": "P"}, files=files)
            )

    with own_server.client() as client:
        client.post("/v1/galleries", json={"name": "g"}).raise_for_status()
        writing = threading.Thread(target=enrol)
        writing.start()
        while writing.is_alive() and "mien_faces_total 0.0" in client.get("/metrics").text:
            time.sleep(0.01)
    process.terminate()
    writing.join(PATIENCE)
    process.wait(PATIENCE)
    (said,) = answers
    assert said.status_code == 200
    enrolled = {one["face"] for one in said.json() if one["face"]}
    assert len(enrolled) == len(files)
    own_server.start()
    with own_server.client() as client:
        kept = client.get("/v1/galleries/g/faces").json()["faces"]
    assert {one["id"] for one in kept} == enrolled


def test_logs_hold_no_name(
    tmp_path: Path, portraits: dict[str, list[bytes]], capfd: pytest.CaptureFixture[str]
) -> None:
    skip_without("service", "faces")
    from tests.service.conftest import free_port

    server = Server(tmp_path, free_port(), log=True)
    server.start()
    try:
        with server.client() as client:
            client.post("/v1/galleries", json={"name": "g"})
            client.post("/v1/galleries/g/people", json={"name": "Secretname"})
            client.get("/v1/galleries/g/people", params={"q": "Secretname"})
            # A name that looks like it is warned of.
            said = client.post("/v1/galleries/g/people", json={"name": "Secretn\u0430me"})
            assert said.status_code == 201
            client.put("/api/v1/recognition/subjects/Secretname", json={"subject": 3})
    finally:
        server.stop()
    out, err = capfd.readouterr()
    assert "Secretn" not in out + err
    lines = [json.loads(line) for line in err.splitlines()]
    assert {"warning: MienWarning"} <= {one.get("message") for one in lines}
    (made, _) = (one for one in lines if one.get("status") == 201 and "people" in one["route"])
    assert made["route"] == "/v1/galleries/{gallery}/people"
    assert set(made) == {"time", "request", "method", "route", "status", "milliseconds"}
