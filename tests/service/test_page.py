"""The page in Chromium, against a real server: every view, keyboard, undo, faults, attacks."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.extras import skip_without
from tests.service.conftest import PATIENCE, Server, free_port

pytestmark = [pytest.mark.xdist_group("page")]
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = shutil.which("chromium")
_PATIENCE = 1000 * PATIENCE
ATTACK = '<img src=x onerror="document.title=1">'
PEOPLE = {"Ann": 6, "Bob": 4, "Cleo": 3, "Dora": 2, ATTACK: 2, "person-001": 4, "person-002": 3}


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def make_gallery(place: Path, portraits: dict[str, list[bytes]]) -> None:
    """People by vectors that are drawn; Dora is Ann once more, with fewer faces."""
    from mien.gallery import Gallery
    from mien.recognition import load_model

    rng = np.random.default_rng(5)
    small = [shrink(one) for many in portraits.values() for one in many]
    centres = unit(rng.standard_normal((len(PEOPLE), 128)))
    centres[list(PEOPLE).index("Dora")] = centres[0]
    with Gallery.create(place, load_model(None, "sface")) as gallery:
        gallery.set_policy(thumbnails=True)
        for k, (name, n) in enumerate(PEOPLE.items()):
            noise = unit(rng.standard_normal((n, 128)))
            gallery.enrol(
                name, unit(centres[k] + 0.7 * noise),
                digests=[hashlib.sha256(f"{name} {j}".encode()).hexdigest() for j in range(n)],
                sources=[f"{ATTACK} {j}.jpg" for j in range(n)],
                qualities=[0.9 - 0.05 * j for j in range(n)],
                thumbnails=[small[(k + j) % len(small)] for j in range(n)],
            )  # fmt: skip
        gallery.clear_history()


def shrink(content: bytes) -> bytes:
    from PIL import Image

    picture = Image.open(io.BytesIO(content)).convert("RGB").resize((96, 96))
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG")
    return buffer.getvalue()


class Site:
    """A server with its key, the browser, and what the open page has said."""

    def __init__(self, server: Server, key: str, browser: Any, photos: Path) -> None:
        self.server, self.key, self.browser, self.photos = server, key, browser, photos

    def link(self) -> str:
        from mien.service import Settings, make_link

        place = self.server.folder
        return make_link(Settings(place / "galleries", place / "state", port=self.server.port))


@contextmanager
def _short_folder() -> Iterator[None]:
    """A browser's sockets lie in its temporary folder, and their names have at most 100 letters."""
    place = "/tmp" if os.path.isdir("/tmp") else None
    with tempfile.TemporaryDirectory(dir=place) as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        yield


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory, portraits: dict[str, list[bytes]], group: bytes
) -> Iterator[Site]:
    skip_without("service", "faces")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    from mien.service import KeyStore, open_state

    folder = tmp_path_factory.mktemp("page")
    photos = folder / "server" / "Photos"
    photos.mkdir(parents=True)
    (photos / "group.png").write_bytes(group)
    camera = folder / "camera.mjpeg"
    camera.write_bytes(2 * shrink_to_camera(portraits["Ann"][0]))
    server = Server(folder / "server", free_port())
    (server.folder / "galleries").mkdir(parents=True)
    make_gallery(server.folder / "galleries" / "family.gallery", portraits)
    state = open_state(server.folder / "state")
    key, _ = KeyStore(state).create("admin", label="the tests' own")
    state.close()
    server.start()
    try:
        with _short_folder(), playwright.sync_playwright() as driver:
            browser = driver.chromium.launch(
                executable_path=CHROMIUM,
                args=[
                    "--no-sandbox", "--disable-gpu", "--use-fake-device-for-media-stream",
                    "--use-fake-ui-for-media-stream", f"--use-file-for-fake-video-capture={camera}",
                ],
            )  # fmt: skip
            yield Site(server, key, browser, photos)
            browser.close()
    finally:
        server.stop()


