"""Painted masks, hands and sunglasses on aligned faces: what the covered-face model learns from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from mien.faces._align import CROP_SIDE

__all__ = ["PLACES", "paint_cover", "vary_picture"]

PLACES = ("mask", "half", "hand", "patch", "glasses")
"""Forms of covers; the first three lie on the lower face."""


def paint_cover(
    crop: np.ndarray,
    place: str,
    textures: Sequence[np.ndarray],
    random_state: np.random.RandomState,
) -> tuple[np.ndarray, np.ndarray]:
    """Cover a part of an aligned face.

    Parameters
    ----------
    crop : (112, 112, 3) uint8
        An aligned face.
    place : str
        One of `PLACES`.
    textures : sequence of (h, w, 3) uint8
        Pictures of at least 112 × 112 pixels, of other things than faces.
    random_state : RandomState
        Draws form, place and surface.

    Returns
    -------
    (112, 112, 3) uint8
        The covered face.
    (112, 112) bool
        What is covered.
    """
    outline = Image.new("L", (CROP_SIDE, CROP_SIDE), 0)
    draw = ImageDraw.Draw(outline)
    for polygon in _FORMS[place](random_state):
        draw.polygon([(float(x), float(y)) for x, y in polygon], fill=255)
    mask = np.asarray(outline) > 127
    soft = outline.filter(ImageFilter.GaussianBlur(float(random_state.uniform(0, 1.5))))
    weight = np.asarray(soft, np.float32)[..., None] / 255
    surface = _surface(crop, place, textures, random_state)
    return np.round(crop * (1 - weight) + surface * weight).astype(np.uint8), mask


def vary_picture(crop: np.ndarray, random_state: np.random.RandomState) -> np.ndarray:
    """Another camera and light: turn, shift, scale, mirror, contrast, blur, noise."""
    rs = random_state
    image = Image.fromarray(crop)
    angle, scale = np.deg2rad(rs.normal(0, 4)), np.exp(rs.normal(0, 0.05))
    shift = rs.normal(0, 2.5, 2)
    c, s, centre = np.cos(angle) / scale, np.sin(angle) / scale, CROP_SIDE / 2
    matrix = (
        *(c, s, centre - c * (centre + shift[0]) - s * (centre + shift[1])),
        *(-s, c, centre + s * (centre + shift[0]) - c * (centre + shift[1])),
    )
    image = image.transform(image.size, Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR)
    if rs.rand() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if rs.rand() < 0.3:
        image = image.filter(ImageFilter.GaussianBlur(float(rs.uniform(0.5, 2))))
    pixels = np.asarray(image, np.float32) / 255
    pixels = pixels ** np.exp(rs.normal(0, 0.25)) * np.exp(rs.normal(0, 0.15))
    pixels = pixels + rs.normal(0, rs.uniform(0, 0.02), (*pixels.shape[:2], 1))
    return np.round(np.clip(pixels, 0, 1) * 255).astype(np.uint8)


def _jitter(points: Sequence[tuple[float, float]], rs: np.random.RandomState) -> np.ndarray:
    moved = (np.array(points, float) - 56) * rs.normal(1, 0.05, 2) + 56 + rs.normal(0, 3, 2)
    return np.asarray(moved + rs.normal(0, 1.5, moved.shape))


def _mask_form(rs: np.random.RandomState) -> list[np.ndarray]:
    """A face mask: from the bridge of the nose, or below it, to the chin and the ears."""
    top = rs.choice([60, 66, 74, 82], p=[0.4, 0.35, 0.15, 0.1])
    side = rs.uniform(12, 26)
    points = [
        (side, top + rs.uniform(0, 12)),
        (42, top + 2),
        (56, top - rs.uniform(0, 5)),
        (70, top + 2),
        (112 - side, top + rs.uniform(0, 12)),
        (112 - side - 4, 96),
        (76, 118),
        (36, 118),
        (side + 4, 96),
    ]
    return [_jitter(points, rs)]


def _half_form(rs: np.random.RandomState) -> list[np.ndarray]:
    """Everything below a line: a scarf, a sheet of paper, the edge of a table."""
    y, tilt = rs.uniform(62, 84), rs.normal(0, 6)
    return [np.array([(-5, y - tilt), (117, y + tilt), (117, 117), (-5, 117)])]


def _hand_form(rs: np.random.RandomState) -> list[np.ndarray]:
    """A blob over the mouth, with or without fingers."""
    centre = np.array([56, 94]) + rs.normal(0, 6, 2)
    turns = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    radius = 1 + 0.15 * np.sin(turns * rs.randint(2, 5) + rs.uniform(0, 6))
    palm = np.column_stack([np.cos(turns), np.sin(turns)]) * radius[:, None]
    forms = [palm * [rs.uniform(20, 38), rs.uniform(14, 26)] + centre]
    if rs.rand() < 0.6:
        angle = rs.uniform(-np.pi, np.pi)
        along = np.array([np.cos(angle), np.sin(angle)])
        across = np.array([-along[1], along[0]]) * rs.uniform(3.5, 6)
        for k in range(-2, 3):
            start = centre + across * 2.3 * k
            tip = start + along * rs.uniform(22, 48)
            forms.append(np.array([start - across, tip - across, tip + across, start + across]))
    return forms


def _patch_form(rs: np.random.RandomState) -> list[np.ndarray]:
    """Anything anywhere: a microphone, a cup, hair, somebody's shoulder."""
    centre, reach = rs.uniform(5, 107, 2), rs.uniform(8, 34, 2)
    turns = np.sort(rs.uniform(0, 2 * np.pi, rs.randint(4, 12)))
    return [np.column_stack([np.cos(turns), np.sin(turns)]) * reach + centre]


