"""Where events go: to listeners of a gallery, to the webhook, to MQTT."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from mien.service._settings import Settings

__all__ = ["Events"]

_MOST_WAITING = 100


class Events:
    """Events of all galleries of a server.

    Parameters
    ----------
    settings : Settings
        With the webhook and the broker, if there are any.
    """

    def __init__(self, settings: Settings) -> None:
        self._listeners: dict[str, set[asyncio.Queue[dict[str, Any]]]] = {}
        self._sinks: list[Any] = []
        if settings.webhook is not None:
            from mien.service._webhooks import Webhook

            self._sinks.append(Webhook(settings.webhook, settings.webhook_secret or ""))
        if settings.mqtt is not None:
            from mien.service._mqtt import MqttPublisher

            self._sinks.append(MqttPublisher(settings.mqtt, prefix=settings.mqtt_prefix))

    def send(self, gallery: str, event: dict[str, Any]) -> None:
        """Send to all listeners; slow ones lose the oldest events."""
        told = {"gallery": gallery, **event}
        for waiting in tuple(self._listeners.get(gallery, ())):
            if waiting.full():
                waiting.get_nowait()
            waiting.put_nowait(told)
        for sink in self._sinks:
            sink.send(told)

    def begin(self, camera: str) -> None:
        """A camera begins, with nobody in front of it."""
        for sink in self._sinks:
            sink.begin(camera)

    async def follow(self, gallery: str) -> AsyncIterator[dict[str, Any]]:
        """Events of a gallery from now on."""
        waiting: asyncio.Queue[dict[str, Any]] = asyncio.Queue(_MOST_WAITING)
        self._listeners.setdefault(gallery, set()).add(waiting)
        try:
            while True:
                yield await waiting.get()
        finally:
            listeners = self._listeners[gallery]
            listeners.discard(waiting)
            if not listeners:
                del self._listeners[gallery]

    async def close(self) -> None:
        """Let the webhook and the broker go, after a few seconds for what waits."""
        for sink in self._sinks:
            with contextlib.suppress(Exception):  # a broker that is gone ends no server
                await asyncio.to_thread(sink.close, 5.0)
