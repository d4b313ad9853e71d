"""Sidecars: what we write is read by exiftool, exiv2 and ourselves, and nothing foreign is lost."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.errors import DataError, InputError
from mien.media import (
    NamedRegion,
    embed_names,
    picture_time,
    read_image,
    read_xmp,
    turn_box,
    upright_size,
    write_sidecar,
)
from tests.near import assert_near

BOX = (0.1, 0.2, 0.3, 0.25)
FOREIGN = """<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/"
 xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#"
 xmlns:stDim="http://ns.adobe.com/xap/1.0/sType/Dimensions#"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:own="http://example.org/own/">
<rdf:RDF><rdf:Description rdf:about="" own:Rating="7">
 <dc:subject><rdf:Bag><rdf:li>beach</rdf:li></rdf:Bag></dc:subject>
 <own:History><rdf:Seq><rdf:li own:when="now">cut</rdf:li></rdf:Seq></own:History>
 <mwg-rs:Regions><rdf:Description>
  <mwg-rs:AppliedToDimensions stDim:w="200" stDim:h="100" stDim:unit="pixel"/>
  <mwg-rs:RegionList><rdf:Bag>
   <rdf:li><rdf:Description mwg-rs:Name="Zoe" mwg-rs:Type="Face">
     <mwg-rs:Area stArea:x="0.8" stArea:y="0.5"
      stArea:w="0.2" stArea:h="0.4" stArea:unit="normalized"/>
   </rdf:Description></rdf:li>
   <rdf:li><rdf:Description mwg-rs:Name="Rex" mwg-rs:Type="Pet">
     <mwg-rs:Area stArea:x="0.5" stArea:y="0.9"
      stArea:w="0.1" stArea:h="0.1" stArea:unit="normalized"/>
   </rdf:Description></rdf:li>
  </rdf:Bag></mwg-rs:RegionList></rdf:Description></mwg-rs:Regions>
