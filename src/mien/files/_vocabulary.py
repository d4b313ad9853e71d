"""The words in which a statement says what the values of a class must satisfy.

A *term* checks one value. Sizes are letters that mean the same number in the whole statement: the
first array that has a ``"d"`` in its shape gives it its value, every other one must agree.

>>> sizes = {}
>>> real("k", "d").check(np.eye(3), "components_", sizes)
>>> sizes
{'k': 3, 'd': 3}
>>> real("d").check(np.zeros(4), "mean_", sizes)
Traceback (most recent call last):
    ...
mien.files._vocabulary.Mismatch: mean_ has the shape (4,), and must have (d) = (3)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypedDict

import numpy as np

from mien.files._deferred import Deferred

__all__ = [
    "Bounds",
    "Mismatch",
    "Statement",
    "Term",
    "Values",
    "anything_plain",
    "boolean",
    "choice",
    "either",
    "fields",
    "flag",
    "half",
    "instance",
    "integers",
    "items",
    "labels",
    "mapping",
    "natural",
    "none",
    "number",
    "optional",
    "pair",
    "permutations",
    "positive",
    "real",
    "size",
    "text",
    "unbounded",
]

Sizes = dict[str, int]
#: Parameters or fitted attributes by name.
Values = dict[str, Any]
#: One length of a shape: a number, a letter, or a function of the letters that came before.
Length = int | str | Callable[[Sizes], int]
#: Larger values than this make squares and products of a few of them overflow.
LARGEST = 1e60
#: Smaller ones than this, where a value divides.
SMALLEST = 1e-60
_PIECE, _FEW = 8192, 8


class Mismatch(ValueError):
    """A value is not what the statement of its class says."""


class Term:
    """What one value must be."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        """Raise :class:`Mismatch` if the value is something else; fix sizes that it shows."""
        raise NotImplementedError


@dataclass(frozen=True)
class Statement:
    """What the values of one registered class must satisfy.

    Parameters
    ----------
    fitted : mapping of str to Term
        Each fitted attribute, or each value of ``to_arrays``. Checked in this order, so that
        a letter is fixed before it is used in an expression.
    params : mapping of str to Term
        Parameters that need more than the class's own constraints.
    sometimes : tuple of str
        Attributes that may be missing although the others are there.
    check : callable or None
        ``check(params, fitted, sizes)`` raises :class:`Mismatch`; for what the terms cannot say.
    unfitted : bool
        Whether a file may hold the class without any fitted attribute.
    """

    fitted: Mapping[str, Term]
    params: Mapping[str, Term] = ()  # type: ignore[assignment]
    sometimes: tuple[str, ...] = ()
    check: Callable[[dict[str, Any], dict[str, Any], Sizes], None] | None = None
    unfitted: bool = True

    def verify(self, params: dict[str, Any], fitted: dict[str, Any]) -> None:
        """Raise :class:`Mismatch` unless parameters and fitted values are as stated."""
        sizes: Sizes = {}
        if self.params:
            for name, term in self.params.items():
                if name in params:
                    term.check(params[name], name, sizes)
        if not fitted and self.unfitted:
            return
        strange = fitted.keys() - self.fitted.keys()
        if strange:
            raise Mismatch(f"it has no attribute {min(strange)!r:.60}")
        for name, term in self.fitted.items():
            if name in fitted:
                term.check(fitted[name], name, sizes)
            elif name not in self.sometimes:
                raise Mismatch(f"{name} is missing")
        if self.check is not None:
            self.check(params, fitted, sizes)


# ------------------------------------------------------------------------------------ arrays


def _check_shape(array: np.ndarray, shape: Sequence[Length], where: str, sizes: Sizes) -> None:
    fits = array.ndim == len(shape)
    wanted: list[int | str] = []
    for axis, length in enumerate(shape):
        if isinstance(length, str) and length not in sizes and fits:
            sizes[length] = array.shape[axis]
        known = length if isinstance(length, int) else None
        if isinstance(length, str):
            known = sizes.get(length)
        elif callable(length):
            known = length(sizes)
        wanted.append("?" if known is None else known)
        fits = fits and known == array.shape[axis]
    if not fits:
        letters = ", ".join("…" if callable(n) else str(n) for n in shape)
        raise Mismatch(
            f"{where} has the shape {array.shape}, and must have ({letters}) = "
            f"({', '.join(map(str, wanted))})"
        )


def _is_within(array: np.ndarray, bound: float) -> bool:
    """Whether a sum of squares, in one pass, shows that no entry is larger; False if it does not.

    Most arrays are far within their limits, and looking for both extremes reads them twice.
    """
    if bound <= 0 or array.dtype.char not in "fd" or not array.flags.forc:
        return False
    flat = array.ravel("K")
    # NaN and infinity fail it; the margin is for what rounding does to a sum.
    most = 0.9 * bound * bound
    # In pieces for which BLAS starts no threads: they would cost far more than the sum.
    whole = len(flat) - len(flat) % _PIECE if len(flat) > _FEW * _PIECE else 0
    total = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(whole, len(flat), _PIECE):
            piece = flat[start : start + _PIECE]
            total += float(np.dot(piece, piece))
        if whole and total <= most:
            pieces = flat[:whole].reshape(-1, _PIECE)
            total += float(np.vecdot(pieces, pieces).sum())
    return total <= most


@dataclass(frozen=True)
class _Array(Term):
    kinds: str
    shape: tuple[Length, ...]
    low: float = -LARGEST
    high: float | str = LARGEST
    finite: bool = True
    called: str = "numbers"
    order: str = ""
    half: bool = False

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in self.kinds:
            raise Mismatch(f"{where} must be an array of {self.called}; got {_kind(value)}")
        if (value.dtype == np.float16) != self.half:
            raise Mismatch(f"{where} has the precision {value.dtype}")
        _check_shape(value, self.shape, where, sizes)
        if value.size == 0 or value.dtype.kind == "b":
            return
        high = sizes[self.high] - 1 if isinstance(self.high, str) else self.high
        if self.finite and not self.order and _is_within(value, min(-self.low, high)):
            return
        if not self.finite:
            return
        # As Python's numbers: single precision has no room for the limits.
        small, large = value.min().item(), value.max().item()
        # Written so that NaN fails it.
        if not (small >= self.low and large <= high):
            raise Mismatch(
                f"{where} must be within [{self.low:.3g}, {high:.3g}]; it has values from "
                f"{small:.3g} to {large:.3g}"
            )
        if self.order == "rising" and np.any(np.diff(value) <= 0):
            raise Mismatch(f"{where} must rise")
        if self.order == "permutation" and not _holds_each_once(value, large):
            raise Mismatch(f"{where} must hold each of 0 … {value.shape[-1] - 1} once")


def _holds_each_once(rows: np.ndarray, largest: int) -> bool:
    """Whether each row of integers from 0 is a permutation."""
    n = rows.shape[-1]
    if largest >= n:
        return False
    seen = np.zeros((rows.size // n, n), dtype=bool)
    for marks, row in zip(seen, rows.reshape(-1, n), strict=True):
        marks[row] = True
    return bool(seen.all())


class Bounds(TypedDict):
    """Bounds that many arrays of a statement share, for :func:`real`."""

    low: float
    high: float


def real(*shape: Length, low: float = -LARGEST, high: float = LARGEST, order: str = "") -> Term:
    """Finite numbers of single or double precision."""
    return _Array("f", shape, low, high, called="finite numbers", order=order)


def positive(*shape: Length) -> Term:
    """Finite numbers above zero, by which one may divide."""
    return _Array("f", shape, SMALLEST, LARGEST, called="numbers above zero")


def half(*shape: Length, low: float = -65504.0) -> Term:
    """Finite numbers of half precision."""
    return _Array("f", shape, low, 65504.0, called="numbers of half precision", half=True)


def unbounded(*shape: Length) -> Term:
    """Numbers that may be infinite or NaN."""
    return _Array("f", shape, finite=False)


def integers(*shape: Length, low: int = 0, high: int | str = 2**62, order: str = "") -> Term:
    """Integers; ``high`` is the largest, or the letter of a size that they stay below."""
    return _Array("iu", shape, low, high, called="integers", order=order)


def permutations(*shape: Length) -> Term:
    """Along the last axis each index once."""
    return _Array("iu", shape, 0, 2**62, called="integers", order="permutation")


def boolean(*shape: Length) -> Term:
    """Truth values."""
    return _Array("b", shape, called="truth values")


@dataclass(frozen=True)
class _Labels(Term):
    shape: tuple[Length, ...]
    unique: bool

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "iubUO":
            raise Mismatch(f"{where} must be labels (strings or integers); got {_kind(value)}")
        _check_shape(value, self.shape, where, sizes)
        plain = value.dtype.kind != "O" and value.ndim == 1
        if self.unique and plain and np.any(value[1:] <= value[:-1]):
            raise Mismatch(f"{where} must be sorted, each label once")


def labels(*shape: Length, unique: bool = False) -> Term:
    """Strings or integers; ``unique`` means sorted, each once."""
    return _Labels(shape, unique)


class _Shaped:
    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape, self.ndim = shape, len(shape)


# ------------------------------------------------------------------------------------ scalars


@dataclass(frozen=True)
class _Number(Term):
    low: float
    high: float
    whole: bool

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        kinds = (int, np.integer) if self.whole else (int, float, np.integer, np.floating)
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, kinds):
            raise Mismatch(f"{where} must be a number; got {_kind(value)}")
        value = value.item() if isinstance(value, np.generic) else value
        if not self.low <= value <= self.high:
            raise Mismatch(
                f"{where} must be within [{self.low:.3g}, {self.high:.3g}]; got {value:.4g}"
                if abs(value) < 1e300
                else f"{where} is too large"
            )


def number(low: float = -LARGEST, high: float = LARGEST, *, whole: bool = False) -> Term:
    """One finite number."""
    return _Number(low, high, whole)


def natural() -> Term:
    """A whole number of something, from 0."""
    return _Number(0, 2**53, True)


@cache
def _length(low: int) -> Term:
    return _Number(low, 2**48, True)


@dataclass(frozen=True)
class _Size(Term):
    letter: Length
    low: int

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        _length(self.low).check(value, where, sizes)
        known = self.letter(sizes) if callable(self.letter) else self.letter
        if isinstance(known, str):
            known = sizes.setdefault(known, int(value))
        if known != value:
            raise Mismatch(f"{where} is {int(value)}, and its arrays say {known}")


def size(letter: Length, *, low: int = 1) -> Term:
    """A whole number that is the length of something."""
    return _Size(letter, low)


@dataclass(frozen=True)
class _Plain(Term):
    kind: type[Any]
    longest: int = 0
    choices: tuple[Any, ...] = ()

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if self.kind is bool and isinstance(value, np.bool_):
            return
        if type(value) is not self.kind:
            raise Mismatch(f"{where} must be a {self.kind.__name__}; got {_kind(value)}")
        if self.longest and len(value) > self.longest:
            raise Mismatch(f"{where} has {len(value):,} characters; at most {self.longest:,}")
        if self.choices and value not in self.choices:
            raise Mismatch(f"{where} must be one of {', '.join(map(repr, self.choices))}")


def text(longest: int = 10_000) -> Term:
    """A string."""
    return _Plain(str, longest)


def choice(*choices: str) -> Term:
    """One of some strings."""
    return _Plain(str, 0, choices)


def flag() -> Term:
    """True or False."""
    return _Plain(bool)


# ------------------------------------------------------------------------------------ structures


@dataclass(frozen=True)
class _None(Term):
    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if value is not None:
            raise Mismatch(f"{where} must be None; got {_kind(value)}")


def none() -> Term:
    """None, and nothing else."""
    return _None()


@dataclass(frozen=True)
class _Either(Term):
    terms: tuple[Term, ...]

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        # The words only: an error that is kept keeps all frames, and with them the whole model.
        said = f"{where} cannot be anything"
        for term in self.terms:
            trial = dict(sizes)
            try:
                term.check(value, where, trial)
            except Mismatch as error:
                said = str(error)
            else:
                sizes.update(trial)
                return
        raise Mismatch(said)


def either(*terms: Term) -> Term:
    """What one of the terms allows; the error is that of the last."""
    return _Either(terms)


def optional(term: Term) -> Term:
    """None, or what the term says."""
    return _Either((_None(), term))


@dataclass(frozen=True)
class _Items(Term):
    term: Term
    kind: type[Any]
    length: Length | None
    fewest: int = 0

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not self.kind:
            raise Mismatch(f"{where} must be a {self.kind.__name__}; got {_kind(value)}")
        if self.length is not None:
            _check_shape(_Shaped((len(value),)), (self.length,), where, sizes)  # type: ignore[arg-type]
        if len(value) < self.fewest:
            raise Mismatch(f"{where} is empty")
        for i, item in enumerate(value):
            self.term.check(item, f"{where}[{i}]", sizes)


def items(term: Term, length: Length | None = None, *, kind: type = list, fewest: int = 0) -> Term:
    """A list (or tuple) in which everything is what the term says."""
    return _Items(term, kind, length, fewest)


@dataclass(frozen=True)
class _Pair(Term):
    terms: tuple[Term, ...]

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, (tuple, list)) or len(value) != len(self.terms):
            raise Mismatch(f"{where} must have {len(self.terms)} entries; got {_kind(value)}")
        for i, (term, item) in enumerate(zip(self.terms, value, strict=True)):
            term.check(item, f"{where}[{i}]", sizes)


def pair(*terms: Term) -> Term:
    """A tuple with one entry for each term."""
    return _Pair(terms)


@dataclass(frozen=True)
class _Mapping(Term):
    keys: Term
    values: Term

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not dict:
            raise Mismatch(f"{where} must be a dict; got {_kind(value)}")
        for key, item in value.items():
            self.keys.check(key, f"a key of {where}", sizes)
            self.values.check(item, f"{where}[{key!r:.40}]", sizes)


def mapping(keys: Term, values: Term) -> Term:
    """A dict."""
    return _Mapping(keys, values)


@dataclass(frozen=True)
class _Fields(Term):
    terms: tuple[tuple[str, Term], ...]

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        names = {name for name, _ in self.terms}
        if type(value) is not dict or set(value) != names:
            raise Mismatch(f"{where} must have the entries {', '.join(sorted(names))}")
        for name, term in self.terms:
            term.check(value[name], f"{where}.{name}", sizes)


def fields(**terms: Term) -> Term:
    """A dict with exactly these entries."""
    return _Fields(tuple(terms.items()))


@dataclass(frozen=True)
class _Instance(Term):
    names: tuple[str, ...]
    attributes: tuple[tuple[str, Length], ...]

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        name = type(value).__name__
        if isinstance(value, Deferred):
            name, value = value.class_name, value.values()
        if name not in self.names:
            raise Mismatch(f"{where} must be a {' or '.join(self.names)}; got {_kind(value)}")
        for attribute, length in self.attributes:
            if not hasattr(value, attribute):
                raise Mismatch(f"{where} is not fitted: it has no {attribute}")
            _Size(length, 1).check(getattr(value, attribute), f"{where}.{attribute}", sizes)


def instance(*names: str, **attributes: Length) -> Term:
    """An object of one of the classes, of which some attributes are sizes."""
    return _Instance(names, tuple(attributes.items()))


@dataclass(frozen=True)
class _AnythingPlain(Term):
    most: int

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        left = self.most
        open_values: list[Any] = [value]
        while open_values:
            left -= 1
            if left < 0:
                raise Mismatch(f"{where} has more than {self.most:,} entries")
            item = open_values.pop()
            if isinstance(item, dict):
                if not all(isinstance(key, str) for key in item):
                    raise Mismatch(f"{where} has a key that is not a string")
                open_values.extend(item.values())
            elif isinstance(item, (list, tuple)):
                open_values.extend(item)
            elif not (item is None or isinstance(item, (bool, int, float, str, np.generic))):
                raise Mismatch(f"{where} must hold plain values only; got {_kind(item)}")
            elif isinstance(item, float) and not math.isfinite(item):
                raise Mismatch(f"{where} has NaN or an infinite number")


def anything_plain(most: int = 10_000) -> Term:
    """Numbers, strings, lists and dicts, for people to read; nothing is computed from them."""
    return _AnythingPlain(most)


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    return f"{type(value).__name__}"
