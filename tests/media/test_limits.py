"""What a picture may cost: hostile files are refused before, or soon after, work begins."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.errors import ImageError, MissingDependencyError
from mien.media import _decoding as decoding
from mien.media import decode_image, decode_sized, read_image
from mien.media._limits import read_jpeg


def _jpeg(side: int = 64, **options: object) -> bytes:
    buffer = io.BytesIO()
    y, x = np.mgrid[:side, :side]
    pixels = np.stack([x % 256, y % 256, (x + y) % 256], axis=-1).astype(np.uint8)
    Image.fromarray(pixels).save(buffer, "JPEG", **options)
    return buffer.getvalue()


def _with_scans(n_scans: int, side: int = 64) -> bytes:
    """A progressive JPEG whose last scan comes again and again."""
    data = _jpeg(side, progressive=True)
    last = data.rindex(b"\xff\xda")
    scan = data[last:-2]
    return data[:last] + scan * (n_scans - read_jpeg(data).scans + 1) + data[-2:]


def test_scans_are_counted_and_limited() -> None:
    assert read_jpeg(_jpeg()) == (1, 0.0)
    normal = read_jpeg(_jpeg(progressive=True))
    assert 2 <= normal.scans <= 20
    assert normal.kept == 1.5  # 4:2:0
    assert read_jpeg(_jpeg(progressive=True, subsampling=0)).kept == 3
    assert read_jpeg(_with_scans(50)).scans == 50
    assert decode_image(_with_scans(50)).shape == (64, 64)
    with pytest.raises(ImageError, match=r"passes over its 4,096 pixels 500 times"):
        decode_image(_with_scans(500))


def test_scans_of_a_preview_do_not_count() -> None:
    """A thumbnail inside EXIF is a JPEG of its own."""
    exif = Image.Exif()
    exif[0x010E] = "note"
    inner = _with_scans(30)
    data = _jpeg(exif=exif)
    segment = b"\xff\xe2" + struct.pack(">H", len(inner) + 2) + inner
    assert read_jpeg(data[:2] + segment + data[2:]).scans == 1


def test_large_pictures_times_many_scans_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mien.media._limits._MAX_SCANNED_PIXELS", 100_000)
    with pytest.raises(ImageError, match="refused before decoding"):
        decode_image(_with_scans(40))
    monkeypatch.setattr("mien.media._limits._MAX_BYTES", 10_000)
    with pytest.raises(ImageError, match="a progressive JPEG of 4,096 pixels takes"):
        decode_image(_jpeg(progressive=True))
    assert decode_image(_jpeg()).shape == (64, 64)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_time_is_limited_between_blocks(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 256, (256, 256, 3), dtype=np.uint8)
    Image.fromarray(noise).save(buffer, kind)
    monkeypatch.setattr("mien.media._limits._MAX_SECONDS", -1.0)
    with pytest.raises(ImageError, match="takes longer than"):
        decode_image(buffer.getvalue())


def _deep_png(side: int) -> bytes:
    """An even picture of 16 bits: few bytes, many pixels."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    rows = zlib.compressobj(9)
    body = b"".join(rows.compress(bytes(1 + 2 * side)) for _ in range(side)) + rows.flush()
    header = struct.pack(">IIBBBBB", side, side, 16, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    )


# Not by getrusage: that peak is inherited from the process of the tests.
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peaks are read from /proc")
def test_memory_of_sixteen_bit_pictures_is_a_few_bytes_per_pixel(tmp_path: Path) -> None:
    (tmp_path / "deep.png").write_bytes(_deep_png(5000))
    code = (
        "import re, sys, numpy\n"
        "from mien.media import read_image\n"
        "def peak():\n"
        "    return int(re.search(r'VmHWM:.*?([0-9]+)', open('/proc/self/status').read())[1])\n"
        "before = peak()\n"
        "assert read_image(sys.argv[1], colour=True).shape == (5000, 5000, 3)\n"
        "print(peak() - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "deep.png")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    per_pixel = int(done.stdout) * 1024 / 25e6
    assert 3 < per_pixel < 9, (
        f"{per_pixel:.1f} bytes per pixel"
    )  # 25 before conversion went in bands


def test_a_large_jpeg_is_decoded_smaller() -> None:
    data = _jpeg(400)
    found = decode_sized(data, max_pixels=50_000)
    assert found.pixels.shape == (200, 200)
    assert found.original_size == (400, 400)
    assert decode_image(data, max_side=60).shape == (50, 50)
    whole = decode_image(data, size=50)
    assert np.abs(decode_image(data, max_side=60).astype(int) - whole).mean() < 4
    with pytest.raises(ImageError, match=r"400 wide and 400 high .* limits are 16,384 per side"):
        decode_image(data, max_pixels=1000)
    buffer = io.BytesIO()
    Image.new("L", (400, 400)).save(buffer, "PNG")
    with pytest.raises(ImageError, match="refused before decoding"):
        decode_image(buffer.getvalue(), max_pixels=50_000)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_bands_are_put_where_they_belong(orientation: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (50, 30, 4), dtype=np.uint8)
    exif = Image.Exif()
    exif[0x0112] = orientation
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", exif=exif)
    whole = decode_image(buffer.getvalue(), colour=True)
    monkeypatch.setattr(decoding, "_BAND", 30 * 7)
    np.testing.assert_array_equal(decode_image(buffer.getvalue(), colour=True), whole)
    assert whole.shape == ((30, 50, 3) if orientation >= 5 else (50, 30, 3))


def test_devices_and_pipes_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    (tmp_path / "zero.jpg").symlink_to("/dev/zero")
    for name in ("pipe.jpg", "zero.jpg"):
        with pytest.raises(ImageError, match=f"{name}' is not a regular file"):
            read_image(tmp_path / name)


def test_avif_is_read() -> None:
    buffer = io.BytesIO()
    Image.fromarray(np.full((40, 60, 3), 90, np.uint8)).save(buffer, "AVIF", quality=90)
    assert abs(int(decode_image(buffer.getvalue(), size=8).mean()) - 90) <= 2


def test_heic_is_read_upright() -> None:
    heif = pytest.importorskip("pillow_heif", reason="the extra 'heif' is not installed")
    pixels = np.zeros((64, 96, 3), np.uint8)
    pixels[:32] = 200
    exif = Image.Exif()
    exif[0x0112] = 6
    heif.register_heif_opener()
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "HEIF", quality=90, exif=exif)
    found = decode_sized(buffer.getvalue())
    assert found.original_size == found.pixels.shape
    assert sorted(found.pixels.shape) == [64, 96]
    halves = [found.pixels[:32].mean(), found.pixels[:, :48].mean(), found.pixels[:, 48:].mean()]
    assert max(halves) > 150


def test_heic_without_the_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    head = struct.pack(">I", 24) + b"ftypheic" + bytes(4) + b"mif1heic" + bytes(64)
    with pytest.raises(MissingDependencyError, match=r"mien\[heif\]"):
        decode_image(head)
