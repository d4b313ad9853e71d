"""The picture of a rendered person, a point at a time: one source for NumPy and for numba.

Every function here takes numbers (numba compiles it, see ``_shade_numba.py``) or whole arrays
(the NumPy twin below). The only branches ask `touched`, whether a layer shows at all, and what
they skip would change nothing. A picture is described by one row of
numbers, `p`, whose columns have the names below; ``_make.py`` draws them.

Lengths are in head units: the face is about 1.5 wide and 2.1 high, x runs to the right and y down,
the origin lies between the eyes. Colours are linear light until `tone_map` makes a picture of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["CENTRE", "FRAME", "N_COLUMNS", "render_numpy"]

FRAME = 1.45  # half the side of the picture, in head units
CENTRE = 0.05  # height of the middle of the picture

N_COLUMNS = 127
# fmt: off
(
    SHIFT_X, SHIFT_Y, SCALE, COS, SIN, YAW, PITCH,
    HEAD_W, HEAD_TOP, CHIN, JAW, CHEEK, CHIN_BUMP, ASYM, EAR,
    EYE_X, EYE_Y, EYE_L, EYE_UP, EYE_LOW, EYE_TILT, IRIS_SIZE, IRIS_R, IRIS_G, IRIS_B,
    GAZE_X, GAZE_Y, CREASE, BAGS, SOCKET,
    BROW_X, BROW_Y, BROW_L, BROW_ARCH, BROW_TILT, BROW_T, BROW_A,
    NOSE_W, NOSE_Y, NOSE_H, BRIDGE,
    MOUTH_Y, MOUTH_W, LIP_UP, LIP_LOW, SMILE, GAP, BOW,
    AGE, SKIN_R, SKIN_G, SKIN_B, LIP_R, LIP_G, LIP_B, BLUSH, BLOTCH, FRECKLE, NOISE_X, NOISE_Y,
    MOLE1_X, MOLE1_Y, MOLE2_X, MOLE2_Y, MOLE, STUBBLE, BEARD, MOUSTACHE,
    HAIR_R, HAIR_G, HAIR_B, BROW_C, HAIR_A, HAIR_TOP, HAIR_SIDE, HAIRLINE, OPEN_W, SWEEP, SQUARE,
    PART, PART_X,
    SIDE_END, HAIR_LEN, FLARE, STRAND,
    NECK_W, SHOULDER, CLOTH_R, CLOTH_G, CLOTH_B, COLLAR,
    BACK_R, BACK_G, BACK_B, BACK_TILT, BACK_NOISE, BACK_X, BACK_Y,
    LIGHT_X, LIGHT_Y, LIGHT_Z, AMBIENT, SUN_R, SUN_G, SUN_B, HALF_X, HALF_Y, HALF_Z, SHINE,
    GLASSES, LENS_W, LENS_H, LENS_ROUND, RIM, RIM_C,
    MASK, SCARF, BAR, COVER_R, COVER_G, COVER_B,
    BLUR, GRAIN, CONTRAST, BRIGHTNESS, GAMMA, VIGNETTE,
) = range(N_COLUMNS)
# fmt: on

_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_U16, _U27, _U30, _U31 = np.uint64(16), np.uint64(27), np.uint64(30), np.uint64(31)
_U32, _U48, _LOW16 = np.uint64(32), np.uint64(48), np.uint64(0xFFFF)


# --------------------------------------------------------------------------- small tools
def hash_bits(z: Any) -> Any:
    """Mix 64 bits (the finaliser of SplitMix64): a counter in, random bits out."""
    z = (z ^ (z >> _U30)) * _M1
    z = (z ^ (z >> _U27)) * _M2
    return z ^ (z >> _U31)


def normal_deviate(z: Any) -> Any:
    """A number of mean 0 and variance 1 within ±3.46 from 64 random bits (four uniforms)."""
    total = (z & _LOW16) + ((z >> _U16) & _LOW16) + ((z >> _U32) & _LOW16) + (z >> _U48)
    return (total * (1.0 / 65536.0) - 1.99997) * 1.7320508


def touched(amount: Any) -> Any:
    """Whether any point has some of it: a short cut for a pixel, a formality for an array."""
    return np.any(amount > 0.0)


def mix(a: Any, b: Any, amount: Any) -> Any:
    """Go from a to b by an amount in [0, 1]."""
    return a + (b - a) * amount


def over(amount: Any, cover: Any) -> Any:
    """Lay a layer over what covers the background: the share of the new layer, the new cover."""
    total = cover + amount * (1.0 - cover)
    return amount / np.maximum(total, 1e-9), total


def edge(distance: Any, soft: Any) -> Any:
    """1 inside (distance > 0), 0 outside, smooth over ±soft."""
    t = np.minimum(np.maximum(0.5 + 0.5 * distance / soft, 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


def line(distance: Any, half: Any, soft: Any) -> Any:
    """Coverage of a line of half-width `half`, right also when it is thinner than a pixel."""
    return edge(distance + half, soft) - edge(distance - half, soft)


def dome(dx: Any, dy: Any, rx: Any, ry: Any) -> Any:
    """A smooth bump of height 1 and of finite radii."""
    m = np.maximum(1.0 - (dx / rx) ** 2 - (dy / ry) ** 2, 0.0)
    return m * m


def dome_slope(dx: Any, dy: Any, rx: Any, ry: Any) -> Any:
    """The gradient of `dome`."""
    m = -4.0 * np.maximum(1.0 - (dx / rx) ** 2 - (dy / ry) ** 2, 0.0)
    return m * dx / (rx * rx), m * dy / (ry * ry)


def lattice(x: Any, y: Any, table: Any) -> Any:
    """Smooth noise in [-1, 1] with one value a unit of x and y; the table is (64, 64)."""
    fx = np.floor(x)
    fy = np.floor(y)
    tx = x - fx
    ty = y - fy
    tx = tx * tx * (3.0 - 2.0 * tx)
    ty = ty * ty * (3.0 - 2.0 * ty)
    ix = np.int64(fx) & 63
    iy = np.int64(fy) & 63
    jx = (ix + 1) & 63
    jy = (iy + 1) & 63
    top = mix(table[iy, ix], table[iy, jx], tx)
    low = mix(table[jy, ix], table[jy, jx], tx)
    return mix(top, low, ty)


def relief(u: Any, v: Any, p: Any) -> Any:
    """How far a point of the head stands towards the camera: what parallax moves."""
    low = np.maximum(v, 0.0) / p[CHIN]
    high = np.maximum(-v, 0.0) / p[HEAD_TOP]
    w = p[HEAD_W] * (1.0 + p[JAW] * low * low)
    e2 = (u / w) ** 2
    r2 = np.minimum(e2 + (low + high) ** 2 - 0.4 * e2 * high * high, 1.0)
    nose = dome(u, v - p[NOSE_Y] + 0.12, 0.22, 0.42)
    return 0.6 * (1.0 - r2 * r2) + 0.9 * p[NOSE_H] * nose


# --------------------------------------------------------------------------- layers
def paint_background(x: Any, y: Any, p: Any, table: Any) -> Any:
    """The wall behind: a gradient and soft blotches."""
    n = lattice(x * 1.1 + p[BACK_X], y * 1.1 + p[BACK_Y], table)
    f = 1.0 + p[BACK_TILT] * (0.6 * x - 0.4 * y) + p[BACK_NOISE] * n
    f = np.maximum(f, 0.15)
    return p[BACK_R] * f, p[BACK_G] * f, p[BACK_B] * f


def surface_slope(u: Any, v: Any, p: Any) -> Any:
    """The gradient of what stands out of the egg of the head (sockets, nose, cheeks, lips)."""
    au = np.abs(u)
    side = np.sign(u)
    ex = au - p[EYE_X]
    ey = v - p[EYE_Y]
    a, b = dome_slope(ex, v - p[BROW_Y] - 0.02, 0.32, 0.16)
    gx, gy = 0.03 * a, 0.035 * b
    a, b = dome_slope(ex + 0.01, ey - 0.01, 0.27, 0.18)
    gx, gy = gx - p[SOCKET] * a, gy - p[SOCKET] * b
    a, b = dome_slope(ex, ey, 0.19, 0.13)
    gx, gy = gx + 0.045 * a, gy + 0.045 * b
    a, b = dome_slope(ex - 0.1, v - 0.27, 0.32, 0.33)
    gx, gy = gx + p[CHEEK] * a, gy + p[CHEEK] * b
    a, b = dome_slope(au - 0.72 * p[NOSE_W], v - p[NOSE_Y] + 0.05, 0.5 * p[NOSE_W], 0.1)
    gx, gy = gx + 0.055 * a, gy + 0.055 * b
    gx = gx * side
    a, b = dome_slope(u, v - 0.5 * (p[EYE_Y] + p[NOSE_Y]) - 0.03, p[BRIDGE], 0.44)
    gx, gy = gx + 0.55 * p[NOSE_H] * a, gy + 0.25 * p[NOSE_H] * b
    a, b = dome_slope(u, v - p[NOSE_Y] + 0.1, 0.85 * p[NOSE_W], 0.17)
    gx, gy = gx + 0.8 * p[NOSE_H] * a, gy + 0.8 * p[NOSE_H] * b
    a, b = dome_slope(u, v - p[MOUTH_Y], 0.46, 0.3)
    gx, gy = gx + 0.07 * a, gy + 0.06 * b
    a, b = dome_slope(u, v - p[MOUTH_Y] - p[LIP_LOW] - p[GAP] - 0.07, 0.22, 0.07)
    gx, gy = gx - 0.02 * a, gy - 0.02 * b
    a, b = dome_slope(u, v - p[CHIN] + 0.14, 0.25, 0.17)
    gx, gy = gx + p[CHIN_BUMP] * a, gy + p[CHIN_BUMP] * b
    a, b = dome_slope(u, v - p[NOSE_Y] - 0.1, 0.06, 0.11)
    gx, gy = gx - 0.008 * a, gy - 0.004 * b
    return gx, gy


def nose_height(u: Any, v: Any, p: Any) -> Any:
    """The nose alone, for the shadow that it casts."""
    bridge = dome(u, v - 0.5 * (p[EYE_Y] + p[NOSE_Y]) - 0.05, p[BRIDGE] + 0.04, 0.4)
    tip = dome(u, v - p[NOSE_Y] + 0.08, p[NOSE_W] + 0.02, 0.17)
    return np.maximum(0.7 * bridge, tip)


def paint_beard(
    u: Any, v: Any, soft: Any, p: Any, table: Any, r: Any, g: Any, b: Any, mid: Any
) -> Any:
    """Stubble, beard and moustache over the skin, and how much of a point is beard."""
    au = np.abs(u)
    my = v - p[MOUTH_Y]
    cheek = np.minimum(np.maximum(au - 0.24, 0.0), 0.5)
    jaw_line = v - 0.62 + 1.0 * cheek - 1.1 * cheek * np.maximum(au - 0.5, 0.0)
    jaw = edge(jaw_line + 0.04 * mid, 0.07 + soft)
    bare = dome(u, my - 0.03, p[MOUTH_W] + 0.05, 0.19 + p[GAP])
    chin = jaw * (1.0 - edge(bare - 0.12, 0.1))
    lip = line(u, 0.82 * p[MOUTH_W], 0.06) * line(
        v - 0.55 * p[NOSE_Y] - 0.45 * (p[MOUTH_Y] - p[LIP_UP]) + 0.25 * au * au, 0.055, 0.035 + soft
    )
    hairs = 0.8 + 0.2 * lattice(u * 26.0, v * 15.0 + p[NOISE_X], table)
    shadow = p[STUBBLE] * np.minimum(jaw + lip, 1.0)
    r = r * (1.0 - 0.5 * shadow)
    g = g * (1.0 - 0.44 * shadow)
    b = b * (1.0 - 0.36 * shadow)
    beard = np.minimum(np.maximum(p[BEARD] * chin, p[MOUSTACHE] * lip), 1.0)
    beard = beard * hairs
    r = mix(r, p[HAIR_R] * 0.85 * hairs, beard)
    g = mix(g, p[HAIR_G] * 0.85 * hairs, beard)
    b = mix(b, p[HAIR_B] * 0.85 * hairs, beard)
    return r, g, b, beard


def paint_skin(u: Any, v: Any, soft: Any, p: Any, table: Any) -> Any:
    """Albedo of the face without eyes, brows and mouth, and how much light reaches it."""
    au = np.abs(u)
    ex = au - p[EYE_X]
    low = lattice(u * 2.3 + p[NOISE_X], v * 2.3 + p[NOISE_Y], table)
    mid = lattice(u * 6.1 + p[NOISE_Y], v * 6.1 + p[NOISE_X], table)
    fine = lattice(u * 17.0 - p[NOISE_X], v * 17.0 + p[NOISE_Y], table)
    tone = 1.0 + p[BLOTCH] * (0.8 * low + 0.6 * mid + 0.25 * fine)
    blush = p[BLUSH] * (
        dome(ex - 0.1, v - 0.26, 0.33, 0.28)
        + 0.8 * dome(u, v - p[NOSE_Y] + 0.07, 0.2, 0.16)
        + 0.3 * dome(u, v - p[CHIN], 0.3, 0.2)
    )
    r = p[SKIN_R] * tone * (1.0 + 0.1 * low * p[BLOTCH])
    g = p[SKIN_G] * tone * (1.0 - 0.42 * blush)
    b = p[SKIN_B] * tone * (1.0 - 0.38 * blush)
    spots = edge(fine * 0.6 + mid * 0.4 - 0.3, 0.15) * p[FRECKLE]
    spots = spots * (dome(ex - 0.05, v - 0.2, 0.42, 0.3) + dome(u, v - 0.2, 0.3, 0.3))
    mole = edge(0.026 - np.sqrt((u - p[MOLE1_X]) ** 2 + (v - p[MOLE1_Y]) ** 2), soft)
    mole = mole + edge(0.02 - np.sqrt((u - p[MOLE2_X]) ** 2 + (v - p[MOLE2_Y]) ** 2), soft)
    dark = np.minimum(0.55 * spots + p[MOLE] * mole, 0.8)
    r, g, b = r * (1.0 - 0.75 * dark), g * (1.0 - 0.9 * dark), b * (1.0 - 0.95 * dark)

    beard = 0.0 * u
    if p[STUBBLE] + p[BEARD] + p[MOUSTACHE] > 0.0:
        r, g, b, beard = paint_beard(u, v, soft, p, table, r, g, b, mid)

    # Folds, creases and hollows that keep light out.
    shut = 0.36 * dome(ex + 0.04, v - p[EYE_Y] + 0.02, 0.27, 0.16)
    shut = shut + 0.16 * dome(ex + 0.14, v - p[EYE_Y] - 0.02, 0.15, 0.15)
    bag = v - p[EYE_Y] - 0.15 + 1.3 * ex * ex
    shut = shut + p[BAGS] * line(bag, 0.025, 0.03 + soft) * dome(ex, 0.0, 0.22, 1.0)
    fold_x = au - p[NOSE_W] - 0.03 - 0.5 * (v - p[NOSE_Y] + 0.06) - 0.03 * p[SMILE]
    fold = line(fold_x, 0.02, 0.05 + soft) * dome(v - p[NOSE_Y] - 0.09, 0.0, 0.2, 1.0)
    shut = shut + (0.1 + 0.4 * p[AGE] + 0.35 * np.maximum(p[SMILE], 0.0)) * fold
    waves = v + 0.62 + 0.12 * u * u + 0.02 * low
    lines = line(waves, 0.012, 0.022 + soft) + line(waves - 0.11, 0.012, 0.022 + soft)
    shut = shut + 0.4 * p[AGE] * lines * dome(u, v + 0.55, 0.5, 0.3)
    nx = au - 0.4 * p[NOSE_W]
    ny = v - p[NOSE_Y] + 0.012 + 0.25 * np.maximum(nx, 0.0)
    hole = edge(1.0 - (nx / (0.27 * p[NOSE_W])) ** 2 - (ny / 0.026) ** 2, 0.6 + 8.0 * soft)
    shut = shut + 0.85 * hole
    wing = np.sqrt(((au - 0.66 * p[NOSE_W]) / p[NOSE_W]) ** 2 + ((v - p[NOSE_Y] + 0.06) / 0.2) ** 2)
    wing = line(wing - 0.4, 0.07, 0.09 + 3.0 * soft) * edge(au - 0.6 * p[NOSE_W], 0.06)
    shut = shut + 0.3 * wing * edge(v - p[NOSE_Y] + 0.13, 0.05)
    shut = shut + 0.3 * dome(u, v - p[NOSE_Y] - 0.035, 0.9 * p[NOSE_W], 0.075)
    chin_y = v - p[MOUTH_Y] - p[LIP_LOW] - p[GAP] - 0.05
    shut = shut + 0.28 * dome(u, chin_y, 0.2, 0.06)
    light = 1.0 - np.minimum(shut, 0.93)
    return r, g, b, light, beard


def paint_eyes(u: Any, v: Any, soft: Any, p: Any, r: Any, g: Any, b: Any, light: Any) -> Any:
    """Lids, white, iris, pupil and the glint, over the skin."""
    au = np.abs(u)
    ex = au - p[EYE_X]
    ey = v - p[EYE_Y] + p[EYE_TILT] * ex
    s = ex / p[EYE_L]
    arch = 1.0 - s * s
    upper = -p[EYE_UP] * arch * (1.0 - 0.18 * s)
    lower = p[EYE_LOW] * arch * (1.0 + 0.2 * s)
    inside = edge(np.minimum(ey - upper, lower - ey), 0.8 * soft)
    near = edge(1.12 - np.abs(s), 0.12 + soft)

    crease = line(ey - upper + 0.055, 0.012, 0.022 + soft) * edge(1.05 - np.abs(s), 0.3)
    light = light * (1.0 - p[CREASE] * crease)
    light = light * (1.0 - 0.25 * near * line(ey - lower - 0.01, 0.012, 0.02 + soft))

    ix = ex - np.sign(u) * p[GAZE_X]
    iy = ey - p[GAZE_Y] + 0.008
    far = np.sqrt(ix * ix + iy * iy)
    shade_lid = 0.62 + 0.38 * edge(ey - upper - 0.045, 0.045)
    corner = 1.0 - 0.3 * s * s
    er = 0.60 * shade_lid * corner
    eg = 0.56 * shade_lid * corner
    eb = 0.53 * shade_lid * corner
    iris = edge(p[IRIS_SIZE] - far, 0.6 * soft)
    ring = 1.0 - 0.55 * edge(far - 0.8 * p[IRIS_SIZE], 0.012 + soft)
    glow = (0.75 + 4.0 * np.maximum(iy, 0.0)) * ring * shade_lid
    er = mix(er, p[IRIS_R] * glow, iris)
    eg = mix(eg, p[IRIS_G] * glow, iris)
    eb = mix(eb, p[IRIS_B] * glow, iris)
    pupil = 1.0 - 0.94 * edge(0.45 * p[IRIS_SIZE] - far, 0.6 * soft)
    er, eg, eb = er * pupil, eg * pupil, eb * pupil
    r, g, b = mix(r, er, inside), mix(g, eg, inside), mix(b, eb, inside)
    light = mix(light, 0.9, inside)

    lash = near * line(ey - upper + 0.004, 0.0135 + 0.006 * s, 0.7 * soft)
    lash = lash + 0.3 * near * line(ey - lower, 0.005, 0.7 * soft)
    lash = np.minimum(0.9 * lash, 0.9)
    r, g, b = r * (1.0 - lash), g * (1.0 - lash), b * (1.0 - lash)
    gx = ex - np.sign(u) * (p[GAZE_X] + 0.03 * p[LIGHT_X] + 0.012)
    gy = iy + 0.026
    glint = inside * edge(0.017 - np.sqrt(gx * gx + gy * gy), 0.5 * soft)
    return r, g, b, light, glint


def paint_brows(u: Any, v: Any, soft: Any, p: Any, table: Any) -> Any:
    """How much of a point is brow."""
    au = np.abs(u)
    s = (au - p[BROW_X]) / p[BROW_L]
    middle = p[BROW_Y] - p[BROW_ARCH] * (1.0 - (s - 0.25) * (s - 0.25)) + p[BROW_TILT] * s
    half = p[BROW_T] * (1.0 - 0.35 * s - 0.2 * s * s)
    hairs = 0.82 + 0.25 * lattice(au * 30.0 + 12.0 * v + p[NOISE_X], v * 14.0 - 6.0 * au, table)
    body = line(v - middle, np.maximum(half, 0.004), 0.022 + 0.5 * soft)
    return p[BROW_A] * body * edge(1.0 - np.abs(s), 0.2 + soft) * hairs


def paint_mouth(u: Any, v: Any, soft: Any, p: Any, r: Any, g: Any, b: Any, light: Any) -> Any:
    """Lips, the line between them, teeth; also how lips tilt (for the light) and shine."""
    s = u / p[MOUTH_W]
    arch = 1.0 - s * s
    body = np.maximum(arch, 0.0)
    ends = edge(1.0 - np.abs(s), 0.06 + soft)
    middle = p[MOUTH_Y] - 0.085 * p[SMILE] * (s * s - 0.35) + 0.008 * arch
    inner_up = middle - 0.35 * p[GAP] * body
    inner_low = middle + 0.65 * p[GAP] * body
    bow = 1.0 - p[BOW] * dome(s, 0.0, 0.24, 1.0) + 0.12 * dome(np.abs(s) - 0.3, 0.0, 0.3, 1.0)
    outer_up = inner_up - p[LIP_UP] * body * bow
    outer_low = inner_low + p[LIP_LOW] * body * (0.75 + 0.25 * body)
    upper = edge(np.minimum(v - outer_up, inner_up - v), 0.012 + 0.6 * soft) * ends
    lower = edge(np.minimum(v - inner_low, outer_low - v), 0.012 + 0.6 * soft) * ends
    hole = edge(np.minimum(v - inner_up, inner_low - v), 0.6 * soft) * ends
    lips = np.minimum(upper + lower, 1.0)
    r, g, b = mix(r, p[LIP_R], lips), mix(g, p[LIP_G], lips), mix(b, p[LIP_B], lips)
    light = mix(light, 1.0, lips)
    light = light * (1.0 - 0.22 * upper)

    teeth = edge(0.045 + 0.25 * p[GAP] - (v - inner_up), 0.02 + 0.5 * soft)
    teeth = teeth * edge(p[GAP] - 0.035, 0.03) * edge(0.82 - np.abs(s), 0.2)
    r = mix(r, mix(0.10, 0.58, teeth), hole)
    g = mix(g, mix(0.03, 0.50, teeth), hole)
    b = mix(b, mix(0.03, 0.40, teeth), hole)
    light = mix(light, 0.85, hole)
    closed = line(v - middle, 0.010 + 0.006 * (1.0 - body), 0.6 * soft + 0.006)
    closed = closed * edge(1.07 - np.abs(s), 0.1 + soft) * (1.0 - 0.9 * edge(p[GAP] - 0.03, 0.02))
    light = light * (1.0 - 0.78 * closed)
    corner = dome(np.abs(u) - p[MOUTH_W] - 0.01, v - middle, 0.06, 0.06)
    light = light * (1.0 - 0.3 * corner)
    low = (v - inner_low) / (p[LIP_LOW] + 0.01)
    tilt = 0.3 * upper + lower * np.minimum(np.maximum(-0.35 + 0.9 * low, -0.4), 0.5)
    return r, g, b, light, tilt, lower


def paint_face(u: Any, v: Any, soft: Any, p: Any, table: Any) -> Any:
    """All of the face: colour, light, slope, and where it is beard or brow, glint, gloss."""
    r, g, b, light, beard = paint_skin(u, v, soft, p, table)
    zero = 0.0 * u
    glint, tilt, gloss = zero, zero, zero
    au = np.abs(u)
    if touched(0.2 + 3.0 * soft - np.abs(v - p[BROW_Y] + 0.03)):
        brow = paint_brows(u, v, soft, p, table)
        tone = p[BROW_C]
        r = mix(r, tone * p[HAIR_R], brow)
        g = mix(g, tone * p[HAIR_G], brow)
        b = mix(b, tone * p[HAIR_B], brow)
        beard = np.maximum(beard, brow)
    box = np.minimum(0.32 + soft - np.abs(au - p[EYE_X]), 0.32 + 3.0 * soft - np.abs(v - p[EYE_Y]))
    if touched(box):
        r, g, b, light, glint = paint_eyes(u, v, soft, p, r, g, b, light)
    box = np.minimum(
        0.2 + p[MOUTH_W] - au + soft, 0.42 + 3.0 * soft - np.abs(v - p[MOUTH_Y] - 0.05)
    )
    if touched(box):
        r, g, b, light, tilt, gloss = paint_mouth(u, v, soft, p, r, g, b, light)
    gx, gy = surface_slope(u, v, p)
    ahead = nose_height(u + 0.26 * p[LIGHT_X], v + 0.26 * p[LIGHT_Y], p)
    cast = np.maximum(ahead - nose_height(u, v, p) - 0.12, 0.0)
    light = light * (1.0 - 0.45 * np.minimum(cast, 1.0))
    return r, g, b, light, -gx, tilt - gy, beard, glint, gloss


def paint_hair(u: Any, v: Any, p: Any, table: Any) -> Any:
    """Brightness of the strands, which fan out from above the crown."""
    reach = v + 1.9
    fan = (u - 0.5 * p[SWEEP]) / reach
    a = lattice(fan * 30.0 + p[NOISE_X] + p[STRAND] * v, reach * 1.6 + p[NOISE_Y], table)
    c = lattice(fan * 75.0 - p[NOISE_Y] + p[STRAND] * v, reach * 2.5, table)
    return 0.9 + 0.28 * a + 0.18 * c


def paint_cover(
    u: Any, v: Any, xr: Any, yr: Any, soft: Any, p: Any, table: Any,
    r: Any, g: Any, b: Any, light: Any, nx: Any, ny: Any, nz: Any, cover: Any, inside: Any,
) -> Any:  # fmt: skip
    """A mask, a scarf or a bar over the lower face; each is 0 or 1 in p."""
    au = np.abs(u)
    # mask: from the bridge of the nose to below the chin, with pleats and straps to the ears
    top = v - 0.17 - 0.16 * edge(au - 0.2, 0.2) + 0.05 * au
    cloth = edge(top, soft) * edge(0.3 * inside + 0.05, soft) * edge(0.66 - au + 0.06 * v, soft)
    pleat = line(v - 0.45 + 0.15 * u * u, 0.012, 0.02 + soft)
    pleat = pleat + line(v - 0.6 + 0.12 * u * u, 0.012, 0.02 + soft)
    pleat = pleat + line(v - 0.75 + 0.09 * u * u, 0.012, 0.02 + soft)
    pleat = pleat * edge(0.55 - au, 0.06) + 0.7 * line(top - 0.05, 0.012, soft + 0.01)
    strap = line(v - 0.3 + 0.55 * (au - 0.5), 0.016, soft) * edge(au - 0.56, 0.03)
    strap = strap * edge(1.05 * p[HEAD_W] - au, 0.03) * edge(0.3 * inside + 0.05, soft)
    mask = p[MASK] * np.maximum(cloth, 0.9 * strap)
    a, c = dome_slope(u, v - p[NOSE_Y] + 0.1, 0.4, 0.4)
    mask_nx, mask_ny = 0.85 * u - 0.14 * a, 0.5 * (v - 0.45) - 0.14 * c
    # scarf: two rolls of wool around mouth, chin and neck, and an end that hangs down
    wave = 0.06 * lattice(xr * 2.0 + p[BACK_X], 0.3 * yr, table)
    sway = yr + 0.12 * xr + wave
    roll1 = 1.0 - (xr / 0.80) ** 4 - ((sway - 0.71) / 0.28) ** 2
    roll2 = 1.0 - (xr / 0.92) ** 4 - ((sway - 1.10) / 0.27) ** 2
    tail = np.minimum(1.0 - ((xr - 0.25) / 0.3) ** 2, yr - 1.1)
    wrap = edge(0.15 * np.maximum(np.maximum(roll1, roll2), tail), soft)
    first = edge(0.15 * roll1, 0.02 + soft)
    bend = mix((sway - 1.10) / 0.27, (sway - 0.71) / 0.28, first)
    bend = np.minimum(np.maximum(bend, -1.0), 1.0)
    fold = lattice(xr * 1.3 + p[BACK_Y], yr * 6.0 - 3.0 * xr * xr + p[BACK_X], table)
    knit = lattice(xr * 22.0, yr * 16.0, table)
    scarf = p[SCARF] * wrap
    # bar: flat and opaque, before the camera
    bar = p[BAR] * edge(0.27 - np.abs(yr - 0.65), soft) * edge(1.02 - np.abs(xr), soft)

    stuff = 1.0 - 0.35 * pleat
    whole = np.maximum(mask, scarf)
    hide, cover = over(whole, cover)
    tone = mix(stuff, 0.9 + 0.22 * fold + 0.15 * knit, p[SCARF])
    r = mix(r, p[COVER_R] * tone, hide)
    g = mix(g, p[COVER_G] * tone, hide)
    b = mix(b, p[COVER_B] * tone, hide)
    light = mix(
        light, mix(0.95 - 0.3 * pleat, 0.9 - 0.5 * bend * bend + 0.2 * fold, p[SCARF]), hide
    )
    nx = mix(nx, mix(mask_nx, 0.9 * xr, p[SCARF]), hide)
    ny = mix(ny, mix(mask_ny, 0.8 * bend + 0.4 * fold, p[SCARF]), hide)
    nz = mix(nz, 0.8, hide)
    plate, cover = over(bar, cover)
    r, g, b = mix(r, p[COVER_R], plate), mix(g, p[COVER_G], plate), mix(b, p[COVER_B], plate)
    light = mix(light, 0.8, plate)
    nx, ny, nz = mix(nx, 0.0, plate), mix(ny, 0.0, plate), mix(nz, 1.0, plate)
    return r, g, b, light, nx, ny, nz, cover, np.maximum(whole, bar)


def paint_glasses(u: Any, v: Any, soft: Any, p: Any, r: Any, g: Any, b: Any) -> Any:
    """Rims, bridge, temples and a faint reflection in the lenses."""
    au = np.abs(u)
    dx = (au - p[EYE_X] - 0.01) / p[LENS_W]
    dy = (v - p[EYE_Y] - 0.03) / p[LENS_H]
    x2, y2 = dx * dx, dy * dy
    level = x2 + y2 - p[LENS_ROUND] * x2 * y2
    away = (1.0 - level) * 0.5 * p[LENS_H]
    near = edge(1.5 - np.maximum(np.abs(dx), np.abs(dy)), 0.1)
    rim = line(away, p[RIM], soft) * near
    bridge = line(v - p[EYE_Y] + 0.02 - 0.5 * u * u, p[RIM], soft)
    bridge = bridge * edge(p[EYE_X] + 0.01 - p[LENS_W] - au, soft)
    temple = line(v - p[EYE_Y] + 0.02, p[RIM], soft)
    temple = temple * edge(au - p[EYE_X] - p[LENS_W], soft) * edge(p[HEAD_W] - au, soft)
    metal = p[GLASSES] * np.minimum(rim + bridge + temple, 1.0)
    lens = p[GLASSES] * edge(away, soft) * near
    gleam = 0.1 * lens * line(dx + dy * 0.8 + 0.35, 0.16, 0.2)
    shadow = 1.0 - 0.12 * lens
    r = mix(r * shadow + gleam, p[RIM_C], metal)
    g = mix(g * shadow + gleam, p[RIM_C] * 0.95, metal)
    b = mix(b * shadow + 1.1 * gleam, p[RIM_C] * 0.92, metal)
    return r, g, b


def paint_person(
    xs: Any, ys: Any, xr: Any, yr: Any, chest: Any, cloth: Any, soft: Any, p: Any, table: Any
) -> Any:
    """The person in linear light, layer over layer, and how much of a point is person."""
    # Parallax: what stands out moves more; solved by two steps.
    z = relief(xr, yr, p)
    z = relief(xr - p[YAW] * z, yr - p[PITCH] * z, p)
    u = xr - p[YAW] * z
    v = yr - p[PITCH] * z
    v = v + p[ASYM] * u
    au = np.abs(u)

    low = np.maximum(v, 0.0) / p[CHIN]
    high = np.maximum(-v, 0.0) / p[HEAD_TOP]
    w = p[HEAD_W] * (1.0 + p[JAW] * low * low)
    e = u / w
    t = low + high
    r2 = e * e + t * t - 0.4 * e * e * high * high
    steep = 2.0 * np.sqrt((e / w) ** 2 + (low / p[CHIN] + high / p[HEAD_TOP]) ** 2) + 0.2
    head = edge((1.0 - r2) / steep, soft)

    # Cloth and neck.
    fold = 0.0 * xs
    if touched(cloth):
        fold = lattice(xs * 3.0 + p[BACK_Y], ys * 1.5 + p[BACK_X], table)
    cr, cg, cb = p[CLOTH_R], p[CLOTH_G], p[CLOTH_B]
    weave = 1.0 + 0.18 * fold
    neck_w = p[NECK_W] * (1.0 + 1.1 * np.maximum(yr - 0.95, 0.0) ** 2)
    ne = xr / neck_w
    neck = edge(neck_w - np.abs(xr), soft) * edge(yr - 0.4, 0.1)
    neck_dark = 0.42 + 0.5 * edge(yr - p[CHIN] - 0.2 - 0.35 * ne * ne, 0.28)
    ar, ag, ab = cr * weave, cg * weave, cb * weave
    light = 0.85 + 0.0 * xs
    nx, ny = 0.25 * xs + 0.2 * fold, -0.25 + 0.0 * xs
    nz = 0.9 + 0.0 * xs
    cover = np.maximum(cloth, neck)
    inner = (cover - cloth) / np.maximum(cover, 1e-9)
    ar, ag, ab = mix(ar, p[SKIN_R], inner), mix(ag, p[SKIN_G], inner), mix(ab, p[SKIN_B], inner)
    light = mix(light, neck_dark, inner)
    nx, ny, nz = mix(nx, 0.8 * ne, inner), mix(ny, 0.15, inner), mix(nz, 0.75, inner)

    # Hair: the part behind (long hair), then ears, head, and the part in front.
    strands = 0.0 * u + 0.9
    drop = np.minimum(v + 0.15, 0.0)
    half = p[HEAD_W] + p[HAIR_SIDE] + p[FLARE] * np.maximum(v + 0.15, 0.0)
    tall = p[HEAD_TOP] - 0.15 + p[HAIR_TOP]
    he, ht = u / half, drop / tall
    out = 1.0 - he * he - ht * ht + 0.35 * he * he * ht * ht
    rough = 0.035 * lattice(u * 13.0 + p[NOISE_Y], v * 8.0, table)
    outer = edge(0.4 * out + 0.35 * rough, 0.02 + soft) * p[HAIR_A]
    rear = outer * edge(p[HAIR_LEN] - v + 1.5 * rough, 0.05 + soft)
    gorge = edge(0.88 * neck_w - np.abs(xr), 0.02 + soft) * edge(yr - 0.4, 0.1)
    rear = rear * (1.0 - gorge)
    if touched(outer):
        strands = paint_hair(u, v, p, table)
    hr, hg, hb = p[HAIR_R] * strands, p[HAIR_G] * strands, p[HAIR_B] * strands
    hair_nx = 0.75 * he * (0.5 + 0.5 * he * he)
    hair_ny = 0.75 * ht - 0.05
    hair_nz = 0.35 + 0.65 * np.sqrt(np.maximum(out, 0.0))
    part, cover = over(rear, cover)
    ar, ag, ab = mix(ar, hr, part), mix(ag, hg, part), mix(ab, hb, part)
    light = mix(light, 0.55, part)
    nx, ny, nz = mix(nx, hair_nx, part), mix(ny, hair_ny, part), mix(nz, hair_nz, part)

    ear_x = (au - 0.985 * p[HEAD_W]) / (0.1 * p[EAR])
    ear_y = (v - 0.07 + 0.12 * (au - p[HEAD_W])) / (0.22 * p[EAR])
    ear_r = ear_x * ear_x + ear_y * ear_y
    ear = edge(0.08 * (1.0 - ear_r), soft)
    ear_in = dome(ear_x - 0.1, ear_y + 0.1, 0.75, 0.75)
    part, cover = over(ear, cover)
    ar, ag, ab = (
        mix(ar, p[SKIN_R], part),
        mix(ag, 0.85 * p[SKIN_G], part),
        mix(ab, 0.85 * p[SKIN_B], part),
    )
    light = mix(light, 0.85 - 0.4 * ear_in, part)
    nx, ny, nz = mix(nx, 0.5 * np.sign(u), part), mix(ny, 0.0, part), mix(nz, 0.8, part)

    # The face.
    skin, glint, gloss = 0.0 * u, 0.0 * u, 0.0 * u
    if touched(head):
        sr, sg, sb, face_light, fx, fy, beard, glint, gloss = paint_face(u, v, soft, p, table)
        fx = e * (0.5 + 0.45 * r2) + fx
        fy = (low - high) * (0.28 + 0.5 * r2) + fy
        fz = 0.2 + 0.85 * np.sqrt(np.maximum(1.0 - r2, 0.0))
        part, cover = over(head, cover)
        ar, ag, ab = mix(ar, sr, part), mix(ag, sg, part), mix(ab, sb, part)
        light = mix(light, face_light, part)
        nx, ny, nz = mix(nx, fx, part), mix(ny, fy, part), mix(nz, fz, part)
        skin = head * (1.0 - beard)

    # Hair in front: all that is outside the opening for the face.
    oe = (u - p[SWEEP]) / p[OPEN_W]
    notch = p[PART] * dome(u - p[PART_X], 0.0, 0.5, 1.0)
    ot = np.minimum(v - 0.25, 0.0) / (0.25 - p[HAIRLINE] + notch)
    opening = 1.0 - oe * oe - ot * ot + p[SQUARE] * oe * oe * ot * ot
    front = outer * edge(-0.35 * opening + 0.7 * rough, 0.03 + soft)
    front = front * edge(p[SIDE_END] - v + rough, 0.06 + soft)
    root = 1.0 - 0.3 * edge(0.1 + 0.35 * opening, 0.1)
    part, cover = over(front, cover)
    ar, ag, ab = mix(ar, hr, part), mix(ag, hg, part), mix(ab, hb, part)
    light = mix(light, root, part)
    nx, ny, nz = mix(nx, hair_nx, part), mix(ny, hair_ny, part), mix(nz, hair_nz, part)
    skin = skin * (1.0 - front)
    below = edge(0.12 + 0.35 * opening, 0.12) - edge(0.35 * opening - 0.06, 0.12)
    light = light * (
        1.0 - 0.25 * p[HAIR_A] * below * head * (1.0 - front) * edge(p[SIDE_END] - v, 0.1)
    )
    hairy = np.maximum(front, rear * (1.0 - head) * (1.0 - ear))

    hide = 0.0 * u
    if p[MASK] + p[SCARF] + p[BAR] > 0.0:
        ar, ag, ab, light, nx, ny, nz, cover, hide = paint_cover(
            u, v, xr, yr, soft, p, table, ar, ag, ab, light, nx, ny, nz, cover, 1.0 - r2
        )
    skin, hairy = skin * (1.0 - hide), hairy * (1.0 - hide)
    gloss = gloss * (1.0 - hide) * head

    # Light: ambient, Lambert with a soft end, and a little shine.
    size = 1.0 / np.sqrt(nx * nx + ny * ny + nz * nz + 1e-9)
    nx, ny, nz = nx * size, ny * size, nz * size
    lambert = nx * p[LIGHT_X] + ny * p[LIGHT_Y] + nz * p[LIGHT_Z]
    lambert = np.maximum((lambert + 0.12) / 1.12, 0.0)
    sky = p[AMBIENT] * (0.9 - 0.25 * ny) * light
    sun = lambert * (0.35 + 0.65 * light)
    half_way = np.maximum(nx * p[HALF_X] + ny * p[HALF_Y] + nz * p[HALF_Z], 0.0)
    h2 = half_way * half_way
    h4 = h2 * h2
    h8 = h4 * h4
    h16 = h8 * h8
    shine = p[SHINE] * (skin * light * (0.25 * h8 + 0.75 * h16) + 1.6 * gloss * h8)
    band = dome(v + 0.95 - 0.35 * u * u, 0.0, 0.25, 1.0)
    shine = shine + 0.05 * hairy * band * np.maximum(strands - 0.75, 0.0) * 2.5
    shine = shine * (0.4 + lambert)
    glint = 0.75 * glint * (1.0 - hide) * head * (1.0 - front)
    r = ar * (sky + sun * p[SUN_R]) + shine * p[SUN_R] + glint
    g = ag * (sky + sun * p[SUN_G]) + shine * p[SUN_G] + glint
    b = ab * (sky + sun * p[SUN_B]) + shine * p[SUN_B] + glint
    if p[GLASSES] > 0.0:
        r, g, b = paint_glasses(u, v, soft, p, r, g, b)
    return r, g, b, cover


def shade(x: Any, y: Any, soft: Any, p: Any, table: Any) -> Any:
    """Linear red, green and blue of the point (x, y) of the frame.

    Parameters
    ----------
    x, y : number or array
        Place in the frame, in [-FRAME, FRAME].
    soft : number
        Half the width of an edge: a bit more than half a pixel, against steps.
    p : (N_COLUMNS,)
        The picture.
    table : (64, 64)
        Values of the noise.
    """
    back_r, back_g, back_b = paint_background(x, y, p, table)

    # From the picture to the head: shift, size, roll.
    xs = (x - p[SHIFT_X]) / p[SCALE]
    ys = (y - p[SHIFT_Y]) / p[SCALE] + CENTRE
    soft = soft / p[SCALE]
    xr = p[COS] * xs + p[SIN] * ys
    yr = p[COS] * ys - p[SIN] * xs
    chest = ys - p[SHOULDER] - 0.3 * xs * xs / (0.45 + np.abs(xs))
    chest = chest - p[COLLAR] * dome(xs, 0.0, 1.15 * p[NECK_W], 1.0)
    cloth = edge(chest, soft)
    wide = p[HEAD_W] + np.maximum(p[HAIR_SIDE], 0.15) + 1.7 * p[FLARE] + 0.12
    wide = np.maximum(wide, 1.25 * np.maximum(p[SCARF], p[BAR])) + 2.0 * soft - np.abs(xr)
    box = np.minimum(wide, p[HEAD_TOP] + p[HAIR_TOP] + 0.12 + 2.0 * soft + yr)
    if touched(np.maximum(box, cloth)):
        r, g, b, cover = paint_person(xs, ys, xr, yr, chest, cloth, soft, p, table)
        back_r = mix(back_r, r, cover)
        back_g = mix(back_g, g, cover)
        back_b = mix(back_b, b, cover)
    return back_r, back_g, back_b


def tone_map(value: Any, vignette: Any, p: Any) -> Any:
    """Linear light to a picture: vignette, the curve of the film, contrast, brightness."""
    value = np.sqrt(np.maximum(value * vignette, 0.0))
    value = value / (1.0 + 0.16 * value * value)  # highlights roll off instead of clipping
    if p[GAMMA] != 1.0:
        value = value ** p[GAMMA]
    return 0.5 + p[CONTRAST] * (value - 0.5) + p[BRIGHTNESS]


# --------------------------------------------------------------------------- the NumPy twin
def _blur(picture: np.ndarray, sigma: float) -> np.ndarray:
    """Blur (h, w, 3) by a Gaussian cut at 2.5 sigma, with repeated edges."""
    radius = int(np.ceil(2.5 * sigma))
    taps = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    taps /= taps.sum()
    for axis in (0, 1):
        n = picture.shape[axis]
        places = np.arange(n)
        picture = sum(
            tap * np.take(picture, np.clip(places + k - radius, 0, n - 1), axis=axis)
            for k, tap in enumerate(taps)
        )
    return picture


def render_numpy(
    rows: np.ndarray, keys: np.ndarray, table: np.ndarray, resample: np.ndarray, out: np.ndarray
) -> None:
    """Fill `out` (n, h, w) or (n, h, w, 3): the slow twin of ``_shade_numba.render``.

    Parameters
    ----------
    rows : (n, N_COLUMNS) float64
        The pictures.
    keys : (n,) uint64
        Where the noise of each picture starts.
    table : (64, 64) float64
        Values of the smooth noise.
    resample : (h, h) float64 or (0, 0)
        What a coarser sensor does to a row of pixels; empty for none.
    """
    size = out.shape[1]
    step = 2.0 * FRAME / size
    places = (np.arange(size) + 0.5) * step - FRAME
    x, y = np.meshgrid(places, places)
    counter = np.arange(size * size, dtype=np.uint64).reshape(size, size)
    for p, key, picture in zip(rows, keys, out, strict=True):
        vignette = 1.0 - p[VIGNETTE] * (x * x + y * y) / (2.0 * FRAME * FRAME)
        full = np.stack(
            [tone_map(c, vignette, p) for c in shade(x, y, 0.62 * step, p, table)], axis=-1
        )
        sigma = p[BLUR] / step
        if sigma > 0.15:
            full = _blur(full, sigma)
        if resample.size:
            full = np.einsum("ij,jkc->ikc", resample, full)
            full = np.einsum("ij,kjc->kic", resample, full)
        grain = p[GRAIN] * normal_deviate(hash_bits(counter + key))
        full = np.clip(full + grain[..., None], 0.0, 1.0)
        if out.ndim == 4:
            picture[:] = full
        else:
            picture[:] = 0.299 * full[..., 0] + 0.587 * full[..., 1] + 0.114 * full[..., 2]