def shrink_to_camera(content: bytes) -> bytes:
    from PIL import Image

    picture = Image.open(io.BytesIO(content)).convert("RGB").resize((480, 480))
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG")
    return buffer.getvalue()


#: What is said, and what can be undone, stays for longer, in case the machine does other things as
#: well. The pauses before the page asks a lost server again are resolved by a promise, and stay.
LASTING = """
const wait = window.setTimeout;
window.setTimeout = (what, pause, ...rest) =>
  wait(what, pause >= 5000 && what.length === 0 ? 100 * pause : pause, ...rest);
"""


@pytest.fixture(scope="module")
def signed_in(site: Site) -> Any:
    """A browser context with a session; each page of it watches itself."""
    playwright.expect.set_options(timeout=_PATIENCE)
    context = site.browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(_PATIENCE)
    context.add_init_script(LASTING)
    page = context.new_page()
    page.goto(site.link())
    page.wait_for_selector(".card")
    assert "link=" not in page.url
    page.close()
    return context


@pytest.fixture
def page(site: Site, signed_in: Any) -> Iterator[Any]:
    opened = signed_in.new_page()
    said: list[str] = []
    foreign: list[str] = []
    opened.on("console", lambda one: said.append(one.text) if one.type == "error" else None)
    opened.on("pageerror", lambda one: said.append(str(one)))
    opened.on(
        "request",
        lambda one: (
            None
            if one.url.startswith((site.server.url, "blob:", "data:"))
            else foreign.append(one.url)
        ),
    )
    opened.expected = []
    opened.goto(f"{site.server.url}/#/people")
    yield opened
    opened.close()
    left = [text for text in said if not any(word in text for word in opened.expected)]
    assert left == []
    assert foreign == []


def show(page: Any, place: str) -> None:
    page.evaluate("place => { location.hash = place; }", f"#/{place}")


def card(page: Any, name: str) -> Any:
    return page.locator(".card", has=page.get_by_text(name, exact=True))


def undo(page: Any) -> None:
    page.get_by_role("button", name="Undo", exact=True).first.click()
    playwright.expect(page.locator(".toast").last).to_contain_text("Undone")


def test_people_search_hide_and_merge_by_keyboard_with_undo(page: Any) -> None:
    expect = playwright.expect
    expect(page.locator(".card")).to_have_count(5)
    expect(card(page, ATTACK)).to_be_visible()
    assert page.title() == "People · mien"
    page.keyboard.press("/")
    page.keyboard.type("bo")
    expect(page.locator(".card")).to_have_count(1)
    page.get_by_label("Search people").fill("")
    page.get_by_role("radio", name="Most faces").click()
    expect(page.locator(".card strong").first).to_have_text("Ann")
    page.get_by_role("radio", name="Least certain").click()
    expect(page.locator(".card small").first).to_contain_text("to 1")
    page.get_by_role("radio", name="Name", exact=True).click()

    card(page, "Bob").focus()
    page.keyboard.press("h")
    expect(card(page, "Bob")).to_have_count(0)
    undo(page)
    expect(card(page, "Bob")).to_be_visible()

    card(page, "Bob").focus()
    page.keyboard.press("m")
    page.get_by_role("combobox").fill("cl")
    page.keyboard.press("Enter")
    expect(card(page, "Bob")).to_have_count(0)
    expect(card(page, "Cleo")).to_contain_text("7 faces")
    undo(page)
    expect(card(page, "Bob")).to_contain_text("4 faces")
    expect(card(page, "Cleo")).to_contain_text("3 faces")


def test_merge_by_dragging(page: Any) -> None:
    card(page, "Cleo").drag_to(card(page, "Bob"))
    playwright.expect(card(page, "Bob")).to_contain_text("7 faces")
    undo(page)
    playwright.expect(card(page, "Cleo")).to_contain_text("3 faces")


