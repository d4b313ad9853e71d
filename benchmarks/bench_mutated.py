"""Ten thousand mutated pictures through analyse_pictures: no crash, no hang, every reason named.

Each is one of seven formats, in several modes and with EXIF, with bytes flipped (most of them in
the header), sizes in the header changed, parts cut out, doubled or cut off.
"""

from __future__ import annotations

import collections
import io
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import skimage.data
from PIL import Image

from benchmarks.measure import Row

N_FILES = 10_000
_SMALL = (96, 96)


def _seeds() -> dict[str, bytes]:
    """Whole files of every kind."""
    face = Image.fromarray(skimage.data.astronaut()[40:200, 140:300]).resize(_SMALL)
    exif = Image.Exif()
    exif[0x0112] = 6
    made = {
        "JPEG": ("RGB", {"quality": 85, "exif": exif}),
        "JPEG progressive": ("RGB", {"quality": 85, "progressive": True}),
        "JPEG CMYK": ("CMYK", {}),
        "PNG": ("RGB", {"exif": exif}),
        "PNG palette": ("P", {}),
        "PNG alpha": ("RGBA", {}),
        "PNG 16-bit": ("I;16", {}),
        "WEBP": ("RGB", {"exif": exif}),
        "WEBP lossless": ("RGBA", {"lossless": True}),
        "BMP": ("RGB", {}),
        "TIFF LZW": ("RGB", {"compression": "tiff_lzw"}),
        "TIFF JPEG": ("RGB", {"compression": "jpeg"}),
        "TIFF deflate": ("L", {"compression": "tiff_adobe_deflate"}),
        "TIFF raw": ("RGB", {}),
        "GIF": ("P", {}),
        "PPM": ("RGB", {}),
        "PPM grey": ("L", {}),
    }
    out = {}
    for name, (mode, options) in made.items():
        buffer = io.BytesIO()
        if mode == "I;16":
            picture = Image.fromarray(np.asarray(face.convert("L")).astype(np.uint16) * 257)
        else:
            picture = face.convert(mode)
        picture.save(buffer, name.split()[0], **options)
        out[name] = buffer.getvalue()
    return out


def _mutate(data: bytes, rng: np.random.RandomState) -> bytes:
    out = bytearray(data)
    kind = rng.randint(6)
    if kind <= 2:  # bytes, most of them near the beginning
        for _ in range(rng.randint(1, 12)):
            reach = min(len(out), 100) if rng.rand() < 0.6 else len(out)
            out[rng.randint(reach)] = rng.randint(256)
    elif kind == 3:  # a number in the header becomes an extreme one
        place = rng.randint(min(len(out) - 4, 120))
        extremes = [b"\xff" * 4, b"\x7f\xff\xff\xff", b"\0" * 4, b"\x80\0\0\0", b"\xff\xff\0\0"]
        out[place : place + 4] = extremes[rng.randint(len(extremes))]
    elif kind == 4:  # a part is cut out or doubled
        first, last = sorted(rng.randint(len(out), size=2).tolist())
        out[first:last] = out[first:last] * int(rng.randint(0, 3))
    if kind == 5 or rng.rand() < 0.1:
        del out[rng.randint(1, len(out)) :]
    return bytes(out)


def rows() -> Iterator[Row]:
    """The rows of this benchmark."""
    from mien.faces import analyse_pictures

    rng = np.random.RandomState(20)
    seeds = list(_seeds().items())
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for k in range(N_FILES):
            paths.append(Path(folder) / f"{k:05d}.jpg")
            paths[-1].write_bytes(_mutate(seeds[k % len(seeds)][1], rng))
        reasons: collections.Counter[str] = collections.Counter()
        faces = decoded = 0
        longest, start = 0.0, time.perf_counter()
        last = start
        for result in analyse_pictures(paths, n_jobs=2):
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
            if result.error is None:
                decoded += 1
                faces += len(result.faces)
            else:
                words = result.error.replace(repr(str(result.path)), "").strip()
                reasons[re.split(r"[:;(]|\d", words)[0].strip()[:60]] += 1
        took = last - start
    refused = sum(reasons.values())
    if decoded + refused != N_FILES:
        raise RuntimeError(f"{N_FILES - decoded - refused} files have no result")
    note = f"{decoded} decoded, {faces} faces, {refused} refused"
    yield Row(f"{N_FILES:,} mutated pictures", "analyse_pictures", took, None, "", note)
    yield Row("longest wait for a result", "analyse_pictures", longest)
    unexpected = sum(n for reason, n in reasons.items() if reason.startswith("cannot be analysed"))
    yield Row("errors that were not foreseen", "analyse_pictures", 0.0, None, "", str(unexpected))
    for reason, n in reasons.most_common(8):
        yield Row(f"  refused: {n}", reason[:30], 0.0)
