"""Writes sent twice, servers that end in between, jobs and galleries that go."""

from __future__ import annotations

import asyncio
import io
import sqlite3
import time
import uuid
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from mien.errors import InputError
from tests.service.conftest import PATIENCE, Server

pytestmark = [pytest.mark.xdist_group("service"), pytest.mark.needs("service")]

#: Not done once by their key: questions change nothing, and an answer with a secret is not kept.
_WITHOUT_KEY = {
    "/v1/analyse", "/v1/complete", "/v1/evaluate", "/v1/galleries/{gallery}/identify",
    "/v1/keys", "/v1/keys/{identifier}", "/v1/session", "/v1/session/links", "/v1/verify",
}  # fmt: skip


@pytest.fixture(scope="module")
def client(server: Server) -> Any:
    with server.client() as made:
        yield made


@pytest.fixture
def base(client: httpx.Client, portraits: dict[str, list[bytes]]) -> Any:
    """A gallery with three faces of Ann."""
    name = f"once{uuid.uuid4().hex[:8]}"
    client.post("/v1/galleries", json={"name": name}).raise_for_status()
    place = f"/v1/galleries/{name}"
    files = [("f", (f"{k}.png", one)) for k, one in enumerate(portraits["Ann"])]
    client.post(f"{place}/enrol", params={"person": "Ann"}, files=files).raise_for_status()
    yield place
    client.delete(place)


