"""Our own API, over HTTP, against a server in a process of its own."""

from __future__ import annotations

import base64
import io
import json
import uuid
import zipfile
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.service.conftest import PEOPLE, Server

pytestmark = pytest.mark.xdist_group("service")


@pytest.fixture(scope="module")
def client(server: Server) -> Any:
    with server.client() as made:
        yield made


@pytest.fixture(scope="module")
def gallery(client: httpx.Client, portraits: dict[str, list[bytes]]) -> str:
    """A gallery with two pictures each of three people."""
    name = "family"
    client.delete(f"/v1/galleries/{name}")  # of an earlier turn of this file on the same server
    assert client.post("/v1/galleries", json={"name": name}).status_code == 201
    for person in PEOPLE:
        files = [("file", (f"{k}.png", one)) for k, one in enumerate(portraits[person][:2])]
        said = client.post(f"/v1/galleries/{name}/enrol", params={"person": person}, files=files)
        assert said.status_code == 200, said.text
        assert all(one["face"] for one in said.json())
    return name


def fresh(client: httpx.Client) -> str:
    name = f"g{uuid.uuid4().hex[:12]}"
    assert client.post("/v1/galleries", json={"name": name}).status_code == 201
    return name


def check_problem(response: httpx.Response, status: int, code: str) -> None:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    said = response.json()
    assert (said["status"], said["code"]) == (status, code)
    assert said["detail"]
    assert said["request_id"] == response.headers["x-request-id"]


def test_health_and_headers(client: httpx.Client) -> None:
    said = client.get("/healthz", headers={"x-request-id": "abc-1"})
    assert said.json()["status"] == "ok"
    assert said.headers["x-request-id"] == "abc-1"
    assert said.headers["x-content-type-options"] == "nosniff"
    assert "script-src 'self'" in said.headers["content-security-policy"]
    assert "server" not in said.headers
    assert (
        client.get("/healthz", headers={"x-request-id": "a b\tc"}).headers["x-request-id"] != "a b"
    )


def test_every_face_of_a_picture_is_answered(
    client: httpx.Client, gallery: str, group: bytes, meadow: bytes
) -> None:
    files = [("file", ("group.png", group)), ("file", ("meadow.png", meadow))]
    said = client.post(f"/v1/galleries/{gallery}/identify", params={"fpir": 0.2}, files=files)
    both, nobody = said.json()
    assert both["picture"] == "group.png"
    assert len(both["faces"]) == 2
    for face in both["faces"]:
        assert {"person", "log_ratio", "threshold", "promised", "probability", "quality"} <= set(
            face
        )
        assert face["candidates"]
        assert (face["person"] is not None) == (face["log_ratio"] >= face["threshold"]) or face[
            "person"
        ] is None
    named = [face["person"] for face in both["faces"] if face["person"]]
    assert len(set(named)) == len(named)
    assert nobody == {"picture": "meadow.png", "faces": [], "error": None}


def test_the_same_picture_is_the_best_candidate(
    client: httpx.Client, gallery: str, portraits: dict[str, list[bytes]]
) -> None:
    for person in PEOPLE:
        said = client.post(
            f"/v1/galleries/{gallery}/identify",
            content=portraits[person][0],
            headers={"content-type": "image/png"},
        )
        assert said.json()[0]["faces"][0]["candidates"][0][0] == person


def test_base64_gives_what_multipart_gives(
    client: httpx.Client, gallery: str, group: bytes
) -> None:
    address = f"/v1/galleries/{gallery}/identify"
    first = client.post(address, files={"file": ("x", group)}).json()
    text = base64.b64encode(group).decode()
    second = client.post(address, json={"pictures": ["data:image/png;base64," + text]}).json()
    assert first[0]["faces"] == second[0]["faces"]


def test_analyse_gives_no_name_and_no_template(client: httpx.Client, group: bytes) -> None:
    said = client.post("/v1/analyse", files={"file": ("g.png", group)})
    (picture,) = said.json()
    assert len(picture["faces"]) == 2
    assert set(picture["faces"][0]) == {"box", "landmarks", "confidence", "quality"}
    assert (
        client.post("/v1/analyse", params={"engine": "eyes"}, files={"f": group}).status_code == 422
    )