def test_a_person_select_a_range_move_and_take_out(page: Any) -> None:
    expect = playwright.expect
    card(page, "Ann").click()
    expect(page.locator(".face")).to_have_count(6)
    expect(page.locator(".face .ratio").first).to_be_visible()
    page.locator(".face").nth(1).click()
    page.locator(".face").nth(3).click(modifiers=["Shift"])
    expect(page.get_by_text("3 selected")).to_be_visible()
    page.get_by_role("button", name="Move to…").click()
    page.get_by_role("combobox").fill("Emil")
    page.keyboard.press("Enter")
    expect(page.locator(".face")).to_have_count(3)
    undo(page)
    expect(page.locator(".face")).to_have_count(6)

    page.locator(".face").first.click()
    page.get_by_role("button", name="Not this person").click()
    expect(page.locator(".face")).to_have_count(5)
    undo(page)
    expect(page.locator(".face")).to_have_count(6)

    page.locator(".face").first.click()
    page.get_by_role("button", name="Not a face").click()
    expect(page.locator(".face")).to_have_count(5)
    undo(page)
    expect(page.locator(".face")).to_have_count(6)

    page.get_by_title("Rename").click()
    page.get_by_role("combobox").fill("Anna")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Anna")
    undo(page)
    expect(page.locator("h1")).to_have_text("Ann")

    page.locator(".terms summary").click()
    page.get_by_label("For what, and how it was given").fill("family album")
    page.get_by_role("button", name="Save consent").click()
    expect(page.locator(".terms summary")).to_contain_text("Consent given")
    undo(page)
    expect(page.locator(".terms summary")).to_contain_text("No consent")
    page.get_by_label("Keep until").fill("2130-01-31")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".terms summary")).to_contain_text("Kept until")
    undo(page)
    expect(page.locator(".terms summary")).to_contain_text("No end is set")

    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("6 faces")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("h1")).to_have_text("Ann")


def test_review_by_keyboard(page: Any) -> None:
    expect = playwright.expect
    show(page, "review")
    question = page.locator(".question")
    expect(question).to_contain_text("Ann")
    expect(question).to_contain_text("Dora")
    page.keyboard.press("s")
    expect(page.get_by_text("1 answer", exact=True)).to_be_visible()
    expect(question.get_by_text("Dora")).to_have_count(0)
    page.keyboard.press("u")
    expect(question).to_contain_text("Dora")
    page.keyboard.press("n")
    expect(question.get_by_text("Dora")).to_have_count(0)
    page.keyboard.press("u")
    expect(question).to_contain_text("Dora")
    page.keyboard.press("y")
    expect(page.get_by_text("1 answer", exact=True)).to_be_visible()
    show(page, "people")
    expect(card(page, "Ann")).to_contain_text("8 faces")
    expect(card(page, "Dora")).to_have_count(0)
    show(page, "review")
    page.wait_for_selector(".review")
    undo(page)
    undo_again = page.evaluate(
        """async () => (await fetch('/v1/galleries/family/people')).json()"""
    )
    assert {one["name"]: one["faces"] for one in undo_again["people"]}["Ann"] == 6


def test_a_different_answer_is_never_asked_again(page: Any) -> None:
    expect = playwright.expect
    show(page, "review")
    expect(page.locator(".question")).to_contain_text("Dora")
    page.keyboard.press("n")
    expect(page.locator(".question").get_by_text("Dora")).to_have_count(0)
    page.reload()
    page.wait_for_selector(".review")
    page.wait_for_timeout(300)
    expect(page.locator(".question").get_by_text("Dora")).to_have_count(0)
    page.evaluate(
        """async () => { const me = await (await fetch('/v1/session')).json();
        const headers = {'x-csrf-token': me.csrf};
        await fetch('/v1/galleries/family/undo', {method: 'POST', headers}) }"""
    )


def test_unknown_people_are_named_and_ignored(page: Any) -> None:
    expect = playwright.expect
    show(page, "unknown")
    expect(page.locator(".group")).to_have_count(2)
    expect(page.locator(".group").first).to_contain_text("4 faces")
    page.locator(".group").nth(1).get_by_role("button", name="Ignore for good").click()
    expect(page.locator(".group")).to_have_count(1)
    undo(page)
    expect(page.locator(".group")).to_have_count(2)
    page.locator(".group").first.get_by_role("button", name="Who is it?").click()
    page.get_by_role("combobox").fill("Fay")
    page.keyboard.press("Enter")
    expect(page.locator(".group")).to_have_count(1)
    undo(page)
    expect(page.locator(".group")).to_have_count(2)


