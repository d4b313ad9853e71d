"""
A committee of weak classifiers
===============================

Five pictures per person have far fewer pictures than pixels. One LDA on them fits the noise;
twenty LDAs, each on its own random part of the eigenfaces, err in different places, and
together they err less than any of them.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mien.committee import RandomSamplingLDA
from mien.datasets import make_faces

faces = make_faces(40, 9, size=32, variation=0.8, random_state=0)
pixels = faces.images.reshape(len(faces), -1)
train = np.tile(np.arange(9) < 5, 40)
X, y = pixels[train], faces.people[train]
Z, truth = pixels[~train], faces.people[~train]

# %%
# What each member says, and what the first k of them say together.
committee = RandomSamplingLDA(n_members=20, random_state=0).fit(X, y)
proba = committee.member_proba(Z)  # member, picture, person
alone = [np.mean(committee.classes_[p.argmax(axis=1)] != truth) for p in proba]
together = [
    np.mean(committee.classes_[proba[:k].mean(axis=0).argmax(axis=1)] != truth)
    for k in range(1, 21)
]

# %%
fig, ax = plt.subplots(figsize=(6, 3.6))
ax.scatter(range(1, 21), 100 * np.array(alone), label="a member alone", color="0.6")
ax.plot(range(1, 21), 100 * np.array(together), label="the first k, fused by the sum")
ax.axhline(100 * np.mean(alone), color="0.6", lw=1, ls=":", label="mean of the members")
ax.set(xlabel="members", ylabel="error, %", ylim=(0, None))
ax.legend()
fig.tight_layout()