def test_covered_parts_are_completed(
    client: httpx.Client, portraits: dict[str, list[bytes]]
) -> None:
    picture = {"content": portraits["Ann"][0], "headers": {"content-type": "image/png"}}
    (said,) = client.post("/v1/complete", params={"cover": "lower"}, **picture).json()
    assert said["completed"] == 1
    assert base64.b64decode(said["image"]).startswith(b"\x89PNG")
    picture["headers"]["accept"] = "image/png"
    shown = client.post("/v1/complete", params={"cover": "lower"}, **picture)
    assert shown.headers["content-type"] == "image/png"
    assert shown.content == base64.b64decode(said["image"])
    wrong = client.post("/v1/complete", params={"cover": "everything"}, **picture)
    check_problem(wrong, 422, "invalid-input")


def test_verify_two_pictures(client: httpx.Client, portraits: dict[str, list[bytes]]) -> None:
    pair = {"a": ("a.png", portraits["Ann"][0]), "b": ("b.png", portraits["Ann"][0])}
    same = client.post("/v1/verify", files=pair).json()
    assert same["same"] is True
    assert same["far"] == 0.001
    pair["b"] = ("b.png", portraits["Bob"][0])
    other = client.post("/v1/verify", files=pair).json()
    assert other["log_ratio"] < same["log_ratio"]
    check_problem(client.post("/v1/verify", files={"a": portraits["Ann"][0]}), 422, "no-picture")


def test_people_are_listed_in_pages_and_searched(client: httpx.Client, gallery: str) -> None:
    address = f"/v1/galleries/{gallery}/people"
    found, cursor = [], None
    while True:
        page = client.get(address, params={"limit": 2} | ({"cursor": cursor} if cursor else {}))
        found += [one["name"] for one in page.json()["people"]]
        cursor = page.json()["cursor"]
        if cursor is None:
            break
    assert found == list(PEOPLE)
    assert [one["name"] for one in client.get(address, params={"q": "LE"}).json()["people"]] == [
        "Cleo"
    ]
    check_problem(client.get(address, params={"cursor": "nonsense"}), 422, "invalid-cursor")


def test_people_are_made_renamed_merged_and_deleted(
    client: httpx.Client, portraits: dict[str, list[bytes]]
) -> None:
    base = f"/v1/galleries/{fresh(client)}"
    ann = client.post(f"{base}/people", json={"name": "Ann"}).json()
    check_problem(client.post(f"{base}/people", json={"name": "Ann"}), 409, "person-exists")
    files = [("f", (f"{k}.png", one)) for k, one in enumerate(portraits["Ann"])]
    said = client.post(f"{base}/people/{ann['id']}/faces", files=files)
    assert [one["already"] for one in said.json()] == [False] * 3
    again = client.post(f"{base}/people/{ann['id']}/faces", files=files)
    assert [one["already"] for one in again.json()] == [True] * 3
    assert [one["face"] for one in again.json()] == [one["face"] for one in said.json()]
    renamed = client.patch(f"{base}/people/{ann['id']}", json={"name": "Anna"}).json()
    assert (renamed["id"], renamed["name"], renamed["faces"]) == (ann["id"], "Anna", 3)
    face = said.json()[0]["face"]
    moved = client.post(f"{base}/faces/{face}/move", json={"person": "Bob"}).json()
    assert moved["person"] == "Bob"
    bob = next(p for p in client.get(f"{base}/people").json()["people"] if p["name"] == "Bob")
    listed = client.get(f"{base}/faces", params={"person": bob["id"]}).json()["faces"]
    assert [one["id"] for one in listed] == [face]
    merged = client.post(f"{base}/people/{bob['id']}/merge", json={"into": ann["id"]}).json()
    assert merged["faces"] == 3
    assert client.delete(f"{base}/faces/{face}").status_code == 204
    check_problem(client.delete(f"{base}/faces/{face}"), 404, "no-face")
    assert client.delete(f"{base}/people/{ann['id']}").json() == {"faces": 2}
    check_problem(client.get(f"{base}/people/{ann['id']}"), 404, "no-person")
    assert client.delete(base).status_code == 204
    check_problem(client.get(base), 404, "no-gallery")