def test_try_pictures_and_the_camera(page: Any, portraits: dict[str, list[bytes]]) -> None:
    expect = playwright.expect
    show(page, "try")
    file = {"name": f"{ATTACK}.png", "mimeType": "image/png", "buffer": portraits["Ann"][0]}
    page.locator("input[type=file]").first.set_input_files(file)
    expect(page.locator(".box")).to_have_count(1)
    expect(page.locator(".panel h2").first).to_contain_text("<img")
    page.locator("details summary").click()
    expect(page.locator("pre")).to_contain_text('"log_ratio"')
    page.get_by_role("button", name="Use the camera").click()
    # wait_for_function would evaluate text, which the page's policy does not allow.
    for _ in range(10 * PATIENCE):
        if page.evaluate("document.querySelector('video')?.videoWidth > 0"):
            break
        page.wait_for_timeout(100)
    page.get_by_role("button", name="Take a picture").click()
    expect(page.locator(".panel h2").first).to_have_text("camera.jpg")
    expect(page.locator(".box")).to_have_count(1)
    page.get_by_role("button", name="Stop the camera").click()

    page.get_by_role("radio", name="Two pictures").click()
    for k in (0, 1):
        one = {"name": f"{k}.png", "mimeType": "image/png", "buffer": portraits["Ann"][k]}
        page.locator("input[type=file]").nth(k).set_input_files(one)
    expect(page.locator(".verdict strong")).to_be_visible()
    expect(page.locator(".verdict .ratio")).to_be_visible()


def test_upload_with_progress_then_the_photo(page: Any, site: Site) -> None:
    expect = playwright.expect
    show(page, "import")
    page.get_by_role("button", name="Photos", exact=True).click()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator(".rows .pill").first).to_have_text("Done")
    expect(page.get_by_text(re.compile("unknown faces? in")).first).to_be_visible()
    show(page, "unknown")
    page.get_by_text("Show those seen once").click()
    page.locator(".group .strip").last.click()
    page.locator(".face").first.dblclick()
    expect(page.locator(".picture .box")).to_have_count(2)
    expect(page.get_by_text("1 in 100 strangers would be named").first).to_be_visible()
    page.locator(".picture .box").first.click()
    page.get_by_role("combobox").fill("Gus")
    page.keyboard.press("Enter")
    expect(page.locator(".picture .chip", has_text="Gus")).to_be_visible()
    undo(page)
    expect(page.locator(".picture .chip", has_text="Gus")).to_have_count(0)

    show(page, "import")
    broken = {"name": f"{ATTACK}.jpg", "mimeType": "image/jpeg", "buffer": b"not a picture"}
    page.locator("input[type=file]").set_input_files([broken])
    expect(page.get_by_text("1 file was sent.")).to_be_visible()
    expect(page.locator(".rows .pill").first).to_have_text(re.compile("Done|Failed"))


@contextmanager
def other_gallery(site: Site, page: Any, name: str, *, thumbnails: bool = True) -> Iterator[Any]:
    """The page on a gallery of its own, which is deleted afterwards; gives a client for it."""
    import httpx

    choose = "name => localStorage.setItem('mien-gallery', name)"
    with httpx.Client(
        base_url=f"{site.server.url}/v1", headers={"x-api-key": site.key}, timeout=PATIENCE
    ) as client:
        client.post("/galleries", json={"name": name}).raise_for_status()
        if thumbnails:
            client.patch(f"/galleries/{name}/policy", json={"thumbnails": True}).raise_for_status()
        page.evaluate(choose, name)
        page.reload()
        try:
            yield client
        finally:
            page.evaluate(choose, "family")
            page.goto("about:blank")
            client.delete(f"/galleries/{name}")


