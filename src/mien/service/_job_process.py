"""The process of one job: reads its order from the pipe, writes progress, leaves a result."""

from __future__ import annotations

import json
import os
import sys
import time
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

from mien._core.progress import listening
from mien.errors import DataError, MienError

__all__ = ["main", "unpack"]

_MAX_FILES = 200_000
_MAX_BYTES = 20 * 2**30
_MAX_RATIO = 200
_QUIET_SECONDS = 0.25


def main() -> None:
    """Do the job; the last line says how it ended."""
    pipe = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    order = json.loads(sys.stdin.readline())
    key = order["key"]
    if order["key_is_bytes"]:
        key = bytes.fromhex(key)
    folder = Path(order["folder"])
    last = 0.0

    def tell(stage: str, done: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > _QUIET_SECONDS or done == total:
            last = now
            print(json.dumps({"stage": stage, "done": done, "total": total}), file=pipe, flush=True)

    try:
        with listening(tell):
            found = _KINDS[order["kind"]](order, folder, key)
        place = folder / "result.json"
        with open(place.with_suffix(".part"), "w", encoding="utf-8") as file:
            json.dump(found, file)
        os.replace(place.with_suffix(".part"), place)
        end: dict[str, Any] = {"end": "done"}
    except MienError as error:
        end = {"end": "failed", "detail": str(error)}
    except Exception as error:
        end = {"end": "failed", "detail": f"an internal error: {type(error).__name__}"}
    print(json.dumps(end), file=pipe, flush=True)


def unpack(archive: Path, folder: Path) -> Path:
    """A ZIP archive as a folder: regular files only, below the folder, and no bombs."""
    if folder.exists():
        return folder
    part = folder.with_suffix(".part")
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [member for member in opened.infolist() if not member.is_dir()]
            if len(members) > _MAX_FILES:
                raise DataError(f"an archive may have at most {_MAX_FILES:,} files")
            size = sum(member.file_size for member in members)
            packed = sum(member.compress_size for member in members)
            if size > _MAX_BYTES or size > _MAX_RATIO * max(packed, 2**20):
                raise DataError("the archive unpacks to more than is allowed")
            for member in members:
                parts = PurePosixPath(member.filename.replace("\\", "/")).parts
                if (member.external_attr >> 16) & 0o170000 == 0o120000:
                    continue
                if not parts or any(one in ("", "..", "/") or ":" in one for one in parts):
                    raise DataError("the archive contains a path outside itself")
                place = part.joinpath(*parts)
                place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with opened.open(member) as source, open(place, "wb") as target:
                    left = member.file_size
                    while chunk := source.read(min(2**20, left + 1)):
                        left -= len(chunk)
                        if left < 0:
                            raise DataError("a file of the archive is larger than it says")
                        target.write(chunk)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError) as error:
        raise DataError("the archive is not a ZIP file that can be read") from error
    os.replace(part, folder)
    return folder


def _enrol(order: dict[str, Any], folder: Path, key: Any) -> dict[str, Any]:
    from mien.recognition import enrol

    photos = unpack(folder / "input", folder / "pictures")
    result = enrol(photos, Path(order["gallery"]), key=key, **order["options"]).to_dict()
    result.pop("gallery", None)
    for failure in result["failures"]:
        failure["file"] = _inside(failure["file"], photos)
    return result


def _identify(order: dict[str, Any], folder: Path, key: Any) -> dict[str, Any]:
    from mien.recognition import iter_identified

    photos = unpack(folder / "input", folder / "pictures")
    pictures = []
    for picture in iter_identified(photos, Path(order["gallery"]), key=key, **order["options"]):
        said = picture.to_dict()
        said["file"] = _inside(said["file"], photos)
        if said["error"]:
            said["error"] = said["error"].replace(str(photos) + os.sep, "")
        pictures.append(said)
    return {"pictures": pictures}


def _cluster(order: dict[str, Any], folder: Path, key: Any) -> dict[str, Any]:
    from mien.recognition import cluster, open_gallery

    photos = unpack(folder / "input", folder / "pictures")
    # Whoever may read may sort pictures: the gallery decides, and learns nothing.
    with open_gallery(Path(order["gallery"]), key=key, read_only=True) as gallery:
        found = cluster(photos, gallery=gallery, **order["options"])
    people: dict[str, list[dict[str, Any]]] = {}
    for face, number in zip(found.faces, found.people.tolist(), strict=True):
        label = "unsorted" if number < 0 else f"person-{number + 1:03d}"
        people.setdefault(label, []).append(
            {
                "file": _inside(str(face.path), photos),
                "box": [round(float(value), 1) for value in face.box],
            }
        )
    return {"people": people}


def _adapt(order: dict[str, Any], folder: Path, key: Any) -> dict[str, Any]:
    from mien.recognition import adapt

    photos = unpack(folder / "input", folder / "pictures")
    return adapt(photos, gallery=Path(order["gallery"]), key=key, **order["options"]).to_dict()


def _import(order: dict[str, Any], folder: Path, key: Any) -> dict[str, Any]:
    from mien.recognition import import_photos

    options = dict(order["options"])
    chosen = options.pop("folder", None)
    photos = unpack(folder / "input", folder / "pictures") if chosen is None else Path(chosen)
    journal = folder / "journal"
    found = import_photos(photos, Path(order["gallery"]), key=key, journal=journal, **options)
    result = found.to_dict()
    for failure in result["failures"]:
        failure["file"] = _inside(failure["file"], photos)
        failure["detail"] = failure["detail"].replace(str(photos) + os.sep, "")
    return result


def _draw(order: dict[str, Any], folder: Path, key: Any) -> dict[str, Any]:
    from mien.recognition import make_thumbnails

    made = make_thumbnails(
        Path(order["gallery"]), order["options"]["folders"], key=key, journal=folder / "journal"
    )
    return {"thumbnails": made}


def _inside(path: str, root: Path) -> str:
    place = Path(path)
    return str(place.relative_to(root)) if place.is_relative_to(root) else place.name


_KINDS = {
    "adapt": _adapt,
    "cluster": _cluster,
    "enrol": _enrol,
    "folder": _import,
    "identify": _identify,
    "import": _import,
    "thumbnails": _draw,
}
