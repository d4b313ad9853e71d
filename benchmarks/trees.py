"""Albums of Google Takeout, Picasa and digiKam, in and out again.

    python -m benchmarks.trees                            # prints the table
    python -m benchmarks.trees --page docs/photo-apps.md  # and puts it into the page

One album of real photographs (five people of ``MIEN_DATA``, one to three side by side) is written
as each of the three programs would have written it, with some names left out. ``enrol_names`` takes
the names in, ``export_xmp`` gives them out as sidecars, exiftool, exiv2 and our own reader read
every sidecar, and the files of the other programs are compared byte by byte.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.data import find_data, run_command
from tools.tables import make_table, write_tables

__all__ = ["TREES", "Outcome", "draw_pictures", "make_tables", "try_tree"]

_HEIGHT, _WIDTH = 240, 200
Pictures = list[tuple[np.ndarray, list[str]]]


def draw_pictures(folder: Path, each: int, random_state: int = 0) -> Pictures:
    """Pictures with one to three people side by side, and who they are from left to right."""
    from mien.media import read_image

    rng = np.random.default_rng(random_state)
    left = {
        person.name.replace("_", " "): sorted(person.iterdir())[:each]
        for person in sorted(folder.iterdir())
        if person.is_dir()
    }
    pictures: Pictures = []
    while any(left.values()):
        names = [name for name in left if left[name]]
        chosen = [names[i] for i in rng.permutation(len(names))[: rng.integers(1, 4)]]
        shown = []
        for name in chosen:
            image = read_image(left[name].pop(), colour=True, size=(_HEIGHT, _WIDTH))
            shown.append(
                image if image.dtype == np.uint8 else np.round(255 * image).astype(np.uint8)
            )
        pictures.append((np.hstack(shown), chosen))
    return pictures


def _place(column: int, n: int) -> tuple[float, float, float, float]:
    """Where the face of a column is, about: left, top, width, height."""
    return (column + 0.2) / n, 0.2, 0.6 / n, 0.6


def _write_takeout(folder: Path, pictures: Pictures, rng: np.random.Generator) -> None:
    for k, (_, people) in enumerate(pictures):
        said = [{"name": name} for name in sorted(people) if rng.random() > 0.15]
        content = {
            "title": f"IMG_{k:04d}.jpg",
            "photoTakenTime": {"timestamp": str(1_700_000_000 + 60 * k)},
            "people": said,
        }
        place = folder / f"IMG_{k:04d}.jpg.supplemental-metadata.json"
        place.write_text(json.dumps(content), encoding="utf-8")


def _write_picasa(folder: Path, pictures: Pictures, rng: np.random.Generator) -> None:
    people = sorted({name for _, shown in pictures for name in shown})
    ids = {name: f"{0xA1B2C3D4E5F60000 + k:016x}" for k, name in enumerate(people)}
    lines = ["[Picasa]", "name=Summer", "P2category=Folders on Disk", "[Contacts2]"]
    lines += [f"{number}={name};;" for name, number in ids.items()]
    for k, (_, shown) in enumerate(pictures):
        faces = []
        for column, name in enumerate(shown):
            x, y, w, h = _place(column, len(shown))
            hexed = "".join(f"{round(65535 * value):04x}" for value in (x, y, x + w, y + h))
            who = ids[name] if rng.random() > 0.15 else "f" * 16
            faces.append(f"rect64({hexed.lstrip('0')}),{who}")
        lines += [f"[IMG_{k:04d}.jpg]", "star=yes", f"faces={';'.join(faces)}", "backuphash=7"]
    (folder / ".picasa.ini").write_text("\n".join(lines) + "\n", encoding="utf-8")


_DIGIKAM = """<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:digiKam="http://www.digikam.org/ns/1.0/"
 xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4"
 xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/"
 xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#">
