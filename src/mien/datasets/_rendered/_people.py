"""Who the rendered people are and what happens to each picture, drawn from counters.

A person is a function of (seed, person), a picture of (seed, person, picture), and nothing else:
no generator is carried along, so neither the number of people nor the batches change anybody.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mien.datasets._rendered import _shade as c
from mien.datasets._rendered._shade import (
    CENTRE,
    FRAME,
    N_COLUMNS,
    hash_bits,
    normal_deviate,
    relief,
)

__all__ = [
    "COVER_KINDS",
    "IDENTITY_NAMES",
    "LANDMARK_NAMES",
    "NUISANCE_NAMES",
    "Conditions",
    "RenderedCamera",
    "describe_pictures",
]

# Bell-shaped traits (mean 0, variance 1, within ±3.5), then even ones in [0, 1].
_BELLS = (
    "head_width", "head_height", "chin_length", "jaw_width", "cheeks", "chin_size", "asymmetry",
    "ear_size", "eye_spacing", "eye_height", "eye_length", "eye_opening", "eye_tilt", "iris_size",
    "eye_depth", "brow_height", "brow_length", "brow_arch", "brow_tilt", "brow_thickness",
    "nose_width", "nose_length", "nose_height", "bridge_width", "mouth_height", "mouth_width",
    "upper_lip", "lower_lip", "lip_bow", "mouth_curve", "skin_undertone", "skin_redness",
    "hairline", "hair_volume", "hair_width", "parting", "neck_width", "masculine",
)  # fmt: skip
_EVENS = (
    "skin_tone", "blotches", "freckles", "texture_x", "texture_y", "mole_x", "mole_y", "mole2_x",
    "mole2_y", "moles", "age", "stubble", "beard", "moustache", "lip_colour", "eye_colour",
    "eye_shade", "eyelid", "hair_colour", "hair_red", "hair_length", "hair_cut", "hair_part",
    "bald", "fringe", "strands", "lens_shape", "lens_size", "rim",
)  # fmt: skip
IDENTITY_NAMES = _BELLS + _EVENS

_MOVES = (
    "smile", "mouth_open", "eye_open", "brow_raise", "gaze_x", "gaze_y", "light_x", "light_y",
    "light_level", "ambient", "warmth", "yaw", "pitch", "roll", "scale", "shift_x", "shift_y",
)  # fmt: skip
_CHANCES = (
    "blur", "noise", "background_tone", "background_hue", "background_tilt", "background_x",
    "background_y", "cloth_tone", "cloth_hue", "cover_hue", "cover_kind", "glasses", "cover",
)  # fmt: skip
NUISANCE_NAMES = (*_MOVES, "blur", "noise", "background", "glasses", "cover")
COVER_KINDS = ("mask", "scarf", "bar")

LANDMARK_NAMES = (
    "left_eye_outer", "left_eye_inner", "right_eye_inner", "right_eye_outer",
    "left_pupil", "right_pupil", "nose_tip", "left_nostril", "right_nostril",
    "mouth_left", "mouth_right", "upper_lip", "lower_lip",
    "left_brow_outer", "left_brow_inner", "right_brow_inner", "right_brow_outer",
    "nose_bridge", "chin", "left_cheek", "right_cheek",
)  # fmt: skip

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_PICTURE = np.uint64(0xD1B54A32D192ED03)

# Skin from light to dark and hair from black to blond, linear light.
_SKIN_AT = np.array([0.0, 0.35, 0.6, 0.8, 1.0])
_SKIN = np.array(
    [[0.74, 0.50, 0.39], [0.61, 0.375, 0.265], [0.45, 0.25, 0.155], [0.30, 0.155, 0.09],
     [0.19, 0.10, 0.062]]
)  # fmt: skip
_HAIR_AT = np.array([0.0, 0.3, 0.55, 0.78, 1.0])
_HAIR = np.array(
    [[0.014, 0.012, 0.011], [0.036, 0.022, 0.014], [0.095, 0.052, 0.028], [0.21, 0.125, 0.062],
     [0.46, 0.32, 0.16]]
)  # fmt: skip
_IRIS = np.array(
    [[0.055, 0.025, 0.012], [0.13, 0.065, 0.025], [0.13, 0.12, 0.05], [0.10, 0.17, 0.17],
     [0.10, 0.20, 0.34]]
)  # fmt: skip


@dataclass(frozen=True)
class RenderedCamera:
    """A camera for rendered people: lens, sensor and light.

    Parameters
    ----------
    contrast, brightness : float
        The picture is ``0.5 + contrast (value - 0.5) + brightness``.
    gamma : float
        Power applied to the picture before contrast; above 1 darkens the middle.
    resolution : float
        Share of the picture's rows and columns that the sensor has, in (0, 1].
    blur : float
        Standard deviation of the lens's blur, in hundredths of the picture's side.
    noise : float
        Standard deviation of the sensor's noise, added to that of the pictures.
    vignetting : float
        Loss of light in the corners, in [0, 1).
    light : (float, float)
        Position of the room's lamp: added to the direction of light, x to the right, y down.
    ambient : float
        Factor on the light that comes from everywhere.
    """

    contrast: float = 1.0
    brightness: float = 0.0
    gamma: float = 1.0
    resolution: float = 1.0
    blur: float = 0.0
    noise: float = 0.0
    vignetting: float = 0.0
    light: tuple[float, float] = (0.0, 0.0)
    ambient: float = 1.0


@dataclass(frozen=True)
class Conditions:
    """How strongly each kind of nuisance acts; 1 is ordinary, 0 is none."""

    expression: float
    light: float
    pose: float
    blur: float
    noise: float
    background: float
    glasses: float
    covers: tuple[str, ...]
    cover_rate: float


def _keys(seed: int, people: np.ndarray, pictures: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One counter's start for each person and one for each picture, (n,) uint64 each."""
    start = hash_bits(np.array([seed % 2**64], dtype=np.uint64) + _GOLDEN)
    person = hash_bits(start + (people.astype(np.uint64) + np.uint64(1)) * _GOLDEN)
    picture = hash_bits(person + (pictures.astype(np.uint64) + np.uint64(1)) * _PICTURE)
    return person, picture


