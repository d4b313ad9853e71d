"""What names faces: an engine's vectors, a verifier of them, and the card that goes with both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from mien import verification
from mien._core.validation import check_choice
from mien.errors import InputError, ModelDamagedError
from mien.files import Deferred

if TYPE_CHECKING:
    from mien.verification import (
        CameraModel,
        ImpostorPrior,
        JointBayesian,
        OwnCalibration,
        Scorer,
        Verifier,
    )

__all__ = ["FaceModel"]


class FaceModel:
    """A verifier with the engine whose vectors it compares, and a card that says what it is.

    Parameters
    ----------
    engine : str or None
        Name of the engine that makes the vectors of pictures, such as "sface"; None for vectors
        from elsewhere.
    verifier : Verifier
        Fitted on such vectors; its model's ``features`` say what they are.
    card : dict
        Plain values: what it was learned from, what it reaches, known limits.

    Attributes
    ----------
    scorer : Scorer
        What compares and decides, as plain arrays.
    verifier : Verifier
        The estimator; where the model was read from a file, it is constructed on first use.
    features : str
        What the vectors are, as the engine describes them.
    n_features : int
        Their length.
    source : JointBayesian
        The model of the foreign people, which an adaptation starts from.

    See Also
    --------
    mien.recognition.load_model : The model that mien ships, or one of your own.
    mien.gallery.Gallery : Stores one, with the people.

    Notes
    -----
    A file holds means, covariances and calibrations in single precision: no picture and no vector
    of a person.

    Examples
    --------
    >>> from mien.recognition import load_source
    >>> shipped = load_source("sface")
    >>> shipped.engine, shipped.card["people"]
    ('sface', 5749)
    >>> bool(shipped.scorer.threshold(far=1e-4) > shipped.scorer.threshold(far=1e-2))
    True
    """

    def __init__(self, engine: str | None, verifier: Verifier, card: dict[str, Any]) -> None:
        held: Any = verifier
        if isinstance(held, Deferred):
            held = _read_scorer(held)
        elif isinstance(held, verification.Verifier) and hasattr(held, "thresholds_"):
            if held.steps_ is not None:
                raise InputError(
                    "the verifier is the last step of a pipeline, and a gallery cannot apply the "
                    "others: enrol the vectors that reach the last step"
                )
            held = held.scorer
        else:
            raise InputError(f"a FaceModel needs a fitted Verifier; got {type(verifier).__name__}")
        if not held.features_:
            raise InputError(
                "the verifier does not say what its vectors are: fit its model with features="
            )
        self.engine = engine
        self.scorer: Scorer = held
        self.card = card
        self._verifier: Verifier | Deferred = verifier

    @property
    def verifier(self) -> Verifier:
        """The estimator, for what learns; `scorer` is enough, and loads faster, for decisions."""
        held = self._verifier
        if isinstance(held, Deferred):
            built: Verifier = held.build()
            self._verifier = held = built
        return held

    @classmethod
    def of(cls, model: FaceModel | Verifier) -> FaceModel:
        """The model itself, or one around a verifier of vectors from elsewhere."""
        return model if isinstance(model, FaceModel) else cls(None, model, {})

    @staticmethod
    def takes(model: Any) -> bool:
        """Whether :meth:`of` makes a model of it."""
        # In this order: where it is a FaceModel, the estimators are not imported.
        return isinstance(model, FaceModel) or isinstance(model, verification.Verifier)  # noqa: SIM101

    @property
    def features(self) -> str:
        """What the vectors are."""
        return str(self.scorer.features_)

    @property
    def n_features(self) -> int:
        """Length of a vector."""
        return self.scorer.n_features_in_

    @property
    def source(self) -> JointBayesian:
        """The model of the foreign people: what an adaptation starts from."""
        model = self.verifier.model_
        return model.source if isinstance(model, verification.TransferJointBayesian) else model

    def prior(self, impostors: str = "lookalikes") -> ImpostorPrior:
        """What is expected of the impostors at a new place, before anything of it is seen.

        Parameters
        ----------
        impostors : {"lookalikes", "strangers"}
            Who is expected to be mistaken for whom: people who look alike, as family, colleagues
            or one country, or strangers drawn at random. The card says what each rests on.
        """
        check_choice("impostors", impostors, verification.IMPOSTORS)
        held = self.card.get("impostor priors", {})
        if impostors not in held:
            return verification.OwnCalibration.of(impostors).prior
        return verification.ImpostorPrior.from_dict(held[impostors])

    @property
    def camera(self) -> CameraModel | None:
        """How pictures show their camera; None where the card does not say."""
        held = self.card.get("camera")
        return None if held is None else verification.CameraModel.from_dict(held)

    def calibrate(self, impostors: str = "lookalikes") -> OwnCalibration:
        """The calibration that the card supports: its priors, and whom it was adapted to."""
        prior = self.prior(impostors)
        if "calibration" not in self.card:
            return verification.OwnCalibration(impostors, prior)
        held = verification.OwnCalibration.from_dict(self.card["calibration"])
        return replace(held, impostors=impostors, prior=held.prior.of_kind(prior))

    def __repr__(self) -> str:
        return f"<FaceModel for {self.features}>"

    def to_arrays(self) -> dict[str, Any]:
        """Plain values that :meth:`from_arrays` takes back, for saving; single precision."""
        return {"engine": self.engine, "card": self.card, "verifier": self.verifier.slim()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> Self:
        """Build the model from :meth:`to_arrays`."""
        if set(arrays) != {"engine", "card", "verifier"} or not isinstance(arrays["card"], dict):
            raise ModelDamagedError("a FaceModel has no engine, no verifier or no card")
        if not isinstance(arrays["engine"], (str, type(None))):
            raise ModelDamagedError(f"a FaceModel has the engine {arrays['engine']!r:.40}")
        return cls(**arrays)


def _read_scorer(verifier: Deferred) -> Scorer:
    """What decides, from a verifier in a file that is not constructed yet."""
    names = ("candidates_", "probe_sizes_", "sizes_", "coefficients_", "thresholds_")
    held = verifier.values()
    if held.fitted is None:
        raise ModelDamagedError("the verifier of a FaceModel is not fitted")
    return verification.Scorer(held.model, *(held.fitted[name] for name in names))
