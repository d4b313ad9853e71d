"""The page with 10,000 people and 100,000 faces, by the browser's own clock.

``python -m benchmarks page``; needs Chromium and playwright. Times are of the page in the browser:
first paint, first card, everybody read, frames while scrolling through all of them, and from a
key of the search to the picture on the screen.
"""

from __future__ import annotations

import hashlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import Row

N_PEOPLE, N_FACES = 10_000, 10
MANY = 5_000
SERVE = (
    "import sys; from pathlib import Path; from mien.service import Settings, serve;"
    "serve(Settings(Path(sys.argv[1]), Path(sys.argv[2]), port=int(sys.argv[3]), workers=1))"
)
SCROLL = """
async ([steps, distance]) => {
  const times = [];
  let before = performance.now();
  for (let k = 0; k < steps; k++) {
    scrollBy(0, distance);
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    times.push(now - before);
    before = now;
  }
  return times.sort((a, b) => a - b);
}
"""
SEARCH = """
async (text) => {
  const input = document.getElementById('search');
  const times = [];
  for (let k = 1; k <= text.length; k++) {
    const begun = performance.now();
    input.value = text.slice(0, k);
    input.dispatchEvent(new Event('input', {bubbles: true}));
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    times.push(performance.now() - begun);
  }
  return Math.max(...times);
}
"""


def make_gallery(place: Path) -> None:
    """People by drawn vectors; one of them has very many faces."""
    from mien.datasets import make_faces
    from mien.gallery import Gallery
    from mien.media import encode_jpeg
    from mien.recognition import load_model

    rng = np.random.default_rng(0)
    images = np.round(255 * make_faces(12, 1, 96, colour=True, random_state=0).images)
    small = [encode_jpeg(one.astype(np.uint8)) for one in images]
    sizes = np.full(N_PEOPLE, N_FACES)
    sizes[0] = MANY
    with Gallery.create(place, load_model(None, "sface")) as gallery:
        gallery.set_policy(thumbnails=True)
        for start in range(0, N_PEOPLE, 1000):
            rows = np.repeat(np.arange(start, start + 1000), sizes[start : start + 1000])
            first = np.r_[True, rows[1:] != rows[:-1]]
            centres = rng.standard_normal((1000, 128))
            X = centres[rows - start] + 0.7 * rng.standard_normal((len(rows), 128))
            gallery.enrol_many(
                [f"Person number {row:05d}" for row in rows], X,
                digests=[hashlib.sha256(f"{start} {k}".encode()).hexdigest()
                         for k in range(len(rows))],
                thumbnails=[small[row % 12] if one else None
                            for row, one in zip(rows, first, strict=True)],
            )  # fmt: skip


def rows() -> Iterator[Row]:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("Chromium is not installed")
    with tempfile.TemporaryDirectory() as name, socket.socket() as probe:
        folder = Path(name)
        make_gallery(folder / "people.gallery")
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
        probe.close()
        server = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(folder / "people.gallery"), str(folder / "s"),
             str(port)]
        )  # fmt: skip
        try:
            _wait(f"http://127.0.0.1:{port}/readyz")
            with sync_playwright() as driver:
                browser = driver.chromium.launch(
                    executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
                )
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                yield from _measure(page, f"http://127.0.0.1:{port}/")
                browser.close()
        finally:
            server.terminate()
            server.wait(60)


def _wait(url: str) -> None:
    for _ in range(3000):
        try:
            urllib.request.urlopen(url, timeout=2)
            return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the server does not answer")


def _measure(page: object, url: str) -> Iterator[Row]:
    from playwright.sync_api import Page

    assert isinstance(page, Page)
    label = f"{N_PEOPLE:,} people"
    page.goto(url)
    page.wait_for_selector(".card", timeout=120_000)
    card = page.evaluate("performance.now()")
    page.locator("h1 small", has_text=f"{N_PEOPLE:,}").wait_for(timeout=120_000)
    everybody = page.evaluate("performance.now()")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    yield Row("page: first paint", label, paint / 1000)
    yield Row("page: first card", label, card / 1000)
    yield Row("page: everybody read", label, everybody / 1000)
    for name, distance in (("slowly", 120), ("by screens", 700)):
        times = page.evaluate(SCROLL, [240, distance])
        late = sum(one > 50 for one in times) / len(times)
        note = f"p95 {times[228]:.0f} ms, longest {times[-1]:.0f} ms, {late:.0%} above 50 ms"
        yield Row(f"page: a frame, scrolling {name}", label, times[120] / 1000, note=note)
    page.evaluate("scrollTo(0, 0)")
    slowest = page.evaluate(SEARCH, "number 0987")
    yield Row("page: search, slowest key", label, slowest / 1000)
    page.evaluate("document.getElementById('search').value = ''")
    held = page.evaluate("document.querySelectorAll('.cell').length")
    yield Row("page: cards in the document", label, 0.0, note=f"{held} after the search")
    page.goto(f"{url}#/person/1")
    begun = page.evaluate("performance.now()")
    page.wait_for_selector(".face", timeout=120_000)
    shown = page.evaluate("performance.now()") - begun
    yield Row("page: a person is opened", f"{MANY:,} faces", shown / 1000)
    times = page.evaluate(SCROLL, [240, 700])
    yield Row(
        "page: a frame, scrolling by screens", f"{MANY:,} faces", times[120] / 1000,
        note=f"p95 {times[228]:.0f} ms, longest {times[-1]:.0f} ms",
    )  # fmt: skip
