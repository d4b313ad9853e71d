"""The real clients of CompreFace, every call of both, against a running server.

``make clients`` installs them into ``.clients``; without it these tests are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service.conftest import PATIENCE, Server

pytestmark = pytest.mark.xdist_group("service")
HERE = Path(__file__).parent / "clients"
CLIENTS = Path(os.environ.get("MIEN_CLIENTS", Path(__file__).parents[2] / ".clients"))


@pytest.fixture
def key(server: Server) -> Iterator[str]:
    """A key of a new gallery."""
    with server.client() as admin:
        name = f"sdk{uuid.uuid4().hex[:10]}"
        assert admin.post("/v1/galleries", json={"name": name}).status_code == 201
        boss = admin.post("/v1/keys", json={"role": "admin"}).json()
        admin.headers["x-api-key"] = boss["key"]
        made = admin.post("/v1/keys", json={"role": "write", "gallery": name}).json()
        yield made["key"]
        admin.delete(f"/v1/keys/{made['id']}")
        admin.delete(f"/v1/keys/{boss['id']}")


@pytest.fixture
def folder(tmp_path: Path, portraits: dict[str, list[bytes]], group: bytes) -> Path:
    for name, content in (
        ("ann", portraits["Ann"][0]), ("bob", portraits["Bob"][0]), ("group", group),
    ):  # fmt: skip
        (tmp_path / f"{name}.png").write_bytes(content)
    return tmp_path


def check(said: dict[str, Any]) -> None:
    """What both clients were answered."""
    assert said["subjects.add"] == {"subject": "Ann"}
    assert set(said["faces.add"]) == {"image_id", "subject"}
    assert len(said["faces.list"]["faces"]) == 2
    assert said["subjects.list"] == {"subjects": ["Ann", "Bob"]}
    assert len(said["recognize"]["result"]) == 2
    for face in said["recognize"]["result"]:
        assert 0 <= face["subjects"][0]["similarity"] <= 1
        assert len(face["embedding"]) == 128
    assert said["faces.verify"]["result"][0]["similarity"] > 0.99
    assert len(said["detect"]["result"]) == 2
    assert len(said["verify"]["result"][0]["face_matches"]) == 2
    assert said["subjects.delete"] == {"subject": "Cy"}


def run(command: list[str], cwd: Path) -> dict[str, Any]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return said


def test_the_python_sdk(server: Server, key: str, folder: Path) -> None:
    python = CLIENTS / "python" / "bin" / "python"
    if not python.exists():
        pytest.skip("compreface-sdk is not installed: run make clients")
    said = run(
        [str(python), str(HERE / "call_python_sdk.py"), str(server.port), key, str(folder)], folder
    )
    check(said)
    assert said["subjects.add twice"]["code"] == 43
    assert said["faces.add bytes"]["subject"] == "Bob"
    assert said["subjects.update"] == {"updated": True}
    assert said["faces.delete"] == said["faces.add"]
    assert said["faces.delete_all"] == {"deleted": 1}
    assert said["subjects.delete_all"] == {"deleted": 0}


def test_the_node_sdk(server: Server, key: str, folder: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    if not (CLIENTS / "node_modules" / "@exadel").exists():
        pytest.skip("@exadel/compreface-js-sdk is not installed: run make clients")
    script = [node, str(HERE / "call_node_sdk.mjs"), str(server.port), key, str(folder)]
    said = run(script, CLIENTS)
    check(said)
    assert (said["subjects.add twice"]["failed"], said["subjects.add twice"]["data"]["code"]) == (
        400,
        43,
    )
    assert said["faces.add base64"]["subject"] == "Bob"
    assert len(said["recognize base64"]["result"]) == 1
    assert len(said["verify base64"]["result"][0]["face_matches"]) == 2
    assert said["subjects.rename"] == {"updated": True}
    assert said["faces.delete_multiple"] == [said["faces.add"]]
    assert said["faces.delete_all_subject"] == {"deleted": 1}
    assert said["faces.delete_all"] == {"deleted": 0}
    assert said["subjects.deleteAll"] == {"deleted": 0}
