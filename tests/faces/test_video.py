"""Video: frames, cuts, tracks, groups on disk, and files that are no video."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from mien.errors import DataError, InputError, MissingDataError
from mien.faces import analyse_video
from mien.media import write_image

cv2 = pytest.importorskip("cv2", reason="the extra 'faces' is not installed")


def _frames(astronaut: np.ndarray) -> list[np.ndarray]:
    """Eight frames of a face that moves, then eight of another shot with two."""
    small = astronaut[30:230, 100:330]
    out = []
    for k in range(8):
        frame = np.full((240, 400, 3), 90, np.uint8)
        frame[20:220, 20 + 4 * k : 250 + 4 * k] = small
        out.append(frame)
    rng = np.random.RandomState(0)
    scene = np.kron(rng.randint(0, 256, (6, 10, 3)), np.ones((40, 40, 1))).astype(np.uint8)
    for k in range(8):
        frame = scene.copy()
        frame[30:130, 10 + k : 125 + k] = small[::2, ::2]
        frame[30:130, 270 - k : 385 - k] = small[::2, ::-2]
        out.append(frame)
    return out


@pytest.fixture(scope="module")
def clip(astronaut: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("video") / "clip.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 10, (400, 240))
    assert writer.isOpened()
    for frame in _frames(astronaut):
        writer.write(frame[..., ::-1])
    writer.release()
    return path


def test_tracks_cuts_and_pairs(clip: Path) -> None:
    result = analyse_video(clip, n_jobs=1, keep_crops=True)
    assert result.n_frames == 16
    assert result.complete
    assert result.cuts == [8]
    assert result.rate == 10
    assert result.frames.tolist() == [*range(8), *np.repeat(np.arange(8, 16), 2)]
    assert result.tracks[:8].tolist() == [0] * 8
    left = result.boxes[8:, 0] < 180
    assert len(set(result.tracks[8:][left])) == len(set(result.tracks[8:][~left])) == 1
    assert sorted(set(result.tracks)) == [0, 1, 2]
    assert result.cannot_link.tolist() == [[k, k + 1] for k in range(8, 24, 2)]
    assert result.vectors.shape == (24, 128)
    assert result.features.startswith("sface")


def test_every_second_frame(clip: Path) -> None:
    result = analyse_video(clip, n_jobs=1, every=2)
    assert sorted(set(result.frames)) == list(range(0, 16, 2))
    assert result.complete
    assert sorted(set(result.tracks)) == [0, 1, 2]


def test_a_folder_of_frames_is_a_video(astronaut: np.ndarray, tmp_path: Path) -> None:
    for k, frame in enumerate(_frames(astronaut)[5:10]):
        write_image(tmp_path / f"{k:04d}.png", frame)
    (tmp_path / "0002.png").write_bytes(b"broken")
    result = analyse_video(tmp_path, n_jobs=1)
    assert result.n_frames == 4
    assert result.cuts == [3]
    assert result.frames.tolist() == [0, 1, 3, 3, 4, 4]


def test_groups_are_what_cluster_reads(clip: Path, tmp_path: Path) -> None:
    result = analyse_video(clip, n_jobs=1, keep_crops=True)
    path = result.write_groups(tmp_path / "faces" / "groups.csv")
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 24
    assert [row["group"] for row in rows] == [str(track) for track in result.tracks]
    assert all((path.parent / row["file"]).is_file() for row in rows)
    assert [int(row["frame"]) for row in rows] == result.frames.tolist()
    from mien.crops._cluster import groups_of, list_pictures, pairs_of, read_table

    files, table = list_pictures(path.parent), read_table(path)
    by_name = dict(zip(files, groups_of(files, table), strict=True))
    names = [row["file"] for row in rows]
    groups = np.array([by_name[name] for name in names])
    assert all(len(set(groups[result.tracks == t])) == 1 for t in set(result.tracks))
    assert len(pairs_of(files, table)) == len(result.cannot_link)


def test_what_is_no_video_is_refused_by_name(clip: Path, tmp_path: Path) -> None:
    whole = clip.read_bytes()
    playlist = b"#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n"
    for name, data, words in (
        ("empty.mp4", b"", r"is empty \(0 bytes\)"),
        ("text.mp4", b"not a video at all", "is not a video: MP4"),
        ("list.mp4", playlist, "is not a video: MP4"),
        ("half.avi", whole[:200], "damaged video|no frame that can be decoded"),
        ("noise.mp4", whole[:12] + bytes(500), "damaged video|no frame that can be decoded"),
        ("stub.mp4", b"\0\0\0\x18ftypmp42" + bytes(64), "damaged video"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(DataError, match=words) as caught:
            analyse_video(tmp_path / name)
        assert name in str(caught.value)
    with pytest.raises(MissingDataError, match="does not exist"):
        analyse_video(tmp_path / "nothing.mp4")
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match="no frame that can be decoded"):
        analyse_video(tmp_path / "none")
    with pytest.raises(InputError, match="every must be an integer"):
        analyse_video(clip, every=0)


def test_a_cut_off_video_gives_what_is_there_and_says_so(clip: Path, tmp_path: Path) -> None:
    whole = clip.read_bytes()
    (tmp_path / "cut.avi").write_bytes(whole[: len(whole) // 2])
    result = analyse_video(tmp_path / "cut.avi", n_jobs=1)
    assert 2 <= result.n_frames < 14
    assert not result.complete


def test_no_faces_is_no_error(tmp_path: Path) -> None:
    for k in range(3):
        write_image(tmp_path / f"{k}.png", np.full((40, 60, 3), 70 + k, np.uint8))
    result = analyse_video(tmp_path, n_jobs=1)
    assert result.n_frames == 3
    assert result.detections == []
    assert result.cuts == []
    assert result.tracks.shape == (0,)
    assert result.cannot_link.shape == (0, 2)
    assert len(result.write_groups(tmp_path / "g.csv").read_text().splitlines()) == 1
