"""XMP packets: who is where on a picture, as photo applications write and read it.

Read are the regions of the Metadata Working Group and Microsoft's, and lists of people. Written
are all three, into a sidecar ``NAME.EXT.xmp``; what others wrote into it stays.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from mien._core.atomic import write_atomically
from mien._core.boxes import overlap_boxes
from mien.errors import DataError
from mien.media._decoding import open_header
from mien.media._regions import Box, NamedRegion, StoredPicture, describe_picture, turn_box

__all__ = [
    "SidecarChange",
    "XmpNames",
    "find_sidecars",
    "merge_packet",
    "parse_xmp",
    "read_xmp",
    "write_sidecar",
]

NAMESPACES = {
    "x": "adobe:ns:meta/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "mwg-rs": "http://www.metadataworkinggroup.com/schemas/regions/",
    "stDim": "http://ns.adobe.com/xap/1.0/sType/Dimensions#",
    "stArea": "http://ns.adobe.com/xmp/sType/Area#",
    "MP": "http://ns.microsoft.com/photo/1.2/",
    "MPRI": "http://ns.microsoft.com/photo/1.2/t/RegionInfo#",
    "MPReg": "http://ns.microsoft.com/photo/1.2/t/Region#",
    "Iptc4xmpExt": "http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "lr": "http://ns.adobe.com/lightroom/1.0/",
    "digiKam": "http://www.digikam.org/ns/1.0/",
    "tiff": "http://ns.adobe.com/tiff/1.0/",
}
_MAX_BYTES = 8 * 2**20
# A packet of a real picture has some hundreds of elements, ten deep.
_MAX_ELEMENTS, _MAX_DEPTH = 100_000, 100
_MAX_REGIONS = 2_000
_SAME_PLACE = 0.5
_MOSTLY_INSIDE = 0.6
_MOST_LARGER = 8.0
_PERSON_ROOTS = ("People", "Person", "Persons", "Personen", "Personnes", "Personas", "Faces")


class XmpNames(NamedTuple):
    """Regions in shares of the upright picture, and names without a place."""

    regions: list[NamedRegion]
    names: list[str]


@dataclass(frozen=True)
class SidecarChange:
    """What writing a sidecar did.

    Attributes
    ----------
    path : Path
        The sidecar, or the picture where the names were written into it.
    added : list of str
        Names that were written.
    already : list of str
        Names that stood there for the same face.
    kept : list of (str, str)
        The name that somebody else gave to a face, which stays, and the one that was to be
        written.
    """

    path: Path
    added: list[str] = field(default_factory=list)
    already: list[str] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)


def _q(name: str) -> str:
    prefix, _, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def parse_xmp(content: bytes, name: str = "the packet") -> ElementTree.Element:
    """The tree of a packet; a document type, which no packet needs, is refused.

    Parameters
    ----------
    content : bytes
        The packet, or a file that is one.
    name : str
        For the error.
    """
    if len(content) > _MAX_BYTES:
        raise DataError(f"{name} is larger than {_MAX_BYTES:,} bytes, too large for an XMP packet")
    for encoding in ("utf-8-sig", "utf-16"):
        with contextlib.suppress(UnicodeError):
            text = content.decode(encoding)
            break
    else:
        raise DataError(f"{name} is not an XMP packet: its encoding is not known")
    if re.search(r"<!\s*(DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise DataError(f"{name} is refused: it declares a document type or entities")
    text = text.strip("\ufeff\0 \r\n\t")
    text = re.sub(r"^<\?xml[^>]*\?>", "", text)
    try:
        builder = _BoundedBuilder()
        parser = ElementTree.XMLParser(target=builder)
        parser.feed(text.encode("utf-8"))
        tree: ElementTree.Element = parser.close()
        ours = set(NAMESPACES.values())
        for prefix, uri in builder.prefixes.items():
            # Prefixes are remembered for the whole process: ours stay ours.
            if prefix not in NAMESPACES and uri not in ours and not re.match(r"ns\d+$", prefix):
                ElementTree.register_namespace(prefix, uri)
        return tree
    except (ElementTree.ParseError, ValueError) as error:
        raise DataError(f"{name} is not an XMP packet that can be read: {error}") from error


class _BoundedBuilder(ElementTree.TreeBuilder):
    """Builds a tree that is neither very deep nor very large, and remembers prefixes."""

    def __init__(self) -> None:
        super().__init__()
        self.prefixes: dict[str, str] = {}
        self._depth = self._elements = 0

    def start_ns(self, prefix: str, uri: str) -> None:
        if prefix:
            self.prefixes[prefix] = uri

    def start(self, tag: str, attrs: dict[str, str]) -> ElementTree.Element:
        self._depth += 1
        self._elements += 1
        if self._depth > _MAX_DEPTH or self._elements > _MAX_ELEMENTS:
            raise ValueError(
                f"it has more than {_MAX_ELEMENTS:,} elements, or is more than {_MAX_DEPTH} deep"
            )
        return super().start(tag, attrs)

    def end(self, tag: str) -> ElementTree.Element:
        self._depth -= 1
        return super().end(tag)


def _read_packet(place: Path) -> bytes:
    if place.stat().st_size > _MAX_BYTES:
        raise DataError(
            f"{str(place)!r} is larger than {_MAX_BYTES:,} bytes, too large for an XMP packet"
        )
    return place.read_bytes()


def find_sidecars(path: Path) -> list[Path]:
    """Sidecars of a picture that are there: ``NAME.EXT.xmp`` before ``NAME.xmp``."""
    places = [path.with_name(path.name + ".xmp"), path.with_suffix(".xmp")]
    # A picture's name may leave no room for the suffix: then there is no such file.
    return [place for place in places if os.path.isfile(place)]


def read_xmp(path: Path) -> XmpNames:
    """Who is on a picture, from its sidecars and the packet inside the file.

    Parameters
    ----------
    path : Path
        The picture.

    Returns
    -------
    XmpNames
        Regions that overlap are told once, the sidecar's first.
    """
    packets = [(_read_packet(place), str(place)) for place in find_sidecars(path)]
    inside = _embedded(path)
    if inside:
        packets.append((inside, f"the packet in {str(path)!r}"))
    if not packets:
        return XmpNames([], [])
    picture = describe_picture(path)
    regions: list[NamedRegion] = []
    names: dict[str, None] = {}
    for content, name in packets:
        tree = parse_xmp(content, name)
        for region in _regions_of(tree, picture):
            if not any(overlap_boxes(region.box, other.box) > _SAME_PLACE for other in regions):
                regions.append(region)
        names |= dict.fromkeys(_people_of(tree))
    placed = {region.name for region in regions}
    return XmpNames(regions, [one for one in names if one not in placed])


def _embedded(path: Path) -> bytes | None:
    try:
        with open_header(path) as image:
            found = image.info.get("xmp") or image.info.get("XML:com.adobe.xmp")
    except Exception:  # whatever a header holds, it only costs the packet
        return None
    if isinstance(found, str):
        found = found.encode("utf-8")
    return found if isinstance(found, bytes) and b"rdf" in found else None


def _descriptions(tree: ElementTree.Element) -> Iterable[ElementTree.Element]:
    return tree.iter(_q("rdf:Description"))


def _value(element: ElementTree.Element, name: str) -> str | None:
    """A simple property of a struct, whichever of RDF's three ways it was written in."""
    key = _q(name)
    for holder in (element, *element.findall(_q("rdf:Description"))):
        if key in holder.attrib:
            return holder.attrib[key].strip()
        child = holder.find(key)
        if child is not None and child.text is not None:
            return child.text.strip()
    return None


