"""Listen: on loopback unless there is a key."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
import warnings
import webbrowser
from collections.abc import Callable
from contextlib import suppress

from mien._core.validation import require_module
from mien.errors import InputError
from mien.service._settings import Settings, is_loopback

__all__ = ["make_link", "serve"]

_MOST_TRIES, _PAUSE = 300, 0.2


def make_link(settings: Settings) -> str:
    """The address of the page with a token that signs in once, within an hour.

    Parameters
    ----------
    settings : Settings
        Of the server; it need not run yet.
    """
    from mien.service._sessions import SessionStore
    from mien.service._state import open_state

    state = open_state(settings.state)
    try:
        token = SessionStore(state).make_link()
    finally:
        state.close()
    scheme = "https" if settings.certificate else "http"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    if settings.host in ("0.0.0.0", "::"):
        host = "127.0.0.1"
    return f"{scheme}://{host}:{settings.port}/#link={token}"


def serve(
    settings: Settings,
    *,
    page: str | None = None,
    tell: Callable[[], None] | None = None,
    log_requests: bool = False,
) -> None:
    """Run a server until it is told to stop; accepted writes are finished first.

    Parameters
    ----------
    settings : Settings
        Where to listen and what to serve. An address that is not loopback needs at least one
        valid key.
    page : str or None
        What to open in the browser as soon as the server answers, as :func:`make_link` gives it.
    tell : callable or None
        Called when nothing stands in the way any more, before the server starts.
    log_requests : bool
        Whether to write a line per request to the standard error stream. Lines are JSON, also
        those of warnings and errors; an application that sets up the logger ``mien.service``
        itself decides on its own.
    """
    uvicorn = require_module("uvicorn", "service", "mien serve")
    require_module("fastapi", "service", "mien serve")
    require_module("httptools", "service", "mien serve")
    from mien.gallery import Gallery, has_gallery
    from mien.service._app import create_app
    from mien.service._keys import KeyStore
    from mien.service._protocol import make_protocol
    from mien.service._state import open_state

    if not has_gallery(settings.galleries):
        from mien.recognition import load_model

        model = load_model(None, settings.engine)
        Gallery.create(settings.galleries, model, key=settings.secret_key).close()
    if not is_loopback(settings.host):
        state = open_state(settings.state)
        try:
            if not KeyStore(state).any_valid():
                raise InputError(
                    f"to listen on {settings.host} a key is needed: make one with "
                    "`mien keys create admin`, or listen on 127.0.0.1"
                )
        finally:
            state.close()
    _check_address(settings)
    app = create_app(settings)
    if tell is not None:
        tell()
    if page is not None:
        threading.Thread(target=_open_page, args=(page, settings.port), daemon=True).start()
    # What a warning says may hold a name: only its kind is logged.
    log = logging.getLogger("mien.service")
    if not log.handlers:
        _write_lines(log, logging.INFO if log_requests else logging.WARNING)
    warnings.showwarning = lambda _, kind, *__: log.warning("warning: %s", kind.__name__)
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        http=make_protocol(settings.limits),
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.private_key,
        proxy_headers=False,
        timeout_graceful_shutdown=30,
        timeout_keep_alive=30,
        limit_concurrency=None,
    )


class _Lines(logging.Formatter):
    """Every line is JSON; a request's is already."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, with its time."""
        text = record.getMessage()
        if record.levelno != logging.INFO or not text.startswith("{"):
            text = json.dumps({"level": record.levelname.lower(), "message": text})
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        return f'{{"time": "{now}", {text[1:]}'


def _write_lines(log: logging.Logger, level: int) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines())
    log.addHandler(handler)
    log.setLevel(level)
    log.propagate = False


def _check_address(settings: Settings) -> None:
    """Say in one sentence that somebody else listens there, before workers are started."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise InputError(
                f"cannot listen on {settings.host}, port {settings.port} "
                f"({error.strerror or error}): choose another with --port or --host"
            ) from error


def _open_page(link: str, port: int) -> None:
    """Wait until something listens, and open the page in the browser."""
    host = link.partition("://")[2].rpartition(":")[0].strip("[]")
    for _ in range(_MOST_TRIES):
        with suppress(OSError), socket.create_connection((host, port), timeout=1):
            webbrowser.open(link)
            return
        time.sleep(_PAUSE)
