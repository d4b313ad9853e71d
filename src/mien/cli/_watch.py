"""``mien watch``: who came, who went."""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mien.cli._display import note, say
from mien.cli._options import AsJson, GalleryOption, Impostors, Passphrase, ask_key, refuse

if TYPE_CHECKING:
    from mien.recognition import VisitEvent

__all__ = ["MqttBroker", "MqttPrefix", "WebhookOption", "WebhookSecret", "read_secret", "run"]

WebhookOption = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Post every event to this address.", show_default="none"),
]
WebhookSecret = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="File with the secret that signs posts.", show_default="none"
    ),
]
MqttBroker = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Publish events to this MQTT broker, such as mqtt://user:password@host:1883.",
        show_default="none",
    ),
]
MqttPrefix = Annotated[
    str | None, typer.Option(metavar="NAME", help="Prefix of the topics.", show_default="mien")
]


def read_secret(url: str | None, secret: Path | None) -> str | None:
    """The secret of a webhook; one without the other is an error."""
    from mien.errors import InputError

    if url is None:
        refuse("is for --webhook, which was not given", webhook_secret=secret)
        return None
    if secret is None:
        raise InputError("--webhook needs --webhook-secret FILE: posts are signed")
    try:
        return secret.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the secret in {str(secret)!r} cannot be read: {error}") from error


def run(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="Address of a camera (rtsp://…, http://…), number of a device, or a video file.",
        ),
    ],
    gallery: GalleryOption,
    name: Annotated[
        str | None, typer.Option(help="Name of the camera.", show_default="its address")
    ] = None,
    rate: Annotated[
        float, typer.Option(min=0.1, max=60, help="Frames per second to analyse.")
    ] = 5.0,
    fpir: Annotated[
        float,
        typer.Option(
            min=1e-9,
            max=0.5,
            help="Maximum share of visits of unknown people that may wrongly get a name (FPIR).",
        ),
    ] = 0.01,
    faces: Annotated[
        int,
        typer.Option(min=3, max=64, help="Number of faces after which the person is identified."),
    ] = 10,
    away: Annotated[
        float, typer.Option(min=0.1, help="Seconds without a face after which a visit ends.")
    ] = 5.0,
    strangers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Remember unnamed people in this file, so that they keep their numbers.",
            show_default="until the end of the run",
        ),
    ] = None,
    days: Annotated[
        float | None,
        typer.Option(min=0.01, help="Days to remember them.", show_default="30"),
    ] = None,
    webhook: WebhookOption = None,
    webhook_secret: WebhookSecret = None,
    mqtt: MqttBroker = None,
    mqtt_prefix: MqttPrefix = None,
    impostors: Impostors = "lookalikes",
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Watch a camera or a video and report who comes and goes.

    mien watch rtsp://door.local/main --gallery people.gallery

    All faces of one visit are identified together. With --json, one line per event.
    """
    from mien.media import Camera
    from mien.recognition import watch
    from mien.service import MqttPublisher
    from mien.service import Webhook as Poster

    if strangers is None:
        refuse("is for --strangers, which was not given", days=days)
    if mqtt is None:
        refuse("is for --mqtt, which was not given", mqtt_prefix=mqtt_prefix)
    secret = read_secret(webhook, webhook_secret)
    key = ask_key(passphrase)
    with ExitStack() as stack:
        sinks: list[Poster | MqttPublisher] = []
        if webhook is not None and secret is not None:
            poster = Poster(webhook, secret)
            stack.callback(lambda: _tell_given_up(poster.close()))
            sinks.append(poster)
        if mqtt is not None:
            publisher = MqttPublisher(mqtt, prefix=mqtt_prefix or "mien")
            stack.callback(publisher.close)
            sinks.append(publisher)
        camera = stack.enter_context(Camera(source, rate=rate, tell=note))
        for sink in sinks:
            sink.begin(camera.name if name is None else name)
        for event in watch(
            camera, gallery, name=name, fpir=fpir, decide_after=faces, away=away,
            strangers=strangers, days=30.0 if days is None else days, key=key, impostors=impostors,
        ):  # fmt: skip
            told = event.to_dict()
            for sink in sinks:
                sink.send(told)
            if as_json:
                sys.stdout.write(json.dumps(told) + "\n")
            else:
                say(_show(event, live=camera.live))
            sys.stdout.flush()


def _tell_given_up(number: int) -> None:
    if number:
        note(f"{number:,} events could not be posted to the webhook")


def _show(event: VisitEvent, *, live: bool) -> str:
    visit = event.visit
    if live:
        when = time.strftime("%H:%M:%S", time.localtime(event.time))
    else:
        when = f"{int(event.time) // 60}:{event.time % 60:04.1f}"
    who = visit.person or ("unknown" if visit.stranger is None else f"stranger {visit.stranger}")
    if event.kind == "left":
        return f"{when}  {who} went, after {visit.last - visit.began:.0f} s"
    answer = visit.answer
    return (
        f"{when}  {who} came (log ratio {answer.log_ratio:+.1f}, threshold {answer.threshold:+.1f})"
    )
