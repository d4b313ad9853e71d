"""Who came and who went: tracks, visits, strangers, cameras."""

from __future__ import annotations

import http.server
import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mien.errors import DataError, InputError
from mien.faces import Face, FoundFace
from mien.gallery import Gallery
from mien.media import Camera
from mien.recognition import Strangers, Visits, load_model, watch
from tests.extras import skip_without

DIMENSION = 128
CENTRES = np.random.default_rng(5).standard_normal((4, DIMENSION))


def face(who: int, seed: int, left: float = 10.0) -> FoundFace:
    """A face of somebody: a vector near their own, and a box."""
    vector = CENTRES[who] + 0.35 * np.random.default_rng(seed).standard_normal(DIMENSION)
    marks = np.array(
        [[left + 10, 20], [left + 30, 20], [left + 20, 30], [left + 12, 40], [left + 28, 40]]
    )
    return FoundFace(
        Face([left, 10.0, 40.0, 48.0], marks, 0.99),
        (vector / np.linalg.norm(vector)).astype(np.float32),
    )


@pytest.fixture
def gallery(tmp_path: Path) -> Iterator[Gallery]:
    with Gallery.create(tmp_path / "g.gallery", load_model()) as made:
        for who, name in enumerate(("Ann", "Bob")):
            made.enrol(name, np.stack([face(who, 900 + 10 * who + k).vector for k in range(3)]))
        yield made


def play(visits: Visits, who: list[list[int]], begin: float = 0.0, rate: float = 5.0) -> list[Any]:
    events = []
    for k, people in enumerate(who):
        seen = [face(one, 10 * k + one, 10.0 + 100 * one) for one in people]
        events += visits.add(begin + k / rate, seen)
    return events


def test_a_visit_is_one_decision_and_two_events(gallery: Gallery) -> None:
    visits = Visits(gallery, camera="door")
    events = play(visits, [[0]] * 40)
    assert [(one.kind, one.visit.person) for one in events] == [("seen", "Ann")]
    assert visits.n_decisions == 1
    assert [visit.person for visit in visits.present] == ["Ann"]
    (left,) = play(visits, [[]] * 40, begin=8.0)
    assert (left.kind, left.visit) == ("left", events[0].visit)
    assert left.visit.n_faces == 40
    told = left.to_dict()
    assert (told["camera"], told["seconds"], told["event"]) == ("door", 7.8, "left")
    assert "vector" not in told
    assert visits.finish() == []


def test_whoever_looks_away_for_a_moment_is_still_there(gallery: Gallery) -> None:
    visits = Visits(gallery)
    events = play(visits, [[0]] * 15 + [[]] * 10 + [[0]] * 15)
    assert [one.kind for one in events] == ["seen"]
    assert visits.n_decisions == 2
    assert [one.kind for one in visits.finish()] == ["left"]


def test_a_glimpse_is_nothing_and_a_short_visit_is_decided_at_its_end(gallery: Gallery) -> None:
    visits = Visits(gallery)
    assert play(visits, [[0], [0], *[[]] * 10]) == []
    events = play(visits, [[1]] * 4 + [[]] * 10, begin=10.0)
    assert [(one.kind, one.visit.person, one.time) for one in events] == [("seen", "Bob", 10.0)]


def test_strangers_have_numbers_that_stay(gallery: Gallery, tmp_path: Path) -> None:
    place = tmp_path / "strangers.gallery"
    with Strangers(gallery.model, place) as strangers:
        visits = Visits(gallery, strangers=strangers)
        events = play(visits, [[2, 3]] * 12) + visits.finish()
        came = [one for one in events if one.kind == "unknown seen"]
        numbers = {one.visit.stranger for one in came}
        assert len(came) == len(numbers) == 2
        assert all(one.visit.person is None for one in events)
    with Strangers(gallery.model, place) as strangers:
        visits = Visits(gallery, strangers=strangers)
        again = {one.visit.stranger for one in play(visits, [[2, 3]] * 12)}
        assert again == numbers
        assert strangers.forget(min(numbers))
        assert not strangers.forget(min(numbers))
        assert len(strangers) == 1
        later = [e for e in play(visits, [[2]] * 12, begin=60.0) if e.kind == "unknown seen"]
        assert later
        assert all(one.visit.stranger != min(numbers) for one in later)


