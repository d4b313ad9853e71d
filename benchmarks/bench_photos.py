"""Kinds of photographs through the verbs: HEIC, AVIF, 96 megapixels, orientations; time of each.

``python -m benchmarks photos`` needs the photographs of ``MIEN_DATA`` and the extra ``heif``.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import Row

__all__ = ["rows"]


def _make(folder: Path, photograph: Path) -> dict[str, Path]:
    """One photograph in many forms."""
    from PIL import Image
    from pillow_heif import register_heif_opener

    register_heif_opener()
    with Image.open(photograph) as opened:
        image = opened.convert("RGB")
    made = {}

    def save(kind: str, name: str, picture: Image.Image, **options: Any) -> None:
        made[kind] = folder / name
        picture.save(made[kind], **options)

    save("JPEG", "plain.jpg", image, quality=92)
    save("HEIC", "phone.heic", image, quality=80)
    save("AVIF", "phone.avif", image, quality=80)
    for degrees in (90, 180, 270):
        turned = image.rotate(degrees, expand=True)
        save(f"turned {degrees} degrees, not said", f"lying{degrees}.jpg", turned, quality=92)
        exif = Image.Exif()
        exif[0x0112] = {90: 6, 180: 3, 270: 8}[degrees]
        save(f"turned {degrees} degrees, EXIF", f"exif{degrees}.jpg", turned, exif=exif, quality=92)
    scale = (96e6 / (image.width * image.height)) ** 0.5
    large = image.resize((round(image.width * scale), round(image.height * scale)))
    save("96 megapixels", "large.jpg", large, quality=85)
    return made


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    from mien.errors import MienError

    begin = time.process_time()
    try:
        result = work()
    except MienError as error:
        result = f"error: {error}"
    return time.process_time() - begin, result


def rows() -> Iterator[Row]:
    """Yield processor time of each verb on each kind; ``note`` says what came out."""
    from mien.datasets import data_home
    from mien.recognition import Recogniser, cluster, complete, enrol, export_xmp, identify

    place = data_home() / "photos" / "public_figures"
    known, shown = place / "obama2.jpg", place / "obama.jpg"
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        gallery = root / "people.gallery"
        enrol([known], gallery, person="Obama", n_jobs=1)
        made = _make(root, shown)
        with Recogniser() as session:
            session.verify(known, shown)  # the engine is loaded
            for kind, path in made.items():
                verbs: dict[str, Callable[[], Any]] = {
                    "verify": lambda p=path: session.verify(known, p).same,
                    "enrol": lambda p=path: (
                        enrol([p], root / f"{p.name}.gallery", person="Obama", n_jobs=1).added
                    ),
                    "identify": lambda p=path: [
                        face.person for face in identify(p, gallery, n_jobs=1)[0].faces
                    ],
                    "cluster": lambda p=path: len(_sort(cluster, p, root).faces),
                    "complete": lambda p=path: len(complete(p).faces),
                    "export xmp": lambda p=path: (
                        export_xmp(p, root / f"{p.name}.gallery", n_jobs=1).added
                    ),
                }
                for verb, work in verbs.items():
                    seconds, result = _timed(work)
                    yield Row(f"{verb}, {kind}", "mien", seconds, note=str(result))


def _sort(cluster: Callable[..., Any], path: Path, root: Path) -> Any:
    """`cluster` takes folders: one with this picture alone."""
    folder = root / f"only-{path.stem}"
    folder.mkdir(exist_ok=True)
    link = folder / path.name
    if not link.exists():
        link.symlink_to(path)
    return cluster(folder, n_jobs=1, min_faces=1)