#: Drops a file where files are dropped, and notes what every progress bar shows from then on.
DROP = """
(text) => {
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], 'album.zip', { type: 'application/zip' }));
  window.shown = {};
  new MutationObserver(() => document.querySelectorAll('progress').forEach((one) => {
    (window.shown[one.getAttribute('aria-label')] ??= []).push(one.value);
  })).observe(document.body, { subtree: true, childList: true, attributes: true });
  for (const kind of ['dragover', 'drop']) {
    const event = new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer });
    document.querySelector('.drop').dispatchEvent(event);
  }
}
"""


def test_a_dropped_archive_is_imported_with_progress(
    page: Any, site: Site, portraits: dict[str, list[bytes]]
) -> None:
    expect = playwright.expect
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, pictures in portraits.items():
            for k, one in enumerate(pictures):
                archive.writestr(f"trip/{name}{k}.png", one)
        archive.writestr("trip/torn.jpg", b"not a picture")
    with other_gallery(site, page, "dropped", thumbnails=False) as client:
        # An empty gallery says what to do, and proposes to keep small pictures of the faces.
        for view in ("people", "unknown", "review"):
            show(page, view)
            expect(page.locator(".empty .button")).to_have_text("Import")
        show(page, "import")
        expect(page.get_by_label("Keep small pictures")).to_be_checked()
        page.wait_for_selector(".drop")
        page.evaluate(DROP, base64.b64encode(buffer.getvalue()).decode())
        expect(page.locator(".rows .pill").first).to_have_text("Done")
        expect(page.get_by_text("What failed")).to_be_visible()
        shown = page.evaluate("window.shown")
        assert [shown["Uploading…"][0], shown["Uploading…"][-1]] == [0, 1]
        assert len(set(shown["Import pictures"])) > 1  # it moved
        faces = client.get("/galleries/dropped/faces").json()["faces"]
        assert len(faces) == 9
        assert client.get(f"/galleries/dropped/faces/{faces[0]['id']}/thumbnail").status_code == 200


def test_a_missed_face_is_drawn(page: Any, site: Site, portraits: dict[str, list[bytes]]) -> None:
    """One face fills the picture's corner; the other is too small to be found in the whole."""
    from PIL import Image

    expect = playwright.expect
    crowd = Image.new("RGB", (4800, 640), (120, 120, 120))
    large, small = (Image.open(io.BytesIO(portraits[name][0])) for name in ("Bob", "Ann"))
    crowd.paste(large.resize((560, 560)), (40, 40))
    crowd.paste(small.resize((48, 48)), (4400, 300))
    buffer = io.BytesIO()
    crowd.save(buffer, "PNG")
    (site.photos / "Crowd").mkdir(exist_ok=True)
    place = site.photos / "Crowd" / "crowd.png"
    place.write_bytes(buffer.getvalue())
    try:
        with other_gallery(site, page, "drawn") as client:
            files = {"f": ("Crowd/crowd.png", buffer.getvalue())}
            said = client.post("/galleries/drawn/enrol?person=Bob", files=files).json()
            show(page, f"photo/{said[0]['face']}")
            expect(page.locator(".picture .box")).to_have_count(1)
            page.locator(".picture img").evaluate("one => one.decode()")  # until it has its size

            def draw(left: int, top: int, side: int) -> None:
                page.get_by_role("button", name="Add a missed face").click()
                page.wait_for_selector(".picture.drawing")
                box = page.locator(".picture img").bounding_box()
                scale = box["width"] / 4800
                page.mouse.move(box["x"] + scale * left, box["y"] + scale * top)
                page.mouse.down()
                page.mouse.move(
                    box["x"] + scale * (left + side), box["y"] + scale * (top + side), steps=3
                )
                page.mouse.up()

            draw(4392, 292, 64)
            page.get_by_role("dialog").get_by_role("combobox").fill("Ann")
            page.keyboard.press("Enter")
            people = page.locator(".panel .rows strong")
            expect(people).to_have_count(2)
            expect(people.last).to_have_text("Ann")
            undo(page)
            expect(people).to_have_count(1)

            draw(2000, 100, 400)  # nobody is there
            page.expected.append("422")
            page.get_by_role("dialog").get_by_role("combobox").fill("Cleo")
            page.keyboard.press("Enter")
            expect(page.locator(".toast").last).to_contain_text("There is no face")
            expect(people).to_have_count(1)
    finally:
        place.unlink()
        place.parent.rmdir()


