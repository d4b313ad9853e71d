"""Listen: on loopback unless there is a key."""

from __future__ import annotations

from mien._core.validation import require
from mien.errors import InputError
from mien.service._settings import Settings, is_loopback

__all__ = ["serve"]


def serve(settings: Settings) -> None:
    """Run a server until it is told to stop; accepted writes are finished first.

    Parameters
    ----------
    settings : Settings
        Where to listen and what to serve. An address that is not loopback needs at least one
        valid key.
    """
    uvicorn = require("uvicorn", "service", "mien serve")
    require("fastapi", "service", "mien serve")
    from mien.service._app import create_app
    from mien.service._keys import KeyStore
    from mien.service._state import open_state

    if not settings.galleries.exists():
        from mien.gallery import Gallery
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
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
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
