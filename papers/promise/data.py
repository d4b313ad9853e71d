"""Everything in the shared data that has people, as vectors: domains of a camera and a crowd."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter, map_coordinates

from mien.datasets import (
    RenderedCamera,
    data_home,
    load_lfw,
    load_lfw_embeddings,
    load_lfw_protocol,
    load_orl,
    load_yale,
    make_faces,
)
from mien.faces import FaceEngine, load_engine
from mien.media import read_image, resize_images

__all__ = [
    "CAMERAS",
    "DOMAINS",
    "KEPT_ASIDE",
    "Domain",
    "embed_domain",
    "list_domains",
    "load_cameras",
    "load_domain",
    "split_lfw",
]

Home = str | os.PathLike[str] | None
Picture = tuple[np.ndarray, str]

#: People of LFW whose pictures go through an engine, and pictures of each.
N_PEOPLE, MOST_PICTURES = {"sface": 320, "dlib": 160}, 5
#: Rendered people and pictures of each.
N_RENDERED, PER_RENDERED = 60, 5
#: Random cameras, people before each, and pictures of each person.
N_CAMERAS, PER_CAMERA, PER_SITTER = {"sface": 96, "dlib": 28}, {"sface": 24, "dlib": 20}, 3
#: dlib's detector does not see small faces.
_SMALLEST = {"sface": 0.2, "dlib": 0.75}
_MARGIN = 32
_CHUNK = 100


@dataclass(frozen=True)
class Domain:
    """Vectors X (n, d) of unit length of people (n,), as one camera sees them.

    ``source`` says from which people of LFW a model may have been learned that is judged here:
    "half", "other half" or "all". ``family`` groups domains that share people or a camera: they are
    left out together. ``groups`` (n,), if given, are crowds: who is enrolled and who comes to the
    door are of one. ``aside`` domains were looked at once, when the method stood.
    """

    name: str
    engine: str
    X: np.ndarray
    people: np.ndarray
    source: str
    family: str
    groups: np.ndarray | None = None
    aside: bool = False

    @property
    def label(self) -> str:
        """Engine and name."""
        return f"{self.engine} {self.name}"


def split_lfw(people: np.ndarray) -> np.ndarray:
    """Whether each picture (n,) is of the half of LFW's people from whom sources are learned.

    The other half is for domains; for those kept aside it is the other way round. The halves are
    drawn by name, the same for every engine.
    """
    names = np.unique(people)
    learned = np.zeros(len(names), dtype=bool)
    learned[np.random.default_rng(14).permutation(len(names))[: len(names) // 2]] = True
    chosen: np.ndarray = learned[np.searchsorted(names, people)]
    return chosen


# Pictures of the domains that go through an engine.


def _surround(image: np.ndarray) -> np.ndarray:
    """A face that fills its picture is easily missed: repeat the border."""
    margins = ((_MARGIN, _MARGIN), (_MARGIN, _MARGIN), (0, 0))[: image.ndim]
    return np.pad(image, margins, mode="edge")


def _rgb(image: np.ndarray) -> np.ndarray:
    return np.repeat(image[..., None], 3, axis=2) if image.ndim == 2 else image


def _shrink(image: np.ndarray, factor: float) -> np.ndarray:
    size = tuple(max(1, round(side * factor)) for side in image.shape[:2])
    small: np.ndarray = resize_images(image[None], size)[0]
    return small


def _lfw(
    home: Home, engine: str, change: Callable[[np.ndarray], np.ndarray], *, aside: bool = False
) -> Iterator[Picture]:
    """Pictures of people with two or more from the half that no source was learned from."""
    everybody = load_lfw_protocol(home).people
    names, counts = np.unique(everybody[split_lfw(everybody) == aside], return_counts=True)
    rng = np.random.default_rng(0)
    many = rng.permutation(names[counts >= 2])[: N_PEOPLE[engine]]
    # Strangers with a single picture as well: a quarter as many.
    few = rng.permutation(names[counts == 1])[: N_PEOPLE[engine] // 4]
    faces = load_lfw(home, people=np.sort(np.concatenate([many, few])))
    for name in np.unique(faces.people):
        for image in faces.images[faces.people == name][:MOST_PICTURES]:
            yield change(image), str(name)


def _darken(image: np.ndarray) -> np.ndarray:
    """A dark, noisy, soft picture, as of a cheap camera indoors."""
    soft = _shrink(_shrink(image, 0.5), 2.0)[: image.shape[0], : image.shape[1]]
    noise = np.random.default_rng(int(image.astype(np.int64).sum())).normal(0, 6, soft.shape)
    values: np.ndarray = 255 * (soft / 255.0) ** 1.8 * 0.7 + noise
    return np.clip(values, 0, 255).astype(np.uint8)


def _small(image: np.ndarray) -> np.ndarray:
    """The face of LFW's crop is some 90 of 128 pixels: 24 remain."""
    return _surround(_shrink(image, 24 / 90))


