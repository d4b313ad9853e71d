"""
A committee of weak classifiers
===============================

With five pictures per person there are far fewer pictures than pixels, and one LDA on all of them
fits the noise. :class:`~mien.committee.RandomSamplingLDA` trains twenty LDAs, each on its own
random part of the eigenfaces, and adds up what they say.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mien.committee import RandomSamplingLDA
from mien.datasets import make_faces

faces = make_faces(40, 9, size=32, variation=1.0, random_state=0)
pixels = faces.images.reshape(len(faces), -1)
train = np.tile(np.arange(9) < 5, 40)
X, y = pixels[train], faces.people[train]
Z, truth = pixels[~train], faces.people[~train]

# %%
# Two committees. In the first, members share only five eigenfaces: they are weak, and different
# from each other. The second takes the default sizes: its members are strong, and more alike.
committees = {
    "weak and different members": RandomSamplingLDA(20, n_fixed=5, n_random=60, random_state=0),
    "strong and similar members": RandomSamplingLDA(20, random_state=0),
}

# %%
# What each member says alone, and what the first k of them say together.
fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True)
members = np.arange(1, 21)
for ax, (name, committee) in zip(axes, committees.items(), strict=True):
    proba = committee.fit(X, y).member_proba(Z)  # member, picture, person
    running = proba.cumsum(axis=0)
    alone = 100 * np.mean(committee.classes_[proba.argmax(axis=2)] != truth, axis=1)
    together = 100 * np.mean(committee.classes_[running.argmax(axis=2)] != truth, axis=1)
    ax.scatter(members, alone, label="a member alone", color="0.6")
    ax.axhline(alone.mean(), color="0.6", lw=1, ls=":", label="mean of the members")
    ax.plot(members, together, label="the first k together")
    ax.set(title=name, xlabel="members", ylim=(0, 45), xticks=range(2, 21, 2))
    print(f"{name}: {alone.mean():.1f} % wrong alone, {together[-1]:.1f} % together")
axes[0].set_ylabel("error, %")
axes[1].legend()
fig.tight_layout()

# %%
# Fusing helps most where members err independently. Strength helps more: compare both committees
# on people of your own before you change the default sizes.
