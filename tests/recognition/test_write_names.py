"""Names leave as sidecars: those that a person gave, and on request those that mien found."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mien.errors import DataError, InputError
from mien.gallery import Gallery
from mien.media import read_xmp, write_image
from mien.recognition import (
    count_unconfirmed,
    enrol,
    enrol_names,
    export_xmp,
    identify,
    write_names,
)

pytestmark = pytest.mark.needs("faces")


@pytest.fixture(scope="module")
def gallery(album: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("gallery") / "people.gallery"
    enrol(album, place, n_jobs=1)
    return place


def test_only_confirmed_names_by_default(
    album: Path, gallery: Path, pictures: dict[str, list[np.ndarray]], tmp_path: Path
) -> None:
    known = tmp_path / "known.png"
    known.write_bytes((album / "Ann" / "0.png").read_bytes())
    new = tmp_path / "new.png"
    write_image(new, pictures["Bob"][0][:, ::-1])
    found = {one.path.name: one for one in identify([known, new], gallery, fpir=0.4, n_jobs=1)}
    change = write_names(found["known.png"], gallery)
    assert change is not None
    assert change.added == ["Ann"]
    (region,) = read_xmp(known).regions
    box = found["known.png"].faces[0].found.face.box
    height, width = pictures["Ann"][0].shape[:2]
    expected = box / np.array([width, height, width, height])
    assert region.name == "Ann"
    assert np.abs(np.clip(expected, 0, 1) - region.box).max() < 0.02
    assert write_names(found["new.png"], gallery) is None
    assert not (tmp_path / "new.png.xmp").exists()
    named = found["new.png"].faces[0].person is not None
    assert count_unconfirmed(found["new.png"], None) == named
    assert count_unconfirmed(found["known.png"], change) == 0
    assert export_xmp([known, new], gallery, fpir=0.4, n_jobs=1).unconfirmed == named
    if named:
        assert write_names(found["new.png"], gallery, which="all") is not None
    with pytest.raises(InputError, match="which"):
        write_names(found["new.png"], gallery, which="some")
    with Gallery.open(gallery, read_only=True) as opened:
        assert write_names(found["known.png"], opened) is not None


def test_an_empty_folder_and_a_damaged_video_are_said(
    album: Path, gallery: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="no picture and no video"):
        identify(empty, gallery)
    (tmp_path / "torn.mp4").write_bytes(b"no video")
    found = identify([album / "Ann" / "0.png", tmp_path / "torn.mp4"], gallery, n_jobs=1)
    assert [one.error is None for one in found] == [True, False]


DIGIKAM = """<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:digiKam="http://www.digikam.org/ns/1.0/"
 xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/"
 xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#">
<digiKam:TagsList><rdf:Seq>{tags}</rdf:Seq></digiKam:TagsList>
<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag>{regions}</rdf:Bag>
</mwg-rs:RegionList></mwg-rs:Regions></rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>"""
REGION = (
    '<rdf:li><rdf:Description mwg-rs:Name="{name}" mwg-rs:Type="Face"><mwg-rs:Area '
    'stArea:x="{x}" stArea:y="0.5" stArea:w="0.3" stArea:h="0.6" stArea:unit="normalized"/>'
    "</rdf:Description></rdf:li>"
)


def test_a_digikam_tree_goes_in_and_comes_out(
    pictures: dict[str, list[np.ndarray]], tmp_path: Path
) -> None:
    """Names with places come in from sidecars, and leave for copies that have none."""
    tree, copies = tmp_path / "tree" / "2024", tmp_path / "copies"
    tree.mkdir(parents=True)
    copies.mkdir()
    for k in range(2):
        path = tree / f"{k}.png"
        write_image(path, np.hstack([pictures["Ann"][k], pictures["Bob"][k]]))
        regions = REGION.format(name="Ann", x=0.25) + REGION.format(name="Bob", x=0.75)
        tags = "<rdf:li>People/Ann</rdf:li><rdf:li>People/Bob</rdf:li><rdf:li>Places/Sea</rdf:li>"
        sidecar = DIGIKAM.format(tags=tags, regions=regions)
        path.with_name(path.name + ".xmp").write_text(sidecar, encoding="utf-8")
        (copies / path.name).write_bytes(path.read_bytes())
    taken = enrol_names(tmp_path / "tree", tmp_path / "g", n_jobs=1)
    assert taken.people == {"Ann": 2, "Bob": 2}
    written = export_xmp(copies, tmp_path / "g", keywords=True, n_jobs=1)
    assert (written.pictures, written.added, written.failures) == (2, 4, [])
    for k in range(2):
        back = {region.name: region.box for region in read_xmp(copies / f"{k}.png").regions}
        middle = {str(name): box[0] + box[2] / 2 for name, box in back.items()}
        assert abs(middle["Ann"] - 0.25) < 0.05
        assert abs(middle["Bob"] - 0.75) < 0.05
    again = export_xmp(tmp_path / "tree", tmp_path / "g", n_jobs=1)
    assert (again.added, again.already) == (0, 4)
    assert "Places/Sea" in (tree / "0.png.xmp").read_text(encoding="utf-8")
    told = read_with_exiftool(copies / "0.png.xmp")
    if told is not None:
        assert {one["Name"] for one in told["RegionInfo"]["RegionList"]} == {"Ann", "Bob"}
        assert set(told["HierarchicalSubject"]) == {"People|Ann", "People|Bob"}


def read_with_exiftool(path: Path) -> dict[str, Any] | None:
    if shutil.which("exiftool") is None:
        return None
    words = ["exiftool", "-struct", "-j", str(path)]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found: dict[str, Any] = json.loads(shown)[0]
    return found