def _compress(image: np.ndarray) -> np.ndarray:
    """A picture that was sent on: half the size, and as few bytes as a messenger leaves."""
    buffer = BytesIO()
    Image.fromarray(_shrink(image, 0.6)).save(buffer, "JPEG", quality=14)
    with Image.open(BytesIO(buffer.getvalue())) as sent:
        return _surround(np.asarray(sent))


def _shake(image: np.ndarray) -> np.ndarray:
    """A camera that moved by 9 of 128 pixels, down to the right, and too much light."""
    wide = np.pad(image.astype(np.float64), ((9, 0), (9, 0)), mode="edge")
    steps = [wide[9 - k : 9 - k + image.shape[0], 9 - k : 9 - k + image.shape[1]] for k in range(9)]
    values: np.ndarray = np.mean(steps, axis=0) * 1.35 + 15
    return _surround(np.clip(values, 0, 255).astype(np.uint8))


def _print(image: np.ndarray) -> np.ndarray:
    """A photograph of a newspaper: dots of 4 pixels at an angle, seen a little out of focus."""
    y, x = np.mgrid[: image.shape[0], : image.shape[1]] * (2 * np.pi / 4)
    screen = np.cos(0.8 * x + 0.6 * y) * np.cos(0.8 * y - 0.6 * x)
    dots = np.where(image / 255.0 + 0.45 * screen > 0.5, 235.0, 25.0)
    return _surround(np.clip(gaussian_filter(dots, 1.1), 0, 255).astype(np.uint8))


def _fog(image: np.ndarray) -> np.ndarray:
    """A steamed-up lens: light from everywhere, a third of the contrast, a veil, some noise."""
    soft = 0.6 * gaussian_filter(image.astype(np.float64), 3.0) + 0.4 * image
    noise = np.random.default_rng(int(image.astype(np.int64).sum())).normal(0, 3, soft.shape)
    return _surround(np.clip(120 + 0.35 * soft + noise, 0, 255).astype(np.uint8))


def _interlace(image: np.ndarray) -> np.ndarray:
    """A head that moves before a camera of 1990: every other row an instant later, soft, grainy."""
    later = np.roll(image, 5, axis=1)
    rows = np.where(np.arange(image.shape[0])[:, None] % 2 == 0, image, later).astype(np.float64)
    rng = np.random.default_rng(int(image.astype(np.int64).sum()))
    grain = gaussian_filter(rng.normal(0, 14, rows.shape), (0, 1.5))
    return _surround(np.clip(gaussian_filter(rows, (0, 1.2)) + grain, 0, 255).astype(np.uint8))


def _refilm(image: np.ndarray) -> np.ndarray:
    """A photograph of a screen: its lines beat with the camera's, and a lamp shines in it."""
    y, x = np.mgrid[: image.shape[0], : image.shape[1]].astype(np.float64)
    beat = 1 + 0.3 * np.sin(2 * np.pi * (y / 5.3 + x / 37)) * np.sin(2 * np.pi * x / 4.7)
    lamp = 130 * np.exp(-((x - 85) ** 2 + (y - 40) ** 2) / (2 * 22**2))
    values: np.ndarray = 255 * (image / 255.0) ** 1.4 * beat * 0.8 + lamp
    return _surround(np.clip(values, 0, 255).astype(np.uint8))


