"""Two servers over one gallery in PostgreSQL: what one enrols, the other knows at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.postgres import PostgresServer
from tests.extras import skip_without
from tests.service.conftest import PEOPLE, Server, free_port

pytestmark = pytest.mark.xdist_group("service")


def test_two_servers_share_one_gallery(
    database: PostgresServer, portraits: dict[str, list[bytes]], tmp_path: Path
) -> None:
    skip_without("service", "faces")
    address = f"{database.address}&gallery=shared"
    servers = [Server(tmp_path / f"{i}", free_port(), gallery=address) for i in range(2)]
    try:
        for server in servers:
            server.start()
        one, other = (s.client() for s in servers)
        with one, other:
            for k, person in enumerate(PEOPLE):
                # By turns on either server, and named by the one that did not enrol.
                first, second = (one, other) if k % 2 == 0 else (other, one)
                files = [("file", (f"{i}.png", x)) for i, x in enumerate(portraits[person][:2])]
                said = first.post(
                    "/v1/galleries/shared/enrol", params={"person": person}, files=files
                )
                assert said.status_code == 200, said.text
                said = second.post(
                    "/v1/galleries/shared/identify",
                    params={"fpir": 0.5},
                    files=[("file", ("again.png", portraits[person][0]))],
                )
                assert said.status_code == 200, said.text
                (face,) = said.json()[0]["faces"]
                assert face["candidates"][0][0] == person
            # A server that was killed takes nothing with it, and is not needed.
            servers[0].stop(kill=True)
            names = {p["name"] for p in other.get("/v1/galleries/shared/people").json()["people"]}
            assert names == set(PEOPLE)
    finally:
        for server in servers:
            server.stop(kill=True)
