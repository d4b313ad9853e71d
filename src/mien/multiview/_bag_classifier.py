"""Classes of bags: an encoder, then a linear support vector machine, one against all."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.svm import LinearSVC
from sklearn.utils import Tags, assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mien._core.constraints import POSITIVE
from mien.errors import InputError
from mien.multiview._bag_encoder import BagEncoder
from mien.multiview._fisher_vector import FisherVector
from mien.multiview._super_vector import MultiViewSuperVector

__all__ = ["BagClassifier"]

BagEncoders = MultiViewSuperVector | FisherVector | BagEncoder


class BagClassifier(ClassifierMixin, BaseEstimator):
    """Encode bags and tell their classes apart by linear support vector machines.

    Parameters
    ----------
    encoder : FisherVector, MultiViewSuperVector, BagEncoder or None
        What makes a vector of a sample; None takes a :class:`FisherVector` with its defaults.
    C : float
        Strength of the data against the margin.

    Attributes
    ----------
    classes_ : (n_classes,)
        The classes.
    encoder_, machine_ : estimators
        The fitted encoder and the fitted LinearSVC.

    See Also
    --------
    BagEncoder : From pictures to vectors, without a classifier.
    MultiViewSuperVector : The encoding of two views.

    Notes
    -----
    A sample is what the encoder takes: a bag for a :class:`FisherVector`, a pair of paired bags for
    a :class:`MultiViewSuperVector` (``X`` is then the pair of both views' bags), a picture for a
    :class:`BagEncoder`.

    References
    ----------
    [Cai2014]_, [Perronnin2010]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.multiview import BagClassifier, FisherVector
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(30, 2)) + 2 * (i % 2) for i in range(20)]
    >>> names = ["odd" if i % 2 else "even" for i in range(20)]
    >>> model = BagClassifier(FisherVector(2, random_state=0)).fit(bags[:10], names[:10])
    >>> float(model.score(bags[10:], names[10:]))
    1.0
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - scikit-learn's grammar
        "encoder": [FisherVector, MultiViewSuperVector, BagEncoder, None],
        "C": [POSITIVE],
    }

    def __init__(self, encoder: BagEncoders | None = None, *, C: float = 10.0) -> None:
        self.encoder = encoder
        self.C = C

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> BagClassifier:
        """Learn the encoder from samples, and one linear machine per class from their labels.

        Parameters
        ----------
        X : samples
            What the encoder takes: pictures, bags of descriptors, or a pair of bags for two views.
        y : (n_samples,)
            Labels, strings or integers.

        Returns
        -------
        BagClassifier
            Itself.
        """
        if y is None:
            raise ValueError("BagClassifier requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        encoder = FisherVector() if self.encoder is None else clone(self.encoder)
        if isinstance(encoder, MultiViewSuperVector):
            encoded = encoder.fit_transform(*_two_views(X))
        else:
            encoded = encoder.fit_transform(X)
        if len(encoded) != len(y):
            raise InputError(f"there are {len(encoded)} samples and {len(y)} labels")
        if len(np.unique(y)) < 2:
            raise InputError("two classes or more are needed; got one class")
        self.encoder_ = encoder
        # One against all is what LinearSVC does with more than two classes.
        self.machine_ = LinearSVC(C=self.C, dual=True, max_iter=5000, random_state=0)
        self.machine_.fit(encoded, y)
        self.classes_ = self.machine_.classes_
        if hasattr(encoder, "n_features_in_"):
            self.n_features_in_: int = encoder.n_features_in_
        return self

    def encode(self, X: Any) -> np.ndarray:
        """Encode samples, as the machines see them.

        Parameters
        ----------
        X : samples
            As in :meth:`fit`.

        Returns
        -------
        (n_samples, m)
            One vector per sample, for retrieval or for another classifier.
        """
        check_is_fitted(self)
        if isinstance(self.encoder_, MultiViewSuperVector):
            return self.encoder_.transform(*_two_views(X))
        return self.encoder_.transform(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """Signed distances from the machines' planes.

        Parameters
        ----------
        X : samples
            As in :meth:`fit`.

        Returns
        -------
        (n_samples,) for two classes, or (n_samples, n_classes)
            Similarities: larger means more alike. They are not probabilities.
        """
        encoded = self.encode(X)
        return self.machine_.decision_function(encoded)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each sample.

        Parameters
        ----------
        X : samples
            As in :meth:`fit`.

        Returns
        -------
        (n_samples,)
            The label whose machine gives the largest distance.
        """
        encoded = self.encode(X)
        return self.machine_.predict(encoded)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def _two_views(X: Any) -> tuple[Any, Any]:
    if not isinstance(X, (tuple, list)) or len(X) != 2:
        raise InputError(
            "the encoder takes two views: X must be the pair (bags of view 1, bags of view 2); "
            f"got {type(X).__name__}"
        )
    return X[0], X[1]
