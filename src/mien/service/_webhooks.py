"""Events to an address of the operator: signed by HMAC, sent again with growing pauses."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.client
import json
import logging
import queue
import ssl
import threading
import time
import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from mien.errors import InputError

__all__ = ["Webhook", "check_webhook", "sign_webhook"]

log = logging.getLogger("mien.service")
_SHORTEST_SECRET = 16
_AGAIN = (408, 425, 429)
_LONGEST_WAIT = 300.0


def sign_webhook(secret: str, identifier: str, timestamp: int, body: bytes) -> str:
    """The header ``webhook-signature`` of a message, as Standard Webhooks define it."""
    content = f"{identifier}.{timestamp}.".encode() + body
    digest = hmac.new(secret.encode(), content, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def check_webhook(
    secret: str, headers: Mapping[str, str], body: bytes, *, tolerance: float = 300.0
) -> bool:
    """Whether a message that arrived is from who knows the secret, and is not an old one.

    Parameters
    ----------
    secret : str
        As the sender has it.
    headers : mapping
        ``webhook-id``, ``webhook-timestamp`` and ``webhook-signature``, by their names in lower
        case.
    body : bytes
        As it arrived.
    tolerance : float
        Maximum age in seconds.
    """
    named = {name.lower(): value for name, value in headers.items()}
    try:
        identifier, timestamp = named["webhook-id"], int(named["webhook-timestamp"])
        given = named["webhook-signature"].split()
    except (KeyError, ValueError):
        return False
    expected = sign_webhook(secret, identifier, timestamp, body)
    right = any(hmac.compare_digest(one.encode(), expected.encode()) for one in given)
    return right and abs(time.time() - timestamp) <= tolerance


class Webhook:
    """Posts events to one address, one after the other, from a separate thread.

    Parameters
    ----------
    url : str
        ``https://…``, or ``http://…`` inside a house.
    secret : str
        Shared with the receiver; at least 16 characters.
    attempts : int
        How often a message is tried; after that it is given up and counted.
    first_wait : float
        Seconds before the second attempt; each further pause is twice as long, up to 5 minutes.
    timeout : float
        Seconds to wait for an answer.
    waiting : int
        Messages that may wait; the oldest is given up for a new one.

    Notes
    -----
    A message has the same ``webhook-id`` in all attempts, so that a receiver can leave out what
    it has had already. Redirections are not followed.
    """

    def __init__(
        self,
        url: str,
        secret: str,
        *,
        attempts: int = 8,
        first_wait: float = 1.0,
        timeout: float = 10.0,
        waiting: int = 1000,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError("a webhook must be an address such as https://example.org/hook")
        if len(secret) < _SHORTEST_SECRET:
            raise InputError(
                f"the secret of a webhook must have at least {_SHORTEST_SECRET} characters"
            )
        self._parts = parts
        self._secret = secret
        self._attempts = attempts
        self._first_wait = first_wait
        self._timeout = timeout
        self._queue: queue.Queue[tuple[str, bytes] | None] = queue.Queue(waiting)
        self._ended = threading.Event()
        self.delivered = 0
        self.given_up = 0
        self._thread = threading.Thread(target=self._work, name="mien-webhook", daemon=True)
        self._thread.start()

    def begin(self, camera: str) -> None:
        """Nothing is posted when a camera begins."""

    def send(self, event: dict[str, Any]) -> None:
        """Take an event to be posted; never waits."""
        message = (f"msg_{uuid.uuid4().hex}", json.dumps(event).encode())
        self._put(message)

    def _put(self, message: tuple[str, bytes] | None) -> None:
        """Never waits: where the queue is full, the oldest message is given up."""
        while True:
            try:
                self._queue.put_nowait(message)
                return
            except queue.Full:
                with contextlib.suppress(queue.Empty):  # the thread may have taken it just now
                    self._queue.get_nowait()
                    self.given_up += 1

    def close(self, seconds: float = 10.0) -> int:
        """Post what waits, for at most this long; gives how many messages were given up."""
        self._put(None)
        self._thread.join(seconds)
        self._ended.set()
        self._thread.join(self._timeout + 1)
        return self.given_up

    def _work(self) -> None:
        while (message := self._queue.get()) is not None:
            if not self._ended.is_set() and self._deliver(*message):
                self.delivered += 1
            else:
                self.given_up += 1
                log.warning("webhook: a message was given up after %d attempts", self._attempts)

    def _deliver(self, identifier: str, body: bytes) -> bool:
        wait = self._first_wait
        for attempt in range(self._attempts):
            if attempt and self._ended.wait(wait):
                return False
            wait = min(2 * wait, _LONGEST_WAIT)
            try:
                status = self._post(identifier, body)
            except (OSError, http.client.HTTPException):
                continue
            if 200 <= status < 300:
                return True
            if status < 500 and status not in _AGAIN:
                return False  # the receiver does not want it
        return False

    def _post(self, identifier: str, body: bytes) -> int:
        timestamp = int(time.time())
        headers = {
            "content-type": "application/json",
            "webhook-id": identifier,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": sign_webhook(self._secret, identifier, timestamp, body),
        }
        host = self._parts.hostname or ""
        connection: http.client.HTTPConnection
        if self._parts.scheme == "https":
            connection = http.client.HTTPSConnection(
                host, self._parts.port, timeout=self._timeout, context=ssl.create_default_context()
            )
        else:
            connection = http.client.HTTPConnection(host, self._parts.port, timeout=self._timeout)
        try:
            path = (self._parts.path or "/") + (
                f"?{self._parts.query}" if self._parts.query else ""
            )
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            answer.read(2**16)
            return answer.status
        finally:
            connection.close()
