"""Kernel class-dependence features: how strongly each training class's filter answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mien._core.constraints import NON_NEGATIVE, POSITIVE
from mien._core.linalg import median_distance
from mien._core.rows import validate_rows
from mien._core.types import FLOATS
from mien._core.validation import check_labels
from mien.errors import InputError
from mien.subspace._base import BATCH_BYTES
from mien.subspace._kernels import KERNELS, compute_kernel

__all__ = ["ClassDependenceFeatures"]


class ClassDependenceFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Kernel class-dependence feature analysis (KCFA).

    Each training class gets a correlation filter in the feature space of a kernel: the one of
    least energy that answers 1 to every training sample of its class and 0 to all others. The
    answers of all filters are the features of a new face, whose person need not be among them;
    two faces are compared by the normalised cosine of their features.

    Parameters
    ----------
    kernel : str or callable
        ``"rbf"``, ``"cosine"``, ``"linear"``, ``"polynomial"``, ``"laplacian"``, ``"sigmoid"``,
        or ``f(X, Y) -> (n, m)``.
    sigma : float or "median"
        Width of the Gaussian kernel ``exp(-|x - y|² / sigma²)``; ``"median"`` is the median
        distance of training samples.
    kernel_params : dict or None
        Further arguments of the kernel.
    regularization : float
        Added to the diagonal of the kernel, as a fraction of its mean diagonal: 0 answers exactly
        1 and 0, more is smoother.

    Attributes
    ----------
    classes_ : (n_classes,)
    filters_ : (n_training_samples, n_classes)
        Coefficients of the training samples.
    points_ : (n_training_samples, n_features)
    sigma_ : float or None

    See Also
    --------
    KernelNullSpaceProjection : Learns from groups without names.

    Notes
    -----
    With the kernel K of the training samples (not centred) and U their class indicators, the
    filters are ``(K + λ I)⁻¹ U``, and the answers to x are ``k(x, training samples) @ filters_``.
    Data in float32 are solved in float32: half the memory, for thousands of samples.

    References
    ----------
    [VijayaKumar2006]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.subspace import ClassDependenceFeatures
    >>> rng = np.random.default_rng(0)
    >>> people = np.repeat(np.arange(6), 5)
    >>> X = rng.normal(size=(6, 20))[people] + 0.3 * rng.normal(size=(30, 20))
    >>> model = ClassDependenceFeatures().fit(X[people < 4], people[people < 4])
    >>> scores = model.score_matrix(X[people >= 4])
    >>> bool(scores[0, 1] > scores[0, 5])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(set(KERNELS) - {"precomputed"}), callable],
        "sigma": [POSITIVE, StrOptions({"median"})],
        "kernel_params": [dict, None],
        "regularization": [NON_NEGATIVE],
    }

    def __init__(
        self,
        *,
        kernel: str | Callable[..., Any] = "rbf",
        sigma: float | str = "median",
        kernel_params: dict[str, Any] | None = None,
        regularization: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.sigma = sigma
        self.kernel_params = kernel_params
        self.regularization = regularization

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn a filter for each class of y (n_samples,) from X (n_samples, n_features)."""
        X, y = validate_rows(self, X, y, dtype=FLOATS, ensure_min_samples=2)
        self.classes_, codes = np.unique(
            check_labels("y", y, len(X), missing="class"), return_inverse=True
        )
        if len(self.classes_) < 2:
            raise InputError("at least two classes are needed; got one class")
        self.sigma_ = None
        if self.kernel == "rbf":
            # A fixed seed: the same data give the same width.
            self.sigma_ = median_distance(X, 0) if self.sigma == "median" else float(self.sigma)
        K = compute_kernel(X, X, self.kernel, self.sigma_, self.kernel_params)
        K = np.array(K, dtype=X.dtype)
        ridge = self.regularization * float(np.mean(np.diag(K)))
        K[np.diag_indices_from(K)] += K.dtype.type(ridge)
        targets = (codes[:, None] == np.arange(len(self.classes_))).astype(K.dtype)
        self.filters_ = _solve(K, targets)
        self.points_ = np.array(X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Answers (n_samples, n_classes) of every class's filter to X (n_samples, n_features)."""
        check_is_fitted(self, "filters_")
        X = validate_rows(self, X, dtype=FLOATS, reset=False)
        points = self.points_.astype(X.dtype, copy=False)
        filters = self.filters_.astype(X.dtype, copy=False)
        rows = max(1, BATCH_BYTES // (8 * len(points)))
        return np.concatenate(
            [
                compute_kernel(
                    X[start : start + rows], points, self.kernel, self.sigma_, self.kernel_params
                )
                @ filters
                for start in range(0, len(X), rows)
            ]
        ).astype(X.dtype, copy=False)

    def score_pairs(self, X1: Any, X2: Any) -> np.ndarray:
        """Normalised cosine (n,) of row i of X1 and row i of X2: larger is more alike."""
        first, second = self._directions(X1), self._directions(X2)
        if len(first) != len(second):
            raise InputError(f"pairs need as many rows: got {len(first)} and {len(second)}")
        return np.einsum("ij,ij->i", first, second)

    def score_matrix(self, X: Any, Y: Any = None) -> np.ndarray:
        """Normalised cosines (n, m) of every row of X with every row of Y (X where None)."""
        first = self._directions(X)
        return first @ (first if Y is None else self._directions(Y)).T

    def _directions(self, X: Any) -> np.ndarray:
        answers = self.transform(X)
        lengths = np.linalg.norm(answers, axis=1, keepdims=True)
        return answers / np.maximum(lengths, np.finfo(answers.dtype).tiny)

    @property
    def _n_features_out(self) -> int:
        return len(self.classes_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _solve(K: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """``K⁻¹ targets`` by Cholesky, or by least squares where K is not positive definite."""
    try:
        factor = linalg.cho_factor(K, lower=True, check_finite=False)
        return linalg.cho_solve(factor, targets, check_finite=False)
    except linalg.LinAlgError:
        return linalg.lstsq(K, targets, cond=1e-6, check_finite=False)[0]