def _draw(
    keys: np.ndarray, bells: tuple[str, ...], evens: tuple[str, ...]
) -> dict[str, np.ndarray]:
    """Draw the named numbers for every key."""
    drawn = {}
    for k, name in enumerate(bells + evens):
        bits = hash_bits(keys + np.uint64((k + 1) * int(_GOLDEN) % 2**64))
        if k < len(bells):
            drawn[name] = normal_deviate(bits)
        else:
            drawn[name] = (bits >> np.uint64(11)) * (1.0 / 9007199254740992.0)
    return drawn


def _ramp(at: np.ndarray, places: np.ndarray, colours: np.ndarray) -> np.ndarray:
    """Colours (n, 3) along a scale."""
    return np.stack([np.interp(at, places, colours[:, k]) for k in range(3)], axis=1)


def _hue(hue: np.ndarray, strength: float, level: np.ndarray) -> np.ndarray:
    """Colours (n, 3) of a hue in [0, 1], a strength and a level."""
    turn = np.abs((hue[:, None] + np.array([0.0, 2 / 3, 1 / 3])) % 1.0 * 2.0 - 1.0)
    return level[:, None] * (1.0 + strength * (2.0 * turn - 1.0))


def _step(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """0 below low, 1 above high, smooth between."""
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def _set(rows: np.ndarray, first: int, colours: np.ndarray) -> None:
    rows[:, first : first + 3] = colours


def _write_identity(rows: np.ndarray, t: dict[str, np.ndarray]) -> None:
    """Fill the columns that only the person decides."""
    male = np.clip(0.5 + 0.38 * t["masculine"], 0.0, 1.0)
    old = t["age"]
    rows[:, c.HEAD_W] = 0.75 + 0.035 * t["head_width"] + 0.015 * (male - 0.5)
    rows[:, c.HEAD_TOP] = 1.07 + 0.03 * t["head_height"]
    rows[:, c.CHIN] = 1.0 + 0.042 * t["chin_length"] + 0.05 * (male - 0.5)
    rows[:, c.JAW] = 0.05 + 0.08 * t["jaw_width"] + 0.18 * (male - 0.5)
    rows[:, c.CHEEK] = np.maximum(0.075 + 0.025 * t["cheeks"], 0.01)
    rows[:, c.CHIN_BUMP] = np.maximum(0.05 + 0.018 * t["chin_size"], 0.0)
    rows[:, c.ASYM] = 0.014 * t["asymmetry"]
    rows[:, c.EAR] = np.clip(1.0 + 0.12 * t["ear_size"], 0.6, 1.5)
    rows[:, c.EYE_X] = 0.325 + 0.02 * t["eye_spacing"]
    rows[:, c.EYE_Y] = -0.08 + 0.022 * t["eye_height"]
    rows[:, c.EYE_L] = np.maximum(0.16 + 0.011 * t["eye_length"], 0.12)
    opening = np.clip(1.0 + 0.15 * t["eye_opening"] - 0.12 * (old - 0.5), 0.55, 1.6)
    rows[:, c.EYE_UP] = 0.076 * opening
    rows[:, c.EYE_LOW] = 0.046 * opening
    rows[:, c.EYE_TILT] = 0.05 + 0.075 * t["eye_tilt"]
    rows[:, c.IRIS_SIZE] = 0.079 + 0.004 * t["iris_size"]
    rows[:, c.CREASE] = 0.55 * _step(t["eyelid"], 0.1, 0.6)
    rows[:, c.BAGS] = 0.05 + 0.32 * old**2
    rows[:, c.SOCKET] = np.maximum(0.075 + 0.02 * t["eye_depth"] + 0.02 * (male - 0.5), 0.01)
    rows[:, c.BROW_X] = rows[:, c.EYE_X] + 0.012
    rows[:, c.BROW_Y] = rows[:, c.EYE_Y] - 0.185 - 0.022 * t["brow_height"] + 0.03 * (male - 0.5)
    rows[:, c.BROW_L] = np.clip(0.205 + 0.015 * t["brow_length"], 0.15, 0.27)
    rows[:, c.BROW_ARCH] = 0.035 + 0.017 * t["brow_arch"] - 0.02 * (male - 0.5)
    rows[:, c.BROW_TILT] = 0.013 + 0.016 * t["brow_tilt"]
    rows[:, c.BROW_T] = np.clip(
        0.030 + 0.008 * t["brow_thickness"] + 0.014 * (male - 0.5), 0.018, 1
    )
    rows[:, c.NOSE_W] = np.clip(
        0.165 + 0.018 * t["nose_width"] + 0.05 * (t["skin_tone"] - 0.4), 0.11, 0.27
    )
    rows[:, c.NOSE_Y] = 0.36 + 0.032 * t["nose_length"]
    rows[:, c.NOSE_H] = np.maximum(0.155 + 0.025 * t["nose_height"] + 0.02 * (male - 0.5), 0.05)
    rows[:, c.BRIDGE] = np.clip(0.135 + 0.016 * t["bridge_width"], 0.08, 0.2)
    rows[:, c.MOUTH_Y] = 0.5 * (rows[:, c.NOSE_Y] + rows[:, c.CHIN]) - 0.065
    rows[:, c.MOUTH_Y] += 0.02 * t["mouth_height"]
    rows[:, c.MOUTH_W] = 0.268 + 0.023 * t["mouth_width"]
    full = 1.0 + 0.5 * (t["skin_tone"] - 0.4) - 0.35 * (male - 0.5) - 0.3 * (old - 0.4)
    rows[:, c.LIP_UP] = np.clip((0.058 + 0.013 * t["upper_lip"]) * full, 0.018, 0.13)
    rows[:, c.LIP_LOW] = np.clip((0.078 + 0.014 * t["lower_lip"]) * full, 0.03, 0.15)
    rows[:, c.BOW] = np.clip(0.3 + 0.12 * t["lip_bow"], 0.0, 0.6)
    rows[:, c.AGE] = 1.1 * old**2

    tone = t["skin_tone"]
    skin = _ramp(tone, _SKIN_AT, _SKIN)
    skin[:, 1] *= 1.0 + 0.02 * t["skin_undertone"]
    skin[:, 2] *= 1.0 - 0.05 * t["skin_undertone"]
    _set(rows, c.SKIN_R, skin)
    rosy = t["lip_colour"][:, None] * (1.0 - 0.7 * male[:, None])
    lip = skin * np.array([0.86, 0.60, 0.62])
    lip = lip + rosy * (np.array([0.42, 0.10, 0.12]) * (1.1 - 0.5 * tone[:, None]) - lip)
    _set(rows, c.LIP_R, lip)
    rows[:, c.BLUSH] = np.clip(0.38 + 0.16 * t["skin_redness"], 0.0, 1.0)
    rows[:, c.BLOTCH] = 0.05 + 0.10 * t["blotches"]
    rows[:, c.FRECKLE] = _step(t["freckles"], 0.72, 1.0) * (1.0 - 0.7 * tone)
    rows[:, c.NOISE_X] = 64.0 * t["texture_x"]
    rows[:, c.NOISE_Y] = 64.0 * t["texture_y"]
    rows[:, c.MOLE1_X] = 1.1 * t["mole_x"] - 0.55
    rows[:, c.MOLE1_Y] = 0.05 + 0.75 * t["mole_y"]
    rows[:, c.MOLE2_X] = 1.1 * t["mole2_x"] - 0.55
    rows[:, c.MOLE2_Y] = -0.45 + 1.2 * t["mole2_y"]
    rows[:, c.MOLE] = 0.85 * _step(t["moles"], 0.5, 0.7)
    adult = _step(male, 0.55, 0.75)
    rows[:, c.STUBBLE] = 0.65 * adult * t["stubble"]
    rows[:, c.BEARD] = 0.93 * adult * _step(t["beard"], 0.62, 0.8)
    rows[:, c.MOUSTACHE] = (
        0.93 * adult * _step(t["moustache"] + 0.5 * (t["beard"] > 0.7), 0.7, 0.85)
    )

    shade = np.clip(t["hair_colour"] * (1.15 - 1.15 * _step(tone, 0.2, 0.75)), 0.0, 1.0)
    hair = _ramp(shade, _HAIR_AT, _HAIR)
    red = (t["hair_red"] > 0.86) & (tone < 0.4)
    hair[red] = hair[red] * 0.25 + np.array([0.23, 0.075, 0.022]) * (0.5 + shade[red, None])
    grey = _step(old + 0.25 * (t["hair_red"] - 0.5), 0.72, 1.0)[:, None]
    hair = hair + grey * (np.array([0.40, 0.39, 0.38]) - hair)
    _set(rows, c.HAIR_R, hair)
    luma = hair @ np.array([0.3, 0.59, 0.11])
    rows[:, c.BROW_C] = np.clip(0.05 / luma, 0.45, 0.95)
    rows[:, c.BROW_A] = np.clip(0.80 - 0.4 * luma + 0.06 * t["brow_thickness"], 0.45, 0.92)

    bald = male * (0.6 + 0.8 * old) * (t["bald"] > 0.8)
    rows[:, c.HAIR_A] = bald < 0.5
    length = t["hair_length"] + 0.75 * (0.5 - male)
    mid = _step(length, 0.42, 0.46)
    long = _step(length, 0.66, 0.70)
    rows[:, c.SIDE_END] = (-0.08 + 0.2 * t["hair_cut"]) * (1 - mid) + mid * (
        0.6 + 0.45 * t["hair_cut"]
    )
    rows[:, c.SIDE_END] += long * 0.75
    rows[:, c.HAIR_LEN] = rows[:, c.SIDE_END]
    rows[:, c.FLARE] = mid * (0.02 + 0.09 * t["strands"])
    rows[:, c.HAIR_TOP] = np.clip(0.11 + 0.035 * t["hair_volume"], 0.03, 0.24)
    wide = 0.028 + 0.06 * mid + 0.018 * t["hair_width"] + 0.01 * t["hair_volume"]
    rows[:, c.HAIR_SIDE] = np.clip(wide, 0.005, 0.2)
    fringe = _step(t["fringe"], 0.68, 0.76) * (0.4 + 0.6 * (1 - male))
    receding = 0.10 * male * old * (1 - fringe)
    rows[:, c.HAIRLINE] = -0.73 - receding + 0.05 * t["hairline"] + 0.3 * fringe
    rows[:, c.HAIRLINE] = np.clip(rows[:, c.HAIRLINE], -1.0, -0.36)
    rows[:, c.OPEN_W] = rows[:, c.HEAD_W] * (0.93 + 0.03 * mid - 0.02 * t["hair_width"])
    rows[:, c.SWEEP] = 0.045 * t["parting"]
    rows[:, c.SQUARE] = np.clip(0.25 + 0.5 * fringe + 0.3 * male, 0.0, 0.85)
    parted = _step(t["hair_part"], 0.3, 0.4) * (1.0 - fringe)
    rows[:, c.PART] = parted * (0.08 + 0.16 * mid)
    rows[:, c.PART_X] = np.where(t["hair_part"] > 0.7, 0.0, 0.3 * np.sign(t["parting"]))
    rows[:, c.STRAND] = 6.0 * (t["strands"] - 0.5)

    colour = np.clip(t["eye_colour"] * (1.25 - 1.25 * _step(tone, 0.15, 0.6)), 0.0, 1.0)
    iris = _ramp(colour, np.linspace(0, 1, 5), _IRIS)
    _set(rows, c.IRIS_R, iris * (0.75 + 0.5 * t["eye_shade"][:, None]))
    rows[:, c.NECK_W] = np.clip(0.44 + 0.025 * t["neck_width"] + 0.12 * (male - 0.5), 0.3, 0.6)
    rows[:, c.SHOULDER] = 1.17 - 0.05 * (male - 0.5)
    rows[:, c.COLLAR] = 0.13
    rows[:, c.LENS_W] = 0.235 + 0.03 * t["lens_size"]
    rows[:, c.LENS_H] = 0.15 + 0.07 * t["lens_shape"]
    rows[:, c.LENS_ROUND] = 0.75 * (1.0 - t["lens_shape"])
    rows[:, c.RIM] = 0.009 + 0.012 * t["rim"]
    rows[:, c.RIM_C] = 0.02 + 0.12 * (1.0 - t["rim"])
    rows[:, c.SMILE] = 0.28 + 0.15 * t["mouth_curve"]


def _write_nuisance(
    rows: np.ndarray, n: dict[str, np.ndarray], conditions: Conditions, camera: RenderedCamera
) -> dict[str, np.ndarray]:
    """Fill the columns that change from picture to picture; return what acted."""
    k = conditions
    acted = {name: n[name] for name in _MOVES}
    for name in ("smile", "brow_raise"):
        acted[name] = k.expression * n[name]
    acted["mouth_open"] = np.clip(k.expression * (0.75 * n["mouth_open"] - 0.35), 0.0, 1.6)
    acted["eye_open"] = np.clip(1.0 + k.expression * (0.17 * n["eye_open"] - 0.06), 0.3, 1.6)
    acted["gaze_x"] = 0.024 * k.expression * n["gaze_x"]
    acted["gaze_y"] = 0.010 * k.expression * n["gaze_y"]

    smile = np.clip(rows[:, c.SMILE] + 0.36 * acted["smile"] + 0.12 * k.expression, -0.45, 1.5)
    lift = np.maximum(smile, 0.0)
    gap = 0.085 * acted["mouth_open"]
    rows[:, c.SMILE] = smile
    rows[:, c.GAP] = gap
    rows[:, c.MOUTH_W] *= 1.0 + 0.13 * smile - 0.5 * gap
    rows[:, c.LIP_UP] *= 1.0 - 0.15 * lift
    rows[:, c.LIP_LOW] *= 1.0 - 0.12 * lift
    rows[:, c.CHIN] += 0.55 * gap
    rows[:, c.CHEEK] += 0.03 * lift
    rows[:, c.EYE_UP] *= acted["eye_open"] + 0.07 * acted["brow_raise"]
    rows[:, c.EYE_LOW] *= np.clip(acted["eye_open"] - 0.28 * lift, 0.2, 2.0)
    rows[:, c.BROW_Y] -= 0.022 * acted["brow_raise"]
    rows[:, c.BROW_TILT] -= 0.010 * np.minimum(acted["brow_raise"], 0.0)
    rows[:, c.GAZE_X] = acted["gaze_x"]
    rows[:, c.GAZE_Y] = acted["gaze_y"]

    acted["yaw"] = 0.13 * k.pose * n["yaw"]
    acted["pitch"] = 0.08 * k.pose * n["pitch"]
    acted["roll"] = 0.06 * k.pose * n["roll"]
    acted["scale"] = np.clip(1.0 + 0.035 * k.pose * n["scale"], 0.6, 1.6)
    acted["shift_x"] = 0.035 * k.pose * n["shift_x"]
    acted["shift_y"] = 0.03 * k.pose * n["shift_y"]
    rows[:, c.YAW] = np.clip(acted["yaw"], -0.5, 0.5)
    rows[:, c.PITCH] = np.clip(acted["pitch"], -0.35, 0.35)
    roll = np.clip(acted["roll"], -0.6, 0.6)
    length = np.sqrt(1.0 + roll * roll)
    rows[:, c.COS], rows[:, c.SIN] = 1.0 / length, roll / length
    rows[:, c.SCALE] = acted["scale"]
    rows[:, c.SHIFT_X], rows[:, c.SHIFT_Y] = acted["shift_x"], acted["shift_y"]

    acted["light_x"] = 0.10 + 0.4 * k.light * n["light_x"] + camera.light[0]
    acted["light_y"] = -0.42 + 0.24 * k.light * n["light_y"] + camera.light[1]
    lx = acted["light_x"] - 0.5 * rows[:, c.YAW]
    ly = acted["light_y"] - 0.5 * rows[:, c.PITCH]
    length = np.sqrt(lx * lx + ly * ly + 0.72)
    lx, ly, lz = lx / length, ly / length, np.sqrt(0.72) / length
    rows[:, c.LIGHT_X], rows[:, c.LIGHT_Y], rows[:, c.LIGHT_Z] = lx, ly, lz
    length = np.sqrt(lx * lx + ly * ly + (lz + 1.0) ** 2)
    rows[:, c.HALF_X], rows[:, c.HALF_Y] = lx / length, ly / length
    rows[:, c.HALF_Z] = (lz + 1.0) / length
    rows[:, c.SHINE] = 0.085
    acted["light_level"] = np.clip(1.0 + 0.16 * k.light * n["light_level"], 0.4, 2.0)
    acted["ambient"] = camera.ambient * np.clip(0.36 + 0.09 * k.light * n["ambient"], 0.1, 1.0)
    acted["warmth"] = 0.05 * k.light * n["warmth"]
    # A camera opens up for darker skin, though not all the way.
    skin = rows[:, c.SKIN_R : c.SKIN_B + 1] @ np.array([0.3, 0.59, 0.11])
    exposure = np.sqrt(np.sqrt(0.40 / skin)) * acted["light_level"]
    rows[:, c.AMBIENT] = acted["ambient"] * exposure
    sun = 1.08 * exposure
    rows[:, c.SUN_R] = sun * (1.0 + acted["warmth"])
    rows[:, c.SUN_G] = sun
    rows[:, c.SUN_B] = sun * (1.0 - acted["warmth"])

    b = k.background
    level = np.clip(0.42 + b * (0.5 * n["background_tone"] - 0.25), 0.03, 0.9)
    back = _hue(b * n["background_hue"] + (1 - min(b, 1.0)) * 0.6, 0.14, level)
    acted["background"] = level
    _set(rows, c.BACK_R, back * acted["light_level"][:, None])
    rows[:, c.BACK_TILT] = -0.12 + 0.3 * b * (n["background_tilt"] - 0.5)
    rows[:, c.BACK_NOISE] = 0.05 + 0.12 * b
    rows[:, c.BACK_X] = 64.0 * b * n["background_x"]
    rows[:, c.BACK_Y] = 64.0 * b * n["background_y"]
    level = np.clip(0.10 + b * (0.45 * n["cloth_tone"] ** 2 - 0.07), 0.015, 0.8)
    _set(rows, c.CLOTH_R, _hue(b * n["cloth_hue"] + (1 - min(b, 1.0)) * 0.6, 0.4, level))

    acted["glasses"] = n["glasses"] < k.glasses
    rows[:, c.GLASSES] = acted["glasses"]
    kinds = np.full(len(rows), "none", dtype="<U5")
    if k.covers:
        pick = np.minimum(n["cover_kind"] * len(k.covers), len(k.covers) - 1)
        covered = n["cover"] < k.cover_rate
        kinds[covered] = np.array(k.covers, dtype="<U5")[pick.astype(int)][covered]
    acted["cover"] = kinds
    for name, column in zip(COVER_KINDS, (c.MASK, c.SCARF, c.BAR), strict=True):
        rows[:, column] = kinds == name
    hue = n["cover_hue"]
    cover = np.where(
        (kinds == "mask")[:, None],
        np.where((hue < 0.6)[:, None], [0.36, 0.56, 0.66], [0.66, 0.66, 0.64]),
        _hue(hue, 0.7, np.full(len(rows), 0.22)),
    )
    cover = np.where((kinds == "bar")[:, None], (0.02 + 0.5 * hue**2)[:, None], cover)
    _set(rows, c.COVER_R, cover)

    acted["blur"] = 0.013 * k.blur * n["blur"] ** 2 * 2 * FRAME + 0.02 * FRAME * camera.blur
    acted["noise"] = k.noise * (0.003 + 0.016 * n["noise"] ** 2) + camera.noise
    rows[:, c.BLUR] = acted["blur"]
    rows[:, c.GRAIN] = acted["noise"]
    rows[:, c.CONTRAST] = camera.contrast
    rows[:, c.BRIGHTNESS] = camera.brightness
    rows[:, c.GAMMA] = camera.gamma
    rows[:, c.VIGNETTE] = camera.vignetting
    return {name: acted[name] for name in NUISANCE_NAMES}


def _find_landmarks(rows: np.ndarray, size: int) -> np.ndarray:
    """Where the named points are in the picture, (n, K, 2) as (x, y); 0 is a pixel's middle."""
    p = rows.T
    zero = np.zeros(len(rows))
    ex, ey, el = p[c.EYE_X], p[c.EYE_Y], p[c.EYE_L]
    tip = p[c.NOSE_Y] - 0.1
    smile, gap = p[c.SMILE], p[c.GAP]
    corner = p[c.MOUTH_Y] - 0.085 * smile * 0.65
    middle = p[c.MOUTH_Y] + 0.085 * smile * 0.35 + 0.008
    upper = middle - 0.35 * gap - p[c.LIP_UP] * (1.0 - p[c.BOW] + 0.0)
    lower = middle + 0.65 * gap + p[c.LIP_LOW]
    tilt = p[c.EYE_TILT] * el

    def brow(s: float) -> np.ndarray:
        arch = p[c.BROW_ARCH] * (1.0 - (s - 0.25) ** 2)
        return p[c.BROW_Y] - arch + p[c.BROW_TILT] * s

    inner, outer = p[c.BROW_X] - 0.95 * p[c.BROW_L], p[c.BROW_X] + 0.95 * p[c.BROW_L]
    iris_y = ey + p[c.GAZE_Y] - 0.008
    # The iris tilts with the eye: ey + tilt·ex is what the shader sees.
    points = [
        (-ex - el, ey - tilt), (-ex + el, ey + tilt), (ex - el, ey + tilt), (ex + el, ey - tilt),
        (-ex + p[c.GAZE_X], iris_y + p[c.EYE_TILT] * p[c.GAZE_X]),
        (ex + p[c.GAZE_X], iris_y - p[c.EYE_TILT] * p[c.GAZE_X]),
        (zero, tip),
        (-0.4 * p[c.NOSE_W], p[c.NOSE_Y] - 0.012), (0.4 * p[c.NOSE_W], p[c.NOSE_Y] - 0.012),
        (-p[c.MOUTH_W], corner), (p[c.MOUTH_W], corner), (zero, upper), (zero, lower),
        (-outer, brow(0.95)), (-inner, brow(-0.95)), (inner, brow(-0.95)), (outer, brow(0.95)),
        (zero, ey + 0.02), (zero, p[c.CHIN]),
        (-0.97 * p[c.HEAD_W], zero + 0.15), (0.97 * p[c.HEAD_W], zero + 0.15),
    ]  # fmt: skip
    u = np.stack([x for x, _ in points])
    v = np.stack([y for _, y in points]) - p[c.ASYM] * u
    z = relief(u, v, p)
    xr, yr = u + p[c.YAW] * z, v + p[c.PITCH] * z
    xs = p[c.COS] * xr - p[c.SIN] * yr
    ys = p[c.COS] * yr + p[c.SIN] * xr - CENTRE
    x = xs * p[c.SCALE] + p[c.SHIFT_X]
    y = ys * p[c.SCALE] + p[c.SHIFT_Y]
    pixels = (np.stack([x, y], axis=-1) / FRAME + 1.0) * (size / 2) - 0.5
    return pixels.transpose(1, 0, 2).astype(np.float32)


def describe_pictures(
    seed: int,
    people: np.ndarray,
    pictures: np.ndarray,
    size: int,
    conditions: Conditions,
    camera: RenderedCamera,
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Draw pictures: rows for the renderer, keys of the noise, and the metadata.

    Parameters
    ----------
    people, pictures : (n,) int64
        Which picture of which person.

    Returns
    -------
    rows : (n, N_COLUMNS) float64
    keys : (n,) uint64
    metadata : dict of (n, ...) arrays
    """
    person_keys, picture_keys = _keys(seed, people, pictures)
    traits = _draw(person_keys, _BELLS, _EVENS)
    rows = np.zeros((len(people), N_COLUMNS))
    _write_identity(rows, traits)
    chances = _draw(picture_keys, _MOVES, _CHANCES)
    acted = _write_nuisance(rows, chances, conditions, camera)
    metadata = {
        "identity": np.stack([traits[name] for name in IDENTITY_NAMES], axis=1).astype(np.float32),
        "picture": pictures,
        "landmarks": _find_landmarks(rows, size),
    }
    for name, values in acted.items():
        metadata[name] = values.astype(np.float32) if values.dtype == np.float64 else values
    return rows, hash_bits(picture_keys ^ _PICTURE), metadata
