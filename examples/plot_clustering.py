"""
Clustering with constraints
===========================

Two faces in one photograph are two people. A burst of photographs shows one person. Nobody has to
label either. :class:`~mien.subspace.ConstrainedClustering` obeys both kinds of constraint exactly.
"""

# %%
import itertools

import matplotlib.pyplot as plt
import numpy as np

from mien.datasets import make_vectors
from mien.evaluation import b_cubed
from mien.subspace import ConstrainedClustering

X, people = make_vectors(20, 12, 16, separation=1.2, random_state=3)
rng = np.random.default_rng(0)

# %%
# Photographs with four people each give pairs that are two people; bursts of two give groups.
photos = rng.permutation(len(X)).reshape(-1, 4)
pairs = [pair for photo in photos for pair in itertools.combinations(photo, 2)]
apart = [(a, b) for a, b in pairs if people[a] != people[b]]
bursts = np.full(len(X), -1)
for person in range(20):
    rows = np.flatnonzero(people == person)
    for k in range(4):
        bursts[rows[2 * k : 2 * k + 2]] = 4 * person + k

# %%
# Cluster with neither, with one, and with both kinds of constraint.
scores = {}
for name, groups, cannot_link in (
    ("nothing known", None, None),
    ("two people\nin one picture", None, apart),
    ("bursts", bursts, None),
    ("both", bursts, apart),
):
    model = ConstrainedClustering(20).fit(X, groups=groups, cannot_link=cannot_link)
    scores[name] = b_cubed(people, model.labels_).f1

fig, ax = plt.subplots(figsize=(6, 3.4))
bars = ax.bar(list(scores), list(scores.values()), width=0.5)
ax.bar_label(bars, fmt="%.2f")
ax.set(ylabel="B-cubed F (1 is perfect)", ylim=(0, 1.08))
fig.tight_layout()
