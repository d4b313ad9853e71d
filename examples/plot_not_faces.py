"""
Vectors that are not faces
==========================

Everything here works on any vectors with identities: speakers, animals, products, handwriting.
Here the identities are handwritten digits. The verifier learns from the digits 0 to 5 what makes
two pictures the same digit, and is judged on 6 to 9, which it has never seen.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mien.datasets import make_pairs
from mien.evaluation import equal_error_rate, roc
from mien.subspace import RelevantComponents
from mien.verification import JointBayesian

X, digit = load_digits(return_X_y=True)
learn = digit <= 5
X = X[:, X[learn].std(axis=0) > 0] / 16  # the corners are always white
pairs, same = make_pairs(digit[~learn], n_genuine=3000, n_impostor=3000, random_state=0)
A, B = X[~learn][pairs[:, 0]], X[~learn][pairs[:, 1]]


def cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


# %%
# Three ways to compare: pixels, a whitening of what varies within a digit, and a likelihood ratio.
whiten = RelevantComponents().fit(X[learn], digit[learn])
model = JointBayesian().fit(X[learn], digit[learn])
scores = {
    "cosine of pixels": cosine(A, B),
    "relevant components": cosine(whiten.transform(A), whiten.transform(B)),
    "Joint Bayesian": model.score_pairs(A, B),
}

# %%
fig, ax = plt.subplots(figsize=(5, 4))
for name, values in scores.items():
    curve = roc(values[same], values[~same])
    error = equal_error_rate(values[same], values[~same])
    ax.plot(curve.far, curve.vr, label=f"{name} (EER {100 * error:.1f} %)")
ax.set(xscale="log", xlim=(1e-3, 1), xlabel="false accepts", ylabel="true accepts", ylim=(0, 1.02))
ax.legend(loc="lower right", fontsize=8)
fig.tight_layout()