def _bulge(image: np.ndarray) -> np.ndarray:
    """A door viewer: the middle bulges, the rim is dark, and few pixels are left."""
    y, x = np.mgrid[: image.shape[0], : image.shape[1]].astype(np.float64)
    middle = (image.shape[0] - 1) / 2
    radius = np.hypot(y - middle, x - middle) / middle
    factor = 0.55 + 0.45 * np.minimum(radius, 1.5) ** 2
    at = [middle + (axis - middle) * factor for axis in (y, x)]
    bent = map_coordinates(image.astype(np.float64), at, order=1, mode="nearest")
    dark = bent * np.clip(1.15 - 0.7 * radius**2, 0.05, 1)
    return _surround(_shrink(np.clip(dark, 0, 255).astype(np.uint8), 0.6))


def _frost(image: np.ndarray) -> np.ndarray:
    """Behind frosted glass: every pixel comes from somewhere near, in grains of 3 pixels."""
    rng = np.random.default_rng(int(image.astype(np.int64).sum()))
    near = [gaussian_filter(rng.normal(0, 6, image.shape), 1.5) for _ in range(2)]
    at = np.mgrid[: image.shape[0], : image.shape[1]] + np.stack(near)
    seen = map_coordinates(image.astype(np.float64), at, order=1, mode="nearest")
    return _surround(np.clip(30 + 0.8 * seen, 0, 255).astype(np.uint8))


def _scratch(image: np.ndarray) -> np.ndarray:
    """An old print: bright scratches, dust, faded, and spots where it was wet."""
    rng = np.random.default_rng(int(image.astype(np.int64).sum()))
    height, width = image.shape[:2]
    old = 60 + 0.6 * image.astype(np.float64)
    for _ in range(4):
        column = rng.uniform(0, width) + np.cumsum(rng.normal(0, 0.3, height))
        old[np.arange(height), np.clip(column, 0, width - 1).astype(int)] = 240
    old[rng.random(old.shape) < 0.004] = 30
    stains = gaussian_filter(rng.normal(0, 1, old.shape), 9)
    return _surround(np.clip(old + 15 * stains / stains.std(), 0, 255).astype(np.uint8))


