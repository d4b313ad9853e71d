"""
Denoising with K-SVD
====================

A dictionary is learned from the patches of a noisy picture itself. Each patch is then written with
a few atoms; noise does not fit into few atoms, and stays out.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.image import extract_patches_2d, reconstruct_from_patches_2d

from mien.datasets import make_faces
from mien.evaluation import psnr
from mien.sparse import KSVD, orthogonal_matching_pursuit

clean = make_faces(1, 1, size=96, noise=0, random_state=7).images[0].astype(np.float64)
sigma = 0.08
noisy = clean + sigma * np.random.default_rng(0).normal(size=clean.shape)

# %%
# Patches of 8×8 pixels without their means, and 96 atoms for them.
patches = extract_patches_2d(noisy, (8, 8)).reshape(-1, 64)
means = patches.mean(axis=1, keepdims=True)
some = np.random.default_rng(0).choice(len(patches), 3000, replace=False)
model = KSVD(96, n_nonzero_coefs=4, max_iter=10, random_state=0).fit((patches - means)[some])

# %%
# As many atoms as it takes to leave a residual of the size of the noise.
codes = orthogonal_matching_pursuit(patches - means, model.components_, tol=1.1 * sigma * 8)
whole = (codes @ model.components_ + means).reshape(-1, 8, 8)
denoised = reconstruct_from_patches_2d(whole, clean.shape)

fig, axes = plt.subplots(1, 3, figsize=(7, 2.8))
for ax, picture, name in zip(
    axes, (clean, noisy, denoised), ("clean", "noisy", "K-SVD"), strict=True
):
    ax.imshow(np.clip(picture, 0, 1), cmap="gray", vmin=0, vmax=1)
    decibels = (
        ""
        if picture is clean
        else f", {float(psnr(np.clip(picture, 0, 1)[None], np.clip(clean, 0, 1)[None])[0]):.1f} dB"
    )
    ax.set_title(name + decibels, fontsize=9)
    ax.axis("off")
fig.tight_layout()
