"""Draw ``docs/_static/rendered_contact_sheet.png`` and print the figures of ``docs/rendered.md``.

Run it as ``python docs/make_contact_sheet.py`` from the root of the repository.
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from PIL import Image
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from mien.datasets import make_faces

HERE = Path(__file__).parent
SIDE = 88
COLUMNS = 12


def _strip(images: np.ndarray) -> np.ndarray:
    """Lay pictures (n, h, w[, 3]) out in rows of COLUMNS, as RGB."""
    if images.ndim == 3:
        images = np.repeat(images[..., None], 3, axis=-1)
    rows = images.reshape(-1, COLUMNS, SIDE, SIDE, 3)
    return np.concatenate([np.concatenate(list(row), axis=1) for row in rows], axis=0)


def draw() -> Path:
    """Write the contact sheet: many people, three of them again and again, covers, cameras."""
    colour = {"size": SIDE, "colour": True, "random_state": 8}
    bands = [
        _strip(make_faces(36, 1, variation=0, **colour).images),
        *(
            _strip(make_faces(1, COLUMNS, first_person=who, **colour).images)
            for who in (1, 9, 10)
        ),
        _strip(make_faces(COLUMNS, 1, first_picture=2, **{**colour, "colour": False}).images),
        _strip(
            np.concatenate(
                [
                    make_faces(
                        3, 1, first_person=first, cover=kind, glasses=part, **colour
                    ).images
                    for first, kind, part in (
                        (6, "mask", 0), (9, "scarf", 0), (12, "bar", 0), (15, None, 1)
                    )
                ]
            )
        ),
        _strip(make_faces(COLUMNS, 1, first_picture=2, camera="second", **colour).images),
    ]  # fmt: skip
    bands[1:4] = [np.concatenate(bands[1:4])]
    gap = np.ones((6, COLUMNS * SIDE, 3), dtype=np.float32)
    parts = [part for band in bands for part in (band, gap)][:-1]
    path = HERE / "_static" / "rendered_contact_sheet.png"
    path.parent.mkdir(exist_ok=True)
    sheet = Image.fromarray((np.concatenate(parts) * 255 + 0.5).astype(np.uint8))
    sheet.save(path, optimize=True)
    return path


def print_figures(n_seeds: int = 5) -> None:
    """Print what recognition and detection do on the pictures, with the spread over seeds."""
    lines: dict[str, list[float]] = {}
    for seed in range(n_seeds):
        first = make_faces(40, 8, size=32, random_state=seed)
        second = make_faces(40, 8, size=32, camera="second", random_state=seed)
        train, y = first.metadata["picture"] < 4, first.people
        nearest = KNeighborsClassifier(1)
        lda = make_pipeline(PCA(60, random_state=0), LinearDiscriminantAnalysis())
        for name, model in (("nearest neighbour", nearest), ("PCA 60 + LDA", lda)):
            model.fit(first.vectors()[train], y[train])
            for camera, faces in (("same camera", first), ("second camera", second)):
                score = model.score(faces.vectors()[~train], y[~train])
                lines.setdefault(f"{name}, {camera}", []).append(100 * score)
    print("40 people, 4 + 4 pictures of 32×32 pixels, correct in per cent (chance 2.5):")
    for name, scores in lines.items():
        print(f"  {name:<34} {np.mean(scores):5.1f} ± {np.std(scores):.1f} over {n_seeds} seeds")
    cascade = cv2.CascadeClassifier(cv2.data.haarcascades + "haarcascade_frontalface_default.xml")
    for name, variation in (("neutral", 0), ("ordinary nuisance", 1)):
        faces = make_faces(500, 1, size=128, variation=variation, random_state=0)
        found = [
            len(cascade.detectMultiScale((p * 255).astype(np.uint8), 1.1, 3)) == 1
            for p in faces.images
        ]
        print(f"frontal-face cascade, exactly one face, 128 pixels, {name}: {np.sum(found)} of 500")


if __name__ == "__main__":
    print(f"wrote {draw()}")
    print_figures()