@dataclass(frozen=True)
class _Camera:
    """A camera with faults; those of no strength are not there."""

    size: float
    blur: float
    shake: int
    angle: float
    gamma: float
    gain: float
    noise: float
    quality: int
    veil: float
    levels: int
    edges: float
    cover: int

    @classmethod
    def draw(cls, rng: np.random.Generator, smallest: float) -> _Camera:
        """Each fault with a chance of its own, of any strength."""

        def perhaps(chance: float, strength: float, without: float) -> float:
            return float(strength) if rng.random() < chance else without

        return cls(
            size=perhaps(0.5, np.exp(rng.uniform(np.log(smallest), 0)), 1.0),
            blur=perhaps(0.35, rng.uniform(0.5, 2.5), 0.0),
            shake=int(perhaps(0.25, float(rng.integers(3, 12)), 0)),
            angle=float(rng.uniform(0, np.pi)),
            gamma=perhaps(0.4, np.exp(rng.uniform(-0.8, 0.8)), 1.0),
            gain=perhaps(0.4, rng.uniform(0.4, 1.6), 1.0),
            noise=perhaps(0.35, rng.uniform(2, 14), 0.0),
            quality=int(perhaps(0.35, float(rng.integers(8, 50)), 0)),
            veil=perhaps(0.25, rng.uniform(0.2, 0.7), 0.0),
            levels=int(perhaps(0.2, float(rng.integers(2, 9)), 0)),
            edges=perhaps(0.2, rng.uniform(0.5, 3.0), 0.0),
            cover=int(perhaps(0.15, float(rng.integers(1, 3)), 0)),
        )

    def take(self, image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The picture that this camera takes of a grey picture."""
        x = image.astype(np.float64)
        if self.cover:
            # Dark glasses, or something before the mouth, where LFW's crop has them.
            top, bottom = ((44, 64), (78, 108))[self.cover - 1]
            x[top:bottom, 28:100] = 25.0 if self.cover == 1 else 200.0
        if self.blur:
            x = gaussian_filter(x, self.blur)
        if self.shake:
            steps = np.arange(self.shake) - self.shake / 2
            down, right = np.sin(self.angle), np.cos(self.angle)
            moved = [np.roll(x, (round(t * down), round(t * right)), (0, 1)) for t in steps]
            x = np.mean(moved, axis=0)
        if self.size < 1:
            x = _shrink(np.clip(x, 0, 255).astype(np.uint8), self.size).astype(np.float64)
        x = 255 * (np.clip(x, 0, 255) / 255) ** self.gamma * self.gain
        # Stray light that lies over everything.
        x = (1 - self.veil) * x + self.veil * 210
        if self.noise:
            x = x + rng.normal(0, self.noise, x.shape)
        if self.edges:
            x = x + self.edges * (x - gaussian_filter(x, 1.5))
        if self.levels:
            # As few shades as a print has, with noise instead of dots, seen a little out of focus.
            step = 255 / (self.levels - 1)
            x = step * np.round((x + rng.uniform(-step / 2, step / 2, x.shape)) / step)
            x = gaussian_filter(np.clip(x, 0, 255), 0.9)
        taken: np.ndarray = np.clip(x, 0, 255).astype(np.uint8)
        if self.quality:
            buffer = BytesIO()
            Image.fromarray(taken).save(buffer, "JPEG", quality=self.quality)
            with Image.open(BytesIO(buffer.getvalue())) as stored:
                taken = np.asarray(stored)
        return _surround(taken)


def _random_cameras(home: Home, engine: str, *, learned: bool) -> Iterator[Picture]:
    """People of one half of LFW before random cameras; who it is has the camera's number first."""
    everybody = load_lfw_protocol(home).people
    names, counts = np.unique(everybody[split_lfw(everybody) == learned], return_counts=True)
    many = names[counts >= PER_SITTER]
    rng = np.random.default_rng(77)
    for number in range(N_CAMERAS[engine]):
        camera = _Camera.draw(rng, _SMALLEST[engine])
        chosen = np.sort(rng.permutation(many)[: PER_CAMERA[engine]])
        faces = load_lfw(home, people=chosen)
        for name in chosen:
            for image in faces.images[faces.people == name][:PER_SITTER]:
                yield camera.take(image, rng), f"{number} {name}"


def _orl(home: Home, factor: float) -> Iterator[Picture]:
    faces = load_orl(home)
    for image, person in zip(faces.images, faces.people, strict=True):
        small = image if factor == 1 else _shrink(image, factor)
        yield _surround(small), f"orl {person}"


def _yale(home: Home) -> Iterator[Picture]:
    faces = load_yale(home, duplicates=False)
    for image, person in zip(faces.images, faces.people, strict=True):
        yield _surround(image), f"yale {person}"


_FIGURES = {
    "obama": "obama", "t_obama": "obama", "test_obama1": "obama", "biden": "biden",
    "train_biden": "biden", "alex": "alex", "train_alex": "alex", "test_alex": "alex",
    "lin-manuel": "lin-manuel", "train_rose": "rose", "test_johnsnow": "kit",
}  # fmt: skip


def _photos(home: Home) -> Iterator[Picture]:
    """Five people, public figures; everybody else on a group picture is a stranger."""
    folder = data_home(home) / "photos"
    for person in sorted((folder / "five_people").iterdir()):
        for path in sorted(person.glob("*.jpg")):
            yield read_image(path, colour=True), person.name
    for path in sorted((folder / "public_figures").iterdir()):
        owner = [name for start, name in _FIGURES.items() if path.name.startswith(start)]
        if "obama_and_biden" not in path.name and owner:
            yield read_image(path, colour=True), owner[-1]
    for path in (folder / "astronaut.png", folder / "grace_hopper_517x606.jpg"):
        yield read_image(path, colour=True), path.stem
    for path in sorted((folder / "group_photos").glob("*.jpg")):
        # A collage that shows the same few men many times says nothing about strangers.
        if path.stem != "bald_guys":
            yield read_image(path, colour=True), f"everybody of {path.stem}"


def _rendered(camera: str | RenderedCamera, seed: int = 14) -> Iterator[Picture]:
    faces = make_faces(
        N_RENDERED, PER_RENDERED, 192, colour=True, camera=camera, random_state=seed, n_jobs=1
    )
    for image, person in zip(faces.images, faces.people, strict=True):
        yield np.round(255 * image).astype(np.uint8), f"rendered {person}"


_THIRD = RenderedCamera(
    contrast=0.7, brightness=0.12, gamma=0.8, resolution=0.35, noise=0.03, ambient=1.4
)


@dataclass(frozen=True)
class _Pictures:
    """Pictures of a domain for an engine, what a model may have seen, and who shares its people."""

    make: Callable[[Home, str], Iterator[Picture]]
    source: str
    family: str


def _aside(change: Callable[[np.ndarray], np.ndarray]) -> _Pictures:
    """The half of LFW's people who otherwise teach the model, as a camera changes them."""
    return _Pictures(
        lambda home, engine: _lfw(home, engine, change, aside=True), "other half", "lfw"
    )


DOMAINS: dict[str, _Pictures] = {
    "photos": _Pictures(lambda home, _: _photos(home), "all", "photos"),
    "orl": _Pictures(lambda home, _: _orl(home, 1), "all", "orl"),
    "yale": _Pictures(lambda home, _: _yale(home), "all", "yale"),
    "rendered, first camera": _Pictures(lambda _, __: _rendered("first"), "all", "rendered"),
    "rendered, second camera": _Pictures(lambda _, __: _rendered("second"), "all", "rendered"),
    "orl, small": _Pictures(lambda home, _: _orl(home, 0.45), "all", "orl"),
    "lfw grey": _Pictures(lambda home, engine: _lfw(home, engine, _surround), "half", "lfw"),
    "lfw 24 pixels": _Pictures(lambda home, engine: _lfw(home, engine, _small), "half", "lfw"),
    "lfw dark": _Pictures(lambda home, engine: _lfw(home, engine, _darken), "half", "lfw"),
}
#: People and cameras that nothing was chosen by: the other half of LFW's people, who until then had
#: only taught the model; two cameras and rendered people that had not been tried.
KEPT_ASIDE: dict[str, _Pictures] = {
    "aside: compressed": _aside(_compress),
    "aside: shaken": _aside(_shake),
    "aside: rendered, third camera": _Pictures(
        lambda _, __: _rendered(_THIRD, 41), "all", "rendered"
    ),
    "aside: printed": _aside(_print),
    "aside: foggy": _aside(_fog),
    "aside: interlaced": _aside(_interlace),
    "aside: refilmed": _aside(_refilm),
    "aside: door viewer": _aside(_bulge),
    "aside: frosted": _aside(_frost),
    "aside: scratched": _aside(_scratch),
}
#: Random cameras before the people from whom a source is learned, by its name: from them is learned
#: how pictures show their camera.
CAMERAS: dict[str, _Pictures] = {
    f"random cameras, {source}": _Pictures(
        partial(_random_cameras, learned=learned),
        source,
        "random cameras",
    )
    for source, learned in (("half", True), ("other half", False))
}
_STORED = {"sface": ("clean", "covered", "lowres"), "dlib": ("clean",)}
#: dlib's detector does not see faces below 40 pixels.
_UNSEEN = {"dlib": ("lfw 24 pixels", "orl, small", "lfw dark")}


def list_domains(engine: str, *, aside: bool = False) -> list[str]:
    """Names of the domains of an engine, or of those kept aside; LFW's stored vectors first."""
    stored = [f"{'aside:' if aside else 'lfw'} {kind}" for kind in _STORED[engine]]
    made = KEPT_ASIDE if aside else DOMAINS
    return stored + [name for name in made if name not in _UNSEEN.get(engine, ())]


def _see(engine: FaceEngine, image: np.ndarray, owner: str) -> list[tuple[np.ndarray, str]]:
    """The largest face, or all of a group picture, each a person of its own."""
    colour = np.ascontiguousarray(_rgb(image))
    faces = engine.detect(colour)
    if owner.startswith("everybody"):
        return [(engine.embed(colour, face), f"{owner} {k}") for k, face in enumerate(faces)]
    return [(engine.embed(colour, face), owner) for face in faces[:1]]


def embed_domain(name: str, engine: str, cache: str | os.PathLike[str], home: Home = None) -> Path:
    """Send the pictures of a domain through an engine, once; an interrupted run goes on.

    The folder and its files are readable by their owner only: vectors are personal data.
    """
    folder = Path(cache)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = f"{engine} {name}".replace(":", "")
    done = folder / f"{file}.npz"
    if done.is_file():
        return done
    part = folder / f"{file}.part.npz"
    vectors: list[np.ndarray] = []
    people: list[str] = []
    start = 0
    if part.is_file():
        with np.load(part, allow_pickle=False) as stored:
            vectors, people = list(stored["vectors"]), stored["people"].tolist()
            start = int(stored["pictures"])
    made = (CAMERAS | KEPT_ASIDE | DOMAINS)[name]
    eyes = load_engine(engine)
    for number, (image, owner) in enumerate(made.make(home, engine), 1):
        if number <= start:
            continue
        for vector, person in _see(eyes, image, owner):
            vectors.append(vector)
            people.append(person)
        if number % _CHUNK == 0:
            _write(part, vectors, people, number)
    _write(done, vectors, people, number)
    part.unlink(missing_ok=True)
    return done


def _write(path: Path, vectors: list[np.ndarray], people: list[str], pictures: int) -> None:
    temporary = path.with_suffix(".tmp")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        np.savez(file, vectors=np.asarray(vectors), people=np.asarray(people), pictures=pictures)
    temporary.replace(path)


def load_domain(name: str, engine: str, cache: str | os.PathLike[str], home: Home = None) -> Domain:
    """A domain as vectors of unit length; of LFW, only people whom no source was learned from."""
    aside = name.startswith("aside: ")
    kind = name.removeprefix("aside: " if aside else "lfw ")
    if kind in _STORED[engine]:
        found = load_lfw_embeddings(home, engine if kind == "clean" else f"{engine}-{kind}")
        X, people = found.vectors.astype(np.float64), found.people
        kept = found.detected & (np.linalg.norm(X, axis=1) > 0) & (split_lfw(people) == aside)
        X, people = X[kept], people[kept]
        source, family = "other half" if aside else "half", "lfw"
    else:
        made = (KEPT_ASIDE | DOMAINS)[name]
        source, family = made.source, made.family
        with np.load(embed_domain(name, engine, cache, home), allow_pickle=False) as stored:
            X, people = stored["vectors"].astype(np.float64), stored["people"]
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return Domain(name, engine, X, people, source, family, aside=aside)


def load_cameras(
    source: str, engine: str, cache: str | os.PathLike[str], home: Home = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Vectors of unit length and people of each random camera, of the people of a source."""
    path = embed_domain(f"random cameras, {source}", engine, cache, home)
    with np.load(path, allow_pickle=False) as stored:
        X, people = stored["vectors"].astype(np.float64), stored["people"]
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    numbers = np.asarray([int(who.partition(" ")[0]) for who in people.tolist()])
    return [(X[numbers == k], people[numbers == k]) for k in np.unique(numbers)]
