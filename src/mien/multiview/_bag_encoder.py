"""From pictures to one vector each: paired descriptors, then an encoder of bags."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
    clone,
)
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted

from mien.multiview._bags import join_views
from mien.multiview._fisher_vector import FisherVector
from mien.multiview._super_vector import MultiViewSuperVector

__all__ = ["BagEncoder"]


class BagEncoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Describe samples by pairs of local descriptors and encode these as one vector.

    Parameters
    ----------
    descriptors : transformer
        What makes two bags of paired descriptors of each sample, such as
        :class:`mien.features.PairedDescriptors` for pictures.
    encoder : MultiViewSuperVector, FisherVector or None
        What encodes them; a :class:`FisherVector` encodes the joint vectors of both views. None
        takes a :class:`MultiViewSuperVector` with its defaults.

    Attributes
    ----------
    descriptors_, encoder_ : estimators
        The fitted ones.

    See Also
    --------
    MultiViewSuperVector : Encodes bags of two views.
    FisherVector : Encodes bags of one view.
    mien.features.PairedDescriptors : Descriptors of pictures, in two views.

    References
    ----------
    [Cai2014]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.features import PairedDescriptors
    >>> from mien.multiview import BagEncoder, FisherVector
    >>> pictures = np.random.default_rng(0).random((6, 32, 32))
    >>> encoder = BagEncoder(PairedDescriptors(n_components=8), FisherVector(4, random_state=0))
    >>> encoder.fit_transform(pictures).shape
    (6, 128)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - scikit-learn's grammar
        "descriptors": [HasMethods(["fit", "transform"])],
        "encoder": [MultiViewSuperVector, FisherVector, None],
    }

    def __init__(
        self, descriptors: Any, encoder: MultiViewSuperVector | FisherVector | None = None
    ) -> None:
        self.descriptors = descriptors
        self.encoder = encoder

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> BagEncoder:
        """Learn the reductions and the mixture from samples without labels.

        Parameters
        ----------
        X : samples
            Pictures, as the describer takes them.
        y : None
            Ignored.
        """
        self._fit(X)
        return self

    @_fit_context(prefer_skip_nested_validation=False)
    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Learn and encode the same samples, which are described once."""
        return self._encode(*self._fit(X))

    def transform(self, X: Any) -> np.ndarray:
        """Encode samples.

        Parameters
        ----------
        X : samples
            Pictures, as in :meth:`fit`.

        Returns
        -------
        (n_samples, n_features_out)
            One row per picture; inner products of rows are similarities.
        """
        check_is_fitted(self)
        return self._encode(*self.descriptors_.transform(X))

    @property
    def _n_features_out(self) -> int:
        return int(self.encoder_._n_features_out)

    def _fit(self, X: Any) -> tuple[Any, Any]:
        self.descriptors_ = clone(self.descriptors)
        first, second = self.descriptors_.fit_transform(X)
        encoder = MultiViewSuperVector() if self.encoder is None else clone(self.encoder)
        if isinstance(encoder, FisherVector):
            self.encoder_ = encoder.fit(join_views(first, second))
        else:
            self.encoder_ = encoder.fit(first, second)
        return first, second

    def _encode(self, first: Any, second: Any) -> np.ndarray:
        if isinstance(self.encoder_, FisherVector):
            return self.encoder_.transform(join_views(first, second))
        return self.encoder_.transform(first, second)
