"""Do two pictures show one person?"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit

from mien.errors import DataError, ImageError, NotEnoughDataError
from mien.faces import FoundFace, PictureResult, align_face, analyse_pictures
from mien.gallery import FaceModel
from mien.media import caption_pictures, read_image
from mien.recognition._models import engine_of, load_model
from mien.recognition._people import check_rate

__all__ = ["Verification", "verify"]

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Verification:
    """What two pictures say about "one person".

    Attributes
    ----------
    log_ratio : float
        Calibrated natural-log likelihood ratio of one person against two.
    probability : float
        That both show one person, under ``prior``.
    prior : float
        Probability before the pictures were looked at.
    same : bool or None
        The decision: by the probability, or at ``far``; None where the model cannot promise it.
    far : float or None
        The false accept rate that was asked for.
    threshold : float or None
        The log ratio from which on the answer is "one person".
    reason : str
        Why there is no decision.
    paths : (Path, Path)
        The two files.
    n_faces : (int, int)
        Faces found in each; the largest one was taken.
    faces : (FoundFace, FoundFace)
        The two faces.
    model : str
        Features of the model.
    """

    log_ratio: float
    probability: float
    prior: float
    same: bool | None
    far: float | None
    threshold: float | None
    reason: str
    paths: tuple[Path, Path]
    n_faces: tuple[int, int]
    model: str
    faces: tuple[FoundFace, FoundFace] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; no template."""
        return {
            "same": self.same,
            "log_ratio": self.log_ratio,
            "probability": self.probability,
            "prior": self.prior,
            "far": self.far,
            "threshold": self.threshold,
            "reason": self.reason,
            "calibrated": True,
            "pictures": [
                {
                    "file": str(path),
                    "faces": count,
                    "box": [round(float(value), 1) for value in face.face.box],
                    "quality": None if face.quality is None else float(face.quality.score),
                }
                for path, count, face in zip(self.paths, self.n_faces, self.faces, strict=True)
            ],
            "model": self.model,
        }

    def in_words(self) -> str:
        """The verdict in a few words."""
        return {True: "the same person", False: "two people", None: "no decision"}[self.same]

    def draw(self) -> np.ndarray:
        """Both faces side by side with the verdict, (h, w, 3) uint8."""
        crops = [
            align_face(read_image(path, colour=True), face.face)
            for path, face in zip(self.paths, self.faces, strict=True)
        ]
        colour = {True: "#007a53", False: "#b04a00", None: "#606060"}[self.same]
        return caption_pictures(
            crops,
            [path.name for path in self.paths],
            f"{self.in_words()}: log ratio {self.log_ratio:+.1f}",
            colour=colour,
        )


def verify(
    a: PathLike,
    b: PathLike,
    *,
    model: FaceModel | PathLike | None = None,
    engine: str | None = None,
    far: float | None = None,
    prior: float = 0.5,
) -> Verification:
    """Say how much more likely two pictures are of one person than of two.

    Parameters
    ----------
    a, b : path
        Two pictures. Where several faces are found, the largest is taken.
    model : FaceModel, path or None
        From :func:`adapt`; None takes the shipped one.
    engine : {"sface", "dlib"} or None
        Which faces and vectors; None is the model's, or "sface".
    far : float or None
        Decide so that at most this part of pairs of two people are taken for one; None decides
        by the probability.
    prior : float
        Probability of one person before looking.

    Returns
    -------
    Verification

    Examples
    --------
    >>> from mien.recognition import verify
    >>> verify("a.jpg", "b.jpg").log_ratio                                  # doctest: +SKIP
    11.3
    """
    check_rate("prior", prior)
    if far is not None:
        check_rate("far", far)
    model = load_model(model, engine)
    results = list(analyse_pictures([a, b], engine_of(model), n_jobs=1))
    faces = [_largest(result) for result in results]
    vectors = [face.vector[None].astype(np.float64) for face in faces]
    ratio = float(model.verifier.score_pairs(*vectors)[0])
    threshold, reason = -float(logit(prior)), ""
    same: bool | None
    if far is not None:
        try:
            threshold = model.verifier.threshold(far, size=1)
        except NotEnoughDataError as error:
            threshold, reason = float("nan"), str(error)
    same = None if reason else ratio >= threshold
    return Verification(
        log_ratio=ratio,
        probability=float(expit(ratio + logit(prior))),
        prior=prior,
        same=same,
        far=far,
        threshold=None if reason else threshold,
        reason=reason,
        paths=(results[0].path, results[1].path),
        n_faces=(len(results[0].faces), len(results[1].faces)),
        model=model.features,
        faces=(faces[0], faces[1]),
    )


def _largest(result: PictureResult) -> FoundFace:
    if result.error is not None:
        raise ImageError(result.error)
    if not result.faces:
        raise DataError(f"no face was found in {str(result.path)!r}")
    return result.faces[0]