def _child(element: ElementTree.Element, name: str) -> ElementTree.Element | None:
    """A property of a struct that is itself a struct or an array."""
    key = _q(name)
    for holder in (element, *element.findall(_q("rdf:Description"))):
        child = holder.find(key)
        if child is not None:
            return child
    return None


def _items(element: ElementTree.Element | None) -> list[ElementTree.Element]:
    """Entries of a Bag, Seq or Alt."""
    if element is None:
        return []
    return [
        item
        for kind in ("Bag", "Seq", "Alt")
        for container in element.findall(_q(f"rdf:{kind}"))
        for item in container.findall(_q("rdf:li"))
    ]


def _number(text: str | None) -> float | None:
    try:
        value = float((text or "").replace(",", "."))
    except ValueError:
        return None
    return value if -1e6 < value < 1e6 else None


def _regions_of(tree: ElementTree.Element, picture: StoredPicture) -> list[NamedRegion]:
    found: list[tuple[str | None, Box]] = []
    for description in _descriptions(tree):
        info = description.find(_q("mwg-rs:Regions"))
        if info is not None:
            for item in _items(_child(info, "mwg-rs:RegionList")):
                box = _mwg_box(item, picture)
                kind = _value(item, "mwg-rs:Type")
                if box is not None and kind in (None, "Face", "face"):
                    found.append((_value(item, "mwg-rs:Name") or None, box))
        info = description.find(_q("MP:RegionInfo"))
        if info is not None:
            for item in _items(_child(info, "MPRI:Regions")):
                parts = (_value(item, "MPReg:Rectangle") or "").split(",")
                numbers = [_number(part) for part in parts]
                if len(numbers) == 4 and None not in numbers:
                    left, top, width, height = (float(n) for n in numbers if n is not None)
                    name = _value(item, "MPReg:PersonDisplayName") or None
                    found.append((name, (left, top, width, height)))
    if len(found) > _MAX_REGIONS:
        raise DataError(f"a packet marks {len(found):,} faces; at most {_MAX_REGIONS:,} are read")
    regions: list[NamedRegion] = []
    for name, stored in found:
        box = _clip(stored)
        if box is None or any(
            overlap_boxes(box, other.box) > 0.8 and other.name == name for other in regions
        ):
            continue
        regions.append(NamedRegion(name, box))
    return [
        NamedRegion(one.name, turn_box(one.box, picture.orientation, to_stored=False))
        for one in regions
    ]


