"""Decoding: what is read, what is refused and by which words, and that nothing else gets out."""

from __future__ import annotations

import io
import os
import struct
import threading
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.errors import ImageError, InputError, MissingDataError
from mien.media import contact_sheet, decode_image, read_image, resize_images, write_image


def _ramp(height: int = 24, width: int = 32) -> np.ndarray:
    """A smooth picture without symmetry, so that any turn or flip shows."""
    y, x = np.mgrid[:height, :width]
    return (5 * y + 3 * x).astype(np.uint8)


def _encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def _png_header(width: int, height: int) -> bytes:
    """The first bytes of a PNG of any size, without a single pixel behind them."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        crc = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", crc)

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"")


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "PPM", "GIF", "WEBP"])
def test_lossless_formats_give_the_pixels_back(kind: str, tmp_path: Path) -> None:
    pixels = _ramp()
    options = {"lossless": True} if kind == "WEBP" else {}
    path = tmp_path / "named.jpg"  # the name lies: content decides
    path.write_bytes(_encoded(Image.fromarray(pixels), kind, **options))
    np.testing.assert_array_equal(read_image(path), pixels)


def test_jpeg_is_close_and_colour_is_kept() -> None:
    colour = np.stack([_ramp(), _ramp() // 2, 255 - _ramp()], axis=-1)
    data = _encoded(Image.fromarray(colour), "JPEG", quality=98, subsampling=0)
    back = decode_image(data, colour=True)
    assert back.shape == colour.shape
    assert np.abs(back.astype(int) - colour).max() <= 6
    luma = colour @ np.array([0.299, 0.587, 0.114])
    assert np.abs(decode_image(data) - luma).max() <= 6


@pytest.mark.parametrize(
    ("orientation", "undo"),
    [
        (1, lambda a: a),
        (2, lambda a: a[:, ::-1]),
        (3, lambda a: a[::-1, ::-1]),
        (4, lambda a: a[::-1]),
        (5, lambda a: a.T),
        (6, lambda a: np.rot90(a, -1)),
        (7, lambda a: np.rot90(a, 2).T),
        (8, lambda a: np.rot90(a)),
    ],
)
def test_exif_orientation_is_applied(orientation: int, undo) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = _encoded(Image.fromarray(_ramp()), "PNG", exif=exif)
    np.testing.assert_array_equal(decode_image(data), undo(_ramp()))


def test_damaged_exif_does_not_damage_the_picture() -> None:
    data = _encoded(Image.fromarray(_ramp()), "PNG", exif=b"Exif\x00\x00II*\x00garbage")
    np.testing.assert_array_equal(decode_image(data), _ramp())


def test_sixteen_bits_are_scaled_not_cut() -> None:
    wide = (_ramp().astype(np.uint16) * 257).astype(np.uint16)
    for kind in ("PNG", "TIFF"):
        data = _encoded(Image.fromarray(wide), kind)
        np.testing.assert_array_equal(decode_image(data), _ramp())
    header = b"P5 32 24 65535\n" + wide.astype(">u2").tobytes()
    np.testing.assert_array_equal(decode_image(header), _ramp())


def test_transparency_is_laid_on_white() -> None:
    rgba = np.zeros((4, 4, 4), np.uint8)
    rgba[:2, :, 3] = 255  # upper half opaque black, lower half clear black
    expected = np.repeat([[0], [0], [255], [255]], 4, axis=1)
    np.testing.assert_array_equal(decode_image(_encoded(Image.fromarray(rgba), "PNG")), expected)
    grey = Image.fromarray(rgba).convert("LA")
    np.testing.assert_array_equal(decode_image(_encoded(grey, "PNG")), expected)


def test_palette_and_cmyk_are_converted() -> None:
    colour = Image.new("RGB", (8, 8), (200, 40, 40))
    palette = decode_image(_encoded(colour.quantize(8), "PNG"), colour=True)
    assert np.abs(palette.astype(int) - (200, 40, 40)).max() <= 2
    cmyk = decode_image(_encoded(colour.convert("CMYK"), "JPEG", quality=98), colour=True)
    assert np.abs(cmyk.astype(int) - (200, 40, 40)).max() <= 8


def test_one_bit_pictures_are_black_and_white() -> None:
    bits = Image.fromarray((_ramp() > 80).astype(np.uint8) * 255).convert("1")
    np.testing.assert_array_equal(np.unique(decode_image(_encoded(bits, "PNG"))), [0, 255])


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "TIFF", "PNG"])
def test_animations_and_pages_are_refused(kind: str) -> None:
    frames = [Image.fromarray(_ramp()), Image.fromarray(255 - _ramp())]
    data = _encoded(frames[0], kind, save_all=True, append_images=frames[1:])
    with pytest.raises(ImageError, match=r"^clip is an animation, or has several pages"):
        decode_image(data, "clip")


def test_phone_pictures_with_a_preview_are_read() -> None:
    first = Image.fromarray(_ramp()).convert("RGB")
    data = _encoded(first, "MPO", save_all=True, append_images=[first], quality=98)
    assert np.abs(decode_image(data).astype(int) - _ramp()).max() <= 6


def test_values_without_a_range_are_refused() -> None:
    floats = Image.fromarray(_ramp().astype(np.float32))
    with pytest.raises(ImageError, match="floating-point pixels"):
        decode_image(_encoded(floats, "TIFF"))
    wide = Image.fromarray(_ramp().astype(np.int32))
    with pytest.raises(ImageError, match="32-bit integer pixels"):
        decode_image(_encoded(wide, "TIFF"))


def test_twenty_thousand_pixels_are_refused_by_the_header() -> None:
    for width, height in ((20_000, 10), (10, 20_000)):
        with pytest.raises(ImageError, match=r"'big' is refused before decoding: .*20,000"):
            decode_image(_png_header(width, height), "'big'")
    with pytest.raises(ImageError, match=r"refused before decoding: .*400000000 pixels"):
        decode_image(_png_header(20_000, 20_000))
    with pytest.raises(ImageError, match=r"100,000,000 pixels\), and the limits are"):
        decode_image(_png_header(10_000, 10_000))
    with pytest.raises(ImageError, match="32 wide and 24 high"):
        decode_image(_encoded(Image.fromarray(_ramp()), "PNG"), max_pixels=700)


def test_each_broken_file_has_its_reason(tmp_path: Path) -> None:
    whole = _encoded(Image.fromarray(_ramp(64, 64)), "JPEG")
    for name, data, reason in (
        ("empty.jpg", b"", r"is empty \(0 bytes\)"),
        ("text.jpg", b"these are the notes about ann\n", "is not a picture: it is text"),
        ("noise.png", bytes(range(128, 256)), "is not a picture; JPEG"),
        ("half.jpg", whole[: len(whole) // 2], "cannot be decoded"),
        ("stub.png", _png_header(8, 8), "cannot be decoded"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ImageError, match=reason) as caught:
            read_image(tmp_path / name)
        assert name in str(caught.value)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"nobody\.png' does not exist"):
        read_image(tmp_path / "nobody.png")
    with pytest.raises(ImageError, match="not a regular file"):
        read_image(tmp_path)
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(ImageError, match="not a regular file"):
        read_image(tmp_path / "pipe.png")
    (tmp_path / "loop.png").symlink_to(tmp_path / "loop.png")
    with pytest.raises(ImageError, match="cannot be read"):
        read_image(tmp_path / "loop.png")


def test_no_script_runs_behind_a_picture() -> None:
    with pytest.raises(ImageError, match="is not a picture: it is text"):
        decode_image(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\nshowpage\n")


_SEEDS = {
    "JPEG": {"quality": 80, "progressive": True},
    "PNG": {},
    "WEBP": {},
    "BMP": {},
    "TIFF": {"compression": "tiff_lzw"},
    "PPM": {},
    "GIF": {},
}


@pytest.mark.parametrize("kind", _SEEDS)
def test_mutated_pictures_raise_nothing_but_image_errors(kind: str) -> None:
    rng = np.random.RandomState(sum(map(ord, kind)))
    exif = Image.Exif()
    exif[0x0112] = 6
    options = {} if kind in ("BMP", "PPM", "GIF") else {"exif": exif}
    seed = _encoded(Image.fromarray(_ramp()).convert("RGB"), kind, **_SEEDS[kind], **options)
    refused = 0
    for _ in range(150):
        data = bytearray(seed)
        for _ in range(rng.randint(1, 9)):
            place = rng.randint(min(len(data), 64) if rng.rand() < 0.5 else len(data))
            data[place] = rng.randint(256)
        if rng.rand() < 0.3:
            del data[rng.randint(len(data)) :]
        try:
            pixels = decode_image(bytes(data), colour=bool(rng.randint(2)), max_pixels=10**6)
            assert pixels.dtype == np.uint8
            assert pixels.size > 0
        except ImageError:
            refused += 1
    assert 0 < refused < 150


def test_threads_leave_the_warning_filters_as_they_were() -> None:
    data = _encoded(Image.fromarray(_ramp()), "PNG")
    before = list(warnings.filters)
    threads = [
        threading.Thread(target=lambda: [decode_image(data) for _ in range(50)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(warnings.filters) == before


def test_fits_keep_cut_or_fill() -> None:
    wide = np.zeros((20, 60), np.uint8)
    wide[:, 20:40] = 200  # only the middle square is bright
    images = wide[None]
    assert np.all(resize_images(images, 20, fit="crop") == 200)
    assert resize_images(images, 20, fit="stretch")[0, 10, 0] == 0
    padded = resize_images(images, 60, fit="pad")[0]
    np.testing.assert_array_equal(padded[20:40], wide)
    assert padded[:20].max() == padded[40:].max() == 0
    with pytest.raises(InputError, match="fit must be one of"):
        resize_images(images, 20, fit="squash")
    for bad in (0, -1, 2.5, (3, 4, 5), (0, 4), 10**9, True):
        with pytest.raises(InputError, match="size must be"):
            resize_images(images, bad)


def test_shrinking_filters_instead_of_picking() -> None:
    fine = np.tile(np.array([[0, 255], [255, 0]], np.uint8), (32, 32))
    small = resize_images(fine[None], 16)[0]
    assert np.abs(small[2:-2, 2:-2].astype(int) - 127).max() <= 3


def test_floats_and_bytes_resize_alike() -> None:
    colour = np.stack([_ramp(30, 30), 200 - _ramp(30, 30) // 2, _ramp(30, 30) // 3], -1)[None]
    whole = resize_images(colour, (16, 12)).astype(float) / 255
    parts = resize_images(colour.astype(np.float32) / 255, (16, 12))
    assert parts.dtype == np.float32
    assert np.abs(whole - parts).max() < 2 / 255
    grey = resize_images(colour[..., 0].astype(np.float64) / 255, 8)
    assert grey.shape == (1, 8, 8)


def test_reduced_jpeg_decoding_agrees_with_the_whole() -> None:
    y, x = np.mgrid[:480, :640]
    smooth = (127 + 80 * np.sin(x / 40) * np.cos(y / 30)).astype(np.uint8)
    data = _encoded(Image.fromarray(smooth), "JPEG", quality=95)
    direct = decode_image(data, size=40).astype(int)
    whole = resize_images(decode_image(data)[None], 40)[0]
    assert np.abs(direct - whole).max() <= 3


def test_sheet_places_every_picture() -> None:
    images = np.arange(1, 8, dtype=np.uint8)[:, None, None] * np.ones((1, 3, 4), np.uint8)
    sheet = contact_sheet(images, 3, gap=1)
    assert sheet.shape == (3 * 4 + 1, 3 * 5 + 1)
    np.testing.assert_array_equal(sheet[2::4, 2::5], [[1, 2, 3], [4, 5, 6], [7, 255, 255]])
    assert contact_sheet(np.ones((2, 3, 3, 3)), 10).shape == (7, 12, 3)
    for bad in (np.zeros((0, 3, 3), np.uint8), np.zeros((3, 3), np.uint8)):
        with pytest.raises(InputError, match="images must be"):
            contact_sheet(bad)
    with pytest.raises(InputError, match="columns must be"):
        contact_sheet(images, 0)


def test_writing_is_whole_and_refuses_what_it_cannot(tmp_path: Path) -> None:
    path = write_image(tmp_path / "a.png", _ramp() / 255.0)
    np.testing.assert_array_equal(read_image(path), _ramp())
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]
    with pytest.raises(InputError, match=r"\.png, \.jpg or \.jpeg"):
        write_image(tmp_path / "a.exe", _ramp())
    with pytest.raises(InputError, match="finite floats"):
        write_image(tmp_path / "b.png", np.full((3, 3), np.nan))
    with pytest.raises(ValueError, match="cannot be written"):
        write_image(tmp_path / "no" / "folder.png", _ramp())
