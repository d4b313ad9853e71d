"""
Multi-view super vectors
========================

A picture is described by a bag of local descriptors, of two kinds at each point. A super vector
turns a bag of any size into one vector, which holds what both kinds share and what is left of
each. A linear classifier does the rest.
"""

# %%
# Two kinds of texture that differ in how both views go together, and in nothing else.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from mien.multiview import FisherVector, MixturePCCA, MultiViewSuperVector

rng = np.random.default_rng(0)


def make_bag(kind: int) -> tuple[np.ndarray, np.ndarray]:
    n = int(rng.integers(40, 120))
    x = rng.normal(size=(n, 4))
    sign = np.array([1.0, 1.0, 1.0, 1.0]) if kind else np.array([1.0, 1.0, -1.0, -1.0])
    return x, sign * x + 0.8 * rng.normal(size=(n, 4))


kinds = np.arange(160) % 2
bags = [make_bag(kind) for kind in kinds]
views = [bag[0] for bag in bags], [bag[1] for bag in bags]
train, test = np.arange(160) < 100, np.arange(160) >= 100


def part(view: list[np.ndarray], rows: np.ndarray) -> list[np.ndarray]:
    return [view[i] for i in np.flatnonzero(rows)]


# %%
# Each view by itself says nothing; both together do.
accuracy = {}
for name, view in zip(("first view", "second view"), views, strict=True):
    encoder = FisherVector(random_state=0).fit(part(view, train))
    model = LogisticRegression(max_iter=1000).fit(
        encoder.transform(part(view, train)), kinds[train]
    )
    accuracy[f"Fisher vector,\n{name}"] = model.score(
        encoder.transform(part(view, test)), kinds[test]
    )
encoder = MultiViewSuperVector(MixturePCCA(2, 4, tol=1e-3, random_state=0))
encoder.fit(*(part(view, train) for view in views))
Z = {
    rows: encoder.transform(*(part(view, mask) for view in views))
    for rows, mask in (("train", train), ("test", test))
}
model = LogisticRegression(max_iter=1000).fit(Z["train"], kinds[train])
accuracy["super vector,\nboth views"] = model.score(Z["test"], kinds[test])

# %%
fig, ax = plt.subplots(figsize=(6, 3.4))
bars = ax.bar(list(accuracy), [100 * value for value in accuracy.values()], width=0.5)
ax.bar_label(bars, fmt="%.0f %%")
ax.axhline(50, color="0.5", ls=":", lw=1, label="guessing")
ax.set(ylabel="right, %", ylim=(0, 108))
ax.legend(loc="upper left", frameon=False)
fig.tight_layout()
