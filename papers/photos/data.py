"""Truth about the photographs and videos at hand: boxes, points, names, labelled tracks."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mien.errors import DataError, MissingDataError

__all__ = ["PUBLIC_FIGURES", "LabelledVideo", "read_boxes", "read_videos"]

PUBLIC_FIGURES = {
    "obama.jpg": "Barack Obama",
    "obama2.jpg": "Barack Obama",
    "obama_small.jpg": "Barack Obama",
    "t_obama3.jpg": "Barack Obama",
    "t_obama_partial_face.jpg": "Barack Obama",
    "t_obama_partial_face2.jpg": "Barack Obama",
    "test_obama1.jpg": "Barack Obama",
    "biden.jpg": "Joe Biden",
    "train_biden_biden2.jpg": "Joe Biden",
    "alex-lacamoire.png": "Alex Lacamoire",
    "test_alex_lacamoire1.jpg": "Alex Lacamoire",
    "train_alex_lacamoire_img1.jpg": "Alex Lacamoire",
    "lin-manuel-miranda.png": "Lin-Manuel Miranda",
    "train_rose_leslie_img1.jpg": "Rose Leslie",
    "train_rose_leslie_img2.jpg": "Rose Leslie",
    "test_johnsnow_test1.jpg": "Kit Harington",
}
"""Who is on the pictures of one person, by file name; none of them is in LFW."""

# Of the 68 points: right eye, left eye, tip of the nose, right and left corner of the mouth.
_FIVE = (range(36, 42), range(42, 48), (30,), (48,), (54,))


@dataclass(frozen=True, eq=False)
class LabelledVideo:
    """Boxes (n, 4) of one or more people in the frames (n,) of a video, with their tracks (n,)."""

    name: str
    path: Path
    frames: np.ndarray
    boxes: np.ndarray
    tracks: np.ndarray
    people: list[str]


def read_boxes(folder: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """File name to boxes (n, 4) and five points (n, 5, 2), from the XML files of a folder."""
    truth = {}
    for name in ("training_with_face_landmarks.xml", "testing_with_face_landmarks.xml"):
        path = folder / name
        if not path.is_file():
            raise MissingDataError(f"{str(path)!r} does not exist")
        try:
            images = list(ET.parse(path).getroot().iter("image"))
            for image in images:
                truth[image.attrib["file"]] = _read_image(image)
        except (ET.ParseError, KeyError, ValueError) as error:
            raise DataError(f"{str(path)!r} cannot be read: {error}") from error
    return truth


def _read_image(image: ET.Element) -> tuple[np.ndarray, np.ndarray]:
    boxes, points = [], []
    for box in image.iter("box"):
        boxes.append([float(box.attrib[key]) for key in ("left", "top", "width", "height")])
        parts = {
            int(p.attrib["name"]): (float(p.attrib["x"]), float(p.attrib["y"]))
            for p in box.iter("part")
        }
        points.append([np.mean([parts[k] for k in place], axis=0) for place in _FIVE])
    return np.array(boxes).reshape(-1, 4), np.array(points).reshape(-1, 5, 2)


def read_videos(folder: Path) -> list[LabelledVideo]:
    """The clip with three labelled tracks, and three of one box a frame."""
    try:
        with np.load(folder / "hamilton_face_tracks_64.npz", allow_pickle=False) as clip:
            hamilton = LabelledVideo(
                "hamilton",
                folder / "short_hamilton_clip.mp4",
                clip["frame"].astype(np.int64),
                clip["box_xywh"].astype(np.float64),
                clip["track"].astype(np.int64),
                [str(name) for name in clip["track_person"]],
            )
        with np.load(folder / "otb_face_tracks_64x48.npz", allow_pickle=False) as otb:
            names = [str(name) for name in otb["track_names"]]
            places = {name: folder / f"{name}.webm" for name in names}
            places["girl"] = folder / "girl" / "img"
            others = [
                LabelledVideo(
                    name,
                    places[name],
                    otb["frame"][otb["track"] == k].astype(np.int64),
                    otb["box_xywh"][otb["track"] == k].astype(np.float64),
                    np.zeros(int((otb["track"] == k).sum()), dtype=np.int64),
                    [name],
                )
                for k, name in enumerate(names)
            ]
    except (OSError, KeyError, ValueError) as error:
        raise DataError(
            f"the labels of the videos in {str(folder)!r} cannot be read: {error}"
        ) from error
    return [hamilton, *others]
