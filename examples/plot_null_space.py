"""
Learning from tracks without names
==================================

A tracker follows a face for a second. The result is a group of pictures of one person, without a
name. :class:`~mien.subspace.NullSpaceProjection` learns from such groups what changes within a
face, and suppresses it. A name is needed for one picture per person only, at the end.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mien.datasets import make_faces, make_groups
from mien.subspace import NearestNeighbourIdentifier, NullSpaceProjection, RelevantComponents

faces = make_faces(40, 12, size=32, variation=1.5, random_state=0)
pixels = faces.images.reshape(len(faces), -1)
learn = faces.people < 20  # tracks of twenty people …
others = ~learn  # … and twenty other people who are to be recognised

# %%
# One picture of each of the others has a name; the rest are probes.
first = others & (np.arange(len(faces)) % 12 == 0)
probes = others & ~first


def error(transform) -> float:
    known = NearestNeighbourIdentifier().fit(transform(pixels[first]), faces.people[first])
    return np.mean(known.predict(transform(pixels[probes])) != faces.people[probes])


sizes = [2, 3, 4, 6]
errors: dict[str, list[float]] = {"pixels": [], "null space": [], "relevant components": []}
for size in sizes:
    groups = make_groups(faces.people[learn], group_size=size, random_state=0)
    errors["pixels"].append(error(lambda X: X))
    for name, model in (
        ("null space", NullSpaceProjection()),
        ("relevant components", RelevantComponents()),
    ):
        errors[name].append(error(model.fit(pixels[learn], groups).transform))

# %%
fig, ax = plt.subplots(figsize=(6, 3.6))
for name, values in errors.items():
    ax.plot(sizes, 100 * np.array(values), marker="o", label=name)
ax.set(xlabel="pictures per track", ylabel="error on other people, %", xticks=sizes, ylim=(0, 100))
ax.legend(loc="lower left")
fig.tight_layout()
