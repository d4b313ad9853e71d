"""CompreFace's routes: bodies, statuses and numbers of errors, as its clients expect them."""

from __future__ import annotations

import base64
import uuid
from typing import Any

import httpx
import pytest

from mien.service._compreface import similarity
from tests.service.conftest import PATIENCE, Server

pytestmark = pytest.mark.xdist_group("service")
BASE = "/api/v1/recognition"


@pytest.fixture(scope="module")
def client(server: Server) -> Any:
    """With a key of a gallery of its own."""
    with server.client() as admin:
        name = f"cf{uuid.uuid4().hex[:10]}"
        assert admin.post("/v1/galleries", json={"name": name}).status_code == 201
        made = admin.post("/v1/keys", json={"role": "admin"}).json()
        headers = {"x-api-key": made["key"]}
        key = admin.post(
            "/v1/keys", json={"role": "write", "gallery": name}, headers=headers
        ).json()["key"]
        with server.client(headers={"x-api-key": key}) as own:
            yield own
        for one in admin.get("/v1/keys", headers=headers).json():
            if one["revoked"] is None and one["id"] != made["id"]:
                admin.delete(f"/v1/keys/{one['id']}", headers=headers)
        admin.delete(f"/v1/keys/{made['id']}", headers=headers)


def test_similarity_is_a_half_exactly_at_the_threshold() -> None:
    assert similarity(3.5, 3.5) == 0.5
    values = [similarity(ratio, 3.5) for ratio in (-60.0, 0.0, 3.0, 4.0, 60.0)]
    assert values == sorted(values)
    assert values[0] == 0.0
    assert values[-1] == 1.0
    assert similarity(float("-inf"), float("nan")) == 0.0


def test_a_collection_from_begin_to_end(
    client: httpx.Client, portraits: dict[str, list[bytes]], group: bytes, meadow: bytes
) -> None:
    said = client.post(f"{BASE}/subjects", json={"subject": "Ann"})
    assert (said.status_code, said.json()) == (201, {"subject": "Ann"})
    said = client.post(f"{BASE}/subjects", json={"subject": "Ann"})
    assert (said.status_code, said.json()["code"]) == (400, 43)
    added = client.post(
        f"{BASE}/faces?&subject=Ann&det_prob_threshold=0.5", files={"file": portraits["Ann"][0]}
    )
    assert added.status_code == 201
    assert set(added.json()) == {"image_id", "subject"}
    again = client.post(f"{BASE}/faces?subject=Ann", files={"file": portraits["Ann"][0]})
    assert (again.status_code, again.json()) == (201, added.json())
    text = base64.b64encode(portraits["Bob"][0]).decode()
    suffix = "?det_prob_threshold=0.8"
    bob = client.post(f"{BASE}/faces", params={"subject": f"Bob{suffix}"}, json={"file": text})
    assert (bob.status_code, bob.json()["subject"]) == (201, "Bob")
    assert client.get(f"{BASE}/subjects/").json() == {"subjects": ["Ann", "Bob"]}
    page = client.get(f"{BASE}/faces", params={"page": 0, "size": 1}).json()
    assert (page["total_elements"], page["total_pages"], len(page["faces"])) == (2, 2, 1)

    found = client.post(
        f"{BASE}/recognize?&limit=0&prediction_count=2&face_plugins=undefined&status=True",
        files={"file": group},
    )
    faces = found.json()["result"]
    assert found.status_code == 200
    assert len(faces) == 2
    for face in faces:
        assert all(
            isinstance(value, int) for key, value in face["box"].items() if key != "probability"
        )
        assert 1 <= len(face["subjects"]) <= 2
        best = face["subjects"][0]["similarity"]
        assert (best >= 0.5) == (not face["unknown"])
        assert None not in face.values()
        assert "embedding" not in face
    assert found.json()["plugins_versions"]
    plugins = client.post(
        f"{BASE}/recognize?limit=1&face_plugins=landmarks,calculator,pose,mask,age",
        files={"file": group},
    ).json()["result"]
    assert len(plugins) == 1
    assert len(plugins[0]["landmarks"]) == 5
    assert len(plugins[0]["embedding"]) == 128
    assert set(plugins[0]["pose"]) == {"pitch", "roll", "yaw"}
    assert plugins[0]["mask"]["value"] in ("with_mask", "without_mask")

    same = client.post(
        f"{BASE}/faces/{added.json()['image_id']}/verify", files={"file": portraits["Ann"][0]}
    ).json()["result"][0]
    assert same["similarity"] > 0.99
    embedding = plugins[0]["embedding"]
    for path, body, key in (
        ("/recognition/embeddings/recognize", {"embeddings": [embedding]}, "similarities"),
        (f"/recognition/embeddings/faces/{added.json()['image_id']}/verify",
         {"embeddings": [embedding]}, "similarity"),
        ("/verification/embeddings/verify", {"source": embedding, "targets": [embedding]},
         "similarity"),
    ):  # fmt: skip
        said = client.post(f"/api/v1{path}", json=body)
        assert said.status_code == 200, said.text
        assert key in said.json()["result"][0]
    verified = client.post(
        "/api/v1/verification/verify",
        files={"source_image": portraits["Ann"][0], "target_image": group},
    ).json()["result"][0]
    assert set(verified) == {"source_image_face", "face_matches"}
    assert len(verified["face_matches"]) == 2
    assert len(client.post("/api/v1/detection/detect", files={"file": group}).json()["result"]) == 2
    image = client.get(f"{BASE}/faces/{added.json()['image_id']}/img")
    assert (image.status_code, image.content) == (200, b"")

    assert client.put(f"{BASE}/subjects/Bob", json={"subject": "Rob", "x": 1}).json() == {
        "updated": True
    }
    assert client.put(f"{BASE}/subjects/Rob", json={"subject": "Ann"}).json() == {"updated": True}
    assert client.get(f"{BASE}/subjects").json() == {"subjects": ["Ann"]}
    gone = client.delete(f"{BASE}/faces/{bob.json()['image_id']}")
    assert gone.json() == {"image_id": bob.json()["image_id"], "subject": "Ann"}
    assert client.delete(f"{BASE}/faces/{bob.json()['image_id']}").json()["code"] == 11
    many = client.post(f"{BASE}/faces/delete", json=[added.json()["image_id"], "unknown"])
    assert many.json() == [added.json()]
    assert client.get(f"{BASE}/subjects").json() == {"subjects": []}
    client.post(f"{BASE}/faces?subject=Cy", files={"file": portraits["Cleo"][0]})
    assert client.delete(f"{BASE}/faces?subject=Cy").json() == {"deleted": 1}
    client.post(f"{BASE}/subjects", json={"subject": "Dan"})
    assert client.delete(f"{BASE}/subjects").json() == {"deleted": 1}


