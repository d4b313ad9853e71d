"""K-SVD: a dictionary in which every sample is a combination of few atoms."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
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
from sklearn.utils._param_validation import StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from mien._core.constraints import (
    NON_NEGATIVE,
    POSITIVE,
    POSITIVE_FRACTION,
    POSITIVE_INTEGER,
)
from mien._core.passes import BatchPasses, Passes, RunningMoments, split_rows
from mien._core.rows import check_rows, validate_rows
from mien._core.types import FLOATS
from mien.errors import InputError, NumericsWarning
from mien.sparse._atoms import bound_rows, find_idle, replace_atoms, start_atoms, unit_rows
from mien.sparse._checkpoint import TrainingState, read_state, write_state
from mien.sparse._omp import normalise_once, pursue
from mien.sparse._training import (
    KSVDSettings,
    Step,
    Weighing,
    run_rounds,
    step_in_batches,
    step_in_memory,
)
from mien.sparse._updates import UPDATES, CodeStatistics

__all__ = ["KSVD"]

Batches = Callable[[], Iterable[np.ndarray]] | Iterable[np.ndarray]
# Samples for each atom, where the number of atoms is not given: atoms of fewer are noise.
_SAMPLES_PER_ATOM = 4


class KSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn atoms such that each sample is a combination of few of them.

    Sparse coding by orthogonal matching pursuit and an update of the atoms alternate. A
    scikit-learn transformer: ``transform`` gives sparse codes, ``inverse_transform`` the samples.

    Parameters
    ----------
    n_atoms : int or None
        Size of the dictionary. More atoms represent the training samples better and others worse:
        None takes twice the number of features, and at most a quarter of the number of samples.
        There are never more atoms than samples.
    n_nonzero_coefs : int or None
        Maximum number of atoms that a sample may use; None takes a tenth of the features, at
        least one. Raise it for fidelity, lower it for codes that generalise.
    tol : float or None
        Stop coding a sample when its squared residual is at most this, in squared units of the
        samples. None uses ``n_nonzero_coefs`` alone.
    fit_intercept : bool
        Subtract the mean of the samples first. Without it every atom resembles the mean, so that
        distinct atoms look like duplicates to ``max_coherence``. Set to False for samples that
        are centred already, or whose origin has a meaning.
    max_iter : int
        Rounds of coding and updating.
    update : {"power", "exact"}
        One power step per atom (as good after a few rounds, and much faster), or the SVD of the
        original method. Batches always use sums over a pass.
    batch_size : int or None
        None keeps the data and their residual in memory, which is faster and converges in fewer
        rounds. A number codes that many samples at a time and updates the atoms from sums over a
        whole pass, as :meth:`fit_batches` does: for memory maps larger than memory.
    max_entry : float or None
        Largest magnitude of an entry of an atom; an atom that exceeds it is scaled down and its
        coefficients up (the shrinkage of the dictionary paper).
    max_coherence : float
        Atoms whose cosine exceeds this are duplicates; duplicates and unused atoms are replaced
        by the samples that are represented worst.
    forget : float
        Weight of the past at each :meth:`partial_fit`, in (0, 1].
    init : (n_atoms, n_features) or None
        Atoms to start from, as ``components_`` are; None takes random samples.
    warm_start : bool
        Start from the atoms of the previous ``fit``.
    min_improvement : float
        Stop when the objective improves by less than this share in a round; 0 runs all rounds.
    checkpoint : path or None
        File that holds the state after every round. ``fit`` continues from it if it exists, with
        the same result as without the interruption, and removes it at the end.
    callback : callable or None
        Called after every round as ``callback(model, iteration, objective)``; True stops.
    random_state : int, RandomState or None
        Seed of the start.

    Attributes
    ----------
    components_ : (n_atoms, n_features)
        The dictionary, one atom per row, of length one unless ``max_entry`` is set.
    mean_ : (n_features,)
        Mean of the samples; zeros if ``fit_intercept`` is False.
    n_atoms_, n_nonzero_coefs_ : int
        The values in use.
    objective_ : (n_iter,)
        Mean squared residual after each round.
    n_iter_ : int
        Number of rounds done.
    n_replaced_ : int
        Number of atoms that were replaced on the way.
    n_features_in_ : int
        Number of features seen during fit.

    See Also
    --------
    WeightedKSVD : weights some of the features.
    orthogonal_matching_pursuit : the coder.
    sklearn.decomposition.DictionaryLearning : an l1 penalty instead of a number of atoms.

    Notes
    -----
    Codes stay sparse throughout, and an atom is updated from the samples that use it. Within a
    sweep over the atoms the objective never rises; the coding step, being greedy, may raise it.
    In batches the sums CᵀC and CᵀX of a pass represent data of any size: the sweep is then that
    of the power update with the coefficients held. :meth:`partial_fit` keeps the mean of its
    first batch.

    Samples that are explained exactly never replace an atom, and nothing else does: an atom that
    cannot be replaced stays. Work and results have the precision of the samples (float32 or
    float64).

    The paper's shrinkage never fires as printed. Here it does: when an entry of an atom exceeds
    the bound, the atom is scaled by bound/max|d_i| and its coefficients by the inverse.

    References
    ----------
    [Aharon2006]_, [Rubinstein2008]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.sparse import KSVD
    >>> rng = np.random.default_rng(0)
    >>> atoms = rng.normal(size=(20, 10))
    >>> codes = rng.normal(size=(500, 20)) * (rng.random((500, 20)) < 0.1)
    >>> model = KSVD(20, n_nonzero_coefs=3, max_iter=15, random_state=0).fit(codes @ atoms)
    >>> bool(model.objective_[-1] < 0.5 * model.objective_[0])
    True
    >>> model.transform(codes @ atoms).shape
    (500, 20)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_atoms": [POSITIVE_INTEGER, None],
        "n_nonzero_coefs": [POSITIVE_INTEGER, None],
        "tol": [NON_NEGATIVE, None],
        "fit_intercept": ["boolean"],
        "max_iter": [POSITIVE_INTEGER],
        "update": [StrOptions(set(UPDATES))],
        "batch_size": [POSITIVE_INTEGER, None],
        "max_entry": [POSITIVE, None],
        "max_coherence": [POSITIVE_FRACTION],
        "forget": [POSITIVE_FRACTION],
        "init": ["array-like", None],
        "warm_start": ["boolean"],
        "min_improvement": [NON_NEGATIVE],
        "checkpoint": [str, os.PathLike, None],
        "callback": [callable, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_atoms: int | None = None,
        *,
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
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callable[[Any, int, float], bool | None] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_atoms = n_atoms
        self.n_nonzero_coefs = n_nonzero_coefs
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.update = update
        self.batch_size = batch_size
        self.max_entry = max_entry
        self.max_coherence = max_coherence
        self.forget = forget
        self.init = init
        self.warm_start = warm_start
        self.min_improvement = min_improvement
        self.checkpoint = checkpoint
        self.callback = callback
        self.random_state = random_state

    # ------------------------------------------------------------------ fitting

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> KSVD:
        """Learn the dictionary of X.

        Parameters
        ----------
        X : (n_samples, n_features)
            Samples, of any scale: units stay those of the samples. With ``batch_size`` it may be a
            memory map larger than memory; otherwise the samples and their residual are held at
            once.
        y : None
            Ignored; there for scikit-learn's pipelines.

        Returns
        -------
        KSVD
            Itself. If ``checkpoint`` names a file from an interrupted run, training continues from
            it.

        Warns
        -----
        ConvergenceWarning
            The objective still improves after ``max_iter`` rounds, where ``min_improvement`` is
            set.
        NumericsWarning
            More atoms were asked for than there are samples.
        """
        X = validate_rows(self, X, dtype=FLOATS, order=None if self.batch_size else "C")
        if self.batch_size is not None:
            size = self.batch_size
            passes = BatchPasses(lambda: split_rows(X, size), "pass over the data")
            return self._fit_stream(passes, X.dtype)
        self._prepare(X.mean(axis=0, dtype=np.float64), X.dtype)
        X = self._weigh(X)
        self._settle(len(X), X.shape[1])
        return self._learn(step_in_memory(X, self._settings()), X, len(X))

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_batches(self, batches: Batches) -> KSVD:
        """Learn from data larger than memory.

        Parameters
        ----------
        batches : callable or iterable
            Gives batches (n_i, d), the same at every pass: a function that returns an iterator,
            or something that can be iterated again and again. The first pass counts the samples
            and finds their mean; the start is taken from the first batches.
        """
        if not callable(batches) and iter(batches) is batches:
            raise InputError(
                "an iterator is empty after one pass, and K-SVD makes several: pass a function "
                "that returns a new one"
            )
        again = batches if callable(batches) else lambda: batches
        first = next(iter(again()), None)
        if first is None:
            raise InputError("there are no batches: the iterator is empty")
        checked = BatchPasses(lambda: map(self._check_batch, again()), "pass over the data")
        return self._fit_stream(checked, self._check_batch(first, reset=True).dtype)

    def partial_fit(self, X: Any, y: Any = None) -> KSVD:
        """Code a mini-batch, add it to fading sums, and sweep the atoms once.

        For streams without an end, or whose distribution drifts. For a finite set that can be read
        again, :meth:`fit_batches` converges to a better dictionary.

        Parameters
        ----------
        X : (n_samples, n_features)
            A mini-batch. The first one sets the mean, the number of atoms and the start, so it
            should be typical and have at least a few times ``n_atoms`` samples.
        y : None
            Ignored.

        Returns
        -------
        KSVD
            Itself. ``objective_`` gets one entry per call, the mean squared residual of that batch
            before the sweep.
        """
        first = not hasattr(self, "components_")
        if first:
            self._validate_params()
        X = validate_rows(self, X, dtype=FLOATS, order="C", reset=first)
        if first:
            self._prepare(X.mean(axis=0, dtype=np.float64), X.dtype)
        X = self._weigh(X.astype(self.mean_.dtype, copy=False))
        if first:
            self._settle(len(X), X.shape[1])
            rng = check_random_state(self.random_state)
            self._set_atoms(start_atoms(X, self.n_atoms_, rng))
            self.objective_, self.n_iter_, self.n_replaced_ = np.zeros(0), 0, 0
        atoms = self._atoms()
        sums = CodeStatistics(atoms.shape[0], atoms.shape[1], atoms.dtype)
        if hasattr(self, "code_sums_"):
            sums.codes[:], sums.data[:] = self.code_sums_, self.data_sums_
        codes, left = pursue(X, atoms, n_nonzero_coefs=self.n_nonzero_coefs_, tol=self.tol)
        sums.collect(X, codes, self.forget)
        new = bound_rows(unit_rows(sums.sweep(atoms), atoms), self.max_entry or 0.0)
        usage = sums.codes.diagonal()
        idle = find_idle(new, usage, self.max_coherence)
        worst = X[np.argsort(-left, kind="stable")[: idle.size]]
        replaced = replace_atoms(new, idle, worst)
        self.n_replaced_ += int(replaced.size)
        sums.clear(replaced)
        self.code_sums_: np.ndarray = sums.codes
        self.data_sums_: np.ndarray = sums.data
        self._set_atoms(new)
        self.n_iter_ += 1
        self.objective_ = np.append(self.objective_, np.mean(left, dtype=np.float64))
        return self

    # ------------------------------------------------------------------ using

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Sparse codes of samples.

        Parameters
        ----------
        X : (n_samples, n_features)
            Samples in the units of ``fit``; float32 and float64 are kept.

        Returns
        -------
        codes : csr_matrix (n_samples, n_atoms)
            At most ``n_nonzero_coefs_`` entries per row. ``codes @ components_ + mean_``
            approximates X. Dense where scikit-learn is configured to give data frames.
        """
        check_is_fitted(self)
        X = validate_rows(self, X, dtype=FLOATS, order="C", reset=False)
        atoms = self._atoms().astype(X.dtype, copy=False)
        codes, _ = pursue(
            self._weigh(X),
            normalise_once(self, atoms),
            n_nonzero_coefs=self.n_nonzero_coefs_,
            tol=self.tol,
        )
        frames = _get_output_config("transform", self)["dense"] != "default"
        return codes.toarray() if frames else codes

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Samples from codes.

        Parameters
        ----------
        X : (n_samples, n_atoms)
            Codes, sparse or dense, as :meth:`transform` gives them.

        Returns
        -------
        (n_samples, n_features)
            ``X @ components_ + mean_``, in the units of the samples.
        """
        check_is_fitted(self)
        codes = check_rows(X, accept_sparse=True, dtype=FLOATS)
        if codes.shape[1] != len(self.components_):
            raise InputError(
                f"codes of {len(self.components_)} atoms are needed; got {codes.shape[1]}"
            )
        return np.asarray(codes @ self.components_) + self.mean_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    # ------------------------------------------------------------------ parts

    def _prepare(self, mean: np.ndarray, dtype: np.dtype) -> None:
        """Set what :meth:`_weigh` needs, once the mean and the precision are known."""
        self.mean_ = mean.astype(dtype) if self.fit_intercept else np.zeros_like(mean, dtype)

    def _weighing(self) -> Weighing:
        """How samples come into the space in which atoms have length one."""
        return Weighing(self.mean_, None)

    def _weigh(self, X: np.ndarray) -> np.ndarray:
        return self._weighing().apply(X)

    def _scale(self, rows: np.ndarray) -> np.ndarray:
        """Atoms times the weights of the features; here there are none."""
        return rows

    def _atoms(self) -> np.ndarray:
        """The dictionary in that space."""
        return np.asarray(self.components_)

    def _set_atoms(self, atoms: np.ndarray) -> None:
        self.components_ = atoms

    def _check_batch(self, X: Any, y: Any = None, reset: bool = False) -> np.ndarray:
        """A batch as the passes take it, of the width of the first."""
        if reset:
            return np.asarray(validate_rows(self, X, dtype=FLOATS))
        batch = check_rows(X, input_name="a batch", dtype=FLOATS)
        if batch.shape[1] != self.n_features_in_:
            raise InputError(f"batches must be (n, {self.n_features_in_}); got {batch.shape}")
        return np.asarray(batch)

    @_fit_context(prefer_skip_nested_validation=True)
    def _fit_passes(self, passes: Passes, first: tuple[np.ndarray, Any]) -> KSVD:
        """Learn from passes that somebody else makes over batches of :meth:`_check_batch`."""
        return self._fit_stream(passes, self._check_batch(first[0], reset=True).dtype)

    def _fit_stream(self, passes: Passes, dtype: np.dtype) -> KSVD:
        moments = passes.total(RunningMoments)
        self._prepare(moments.mean, dtype)
        self._settle(moments.n, len(moments.mean))
        rows: list[np.ndarray] = []
        wanted = 2 * self.n_atoms_
        for batch in passes.batches():
            rows.append(batch[:wanted])
            wanted -= len(rows[-1])
            if wanted == 0:
                break
        start = self._weigh(np.concatenate(rows).astype(dtype, copy=False))
        step = step_in_batches(passes, self._weighing(), self._settings())
        return self._learn(step, start, moments.n)

    def _settle(self, n: int, d: int) -> None:
        """Resolve the numbers of atoms for n samples of d features."""
        wanted = self.n_atoms
        if wanted is None:
            wanted = max(1, min(2 * d, n // _SAMPLES_PER_ATOM))
        elif wanted > n:
            warnings.warn(
                f"{wanted} atoms cannot be learned from {n} samples: {n} atoms are used",
                NumericsWarning,
                stacklevel=4,
            )
            wanted = n
        self.n_atoms_ = wanted
        used = self.n_nonzero_coefs if self.n_nonzero_coefs is not None else max(1, d // 10)
        self.n_nonzero_coefs_ = min(used, d, self.n_atoms_)

    def _settings(self) -> KSVDSettings:
        return KSVDSettings(
            self.n_nonzero_coefs_, self.tol, self.update, self.max_entry or 0.0, self.max_coherence
        )

    def _start(self, X: np.ndarray) -> np.ndarray:
        if self.warm_start and hasattr(self, "components_"):
            atoms = self._atoms().astype(X.dtype)
        elif self.init is not None:
            atoms = self._scale(np.array(self.init, dtype=X.dtype, ndmin=2))
        else:
            return start_atoms(X, self.n_atoms_, check_random_state(self.random_state))
        if atoms.shape != (self.n_atoms_, X.shape[1]):
            raise InputError(
                f"the start must be {(self.n_atoms_, X.shape[1])}, atoms by features; "
                f"got {atoms.shape}"
            )
        return unit_rows(atoms)

    def _identity(self, X: np.ndarray, n: int) -> dict[str, Any]:
        """What a checkpoint must agree with: the parameters and a fingerprint of the data."""
        left_out = {"checkpoint", "callback", "random_state", "init", "warm_start", "max_iter"}
        identity = {k: v for k, v in self.get_params().items() if k not in left_out}
        identity["random_state"] = repr(self.random_state)
        identity["shape"] = [n, X.shape[1]]
        identity["data"] = float(np.sum(X[:64], dtype=np.float64) + np.sum(self.mean_))
        return {k: _plain(v) for k, v in identity.items()}

    def _learn(self, step: Step, X: np.ndarray, n: int) -> KSVD:
        """Repeat the step from the start, or from the checkpoint if there is one."""
        identity = self._identity(X, n)
        state = None if self.checkpoint is None else read_state(self.checkpoint, identity)
        if state is None:
            state = TrainingState(self._start(X), 0, [], 0)

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
                stacklevel=4,
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


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value
