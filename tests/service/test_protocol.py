"""HTTP written by hand: long and slow heads, trailers, offers of other protocols, many at once."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.service.conftest import PATIENCE, Server

pytestmark = [pytest.mark.xdist_group("service"), pytest.mark.needs("service")]

_GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def _speak(server: Server, pieces: Iterable[bytes]) -> tuple[bytes, int]:
    """All that is answered until the server hangs up, and how many bytes it took before."""
    said, sent = b"", 0
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as opened:
        # Whoever hangs up while there is more to read resets the connection.
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            for piece in pieces:
                opened.sendall(piece)
                sent += len(piece)
        with contextlib.suppress(ConnectionResetError):
            while got := opened.recv(2**16):
                said += got
    return said, sent


def _statuses(said: bytes) -> list[int]:
    return [int(part[:3]) for part in said.split(b"HTTP/1.1 ")[1:]]


def test_requests_one_after_the_other_on_one_connection(server: Server) -> None:
    last = _GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert _statuses(_speak(server, [_GET * 5 + last])[0]) == [200] * 6
    # A head may come in any pieces.
    assert _statuses(_speak(server, [bytes([one]) for one in last])[0]) == [200]


@pytest.mark.parametrize(
    "offer",
    [
        b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n",
        b"Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
    ],
)
def test_an_offer_to_speak_something_else_costs_no_body(
    server: Server, portraits: dict[str, list[bytes]], offer: bytes
) -> None:
    picture = portraits["Ann"][0]
    asked = (
        b"POST /v1/analyse HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n"
        + offer
        + b"Content-Length: %d\r\n\r\n" % len(picture)
        + picture
    )
    last = _GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    for pieces in ([asked + last], [asked[:300], asked[300:], last]):
        said, _ = _speak(server, pieces)
        assert _statuses(said) == [200, 200]
        assert b'"faces":[{' in said


def _endless(piece: bytes, first: bytes) -> Iterable[bytes]:
    yield first
    for _ in range(10_000):
        yield piece


@pytest.mark.parametrize(
    "piece",
    [b"x" * 1000, b"X-Header: of many\r\n" * 50],
    ids=["one header", "many headers"],
)
@pytest.mark.parametrize("where", ["head", "trailers", "target"])
def test_heads_and_trailers_end(server: Server, piece: bytes, where: str) -> None:
    first = {
        "head": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ",
        "trailers": b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Long: ",
        "target": b"GET /",
    }[where]
    said, sent = _speak(server, _endless(piece, first))
    # What the two ends of the socket hold besides is a few MiB.
    assert sent < 9_000_000
    assert _statuses(said) in ([], [400], [431])
    with server.client() as client:
        assert client.get("/healthz").status_code == 200


def test_nobody_asks_for_thousands_of_things_at_once(server: Server) -> None:
    said, _ = _speak(server, [_GET * 5000])
    assert len(_statuses(said)) < 100


@pytest.mark.parametrize("line", [b"CONNECT example.org:443 HTTP/1.1", b"\x16\x03\x01", b"GET"])
def test_what_is_no_request_is_refused(server: Server, line: bytes) -> None:
    said, _ = _speak(server, [line + b"\r\nHost: localhost\r\n\r\n"])
    assert _statuses(said) == [400]


def test_a_slow_head_is_given_up(own_server: Server) -> None:
    own_server.options = ("body_seconds=5",)
    own_server.start()
    # The last one has been answered once on its connection.
    begun = [b"", b"GET /healthz HTTP/1.1\r\nHost: loc", _GET + b"GET /"]
    with ThreadPoolExecutor(3) as pool:
        said = pool.map(lambda piece: _speak(own_server, [piece])[0], begun)
    assert [_statuses(one) for one in said] == [[408], [408], [200, 408]]
