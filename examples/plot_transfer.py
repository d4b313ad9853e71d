"""
Verification with transfer
==========================

You have a large set of strangers, and a few people of your own, seen by another camera. A model
of the strangers alone does not know your camera. A model of your people alone has seen too few of
them. :class:`~mien.verification.TransferJointBayesian` starts from the first and moves towards
the second.
"""

# %%
# A crowd, and your people, whose vectors another camera has stretched and moved.
import matplotlib.pyplot as plt
import numpy as np

from mien.datasets import make_vectors
from mien.evaluation import PairScorer
from mien.verification import JointBayesian, TransferJointBayesian

X, people = make_vectors(660, 6, 24, separation=1.2, random_state=0)
crowd = people < 400
X_mine, mine = X[~crowd], people[~crowd] - 400
X_mine = X_mine * np.random.default_rng(1).uniform(0.4, 2.0, 24) + 3
test = mine >= 60
source = JointBayesian().fit(X[crowd], people[crowd])

# %%
# The error rate on two hundred other people of the same camera, by the number of people that the
# model could learn from.
eer = PairScorer("eer")
counts = [5, 10, 20, 40, 60]
errors: dict[str, list[float]] = {"foreign set alone": [], "own people alone": [], "transfer": []}
for n in counts:
    own = mine < n
    models = {
        "foreign set alone": source,
        "own people alone": JointBayesian().fit(X_mine[own], mine[own]),
        "transfer": TransferJointBayesian(source).fit(X_mine[own], mine[own]),
    }
    for name, model in models.items():
        errors[name].append(-eer(model, X_mine[test], mine[test]))

# %%
fig, ax = plt.subplots(figsize=(6, 3.6))
for name, values in errors.items():
    ax.plot(counts, 100 * np.array(values), marker="o", label=name)
ax.set(xlabel="own people to learn from", ylabel="equal error rate, %", xticks=counts)
ax.set_ylim(bottom=0)
ax.legend()
fig.tight_layout()
