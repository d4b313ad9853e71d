"""``mien serve``: a gallery behind HTTP."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import print_json, say
from mien.cli._options import AsJson, Fpir, Passphrase, ask_key, refuse
from mien.cli._watch import MqttBroker, MqttPrefix, WebhookOption, WebhookSecret, read_secret

__all__ = ["ServedGallery", "StateOption", "find_state", "run"]

ServedGallery = Annotated[
    Path,
    typer.Option(
        "--gallery", "-g", metavar="PATH", show_default=False,
        help="Gallery file, created if it does not exist, or a folder of galleries.",
    ),
]  # fmt: skip
StateOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Folder for keys and jobs.", show_default="beside the gallery"
    ),
]


def find_state(gallery: Path, state: Path | None) -> Path:
    """Where the server of a gallery keeps its keys and jobs."""
    if state is not None:
        return state
    from mien.gallery import gallery_name, is_address

    if is_address(gallery):
        return Path(f"{gallery_name(gallery)}-service").absolute()
    return (
        gallery / ".service" if gallery.is_dir() else gallery.with_name(f"{gallery.name}-service")
    )


def run(
    gallery: Annotated[
        Path,
        typer.Option(
            "--gallery",
            "-g",
            metavar="PATH",
            help="Gallery file, created if it does not exist, or a folder of galleries.",
        ),
    ] = Path("people.gallery"),
    photos: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder of pictures that the page may import and show. Repeat for several.",
        ),
    ] = None,
    browser: Annotated[
        bool | None,
        typer.Option(
            "--browser/--no-browser",
            show_default="in a terminal",
            help="Whether to open the page in the browser.",
        ),
    ] = None,
    state: StateOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8080,
    workers: Annotated[
        int, typer.Option(min=1, help="Number of processes that analyse pictures.")
    ] = 2,
    engine: Annotated[
        str, typer.Option(help="Face engine of new galleries: sface, dlib or sface+dlib.")
    ] = "sface",
    fpir: Fpir = 0.01,
    far: Annotated[
        float, typer.Option(min=1e-9, max=0.5, help="False accept rate of comparing two pictures.")
    ] = 0.001,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TLS certificate (PEM).")
    ] = None,
    private_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Private key of the certificate (PEM).")
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS", help="Proxy whose X-Forwarded-For is trusted. Repeat for several."
        ),
    ] = None,
    strangers_days: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="Days to remember unnamed people in front of a camera; 0: until the server stops.",
        ),
    ] = 0.0,
    webhook: WebhookOption = None,
    webhook_secret: WebhookSecret = None,
    mqtt: MqttBroker = None,
    mqtt_prefix: MqttPrefix = None,
    log: Annotated[
        bool | None,
        typer.Option(
            "--log/--no-log",
            show_default="unless in a terminal",
            help="Whether to write a JSON line per request to the standard error stream.",
        ),
    ] = None,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Serve a gallery: a page in the browser, and an API over HTTP.

    mien serve --gallery people.gallery --photos ~/Pictures

    The routes of CompreFace and DeepStack are served too.

    Without a key, the server listens on this machine only; `mien keys create` makes one.
    """  # fmt: skip
    from mien.service import Settings, make_link, serve

    if mqtt is None:
        refuse("is for --mqtt, which was not given", mqtt_prefix=mqtt_prefix)
    settings = Settings(
        galleries=gallery,
        state=find_state(gallery, state),
        host=host,
        port=port,
        workers=workers,
        engine=engine,
        fpir=fpir,
        far=far,
        secret_key=ask_key(passphrase),
        photos=tuple(photos or ()),
        certificate=certificate,
        private_key=private_key,
        trusted_proxies=tuple(trusted_proxy or ()),
        strangers_days=strangers_days,
        webhook=webhook,
        webhook_secret=read_secret(webhook, webhook_secret),
        mqtt=mqtt,
        mqtt_prefix=mqtt_prefix or "mien",
    )
    link = make_link(settings)
    url = link.partition("/#")[0]

    def tell() -> None:
        if as_json:
            told = {"url": url, "gallery": str(gallery), "state": str(settings.state), "page": link}
            print_json(told)
        else:
            say(f"Serving {gallery} at {url} (its routes: {url}/openapi.json); Ctrl-C ends it")
            say(f"Open the page, once, within an hour: {link}")
        sys.stdout.flush()

    wanted = sys.stdout.isatty() and not as_json if browser is None else browser
    serve(
        settings,
        page=link if wanted else None,
        tell=tell,
        log_requests=not sys.stderr.isatty() if log is None else log,
    )