<digiKam:TagsList><rdf:Seq><rdf:li>Places/Sea</rdf:li>{tags}</rdf:Seq></digiKam:TagsList>
<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag>{regions}</rdf:Bag>
</mwg-rs:RegionList></mwg-rs:Regions></rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>"""
_REGION = (
    '<rdf:li><rdf:Description mwg-rs:Name="{name}" mwg-rs:Type="Face"><mwg-rs:Area '
    'stArea:x="{x:.4f}" stArea:y="{y:.4f}" stArea:w="{w:.4f}" stArea:h="{h:.4f}" '
    'stArea:unit="normalized"/></rdf:Description></rdf:li>'
)


def _write_digikam(folder: Path, pictures: Pictures, rng: np.random.Generator) -> None:
    for k, (_, shown) in enumerate(pictures):
        tags, regions = "", ""
        for column, name in enumerate(shown):
            if rng.random() > 0.15:
                x, y, w, h = _place(column, len(shown))
                tags += f"<rdf:li>People/{name}</rdf:li>"
                regions += _REGION.format(name=name, x=x + w / 2, y=y + h / 2, w=w, h=h)
        text = _DIGIKAM.format(tags=tags, regions=regions)
        (folder / f"IMG_{k:04d}.jpg.xmp").write_text(text, encoding="utf-8")


#: How each program writes down who is on its pictures.
TREES: dict[str, Callable[[Path, Pictures, np.random.Generator], None]] = {
    "Google Takeout": _write_takeout,
    "Picasa": _write_picasa,
    "digiKam": _write_digikam,
}


@dataclass(frozen=True)
class Outcome:
    """What went in and came out.

    Attributes
    ----------
    pictures, faces : int
        In the album.
    told : int
        Names that the program wrote down.
    taken, taken_wrong : int
        Faces that were enrolled, and those of them under a wrong name.
    sidecars, given, given_wrong : int
        Sidecars, names in them at the right and at a wrong face.
    exiftool, exiv2 : int or None
        Sidecars in which these programs read the same names; None where one is missing.
    unchanged : bool
        Whether all photographs and all files of the program are as they were, and what the program
        said in a sidecar that is ours as well is still there.
    seconds : float
        Processor time in and out.
    """

    pictures: int
    faces: int
    told: int
    taken: int
    taken_wrong: int
    sidecars: int
    given: int
    given_wrong: int
    exiftool: int | None
    exiv2: int | None
    unchanged: bool
    seconds: float


def _run(words: Sequence[str], folder: Path) -> str:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout


def _with_exiftool(sidecars: Sequence[Path]) -> dict[str, list[str]] | None:
    """The names of the regions of each sidecar, as exiftool reads them."""
    if shutil.which("exiftool") is None:
        return None
    words = ["exiftool", "-struct", "-j", *(path.name for path in sidecars)]
    return {
        Path(one["SourceFile"]).name: [region["Name"] for region in one["RegionInfo"]["RegionList"]]
        for one in json.loads(_run(words, sidecars[0].parent))
    }


def _with_exiv2(sidecars: Sequence[Path]) -> dict[str, list[str]] | None:
    """The same by exiv2, which prints a line per property."""
    if shutil.which("exiv2") is None:
        return None
    found: dict[str, list[str]] = {}
    for path in sidecars:
        lines = _run(["exiv2", "-PXkv", path.name], path.parent).splitlines()
        found[path.name] = [
            value.strip()
            for key, _, value in (line.partition(" ") for line in lines)
            if "/mwg-rs:RegionList[" in key and key.endswith("/mwg-rs:Name")
        ]
    return found


def try_tree(name: str, pictures: Pictures, root: Path, random_state: int = 0) -> Outcome:
    """Write one program's album into a folder, take its names in and give them out again."""
    from mien.media import read_names, read_xmp, write_image
    from mien.recognition import enrol_names, export_xmp

    folder, gallery = root / name, root / f"{name}.gallery"
    folder.mkdir()
    for k, (image, _) in enumerate(pictures):
        write_image(folder / f"IMG_{k:04d}.jpg", image)
    TREES[name](folder, pictures, np.random.default_rng(random_state))
    before = {path: path.read_bytes() for path in sorted(folder.iterdir())}
    told = sum(
        len(one.names) + sum(region.name is not None for region in one.regions)
        for one in read_names(folder)[0]
    )
    start = time.process_time()
    taken = enrol_names(folder, gallery, n_jobs=1)
    export_xmp(folder, gallery, which="all", n_jobs=1)
    seconds = time.process_time() - start

    def owner(path: Path, share: float) -> str:
        people = pictures[int(path.name[4:8])][1]
        return people[min(int(share * len(people)), len(people) - 1)]

    wrong = 0
    for face in taken.faces:
        middle = (face.box[0] + face.box[2] / 2) / pictures[int(face.path.name[4:8])][0].shape[1]
        wrong += face.person not in (None, owner(face.path, middle))
    sidecars = sorted(folder.glob("*.xmp"))
    given = given_wrong = 0
    ours = {}
    for path in sidecars:
        regions = read_xmp(path.with_suffix("")).regions
        ours[path.name] = sorted(str(region.name) for region in regions)
        for region in regions:
            right = region.name == owner(path, region.box[0] + region.box[2] / 2)
            given, given_wrong = given + right, given_wrong + (not right)

    def agree(theirs: dict[str, list[str]] | None) -> int | None:
        if theirs is None:
            return None
        return sum(sorted(theirs[name]) == mine for name, mine in ours.items())

    unchanged = all(
        path.read_bytes() == content for path, content in before.items() if path.suffix != ".xmp"
    )
    for path in before:
        if path.suffix == ".xmp":
            text = path.read_text(encoding="utf-8")
            unchanged &= "Places/Sea" in text and "Rating" in text
    return Outcome(
        len(pictures), sum(len(people) for _, people in pictures), told, taken.added, wrong,
        len(sidecars), given, given_wrong, agree(_with_exiftool(sidecars)),
        agree(_with_exiv2(sidecars)), bool(unchanged), seconds,
    )  # fmt: skip


def make_tables(found: dict[str, Outcome]) -> dict[str, str]:
    """The table of docs/photo-apps.md."""
    rows = [
        (
            name,
            f"{one.pictures}, {one.faces}",
            str(one.told),
            f"{one.taken}, {one.taken_wrong}",
            str(one.sidecars),
            f"{one.given}, {one.given_wrong}",
            *(
                "not installed" if alike is None else f"{alike} of {one.sidecars}"
                for alike in (one.exiftool, one.exiv2)
            ),
            "yes" if one.unchanged else "NO",
            f"{one.seconds:.1f} s",
        )
        for name, one in found.items()
    ]
    head = (
        "album", "pictures, faces", "names told", "faces enrolled, wrong", "sidecars",
        "names given, wrong", "read alike by exiftool", "by exiv2", "all else unchanged",
        "processor time",
    )  # fmt: skip
    return {"albums in and out": make_table(head, rows)}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trees", description=__doc__)
    parser.add_argument("--each", type=int, default=8, help="Photographs per person.")
    parser.add_argument("--page", type=Path, help="Page that gets the table.")
    options = parser.parse_args(arguments)
    pictures = draw_pictures(find_data("photos", "five_people"), options.each)
    with tempfile.TemporaryDirectory() as root:
        found = {name: try_tree(name, pictures, Path(root)) for name in TREES}
    tables = make_tables(found)
    write_tables(Path("-"), tables)
    if options.page is not None:
        write_tables(options.page, tables)
    return 0


if __name__ == "__main__":
    run_command(main)
