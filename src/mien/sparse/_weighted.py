"""K-SVD with some features weighted: codes that are right where a sample will be visible."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from mien._core.constraints import NON_NEGATIVE
from mien._core.rows import check_rows
from mien.errors import InputError
from mien.sparse._ksvd import KSVD
from mien.sparse._omp import pursue
from mien.sparse._training import Weighing

__all__ = ["WeightedKSVD"]


class WeightedKSVD(KSVD):
    """Dimensionally weighted K-SVD (DW-KSVD): ‖Y − DX‖² + β ‖Y_Λ − D_Λ X‖².

    The error of the visible features Λ counts 1 + β times, so that a code found from them alone
    is also right for the others.

    Parameters
    ----------
    n_atoms : int or None
        Size of the dictionary, as in :class:`KSVD`.
    visible : (n_features,) of bool or None
        The features Λ, which will be known of new samples; None marks all.
    beta : float
        Extra weight of the visible features; 0 is plain K-SVD. Faces with the upper part visible
        want 100 to 10,000; choose it on held-out people.
    n_nonzero_coefs, tol, fit_intercept, max_iter, update, batch_size, max_entry, max_coherence, \
forget, init, warm_start, min_improvement, checkpoint, callback, random_state
        As in :class:`KSVD`. ``max_entry`` bounds the weighted atoms.

    Attributes
    ----------
    components_ : (n_atoms, n_features)
        The dictionary in the space of the samples; its weighted atoms have length one.
    weights_ : (n_features,)
        √(1 + β) for visible features, 1 for the others.
    visible_ : (n_features,) of bool
        The features Λ.
    mean_, objective_, n_iter_, n_replaced_, n_atoms_, n_nonzero_coefs_, n_features_in_
        As in :class:`KSVD`.

    See Also
    --------
    KSVD : the same without weights.
    mien.completion.DictionaryCompleter : completes vectors with it, and chooses beta.

    Notes
    -----
    Weighting by √(1 + β) is the same problem as stacking √β Y_Λ below Y; the (1 + √β) of the
    paper is not. :meth:`transform_visible` codes on D_Λ, whose columns are not of length one:
    the pursuit compares them as if they were, and gives coefficients for D.

    References
    ----------
    [JuefeiXu2016]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.sparse import WeightedKSVD
    >>> X = np.random.default_rng(0).normal(size=(200, 12))
    >>> visible = np.arange(12) < 6
    >>> model = WeightedKSVD(16, visible=visible, beta=4.0, n_nonzero_coefs=3, random_state=0)
    >>> codes = model.fit(X).transform_visible(X[:, visible])
    >>> model.inverse_transform(codes).shape
    (200, 12)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KSVD._parameter_constraints,
        "visible": ["array-like", None],
        "beta": [NON_NEGATIVE],
    }

    def __init__(
        self,
        n_atoms: int | None = None,
        *,
        visible: Any = None,
        beta: float = 100.0,
        n_nonzero_coefs: int | None = None,
        tol: float | None = None,
        fit_intercept: bool = True,
        max_iter: int = 20,
        update: str = "power",
        batch_size: int | None = None,
        max_entry: float | None = None,
        max_coherence: float = 0.99,
        forget: float = 0.95,
        init: np.ndarray | None = None,
        warm_start: bool = False,
        min_improvement: float = 0.0,
        checkpoint: Any = None,
        callback: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_atoms,
            n_nonzero_coefs=n_nonzero_coefs,
            tol=tol,
            fit_intercept=fit_intercept,
            max_iter=max_iter,
            update=update,
            batch_size=batch_size,
            max_entry=max_entry,
            max_coherence=max_coherence,
            forget=forget,
            init=init,
            warm_start=warm_start,
            min_improvement=min_improvement,
            checkpoint=checkpoint,
            callback=callback,
            random_state=random_state,
        )
        self.visible = visible
        self.beta = beta

    def transform_visible(self, X: Any, visible: Any = None) -> sparse.csr_matrix:
        """Codes (n, n_atoms) of samples of which only the visible features X (n, m) are known.

        Parameters
        ----------
        X : (n, m)
            The visible features, in their order.
        visible : (n_features,) of bool or None
            Which features they are; None takes those of ``fit``.
        """
        check_is_fitted(self)
        shown = self._check_visible(self.visible_ if visible is None else visible)
        X = check_rows(X, dtype=[np.float64, np.float32], order="C")
        if X.shape[1] != int(shown.sum()):
            raise InputError(f"{shown.sum()} features are visible; got {X.shape[1]}")
        atoms = np.ascontiguousarray(self.components_[:, shown], dtype=X.dtype)
        centred = np.ascontiguousarray(X - self.mean_[shown].astype(X.dtype))
        most = min(self.n_nonzero_coefs_, X.shape[1])
        return pursue(centred, atoms, n_nonzero_coefs=most, tol=self.tol)[0]

    def _check_visible(self, visible: Any) -> np.ndarray:
        shown = np.asarray(visible)
        if shown.dtype != bool or shown.shape != (self.n_features_in_,):
            raise InputError(
                f"visible must be {self.n_features_in_} booleans; got {shown.dtype} {shown.shape}"
            )
        if not shown.any():
            raise InputError("at least one feature must be visible")
        return shown

    def _prepare(self, mean: np.ndarray, dtype: np.dtype) -> None:
        super()._prepare(mean, dtype)
        everything = np.ones(self.n_features_in_, dtype=bool)
        self.visible_ = self._check_visible(everything if self.visible is None else self.visible)
        self.weights_ = np.where(self.visible_, np.sqrt(1 + self.beta), 1.0).astype(dtype)

    def _weighing(self) -> Weighing:
        return Weighing(self.mean_, self.weights_)

    def _scale(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(rows * self.weights_.astype(rows.dtype, copy=False))

    def _atoms(self) -> np.ndarray:
        return self._scale(self.components_)

    def _set_atoms(self, atoms: np.ndarray) -> None:
        self.components_ = atoms / self.weights_