def _glasses_form(rs: np.random.RandomState) -> list[np.ndarray]:
    width, height, drop = rs.uniform(13, 19), rs.uniform(8, 14), rs.normal(2, 2)
    turns = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    power = rs.uniform(0.5, 1)
    ring = np.column_stack([np.cos(turns), np.sin(turns)])
    ring = np.sign(ring) * np.abs(ring) ** power * [width, height]
    shift = rs.normal(0, 1.5, 2)
    forms = [ring + np.array([x, 52 + drop]) + shift for x in (37, 75)]
    if rs.rand() < 0.4:
        forms.append(np.array([(10, 46), (102, 46), (102, 51), (10, 51)]) + shift)
    return forms


_FORMS = dict(
    zip(PLACES, (_mask_form, _half_form, _hand_form, _patch_form, _glasses_form), strict=True)
)
_CLOTH = np.array([[235, 235, 235], [120, 170, 210], [20, 20, 22], [40, 60, 110], [150, 30, 40]])


def _surface(
    crop: np.ndarray, place: str, textures: Sequence[np.ndarray], rs: np.random.RandomState
) -> np.ndarray:
    """What the cover looks like: (112, 112, 3) float32 from 0 to 255."""
    kind = rs.choice(
        ["cloth", "colour", "pattern", "texture", "skin"], p=[0.3, 0.15, 0.1, 0.25, 0.2]
    )
    if place == "hand" and rs.rand() < 0.5:
        kind = "skin"
    if place == "glasses" and rs.rand() < 0.7:
        return _shaded(np.full(3, rs.uniform(5, 50)), rs)
    if kind == "texture" and len(textures):
        picture = textures[rs.randint(len(textures))]
        y, x = (rs.randint(side - CROP_SIDE + 1) for side in picture.shape[:2])
        return picture[y : y + CROP_SIDE, x : x + CROP_SIDE].astype(np.float32)
    if kind == "skin":
        colour = np.median(crop[62:80, 26:86].reshape(-1, 3), axis=0)
        return _shaded(colour * np.exp(rs.normal(0, 0.15)) * np.exp(rs.normal(0, 0.03, 3)), rs)
    if kind == "cloth":
        return _shaded(_CLOTH[rs.randint(len(_CLOTH))] + rs.normal(0, 12, 3), rs)
    if kind == "pattern":
        return _pattern(rs)
    return _shaded(rs.uniform(0, 255, 3), rs)


def _shaded(colour: np.ndarray, rs: np.random.RandomState) -> np.ndarray:
    """A colour under light that changes over the surface, with folds and grain."""
    y, x = np.mgrid[:CROP_SIDE, :CROP_SIDE] / CROP_SIDE - 0.5
    angle = rs.uniform(0, 2 * np.pi)
    light = rs.normal(0, 0.25) * x + rs.normal(0, 0.25) * y - rs.uniform(0, 0.8) * x * x
    folds = np.sin((x * np.cos(angle) + y * np.sin(angle)) * rs.uniform(10, 60) + rs.uniform(0, 6))
    light = light + rs.uniform(0, 0.06) * folds
    surface = colour * (1 + light[..., None]) + rs.normal(0, rs.uniform(0, 8), (*x.shape, 1))
    return np.clip(surface, 0, 255).astype(np.float32)


def _pattern(rs: np.random.RandomState) -> np.ndarray:
    """Stripes, checks or dots in two colours."""
    y, x = np.mgrid[:CROP_SIDE, :CROP_SIDE].astype(float)
    angle, period = rs.uniform(0, np.pi), rs.uniform(5, 24)
    first = np.sin((x * np.cos(angle) + y * np.sin(angle)) * 2 * np.pi / period)
    second = np.sin((y * np.cos(angle) - x * np.sin(angle)) * 2 * np.pi / period)
    wave = [first > 0, first * second > 0, first + second > 1][rs.randint(3)][..., None]
    colours = rs.uniform(0, 255, (2, 3))
    return np.asarray(np.where(wave, colours[0], colours[1]), np.float32)
