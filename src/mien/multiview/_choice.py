"""How many components and latent variables: by BIC, or by samples that were held out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from mien._core.progress import track
from mien._core.validation import check_choice
from mien.errors import InputError
from mien.multiview._mixture_pcca import MixturePCCA

__all__ = ["MixtureChoice", "choose_mixture"]


class MixtureChoice(NamedTuple):
    """The mixture that was chosen, fitted to all samples, and what every candidate reached.

    ``table`` has a dict for each candidate: n_components, n_latent, the mean log-likelihood of a
    sample that it learned from (``likelihood``), and ``criterion``, which is higher for better.
    """

    model: MixturePCCA
    table: list[dict[str, float]]


def choose_mixture(
    X: Any,
    Y: Any,
    *,
    n_components: Sequence[int] = (1, 2, 4, 8),
    n_latent: Sequence[int] = (1, 2, 4),
    by: str = "held-out",
    test_size: float = 0.25,
    random_state: Any = None,
    **options: Any,
) -> MixtureChoice:
    """Try every pair of K and q, and fit the best to all samples.

    Parameters
    ----------
    X, Y : (n, d_x), (n, d_y)
        Paired samples.
    n_components, n_latent : sequence of int
        Values of K and q to try.
    by : {"held-out", "bic"}
        "held-out" compares the mean log-likelihood of samples that were not learned from.
        "bic" compares minus half of the Bayesian information criterion of a sample: one fit
        of all samples for each candidate, and a penalty for each parameter.
    test_size : float
        Share of the samples that is held out.
    random_state : int, RandomState or None
        Of the division and of the starts.
    **options
        Of :class:`MixturePCCA`, such as ``noise`` and ``n_init``.

    Returns
    -------
    MixtureChoice

    Examples
    --------
    >>> import numpy as np
    >>> from mien.multiview import choose_mixture
    >>> rng = np.random.default_rng(0)
    >>> z, side = rng.normal(size=(400, 1)), rng.choice([-5, 5], size=(400, 1))
    >>> X, Y = (z * [1, -1] + side + 0.2 * rng.normal(size=(400, 2)) for _ in range(2))
    >>> chosen = choose_mixture(X, Y, n_components=(1, 2, 3), n_latent=(1,), by="bic",
    ...                         tol=1e-3, random_state=0)
    >>> chosen.model.n_components
    2
    """
    check_choice("by", by, ("held-out", "bic"))
    if not 0 < test_size < 1:
        raise InputError(f"test_size must be between 0 and 1; got {test_size!r}")
    candidates = list(product(n_components, n_latent))
    if not candidates:
        raise InputError("n_components and n_latent must name at least one value each")
    X, Y = np.asarray(X), np.asarray(Y)
    rng = check_random_state(random_state)
    seed = rng.randint(2**31 - 1)
    order = rng.permutation(len(X))
    held = order[: max(1, round(test_size * len(X)))] if by == "held-out" else order[:0]
    learn = np.sort(order[held.size :])
    held = np.sort(held)
    table, models = [], []
    for K, q in track(candidates, "choosing a mixture"):
        model = MixturePCCA(K, q, random_state=seed, **options).fit(X[learn], Y[learn])
        if by == "bic":
            criterion = -model.bic(X, Y) / (2 * len(X))
        else:
            criterion = model.score(X[held], Y[held])
        row = {"n_components": K, "n_latent": q, "likelihood": model.score(X[learn], Y[learn])}
        table.append({**row, "criterion": criterion})
        models.append(model)
    best = int(np.argmax([row["criterion"] for row in table]))
    chosen = models[best]
    if by == "held-out":
        chosen = chosen.fit(X, Y)
    return MixtureChoice(chosen, table)
