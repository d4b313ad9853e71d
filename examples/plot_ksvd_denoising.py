"""
Denoising with K-SVD
====================

:class:`~mien.sparse.KSVD` learns a dictionary from the patches of the noisy picture itself. Each
patch is then written as a sum of a few atoms of the dictionary. Noise cannot be written with few
atoms, so it is left out.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.image import extract_patches_2d, reconstruct_from_patches_2d

from mien.datasets import make_faces
from mien.evaluation import psnr
from mien.sparse import KSVD, orthogonal_matching_pursuit

clean = make_faces(1, 1, size=80, noise=0, random_state=7).images[0].astype(np.float64)
clean = (clean - clean.min()) / np.ptp(clean)
sigma = 0.07
noisy = clean + sigma * np.random.default_rng(0).normal(size=clean.shape)

# %%
# Patches of 6×6 pixels without their means, and 64 atoms for them.
patches = extract_patches_2d(noisy, (6, 6)).reshape(-1, 36)
means = patches.mean(axis=1, keepdims=True)
some = np.random.default_rng(0).choice(len(patches), 2500, replace=False)
model = KSVD(64, n_nonzero_coefs=3, max_iter=8, random_state=0).fit((patches - means)[some])

# %%
# Each patch takes as many atoms as are needed to leave a residual of the size of the noise. A
# pixel is then the mean of the 36 patches that hold it.
tol = (1.1 * sigma * 6) ** 2  # squared norm of a residual
codes = orthogonal_matching_pursuit(patches - means, model.components_, tol=tol)
whole = (codes @ model.components_ + means).reshape(-1, 6, 6)
denoised = reconstruct_from_patches_2d(whole, clean.shape)
print(f"{np.mean((codes != 0).sum(axis=1)):.1f} atoms per patch")


# %%
# Some atoms are edges and gradients of the face; patches of the background leave noise in others.
def decibels(picture: np.ndarray) -> float:
    return float(psnr(np.clip(picture, 0, 1)[None], clean[None])[0])


atoms = np.full((8 * 7 - 1, 8 * 7 - 1), np.nan)
for k, atom in enumerate(model.components_):
    row, column = 7 * (k // 8), 7 * (k % 8)
    atoms[row : row + 6, column : column + 6] = atom.reshape(6, 6) / np.abs(atom).max()

fig, axes = plt.subplots(1, 4, figsize=(9.5, 2.8))
for ax, picture, title in (
    (axes[0], clean, "clean"),
    (axes[1], noisy, f"noisy, {decibels(noisy):.1f} dB"),
    (axes[2], denoised, f"K-SVD, {decibels(denoised):.1f} dB"),
):
    ax.imshow(np.clip(picture, 0, 1), cmap="gray", vmin=0, vmax=1)
    ax.set_title(title, fontsize=10)
axes[3].imshow(atoms, cmap="gray")
axes[3].set_title("atoms", fontsize=10)
for ax in axes:
    ax.axis("off")
fig.tight_layout()
