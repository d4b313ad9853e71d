"""Do two pictures show one person?"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from mien._core.types import PathLike
from mien.errors import DataError, ImageError, NotEnoughDataError
from mien.faces import FoundFace, PictureResult, align_face, analyse_pictures
from mien.gallery import FaceModel
from mien.media import caption_pictures, read_image
from mien.recognition._models import engine_of, open_model
from mien.recognition._people import check_rate

if TYPE_CHECKING:
    from mien.gallery import Gallery
    from mien.verification import OwnCalibration

__all__ = ["Verification", "check_there", "compare_faces", "verify"]


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
        Probability before the pictures were compared.
    same : bool or None
        The decision at ``far``; None where the model does not support that rate. It is also the
        truth value of the result, ``if verify(a, b):``, which is an error where it is None.
    far : float
        The false accept rate at which it was decided.
    threshold : float or None
        The log ratio from which on the answer is "one person".
    promised : True, "shipped" or False
        True: those to whom the model was adapted, or the people of the gallery, support the rate.
        "shipped": it rests on the model's card. False: nothing supports it.
    bound : float
        Upper end of the 95 % interval of the realised rate, over places that the model never saw.
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
    far: float
    threshold: float | None
    promised: bool | str
    bound: float
    reason: str
    paths: tuple[Path, Path]
    n_faces: tuple[int, int]
    model: str
    faces: tuple[FoundFace, FoundFace] = field(repr=False)

    def __bool__(self) -> bool:
        """The decision; without one there is no truth value."""
        if self.same is None:
            raise NotEnoughDataError(f"there is no decision: {self.reason}")
        return self.same

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; no template."""
        return {
            "same": self.same,
            "log_ratio": self.log_ratio,
            "probability": self.probability,
            "prior": self.prior,
            "far": self.far,
            "threshold": self.threshold,
            "promised": self.promised,
            "bound": self.bound,
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
    far: float = 0.001,
    prior: float = 0.5,
    impostors: str = "lookalikes",
    gallery: Gallery | PathLike | None = None,
    key: bytes | str | None = None,
) -> Verification:
    """Say how much more likely two pictures are of one person than of two.

    Parameters
    ----------
    a, b : path
        Two pictures. Where several faces are found, the largest is taken.
    model : FaceModel, path or None
        From :func:`adapt`; None takes the shipped one.
    engine : {"sface", "dlib", "sface+dlib"} or None
        Which faces and vectors; None is the model's, or "sface".
    far : float
        The decision: at most this share of pairs of two people may be taken for one person.
    prior : float
        Probability of one person before looking, for ``probability``; the decision does not
        depend on it.
    impostors : {"lookalikes", "strangers"}
        Who is expected to be mistaken for whom: people who look alike, as family or colleagues,
        which is careful, or strangers.
    gallery : Gallery, path or None
        Gallery whose model and calibration decide, for pictures of the same camera. Whether the two
        pictures show people of the gallery does not matter.
    key : bytes, str or None
        Of a sealed gallery.

    Returns
    -------
    Verification

    Examples
    --------
    >>> from mien.recognition import verify
    >>> answer = verify("a.jpg", "b.jpg")                                   # doctest: +SKIP
    >>> answer.log_ratio, bool(answer)                                      # doctest: +SKIP
    (11.3, True)
    """
    check_there(a, b)
    model, own = open_model(model, engine, gallery, key, impostors)
    first, second = analyse_pictures([a, b], engine_of(model), n_jobs=1)
    return compare_faces(first, second, model, far=far, prior=prior, own=own)


def check_there(*paths: PathLike) -> None:
    """Refuse pictures that do not exist, before anything is loaded."""
    for path in paths:
        if not os.path.exists(path):
            raise ImageError(f"{os.fspath(path)!r} does not exist")


def compare_faces(
    first: PictureResult,
    second: PictureResult,
    model: FaceModel,
    *,
    far: float = 0.001,
    prior: float = 0.5,
    impostors: str = "lookalikes",
    own: OwnCalibration | None = None,
) -> Verification:
    """As :func:`verify`, of pictures that were analysed already; the largest face is taken.

    Parameters
    ----------
    first, second : PictureResult
        From :func:`mien.faces.analyse_pictures`, with the engine of the model.
    model : FaceModel
        Compares them.
    far, prior, impostors
        As in :func:`verify`.
    own : OwnCalibration or None
        That of a gallery, for its kind of impostors; None is the model's.
    """
    check_rate("prior", prior)
    check_rate("far", far)
    faces = [_largest(result) for result in (first, second)]
    vectors = [face.vector[None].astype(np.float64) for face in faces]
    ratio = float(model.scorer.score_pairs(*vectors)[0])
    own, table = own or model.calibrate(impostors), model.scorer.thresholds_
    threshold: float | None = None
    reason = ""
    try:
        if not own.evidence:  # the model's own trials are all there is
            table.threshold(far, size=1)
    except NotEnoughDataError as error:
        reason = str(error)
    else:
        threshold = own.threshold(table, far, size=1)
        # In the units of those to whom the model was adapted, if it was.
        ratio, threshold = own.log_ratios(table.curve(), np.asarray([ratio, threshold])).tolist()
    return Verification(
        log_ratio=ratio,
        probability=float(expit(ratio + logit(prior))),
        prior=prior,
        same=None if threshold is None else ratio >= threshold,
        far=far,
        threshold=threshold,
        promised=False if threshold is None else own.promise(far).promised,
        bound=own.promise(far).bound,
        reason=reason,
        paths=(first.path, second.path),
        n_faces=(len(first.faces), len(second.faces)),
        model=model.features,
        faces=(faces[0], faces[1]),
    )


def _largest(result: PictureResult) -> FoundFace:
    if result.error is not None:
        raise ImageError(result.error)
    if not result.faces:
        raise DataError(f"no face was found in {str(result.path)!r}")
    return result.faces[0]
