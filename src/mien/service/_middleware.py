"""What every request passes: an id, limits on its size and rate, headers, a line in the log."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from fastapi import Request, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mien.service._problems import Problem, problem_of
from mien.service._settings import Limits

__all__ = ["Guard", "Metrics", "RateLimit", "brings_archive", "log"]

AnswerProblem = Callable[[Request, Problem], Response]
log = logging.getLogger("mien.service")

#: Bodies of these requests are written to the disk as they come.
_ARCHIVES = re.compile(r"/v1/galleries/[^/]+/jobs/?")
_SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"content-security-policy": (
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}


def brings_archive(scope: Scope) -> bool:
    """Whether a request is one whose body may be larger than memory should hold."""
    return scope["method"] == "POST" and _ARCHIVES.fullmatch(scope["path"]) is not None


class Metrics:
    """Numbers for Prometheus; labels are routes and statuses, never names or addresses."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "mien_requests", "Requests answered.", ["route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "mien_request_seconds", "Time per request.", ["route"], registry=self.registry
        )
        self.faces = Counter("mien_faces", "Faces found.", registry=self.registry)
        self.named = Counter("mien_named", "Faces that got a name.", registry=self.registry)
        self.waiting = Gauge("mien_waiting", "Pictures that wait.", registry=self.registry)
        self.workers_ended = Gauge(
            "mien_workers_ended", "Workers that ended and were replaced.", registry=self.registry
        )


class RateLimit:
    """A bucket per client that fills with time; the oldest clients are forgotten first."""

    def __init__(self, per_minute: int, *, n_clients: int = 10_000) -> None:
        self._rate = per_minute / 60
        self._size = max(1.0, per_minute / 6)
        self._n_clients = n_clients
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str, now: float | None = None) -> float:
        """Seconds to wait; 0 lets the request pass."""
        now = time.monotonic() if now is None else now
        level, before = self._buckets.pop(client, (self._size, now))
        level = min(self._size, level + (now - before) * self._rate)
        wait = 0.0 if level >= 1 else (1 - level) / self._rate
        self._buckets[client] = (level - 1 if wait == 0 else level, now)
        while len(self._buckets) > self._n_clients:
            self._buckets.popitem(last=False)
        return wait


class Guard:
    """The outermost layer: ids, size limits before memory is taken, headers, logs, metrics."""

    def __init__(
        self, app: ASGIApp, limits: Limits, metrics: Metrics, answer: AnswerProblem
    ) -> None:
        self._app = app
        self._answer = answer
        self._limits = limits
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"").decode("latin-1")
        request_id = given if _SAFE_ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        started = time.perf_counter()
        status = 500
        started_answer = False

        async def send_with_headers(message: Message) -> None:
            nonlocal status, started_answer
            if message["type"] == "http.response.start":
                started_answer = True
                status = message["status"]
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *((n, v) for n, v in _HEADERS.items() if n not in present),
                    (b"x-request-id", request_id.encode("ascii")),
                ]
            await send(message)

        taken = 0
        complete = False
        streamed = brings_archive(scope)
        most = self._limits.archive_bytes if streamed else self._limits.body_bytes
        until = asyncio.get_running_loop().time() + self._limits.body_seconds

        async def receive_counted() -> Message:
            nonlocal taken, complete, until
            if complete:  # from here on it is asked whether the client has gone
                return await receive()
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                raise _TooSlow from None
            taken += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if taken > most:
                raise _TooLarge
            if streamed:
                until = asyncio.get_running_loop().time() + self._limits.body_seconds
            return message

        try:
            length = headers.get(b"content-length", b"0")
            if length.isdigit() and int(length) > most:
                raise _TooLarge
            await self._app(scope, receive_counted, send_with_headers)
        except Exception as error:
            if started_answer:
                raise
            if isinstance(error, _TooLarge):
                problem = Problem(
                    413,
                    "body-too-large",
                    f"A request may have at most {most:,} bytes.",
                    headers={"Connection": "close"},
                )
            elif isinstance(error, _TooSlow):
                problem = Problem(
                    408,
                    "body-too-slow",
                    f"A request must arrive within {self._limits.body_seconds:g} seconds.",
                    headers={"Connection": "close"},
                )
            else:
                # The message may hold a name or a part of a template: only its kind is logged.
                log.error("request %s: %s", request_id, type(error).__name__)
                problem = problem_of(error)
            request = Request(scope)
            await self._answer(request, problem)(scope, receive, send_with_headers)
        finally:
            self._note(scope, status, time.perf_counter() - started, request_id)

    def _note(self, scope: Scope, status: int, seconds: float, request_id: str) -> None:
        """One line per request: the route's pattern, never its path, which may hold a name."""
        route = getattr(scope.get("route"), "path", "unmatched")
        self._metrics.requests.labels(route, str(status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        if not log.isEnabledFor(logging.INFO):
            return
        line: dict[str, Any] = {
            "request": request_id,
            "method": scope["method"],
            "route": route,
            "status": status,
            "milliseconds": round(1000 * seconds, 1),
        }
        log.info(json.dumps(line))


class _TooSlow(Exception):
    """The body did not arrive in time."""


class _TooLarge(Exception):
    """More bytes came than a request may have."""
