"""Pictures of a folder as vectors: learn an encoder of paired descriptors, and use it."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.atomic import atomic_path
from mien._core.progress import track
from mien._core.text import safe_text
from mien._core.validation import check_choice
from mien.errors import DataError, ImageError, InputError
from mien.features import PairedDescriptors
from mien.media import find_pictures, read_image
from mien.multiview import BagEncoder, FisherVector, MixturePCCA, MultiViewSuperVector

__all__ = ["encode", "train_encoder", "write_features"]

_CHUNK = 128


def _list_pictures(folder: str | os.PathLike[str]) -> list[Path]:
    """Every picture at any depth below a folder, in order of name; or the one file given."""
    found = find_pictures(folder)
    if not found:
        raise DataError(f"there are no pictures in {os.fspath(folder)!r}")
    return found


class _Pictures:
    """Pictures that are read when they are asked for, one at a time, so that any number fits."""

    def __init__(self, paths: Sequence[Path], colour: bool) -> None:
        self.paths = list(paths)
        self.colour = colour
        self.kept: list[Path] = []
        self.skipped: list[str] = []

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator[np.ndarray]:
        self.kept, self.skipped = [], []
        for path in self.paths:
            try:
                picture = read_image(path, colour=self.colour)
            except ImageError as error:
                self.skipped.append(str(error))
                continue
            self.kept.append(path)
            yield picture


def train_encoder(
    folder: str | os.PathLike[str],
    *,
    second: str = "lbp",
    kind: str = "super-vector",
    n_components: int = 16,
    n_latent: int = 8,
    noise: str = "diagonal",
    parts: str = "both",
    joint: bool = True,
    scaling: str = "information",
    n_init: int = 1,
    max_iter: int | None = None,
    power: float = 0.5,
    intra: bool = False,
    n_reduced: int = 32,
    patch: int = 16,
    step: int = 8,
    side: int = 128,
    max_descriptors: int = 100_000,
    random_state: int = 0,
) -> tuple[BagEncoder, dict[str, Any]]:
    """Learn descriptors and a mixture from all pictures below a folder; nobody needs to be named.

    Parameters
    ----------
    folder : path
        Pictures, at any depth.
    second : {"lbp", "colour"}
        What is described beside the gradients.
    kind : {"super-vector", "fisher"}
        The multi-view super vector, or the Fisher vector of the joint descriptors.
    n_components, n_latent, noise, n_init, max_iter
        Of the mixture; None for the last takes its default.
    parts : {"both", "latent", "gradient"}
        Z and G of a super vector, or one of them.
    joint, scaling, power, intra
        Of :class:`mien.multiview.MultiViewSuperVector`; the last two also of
        :class:`mien.multiview.FisherVector`.
    n_reduced : int
        Components of the PCA of each view.
    patch, step, side : int
        Size of a patch, distance of patches, and shorter side that larger pictures are reduced to.
    max_descriptors : int
        Most descriptors to learn from.
    random_state : int
        Seed of draws and starts.

    Returns
    -------
    model, summary : BagEncoder, dict
    """
    check_choice("kind", kind, ("super-vector", "fisher"))
    check_choice("second", second, ("lbp", "colour"))
    pictures = _Pictures(_list_pictures(folder), second == "colour")
    check_choice("parts", parts, ("both", "latent", "gradient"))
    encoder: FisherVector | MultiViewSuperVector
    shared: dict[str, Any] = {
        "power": power,
        "intra": intra,
        "max_descriptors": max_descriptors,
        "random_state": random_state,
    }
    rounds: dict[str, Any] = {} if max_iter is None else {"max_iter": max_iter}
    if kind == "fisher":
        encoder = FisherVector(n_components, **rounds, **shared)
    else:
        mixture = MixturePCCA(
            n_components,
            n_latent,
            noise=noise,
            n_init=n_init,
            tol=1e-3,
            floor=1e-4,
            random_state=random_state,
            **rounds,
        )
        encoder = MultiViewSuperVector(
            mixture,
            latent=parts != "gradient",
            gradient=parts != "latent",
            joint=joint,
            scaling=scaling,
            **shared,
        )
    model = BagEncoder(
        PairedDescriptors(
            "gradients",
            second,
            patch=patch,
            step=step,
            side=side,
            n_components=n_reduced,
            max_descriptors=max_descriptors,
            random_state=random_state,
        ),
        encoder,
    )
    encoded = model.fit_transform(pictures)
    return model, {
        "pictures": len(encoded),
        "dimensions": encoded.shape[1],
        "views": ["gradients", second],
        "skipped": pictures.skipped,
    }


def encode(model: Any, folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Encode all pictures below a folder.

    Parameters
    ----------
    model : BagEncoder
        What :func:`train_encoder` gave.
    folder : path
        Pictures, at any depth.

    Returns
    -------
    dict
        ``features`` (n, m) float32, ``files`` (n,) relative to the folder, ``labels`` (n,) the
        names of the folders that they lie in, ``skipped`` list of str.
    """
    if not isinstance(model, BagEncoder):
        raise InputError(
            f"the model is a {type(model).__name__}, not an encoder: make one with "
            "`mien crops train encoder`"
        )
    root = Path(folder)
    paths = _list_pictures(folder)
    colour = "colour" in (model.descriptors.first, model.descriptors.second)
    rows: list[np.ndarray] = []
    kept: list[Path] = []
    skipped: list[str] = []
    starts = range(0, len(paths), _CHUNK)
    for start in track(starts, "encoding pictures", len(starts)):
        pictures = _Pictures(paths[start : start + _CHUNK], colour)
        found = list(pictures)
        skipped += pictures.skipped
        if found:
            rows.append(model.transform(found).astype(np.float32))
            kept += pictures.kept
    if not rows:
        raise DataError(f"none of the pictures in {os.fspath(folder)!r} could be read")
    inside = root if root.is_dir() else root.parent
    return {
        "features": np.concatenate(rows),
        "files": np.array([path.relative_to(inside).as_posix() for path in kept]),
        "labels": np.array([path.parent.name for path in kept]),
        "skipped": skipped,
    }


def write_features(result: dict[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write what :func:`encode` gave as ``.npz`` or ``.csv``, by the name of the file.

    Vectors of faces are personal data: the file is readable by its owner only.
    """
    target = Path(path)
    check_choice("the ending of the file", target.suffix.lower(), (".npz", ".csv"))
    with atomic_path(target, private=True) as partial:
        if target.suffix.lower() == ".npz":
            with open(partial, "wb") as file:
                np.savez_compressed(
                    file,
                    features=result["features"],
                    files=result["files"],
                    labels=result["labels"],
                )
        else:
            _write_csv(result, partial)
    return target


def _write_csv(result: dict[str, Any], path: Path) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["file", "label", *range(result["features"].shape[1])])
        for name, label, row in zip(
            result["files"], result["labels"], result["features"], strict=True
        ):
            words = safe_text(name, "csv"), safe_text(label, "csv")
            writer.writerow([*words, *(f"{value:.6g}" for value in row)])