</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"""


def make_picture(path: Path, orientation: int = 1, size: tuple[int, int] = (200, 100)) -> Path:
    """A black picture with a white patch at BOX of the picture as it is stored."""
    pixels = np.zeros((size[1], size[0], 3), np.uint8)
    left, top, width, height = BOX
    rows = slice(round(top * size[1]), round((top + height) * size[1]))
    pixels[rows, round(left * size[0]) : round((left + width) * size[0])] = 255
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(pixels).save(path, exif=exif, quality=95)
    return path


@pytest.mark.parametrize("orientation", range(1, 9))
def test_boxes_turn_with_the_picture(tmp_path: Path, orientation: int) -> None:
    """Where decoding puts the patch is where the turned box says it is."""
    path = make_picture(tmp_path / "a.jpg", orientation)
    upright = read_image(path, colour=False) > 128
    rows, columns = np.flatnonzero(upright.any(axis=1)), np.flatnonzero(upright.any(axis=0))
    height, width = upright.shape
    seen = (
        columns[0] / width, rows[0] / height,
        len(columns) / width, len(rows) / height,
    )  # fmt: skip
    turned = turn_box(BOX, orientation, to_stored=False)
    assert np.abs(np.subtract(turned, seen)).max() < 0.03
    assert_near(
        np.asarray(turn_box(turned, orientation, to_stored=True)), np.asarray(BOX), digits=9
    )


@pytest.mark.parametrize("orientation", range(1, 9))
def test_what_is_written_is_read_again(tmp_path: Path, orientation: int) -> None:
    path = make_picture(tmp_path / "a.jpg", orientation)
    before = path.read_bytes()
    faces = [NamedRegion("Ann Lee", BOX), NamedRegion("Åse & <Bo>", (0.6, 0.5, 0.2, 0.3))]
    change = write_sidecar(path, [*faces, NamedRegion(None, (0.0, 0.0, 0.1, 0.1))], keywords=True)
    assert change.path == tmp_path / "a.jpg.xmp"
    assert change.added == ["Ann Lee", "Åse & <Bo>"]
    found = read_xmp(path)
    assert [one.name for one in found.regions] == ["Ann Lee", "Åse & <Bo>"]
    for one, face in zip(found.regions, faces, strict=True):
        assert np.abs(np.subtract(one.box, face.box)).max() < 1e-5
    assert found.names == []
    assert path.read_bytes() == before


def test_writing_twice_changes_nothing(tmp_path: Path) -> None:
    path = make_picture(tmp_path / "a.jpg")
    write_sidecar(path, [NamedRegion("Ann", BOX)])
    before = (tmp_path / "a.jpg.xmp").read_bytes()
    change = write_sidecar(path, [NamedRegion("Ann", BOX)])
    assert (change.added, change.already, change.kept) == ([], ["Ann"], [])
    assert (tmp_path / "a.jpg.xmp").read_bytes() == before


def test_foreign_entries_stay(tmp_path: Path) -> None:
    path = make_picture(tmp_path / "a.jpg")
    sidecar = tmp_path / "a.jpg.xmp"
    sidecar.write_text(FOREIGN, encoding="utf-8")
    change = write_sidecar(
        path, [NamedRegion("Ann", BOX), NamedRegion("not Zoe", (0.7, 0.3, 0.2, 0.4))]
    )
    assert change.added == ["Ann"]
    assert change.kept == [("Zoe", "not Zoe")]
    text = sidecar.read_text(encoding="utf-8")
    for word in ("beach", "own:Rating", "own:when", "Rex", "Zoe"):
        assert word in text
    assert {one.name for one in read_xmp(path).regions} == {"Zoe", "Ann"}


def test_a_marked_face_without_a_name_gets_one(tmp_path: Path) -> None:
    path = make_picture(tmp_path / "a.jpg")
    sidecar = tmp_path / "a.jpg.xmp"
    sidecar.write_text(FOREIGN.replace('mwg-rs:Name="Zoe" ', ""), encoding="utf-8")
    assert [one.name for one in read_xmp(path).regions] == [None]
    write_sidecar(path, [NamedRegion("Zoe", (0.7, 0.3, 0.2, 0.4))])
    assert [one.name for one in read_xmp(path).regions] == ["Zoe"]


def test_names_without_places(tmp_path: Path) -> None:
    path = make_picture(tmp_path / "a.jpg")
    packet = """<x:xmpmeta xmlns:x="adobe:ns:meta/"
     xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
     xmlns:I="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
     xmlns:lr="http://ns.adobe.com/lightroom/1.0/"><rdf:RDF><rdf:Description rdf:about="">
     <I:PersonInImage><rdf:Bag><rdf:li>Ann</rdf:li><rdf:li>Bob</rdf:li></rdf:Bag></I:PersonInImage>
     <lr:hierarchicalSubject><rdf:Bag><rdf:li>People|Cy</rdf:li><rdf:li>Places|Rome</rdf:li>
     </rdf:Bag></lr:hierarchicalSubject></rdf:Description></rdf:RDF></x:xmpmeta>"""
    (tmp_path / "a.xmp").write_text(packet, encoding="utf-8")
    assert read_xmp(path).names == ["Ann", "Bob", "Cy"]


def test_a_packet_inside_the_picture(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    info = __import__("PIL.PngImagePlugin", fromlist=["PngInfo"]).PngInfo()
    info.add_itxt("XML:com.adobe.xmp", FOREIGN.partition("?>")[2])
    Image.new("RGB", (200, 100)).save(path, pnginfo=info)
    assert [one.name for one in read_xmp(path).regions] == ["Zoe"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no xml",
        b"<x:xmpmeta",
        b"\xff\xfe\x00",
        b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        b"<a>" + b"x" * (9 * 2**20) + b"</a>",
    ],
)
def test_broken_packets_are_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = make_picture(tmp_path / "a.jpg")
    (tmp_path / "a.jpg.xmp").write_bytes(content)
    with pytest.raises(DataError):
        read_xmp(path)
    with pytest.raises(DataError):
        write_sidecar(path, [NamedRegion("Ann", BOX)])
    assert (tmp_path / "a.jpg.xmp").read_bytes() == content


@pytest.mark.parametrize("orientation", [1, 6])
def test_exiftool_reads_every_field(tmp_path: Path, orientation: int) -> None:
    if shutil.which("exiftool") is None:
        pytest.skip("exiftool (Debian: libimage-exiftool-perl) is not installed")
    path = make_picture(tmp_path / "a.jpg", orientation)
    write_sidecar(path, [NamedRegion("Ann Lee", BOX)], keywords=True)
    done = subprocess.run(
        ["exiftool", "-struct", "-j", "a.jpg.xmp"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    (said,) = json.loads(done.stdout)
    info = said["RegionInfo"]
    assert info["AppliedToDimensions"] == {"W": 200, "H": 100, "Unit": "pixel"}
    (region,) = info["RegionList"]
    assert (region["Name"], region["Type"], region["Area"]["Unit"]) == (
        "Ann Lee", "Face", "normalized",
    )  # fmt: skip
    left, top, width, height = turn_box(BOX, orientation, to_stored=True)
    expected = [left + width / 2, top + height / 2, width, height]
    got = [float(region["Area"][key]) for key in "XYWH"]
    assert np.abs(np.subtract(got, expected)).max() < 1e-5
    microsoft = said["RegionInfoMP"]["Regions"][0]
    assert microsoft["PersonDisplayName"] == "Ann Lee"
    corner = [float(part) for part in microsoft["Rectangle"].split(",")]
    assert np.abs(np.subtract(corner, (left, top, width, height))).max() < 1e-5
    assert said["PersonInImage"] in ("Ann Lee", ["Ann Lee"])
    assert said["HierarchicalSubject"] in ("People|Ann Lee", ["People|Ann Lee"])


def test_exiv2_reads_the_sidecar(tmp_path: Path) -> None:
    if shutil.which("exiv2") is None:
        pytest.skip("exiv2 is not installed")
    path = make_picture(tmp_path / "a.jpg")
    write_sidecar(path, [NamedRegion("Ann Lee", BOX)])
    done = subprocess.run(
        ["exiv2", "-PXkv", "a.jpg.xmp"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "mwg-rs:Name" in done.stdout
    assert "MPReg:PersonDisplayName" in done.stdout
    assert done.stdout.count("Ann Lee") == 3


needs_exiftool = pytest.mark.skipif(
    shutil.which("exiftool") is None,
    reason="exiftool (Debian: libimage-exiftool-perl) is not installed",
)


@needs_exiftool
@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp"])
def test_names_are_embedded_with_a_backup(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"-a b{suffix}"
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 256, (60, 80, 3), np.uint8)).save(path)
    before = path.read_bytes()
    change = embed_names(path, [NamedRegion("Zoë Ng", BOX)], keywords=True)
    assert change.added == ["Zoë Ng"]
    assert (tmp_path / f"-a b{suffix}_original").read_bytes() == before
    assert not (tmp_path / f"-a b{suffix}.xmp").exists()
    (region,) = read_xmp(path).regions
    assert region.name == "Zoë Ng"
    assert np.abs(np.subtract(region.box, BOX)).max() < 1e-5
    with Image.open(path) as after, Image.open(tmp_path / f"-a b{suffix}_original") as original:
        assert np.array_equal(np.asarray(after), np.asarray(original))  # not a pixel
    written = path.read_bytes()
    again = embed_names(path, [NamedRegion("Zoë Ng", BOX)])
    assert again.already == ["Zoë Ng"]
    assert path.read_bytes() == written


@needs_exiftool
def test_embedding_keeps_what_others_wrote(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "A camera"
    Image.new("RGB", (80, 60)).save(path, exif=exif)
    subprocess.run(
        ["exiftool", "-q", "-overwrite_original", "-XMP-dc:Title=A title", "-XMP:Rating=4", path],
        check=True,
    )
    embed_names(path, [NamedRegion("Ann", BOX)])
    told = json.loads(
        subprocess.run(
            ["exiftool", "-struct", "-j", path], capture_output=True, text=True, check=True
        ).stdout
    )[0]
    assert (told["Title"], told["Rating"], told["Make"]) == ("A title", 4, "A camera")
    assert told["RegionInfo"]["RegionList"][0]["Name"] == "Ann"
    assert told["PersonInImage"] == "Ann" or told["PersonInImage"] == ["Ann"]
    (region,) = read_xmp(path).regions
    assert np.abs(np.subtract(region.box, BOX)).max() < 1e-5  # there and back by the orientation
    other = embed_names(path, [NamedRegion("Bob", BOX)])
    assert other.kept == [("Ann", "Bob")]


@needs_exiftool
def test_a_picture_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.bmp"
    Image.new("RGB", (80, 60)).save(path)
    with pytest.raises(DataError, match="exiftool cannot write"):
        embed_names(path, [NamedRegion("Ann", BOX)])
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.bmp"]


def test_without_exiftool_there_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.new("RGB", (80, 60)).save(tmp_path / "a.jpg")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="needs the program exiftool"):
        embed_names(tmp_path / "a.jpg", [NamedRegion("Ann", BOX)])


@pytest.mark.filterwarnings("error")
def test_headers_of_large_pictures_and_of_phones(tmp_path: Path) -> None:
    """Size and time come from the header alone, without limits and warnings."""
    exif = Image.Exif()
    exif[0x0132] = "2024:06:15 12:00:00"
    large = tmp_path / "large.jpg"
    Image.new("L", (9_600, 9_600)).save(large, exif=exif)  # more than Pillow likes
    assert upright_size(large) == (9_600, 9_600)
    when = picture_time(large)
    assert when is not None
    assert when.clock == "exif"
    write_sidecar(large, [NamedRegion("Ann", BOX)])
    (region,) = read_xmp(large).regions
    assert region.name == "Ann"
