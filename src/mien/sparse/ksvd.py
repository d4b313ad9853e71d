"""K-SVD: a dictionary in which every sample is a combination of few atoms."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from mien.errors import InputError
from mien.sparse._atoms import bound_rows, find_idle, replace_atoms, start_atoms, unit_rows
from mien.sparse._checkpoint import TrainingState, read_state, write_state
from mien.sparse._training import (
    MAX_SEED,
    Settings,
    Step,
    run_rounds,
    step_in_batches,
    step_in_memory,
)
from mien.sparse._updates import UPDATES, CodeStatistics
from mien.sparse.omp import pursue

__all__ = ["KSVD"]

Batches = Callable[[], Iterable[np.ndarray]] | Iterable[np.ndarray]


class KSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn atoms such that each sample is a combination of at most ``n_nonzero`` of them.

    Sparse coding by orthogonal matching pursuit and an update of the atoms take turns. A plain
    scikit-learn transformer: ``transform`` gives sparse codes, ``inverse_transform`` the samples.

    Parameters
    ----------
    n_atoms : int or None
        Size of the dictionary; None takes twice the number of features, and no more than samples.
    n_nonzero : int or None
        Most atoms a sample may use; None takes a tenth of the features, at least one.
    tol : float or None
        Stop coding a sample when its squared residual is at or below this.
    max_iter : int
        Rounds of coding and updating.
    update : {"power", "exact"}
        One power step an atom (as good after a few rounds, and far quicker), or the SVD of the
        original method. Not used in batches.
    batch_size : int or None
        None keeps the data and their residual in memory. A number codes so many samples at a
        time and updates the atoms from sums over a whole pass (:meth:`fit_batches`).
    shrinkage : float or None
        Largest entry of an atom; larger ones are scaled down and their coefficients up.
    max_coherence : float
        Atoms whose cosine exceeds this are duplicates; they and the unused ones are replaced by
        the samples that are represented worst.
    forget : float
        What the past counts for at each :meth:`partial_fit`.
    init : (n_atoms, d) or None
        Atoms to start from; None takes samples.
    warm_start : bool
        Start from the atoms of the last ``fit``.
    min_improvement : float
        Stop when the objective improves by less than this share; 0 runs all rounds.
    checkpoint : path or None
        File that holds the state after every round. ``fit`` goes on from it when it is there, to
        the same result as without the interruption, and removes it in the end.
    callback : callable or None
        Called after every round as ``callback(model, iteration, objective)``; True stops.
    dtype : {"float32", "float64"}
        Precision of all work and of what comes out.
    random_state : int, RandomState or None
        Seed of the start and of replacements.

    Attributes
    ----------
    components_ : (n_atoms, d)
        The dictionary, one atom a row, of length one unless ``shrinkage`` is set.
    objective_ : (n_iter,)
        Mean squared residual after each round.
    n_iter_ : int
        Rounds done.
    n_replaced_ : int
        Atoms that were replaced on the way.

    See Also
    --------
    WeightedKSVD : weighs some of the features.
    orthogonal_matching_pursuit : the coder.

    Notes
    -----
    Codes are kept sparse throughout, and an atom is updated from the rows that use it (the
    transposed codes). Within a sweep over the atoms the objective never rises; the coding step,
    being greedy, may raise it. In batches the sums CᵀC and CᵀX of a pass stand for data of any
    size: the sweep is then that of the power update with the coefficients held. The shrinkage of
    the paper never fires as printed; here it does: when an entry of the atom exceeds the bound,
    the atom is scaled by bound/max|d_i| and its coefficients by the inverse.

    References
    ----------
    M. Aharon, M. Elad and A. Bruckstein, "K-SVD", 2006. R. Rubinstein, M. Zibulevsky and
    M. Elad, "Efficient implementation of the K-SVD algorithm using batch orthogonal matching
    pursuit", 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.sparse import KSVD
    >>> rng = np.random.default_rng(0)
    >>> atoms = rng.normal(size=(20, 10))
    >>> codes = rng.normal(size=(500, 20)) * (rng.random((500, 20)) < 0.1)
    >>> model = KSVD(20, n_nonzero=3, max_iter=15, random_state=0).fit(codes @ atoms)
    >>> bool(model.objective_[-1] < 0.5 * model.objective_[0])
    True
    >>> model.transform(codes @ atoms).shape
    (500, 20)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_atoms": [Interval(Integral, 1, None, closed="left"), None],
        "n_nonzero": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "update": [StrOptions(set(UPDATES))],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "shrinkage": [Interval(Real, 0, None, closed="neither"), None],
        "max_coherence": [Interval(Real, 0, 1, closed="right")],
        "forget": [Interval(Real, 0, 1, closed="right")],
        "init": ["array-like", None],
        "warm_start": ["boolean"],
        "min_improvement": [Interval(Real, 0, None, closed="left")],
        "checkpoint": [str, os.PathLike, None],
        "callback": [callable, None],
        "dtype": [StrOptions({"float32", "float64"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_atoms: int | None = None,
        *,
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
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callable[[Any, int, float], bool | None] | None = None,
        dtype: str = "float32",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_atoms = n_atoms
        self.n_nonzero = n_nonzero
        self.tol = tol
        self.max_iter = max_iter
        self.update = update
        self.batch_size = batch_size
        self.shrinkage = shrinkage
        self.max_coherence = max_coherence
        self.forget = forget
        self.init = init
        self.warm_start = warm_start
        self.min_improvement = min_improvement
        self.checkpoint = checkpoint
        self.callback = callback
        self.dtype = dtype
        self.random_state = random_state

    # ------------------------------------------------------------------ fitting

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> KSVD:
        """Learn the dictionary of X (n, d); with ``batch_size`` X may be a memory map."""
        return self._fit(X)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_batches(self, batches: Batches) -> KSVD:
        """Learn from data larger than memory.

        Parameters
        ----------
        batches : callable or iterable
            Gives batches (n_i, d), the same at every pass: a function that returns an iterator,
            or something that can be iterated again and again. The start is taken from the first
            batch, which should hold at least ``n_atoms`` samples.
        """
        return self._fit_batches(batches)

    def partial_fit(self, X: Any, y: Any = None) -> KSVD:
        """Code a mini-batch (n, d), add it to fading sums, and sweep the atoms once."""
        first = not hasattr(self, "components_")
        if first:
            self._validate_params()
        X = validate_data(self, X, dtype=self.dtype, order="C", reset=first)
        if first:
            self._prepare()
        X = self._weigh(X)
        if first:
            self._settle(X)
            rng = check_random_state(self.random_state)
            self._set_atoms(start_atoms(X, self.n_atoms_, rng))
            self.objective_, self.n_iter_, self.n_replaced_ = np.zeros(0), 0, 0
        atoms = self._atoms()
        sums = CodeStatistics(atoms.shape[0], atoms.shape[1], atoms.dtype)
        if hasattr(self, "code_sums_"):
            sums.codes[:], sums.data[:] = self.code_sums_, self.data_sums_
        codes, left = pursue(X, atoms, n_nonzero=self.n_nonzero_, tol=self.tol)
        sums.update(codes, X, self.forget)
        new = bound_rows(unit_rows(sums.sweep(atoms), atoms), self.shrinkage or 0.0)
        usage = sums.codes.diagonal()
        idle = find_idle(new, usage, self.max_coherence)
        worst = X[np.argsort(-left, kind="stable")[: idle.size]]
        self.n_replaced_ += replace_atoms(new, idle, worst, np.random.RandomState(self.n_iter_))
        sums.clear(idle)
        self.code_sums_: np.ndarray = sums.codes
        self.data_sums_: np.ndarray = sums.data
        self._set_atoms(new)
        self.n_iter_ += 1
        self.objective_ = np.append(self.objective_, np.mean(left, dtype=np.float64))
        return self

    # ------------------------------------------------------------------ using

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Sparse codes (n, n_atoms) of X (n, d)."""
        check_is_fitted(self)
        X = self._weigh(validate_data(self, X, dtype=self.dtype, order="C", reset=False))
        return pursue(X, self._atoms(), n_nonzero=self.n_nonzero_, tol=self.tol)[0]

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Samples (n, d) of codes X (n, n_atoms), sparse or not."""
        check_is_fitted(self)
        return np.asarray(X @ self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = [self.dtype]
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    # ------------------------------------------------------------------ parts

    def _prepare(self) -> None:
        """Settle what :meth:`_weigh` needs, once the number of features is known."""

    def _weigh(self, X: np.ndarray) -> np.ndarray:
        """Samples in the space in which atoms have length one; here their own."""
        return X

    def _atoms(self) -> np.ndarray:
        """The dictionary in that space."""
        return np.asarray(self.components_)

    def _set_atoms(self, atoms: np.ndarray) -> None:
        self.components_ = atoms

    def _fit(self, X: Any) -> KSVD:
        if self.batch_size is not None:
            X = validate_data(self, X, dtype=[np.float32, np.float64])
            return self._fit_stream(lambda: _split(X, self.batch_size or len(X)), X, len(X))
        X = validate_data(self, X, dtype=self.dtype, order="C")
        self._prepare()
        X = self._weigh(X)
        self._settle(X)
        return self._learn(step_in_memory(X, self._settings()), X, len(X))

    def _fit_batches(self, batches: Batches) -> KSVD:
        if not callable(batches) and iter(batches) is batches and self.max_iter > 1:
            raise InputError(
                "an iterator is empty after one pass, and K-SVD makes several: give a function "
                "that returns a new one"
            )
        again = batches if callable(batches) else lambda: batches
        first = next(iter(again()), None)
        if first is None:
            raise InputError("there are no batches: the iterator is empty")
        return self._fit_stream(
            again, validate_data(self, first, dtype=[np.float32, np.float64]), None
        )

    def _fit_stream(
        self, again: Callable[[], Iterable[np.ndarray]], first: np.ndarray, n: int | None
    ) -> KSVD:
        """Learn from batches; ``first`` holds samples to start from."""
        self._prepare()
        wanted = self.n_atoms if self.n_atoms is not None else 2 * first.shape[1]
        start = self._weigh(np.asarray(first[: 2 * wanted], dtype=self.dtype))

        def stream() -> Iterator[np.ndarray]:
            for batch in again():
                batch = np.ascontiguousarray(batch, dtype=self.dtype)
                if batch.ndim != 2 or batch.shape[1] != self.n_features_in_:
                    raise InputError(
                        f"batches must be (n, {self.n_features_in_}); got {batch.shape}"
                    )
                yield self._weigh(batch)

        self._settle(start)
        return self._learn(step_in_batches(stream, self._settings(), n), start, n)

    def _settle(self, X: np.ndarray) -> None:
        n, d = X.shape
        self.n_atoms_ = self.n_atoms if self.n_atoms is not None else min(2 * d, n)
        wanted = self.n_nonzero if self.n_nonzero is not None else max(1, d // 10)
        self.n_nonzero_ = min(wanted, d, self.n_atoms_)

    def _settings(self) -> Settings:
        return Settings(
            self.n_nonzero_, self.tol, self.update, self.shrinkage or 0.0, self.max_coherence
        )

    def _start(self, X: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        if self.warm_start and hasattr(self, "components_"):
            atoms = self._atoms().astype(X.dtype)
        elif self.init is not None:
            atoms = self._weigh(np.array(self.init, dtype=X.dtype, ndmin=2))
        else:
            return start_atoms(X, self.n_atoms_, rng)
        if atoms.shape != (self.n_atoms_, X.shape[1]):
            raise InputError(
                f"the start must be {(self.n_atoms_, X.shape[1])}, atoms by features; "
                f"got {atoms.shape}"
            )
        return unit_rows(atoms)

    def _identity(self, X: np.ndarray, n: int | None) -> dict[str, Any]:
        """What a checkpoint must agree with: the parameters and a fingerprint of the data."""
        left_out = {"checkpoint", "callback", "random_state", "init", "warm_start", "max_iter"}
        identity = {k: v for k, v in self.get_params().items() if k not in left_out}
        identity["random_state"] = repr(self.random_state)
        identity["shape"] = [n, X.shape[1]]
        identity["data"] = float(np.sum(X[:64], dtype=np.float64))
        return {k: v.item() if isinstance(v, np.generic) else v for k, v in identity.items()}

    def _learn(self, step: Step, X: np.ndarray, n: int | None) -> KSVD:
        """Repeat the step from the start, or from the checkpoint if there is one."""
        identity = self._identity(X, n)
        state = None if self.checkpoint is None else read_state(self.checkpoint, identity)
        if state is None:
            rng = check_random_state(self.random_state)
            seed = int(rng.randint(MAX_SEED))
            state = TrainingState(self._start(X, rng), seed, 0, [], 0)

        def after(state: TrainingState) -> bool:
            self._take(state)
            if self.checkpoint is not None:
                write_state(self.checkpoint, state, identity)
            stop = self.callback is not None and self.callback(
                self, state.iteration, state.objective[-1]
            )
            return bool(stop)

        converged = run_rounds(
            state,
            step,
            self._settings(),
            max_iter=self.max_iter,
            min_improvement=self.min_improvement,
            after=after,
        )
        self._take(state)
        if not converged:
            warnings.warn(
                f"K-SVD still improves after {self.max_iter} rounds; raise max_iter, or "
                "min_improvement if the result is good enough",
                ConvergenceWarning,
                stacklevel=5,
            )
        if self.checkpoint is not None and os.path.exists(self.checkpoint):
            os.remove(self.checkpoint)
        return self

    def _take(self, state: TrainingState) -> None:
        self._set_atoms(state.atoms)
        self.objective_ = np.asarray(state.objective)
        self.n_iter_ = state.iteration
        self.n_replaced_ = state.n_replaced
        for name in ("code_sums_", "data_sums_"):
            if hasattr(self, name):
                delattr(self, name)


def _split(X: np.ndarray, size: int) -> Iterator[np.ndarray]:
    for low in range(0, len(X), size):
        yield X[low : low + size]
