"""LFW: its protocol to the letter, its pictures by parts, its embeddings."""

from __future__ import annotations

import io
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.datasets import load_lfw, load_lfw_embeddings, load_lfw_protocol
from mien.errors import DataError, ImageError, InputError, MissingDataError

# Twenty people in ten folds; the first of each fold has two pictures.
NAMES = [f"{first}_{k}" for k in range(10) for first in ("Al", "Bo")]
COUNTS = {name: 2 if name.startswith("Al") else 1 for name in NAMES}


def _jpeg(value: int, size: int = 16) -> bytes:
    buffer = io.BytesIO()
    Image.new("L", (size, size), value).save(buffer, "JPEG", quality=95)
    return buffer.getvalue()


def _texts() -> dict[str, list[str]]:
    def people(names: list[str]) -> list[str]:
        return [str(len(names)), *(f"{name}\t{COUNTS[name]}" for name in names)]

    def pairs(folds: range) -> list[str]:
        return [line for k in folds for line in (f"Al_{k}\t1\t2", f"Al_{k}\t2\tBo_{k}\t1")]

    def dev(folds: range) -> list[str]:
        lines = pairs(folds)
        return [str(len(folds)), *lines[::2], *lines[1::2]]

    return {
        "people.txt": ["10", *(line for k in range(10) for line in people(NAMES[2 * k :][:2]))],
        "peopleDevTrain.txt": people(NAMES[:12]),
        "peopleDevTest.txt": people(NAMES[12:]),
        "pairs.txt": ["10\t1", *pairs(range(10))],
        "pairsDevTrain.txt": dev(range(6)),
        "pairsDevTest.txt": dev(range(6, 10)),
    }