def test_faces_are_split_taken_out_and_spoken_about(
    client: httpx.Client, portraits: dict[str, list[bytes]]
) -> None:
    base = f"/v1/galleries/{fresh(client)}"
    files = [("f", (f"{k}.png", one)) for k, one in enumerate(portraits["Ann"])]
    said = client.post(f"{base}/enrol", params={"person": "Ann"}, files=files).json()
    one, two, three = (picture["face"] for picture in said)
    ann = client.get(f"{base}/people").json()["people"][0]["id"]
    split = client.post(f"{base}/people/{ann}/split", json={"faces": [one], "person": "Bob"})
    assert (split.status_code, split.json()["name"], split.json()["faces"]) == (201, "Bob", 1)
    body = {"faces": [two], "person": "Bob"}
    check_problem(client.post(f"{base}/people/{ann}/split", json=body), 409, "person-exists")
    body = {"faces": [one], "person": "Cleo"}
    check_problem(client.post(f"{base}/people/{ann}/split", json=body), 409, "other-person")
    assert client.post(f"{base}/faces/remove", json={"faces": [two]}).status_code == 204
    check_problem(client.get(f"{base}/faces/{two}/thumbnail"), 404, "no-face")
    check_problem(client.get(f"{base}/faces/{three}/thumbnail"), 404, "no-thumbnail")
    history = client.get(f"{base}/history").json()["changes"]
    assert [change["action"] for change in history][:2] == ["remove-face", "split"]
    wanted = {"kind": "not-this-person", "face": three, "person": "Bob"}
    made = client.post(f"{base}/constraints", json=wanted)
    assert made.status_code == 201, made.text
    assert client.get(f"{base}/constraints").json()["constraints"][-1] == made.json()
    place = f"{base}/constraints/{made.json()['id']}"
    assert client.delete(place).status_code == 204
    check_problem(client.delete(place), 404, "no-constraint")
    check_problem(client.post(f"{base}/constraints", json={"kind": "x"}), 422, "invalid-request")


def test_thumbnails_are_kept_where_the_gallery_keeps_them(
    client: httpx.Client, portraits: dict[str, list[bytes]]
) -> None:
    base = f"/v1/galleries/{fresh(client)}"
    assert client.patch(f"{base}/policy", json={"thumbnails": True}).json()["thumbnails"] is True
    ask = {"params": {"person": "Ann"}, "files": {"f": portraits["Ann"][0]}}
    face = client.post(f"{base}/enrol", **ask).json()[0]["face"]
    small = client.get(f"{base}/faces/{face}/thumbnail")
    assert (small.status_code, small.headers["content-type"]) == (200, "image/jpeg")
    assert small.content.startswith(b"\xff\xd8")
    from PIL import Image

    with Image.open(io.BytesIO(small.content)) as picture:
        assert max(picture.size) <= 160
    assert client.patch(f"{base}/policy", json={"thumbnails": False}).status_code == 200
    check_problem(client.get(f"{base}/faces/{face}/thumbnail"), 404, "no-thumbnail")
    client.delete(base)


def test_what_cannot_be_enrolled_is_said(client: httpx.Client, group: bytes, meadow: bytes) -> None:
    base = f"/v1/galleries/{fresh(client)}"
    files = [
        ("f", ("group.png", group)),
        ("f", ("meadow.png", meadow)),
        ("f", ("torn.jpg", b"\xff\xd8")),
    ]  # fmt: skip
    said = client.post(f"{base}/enrol", params={"person": "Ann"}, files=files).json()
    assert [one["reason"] for one in said] == ["several faces", "no face", "unreadable"]
    assert all(one["face"] is None for one in said)
    assert client.get(f"{base}/people").json()["people"] == []


def test_a_write_sent_twice_is_done_once(
    client: httpx.Client, portraits: dict[str, list[bytes]]
) -> None:
    base = f"/v1/galleries/{fresh(client)}"
    key = {"Idempotency-Key": uuid.uuid4().hex}
    first = client.post(f"{base}/people", json={"name": "Ann"}, headers=key)
    second = client.post(f"{base}/people", json={"name": "Ann"}, headers=key)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert second.headers["idempotency-replayed"] == "true"
    other = client.post(f"{base}/people", json={"name": "Bob"}, headers=key)
    check_problem(other, 409, "idempotency-conflict")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/nothing", {}, 404, "no-route"),
        ("PUT", "/v1/galleries", {}, 405, "wrong-method"),
        ("GET", "/v1/galleries/none", {}, 404, "no-gallery"),
        ("GET", "/v1/galleries/..%2Fstate", {}, 404, "no-route"),
        ("POST", "/v1/galleries", {"json": {"name": "../x"}}, 422, "invalid-name"),
        ("POST", "/v1/galleries", {"json": {"nome": "x"}}, 422, "invalid-request"),
        ("POST", "/v1/galleries", {"content": b"{"}, 422, "invalid-request"),
        ("POST", "/v1/galleries/family/identify", {}, 415, "no-picture"),
        ("POST", "/v1/galleries/family/identify", {"json": {"pictures": "x"}}, 422, "no-picture"),
        ("POST", "/v1/galleries/family/identify", {"files": {"f": b""}}, 422, "empty-picture"),
        ("POST", "/v1/galleries/family/identify", {"files": {"f": b"no picture"}}, 422,
         "unreadable-picture"),
        ("POST", "/v1/galleries/family/identify?fpir=2", {}, 422, "invalid-request"),
        ("POST", "/v1/evaluate", {"content": b"\xff\xfe"}, 422, "invalid-table"),
        ("POST", "/v1/evaluate", {"content": b"a,b\n1,2\n"}, 422, "invalid-table"),
        ("GET", "/v1/jobs/none", {}, 404, "no-job"),
        ("POST", "/v1/galleries/family/jobs?kind=enrol", {"content": b"x"}, 422, "no-archive"),
        ("POST", "/v1/galleries/family/jobs?kind=dance", {"content": b"x"}, 422, "invalid-kind"),
    ],
)  # fmt: skip
def test_every_error_is_a_problem(
    client: httpx.Client, gallery: str, method: str, path: str, body: Any, status: int, code: str
) -> None:
    check_problem(client.request(method, path, **body), status, code)


