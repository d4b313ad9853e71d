"""Rendered people: faces at any scale without anyone's photographs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from numbers import Integral, Real
from typing import Any, TypedDict, Unpack

import numpy as np

from mien._core.jit import load_kernels
from mien._core.parallel import count_processors
from mien._core.progress import report
from mien._core.validation import check_integer
from mien.datasets._record import FaceSet
from mien.datasets._rendered._people import (
    COVER_KINDS,
    IDENTITY_NAMES,
    LANDMARK_NAMES,
    NUISANCE_NAMES,
    Conditions,
    RenderedCamera,
    describe_pictures,
)
from mien.datasets._rendered._shade import hash_bits, normal_deviate, render_numpy
from mien.errors import InputError
from mien.media import resize_images

__all__ = [
    "CAMERAS",
    "COVER_KINDS",
    "IDENTITY_NAMES",
    "LANDMARK_NAMES",
    "NUISANCE_NAMES",
    "RenderedCamera",
    "crop_rendered",
    "iter_faces",
    "make_faces",
]

CAMERAS = {
    "first": RenderedCamera(),
    "second": RenderedCamera(
        contrast=0.8,
        brightness=0.03,
        gamma=1.2,
        resolution=0.6,
        noise=0.015,
        vignetting=0.4,
        light=(-0.45, 0.1),
        ambient=0.85,
    ),
}
_SIZES = (16, 1024)
_MOST_BYTES = 8 * 2**30
_CHUNK = 2048
_SOURCE = "rendered by mien.datasets.make_faces; nobody's photograph"
_LICENCE = "no rights of anyone: use freely"


def _check_number(name: str, value: Any, low: float, high: float) -> float:
    """Return a finite number within bounds."""
    number = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    if not low <= number <= high:
        raise InputError(f"{name} must be a number from {low:g} to {high:g}; got {value!r}")
    return number


def _check_camera(camera: Any) -> RenderedCamera:
    """Return the camera of that name, or the camera itself if it can be used."""
    if camera is None:
        return CAMERAS["first"]
    if isinstance(camera, str):
        if camera not in CAMERAS:
            raise InputError(
                f"camera must be a RenderedCamera or one of {list(CAMERAS)}; got {camera!r}"
            )
        return CAMERAS[camera]
    if not isinstance(camera, RenderedCamera):
        raise InputError(
            f"camera must be a RenderedCamera or one of {list(CAMERAS)}; got {camera!r}"
        )
    bounds = {
        "contrast": (0.05, 5.0),
        "brightness": (-1.0, 1.0),
        "gamma": (0.2, 5.0),
        "resolution": (0.05, 1.0),
        "blur": (0.0, 10.0),
        "noise": (0.0, 1.0),
        "vignetting": (0.0, 0.99),
        "ambient": (0.0, 10.0),
    }
    for name, (low, high) in bounds.items():
        _check_number(f"camera.{name}", getattr(camera, name), low, high)
    if not isinstance(camera.light, (tuple, list)) or len(camera.light) != 2:
        raise InputError(f"camera.light must be two numbers; got {camera.light!r}")
    for value in camera.light:
        _check_number("camera.light", value, -5.0, 5.0)
    return camera


def _check_cover(cover: Any) -> tuple[str, ...]:
    """Return the kinds of cover to choose from, possibly none."""
    if cover is None or (isinstance(cover, str) and cover == "none"):
        return ()
    if isinstance(cover, str) and cover == "any":
        return COVER_KINDS
    kinds = (cover,) if isinstance(cover, str) else cover
    if (
        not isinstance(kinds, (tuple, list))
        or not kinds
        or any(k not in COVER_KINDS for k in kinds)
    ):
        raise InputError(
            f"cover must be None, 'any', or one or more of {list(COVER_KINDS)}; got {cover!r}"
        )
    return tuple(kinds)


def _check_seed(random_state: Any) -> int:
    """Turn a seed, a generator or None into one whole number."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**63))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return check_integer("random_state", random_state, 0)