def test_errors_have_their_numbers(
    client: httpx.Client, portraits: dict[str, list[bytes]], group: bytes, meadow: bytes
) -> None:
    ann = portraits["Ann"][0]
    for path, options, status, number in (
        (f"{BASE}/recognize", {"files": {"file": meadow}}, 400, 28),
        (f"{BASE}/faces?subject=Ann", {"files": {"file": group}}, 400, 31),
        (f"{BASE}/faces", {"files": {"file": ann}}, 400, 33),
        (f"{BASE}/faces?subject=a;b", {"files": {"file": ann}}, 400, 26),
        (f"{BASE}/faces?subject=Ann", {"files": {"other": ann}}, 400, 34),
        (f"{BASE}/recognize", {"files": {"file": b"no picture"}}, 400, 21),
        (f"{BASE}/recognize?limit=x", {"files": {"file": ann}}, 400, 26),
        (f"{BASE}/faces/{uuid.uuid4()}/verify", {"files": {"file": ann}}, 404, 11),
        (f"{BASE}/embeddings/recognize", {"json": {"embeddings": [[1, 2]]}}, 400, 37),
        (f"{BASE}/embeddings/recognize", {"json": {"embeddings": [["x"] * 128]}}, 400, 37),
        (f"{BASE}/subjects", {"content": b"{"}, 400, 36),
        (f"{BASE}/none", {}, 404, 0),
    ):
        said = client.post(path, **options)
        assert (said.status_code, said.json()["code"]) == (status, number), path
        assert said.json()["message"]
    missing = client.put(f"{BASE}/subjects/Nobody", json={"subject": "Somebody"})
    assert (missing.status_code, missing.json()["code"]) == (404, 42)
    with httpx.Client(base_url=str(client.base_url), timeout=PATIENCE) as other:
        assert other.get(f"{BASE}/subjects").json()["code"] == 20
        said = other.get(f"{BASE}/subjects", headers={"x-api-key": str(uuid.uuid4())})
        assert (said.status_code, said.json()["code"]) == (404, 10)


def test_a_face_that_is_nobody_still_has_a_subject(
    client: httpx.Client, portraits: dict[str, list[bytes]], group: bytes
) -> None:
    """Viseron reads the first subject unguarded."""
    empty = client.post(f"{BASE}/recognize", files={"file": group}).json()["result"]
    assert [face["subjects"] for face in empty] == [[], []]
    ann = client.post(f"{BASE}/faces?subject=Ann", files={"file": portraits["Ann"][0]}).json()
    (gallery,) = client.get("/v1/galleries").json()
    said = {"kind": "not-this-person", "face": ann["image_id"], "person": "Ann"}
    made = client.post(f"/v1/galleries/{gallery['name']}/constraints", json=said)
    assert made.status_code == 201
    for count in (1, 3):
        query = f"{BASE}/recognize?prediction_count={count}"
        (face,) = client.post(query, files={"file": portraits["Ann"][0]}).json()["result"]
        assert face["unknown"] is True
        assert face["subjects"][0]["subject"] == "Ann"
        assert face["subjects"][0]["similarity"] < 0.5
    client.delete(f"{BASE}/subjects")


