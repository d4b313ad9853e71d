"""Parameter constraints that many estimators share, in scikit-learn's own form.

Write ``"n_components": [POSITIVE_INTEGER, None]`` in ``_parameter_constraints``.
"""

from __future__ import annotations

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval

__all__ = [
    "AT_LEAST_TWO",
    "FRACTION",
    "NON_NEGATIVE",
    "NON_NEGATIVE_INTEGER",
    "POSITIVE",
    "POSITIVE_FRACTION",
    "POSITIVE_INTEGER",
    "PROBABILITY",
    "SHARE",
]

#: 1, 2, 3, …
POSITIVE_INTEGER = Interval(Integral, 1, None, closed="left")
#: 2, 3, 4, …
AT_LEAST_TWO = Interval(Integral, 2, None, closed="left")
#: 0, 1, 2, …
NON_NEGATIVE_INTEGER = Interval(Integral, 0, None, closed="left")
#: [0, ∞)
NON_NEGATIVE = Interval(Real, 0, None, closed="left")
#: (0, ∞)
POSITIVE = Interval(Real, 0, None, closed="neither")
#: [0, 1): a relative tolerance, or a shrinkage that leaves some of the data
FRACTION = Interval(Real, 0, 1, closed="left")
#: (0, 1]: a share of something that is not empty
POSITIVE_FRACTION = Interval(Real, 0, 1, closed="right")
#: (0, 1)
PROBABILITY = Interval(Real, 0, 1, closed="neither")
#: [0, 1]: from none to all
SHARE = Interval(Real, 0, 1, closed="both")
