"""Sessions of the page: one-time links, cookies, the token of writes, keys that end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from tests.extras import skip_without
from tests.service.conftest import Server, free_port

pytestmark = pytest.mark.xdist_group("service")


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that needs a key, because there is one."""
    skip_without("service", "faces")
    from mien.service import KeyStore, open_state

    made = Server(tmp_path_factory.mktemp("locked"), free_port())
    state = open_state(made.folder / "state")
    made.key, _ = KeyStore(state).create("write")  # type: ignore[attr-defined]
    state.close()
    made.start()
    yield made
    made.stop()


def make_link(server: Server) -> str:
    from mien.service import Settings, make_link

    place = server.folder
    link = make_link(Settings(place / "galleries", place / "state", port=server.port))
    assert link.startswith(f"{server.url}/#link=")
    return link.partition("#link=")[2]


def test_the_page_and_its_policy(locked: Server) -> None:
    with locked.client() as client:
        _check_page(client)


def _check_page(client: httpx.Client) -> None:
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    policy = page.headers["content-security-policy"]
    assert "script-src 'self' 'sha256-" in policy
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy
    script = client.get("/page/app.js")
    assert script.headers["content-type"].startswith("text/javascript")
    again = client.get("/page/app.js", headers={"if-none-match": script.headers["etag"]})
    assert again.status_code == 304
    for path in ("/page/../_keys.py", "/page/%2e%2e/_keys.py", "/page/vendor/LICENSE-htm.txt"):
        assert client.get(path).status_code == 404


def test_a_link_opens_one_session_once(locked: Server) -> None:
    link = make_link(locked)
    with locked.client() as page:
        assert page.get("/v1/session").status_code == 401
        said = page.post("/v1/session", json={"link": link})
        assert said.json()["role"] == "admin"
        cookie = said.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert page.get("/v1/session").json() == said.json()
        assert page.get("/v1/galleries").status_code == 200

        wanted = {"name": "of-the-page"}
        assert page.post("/v1/galleries", json=wanted).json()["code"] == "csrf"
        wrong = {"x-csrf-token": "no"}
        assert page.post("/v1/galleries", json=wanted, headers=wrong).json()["code"] == "csrf"
        right = {"x-csrf-token": said.json()["csrf"]}
        assert page.post("/v1/galleries", json=wanted, headers=right).status_code == 201
        assert page.delete("/v1/galleries/of-the-page", headers=right).status_code == 204

        assert page.delete("/v1/session", headers=right).status_code == 204
        assert page.get("/v1/galleries").status_code == 401
    with locked.client() as other:
        for word in (link, "x"):
            assert other.post("/v1/session", json={"link": word}).status_code == 401


@pytest.mark.needs("service")
def test_the_cookie_is_secure_behind_a_proxy_that_speaks_tls(tmp_path: Path) -> None:
    from starlette.requests import Request

    from mien.service import Settings
    from mien.service._access import is_secure

    def ask(address: str, proto: str, trusted: tuple[str, ...]) -> bool:
        settings = Settings(tmp_path, tmp_path, trusted_proxies=trusted)
        app = SimpleNamespace(state=SimpleNamespace(backend=SimpleNamespace(settings=settings)))
        headers = [(b"x-forwarded-proto", proto.encode())]
        scope = {"type": "http", "app": app, "client": (address, 1), "headers": headers}
        return is_secure(Request(scope))

    assert ask("10.0.0.1", "https", ("10.0.0.1",))
    assert not ask("10.0.0.1", "http", ("10.0.0.1",))
    assert not ask("10.0.0.2", "https", ("10.0.0.1",))


def test_a_session_of_a_key_ends_with_the_key(locked: Server) -> None:
    from mien.service import KeyStore, open_state

    state = open_state(locked.folder / "state")
    keys = KeyStore(state)
    key, record = keys.create("read")
    with locked.client() as page:
        assert page.post("/v1/session", json={"key": key}).json()["role"] == "read"
        said = page.get("/v1/session").json()
        refused = page.post(
            "/v1/keys", json={"role": "admin"}, headers={"x-csrf-token": said["csrf"]}
        )
        assert refused.status_code == 403
        keys.revoke(record.id)
        assert page.get("/v1/session").status_code == 401
    state.close()


def test_programs_still_use_keys(locked: Server) -> None:
    key = locked.key  # type: ignore[attr-defined]
    with locked.client(headers={"x-api-key": key}) as program:
        assert program.get("/v1/galleries").status_code == 200


def test_a_link_is_kept_as_a_digest(locked: Server) -> None:
    token = make_link(locked)
    content = b"".join(
        Path(path).read_bytes() for path in (locked.folder / "state").glob("service.sqlite*")
    )
    assert token.encode() not in content