def _write(place: Path, texts: dict[str, list[str]]) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    for name, lines in texts.items():
        (place / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A small LFW as a tree, with its texts."""
    _write(tmp_path / "lfw", _texts())
    for k, (name, count) in enumerate(COUNTS.items()):
        folder = tmp_path / "lfw" / "lfw_funneled" / name
        folder.mkdir(parents=True)
        for n in range(1, count + 1):
            (folder / f"{name}_{n:04}.jpg").write_bytes(_jpeg(10 * k + n))
    return tmp_path


def test_protocol_from_the_texts(small: Path) -> None:
    protocol = load_lfw_protocol(small)
    assert len(protocol.files) == 30
    assert protocol.files.tolist() == sorted(protocol.files.tolist())
    assert len(protocol.pairs) == 20
    for pair, same, fold in zip(protocol.pairs, protocol.same, protocol.fold, strict=True):
        a, b = protocol.people[pair]
        assert (a == b) == same
        assert a.endswith(f"_{fold}")
        assert b.endswith(f"_{fold}")
    train, test = protocol.view1()
    assert (len(train.pairs), len(test.pairs)) == (12, 8)
    rows, others = protocol.view1_rows()
    assert (len(rows), len(others)) == (18, 12)


def test_view_two_learns_from_nine_folds(small: Path) -> None:
    protocol = load_lfw_protocol(small)
    restricted = list(protocol.view2("restricted"))
    assert [part.fold for part in restricted] == list(range(10))
    for part in restricted:
        assert len(part.train.pairs) == 18
        assert part.test.same.tolist() == [True, False]
        assert part.train_rows is None
        assert part.train_people is None
        assert set(protocol.people[part.train.pairs].ravel()).isdisjoint(
            protocol.people[part.test.pairs].ravel()
        )
    for part in protocol.view2("unrestricted"):
        assert len(part.train_rows) == 27
        np.testing.assert_array_equal(part.train_people, protocol.people[part.train_rows])
        assert set(part.train_people).isdisjoint(protocol.people[part.test.pairs].ravel())
        together = np.r_[part.train_rows, protocol.rows_of_fold(part.fold)]
        np.testing.assert_array_equal(np.sort(together), np.arange(30))
    with pytest.raises(InputError, match="setting must be one of"):
        protocol.view2("free")
    with pytest.raises(InputError, match="fold must be"):
        protocol.rows_of_fold(10)


@pytest.mark.parametrize(
    ("file", "line", "text", "reason"),
    [
        ("people.txt", 1, "9", "10 folds are expected"),
        ("people.txt", 1, "ten", "must be a number from 1 on; got 'ten'"),
        ("people.txt", 3, "Al_0", r"2 field\(s\) separated by tabs"),
        ("people.txt", 3, "Al_0 2", r"2 field\(s\) separated by tabs"),
        ("people.txt", 3, "../etc\t1", "not the name of a person's folder"),
        ("people.txt", 4, "Al_0\t2", "listed twice"),
        ("people.txt", 3, "Al_0\t-2", "must be a number"),
        ("people.txt", 3, "Al_0\t²", "must be a number"),
        ("people.txt", 3, "Al_0\t9999999999", "must be a number"),
        ("peopleDevTrain.txt", 2, "Al_0\t3", "does not agree with people.txt"),
        ("peopleDevTest.txt", 2, "Al_0\t2", "does not agree with people.txt, or is listed twice"),
        ("pairs.txt", 1, "5\t1", "10 folds are expected; got 5"),
        ("pairs.txt", 2, "Al_0\t1\t1", "paired with itself"),
        ("pairs.txt", 2, "Al_0\t1\t3", r"has 2 picture\(s\), not 3"),
        ("pairs.txt", 2, "Al_0\t0\t1", "must be a number from 1 on"),
        ("pairs.txt", 3, "Al_0\t1\tAl_0\t2", "names one person"),
        ("pairs.txt", 3, "Al_0\t1\tNobody\t1", "'Nobody' is not in people.txt"),
        ("pairs.txt", 4, "", "a pair of one person"),
        ("pairsDevTest.txt", 1, "5", "a pair of one person"),
        ("pairsDevTrain.txt", 1, "5", "a pair of two people"),
    ],
)
def test_texts_that_depart_are_named_with_their_line(
    tmp_path: Path, file: str, line: int, text: str, reason: str
) -> None:
    texts = _texts()
    texts[file][line - 1] = text
    place = _write(tmp_path / "lfw", texts)
    with pytest.raises(DataError, match=reason) as caught:
        load_lfw_protocol(place)
    assert f"{file}', line " in str(caught.value)
    if "Dev" not in file or line != 1:
        assert f"line {line}:" in str(caught.value)


def test_texts_cut_or_continued(tmp_path: Path) -> None:
    texts = _texts()
    place = _write(tmp_path / "lfw", {**texts, "pairs.txt": texts["pairs.txt"][:-1]})
    with pytest.raises(DataError, match=r"pairs\.txt', line 21: the file ends where"):
        load_lfw_protocol(place)
    _write(place, {"pairs.txt": [*texts["pairs.txt"], "Al_0\t1\t2"]})
    with pytest.raises(DataError, match=r"pairs\.txt', line 22: nothing more is expected"):
        load_lfw_protocol(place)
    (place / "pairs.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="cannot be read as text"):
        load_lfw_protocol(place)
    _write(place, texts)
    (place / "pairsDevTest.txt").unlink()
    with pytest.raises(MissingDataError, match=r"pairsDevTest\.txt' does not exist"):
        load_lfw_protocol(place)
    with pytest.raises(MissingDataError, match=r"looked for pairs\.txt or lfw_index\.npz"):
        load_lfw_protocol(tmp_path.parent)


def test_pictures_of_a_tree(small: Path) -> None:
    faces = load_lfw(small)
    protocol = load_lfw_protocol(small)
    assert len(faces) == 30
    np.testing.assert_array_equal(protocol.locate(faces.metadata["file"]), np.arange(30))
    assert faces.metadata["number"].tolist()[:3] == [1, 2, 1]
    chosen = load_lfw(small, people=["Bo_3", "Al_3"])
    assert chosen.people.tolist() == ["Al_3", "Al_3", "Bo_3"]
    np.testing.assert_allclose(chosen.images[:, 8, 8], [61, 62, 71], atol=2)
    pairs, fold = protocol.pairs_among(chosen.metadata["file"])
    assert pairs.pairs.tolist() == [[0, 1], [1, 2]]
    assert pairs.same.tolist() == [True, False]
    assert fold.tolist() == [3, 3]
    assert load_lfw(small, people="Bo_3").people.tolist() == ["Bo_3"]
    assert load_lfw(small, min_pictures=2).n_people == 10
    assert load_lfw(small, size=8, colour=True).images.shape == (30, 8, 8, 3)
    with pytest.raises(InputError, match="1 of 1 files are not of LFW, such as 'x'"):
        protocol.locate(["x"])


def test_pictures_that_are_not_there(small: Path) -> None:
    with pytest.raises(MissingDataError, match=r"1 of 2 people are not in .*'Nobody'"):
        load_lfw(small, people=["Al_1", "Nobody"])
    with pytest.raises(DataError, match=r"nobody is left of 20 people.* is 2, and min_pictures"):
        load_lfw(small, min_pictures=3)
    (small / "lfw" / "lfw_funneled" / "Al_1" / "Al_1_0002.jpg").write_bytes(b"")
    with pytest.raises(ImageError, match=r"1 of 30 .*Al_1_0002\.jpg' is empty"):
        load_lfw(small)
    assert len(load_lfw(small, on_error="skip").skipped) == 1
    with pytest.raises(MissingDataError, match=r"looked for lfw_deepfunneled_128\.zip"):
        load_lfw(small.parent)
    with pytest.raises(InputError, match="min_pictures"):
        load_lfw(small, min_pictures=0)


def _archive(place: Path, members: dict[str, bytes]) -> Path:
    place.mkdir(exist_ok=True)
    with zipfile.ZipFile(place / "lfw_deepfunneled_128.zip", "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return place


def test_pictures_of_the_archive(tmp_path: Path) -> None:
    good = {f"Al/Al_{n:04}.jpg": _jpeg(50 * n) for n in (2, 1)}
    place = _archive(tmp_path / "lfw", good)
    faces = load_lfw(tmp_path)
    assert faces.metadata["file"].tolist() == sorted(good)
    np.testing.assert_allclose(faces.images[:, 0, 0], [50, 100], atol=2)
    with pytest.raises(MissingDataError, match=r"no colour pictures .*prepared archive is grey"):
        load_lfw(tmp_path, colour=True)
    _archive(place, {**good, "Bo/Bo_0001.jpg": b"text"})
    with pytest.raises(ImageError, match=r"'Bo/Bo_0001\.jpg' in .*zip' is not a picture"):
        load_lfw(tmp_path)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../Al/Al_0003.jpg", r"'\.\./Al/Al_0003\.jpg' leads out of the archive"),
        ("Al/../../Al_0003.jpg", "leads out of the archive"),
        ("/Al/Al_0003.jpg", "leads out of the archive"),
        ("Al/Bo_0001.jpg", "is not named like"),
        ("Al_0001.jpg", "is not named like"),
    ],
)
def test_names_that_lead_out_of_the_archive(tmp_path: Path, name: str, reason: str) -> None:
    _archive(tmp_path / "lfw", {"Al/Al_0001.jpg": _jpeg(9), name: _jpeg(9)})
    with pytest.raises(DataError, match=reason):
        load_lfw(tmp_path)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["lfw", "lfw_deepfunneled_128.zip"]


def test_archives_that_are_none(tmp_path: Path) -> None:
    place = _archive(tmp_path / "lfw", {"Al/Al_0001.jpg": _jpeg(9)})
    path = place / "lfw_deepfunneled_128.zip"
    whole = path.read_bytes()
    for data in (b"", b"text", whole[:-30]):
        path.write_bytes(data)
        with pytest.raises(DataError, match="not a readable zip archive"):
            load_lfw(tmp_path)
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :])
    with pytest.raises(ImageError, match=r"1 of 1 pictures cannot be used.*cannot be read"):
        load_lfw(tmp_path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Al/Al_0001.jpg", bytes(33 * 2**20))
    with pytest.raises(DataError, match="34,603,008 bytes, more than"):
        load_lfw(tmp_path)


def test_download_reads_what_scikit_learn_unpacked(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sklearn.datasets

    empty = tmp_path / "empty"
    empty.mkdir()
    (tmp_path / "cache").mkdir()
    shutil.move(small / "lfw", tmp_path / "cache" / "lfw_home")
    monkeypatch.setattr(sklearn.datasets, "fetch_lfw_people", lambda **_: None)
    monkeypatch.setattr(sklearn.datasets, "get_data_home", lambda: str(tmp_path / "cache"))
    assert len(load_lfw(empty, download=True)) == 30

    def no_network(**_: object) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_lfw_people", no_network)
    with pytest.raises(MissingDataError, match="LFW could not be downloaded: no route"):
        load_lfw(empty, download=True)


def test_embeddings_that_are_wrong(small: Path) -> None:
    path = small / "lfw" / "lfw_dlib128.npz"
    vectors = np.random.RandomState(0).rand(30, 4).astype(np.float32)
    np.savez(path, embeddings=vectors, detected=np.ones(30, np.uint8))
    found = load_lfw_embeddings(small)
    np.testing.assert_array_equal(found.vectors, vectors)
    assert found.detected.dtype == bool
    assert found.people[0] == "Al_0"
    bad = vectors.copy()
    bad[3, 2] = np.nan
    np.savez(path, embeddings=bad, detected=np.ones(30, np.uint8))
    with pytest.raises(DataError, match=r"embeddings in .*lfw_dlib128\.npz' has 1 NaN"):
        load_lfw_embeddings(small)
    np.savez(path, embeddings=vectors[:29], detected=np.ones(29, np.uint8))
    with pytest.raises(DataError, match="29 vectors and 29 marks for the 30 pictures"):
        load_lfw_embeddings(small)
    np.savez(path, vectors=vectors)
    with pytest.raises(DataError, match="has no detected, embeddings; it has vectors"):
        load_lfw_embeddings(small)
    with pytest.raises(InputError, match="name must be one of"):
        load_lfw_embeddings(small, "facenet")
    with pytest.raises(MissingDataError, match=r"looked for lfw_sface128\.npz"):
        load_lfw_embeddings(small, "sface")


def test_official_texts_agree_with_the_prepared_index(data_home: Path, tmp_path: Path) -> None:
    texts = load_lfw_protocol(data_home)
    assert "official texts" in texts.source
    (tmp_path / "lfw").mkdir()
    shutil.copy(data_home / "lfw" / "lfw_index.npz", tmp_path / "lfw")
    index = load_lfw_protocol(tmp_path)
    assert "lfw_index.npz" in index.source
    for name in ("files", "people", "names", "name_fold", "name_dev", "pairs", "same", "fold"):
        np.testing.assert_array_equal(getattr(texts, name), getattr(index, name), err_msg=name)
    for name in ("dev_train", "dev_test"):
        for ours, theirs in zip(getattr(texts, name), getattr(index, name), strict=True):
            np.testing.assert_array_equal(ours, theirs, err_msg=name)


def test_real_protocol(data_home: Path) -> None:
    protocol = load_lfw_protocol(data_home)
    assert (len(protocol.files), len(protocol.names)) == (13_233, 5_749)
    np.testing.assert_array_equal(np.bincount(protocol.fold), np.full(10, 600))
    for k in range(10):
        assert protocol.same[protocol.fold == k].sum() == 300
    assert (len(protocol.dev_train.pairs), len(protocol.dev_test.pairs)) == (2_200, 1_000)
    people = protocol.people
    np.testing.assert_array_equal(
        people[protocol.pairs[:, 0]] == people[protocol.pairs[:, 1]], protocol.same
    )
    fold_of = dict(zip(protocol.names.tolist(), protocol.name_fold.tolist(), strict=True))
    for side in (0, 1):  # nobody is ever compared outside of their own fold
        owner = [fold_of[name] for name in people[protocol.pairs[:, side]].tolist()]
        np.testing.assert_array_equal(owner, protocol.fold)
    train, test = protocol.view1_rows()
    assert np.isin(protocol.dev_train.pairs, train).all()
    assert np.isin(protocol.dev_test.pairs, test).all()


def test_real_pictures_by_parts(data_home: Path) -> None:
    faces = load_lfw(data_home, min_pictures=100, size=32)
    assert (len(faces), faces.n_people, faces.size) == (1_140, 5, (32, 32))
    one = load_lfw(data_home, people=["Zydrunas_Ilgauskas"])
    assert one.images.shape == (1, 128, 128)
    protocol = load_lfw_protocol(data_home)
    assert protocol.locate(one.metadata["file"]).tolist() == [13_232]


def test_real_originals_in_colour(data_home: Path) -> None:
    faces = load_lfw(data_home / "lfw" / "sample_originals", colour=True, size=50)
    assert faces.images.shape == (120, 50, 50, 3)
    assert faces.n_people == 20


@pytest.mark.parametrize(
    ("name", "failures"), [("dlib", 74), ("sface", 3), ("sface-covered", 3), ("sface-lowres", 3)]
)
def test_real_embeddings(data_home: Path, name: str, failures: int) -> None:
    found = load_lfw_embeddings(data_home, name)
    assert found.vectors.shape == (13_233, 128)
    assert found.vectors.dtype == np.float32
    assert np.count_nonzero(~found.detected) == failures
    protocol = load_lfw_protocol(data_home)
    np.testing.assert_array_equal(found.files, protocol.files)
    # Rows fit the protocol: genuine pairs are nearer than impostor pairs.
    a, b = (found.vectors[protocol.pairs[:, side]] for side in (0, 1))
    cosine = (a * b).sum(1) / np.maximum(
        np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1), 1e-9
    )
    assert (
        cosine[protocol.same].mean()
        > cosine[~protocol.same].mean() + 2 * cosine[~protocol.same].std()
    )