def test_facts_of_the_wire(
    client: httpx.Client, portraits: dict[str, list[bytes]], group: bytes, meadow: bytes
) -> None:
    ann, files = portraits["Ann"][0], {"file": portraits["Ann"][0]}
    prefixed = "data:image/png;base64," + base64.b64encode(ann).decode()
    added = client.post(f"{BASE}/faces/?subject=Ann", json={"file": prefixed})
    assert added.status_code == 201
    image = added.json()["image_id"]
    assert str(uuid.UUID(image)) == image
    # Largest first, as many as asked for; a text instead of a flag; an unknown key of the query.
    found = client.post(f"{BASE}/recognize/?limit=1&status=1&x=y", files={"file": group}).json()
    assert len(found["result"]) == 1
    assert found["result"][0]["execution_time"]["detector"] > 0
    sure = client.post("/api/v1/detection/detect?det_prob_threshold=1", files={"file": group})
    assert (sure.status_code, sure.json()["code"]) == (400, 28)
    for path, options, status, number in (
        ("POST /verification/verify", {"files": {"source_image": group, "target_image": ann}},
         400, 31),
        ("POST /verification/verify", {"files": {"source_image": ann, "target_image": meadow}},
         400, 28),
        ("POST /verification/verify", {"files": {"source_image": ann}}, 400, 34),
        ("POST /recognition/recognize?prediction_count=0", {"files": files}, 404, 400),
        (f"POST /recognition/embeddings/faces/{uuid.uuid4()}/verify",
         {"json": {"embeddings": [[1.0] * 128]}}, 404, 44),
        ("DELETE /recognition/subjects/Nobody", {}, 404, 42),
        ("PATCH /recognition/subjects", {}, 404, 0),
        ("POST /recognition/subjects", {"json": {"subject": "x" * 51}}, 400, 26),
        ("POST /recognition/subjects", {"json": {"subject": " "}}, 400, 26),
        (f"GET /static/short/images/{image}", {}, 400, 26),
        (f"GET /static/{uuid.uuid4()}/images/{image}", {}, 404, 10),
        (f"GET /recognition/faces/{uuid.uuid4()}/img", {}, 404, 11),
    ):  # fmt: skip
        method, _, place = path.partition(" ")
        said = client.request(method, f"/api/v1{place}", **options)
        assert (said.status_code, said.json()["code"]) == (status, number), path
    shown = client.get(f"/api/v1/static/{client.headers['x-api-key']}/images/{image}")
    assert (shown.status_code, shown.content) == (200, b"")
    assert set(client.get("/api/v1/config").json()) == {"clientMaxFileSize", "clientMaxBodySize"}
    assert client.get("/api/v1/consistence/status").json()["status"] == "OK"
    page = client.get(f"{BASE}/faces", params={"page": 7, "subject": "Ann"}).json()
    assert (page["faces"], page["page_number"], page["page_size"]) == ([], 7, 20)
    assert client.get(f"{BASE}/faces", params={"subject": "Nobody"}).json()["total_elements"] == 0
    # With the last example goes the subject.
    assert client.delete(f"{BASE}/faces/{image}").json()["subject"] == "Ann"
    assert client.get(f"{BASE}/subjects").json() == {"subjects": []}
    assert client.delete(f"{BASE}/faces").json() == {"deleted": 0}


def test_deepstack(client: httpx.Client, portraits: dict[str, list[bytes]], group: bytes) -> None:
    key = {"api_key": client.headers["x-api-key"]}
    face = "/v1/vision/face"
    said = client.post(
        f"{face}/register", data={"userid": "Ann", **key}, files={"image": portraits["Ann"][0]}
    )
    assert said.json()["success"]
    found = client.post(f"{face}/recognize", data=key, files={"image": group}).json()
    assert found["success"]
    assert len(found["predictions"]) == 2
    assert set(found["predictions"][0]) == {
        "userid", "confidence", "x_min", "y_min", "x_max", "y_max",
    }  # fmt: skip
    assert client.post(f"{face}/list", data=key).json()["faces"] == ["Ann"]
    assert client.post(f"{face}/delete", data={"userid": "Ann", **key}).json() == {"success": True}
    bad = client.post(f"{face}/recognize", data=key)
    assert (bad.status_code, bad.json()["success"]) == (400, False)
