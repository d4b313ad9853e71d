"""
Fastfood against RBFSampler
===========================

Both turn a Gaussian kernel into features whose inner products approximate it. scikit-learn's
``RBFSampler`` multiplies by a dense random matrix: n d operations per sample for n features of d
inputs. :class:`~mien.kernelmaps.Fastfood` uses Hadamard transforms: n log d operations, and no
matrix to store.
"""

# %%
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import rbf_kernel

from mien.datasets import make_faces
from mien.kernelmaps import Fastfood

X = make_faces(50, 4, size=32, random_state=0).images.reshape(200, -1).astype(np.float64)
sigma = np.sqrt(np.median(((X[:, None] - X[None]) ** 2).sum(axis=-1)))
exact = rbf_kernel(X, gamma=1 / (2 * sigma**2))

# %%
# The largest error of the kernel, over three draws each.
expansions = [1, 2, 4]
errors: dict[str, list[float]] = {"RBFSampler": [], "Fastfood": []}
seconds: dict[str, list[float]] = {"RBFSampler": [], "Fastfood": []}
for expansion in expansions:
    width = expansion * 1024
    found: dict[str, list[float]] = {"RBFSampler": [], "Fastfood": []}
    taken: dict[str, list[float]] = {"RBFSampler": [], "Fastfood": []}
    for seed in range(3):
        sampler = RBFSampler(gamma=1 / (2 * sigma**2), n_components=2 * width, random_state=seed)
        fastfood = Fastfood(expansion=expansion, sigma=sigma, random_state=seed)
        for name, method in (("RBFSampler", sampler), ("Fastfood", fastfood)):
            method.fit(X).transform(X[:1])  # compiled kernels are compiled once
            start = time.perf_counter()
            Z = method.transform(X)
            taken[name].append(time.perf_counter() - start)
            found[name].append(np.abs(Z @ Z.T - exact).max())
    for name, values in found.items():
        errors[name].append(np.mean(values))
        seconds[name].append(min(taken[name]))

# %%
# At the same number of features the dense matrix is a little more accurate and much slower.
fig, axes = plt.subplots(1, 2, figsize=(7.5, 3.4))
for ax, table, words in zip(
    axes,
    (errors, seconds),
    ("largest error of the kernel", "seconds for 200 pictures"),
    strict=True,
):
    for name, values in table.items():
        ax.plot([2048 * e for e in expansions], values, marker="o", label=name)
    ax.set(xlabel="features", title=words)
    ax.set_xticks([2048 * e for e in expansions], [f"{2048 * e:,}" for e in expansions])
    ax.set_ylim(bottom=0)
axes[0].legend()
fig.tight_layout()
