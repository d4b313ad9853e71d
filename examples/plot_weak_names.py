"""
Names without boxes
===================

Google Takeout lists who is on a photograph, and not where. :class:`~mien.verification.WeakNames`
finds out which face has which name, from many such photographs together; some names are missing,
some are wrong, and some faces belong to nobody who is listed.
"""

# %%
# Photographs of one to four people out of twelve; a fifth of the names is missing.
import matplotlib.pyplot as plt
import numpy as np

from mien.datasets import make_vectors
from mien.verification import JointBayesian, Verifier, WeakNames

X, people = make_vectors(300, 20, 24, separation=1.0, random_state=0)
X /= np.linalg.norm(X, axis=1, keepdims=True)
model = JointBayesian().fit(X[people < 150], people[people < 150])
calibrate = (people >= 150) & (people < 250)
verifier = Verifier(model, random_state=0).fit(X[calibrate], people[calibrate])

rng = np.random.default_rng(0)
family = np.array(["Ann", "Bob", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hana", "Ivo", "Joan"])
left = {k: list(np.flatnonzero(people == 250 + k)) for k in range(10)}
faces, bags, names, truth = [], [], [], []
for photo in range(70):
    there = rng.choice([k for k in left if left[k]], size=rng.integers(1, 4), replace=False)
    names.append([family[k] for k in there if rng.random() > 0.2])
    for k in there:
        faces.append(X[left[k].pop()])
        bags.append(photo)
        truth.append(family[k])

# %%
# Beside it: only the photographs that leave no choice, one face and one name.
weak = WeakNames(verifier).fit(np.array(faces), bags, names)
counts = np.bincount(bags)
alone = [names[b][0] if counts[b] == 1 and len(names[b]) == 1 else None for b in bags]
rows = {"one face and one name": alone, "WeakNames": weak.labels_}
shares = {
    name: [
        np.mean([a == b for a, b in zip(found, truth, strict=True)]),
        np.mean([a is None for a in found]),
        np.mean([a is not None and a != b for a, b in zip(found, truth, strict=True)]),
    ]
    for name, found in rows.items()
}

# %%
fig, ax = plt.subplots(figsize=(6.4, 2.4))
start = np.zeros(2)
for k, (word, colour) in enumerate((("right", "C0"), ("left open", "0.8"), ("wrong", "C3"))):
    values = np.array([100 * shares[name][k] for name in rows])
    ax.barh(list(rows), values, left=start, color=colour, label=word, height=0.5)
    start += values
ax.set(xlabel="faces, %", xlim=(0, 100))
ax.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.3), frameon=False)
fig.tight_layout()
