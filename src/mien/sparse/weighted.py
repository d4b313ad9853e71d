"""K-SVD with some features weighted: codes that are right where a sample will be visible."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_array, check_is_fitted

from mien.errors import InputError
from mien.sparse.ksvd import KSVD, Batches
from mien.sparse.omp import pursue

__all__ = ["WeightedKSVD"]


class WeightedKSVD(KSVD):
    """Dimensionally weighted K-SVD (DW-KSVD): ‖Y − DX‖² + β ‖Y_Λ − D_Λ X‖².

    The error of the features Λ counts 1 + β times, so that a code found from them alone is also
    right for the others.

    Parameters
    ----------
    n_atoms : int or None
        Size of the dictionary; None takes twice the number of features.
    beta : float
        Extra weight of the features of the mask. 0 is plain K-SVD.
    n_nonzero, tol, max_iter, update, batch_size, shrinkage, max_coherence, forget, init, \
warm_start, min_improvement, checkpoint, callback, dtype, random_state
        As in :class:`KSVD`. ``shrinkage`` bounds the weighted atoms.

    Attributes
    ----------
    components_ : (n_atoms, d)
        The dictionary in the space of the samples; its weighted atoms have length one.
    weights_ : (d,)
        √(1 + β) for features of the mask, 1 for the others.
    mask_ : (d,) bool
        The features Λ.

    See Also
    --------
    KSVD : all other attributes.

    Notes
    -----
    Weighting by √(1 + β) is the same problem as stacking √β Y_Λ below Y; the (1 + √β) of the
    paper is not. :meth:`transform_visible` codes on D_Λ, whose columns are not of length one:
    the pursuit compares them as if they were, and gives coefficients for D.

    References
    ----------
    F. Juefei-Xu and M. Savvides, "Fastfood dictionary learning for periocular-based full face
    hallucination", 2016. The idea is the subject of US patent application 20170046562.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.sparse import WeightedKSVD
    >>> X = np.random.default_rng(0).normal(size=(200, 12))
    >>> visible = np.arange(12) < 6
    >>> model = WeightedKSVD(16, beta=4.0, n_nonzero=3, random_state=0).fit(X, mask=visible)
    >>> codes = model.transform_visible(X[:, visible])
    >>> model.inverse_transform(codes).shape
    (200, 12)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KSVD._parameter_constraints,
        "beta": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_atoms: int | None = None,
        *,
        beta: float = 10.0,
        n_nonzero: int | None = None,
        tol: float | None = None,
        max_iter: int = 20,
        update: str = "power",
        batch_size: int | None = None,
        shrinkage: float | None = None,
        max_coherence: float = 0.99,
        forget: float = 0.95,
        init: np.ndarray | None = None,
        warm_start: bool = False,
        min_improvement: float = 0.0,
        checkpoint: Any = None,
        callback: Any = None,
        dtype: str = "float32",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_atoms,
            n_nonzero=n_nonzero,
            tol=tol,
            max_iter=max_iter,
            update=update,
            batch_size=batch_size,
            shrinkage=shrinkage,
            max_coherence=max_coherence,
            forget=forget,
            init=init,
            warm_start=warm_start,
            min_improvement=min_improvement,
            checkpoint=checkpoint,
            callback=callback,
            dtype=dtype,
            random_state=random_state,
        )
        self.beta = beta

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, mask: Any = None) -> WeightedKSVD:
        """Learn from X (n, d); ``mask`` (d,) marks the features Λ, None marks all."""
        self.mask_: np.ndarray | None = None if mask is None else np.asarray(mask)
        self._fit(X)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_batches(self, batches: Batches, *, mask: Any = None) -> WeightedKSVD:
        """Learn from a stream as in :meth:`KSVD.fit_batches`, with a mask (d,)."""
        self.mask_ = None if mask is None else np.asarray(mask)
        self._fit_batches(batches)
        return self

    def partial_fit(self, X: Any, y: Any = None, *, mask: Any = None) -> WeightedKSVD:
        """Take a mini-batch (n, d); the mask of the first one stays."""
        if not hasattr(self, "components_"):
            self.mask_ = None if mask is None else np.asarray(mask)
        super().partial_fit(X)
        return self

    def transform_visible(self, X: Any, mask: Any = None) -> sparse.csr_matrix:
        """Codes (n, n_atoms) of samples of which only the masked features X (n, m) are known.

        Parameters
        ----------
        X : (n, m)
            The visible features, in their order.
        mask : (d,) bool or None
            Which features they are; None takes the mask of ``fit``.
        """
        check_is_fitted(self)
        visible = self._check_mask(np.asarray(self.mask_ if mask is None else mask))
        X = check_array(X, dtype=self.dtype, order="C")
        if X.shape[1] != int(visible.sum()):
            raise InputError(f"the mask shows {visible.sum()} features; got {X.shape[1]}")
        atoms = np.ascontiguousarray(self.components_[:, visible])
        most = min(self.n_nonzero_, X.shape[1])
        return pursue(X, atoms, n_nonzero=most, tol=self.tol)[0]

    def _check_mask(self, mask: np.ndarray) -> np.ndarray:
        if mask.dtype != bool or mask.shape != (self.n_features_in_,):
            raise InputError(
                f"a mask must be {self.n_features_in_} booleans; got {mask.dtype} {mask.shape}"
            )
        if not mask.any():
            raise InputError("the mask is empty: at least one feature must be visible")
        return mask

    def _prepare(self) -> None:
        if self.mask_ is None:
            self.mask_ = np.ones(self.n_features_in_, dtype=bool)
        mask = self._check_mask(self.mask_)
        self.weights_ = np.where(mask, np.sqrt(1 + self.beta), 1.0).astype(self.dtype)

    def _weigh(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(X * self.weights_)

    def _atoms(self) -> np.ndarray:
        return np.asarray(self.components_ * self.weights_)

    def _set_atoms(self, atoms: np.ndarray) -> None:
        self.components_ = atoms / self.weights_