def test_no_error_tells_where_the_files_are(client: httpx.Client, server: Server) -> None:
    base = f"/v1/galleries/{fresh(client)}"
    bad = archive({"Ann": [b"no picture"]})
    failed = wait_for(client, client.post(f"{base}/jobs?kind=adapt", content=bad).json())
    assert failed["state"] == "failed"
    told = [
        client.post(f"{base}/undo"), client.post(f"{base}/undo", json={"change": 99}),
        client.post(f"{base}/faces/move", json={"faces": ["x"], "person": "Ann"}),
        client.post(f"{base}/people", json={"name": "a\nb"}), client.delete(f"{base}/adaptation"),
        client.put(f"{base}/people/99/hidden", json={"hidden": True}),
    ]  # fmt: skip
    assert all(400 <= one.status_code < 500 for one in told)
    for text in [failed["detail"], *(one.text for one in told)]:
        assert str(server.folder) not in text
        assert "No such" not in text


def test_scores_are_judged(client: httpx.Client) -> None:
    rows = "\n".join(f"{k / 50},{int(k > 25)}" for k in range(50))
    said = client.post("/v1/evaluate", content=f"score,same\n{rows}\n".encode())
    assert said.status_code == 200
    assert "systems" in json.dumps(said.json())


def test_a_page_of_another_origin_is_not_this_machine(client: httpx.Client) -> None:
    foreign = client.get("/v1/galleries", headers={"Origin": "https://example.org"})
    check_problem(foreign, 401, "no-key")
    neighbour = client.get("/v1/galleries", headers={"Origin": "http://127.0.0.1:1"})
    check_problem(neighbour, 401, "no-key")
    rebound = client.get("/v1/galleries", headers={"Host": "example.org"})
    check_problem(rebound, 401, "no-key")


def archive(portraits: dict[str, list[bytes]], first: int = 0) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name, pictures in portraits.items():
            for k, one in enumerate(pictures[first:]):
                made.writestr(f"{name}/{k}.png", one)
    return buffer.getvalue()


def wait_for(client: httpx.Client, job: dict[str, Any]) -> dict[str, Any]:
    """Follow a job by its events until it has ended."""
    last: dict[str, Any] = {}
    with client.stream("GET", f"/v1/jobs/{job['id']}/events") as events:
        for line in events.iter_lines():
            if line.startswith("data:"):
                last = json.loads(line.removeprefix("data:"))
    return last


def test_an_archive_is_enrolled_and_named_by_jobs(
    client: httpx.Client, portraits: dict[str, list[bytes]]
) -> None:
    base = f"/v1/galleries/{fresh(client)}"
    said = client.post(f"{base}/jobs", params={"kind": "enrol"}, content=archive(portraits))
    assert said.status_code == 202
    assert said.headers["location"] == f"/v1/jobs/{said.json()['id']}"
    done = wait_for(client, said.json())
    assert done["state"] == "done", done
    result = client.get(f"/v1/jobs/{done['id']}/result").json()
    assert result["added"] == 9
    assert {one["name"] for one in client.get(f"{base}/people").json()["people"]} == set(PEOPLE)
    named = client.post(f"{base}/jobs", params={"kind": "identify"}, content=archive(portraits, 2))
    done = wait_for(client, named.json())
    assert done["state"] == "done", done
    files = [one["file"] for one in client.get(f"/v1/jobs/{done['id']}/result").json()["pictures"]]
    assert files == [f"{name}/0.png" for name in PEOPLE]
    assert client.delete(f"/v1/jobs/{done['id']}").status_code == 204


