"""
A mixture of probabilistic CCA
==============================

Two views describe the same things, and how they are related depends on the kind of thing. One
canonical correlation analysis averages over the kinds. :class:`~mien.multiview.MixturePCCA` finds
the kinds, and predicts one view from the other within each.
"""

# %%
# In one kind y rises with x, in the other it falls.
import matplotlib.pyplot as plt
import numpy as np

from mien.multiview import MixturePCCA

rng = np.random.default_rng(0)
kind = rng.integers(2, size=800)
z = rng.normal(size=(800, 1))
X = z @ [[1.0, 0.5]] + 0.15 * rng.normal(size=(800, 2)) + np.c_[4.0 * kind, np.zeros(800)]
Y = np.where(kind[:, None] == 1, -z, z) @ [[1.0]] + 0.15 * rng.normal(size=(800, 1))

one = MixturePCCA(1, 1, tol=1e-4, random_state=0).fit(X, Y)
two = MixturePCCA(2, 1, tol=1e-4, random_state=0).fit(X, Y)

# %%
fig, axes = plt.subplots(1, 2, figsize=(7.5, 3.4), sharey=True)
for ax, model, name in zip(axes, (one, two), ("one component", "two components"), strict=True):
    guess = model.predict_view(X)
    ax.scatter(X[:, 0], Y[:, 0], s=6, color="0.75", label="truth")
    ax.scatter(X[:, 0], guess[:, 0], s=6, label="predicted from x")
    ax.set(
        title=f"{name}: RMSE {np.sqrt(np.mean((guess - Y) ** 2)):.2f}", xlabel="x, first feature"
    )
axes[0].set_ylabel("y")
axes[0].legend(fontsize=8)
fig.tight_layout()
