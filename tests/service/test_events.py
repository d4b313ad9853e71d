"""Events: signed posts that are sent again, and MQTT against a real broker."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest

from mien.errors import InputError
from mien.service import MqttPublisher, Webhook, check_webhook, sign_webhook
from tests.service.conftest import free_port

SECRET = "a secret of the door"


class Receiver:
    """A server that answers with the given statuses, then with 204."""

    def __init__(self, statuses: list[int]) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
                self.send_response(statuses.pop(0) if statuses else 204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook?a=1"

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def test_a_post_is_signed_and_sent_again() -> None:
    receiver = Receiver([503, 429])
    hook = Webhook(receiver.url, SECRET, first_wait=0.01)
    hook.send({"event": "seen", "person": "Ann"})
    assert hook.close() == 0
    receiver.stop()
    assert hook.delivered == 1
    assert len(receiver.got) == 3
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
    headers, body = receiver.got[-1]
    assert json.loads(body) == {"event": "seen", "person": "Ann"}
    assert check_webhook(SECRET, headers, body)
    assert not check_webhook("another secret, long", headers, body)
    assert not check_webhook(SECRET, headers, body + b" ")
    assert not check_webhook(SECRET, {}, body)
    old = {**headers, "webhook-timestamp": "1000"}
    old["webhook-signature"] = sign_webhook(SECRET, old["webhook-id"], 1000, body)
    assert not check_webhook(SECRET, old, body)


def test_a_post_that_is_not_wanted_is_given_up() -> None:
    receiver = Receiver([410, 302])
    hook = Webhook(receiver.url, SECRET, first_wait=0.01)
    for k in range(3):
        hook.send({"event": "seen", "k": k})
    assert hook.close() == 2
    receiver.stop()
    assert [json.loads(body)["k"] for _, body in receiver.got] == [0, 1, 2]


def test_an_address_that_is_silent_costs_nobody_else() -> None:
    hook = Webhook(
        f"http://127.0.0.1:{free_port()}/", SECRET, attempts=2, first_wait=0.01, waiting=2
    )
    for k in range(100):
        hook.send({"k": k})
    assert hook.close() == 100


def test_an_address_that_never_answers_does_not_hold_up_the_end() -> None:
    """The queue is full, and the message at hand waits for its next attempt."""
    hook = Webhook(f"http://127.0.0.1:{free_port()}/", SECRET, first_wait=1000, waiting=2)
    for k in range(10):
        hook.send({"k": k})
    ended: list[int] = []
    closing = threading.Thread(target=lambda: ended.append(hook.close(0.2)), daemon=True)
    closing.start()
    closing.join(60)
    assert ended == [10]


@pytest.mark.parametrize(
    ("url", "secret"), [("ftp://a/b", SECRET), ("a", SECRET), ("http://a", "short")]
)
def test_bad_webhooks_are_refused(url: str, secret: str) -> None:
    with pytest.raises(InputError):
        Webhook(url, secret)


def event(kind: str, person: str | None = "Ann", visit: str = "abcdef123") -> dict[str, Any]:
    return {
        "event": kind, "time": 12.5, "camera": "front door", "visit": visit, "person": person,
        "stranger": None if person else 3, "log_ratio": 9.0, "threshold": 4.0, "probability": 0.98,
        "promised": True, "faces": 10, "began": 10.0, "seconds": 2.5,
        "box": [10.0, 20.0, 30.0, 40.0], "quality": 0.8,
    }  # fmt: skip


_AMQTT = """
import asyncio, sys
from amqtt.broker import Broker

async def serve():
    await Broker({
        "listeners": {"default": {"type": "tcp", "bind": "127.0.0.1:" + sys.argv[1]}},
        "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
    }).start()
    await asyncio.Event().wait()

asyncio.run(serve())
"""


@pytest.fixture(params=["mosquitto", "amqtt"])
def broker(request: pytest.FixtureRequest) -> Iterator[int]:
    """A broker in a process of its own: Debian's mosquitto, or amqtt's."""
    pytest.importorskip("paho.mqtt.client", reason="the extra 'mqtt' is not installed")
    port = free_port()
    if request.param == "mosquitto":
        program = shutil.which("mosquitto", path=f"{os.environ['PATH']}:/usr/sbin")
        if program is None:
            pytest.skip("mosquitto is not installed")
        command = [program, "-p", str(port)]
    else:
        pytest.importorskip("amqtt.broker", reason="amqtt is not installed")
        command = [sys.executable, "-c", _AMQTT, str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, **quiet)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            assert process.poll() is None, "the broker did not start"
            time.sleep(0.05)
        yield port
    finally:
        process.kill()
        process.wait()


def test_mqtt_speaks_as_frigate_and_home_assistant_expect(broker: int) -> None:
    import paho.mqtt.client as mqtt

    got: dict[str, list[Any]] = {}
    news = threading.Condition()

    def take(_client: Any, _data: Any, message: Any) -> None:
        with news:
            got.setdefault(message.topic, []).append(message.payload.decode())
            news.notify_all()

    def counts() -> list[str]:
        """How many people there were; the same number may be told again."""
        return [number for number, _ in groupby(got.get("frigate/front_door/person", []))]

    subscribed = threading.Event()
    listener = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    listener.on_message = take
    listener.on_connect = lambda client, *_: client.subscribe("#", 1)
    listener.on_subscribe = lambda *_: subscribed.set()
    listener.connect("127.0.0.1", broker)
    listener.loop_start()
    assert subscribed.wait(30)
    publisher = MqttPublisher(f"mqtt://127.0.0.1:{broker}", prefix="frigate")
    publisher.begin("front door")
    with news:  # the camera is there before anybody comes
        assert news.wait_for(lambda: "frigate/front_door/person" in got, 30), got
        assert news.wait_for(lambda: sum("homeassistant" in topic for topic in got) == 3, 30), got
    publisher.send(event("seen"))
    publisher.send(event("unknown seen", None, "fedcba987"))
    publisher.send(event("left"))
    with news:
        assert news.wait_for(lambda: len(got.get("frigate/events", [])) == 3, 30), got
        assert news.wait_for(lambda: counts() == ["0", "1", "2", "1"], 30), got
    publisher.close()
    listener.disconnect()
    listener.loop_stop()
    events = [json.loads(one) for one in got["frigate/events"]]
    assert [one["type"] for one in events] == ["new", "new", "end"]
    assert events[0]["after"]["sub_label"] == ["Ann", 0.98]
    assert events[0]["after"]["box"] == [10, 20, 40, 60]
    assert events[1]["after"]["sub_label"] is None
    assert events[2]["after"]["end_time"] == 12.5
    assert events[2]["after"]["id"] == events[0]["after"]["id"]
    update = json.loads(got["frigate/tracked_object_update"][0])
    assert (update["type"], update["name"], update["camera"]) == ("face", "Ann", "front_door")
    last = json.loads(got["frigate/front_door/last_person"][-1])
    assert last["name"] == "stranger 3"
    found = [topic for topic in got if topic.startswith("homeassistant/")]
    assert len(found) == 3
    for topic in found:
        config = json.loads(got[topic][0])
        assert config["availability_topic"] == "frigate/available"
        assert config["unique_id"].startswith("frigate_front_door")
        assert config["state_topic"] in got
    assert got["frigate/available"][0] == "online"


def test_a_broker_needs_an_address() -> None:
    with pytest.raises(InputError, match="mqtt://"):
        MqttPublisher("http://broker")
