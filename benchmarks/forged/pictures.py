"""Mutated pictures of every format, decoded within the limits of :mod:`mien.media`."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.forged.run import Item, refused
from mien.errors import MienError
from mien.media import read_image
from tests.sweep import quiet

_SIDE = 96


def make_seeds(face: Image.Image | None = None) -> dict[str, bytes]:
    """Whole files of every kind, of a picture or of noise."""
    if face is None:
        noise = np.random.default_rng(0).integers(0, 255, (12, 12, 3), dtype=np.uint8)
        face = Image.fromarray(noise)
    face = face.resize((_SIDE, _SIDE), Image.Resampling.BICUBIC)
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


def mutate(data: bytes, rng: np.random.RandomState) -> bytes:
    """Flip bytes (most near the beginning), put extreme numbers, cut out, double, cut off."""
    out = bytearray(data)
    kind = rng.randint(6)
    if kind <= 2:
        for _ in range(rng.randint(1, 12)):
            reach = min(len(out), 100) if rng.rand() < 0.6 else len(out)
            out[rng.randint(reach)] = rng.randint(256)
    elif kind == 3 and len(out) > 5:
        place = rng.randint(min(len(out) - 4, 120))
        extremes = [b"\xff" * 4, b"\x7f\xff\xff\xff", b"\0" * 4, b"\x80\0\0\0", b"\xff\xff\0\0"]
        out[place : place + 4] = extremes[rng.randint(len(extremes))]
    elif kind == 4:
        first, last = sorted(rng.randint(len(out), size=2).tolist())
        out[first:last] = out[first:last] * int(rng.randint(0, 3))
    if kind == 5 or rng.rand() < 0.1:
        del out[rng.randint(1, max(2, len(out))) :]
    return bytes(out)


def prepare(seed: int, folder: Path) -> Item:
    seeds = list(make_seeds().items())
    path = folder / "forged.jpg"

    def item(k: int) -> tuple[str, str]:
        rng = np.random.RandomState([seed, k])
        path.write_bytes(mutate(seeds[k % len(seeds)][1], rng))
        with quiet():
            try:
                image = read_image(path)
            except MienError as error:
                return refused(error)
        pixels = np.asarray(getattr(image, "pixels", getattr(image, "image", image)))
        if pixels.dtype != np.uint8:
            return "raw error", f"decoded as {pixels.dtype}"
        return "worked", ""

    return item
