"""Pictures of the page for the docs: rendered people, every view, light and dark, wide and narrow.

``python docs/make_screenshots.py FOLDER`` writes all of them; ``--docs`` also writes the few that
docs/page.md shows, small, to docs/_static/page. Needs Chromium and playwright.
"""

from __future__ import annotations

import io
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from PIL import Image

VIEWS = {
    "people": "people", "person": "person/1", "review": "review", "unknown": "unknown",
    "photo": "", "try": "try", "import": "import", "settings": "settings",
}  # fmt: skip
SIZES = {"wide": (1280, 800), "narrow": (390, 844)}
SHOWN = ("people-light-wide", "review-dark-wide", "person-light-wide", "unknown-light-wide",
         "photo-dark-wide", "people-dark-narrow", "review-light-narrow")  # fmt: skip
STATIC = Path(__file__).parent / "_static" / "page"
SERVE = (
    "import sys; from pathlib import Path; from mien.service import Settings, serve;"
    "serve(Settings(Path(sys.argv[1]), Path(sys.argv[2]), port=int(sys.argv[3]), workers=1,"
    " photos=(Path(sys.argv[4]),)))"
)


def main(folder: Path, keep: bool) -> None:
    from playwright.sync_api import sync_playwright

    from mien.demo import make_album

    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("Chromium is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        gallery, photos = make_album(place, random_state=7)
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
                for theme in ("light", "dark"):
                    for size, (width, height) in SIZES.items():
                        _shoot(browser, url, place, folder, theme, size, width, height)
                browser.close()
        finally:
            server.terminate()
            server.wait(60)
    if keep:
        STATIC.mkdir(parents=True, exist_ok=True)
        for name in SHOWN:
            _shrink(folder / f"{name}.png", STATIC / f"{name}.png")


def _shoot(
    browser: object, url: str, place: Path, folder: Path, theme: str, size: str, width: int,
    height: int,
) -> None:  # fmt: skip
    from playwright.sync_api import Browser

    assert isinstance(browser, Browser)
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
        page.wait_for_timeout(2500 if view == "settings" else 900)
        page.screenshot(path=folder / f"{view}-{theme}-{size}.png")
    context.close()


def _shrink(source: Path, target: Path) -> None:
    """A small file: fewer pixels, at most 128 colours."""
    picture = Image.open(source).convert("RGB")
    picture.thumbnail((960, 960), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.quantize(128, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    target.write_bytes(buffer.getvalue())


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--docs" in sys.argv)