def test_a_covered_face_is_completed(page: Any, portraits: dict[str, list[bytes]]) -> None:
    from PIL import Image

    covered = Image.open(io.BytesIO(portraits["Ann"][0])).convert("RGB")
    width, height = covered.size
    covered.paste(
        (20, 20, 20), (width // 6, int(0.58 * height), 5 * width // 6, int(0.86 * height))
    )
    buffer = io.BytesIO()
    covered.save(buffer, "PNG")
    show(page, "try")
    page.get_by_role("radio", name="A covered face").click()
    file = {"name": "covered.png", "mimeType": "image/png", "buffer": buffer.getvalue()}
    page.locator("input[type=file]").set_input_files(file)
    playwright.expect(page.locator("figure img")).to_have_count(2)
    size = "one => one.complete && [one.naturalWidth, one.naturalHeight]"
    playwright.expect(page.locator("figcaption").last).to_have_text("Completed")
    assert page.locator("figure img").last.evaluate(size) == [width, height]


def test_adapting_shows_before_and_after_and_is_undone(page: Any) -> None:
    expect = playwright.expect
    show(page, "review")
    panel = page.locator(".panel", has=page.get_by_role("heading", name="Adapt to your answers"))
    panel.get_by_role("button", name="Try it").click()
    expect(panel.locator("tbody tr").first).to_be_visible()
    expect(panel.locator("thead")).to_contain_text("Before")
    numbers = panel.locator("tbody td")
    assert all(re.fullmatch(r"-?\d\.\d{3}", text) for text in numbers.all_inner_texts())
    panel.get_by_role("button", name="Use it").click()
    expect(page.locator(".toast").last).to_contain_text("The adapted model is in use")
    undo(page)
    expect(panel.get_by_role("button", name="Use it")).to_have_count(0)


def test_people_whose_time_has_come_are_purged(page: Any, site: Site) -> None:
    import httpx

    expect = playwright.expect
    base = f"{site.server.url}/v1/galleries/family/people"
    headers = {"x-api-key": site.key}
    made = httpx.post(base, json={"name": "Zed"}, headers=headers, timeout=PATIENCE).json()
    ended = {"retain_until": 1e9}
    httpx.patch(f"{base}/{made['id']}/terms", json=ended, headers=headers, timeout=PATIENCE)
    show(page, "settings")
    page.get_by_role("button", name="Delete 1 person").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("Nobody's consent or retention period has ended.")).to_be_visible()
    found = httpx.get(f"{base}/{made['id']}", headers=headers, timeout=PATIENCE)
    assert found.status_code == 404
    show(page, "people")
    expect(card(page, "Bob")).to_be_visible()


def test_settings(page: Any) -> None:
    expect = playwright.expect
    show(page, "settings")
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
    expect(page.get_by_text("1 in 100 strangers would be named").first).to_be_visible()
    page.get_by_label("Note").fill(ATTACK)
    page.get_by_role("button", name="New key").click()
    expect(page.locator("dialog .secret")).to_contain_text("mien_")
    page.get_by_role("button", name="Close").first.click()
    row = page.locator("li", has_text="<img").filter(has_text="read ·")
    row.get_by_role("button", name="End").click()
    expect(row).to_contain_text("ended")
    expect(page.get_by_role("heading", name="Audit trail")).to_be_visible()


