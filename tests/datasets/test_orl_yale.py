"""ORL and Yale: prepared files and original trees give the same, and damage is named."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.datasets import data_home as resolve_home
from mien.datasets import list_sets, load_faces, load_orl, load_yale
from mien.errors import DataError, ImageError, InputError, MissingDataError

CONDITIONS = ["centerlight", "glasses", "happy", "leftlight", "noglasses", "normal"]
CONDITIONS += ["rightlight", "sad", "sleepy", "surprised", "wink"]


@pytest.fixture
def orl_tree(tmp_path: Path) -> Path:
    for k in range(1, 41):
        folder = tmp_path / "orl" / f"s{k}"
        folder.mkdir(parents=True)
        for n in range(1, 11):
            pixels = np.full((14, 10), 5 * k + n, np.uint8)
            Image.fromarray(pixels).save(folder / f"{n}.pgm", "PPM")
    return tmp_path


@pytest.fixture
def yale_tree(tmp_path: Path) -> Path:
    folder = tmp_path / "yale"
    folder.mkdir()
    for k in range(1, 16):
        for n, condition in enumerate(CONDITIONS):
            pixels = np.full((10, 14), 10 * k + n, np.uint8)
            if k == 2 and condition == "normal":
                pixels[:] = 10 * k + CONDITIONS.index("glasses")
            Image.fromarray(pixels).save(folder / f"subject{k:02}.{condition}", "GIF")
    # The distribution has such leftovers as well.
    Image.fromarray(pixels).save(folder / "subject01.gif")
    (folder / "Readme.txt").write_text("the Yale faces")
    return tmp_path


def test_home_is_the_argument_or_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MIEN_DATA", raising=False)
    with pytest.raises(MissingDataError, match="name it, or set the environment"):
        load_orl()
    monkeypatch.setenv("MIEN_DATA", str(tmp_path))
    assert resolve_home() == tmp_path
    with pytest.raises(MissingDataError, match=r"the set 'orl' was not found.*orl' and "):
        load_orl()
    with pytest.raises(MissingDataError, match=r"the set 'yale' was not found: looked for yale\."):
        load_yale()
    monkeypatch.setenv("MIEN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(MissingDataError, match=r"MIEN_DATA names .*, which is not a folder"):
        load_orl()
    with pytest.raises(FileNotFoundError):
        load_orl(tmp_path / "nowhere")


def test_orl_tree(orl_tree: Path) -> None:
    for home in (orl_tree, orl_tree / "orl"):
        faces = load_orl(home)
        assert (len(faces), faces.n_people, faces.size) == (400, 40, (14, 10))
        np.testing.assert_array_equal(faces.people, np.repeat(np.arange(1, 41), 10))
        np.testing.assert_array_equal(
            faces.images[:, 3, 3], 5 * faces.people + faces.metadata["number"]
        )
    assert load_orl(orl_tree, size=(7, 5)).size == (7, 5)
    with pytest.raises(MissingDataError, match=r"olivetti_64x64\.npz' does not exist"):
        load_orl(orl_tree, variant="64x64")
    with pytest.raises(InputError, match="variant must be one of"):
        load_orl(orl_tree, variant="tiny")


def test_orl_tree_with_holes(orl_tree: Path) -> None:
    (orl_tree / "orl" / "s3" / "4.pgm").unlink()
    (orl_tree / "orl" / "s7" / "1.pgm").write_bytes(b"P5 92 112 255\n")
    with pytest.raises(ImageError, match=r"^2 of 400 .*s3/4\.pgm' does not exist.*s7/1\.pgm"):
        load_orl(orl_tree)
    faces = load_orl(orl_tree, on_error="skip")
    assert len(faces) == 398
    assert len(faces.skipped) == 2
    assert faces.metadata["file"][22] == "s3/3.pgm"
    assert faces.metadata["file"][23] == "s3/5.pgm"


def test_yale_tree_finds_the_duplicates_itself(yale_tree: Path) -> None:
    assert len(load_yale(yale_tree, duplicates=True)) == 165
    faces = load_yale(yale_tree)
    assert len(faces) == 164
    everything = load_yale(yale_tree, duplicates=True).metadata
    left_out = everything["identical_to"] != ""
    assert everything["file"][left_out].tolist() == ["subject02.normal"]
    assert everything["identical_to"][left_out].tolist() == ["glasses"]
    (yale_tree / "yale" / "subject01.sad").rename(yale_tree / "yale" / "subject01.sad.gif")
    assert len(load_yale(yale_tree)) == 164
    (yale_tree / "yale" / "subject09.wink").unlink()
    with pytest.raises(ImageError, match=r"1 of 165 .*subject09\.wink' does not exist"):
        load_yale(yale_tree)
    assert len(load_yale(yale_tree, on_error="skip")) == 163


def test_prepared_files_that_are_wrong(tmp_path: Path) -> None:
    path = tmp_path / "orl.npz"
    good = {
        "images": np.zeros((2, 4, 4), np.uint8),
        "subject": np.array([1, 2]),
        "index": np.array([1, 1]),
        "filename": np.array(["a", "b"]),
    }
    np.savez(path, **good)
    assert len(load_orl(tmp_path)) == 2

    def refused(reason: str, **changes: object) -> None:
        arrays = {k: v for k, v in {**good, **changes}.items() if v is not None}
        np.savez(path, **arrays)
        with pytest.raises(DataError, match=reason) as caught:
            load_orl(tmp_path)
        assert "orl.npz" in str(caught.value)

    refused("has no subject; it has filename, images, index", subject=None)
    refused("subject in .* has 3 entries for 2 images", subject=np.array([1, 2, 3]))
    refused(r"images in .* must have 3 dimension", images=np.zeros((2, 4), np.uint8))
    refused("images in .* must be uint8", images=np.zeros((2, 4, 4), np.uint16))
    refused("images in .* must have", images=np.full((2, 4, 4), np.nan))
    refused("images in .* must be uint8 and not empty", images=np.zeros((0, 4, 4), np.uint8))
    refused("not a readable npz file", subject=np.array([{}, {}], dtype=object))

    np.savez(path, **good)
    whole = path.read_bytes()
    for data in (b"", b"text", whole[: len(whole) // 2], whole[:100] + b"\xff" * 200 + whole[300:]):
        path.write_bytes(data)
        with pytest.raises(DataError, match=r"orl\.npz"):
            load_orl(tmp_path)
    np.save(tmp_path / "one.npy", np.zeros(3))
    (tmp_path / "one.npy").rename(path)
    with pytest.raises(DataError, match="not a readable npz file"):
        load_orl(tmp_path)


def test_mutated_npz_raises_nothing_but_data_errors(tmp_path: Path) -> None:
    rng = np.random.RandomState(0)
    path = tmp_path / "orl.npz"
    np.savez_compressed(
        path,
        images=rng.randint(0, 255, (3, 4, 4)).astype(np.uint8),
        subject=np.arange(3),
        index=np.arange(3),
        filename=np.array(["a", "b", "c"]),
    )
    seed = path.read_bytes()
    refused = 0
    for _ in range(300):
        data = bytearray(seed)
        for _ in range(rng.randint(1, 6)):
            data[rng.randint(len(data))] = rng.randint(256)
        path.write_bytes(bytes(data))
        try:
            load_orl(tmp_path)
        except DataError:
            refused += 1
    assert refused > 0


def test_a_huge_array_in_a_small_file_is_refused(tmp_path: Path) -> None:
    header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1000000, 1000, 1000), }"
    header += b" " * (118 - len(header) - 1) + b"\n"
    with zipfile.ZipFile(tmp_path / "orl.npz", "w") as archive:
        body = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
        archive.writestr("images.npy", body)
        for name in ("subject", "index", "filename"):
            archive.writestr(f"{name}.npy", body)
    with pytest.raises(DataError, match=r"orl\.npz"):
        load_orl(tmp_path)


def test_download_is_explicit_and_its_failure_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sklearn.datasets

    def no_network() -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_olivetti_faces", no_network)
    with pytest.raises(MissingDataError, match=r"could not be downloaded: no route"):
        load_orl(tmp_path, variant="64x64", download=True)
    with pytest.raises(MissingDataError, match="64×64 pictures only"):
        load_orl(tmp_path, download=True)

    class Fetched:
        images = np.linspace(0, 1, 400 * 4, dtype=np.float32).reshape(400, 2, 2)
        target = np.repeat(np.arange(40), 10)

    monkeypatch.setattr(sklearn.datasets, "fetch_olivetti_faces", Fetched)
    faces = load_orl(tmp_path, variant="64x64", download=True)
    assert faces.images.dtype == np.uint8
    assert faces.images.max() == 255
    assert faces.people.tolist()[::10] == list(range(1, 41))


@pytest.mark.parametrize(
    ("variant", "size"), [("full", (112, 92)), ("64x64", (64, 64)), ("32x32", (32, 32))]
)
def test_real_orl(data_home: Path, variant: str, size: tuple[int, int]) -> None:
    faces = load_orl(data_home, variant=variant)
    assert (len(faces), faces.n_people, faces.size) == (400, 40, size)
    assert set(np.unique(faces.people, return_counts=True)[1]) == {10}
    np.testing.assert_array_equal(faces.metadata["number"], np.tile(np.arange(1, 11), 40))


@pytest.mark.parametrize("variant", ["full", "64x64", "32x32"])
def test_real_yale(data_home: Path, variant: str) -> None:
    faces = load_yale(data_home, variant=variant)
    assert (len(faces), faces.n_people) == (156, 15)
    whole = load_yale(data_home, variant=variant, duplicates=True)
    assert len(whole) == 165
    assert sorted(np.unique(whole.metadata["condition"])) == CONDITIONS


def test_original_trees_give_what_the_prepared_files_give(data_home: Path, tmp_path: Path) -> None:
    """The trees are rebuilt from the prepared pictures in their original format and names."""
    orl = load_orl(data_home)
    yale = load_yale(data_home, duplicates=True)
    for faces, kind, name in ((orl, "PPM", "orl"), (yale, "GIF", "yale")):
        for image, file in zip(faces.images, faces.metadata["file"], strict=True):
            path = tmp_path / name / str(file)
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(path, kind)
    for prepared, tree in (
        (orl, load_orl(tmp_path)),
        (yale, load_yale(tmp_path, duplicates=True)),
        (load_yale(data_home), load_yale(tmp_path)),
    ):
        np.testing.assert_array_equal(tree.images, prepared.images)
        np.testing.assert_array_equal(tree.people, prepared.people)
        assert set(tree.metadata) == set(prepared.metadata)
        for name, values in prepared.metadata.items():
            np.testing.assert_array_equal(tree.metadata[name], values)
    found = {row["name"]: row for row in list_sets(tmp_path)}
    assert (found["orl"]["pictures"], found["orl"]["people"]) == (400, 40)
    assert (found["yale"]["pictures"], found["yale"]["people"]) == (165, 15)
    assert found["lfw"]["place"] is None
    assert "no pictures of LFW" in found["lfw"]["problem"]


def test_sets_by_name(data_home: Path) -> None:
    assert load_faces("orl", home=data_home, size=16).images.shape == (400, 16, 16)
    assert len(load_faces("yale", home=data_home)) == 156
