"""
Completing covered faces
========================

A completer has seen whole faces of other people. Of a covered face it reads the visible part
only, and fills in what is most likely behind the cover. It is a guess: it may please the eye and
still be somebody else.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mien.completion import FaceCompleter, make_cover
from mien.datasets import make_faces
from mien.evaluation import psnr

faces = make_faces(110, 4, size=32, random_state=0)
train, test = faces.images[:400], faces.images[400:404]
cover = make_cover("below-eyes", (32, 32))

# %%
# Three methods: the mean of what is hidden given what is seen, by PCA, by ridge regression and by
# a mixture.
methods = {name: FaceCompleter(name, cover="below-eyes") for name in ("pca", "ridge", "mixture")}
rows = {"given": np.where(cover, 0.5, test)}
for name, model in methods.items():
    rows[name] = model.fit(train, people=faces.people[:400]).complete(test)
rows["truth"] = test

# %%
fig, axes = plt.subplots(len(rows), len(test), figsize=(6, 7.5))
for row, (name, pictures) in zip(axes, rows.items(), strict=True):
    for ax, picture in zip(row, pictures, strict=True):
        ax.imshow(picture, cmap="gray", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
    hidden = "" if name in ("given", "truth") else f"\n{np.mean(psnr(pictures, test)):.1f} dB"
    row[0].set_ylabel(name + hidden, rotation=0, ha="right", va="center")
fig.tight_layout()