def archive(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        made.writestr("Ann/0.png", content)
    return buffer.getvalue()


def test_every_write_takes_a_key(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    without = set()
    for path, operations in paths.items():
        for method, operation in operations.items():
            named = [one["name"] for one in operation.get("parameters", [])]
            if method != "get" and "Idempotency-Key" not in named:
                without.add(path)
            assert method != "get" or "Idempotency-Key" not in named
    assert without == _WITHOUT_KEY


def faces(client: httpx.Client, base: str) -> list[str]:
    return [one["id"] for one in client.get(f"{base}/faces").json()["faces"]]


def writes(client: httpx.Client, base: str) -> dict[str, tuple[str, str, Any]]:
    """Method, path and body of writes that would do something else the second time."""
    one, two, _ = faces(client, base)
    ann = client.get(f"{base}/people").json()["people"][0]["id"]
    return {
        "split": ("POST", f"{base}/people/{ann}/split", {"faces": [one], "person": "Bob"}),
        "undo": ("POST", f"{base}/undo", {}),
        "remove": ("POST", f"{base}/faces/remove", {"faces": [one]}),
        "delete face": ("DELETE", f"{base}/faces/{two}", None),
        "not": ("POST", f"{base}/people/{ann}/not", {"faces": [one]}),
        "not a face": ("POST", f"{base}/faces/not-a-face", {"faces": [one]}),
        "delete person": ("DELETE", f"{base}/people/{ann}", None),
        "delete gallery": ("DELETE", base, None),
    }


_WRITES = (
    "split", "undo", "remove", "delete face", "not", "not a face", "delete person",
    "delete gallery",
)  # fmt: skip


def state_of(client: httpx.Client, base: str) -> Any:
    """People, faces and history; None where the gallery is gone."""
    said = client.get(f"{base}/history", params={"limit": 1000})
    if said.status_code == 404:
        return None
    people = {one["name"]: one["faces"] for one in client.get(f"{base}/people").json()["people"]}
    return people, [(one["number"], one["undone"]) for one in said.json()["changes"]]


@pytest.mark.parametrize("kind", _WRITES)
def test_a_write_sent_twice_is_done_once(client: httpx.Client, base: str, kind: str) -> None:
    method, path, body = writes(client, base)[kind]
    headers = {"Idempotency-Key": uuid.uuid4().hex}
    first = client.request(method, path, json=body, headers=headers)
    assert first.is_success, first.text
    after = state_of(client, base)
    second = client.request(method, path, json=body, headers=headers)
    assert (second.status_code, second.content) == (first.status_code, first.content)
    assert second.headers["idempotency-replayed"] == "true"
    assert state_of(client, base) == after


@pytest.mark.parametrize("kind", _WRITES)
def test_a_write_that_the_end_of_a_server_left_open_is_not_done_twice(
    client: httpx.Client, server: Server, base: str, kind: str
) -> None:
    """As if the server had ended after the write and before its answer."""
    method, path, body = writes(client, base)[kind]
    token = uuid.uuid4().hex
    headers = {"Idempotency-Key": token}
    assert client.request(method, path, json=body, headers=headers).is_success
    after = state_of(client, base)
    forget_answer(server, token)
    second = client.request(method, path, json=body, headers=headers)
    if kind == "undo":  # nothing tells whether the last change was undone: the client must look
        assert (second.status_code, second.json()["code"]) == (409, "maybe-done")
    else:
        assert second.is_success, second.text
    now = state_of(client, base)
    assert now is None or after is None or now[0] == after[0]


def forget_answer(server: Server, token: str) -> None:
    place = server.folder / "state" / "service.sqlite"
    with closing(sqlite3.connect(place, timeout=PATIENCE)) as state, state:
        changed = state.execute(
            "UPDATE answer SET status = NULL, body = NULL WHERE token = ?", (token,)
        ).rowcount
    assert changed == 1


def test_an_undo_with_its_number_is_done_once_whatever_ends(
    client: httpx.Client, server: Server, base: str
) -> None:
    last = client.get(f"{base}/history").json()["changes"][0]["number"]
    token = uuid.uuid4().hex
    ask = {"json": {"change": last}, "headers": {"Idempotency-Key": token}}
    first = client.post(f"{base}/undo", **ask)
    forget_answer(server, token)
    assert client.post(f"{base}/undo", **ask).json() == first.json()


def test_a_job_sent_twice_is_one_job(
    client: httpx.Client, server: Server, base: str, portraits: dict[str, list[bytes]]
) -> None:
    token = uuid.uuid4().hex
    ask = {
        "params": {"kind": "enrol"}, "content": archive(portraits["Ann"][0]),
        "headers": {"Idempotency-Key": token},
    }  # fmt: skip
    first = client.post(f"{base}/jobs", **ask)
    assert first.status_code == 202
    second = client.post(f"{base}/jobs", **ask)
    assert second.headers["location"] == first.headers["location"]
    forget_answer(server, token)
    third = client.post(f"{base}/jobs", **ask)
    assert third.json()["id"] == first.json()["id"]
    assert len(client.get(f"{base}/jobs").json()["jobs"]) == 1


def test_a_refused_write_may_be_corrected_with_the_same_key(
    client: httpx.Client, base: str
) -> None:
    headers = {"Idempotency-Key": uuid.uuid4().hex}
    for wrong in ({"name": ""}, {"name": "Ann"}, {"name": "a\x00b"}):
        assert client.post(f"{base}/people", json=wrong, headers=headers).status_code in (409, 422)
    said = client.post(f"{base}/people", json={"name": "Bob"}, headers=headers)
    assert said.status_code == 201


def test_lists_are_read_in_pages(client: httpx.Client, base: str) -> None:
    one, two, three = faces(client, base)
    for k, face in enumerate((one, two, three, one, two)):
        body = {"kind": "not-this-person", "face": face, "person": f"P{k}"}
        client.post(f"{base}/people", json={"name": f"P{k}"}).raise_for_status()
        client.post(f"{base}/constraints", json=body).raise_for_status()
    for name, entries in (
        ("history", "changes"), ("constraints", "constraints"), ("audit", "entries"),
        ("people", "people"), ("faces", "faces"),
    ):  # fmt: skip
        whole = client.get(f"{base}/{name}", params={"limit": 1000}).json()
        assert whole["cursor"] is None
        found, cursor = [], None
        while True:
            query = {"limit": "2"} | ({} if cursor is None else {"cursor": cursor})
            page = client.get(f"{base}/{name}", params=query).json()
            assert 0 < len(page[entries]) <= 2
            found += page[entries]
            cursor = page["cursor"]
            if cursor is None:
                break
        assert found == whole[entries], name
        wrong = client.get(f"{base}/{name}", params={"cursor": "WyJ4IiwiYSIsMV0"})
        assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid-cursor")


def test_with_a_gallery_go_its_jobs_and_keys(
    own_server: Server, portraits: dict[str, list[bytes]]
) -> None:
    own_server.start()
    with own_server.client() as client:
        boss = client.post("/v1/keys", json={"role": "admin"}).json()["key"]
        client.headers["x-api-key"] = boss
        for name in ("a", "b"):
            client.post("/v1/galleries", json={"name": name}).raise_for_status()
        key = client.post("/v1/keys", json={"role": "write", "gallery": "a"}).json()["key"]
        content = archive(portraits["Ann"][0])
        made = [client.post("/v1/galleries/a/jobs?kind=enrol", content=content) for _ in range(3)]
        assert [one.status_code for one in made] == [202] * 3
        assert client.delete("/v1/galleries/a").status_code == 204
        for one in made:
            assert client.get(one.headers["location"]).status_code == 404
            assert not (own_server.folder / "state" / "jobs" / one.json()["id"]).exists()
        # Whoever gets the name next is somebody else; and jobs are done as before.
        client.post("/v1/galleries", json={"name": "a"}).raise_for_status()
        old = client.get("/v1/galleries/a/people", headers={"x-api-key": key})
        assert old.status_code == 401
        job = client.post("/v1/galleries/b/jobs?kind=enrol", content=content)
        # Whoever follows it with a key that is revoked meanwhile hears no more.
        made = client.post("/v1/keys", json={"role": "read", "gallery": "b"}).json()
        with client.stream(
            "GET", f"{job.headers['location']}/events", headers={"x-api-key": made["key"]}
        ) as events:
            lines = events.iter_lines()
            while not next(lines).startswith("data:"):
                pass
            assert client.delete(f"/v1/keys/{made['id']}").status_code == 204
            assert '"done"' not in "".join(lines)
        for _ in range(1200):
            now = client.get(job.headers["location"]).json()
            if now["state"] in ("done", "failed"):
                break
            time.sleep(0.1)
        assert now["state"] == "done", now


def test_a_key_that_expires_opens_no_door(tmp_path: Path) -> None:
    from mien.service import KeyStore, open_state

    state = open_state(tmp_path / "state")
    keys = KeyStore(state)
    assert not keys.any_kept()
    _, record = keys.create("admin", days=1e-12)
    assert not keys.any_valid()
    assert keys.any_kept()
    keys.revoke(record.id)
    assert not keys.any_kept()
    state.close()


def test_two_servers_do_not_share_a_state(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    from mien.service._state import hold_state

    held = hold_state(tmp_path / "state")
    with pytest.raises(InputError, match="another server"):
        hold_state(tmp_path / "state")
    import os

    os.close(held)
    os.close(hold_state(tmp_path / "state"))


class FakeProcess:
    """A process that says nothing until it is killed."""

    def __init__(self) -> None:
        self.returncode: int | None = None
        self._ended = asyncio.Event()
        self.stdin = self
        self.stdout = self

    def write(self, _: bytes) -> None:
        pass

    async def drain(self) -> None:
        pass

    def close(self) -> None:
        pass

    def __aiter__(self) -> FakeProcess:
        return self

    async def __anext__(self) -> bytes:
        await self._ended.wait()
        raise StopAsyncIteration

    def kill(self) -> None:
        self.returncode = -9
        self._ended.set()

    async def wait(self) -> int:
        await self._ended.wait()
        return -9


def run_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, story: Any) -> None:
    """A store, a runner whose processes are fakes, and what happens to them."""
    from mien.service import _jobs, open_state
    from mien.service._problems import Problem

    async def play() -> None:
        state = open_state(tmp_path / "state")
        store = _jobs.JobStore(state, tmp_path / "jobs")
        begun: list[FakeProcess] = []
        gate = asyncio.Event()
        gate.set()

        async def start(_: str) -> FakeProcess:
            begun.append(FakeProcess())
            await gate.wait()
            return begun[-1]

        def find(name: str) -> Path:
            if name == "gone":
                raise Problem(404, "no-gallery", "There is no gallery 'gone'.")
            return tmp_path / name

        monkeypatch.setattr(_jobs, "start_process", start)
        runner = _jobs.JobRunner(store, find, None, 1000.0)
        runner.start()
        try:
            await asyncio.wait_for(story(store, runner, begun, gate), 60)
        finally:
            await runner.close()
            state.close()

    asyncio.run(play())


async def until(true: Any) -> None:
    while not true():
        await asyncio.sleep(0.01)


def test_a_job_cancelled_while_it_starts_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(store: Any, runner: Any, begun: list[FakeProcess], gate: Any) -> None:
        gate.clear()
        job = store.add("g", "enrol", {})
        await runner.announce()
        await until(lambda: begun)
        await runner.cancel(job.id)
        gate.set()
        await until(lambda: begun[0].returncode is not None)
        assert store.get(job.id).state == "cancelled"

    run_jobs(tmp_path, monkeypatch, story)


def test_a_job_whose_gallery_is_gone_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(store: Any, runner: Any, begun: list[FakeProcess], gate: Any) -> None:
        lost = store.add("gone", "enrol", {})
        await until(lambda: store.get(lost.id).state == "failed")
        assert "no gallery" in store.get(lost.id).detail
        # One that is deleted under its process does not end the others either.
        deleted = store.add("g", "enrol", {})
        await until(lambda: begun)
        store.forget(deleted.id)
        begun[0].kill()
        following = store.add("g", "enrol", {})
        await until(lambda: len(begun) == 2)
        assert store.get(following.id).state == "running"

    run_jobs(tmp_path, monkeypatch, story)


def test_stopping_a_server_does_not_count_against_its_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(store: Any, runner: Any, begun: list[FakeProcess], gate: Any) -> None:
        job = store.add("g", "enrol", {})
        for turn in range(5):
            await until(lambda turn=turn: len(begun) == turn + 1)
            assert store.get(job.id).attempts == 1
            await runner.close()
            assert store.get(job.id).state == "queued"
            runner.start()

    run_jobs(tmp_path, monkeypatch, story)