def _mwg_box(item: ElementTree.Element, picture: StoredPicture) -> Box | None:
    area = _child(item, "mwg-rs:Area")
    if area is None:
        return None
    numbers = [_number(_value(area, f"stArea:{name}")) for name in "xywh"]
    if None in numbers or min(picture.width, picture.height) < 1:
        return None
    x, y, width, height = (float(n) for n in numbers if n is not None)
    if _value(area, "stArea:unit") == "pixel":
        x, width = x / picture.width, width / picture.width
        y, height = y / picture.height, height / picture.height
    return x - width / 2, y - height / 2, width, height


def _clip(box: Box) -> Box | None:
    left, top = max(box[0], 0.0), max(box[1], 0.0)
    right, bottom = min(box[0] + box[2], 1.0), min(box[1] + box[3], 1.0)
    if right - left <= 0 or bottom - top <= 0:
        return None
    return left, top, right - left, bottom - top


def _is_same_face(a: Box, b: Box) -> bool:
    """Programs draw boxes of different sizes: most of the smaller one lies in the other."""
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    shared = max(width, 0.0) * max(height, 0.0)
    small, large = sorted((a[2] * a[3], b[2] * b[3]))
    return large <= _MOST_LARGER * small and shared > _MOSTLY_INSIDE * small


def _people_of(tree: ElementTree.Element) -> list[str]:
    """Names without places: PersonInImage, and keywords below a branch of people."""
    names: list[str] = []
    for description in _descriptions(tree):
        for item in _items(description.find(_q("Iptc4xmpExt:PersonInImage"))):
            names.append((item.text or "").strip())
        for key, mark in (("lr:hierarchicalSubject", "|"), ("digiKam:TagsList", "/")):
            for item in _items(description.find(_q(key))):
                parts = [part.strip() for part in (item.text or "").split(mark)]
                if len(parts) > 1 and parts[0] in _PERSON_ROOTS:
                    names.append(parts[-1])
    return list(dict.fromkeys(name for name in names if name))


# ------------------------------------------------------------------ writing


def write_sidecar(
    path: str | os.PathLike[str],
    regions: Sequence[NamedRegion],
    *,
    keywords: bool = False,
) -> SidecarChange:
    """Write names and places of faces beside a picture; the picture itself is not touched.

    Parameters
    ----------
    path : path
        The picture.
    regions : sequence of NamedRegion
        Faces with names, in shares of the upright picture. Those without a name are left out.
    keywords : bool
        Whether to write ``People|NAME`` as hierarchical keywords as well.

    Returns
    -------
    SidecarChange
        Everything that others wrote stays: a face that they named otherwise keeps their name, and
        the change says so.
    """
    path = Path(path)
    place = path.with_name(path.name + ".xmp")
    before = _read_packet(place) if os.path.exists(place) else None
    packet, change = merge_packet(path, before, regions, keywords=keywords, place=place)
    if change.added or before is None:
        write_atomically(place, packet)
    return change


def merge_packet(
    path: Path,
    packet: bytes | None,
    regions: Sequence[NamedRegion],
    *,
    keywords: bool,
    place: Path,
) -> tuple[bytes, SidecarChange]:
    """A packet with names added, and what that changed; nothing is written.

    Parameters
    ----------
    path : Path
        The picture, for its size and orientation.
    packet : bytes or None
        What is there already.
    regions, keywords
        As in :func:`write_sidecar`.
    place : Path
        Where it will stand, for the change and for errors.
    """
    picture = describe_picture(path)
    for prefix, uri in NAMESPACES.items():
        ElementTree.register_namespace(prefix, uri)
    if packet is not None:
        tree = parse_xmp(packet, str(place))
    else:
        tree = ElementTree.Element(_q("x:xmpmeta"))
    description = _first_description(tree)
    change = SidecarChange(place)
    named = [region for region in regions if region.name]
    for region in named:
        box = turn_box(region.box, picture.orientation, to_stored=True)
        stored = NamedRegion(region.name, box)
        said = _add_mwg(tree, description, stored, picture, change)
        if said:
            _add_microsoft(tree, description, stored)
            _add_item(tree, description, "Iptc4xmpExt:PersonInImage", "Bag", stored.name or "")
            if keywords:
                _add_item(
                    tree, description, "lr:hierarchicalSubject", "Bag", f"People|{stored.name}"
                )
                _add_item(tree, description, "digiKam:TagsList", "Seq", f"People/{stored.name}")
    return _packet(tree), change


