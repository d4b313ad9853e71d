"""Learn to see what of a face is covered, from painted covers, and judge it on other people."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier

from mien._core.progress import track
from mien.datasets import data_home, load_lfw, load_lfw_embeddings, load_lfw_landmarks
from mien.evaluation import wilson_interval
from mien.faces import Face, align_face, analyse_pictures
from mien.faces._covered import BLOCKS, covered_features, logit, lower_share
from mien.media import find_pictures, read_image, resize_images
from mien.reports import Report
from papers.covered.covers import PLACES, paint_cover, vary_picture

__all__ = ["CoveredFaces", "train_covered"]

_HIDDEN = 80
_PASSES = 4
_COVERED_SHARE = 0.5
_LEAST_TEXTURE = 112


@dataclass(frozen=True, eq=False)
class CoveredFaces:
    """The network's coefficients, and how it did on people whom it did not see."""

    arrays: dict[str, np.ndarray]
    report: Report

    def to_bytes(self) -> bytes:
        """The file ``covered.npz``."""
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **self.arrays)  # type: ignore[arg-type]
        return buffer.getvalue()


@dataclass(frozen=True, eq=False)
class _Crops:
    """Aligned faces (n, 112, 112, 3), their people, and whether they are grey pictures."""

    images: np.ndarray
    people: np.ndarray
    grey: np.ndarray


def train_covered(
    home: str | os.PathLike[str] | None = None,
    *,
    rounds: int = 24,
    n_people: int | None = None,
    n_painted: int = 4000,
    random_state: int = 0,
) -> CoveredFaces:
    """Learn the map of covered blocks.

    Parameters
    ----------
    home : path or None
        Folder of real data with ``lfw``, ``photos`` and ``corel1k``; None takes ``MIEN_DATA``.
    rounds : int
        Times that ``n_painted`` faces are newly painted and gone through four times.
    n_people : int or None
        People of LFW, the first of the alphabet; None is all.
    n_painted : int
        Faces that are painted in a round, to calibrate (at most 3,000), and to judge.
    random_state : int
        Seed of everything that is drawn.

    Returns
    -------
    CoveredFaces
        Coefficients and a report.

    Notes
    -----
    Faces are LFW's (grey, one picture per person, and 120 in colour) and those of the photographs;
    covers are painted: masks, scarves, hands, glasses and patches, of cloth, skin colour, patterns
    or parts of the Corel photographs. People are split three ways: to learn, to calibrate, to
    judge; the Corel pictures are split too.
    """
    place = data_home(home)
    crops = _read_crops(place, n_people)
    textures = _read_textures(place / "corel1k" / "images")
    part = _split_people(crops.people)
    rs = np.random.RandomState(random_state)
    learn = _choose(crops, part == 0)
    network = MLPClassifier((_HIDDEN,), alpha=1e-3, batch_size=200, random_state=random_state)
    classes = np.arange(BLOCKS * BLOCKS)
    for done in track(range(rounds), "learning what is covered"):
        # Smaller steps towards the end.
        network.learning_rate_init = 1e-3 * 0.5 ** (4 * done / rounds)
        images, masks, _ = _paint(learn, textures[::2], n_painted, rs)
        X, y = covered_features(images), _blocks(masks)
        for _ in range(_PASSES):
            network.partial_fit(X, y, classes=classes)
    images, masks, _ = _paint(_choose(crops, part == 1), textures[::2], min(3000, n_painted), rs)
    scale, offset = _calibrate(lower_share(_predict(network, images)), _truth(masks))
    arrays = {
        "first": network.coefs_[0].astype(np.float16),
        "first_bias": network.intercepts_[0].astype(np.float32),
        "second": network.coefs_[1].astype(np.float16),
        "second_bias": network.intercepts_[1].astype(np.float32),
        "scale": np.float32(scale),
        "offset": np.float32(offset),
    }
    report = _judge(network, arrays, _choose(crops, part == 2), textures[1::2], n_painted, rs)
    return CoveredFaces(arrays, report)


def _read_crops(home: Path, n_people: int | None) -> _Crops:
    """Aligned faces of LFW in grey, and of the colour pictures at hand."""
    everybody = load_lfw_embeddings(home, "sface").people
    names = np.unique(everybody)[:n_people]
    lfw = load_lfw(home, people=[str(name) for name in names])
    landmarks, detected = (a[np.isin(everybody, names)] for a in load_lfw_landmarks(home))
    rows = np.unique(lfw.people, return_index=True)[1]
    images, people, grey = [], [], []
    for row in track(rows.tolist(), "aligning LFW"):
        if detected[row]:
            face = Face(np.array([0, 0, 1, 1]), landmarks[row], 1.0)
            images.append(align_face(lfw.images[row], face))
            people.append(str(lfw.people[row]))
            grey.append(True)
    for folder in ("lfw/sample_originals", "photos/five_people", "photos/group_photos"):
        paths = find_pictures(home / folder)
        for result in analyse_pictures(paths, keep_crops=True):
            several = folder.endswith("group_photos")
            for number, found in enumerate(result.faces[: None if several else 1]):
                if found.crop is None:
                    continue
                images.append(found.crop)
                name = f"{result.path.stem}/{number}" if several else result.path.parent.name
                people.append(name)
                grey.append(False)
    return _Crops(np.stack(images), np.array(people), np.array(grey))


