"""Last section of the demo: from photographs to people, by the verbs themselves."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.progress import report as report_progress
from mien.datasets import make_faces
from mien.demo._data import DemoData
from mien.errors import ImageError, NotEnoughDataError
from mien.evaluation import evaluate_verification
from mien.faces import PictureResult, analyse_pictures
from mien.gallery import Gallery
from mien.media import read_image, resize_images, write_image
from mien.recognition import (
    FaceModel,
    Failure,
    IdentifiedPicture,
    adapt_vectors,
    choose_face,
    identify_result,
    list_people,
    load_source,
)
from mien.reports import Report
from mien.verification import Verifier

__all__ = ["show_people"]

_SIDE = 128
_PICTURES = 3
_ADAPT = 16
_KNOWN = 6
_STRANGERS = 3
_FEWEST_TO_ADAPT = 4
_FPIR = 0.01
_LARGEST = 480
_COLUMNS = 4


@dataclass(frozen=True)
class _Album:
    """Pictures (h, w, 3) uint8 of each person, three or more."""

    people: dict[str, list[np.ndarray]]
    rendered: bool


def show_people(data: DemoData, report: Report) -> None:
    """Enrol people, refuse strangers, name everybody in a group picture; before and after."""
    report.heading("From photographs to people")
    album = _gather(data)
    names = list(album.people)
    n_test = min(_KNOWN + _STRANGERS, len(names) - _FEWEST_TO_ADAPT)
    if n_test < 2:
        n_test = len(names)  # too few to adapt to: the shipped verifier alone
    if n_test < 2:
        raise NotEnoughDataError(
            "this section needs two people with three pictures or more: one to enrol and one "
            f"stranger; got {len(names)}"
        )
    tested, others = names[:n_test], names[n_test:]
    known = tested[: max(1, round(n_test * _KNOWN / (_KNOWN + _STRANGERS)))]
    # Two of those enrolled stay away, so that there is a name left for a stranger.
    shown = tested[min(2, len(known) - 1) :]
    with tempfile.TemporaryDirectory(prefix="mien-demo-") as place:
        folder = Path(place)
        _write(folder / "people", album.people)
        group = _compose([album.people[name][-1] for name in shown])
        write_image(folder / "group.png", group)
        report_progress("photographs to people", 1, 4)
        side = group.shape[1] // min(_COLUMNS, len(shown))
        _run(data, report, album, folder, others, shown, known, side)


def _run(
    data: DemoData,
    report: Report,
    album: _Album,
    folder: Path,
    others: list[str],
    shown: list[str],
    known: list[str],
    side: int,
) -> None:
    source = load_source("sface")
    faces, group, failures = _embed(folder)
    report_progress("photographs to people", 2, 4)
    verifiers = {"as shipped": source.verifier}
    if others:
        verifiers["adapted"] = adapt_vectors(source, *_stack(faces, others))
    report_progress("photographs to people", 3, 4)
    tested = [name for name in faces if name not in others]
    rows, pictures = [], []
    with Gallery.create(folder / "people.gallery", source) as gallery:
        for name in known:
            # The group picture shows the last picture of everybody; those enrolled are others.
            mine = faces[name][: _PICTURES - 1]
            digests = [f"{known.index(name) * _PICTURES + k:064x}" for k in range(len(mine))]
            gallery.enrol(name, np.stack(mine), digests=digests)
        for name, verifier in verifiers.items():
            gallery.set_model(verifier)
            pictures.append(identify_result(group, gallery, _FPIR, 3))
            measured = _measure(verifier, *_stack(faces, tested))
            rows.append({"verifier": name, **measured, **_judge(pictures[-1], shown, known, side)})
    _tell(report, album, source, len(others), shown, known)
    report.table(
        "People that no verifier was shown", rows,
        f"All pairs of {len(tested)} people, three pictures each; intervals over people. "
        f"{failures} pictures without a usable face. The last two columns are about the group "
        "picture below, in which nobody can have the name of another who is there.",
    )  # fmt: skip
    report.gallery(
        [pictures[-1].draw()],
        ["green: enrolled and named; grey: unknown"],
        title=f"A group picture, named by the verifier {list(verifiers)[-1]}",
        columns=1,
    )
    if others:
        data.add_result(
            f"photographs, adapted to {len(others)} people",
            f"Cllr ({rows[0]['Cllr']['value']:.2f} before)",
            rows[1]["Cllr"],
        )
    else:
        data.add_result("photographs, verifier as shipped", "Cllr", rows[0]["Cllr"])
    report_progress("photographs to people", 4, 4)


def _tell(
    report: Report,
    album: _Album,
    source: FaceModel,
    n_adapt: int,
    shown: list[str],
    known: list[str],
) -> None:
    why = (
        "Rendered people are outside of what SFace and the shipped verifier know: to them they "
        "all look alike, and the ratio of two strangers is far too high. "
        if album.rendered
        else ""
    )
    moved = (
        f"`mien adapt` moves it by {n_adapt} other people with a few pictures each. "
        if n_adapt
        else "There are too few people to adapt it to some and to test it on others. "
    )
    report.text(
        f"YuNet finds the faces, SFace describes them, and the verifier that comes with mien "
        f"(learned from {source.card['people']:,} people of LFW) judges. {why}{moved}Then "
        f"{len(known)} people are enrolled, and a group picture of some of them and "
        f"{sum(name not in known for name in shown)} strangers is named, at a false positive "
        f"rate of {_FPIR:.0%} a stranger."
    )


def _gather(data: DemoData) -> _Album:
    """People with three pictures each: rendered, from the user's folder, or from the set."""
    wanted = min(_ADAPT + _KNOWN + _STRANGERS, data.train.n_people + data.test.n_people)
    if data.rendered:
        faces = make_faces(
            wanted, _PICTURES, _SIDE, colour=True, first_person=50_000,
            random_state=data.random_state,
        )  # fmt: skip
        pictures = list(np.round(255 * faces.images).astype(np.uint8))
        labels = [f"person {k // _PICTURES + 1}" for k in range(len(pictures))]
    elif data.folder is not None:
        return _Album(_read_folder(data.folder, wanted), False)
    else:
        images = np.concatenate([data.test.images, data.train.images])
        if images.dtype.kind == "f":
            images = np.round(255 * images).astype(np.uint8)
        pictures = list(images)
        labels = [str(p) for p in np.concatenate([data.test.people, data.train.people])]
    people: dict[str, list[np.ndarray]] = {}
    for picture, label in zip(pictures, labels, strict=True):
        people.setdefault(label, []).append(_surround(picture))
    full = {name: mine[:_PICTURES] for name, mine in people.items() if len(mine) >= _PICTURES}
    return _Album(dict(list(full.items())[:wanted]), data.rendered)