def test_strangers_of_a_run_leave_no_file(gallery: Gallery) -> None:
    strangers = Strangers(gallery.model)
    strangers.number(np.stack([face(2, k).vector for k in range(3)]))
    place = strangers._gallery.path
    assert place.exists()
    strangers.close()
    assert not place.parent.exists()


def test_two_in_one_frame_are_never_one_person(gallery: Gallery) -> None:
    visits = Visits(gallery)
    events = []
    for k in range(20):
        both = [face(0, 2 * k, 10.0), face(0, 2 * k + 1, 200.0)]
        events += visits.add(k / 5, both)
    assert sorted(str(one.visit.person) for one in events) == ["Ann", "None"]
    named = visits.faces_now(both)
    assert {None if one is None else one.person for one in named} == {"Ann", None}


def test_bad_input_is_refused(gallery: Gallery) -> None:
    visits = Visits(gallery)
    visits.add(1.0, [])
    for wrong in (1.0, 0.5, float("nan")):
        with pytest.raises(InputError, match="order"):
            visits.add(wrong, [])
    for values in ({"decide_after": 0}, {"away": 0.0}, {"fpir": 0.0}, {"min_faces": 99}):
        with pytest.raises(InputError):
            Visits(gallery, **values)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="rate"):
        Camera("x.mp4", rate=0)
    with pytest.raises(InputError, match="must begin with"):
        Camera("gopher://x/y")


@pytest.mark.parametrize(
    ("source", "live", "name"),
    [
        ("0", True, "0"), ("/dev/video2", True, "/dev/video2"), ("clip.mp4", False, "clip.mp4"),
        ("rtsp://me:secret@door/main", True, "rtsp://door/main"),
        ("HTTP://door/x", True, "HTTP://door/x"),
    ],
)  # fmt: skip
def test_what_a_camera_is(source: str, live: bool, name: str) -> None:
    camera = Camera(source)
    assert (camera.live, camera.name) == (live, name)
    assert "secret" not in repr(camera)


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds of somebody who does not exist, at ten frames per second."""
    skip_without("faces")
    import cv2

    from mien.datasets import make_faces

    images = make_faces(1, 4, 96, colour=True, random_state=4).images
    place = tmp_path_factory.mktemp("clip") / "clip.avi"
    writer = cv2.VideoWriter(str(place), cv2.VideoWriter_fourcc(*"MJPG"), 10, (144, 144))
    for k in range(20):
        image = np.round(255 * images[k // 5]).astype(np.uint8)
        padded = np.pad(image, ((24, 24), (24, 24), (0, 0)), mode="edge")
        writer.write(np.ascontiguousarray(padded[:, :, ::-1]))
    writer.release()
    return place


def test_a_file_is_played_at_the_rate(clip: Path) -> None:
    frames = list(Camera(clip, rate=5.0))
    assert [round(frame.seconds, 3) for frame in frames] == [round(0.2 * k, 3) for k in range(10)]
    assert frames[0].image.shape == (144, 144, 3)
    with Camera(clip) as camera:
        camera.close()
        assert list(camera) == []


def test_a_camera_is_read_by_its_address(clip: Path) -> None:
    """A real capture over HTTP; a camera that is not there is an error where none is waited for."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = clip.read_bytes()
            self.send_response(200)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_address[1]}/clip.avi"
        frames = list(Camera(url, rate=1000, retry=False))
        server.shutdown()
        thread.join()
    assert frames
    assert frames[0].image.shape == (144, 144, 3)
    assert all(a.seconds < b.seconds for a, b in itertools.pairwise(frames))
    with pytest.raises(DataError, match="no camera"):
        list(Camera(url, retry=False))


def test_a_video_is_watched(clip: Path, tmp_path: Path) -> None:
    with Gallery.create(tmp_path / "g.gallery", load_model()):
        pass
    events = list(watch(Camera(clip), tmp_path / "g.gallery", decide_after=5))
    assert [one.kind for one in events] == ["unknown seen", "left"]
    assert events[0].visit.stranger is not None
    assert events[0].camera == "clip.avi"
