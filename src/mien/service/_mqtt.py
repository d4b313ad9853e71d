"""Events over MQTT, as Frigate publishes them and as Home Assistant finds them by itself.

Topics, for the prefix ``mien`` and a camera ``door``:

==================================  ============================================================
``mien/available``                  ``online`` or ``offline``
``mien/events``                     ``{"type": "new" | "end", "before": …, "after": …}``
``mien/tracked_object_update``      ``{"type": "face", "name": …, "score": …, "camera": …}``
``mien/door/person``                how many people are there
``mien/door/last_person``           who came last, with attributes
``homeassistant/…/config``          what Home Assistant makes its entities of
==================================  ============================================================
"""

from __future__ import annotations

import json
import re
import ssl
import threading
from typing import Any
from urllib.parse import unquote, urlsplit

from mien._core.validation import require_module
from mien.errors import InputError

__all__ = ["MqttPublisher"]

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_QOS = 1
_MOST_WAITING = 1000


def topic_name(text: str) -> str:
    """A name as a part of a topic: letters, digits, ``_`` and ``-``."""
    return _UNSAFE.sub("_", text).strip("_") or "camera"


class MqttPublisher:
    """Publishes events to a broker; connects in the background and again when it is lost.

    Parameters
    ----------
    url : str
        ``mqtt://user:password@broker:1883``, or ``mqtts://…`` with TLS.
    prefix : str
        First part of the topics; ``frigate`` serves automations that were written for Frigate.
    discovery : str or None
        Prefix under which Home Assistant looks for new devices; None publishes nothing there.
    """

    def __init__(
        self, url: str, *, prefix: str = "mien", discovery: str | None = "homeassistant"
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("mqtt", "mqtts") or not parts.hostname:
            raise InputError("an MQTT broker must be an address such as mqtt://broker.local:1883")
        mqtt = require_module("paho.mqtt.client", "mqtt", "publishing over MQTT")
        self._prefix = prefix.strip("/") or "mien"
        self._discovery = discovery
        self._cameras: dict[str, str] = {}
        self._present: dict[str, dict[str, dict[str, Any]]] = {}
        #: Also held while a number of people is published, so that none overtakes a later one.
        self._lock = threading.RLock()
        self._client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
        if parts.username:
            self._client.username_pw_set(unquote(parts.username), unquote(parts.password or ""))
        if parts.scheme == "mqtts":
            self._client.tls_set_context(ssl.create_default_context())
        self._client.will_set(f"{self._prefix}/available", "offline", _QOS, retain=True)
        self._client.reconnect_delay_set(1, 60)
        self._client.max_queued_messages_set(_MOST_WAITING)
        self._client.on_connect = self._greet
        port = parts.port or (8883 if parts.scheme == "mqtts" else 1883)
        self._client.connect_async(parts.hostname, port, keepalive=30)
        self._client.loop_start()

    def begin(self, camera: str) -> None:
        """Tell of a camera before anybody comes, and that nobody is there."""
        topic = topic_name(camera)
        with self._lock:
            self._cameras.setdefault(topic, camera)
        self._announce(topic)

    def send(self, event: dict[str, Any]) -> None:
        """Publish an event of :class:`mien.recognition.Visits`, as a dict; never waits."""
        camera = topic_name(event["camera"])
        with self._lock:
            new = camera not in self._cameras
            self._cameras.setdefault(camera, event["camera"])
            there = self._present.setdefault(camera, {})
            before = there.get(event["visit"])
            after = _as_frigate(event, camera)
            if event["event"] == "left":
                there.pop(event["visit"], None)
            else:
                there[event["visit"]] = after
            self._publish_count(camera)
        if new:
            self._announce(camera)
        kind = "end" if event["event"] == "left" else "new"
        self._publish("events", {"type": kind, "before": before or after, "after": after})
        if kind == "new":
            update = {
                "type": "face",
                "id": after["id"],
                "name": event["person"],
                "score": event["probability"],
                "camera": camera,
                "timestamp": event["time"],
            }
            self._publish("tracked_object_update", update)
            self._publish(f"{camera}/last_person", {"name": _label(event), **event}, retain=True)

    def close(self, seconds: float = 5.0) -> None:
        """Say that nobody is here any more, and let the broker go."""
        said = self._client.publish(f"{self._prefix}/available", "offline", _QOS, retain=True)
        if self._client.is_connected():
            said.wait_for_publish(seconds)
        self._client.disconnect()
        self._client.loop_stop()

    def _publish_count(self, camera: str) -> None:
        self._publish(f"{camera}/person", len(self._present.get(camera, {})), retain=True)

    def _publish(self, topic: str, value: Any, *, retain: bool = False) -> None:
        self._client.publish(f"{self._prefix}/{topic}", json.dumps(value), _QOS, retain=retain)

    def _greet(self, client: Any, *_: Any) -> None:
        """After each connection: here we are, with these cameras."""
        client.publish(f"{self._prefix}/available", "online", _QOS, retain=True)
        with self._lock:
            cameras = list(self._cameras)
        for camera in cameras:
            self._announce(camera)

    def _announce(self, camera: str) -> None:
        """How many are in front of a camera, and what Home Assistant makes of it.

        A number that an earlier run left with the broker is replaced.
        """
        with self._lock:
            self._publish_count(camera)
        if self._discovery is None:
            return
        own = f"{topic_name(self._prefix)}_{camera}"
        count = f"{self._prefix}/{camera}/person"
        last = f"{self._prefix}/{camera}/last_person"
        shared = {
            "availability_topic": f"{self._prefix}/available",
            "device": {"identifiers": [own], "name": self._cameras[camera], "manufacturer": "mien"},
        }
        entities: dict[tuple[str, str], dict[str, Any]] = {
            ("sensor", "last_person"): {
                "name": "Last person",
                "state_topic": last,
                "value_template": "{{ value_json.name }}",
                "json_attributes_topic": last,
                "icon": "mdi:face-recognition",
            },
            ("sensor", "people"): {"name": "People", "state_topic": count, "icon": "mdi:account"},
            ("binary_sensor", "occupancy"): {
                "name": "Occupancy",
                "state_topic": count,
                "value_template": "{{ 'ON' if value | int(0) > 0 else 'OFF' }}",
                "device_class": "occupancy",
            },
        }
        for (kind, what), config in entities.items():
            content = {**config, "unique_id": f"{own}_{what}", **shared}
            self._client.publish(
                f"{self._discovery}/{kind}/{own}/{what}/config",
                json.dumps(content), _QOS, retain=True,
            )  # fmt: skip


def _label(event: dict[str, Any]) -> str:
    """A name, or the number of a stranger, or unknown."""
    if event["person"] is not None:
        return str(event["person"])
    return "unknown" if event["stranger"] is None else f"stranger {event['stranger']}"


def _as_frigate(event: dict[str, Any], camera: str) -> dict[str, Any]:
    """A visit in the words of Frigate's tracked objects."""
    left, top, width, height = event["box"]
    score = event["probability"]
    known = event["person"] is not None
    ended = event["time"] if event["event"] == "left" else None
    return {
        "id": f"{event['began']:.6f}-{event['visit'][:6]}",
        "camera": camera,
        "label": "person",
        "sub_label": [event["person"], score] if known else None,
        "start_time": event["began"],
        "end_time": ended,
        "frame_time": event["began"] + event["seconds"],
        "score": score,
        "top_score": score,
        "false_positive": False,
        "active": ended is None,
        "stationary": False,
        "box": [round(v) for v in (left, top, left + width, top + height)],
        "area": round(width * height),
        "current_zones": [],
        "entered_zones": [],
        "has_clip": False,
        "has_snapshot": False,
        "stranger": event["stranger"],
        "promised": event["promised"],
    }