def _surround(picture: np.ndarray) -> np.ndarray:
    """A picture in colour with a margin: a face that fills its picture is easily missed."""
    if picture.ndim == 2:
        picture = np.repeat(picture[..., None], 3, axis=2)
    margin = picture.shape[0] // 4
    return np.pad(picture, ((margin, margin), (margin, margin), (0, 0)), mode="edge")


def _read_folder(folder: Path, wanted: int) -> dict[str, list[np.ndarray]]:
    """The first readable pictures of the first people, no larger than a screen."""
    people: dict[str, list[np.ndarray]] = {}
    for picture in list_people(folder)[0]:
        mine = people.get(picture.person, [])
        full = sum(len(pictures) >= _PICTURES for pictures in people.values())
        if len(mine) >= _PICTURES or full >= wanted:
            continue
        try:
            image = read_image(picture.path, colour=True)
        except ImageError:
            continue
        factor = min(1.0, _LARGEST / max(image.shape[:2]))
        size = (max(1, round(image.shape[0] * factor)), max(1, round(image.shape[1] * factor)))
        people.setdefault(picture.person, []).append(resize_images(image[None], size)[0])
    return {name: mine for name, mine in people.items() if len(mine) >= _PICTURES}


def _write(folder: Path, people: dict[str, list[np.ndarray]]) -> None:
    for name, pictures in people.items():
        (folder / name).mkdir(parents=True)
        for k, picture in enumerate(pictures):
            write_image(folder / name / f"{k}.png", picture)