def _read_textures(folder: Path) -> list[np.ndarray]:
    """Every fourth Corel picture at about half its size."""
    textures = []
    for path in find_pictures(folder)[::4]:
        picture = read_image(path, colour=True)
        height, width = (max(_LEAST_TEXTURE, side // 2) for side in picture.shape[:2])
        textures.append(resize_images(picture[None], (height, width))[0])
    return textures


def _split_people(people: np.ndarray) -> np.ndarray:
    """0 to learn (7 in 10 people), 1 to calibrate (1), 2 to judge (2); by name, not by picture."""
    names, codes = np.unique(people, return_inverse=True)
    part = np.random.RandomState(7).choice(3, size=len(names), p=[0.7, 0.1, 0.2])
    return part[codes]


def _choose(crops: _Crops, rows: np.ndarray) -> _Crops:
    return _Crops(crops.images[rows], crops.people[rows], crops.grey[rows])


def _paint(
    crops: _Crops, textures: list[np.ndarray], n: int, rs: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Faces (n, 112, 112, 3), what is covered (n, 112, 112), and the kind; two in five are clean.

    Half of the faces are in colour, however few there are.
    """
    groups = [rows for rows in map(np.flatnonzero, (crops.grey, ~crops.grey)) if len(rows)]
    images, masks, kinds = [], [], []
    for _ in range(n):
        row = rs.choice(groups[rs.randint(len(groups))])
        image, mask = vary_picture(crops.images[row], rs), np.zeros((112, 112), bool)
        kind = "clean" if rs.rand() < 0.4 else str(rs.choice(PLACES, p=[0.3, 0.1, 0.25, 0.25, 0.1]))
        if kind != "clean":
            image, mask = paint_cover(image, kind, textures, rs)
        if crops.grey[row] or rs.rand() < 0.2:
            luma = image @ np.array([0.299, 0.587, 0.114])
            image = np.repeat(np.round(luma).astype(np.uint8)[..., None], 3, axis=2)
        images.append(image)
        masks.append(mask)
        kinds.append(kind)
    return np.stack(images), np.stack(masks), np.array(kinds)


def _blocks(masks: np.ndarray) -> np.ndarray:
    """Whether more than half of each block (n, 196) is covered."""
    side = masks.shape[1] // BLOCKS
    shares = masks.reshape(len(masks), BLOCKS, side, BLOCKS, side).mean(axis=(2, 4))
    return (shares > 0.5).reshape(len(masks), -1).astype(int)


def _truth(masks: np.ndarray) -> np.ndarray:
    """Whether nose, mouth and chin are covered for the larger part (n,)."""
    return lower_share(_blocks(masks).reshape(-1, BLOCKS, BLOCKS)) > _COVERED_SHARE


def _predict(network: MLPClassifier, images: np.ndarray) -> np.ndarray:
    return network.predict_proba(covered_features(images)).reshape(-1, BLOCKS, BLOCKS)


def _calibrate(share: np.ndarray, covered: np.ndarray) -> tuple[float, float]:
    """Scale and offset that make log odds of the share those of the truth."""
    fit = LogisticRegression().fit(logit(share)[:, None], covered)
    return float(fit.coef_[0, 0]), float(fit.intercept_[0])


def _judge(
    network: MLPClassifier,
    arrays: dict[str, np.ndarray],
    crops: _Crops,
    textures: list[np.ndarray],
    n_painted: int,
    rs: np.random.RandomState,
) -> Report:
    """Rates on people and textures that were not learned from."""
    images, masks, kinds = _paint(crops, textures, n_painted, rs)
    maps = _predict(network, images)
    odds = arrays["scale"] * logit(lower_share(maps)) + arrays["offset"]
    truth = _truth(masks)
    marked, blocks = maps.reshape(len(maps), -1) > 0.5, _blocks(masks).astype(bool)
    rows: list[dict[str, Any]] = []
    grey = (images[..., 0] == images[..., 1]).all(axis=(1, 2))
    for kind in ("clean", *PLACES):
        for name, chosen in (("colour", ~grey), ("grey", grey)):
            part = (kinds == kind) & chosen
            said = int((odds[part] > 0).sum())
            low, high = wilson_interval(said, int(part.sum()))
            shared, either = (marked & blocks)[part].sum(), (marked | blocks)[part].sum()
            rows.append(
                {
                    "cover": kind,
                    "pictures": name,
                    "faces": int(part.sum()),
                    "lower face truly covered": float(truth[part].mean()),
                    "said to be covered": {
                        "value": said / part.sum(),
                        "low": float(low),
                        "high": float(high),
                    },
                    "blocks: intersection over union": float(shared / max(either, 1)),
                    "clean blocks marked": float(marked[part][~blocks[part]].mean()),
                }
            )
    report = Report(
        "Covered faces", f"{len(images):,} painted faces of {len(np.unique(crops.people)):,} people"
    )
    report.table(
        "On people and textures that were not learned from",
        rows,
        f"AUC of the lower face: {roc_auc_score(truth, odds):.4f} over all of these.",
    )
    worst = np.argsort(-np.abs(odds) * ((odds > 0) != truth))[:8]
    shown = [*rs.permutation(len(images))[:32].tolist(), *worst.tolist()]
    report.gallery(
        [_show(images[k], masks[k], maps[k]) for k in shown],
        [kinds[k] for k in shown],
        "Faces; red: found, green edge: truth. The last row shows the worst",
    )
    return report


def _show(image: np.ndarray, mask: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """A face with the found blocks in red and the truth's edge in green."""
    picture = image.astype(float)
    found = np.kron(blocks > 0.5, np.ones((8, 8), bool))
    picture[found] = 0.6 * picture[found] + [100, 0, 0]
    edge = mask & ~(np.roll(mask, 1, 0) & np.roll(mask, -1, 0) & np.roll(mask, 1, 1))
    picture[edge] = [0, 220, 0]
    return np.clip(picture, 0, 255).astype(np.uint8)