def test_two_tabs_see_each_other(page: Any, signed_in: Any, site: Site) -> None:
    other = signed_in.new_page()
    other.goto(f"{site.server.url}/#/people")
    playwright.expect(card(other, "Bob")).to_be_visible()
    card(page, "Bob").focus()
    page.keyboard.press("h")
    playwright.expect(card(other, "Bob")).to_have_count(0)
    undo(page)
    playwright.expect(card(other, "Bob")).to_be_visible()
    # An undo takes back its own change, and not what the other tab did since. A key is for the card
    # that has the focus, also where another tab took out one before it.
    card(other, "Cleo").focus()
    card(page, "Bob").focus()
    page.keyboard.press("h")
    playwright.expect(page.locator(".toast").last).to_contain_text("hidden")
    playwright.expect(card(other, "Bob")).to_have_count(0)
    other.keyboard.press("h")
    playwright.expect(card(page, "Cleo")).to_have_count(0)
    page.expected.append("409")
    page.get_by_role("button", name="Undo", exact=True).first.click()
    playwright.expect(page.locator(".toast").last).to_contain_text("changed since")
    undo(other)
    playwright.expect(card(page, "Cleo")).to_be_visible()
    playwright.expect(card(page, "Bob")).to_have_count(0)
    other.close()
    page.get_by_text("Show hidden").click()
    card(page, "Bob").focus()
    page.keyboard.press("h")
    playwright.expect(page.locator(".toast").last).to_contain_text("shown again")


def test_a_lost_connection(page: Any, signed_in: Any) -> None:
    page.expected += ["ERR_INTERNET_DISCONNECTED", "ERR_FAILED"]
    playwright.expect(card(page, "Bob")).to_be_visible()
    signed_in.set_offline(True)
    card(page, "Bob").focus()
    page.keyboard.press("h")
    playwright.expect(page.locator(".banner")).to_be_visible()
    playwright.expect(page.locator(".toast")).to_contain_text("may not have been done")
    signed_in.set_offline(False)
    playwright.expect(page.locator(".banner")).to_have_count(0)
    playwright.expect(card(page, "Bob")).to_be_visible()


def test_a_session_that_ends(site: Site) -> None:
    context = site.browser.new_context()
    page = context.new_page()
    page.goto(site.link())
    page.wait_for_selector(".card")
    state = sqlite3.connect(site.server.folder / "state" / "service.sqlite", timeout=PATIENCE)
    with state:
        state.execute("DELETE FROM session WHERE created = (SELECT max(created) FROM session)")
    state.close()
    card(page, "Bob").focus()
    page.keyboard.press("h")
    playwright.expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("Key").fill(site.key)
    page.keyboard.press("Enter")
    playwright.expect(card(page, "Bob")).to_be_visible()
    context.close()


def test_a_link_works_once(site: Site) -> None:
    link = site.link()
    for text in ("People", "Sign in"):
        context = site.browser.new_context()
        page = context.new_page()
        page.goto(link)
        playwright.expect(page.get_by_role("heading", name=text)).to_be_visible()
        context.close()


VIEWS = ("people", "person/1", "review", "unknown", "try", "import", "settings")


@pytest.fixture(scope="module")
def axe() -> str:
    from tools.page import find_axe

    place = find_axe()
    if place is None:
        pytest.skip("axe-core cannot be fetched: no npm, or offline")
    return place.read_text(encoding="utf-8")


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_every_view_is_accessible(page: Any, axe: str, theme: str, width: int) -> None:
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 844})
    page.evaluate(axe)
    found: dict[str, list[str]] = {}
    for view in VIEWS:
        show(page, view)
        page.wait_for_selector(".waiting", state="detached")
        page.wait_for_selector("h1, .empty")
        page.wait_for_timeout(150)
        said = page.evaluate(
            "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']})"
        )
        for one in said["violations"]:
            found.setdefault(view, []).append(f"{one['id']}: {one['nodes'][0]['html'][:160]}")
        across = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert across <= 0, f"{view} is wider than the screen by {across} pixels"
    assert found == {}


def test_a_name_is_never_markup(page: Any) -> None:
    for view in ("people", "review", "unknown", "settings"):
        show(page, view)
        page.wait_for_selector(".waiting", state="detached")
        assert page.locator("img[src=x]").count() == 0
        assert page.title() != "1"