def _compose(pictures: list[np.ndarray]) -> np.ndarray:
    """Pictures side by side in rows of four, as if they stood together."""
    side = max(max(picture.shape[:2]) for picture in pictures)
    tiles = []
    for picture in pictures:
        high, wide = (side - n for n in picture.shape[:2])
        around = ((high, 0), (wide // 2, wide - wide // 2), (0, 0))
        tiles.append(np.pad(picture, around, mode="edge"))
    columns = min(_COLUMNS, len(tiles))
    while len(tiles) % columns:
        tiles.append(np.full_like(tiles[0], 128))
    rows = [np.hstack(tiles[k : k + columns]) for k in range(0, len(tiles), columns)]
    return np.vstack(rows)


def _embed(folder: Path) -> tuple[dict[str, list[np.ndarray]], PictureResult, int]:
    """Vectors of everybody, what was found in the group picture, and failures to acquire."""
    listed = list_people(folder / "people")[0]
    paths = [*(picture.path for picture in listed), folder / "group.png"]
    results = list(analyse_pictures(paths, "sface"))
    faces: dict[str, list[np.ndarray]] = {}
    failures = 0
    for picture, result in zip(listed, results[:-1], strict=True):
        face = choose_face(result)
        if isinstance(face, Failure):
            failures += 1
        else:
            faces.setdefault(picture.person, []).append(face.vector)
    return faces, results[-1], failures


def _stack(faces: dict[str, list[np.ndarray]], names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Vectors (n, d) and people (n,) of those named."""
    vectors = [vector for name in names for vector in faces.get(name, [])]
    people = [name for name in names for _ in faces.get(name, [])]
    if not vectors:
        raise NotEnoughDataError("no usable face was found in the pictures")
    return np.stack(vectors).astype(np.float64), np.asarray(people)


def _measure(verifier: Verifier, X: np.ndarray, who: np.ndarray) -> dict[str, Any]:
    first, second = np.triu_indices(len(X), 1)
    scores = verifier.score_pairs(X[first], X[second])
    pairs = who[np.column_stack([first, second])]
    same = pairs[:, 0] == pairs[:, 1]
    found = evaluate_verification(
        scores[same], scores[~same], fars=(0.01,), llr=True,
        people=(pairs[same, 0], pairs[~same]), n_bootstrap=200,
    )  # fmt: skip
    rate = found["verification_rates"][0]
    return {"Cllr": found["cllr"], "TPR at 1 % FAR": {k: rate[k] for k in ("value", "low", "high")}}


def _judge(
    picture: IdentifiedPicture, shown: list[str], known: list[str], side: int
) -> dict[str, Any]:
    """How many of the group were named rightly, and how many strangers were refused.

    Who is who follows from the place: tiles of ``side`` pixels in the order of ``shown``.
    """
    columns = min(_COLUMNS, len(shown))
    boxes = np.array([face.found.face.box for face in picture.faces]).reshape(-1, 4)
    centres = boxes[:, :2] + boxes[:, 2:] / 2
    places = (centres[:, 1] // side * columns + centres[:, 0] // side).astype(int)
    named, refused = 0, 0
    for place, face in zip(places, picture.faces, strict=True):
        truth = shown[place] if place < len(shown) and shown[place] in known else None
        named += int(truth is not None and face.person == truth)
        refused += int(place < len(shown) and truth is None and face.person is None)
    strangers = sum(name not in known for name in shown)
    return {
        "enrolled, named": f"{named} of {len(shown) - strangers}",
        "strangers, refused": f"{refused} of {strangers}",
    }