def _first_description(tree: ElementTree.Element) -> ElementTree.Element:
    rdf = tree if tree.tag == _q("rdf:RDF") else tree.find(_q("rdf:RDF"))
    if rdf is None:
        rdf = ElementTree.SubElement(tree, _q("rdf:RDF"))
    found = rdf.find(_q("rdf:Description"))
    if found is None:
        found = ElementTree.SubElement(rdf, _q("rdf:Description"), {_q("rdf:about"): ""})
    return found


def _find(tree: ElementTree.Element, name: str) -> ElementTree.Element | None:
    for description in _descriptions(tree):
        found = description.find(_q(name))
        if found is not None:
            return found
    return None


def _struct(parent: ElementTree.Element, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(parent, _q(name), {_q("rdf:parseType"): "Resource"})


def _text(parent: ElementTree.Element, name: str, value: str) -> None:
    ElementTree.SubElement(parent, _q(name)).text = value


def _container(parent: ElementTree.Element, kind: str) -> ElementTree.Element:
    for other in ("Bag", "Seq", "Alt"):
        found = parent.find(_q(f"rdf:{other}"))
        if found is not None:
            return found
    return ElementTree.SubElement(parent, _q(f"rdf:{kind}"))


def _inner(element: ElementTree.Element) -> ElementTree.Element:
    """Where the properties of a struct stand: in it, or in a description of their own."""
    nested = element.find(_q("rdf:Description"))
    return element if nested is None else nested


def _add_mwg(
    tree: ElementTree.Element,
    description: ElementTree.Element,
    region: NamedRegion,
    picture: StoredPicture,
    change: SidecarChange,
) -> bool:
    """Add a region; False where the face has a name already."""
    info = _find(tree, "mwg-rs:Regions")
    if info is None:
        info = _struct(description, "mwg-rs:Regions")
        size = _struct(info, "mwg-rs:AppliedToDimensions")
        _text(size, "stDim:w", str(picture.width))
        _text(size, "stDim:h", str(picture.height))
        _text(size, "stDim:unit", "pixel")
    listing = _child(info, "mwg-rs:RegionList")
    if listing is None:
        listing = ElementTree.SubElement(_inner(info), _q("mwg-rs:RegionList"))
    name = region.name or ""
    for item in _items(listing):
        box = _mwg_box(item, picture)
        if box is None or not _is_same_face(box, region.box):
            continue
        there = _value(item, "mwg-rs:Name")
        if not there:
            _text(_inner(item), "mwg-rs:Name", name)
            change.added.append(name)
            return True
        if there == name:
            change.already.append(name)
        else:
            change.kept.append((there, name))
        return False
    bag = _container(listing, "Bag")
    item = ElementTree.SubElement(bag, _q("rdf:li"), {_q("rdf:parseType"): "Resource"})
    _text(item, "mwg-rs:Name", name)
    _text(item, "mwg-rs:Type", "Face")
    area = _struct(item, "mwg-rs:Area")
    left, top, width, height = region.box
    for key, value in (
        ("x", left + width / 2), ("y", top + height / 2), ("w", width), ("h", height),
    ):  # fmt: skip
        _text(area, f"stArea:{key}", f"{value:.6f}")
    _text(area, "stArea:unit", "normalized")
    change.added.append(name)
    return True


def _add_microsoft(
    tree: ElementTree.Element, description: ElementTree.Element, region: NamedRegion
) -> None:
    info = _find(tree, "MP:RegionInfo")
    if info is None:
        info = _struct(description, "MP:RegionInfo")
    listing = _child(info, "MPRI:Regions")
    if listing is None:
        listing = ElementTree.SubElement(_inner(info), _q("MPRI:Regions"))
    bag = _container(listing, "Bag")
    item = ElementTree.SubElement(bag, _q("rdf:li"), {_q("rdf:parseType"): "Resource"})
    _text(item, "MPReg:PersonDisplayName", region.name or "")
    _text(item, "MPReg:Rectangle", ", ".join(f"{value:.6f}" for value in region.box))


def _add_item(
    tree: ElementTree.Element,
    description: ElementTree.Element,
    name: str,
    kind: str,
    value: str,
) -> None:
    element = _find(tree, name)
    if element is None:
        element = ElementTree.SubElement(description, _q(name))
    if value not in [(item.text or "").strip() for item in _items(element)]:
        ElementTree.SubElement(_container(element, kind), _q("rdf:li")).text = value


def _packet(tree: ElementTree.Element) -> bytes:
    ElementTree.indent(tree, " ")
    text = ElementTree.tostring(tree, encoding="unicode")
    return (
        f'<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n{text}\n<?xpacket end="w"?>\n'
    ).encode()
