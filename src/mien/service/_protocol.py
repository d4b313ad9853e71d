"""HTTP from a socket: how long a head may be and may take, and offers to speak something else."""

from __future__ import annotations

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mien.service._settings import Limits

__all__ = ["make_protocol"]

#: Bytes in a row that are neither the end of a head nor part of a body: a head, or trailers.
_HEAD_BYTES = 2**16
#: Requests that a client may send before the first of them is answered.
_MOST_AHEAD = 16


def make_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """The protocol class of a server.

    uvicorn's own on the same parser has no limit on heads, and loses the body of a request that
    offers an upgrade, as Java's client does with every first one (``Upgrade: h2c``).

    Parameters
    ----------
    limits : Limits
        A head must arrive within the time that a body may take.
    """

    class Protocol(HttpToolsProtocol):
        """One connection."""

        parser: Any

        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self._steps = 0
            self._unread = 0
            self._clock: asyncio.TimerHandle | None = None

        # The parser calls these; each is a step forward.

        def on_message_begin(self) -> None:
            if len(self.pipeline) >= _MOST_AHEAD:
                raise ValueError("too many requests ahead")  # answered with 400 by the base
            if self._clock is None:
                self._start_clock()
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._steps += 1
            if not self.parser.should_upgrade():
                self._stop_clock()
                super().on_headers_complete()

        def on_message_complete(self) -> None:
            self._steps += 1
            if not self.parser.should_upgrade():
                super().on_message_complete()

        def on_body(self, body: bytes) -> None:
            self._steps += 1
            super().on_body(body)

        # The transport calls these.

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._start_clock()

        def data_received(self, data: bytes) -> None:
            before = self._steps
            self._unset_keepalive_if_required()
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                self._decline(data[offer.args[0] :])
            except httptools.HttpParserError:
                self.send_400_response("Invalid HTTP request received.")
                return
            self._unread = self._unread + len(data) if self._steps == before else 0
            if self._unread > _HEAD_BYTES:
                self._refuse(b"431 Request Header Fields Too Large")

        def _decline(self, rest: bytes) -> None:
            """Read a request once more, without its offer to go on with another protocol."""
            method, version = self.parser.get_method(), self.parser.get_http_version()
            if method == b"CONNECT":
                self.send_400_response("CONNECT is not offered.")
                return
            lines = [b"%s %s HTTP/%s" % (method, self.url, version.encode("ascii"))]
            lines += [b"%s: %s" % one for one in self.headers if one[0] != b"upgrade"]
            self.parser = httptools.HttpRequestParser(self)
            self.data_received(b"\r\n".join([*lines, b"", rest]))

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_clock()
            super().connection_lost(exc)

        def _start_clock(self) -> None:
            self._clock = self.loop.call_later(limits.body_seconds, self._give_up)

        def _stop_clock(self) -> None:
            if self._clock is not None:
                self._clock.cancel()
                self._clock = None

        def _give_up(self) -> None:
            self._clock = None
            self._refuse(b"408 Request Timeout")

        def _refuse(self, status: bytes) -> None:
            """End the connection; with a word, where no answer is under way."""
            if self.transport.is_closing():
                return
            if self.cycle is None or self.cycle.response_complete:
                self.transport.write(
                    b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                )
            self.transport.close()

    return Protocol