def _check_jobs(n_jobs: Any) -> int:
    """Return a number of threads; negative counts back from all cores, as in scikit-learn."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise InputError(f"n_jobs must be None or a whole number other than 0; got {n_jobs!r}")
    wanted = int(n_jobs)
    if wanted > 0:
        return wanted
    return max(1, count_processors() + 1 + wanted)


@cache
def _noise_table() -> np.ndarray:
    """Values of the smooth noise, (64, 64), the same for ever."""
    bits = hash_bits(np.arange(64 * 64, dtype=np.uint64) + np.uint64(20))
    return np.clip(normal_deviate(bits) / 2.2, -1.0, 1.0).reshape(64, 64)


def _resample(size: int, resolution: float) -> np.ndarray:
    """What a sensor of fewer pixels does to a row: (size, size), or (0, 0) for nothing.

    Areas are averaged to ``round(size · resolution)`` pixels and interpolated back linearly.
    """
    coarse = max(4, round(size * resolution))
    if coarse >= size:
        return np.zeros((0, 0))
    at = np.arange(size + 1) * (coarse / size)
    cells = np.arange(coarse)[:, None]
    share = np.clip(np.minimum(at[1:], cells + 1) - np.maximum(at[:-1], cells), 0.0, None)
    middle = np.clip((np.arange(size) + 0.5) * (coarse / size) - 0.5, 0, coarse - 1)
    spread = np.clip(1.0 - np.abs(middle[:, None] - np.arange(coarse)), 0.0, None)
    return np.ascontiguousarray(spread @ (share / share.sum(axis=1, keepdims=True)))


def _fill(
    rows: np.ndarray, keys: np.ndarray, resample: np.ndarray, out: np.ndarray, n_threads: int
) -> None:
    """Render the pictures into `out` (n, h, w) or (n, h, w, 3), each by one thread."""
    kernels = load_kernels("mien.datasets._rendered._shade_numba")
    if kernels is None:
        render_numpy(rows, keys, _noise_table(), resample, out)
        return
    shaped = out if out.ndim == 4 else out[..., None]
    n_threads = min(n_threads, len(rows))
    if n_threads == 1:
        kernels.render(rows, keys, _noise_table(), resample, shaped)
        return
    step = min(64, math.ceil(len(rows) / n_threads))
    with ThreadPoolExecutor(n_threads) as pool:
        parts = [slice(start, start + step) for start in range(0, len(rows), step)]
        for done in [
            pool.submit(kernels.render, rows[s], keys[s], _noise_table(), resample, shaped[s])
            for s in parts
        ]:
            done.result()


class Rendering(TypedDict, total=False):
    """The keyword parameters of `make_faces`."""

    colour: bool
    variation: float
    expression: float
    light: float
    pose: float
    blur: float
    noise: float
    background: float
    glasses: float
    cover: str | Sequence[str] | None
    cover_rate: float
    camera: str | RenderedCamera | None
    first_person: int
    first_picture: int
    random_state: int | np.random.Generator | np.random.RandomState | None
    n_jobs: int | None


class _Studio:
    """Checked arguments of `make_faces`, ready to render any run of its pictures."""

    def __init__(
        self,
        n_people: Any,
        n_per_person: Any,
        size: Any,
        colour: Any,
        variation: Any,
        expression: Any,
        light: Any,
        pose: Any,
        blur: Any,
        noise: Any,
        background: Any,
        glasses: Any,
        cover: Any,
        cover_rate: Any,
        camera: Any,
        first_person: Any,
        first_picture: Any,
        random_state: Any,
        n_jobs: Any,
    ) -> None:
        self.n_people = check_integer("n_people", n_people, 1)
        self.n_per_person = check_integer("n_per_person", n_per_person, 1)
        self.size = check_integer("size", size, *_SIZES)
        self.first_person = check_integer("first_person", first_person, 0)
        self.first_picture = check_integer("first_picture", first_picture, 0)
        if not isinstance(colour, (bool, np.bool_)):
            raise InputError(f"colour must be True or False; got {colour!r}")
        self.shape = (self.size, self.size, 3) if colour else (self.size, self.size)
        strength = _check_number("variation", variation, 0, 5)
        self.conditions = Conditions(
            expression=strength * _check_number("expression", expression, 0, 5),
            light=strength * _check_number("light", light, 0, 5),
            pose=strength * _check_number("pose", pose, 0, 5),
            blur=strength * _check_number("blur", blur, 0, 20),
            noise=strength * _check_number("noise", noise, 0, 20),
            background=min(strength * _check_number("background", background, 0, 5), 1.5),
            glasses=min(1.0, strength * _check_number("glasses", glasses, 0, 1)),
            covers=_check_cover(cover),
            cover_rate=_check_number("cover_rate", cover_rate, 0, 1),
        )
        self.camera = _check_camera(camera)
        self.seed = _check_seed(random_state)
        self.n_threads = _check_jobs(n_jobs)
        self.resample = _resample(self.size, self.camera.resolution)

    def __len__(self) -> int:
        return self.n_people * self.n_per_person

    def take(self, start: int, stop: int) -> FaceSet:
        """Render the pictures from `start` to before `stop`."""
        images = np.empty((stop - start, *self.shape), dtype=np.float32)
        people = np.empty(stop - start, dtype=np.int64)
        parts: dict[str, list[np.ndarray]] = {}
        for low in range(start, stop, _CHUNK):
            at = np.arange(low, min(low + _CHUNK, stop))
            here = slice(low - start, low - start + len(at))
            people[here] = at // self.n_per_person + self.first_person
            rows, keys, metadata = describe_pictures(
                self.seed,
                people[here],
                at % self.n_per_person + self.first_picture,
                self.size,
                self.conditions,
                self.camera,
            )
            _fill(rows, keys, self.resample, images[here], self.n_threads)
            for name, values in metadata.items():
                parts.setdefault(name, []).append(values)
            report("rendering people", int(at[-1]) + 1, len(self))
        metadata = {name: np.concatenate(values) for name, values in parts.items()}
        return FaceSet(images, people, metadata, _SOURCE, _LICENCE)


def make_faces(
    n_people: int,
    n_per_person: int,
    size: int = 64,
    *,
    colour: bool = False,
    variation: float = 1.0,
    expression: float = 1.0,
    light: float = 1.0,
    pose: float = 1.0,
    blur: float = 1.0,
    noise: float = 1.0,
    background: float = 1.0,
    glasses: float = 0.15,
    cover: str | Sequence[str] | None = None,
    cover_rate: float = 1.0,
    camera: str | RenderedCamera | None = None,
    first_person: int = 0,
    first_picture: int = 0,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    n_jobs: int | None = -1,
) -> FaceSet:
    """Render people: identity that stays, nuisance that changes from picture to picture.

    Parameters
    ----------
    n_people, n_per_person : int
        How many people, and how many pictures of each.
    size : int
        Side of the square pictures in pixels, from 16 to 1024.
    colour : bool
        RGB instead of grey. Grey is 0.299 R + 0.587 G + 0.114 B of the same picture.
    variation : float
        Factor on every nuisance at once: 1 is ordinary, 0 gives neutral pictures.
    expression, light, pose, blur, noise, background : float
        Factor on one kind of nuisance, times `variation`.
    glasses : float
        Share of the pictures with glasses, times `variation`.
    cover : None, "mask", "scarf", "bar", "any" or a list of kinds
        What covers the lower face; with several, each picture draws one.
    cover_rate : float
        Share of the pictures that are covered, if `cover` is given.
    camera : None, "first", "second" or Camera
        What the people are seen through. The same seed gives the same people and moments with
        every camera.
    first_person, first_picture : int
        Where to begin to count: other people, or other pictures of the same people.
    random_state : int, Generator, RandomState or None
        The seed. A person depends on the seed and the person's number alone, a picture also on
        its own number: asking for more changes nothing that was there.
    n_jobs : int or None
        Threads; -1 takes every core. It never changes a picture.

    Returns
    -------
    FaceSet
        ``images`` are float32 in [0, 1], (n, size, size) or (n, size, size, 3), all pictures of a
        person in a row; ``people`` are numbers. ``metadata`` holds ``identity`` (n, 67, the
        columns are ``IDENTITY_NAMES``), ``landmarks`` (n, 21, 2) as (x, y) in pixels, where 0 is
        the middle of the first pixel and the points are ``LANDMARK_NAMES``, ``picture`` (the
        number of the picture) and one array for each of ``NUISANCE_NAMES``.

    Raises
    ------
    InputError
        If a parameter cannot be used, or if the pictures together take more than 8 GiB; then
        take `iter_faces`.

    Notes
    -----
    Head, nose, sockets, cheeks and lips are a height field over the picture. Its normals are lit
    by one lamp (Lambert's law, a little shine) and by ambient light; its depth moves points by
    parallax when the head turns. Everything else is colour laid over it: skin with blotches,
    freckles and moles of its own, eyes, brows, lips, beard, hair.

    The first 13 landmarks stand for the 13 of the weak-label paper, which does not name its own:
    corners of the eyes, pupils, tip and wings of the nose, corners and middle of the lips. "Left"
    is left in the picture.

    Pictures are for methods and scale: what works on them must still be shown on photographs.

    Examples
    --------
    >>> from mien.datasets import make_faces
    >>> faces = make_faces(3, 2, size=32, random_state=0)
    >>> faces
    FaceSet(6 pictures of 32×32 pixels, grey, 3 people)
    >>> faces.people.tolist()
    [0, 0, 1, 1, 2, 2]
    >>> again = make_faces(50, 1, size=32, random_state=0)
    >>> bool((again.images[2] == faces.images[4]).all())
    True
    """
    studio = _Studio(**locals())
    needed = len(studio) * math.prod(studio.shape) * 4
    if needed > _MOST_BYTES:
        raise InputError(
            f"{len(studio):,} pictures of {studio.size} pixels take {needed / 2**30:.1f} GiB; "
            f"make_faces stops at {_MOST_BYTES / 2**30:.0f} GiB: stream them with iter_faces"
        )
    return studio.take(0, len(studio))


def iter_faces(
    batch_size: int,
    n_people: int,
    n_per_person: int,
    size: int = 64,
    **options: Unpack[Rendering],
) -> Iterator[FaceSet]:
    """Stream what `make_faces` returns, bit for bit, a batch at a time.

    Only one batch is held, so memory does not grow with the number of people.

    Parameters
    ----------
    batch_size : int
        Pictures in a batch; the last may be smaller. A batch may end within a person.
    n_people, n_per_person, size : int
        People, pictures of each, and the side of the square pictures in pixels.
    **options
        The keyword parameters of `make_faces`, with the same defaults.

    Yields
    ------
    FaceSet
        As from `make_faces`.

    Examples
    --------
    >>> from mien.datasets import iter_faces
    >>> [len(batch) for batch in iter_faces(4, 5, 2, size=32, random_state=0)]
    [4, 4, 2]
    """
    size_of_batch = check_integer("batch_size", batch_size, 1)
    defaults = dict(make_faces.__kwdefaults__ or {})
    unknown = sorted(set(options) - set(defaults))
    if unknown:
        raise TypeError(f"iter_faces() got an unexpected keyword argument {unknown[0]!r}")
    studio = _Studio(n_people, n_per_person, size, **(defaults | options))

    def stream() -> Iterator[FaceSet]:
        for start in range(0, len(studio), size_of_batch):
            yield studio.take(start, min(start + size_of_batch, len(studio)))

    return stream()


def crop_rendered(faces: FaceSet, size: int = 32) -> FaceSet:
    """Cut rendered faces of 64×64 pixels to brows, cheeks and chin, as mugshots are.

    Parameters
    ----------
    faces : FaceSet
        From :func:`make_faces` with ``size=64``.
    size : int
        Side of the result in pixels.

    Returns
    -------
    FaceSet
        The same faces in the same order, without metadata.
    """
    if faces.size != (64, 64):
        raise InputError(
            f"faces must be 64×64 pixels, as make_faces(size=64) gives; got {faces.size}"
        )
    cut = np.ascontiguousarray(faces.images[:, 16:56, 12:52])
    return FaceSet(
        resize_images(cut, (size, size)),
        faces.people,
        {},
        source=faces.source,
        licence=faces.licence,
        skipped=[],
    )
