"""Vectors with identities, drawn from the model that Joint Bayesian learns."""

from __future__ import annotations

import numpy as np

from mien.errors import InputError

__all__ = ["make_vectors"]


def make_vectors(
    n_people: int,
    n_per_person: int,
    n_features: int = 32,
    *,
    separation: float = 2.0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw vectors of people: a mean per person plus variation within the person.

    Both covariances fall off from the first feature to the last, and the variation within a
    person lies in other directions than the difference between people, as with real embeddings.

    Parameters
    ----------
    n_people, n_per_person : int
        How many people, and how many vectors of each.
    n_features : int
        Length of a vector.
    separation : float
        Standard deviation between people over the standard deviation within a person. At 1 people
        are hard to tell apart, at 4 easy.
    random_state : int, Generator or None
        The seed.

    Returns
    -------
    X : (n_people * n_per_person, n_features) float64
        The vectors, all of one person after another.
    people : (n_people * n_per_person,) int64
        Who it is: 0 0 0 … 1 1 1 …

    See Also
    --------
    make_faces : Pictures of people who do not exist.
    mien.verification.JointBayesian : Learns both covariances back.

    Examples
    --------
    >>> from mien.datasets import make_vectors
    >>> X, people = make_vectors(50, 4, 8, random_state=0)
    >>> X.shape, people[:6].tolist()
    ((200, 8), [0, 0, 0, 0, 1, 1])
    """
    for name, value in (
        ("n_people", n_people),
        ("n_per_person", n_per_person),
        ("n_features", n_features),
    ):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise InputError(f"{name} must be a whole number, at least 1; got {value!r}")
    if not 0 <= separation < np.inf:
        raise InputError(f"separation must be a number from 0; got {separation!r}")
    rng = np.random.default_rng(random_state)
    scales = np.linspace(1.5, 0.5, n_features)
    turn = np.linalg.qr(rng.normal(size=(n_features, n_features)))[0]
    means = separation * rng.normal(size=(n_people, n_features)) * scales
    within = (rng.normal(size=(n_people * n_per_person, n_features)) * scales) @ turn
    people = np.repeat(np.arange(n_people), n_per_person)
    return means[people] + within, people
