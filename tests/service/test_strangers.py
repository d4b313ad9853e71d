"""What strangers send: requests made from the OpenAPI document, other tenants, mutated bodies.

The whole of it are commands: ``python -m benchmarks.cross_tenants`` (10,000 requests),
``python -m benchmarks.fuzz_service`` and ``python -m benchmarks.kill_service`` (100 kills).
"""

from __future__ import annotations

import uuid
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.extras import skip_without
from tests.service.conftest import PATIENCE, Server, free_port

pytestmark = [pytest.mark.xdist_group("service"), pytest.mark.needs("service")]
_ENDLESS = "(server-sent events)"


def test_nothing_crosses_from_tenant_to_tenant(server: Server) -> None:
    from benchmarks import cross_tenants

    statuses = cross_tenants.run(300, server, seed=uuid.uuid4().int % 10**6)
    assert statuses[404] > 30


def test_mutated_bodies_are_answered(server: Server) -> None:
    from benchmarks import fuzz_service

    statuses = fuzz_service.run(80, server)
    assert 200 in statuses
    assert statuses.get(422, 0) + statuses.get(400, 0) > 20


def test_killed_under_enrolling_clients(tmp_path: Path) -> None:
    """Three kills here."""
    skip_without("faces")
    from benchmarks import kill_service

    found = kill_service.run(3, tmp_path / "server", longest=1.0)
    assert found["faces"] > 0


def test_a_full_disk_is_said_and_loses_nothing(
    tmp_path: Path, portraits: dict[str, list[bytes]]
) -> None:
    """No file may grow: the answer is 507, what was confirmed is there, reading works."""
    skip_without("faces")
    pytest.importorskip("resource")
    server = Server(tmp_path / "server", free_port())
    server.start()
    try:
        with server.client() as client:
            client.post("/v1/galleries", json={"name": "g"}).raise_for_status()
        server.stop()
        place = server.folder / "galleries" / "g.gallery"
        server.file_bytes = place.stat().st_size + 40_000
        server.start()
        confirmed = []
        with server.client() as client:
            for k in range(400):
                said = client.post("/v1/galleries/g/people", json={"name": f"{k} " + "n" * 180})
                if said.status_code != 201:
                    break
                confirmed.append(said.json()["name"])
            assert said.status_code == 507, said.text
            assert said.json()["code"] == "no-room"
            found = client.post("/v1/galleries/g/identify", files={"f": portraits["Ann"][0]})
            assert found.status_code == 200
        server.stop()
        server.file_bytes = 0
        server.start()
        with server.client() as client:
            listed = client.get("/v1/galleries/g/people?limit=1000").json()
        assert set(confirmed) <= {one["name"] for one in listed["people"]}
    finally:
        server.stop(kill=True)


def test_requests_made_from_the_document_end_no_server(server: Server) -> None:
    """Schemathesis: no 500, whatever the document allows."""
    schemathesis = pytest.importorskip("schemathesis")
    hypothesis = pytest.importorskip("hypothesis")
    with server.client() as admin:
        name = f"s{uuid.uuid4().hex[:8]}"
        admin.post("/v1/galleries", json={"name": name}).raise_for_status()
        admin.post(f"/v1/galleries/{name}/people", json={"name": "Ann"}).raise_for_status()
        master = admin.post("/v1/keys", json={"role": "admin"}).json()
        headers = {"x-api-key": master["key"]}
        admin.headers.update(headers)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                document = schemathesis.openapi.from_dict(admin.get("/openapi.json").json())
                for found in document.get_all_operations():
                    operation = found.ok()
                    if _ENDLESS not in operation.definition.raw.get("summary", ""):
                        _send(hypothesis, operation, server.url, headers, name)
            assert admin.get(f"/v1/galleries/{name}/people").status_code in (200, 404)
        finally:
            kept = [one for one in admin.get("/v1/keys").json() if one["revoked"] is None]
            for one in sorted(kept, key=lambda one: one["id"] == master["id"]):
                admin.delete(f"/v1/keys/{one['id']}")


def _send(hypothesis: Any, operation: Any, url: str, headers: dict[str, str], name: str) -> None:
    """A few requests of one operation, most of them to a gallery that is there."""

    @hypothesis.settings(
        max_examples=4,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy(), known=hypothesis.strategies.booleans())
    def send(case: Any, known: bool) -> None:
        if known and "gallery" in (case.path_parameters or {}):
            case.path_parameters["gallery"] = name
        said = case.call(base_url=url, headers=headers, timeout=PATIENCE)
        assert said.status_code < 500 or said.status_code in (501, 503), (
            operation.label,
            said.status_code,
            said.text[:300],
        )

    send()
