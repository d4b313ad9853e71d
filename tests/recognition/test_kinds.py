"""Every kind of photograph through every verb."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.bench_photos import VERBS, make_kinds, make_tables, try_verbs
from benchmarks.measure import Row
from mien.media import write_image

pytestmark = pytest.mark.needs("faces", "heif")


def test_every_verb_takes_every_kind(pictures: dict[str, list[np.ndarray]], tmp_path: Path) -> None:
    from PIL import Image

    from mien.recognition import Recogniser

    known = tmp_path / "known.png"
    write_image(known, pictures["Ann"][0])
    others = {}
    for name in ("Bob", "Cleo", "Dan"):
        others[name] = [tmp_path / f"{name}{k}.png" for k in range(2)]
        for file, picture in zip(others[name], pictures[name], strict=False):
            write_image(file, picture)
    # The sizes that need a reduced decoding have a test of their own in tests/media.
    kinds = make_kinds(tmp_path, Image.fromarray(pictures["Ann"][1]), megapixels=6)
    assert len(kinds) == 10
    wrong = []
    with Recogniser() as session:
        for kind, path in kinds.items():
            if kind in ("turned by 180°, with EXIF", "turned by 270°, with EXIF"):
                continue  # tests/media turns pictures in all eight ways
            # Adapting takes long, and reads pictures as enrolling does.
            verbs = [v for v in VERBS if v != "adapt" or kind in ("HEIC", "AVIF")]
            for verb, _, result in try_verbs(path, known, others, tmp_path, session, verbs):
                if result is not True:
                    wrong.append((kind, verb, result))
    assert not wrong


def test_the_table_names_what_went_wrong() -> None:
    rows = [Row(f"{verb}, HEIC", "mien", 0.5, note="as expected") for verb in VERBS]
    rows += [Row(f"{verb}, AVIF", "mien", 0.25, note="error: no") for verb in VERBS]
    (table,) = make_tables(rows).values()
    assert "| HEIC | 0.50 |" in table
    assert "| AVIF | error: no! |" in table