def test_a_video_is_named_by_a_job(
    client: httpx.Client, portraits: dict[str, list[bytes]], tmp_path: Path
) -> None:
    cv2 = pytest.importorskip("cv2")
    base = f"/v1/galleries/{fresh(client)}"
    files = [("f", (f"{k}.png", one)) for k, one in enumerate(portraits["Ann"])]
    client.post(f"{base}/enrol", params={"person": "Ann"}, files=files).raise_for_status()
    frame = cv2.imdecode(np.frombuffer(portraits["Ann"][0], np.uint8), cv2.IMREAD_COLOR)
    place = tmp_path / "clip.avi"
    writer = cv2.VideoWriter(str(place), cv2.VideoWriter_fourcc(*"MJPG"), 10, frame.shape[1::-1])
    for _ in range(6):
        writer.write(frame)
    writer.release()
    said = client.post(
        f"{base}/jobs", params={"kind": "identify"}, content=place.read_bytes(),
        headers={"content-type": "video/x-msvideo"},
    )  # fmt: skip
    assert said.status_code == 202, said.text
    done = wait_for(client, said.json())
    assert (done["state"], done["detail"]) == ("done", "")
    (video,) = client.get(f"/v1/jobs/{done['id']}/result").json()["pictures"]
    assert (video["file"], video["error"]) == ("video.avi", None)
    assert [face["person"] for face in video["faces"]] == ["Ann"]


def test_an_archive_cannot_leave_its_folder(client: httpx.Client) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        made.writestr("../../escaped.png", b"x")
    said = client.post(
        f"/v1/galleries/{fresh(client)}/jobs", params={"kind": "enrol"}, content=buffer.getvalue()
    )
    done = wait_for(client, said.json())
    assert (done["state"], "outside" in done["detail"]) == ("failed", True)


def test_openapi_names_every_route(client: httpx.Client) -> None:
    said = client.get("/openapi.json").json()
    assert said["openapi"].startswith("3.1")
    operations = [one for path in said["paths"].values() for one in path.values()]
    assert len(operations) > 25
    assert all(one.get("summary") for one in operations)
    assert not any(path.startswith("/api/v1") for path in said["paths"])
    for one in operations:
        assert one["responses"]["default"]["content"]["application/problem+json"]["example"]
        for answer in [*one["responses"].values(), one.get("requestBody", {})]:
            for media in answer.get("content", {}).values():
                assert media["example"], one["summary"]
        for parameter in one.get("parameters", []):
            assert "example" in parameter, (one["summary"], parameter["name"])
    pictures = said["paths"]["/v1/galleries/{gallery}/identify"]["post"]["requestBody"]["content"]
    assert set(pictures) == {"multipart/form-data", "application/json", "image/jpeg", "image/png"}


def test_frames_of_a_camera_are_joined_into_visits(
    client: httpx.Client, gallery: str, portraits: dict[str, list[bytes]], meadow: bytes
) -> None:
    base = f"/v1/galleries/{gallery}/streams"
    made = client.post(base, json={"camera": "door", "decide_after": 4, "fpir": 0.2})
    assert made.status_code == 201, made.text
    stream = f"{base}/{made.json()['id']}"
    files = [("f", (f"{k}.png", portraits["Ann"][0])) for k in range(3)]
    first = client.post(f"{stream}/frames", params={"seconds": 0}, files=files).json()
    assert [face["visit"] for frame in first["frames"] for face in frame["faces"]] == [None] * 3
    assert first["events"] == []
    second = client.post(f"{stream}/frames", params={"seconds": 0.5}, files=files).json()
    (came,) = second["events"]
    assert came["event"] in ("seen", "unknown seen")
    assert came["camera"] == "door"
    assert second["frames"][-1]["faces"][0]["visit"] == came["visit"]
    (listed,) = client.get(base).json()
    assert (listed["frames"], listed["decisions"]) == (6, 1)
    assert [one["visit"] for one in listed["present"]] == [came["visit"]]
    late = client.post(f"{stream}/frames", params={"seconds": 0.1}, files=files[:1])
    check_problem(late, 422, "frames-out-of-order")
    (left,) = client.delete(stream).json()["events"]
    assert (left["event"], left["visit"]) == ("left", came["visit"])
    check_problem(client.delete(stream), 404, "no-stream")
    check_problem(client.post(f"{base}/none/frames", files=files), 404, "no-stream")


def test_metrics_hold_no_name(client: httpx.Client, gallery: str) -> None:
    client.post(f"/v1/galleries/{gallery}/identify")  # refused, and counted
    text = client.get("/metrics").text
    assert "mien_requests_total" in text
    assert not any(name in text for name in PEOPLE)
    assert "/v1/galleries/{gallery}/identify" in text
