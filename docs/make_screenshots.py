"""Pictures of the page for the docs: rendered people, every view, light and dark, wide and narrow.

``python docs/make_screenshots.py FOLDER`` writes all of them; ``--docs`` also writes what
docs/page.md shows to docs/_static/page: a small sheet per view with all four. Needs Chromium and
playwright.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

VIEWS = {
    "people": "people", "person": "person/1", "review": "review", "unknown": "unknown",
    "photo": "", "try": "try", "import": "import", "settings": "settings",
}  # fmt: skip
SIZES = {"wide": (1280, 800), "narrow": (390, 844)}
GAP, WIDE = 12, 560
LOADED = "[...document.images].every((one) => one.complete && one.naturalWidth > 0)"
STATIC = Path(__file__).parent / "_static" / "page"
SERVE = (
    "import sys; from pathlib import Path; from mien.service import Settings, serve;"
    "serve(Settings(Path(sys.argv[1]), Path(sys.argv[2]), port=int(sys.argv[3]), workers=1,"
    " photos=(Path(sys.argv[4]),)))"
)


def main(folder: Path, keep: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with _serving_album() as (browser, url, place):
        for theme in ("light", "dark"):
            for size, (width, height) in SIZES.items():
                _shoot(browser, url, place, folder, theme, size, width, height)
    if keep:
        STATIC.mkdir(parents=True, exist_ok=True)
        for view in VIEWS:
            _save(_lay_out(folder, view), STATIC / f"{view}.png")


@contextlib.contextmanager
def serving(size: tuple[int, int]) -> Iterator[Page]:
    """The page of an album of rendered people in a light window."""
    with _serving_album() as (browser, url, _):
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce"
        )
        page = context.new_page()
        page.goto(url)
        yield page
        context.close()


@contextlib.contextmanager
def _serving_album() -> Iterator[tuple[Browser, str, Path]]:
    from playwright.sync_api import sync_playwright

    from mien.demo import make_demo_album

    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("Chromium is not installed")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        gallery, photos = make_demo_album(place, random_state=7)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        server = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(gallery), str(place / "state"), str(port),
             str(photos)]
        )  # fmt: skip
        try:
            url = f"http://127.0.0.1:{port}"
            for _ in range(600):
                try:
                    urllib.request.urlopen(f"{url}/readyz", timeout=2)
                    break
                except OSError:
                    time.sleep(0.2)
            with sync_playwright() as driver:
                browser = driver.chromium.launch(
                    executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
                )
                yield browser, url, place
                browser.close()
        finally:
            server.terminate()
            server.wait(60)


def _shoot(
    browser: Browser, url: str, place: Path, folder: Path, theme: str, size: str, width: int,
    height: int,
) -> None:  # fmt: skip
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
    )  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector(".card")
    listed = "/v1/galleries/people/faces?limit=1000"
    said = page.evaluate("async (listed) => (await fetch(listed)).json()", listed)
    face = next(one["id"] for one in said["faces"] if str(one["picture"]).endswith("picnic.jpg"))
    for view, where in VIEWS.items():
        page.evaluate("place => { location.hash = place; }", f"#/{where or f'photo/{face}'}")
        page.wait_for_selector(".waiting", state="detached", timeout=60_000)
        if view == "try":
            page.locator("input[type=file]").first.set_input_files(place / "photos" / "picnic.jpg")
            page.wait_for_selector(".box", timeout=60_000)
        page.wait_for_timeout(900)
        page.wait_for_selector(".waiting", state="detached", timeout=60_000)
        page.wait_for_function(LOADED, timeout=60_000)
        page.screenshot(path=folder / f"{view}-{theme}-{size}.png")
    context.close()


def _lay_out(folder: Path, view: str) -> Image.Image:
    """Light and dark one below the other, and both on a phone beside them."""
    wide, high = SIZES["wide"]
    down = WIDE * high // wide
    height = 2 * down + GAP
    narrow, tall = SIZES["narrow"]
    across = height * narrow // tall
    sheet = Image.new("RGB", (WIDE + 2 * (GAP + across), height), (128, 128, 128))
    for k, theme in enumerate(("light", "dark")):
        parts = (("wide", (WIDE, down), (0, k * (down + GAP))),
                 ("narrow", (across, height), (WIDE + GAP + k * (across + GAP), 0)))  # fmt: skip
        for size, shape, place in parts:
            with Image.open(folder / f"{view}-{theme}-{size}.png") as picture:
                shown = picture.convert("RGB").resize(shape, Image.Resampling.LANCZOS)
            sheet.paste(shown, place)
    return sheet


def _save(picture: Image.Image, target: Path) -> None:
    """A small file: at most 128 colours."""
    buffer = io.BytesIO()
    picture.quantize(128, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    target.write_bytes(buffer.getvalue())


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--docs" in sys.argv)
