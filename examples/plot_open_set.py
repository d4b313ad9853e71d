"""
Open-set identification
=======================

Who is it, or is it nobody we know? There are two errors, and a threshold trades one for the
other: a stranger who gets a name (FPIR), and a known person who does not get the right name
(FNIR). More pictures per known person improve the whole curve.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mien.datasets import make_vectors
from mien.evaluation import open_set
from mien.verification import JointBayesian

X, people = make_vectors(500, 8, 24, separation=1.1, random_state=0)
of = X.reshape(500, 8, 24)
model = JointBayesian().fit(X[people < 300], people[people < 300])
known, strangers = of[300:400], of[400:]

# %%
# Templates are the mean of one, two or five pictures. The last three pictures of everybody are
# probes.
probes = np.concatenate([known[:, 5:].reshape(-1, 24), strangers[:, 5:].reshape(-1, 24)])
who = np.repeat(np.r_[np.arange(100), np.full(100, -1)], 3)

fig, ax = plt.subplots(figsize=(6, 3.8))
for n in (1, 2, 5):
    scores = model.score_matrix(probes, known[:, :n].mean(axis=1))
    curve = open_set(scores, who, np.arange(100))
    ax.step(100 * curve.fpir, 100 * curve.fnir, where="post", label=f"{n} per person")
ax.set(
    xscale="log",
    xlim=(0.3, 100),
    xticks=[1, 10, 100],
    xticklabels=["1", "10", "100"],
    xlabel="strangers who get a name (FPIR), %",
    ylim=(0, None),
    ylabel="known people missed (FNIR), %",
)
ax.legend(title="pictures")
fig.tight_layout()
