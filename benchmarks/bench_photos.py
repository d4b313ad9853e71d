"""Kinds of photographs through the verbs: HEIC, AVIF, 96 megapixels, orientations; time of each.

``python -m benchmarks photos`` needs the photographs of ``MIEN_DATA`` and the extra ``heif``;
``--page docs/photo-apps.md`` also puts the table into that page, and ``--resume FILE`` keeps the
rows of every kind that is done, so that a run can go on where it stopped.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.data import find_data
from benchmarks.measure import Row
from tools.tables import make_table

__all__ = ["VERBS", "make_kinds", "make_tables", "rows", "try_verbs"]

#: Every verb that looks at photographs, and `find`, which answers about them.
VERBS = ("verify", "enrol", "identify", "cluster", "complete", "adapt", "export xmp", "find")


def make_kinds(folder: Path, image: Any, *, megapixels: float = 96) -> dict[str, Path]:
    """One photograph, given as Pillow's image, in many forms."""
    from PIL import Image
    from pillow_heif import register_heif_opener

    register_heif_opener()
    made = {}

    def save(kind: str, name: str, picture: Image.Image, **options: Any) -> None:
        made[kind] = folder / name
        picture.save(made[kind], **options)

    save("JPEG", "plain.jpg", image, quality=92)
    save("HEIC", "phone.heic", image, quality=80)
    save("AVIF", "phone.avif", image, quality=80)
    for degrees in (90, 180, 270):
        turned = image.rotate(degrees, expand=True)
        exif = Image.Exif()
        exif[0x0112] = {90: 6, 180: 3, 270: 8}[degrees]
        save(f"turned by {degrees}°, with EXIF", f"exif{degrees}.jpg", turned, exif=exif)
    for degrees in (90, 180, 270):
        turned = image.rotate(degrees, expand=True)
        save(f"turned by {degrees}°, not said", f"lying{degrees}.jpg", turned, quality=92)
    scale = (megapixels * 1e6 / (image.width * image.height)) ** 0.5
    large = image.resize((round(image.width * scale), round(image.height * scale)))
    save(f"{megapixels:g} megapixels", "large.jpg", large, quality=85)
    return made


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    from mien.errors import MienError

    begin = time.process_time()
    try:
        result = work()
    except MienError as error:
        result = f"error: {error}"
    return time.process_time() - begin, result


def try_verbs(
    path: Path,
    known: Path,
    others: dict[str, Sequence[Path]],
    root: Path,
    session: Any,
    verbs: Sequence[str] = VERBS,
) -> Iterator[tuple[str, float, Any]]:
    """Every verb on one photograph of a person: its name, its processor time, what came out.

    Parameters
    ----------
    path : Path
        The photograph.
    known : Path
        Another photograph of that person.
    others : dict
        Two photographs each of three other people, for `adapt`.
    root : Path
        Folder for what is written.
    session : Recogniser
        For `verify`.
    verbs : sequence of str
        Of `VERBS`, in their order.
    """
    from mien.gallery import Gallery
    from mien.recognition import (
        adapt,
        cluster,
        complete,
        enrol,
        export_xmp,
        find,
        identify,
        remember,
    )

    place = root / f"of {path.name}"
    sorted_by_person = {"Ann": [known, path], **others}
    for name, files in sorted_by_person.items():
        (place / "people" / name).mkdir(parents=True)
        for k, file in enumerate(files):
            (place / "people" / name / f"{k}{file.suffix}").symlink_to(file)
    (place / "alone").mkdir()
    (place / "alone" / path.name).symlink_to(path)
    gallery, own = place / "people.gallery", place / "own.gallery"
    enrol([known], gallery, person="Ann", n_jobs=1)

    def remembered() -> Any:
        with Gallery.open(gallery) as opened:
            remember(identify(path, opened, n_jobs=1), opened)
        return find(["Ann"], gallery)

    works: dict[str, Callable[[], Any]] = {
        "verify": lambda: session.verify(known, path).same,
        "enrol": lambda: enrol([path], own, person="Ann", n_jobs=1).added == 1,
        "identify": lambda: (
            [f.person for f in identify(path, gallery, n_jobs=1)[0].faces] == ["Ann"]
        ),
        "cluster": lambda: len(cluster(place / "alone", n_jobs=1, min_faces=1).faces) == 1,
        "complete": lambda: len(complete(path, cover="lower").faces) == 1,
        "adapt": lambda: adapt(place / "people", n_jobs=1).pictures == 8,
        "export xmp": lambda: export_xmp(path, own, n_jobs=1).added == 1,
        "find": lambda: any(found.path.name == path.name for found in remembered()),
    }
    for verb in verbs:
        seconds, result = _timed(works[verb])
        yield verb, seconds, result


def rows(resume: Path | None = None) -> Iterator[Row]:
    """Yield processor time of each verb on each kind; ``note`` says what came out.

    ``resume`` is a file of the kinds that are done, a line each.
    """
    from PIL import Image

    from mien.recognition import Recogniser

    done: dict[str, list[list[Any]]] = {}
    if resume is not None and resume.exists():
        done = dict(json.loads(line) for line in resume.read_text().splitlines())
    known, shown = (
        find_data("photos", "public_figures", name) for name in ("obama2.jpg", "obama.jpg")
    )
    people = sorted(find_data("photos", "five_people").iterdir())[:3]
    others = {folder.name: sorted(folder.iterdir())[:2] for folder in people}
    with tempfile.TemporaryDirectory() as temporary, Recogniser() as session:
        root = Path(temporary)
        with Image.open(shown) as opened:
            image = opened.convert("RGB")
        image.thumbnail((700, 700))  # encoding HEIC is slow
        made = make_kinds(root, image)
        session.verify(known, shown)  # the engine is loaded
        for kind, path in made.items():
            if kind not in done:
                done[kind] = [
                    [verb, seconds, "as expected" if result is True else str(result)]
                    for verb, seconds, result in try_verbs(path, known, others, root, session)
                ]
                if resume is not None:
                    with resume.open("a") as file:
                        file.write(json.dumps([kind, done[kind]]) + "\n")
            for verb, seconds, note in done[kind]:
                yield Row(f"{verb}, {kind}", "mien", seconds, note=note)


def make_tables(rows: Sequence[Row]) -> dict[str, str]:
    """The table of docs/photo-apps.md: a line per kind, a column per verb."""
    lines: dict[str, dict[str, str]] = {}
    for row in rows:
        verb, _, kind = row.job.partition(", ")
        words = f"{row.seconds:.2f}" if row.note == "as expected" else f"{row.note}!"
        lines.setdefault(kind, {})[verb] = words
    table = make_table(
        ("photograph", *VERBS),
        [(kind, *(line[verb] for verb in VERBS)) for kind, line in lines.items()],
    )
    return {"kinds of photographs": table}
