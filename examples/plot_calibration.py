"""
Calibration: from a score to a likelihood ratio
===============================================

A score of 0.4 means nothing by itself. A calibrated log-likelihood ratio of +2.3 does: the pair
is ten times as likely if it shows one person as if it shows two. Cllr measures how far a set of
ratios is from that, in bits. A Tippett plot shows it.
"""

# %%
# Cosines of pairs: half of the people calibrate, the other half judge.
import matplotlib.pyplot as plt
import numpy as np

from mien.datasets import make_pairs, make_vectors
from mien.evaluation import LogisticCalibration, cllr, min_cllr

X, people = make_vectors(200, 4, 32, separation=1.0, random_state=0)
pairs, same = make_pairs(people, n_genuine=1000, n_impostor=4000, random_state=0)
unit = X / np.linalg.norm(X, axis=1, keepdims=True)
cosine = (unit[pairs[:, 0]] * unit[pairs[:, 1]]).sum(axis=1)
learn = people[pairs].max(axis=1) < 100  # pairs of the first hundred people
judge = people[pairs].min(axis=1) >= 100  # pairs of the other hundred

# %%
# A cosine, taken for a log ratio as it stands, and the calibrated one.
calibration = LogisticCalibration().fit(cosine[learn], same[learn])
ratios = calibration.transform(cosine[judge])
raw = cosine[judge]
truth = same[judge]
for name, values in (("cosine as it stands", raw), ("calibrated", ratios)):
    bits = cllr(values[truth], values[~truth])
    best = min_cllr(values[truth], values[~truth])
    print(f"{name:20s} Cllr {bits:.3f} bits; the best calibration in hindsight {best:.3f}")

# %%
# A Tippett plot: the share of pairs with at least a given ratio. For a calibrated system, few
# pairs of two people lie right of 0 and few pairs of one person left of it. The raw cosine has no
# such scale: all its values are close to 0.
fig, ax = plt.subplots(figsize=(7, 3.8))
for k, (name, values) in enumerate((("cosine as it stands", raw), ("calibrated", ratios))):
    for part, style in ((values[truth], "-"), (values[~truth], ":")):
        at = np.sort(part)
        ax.plot(at, 100 * np.linspace(1, 0, len(at)), style, color=f"C{k}")
    ax.plot([], [], color=f"C{k}", label=name)
ax.plot([], [], "-", color="0.4", label="one person")
ax.plot([], [], ":", color="0.4", label="two people")
ax.axvline(0, color="0.6", lw=1)
ax.set(xlabel="log-likelihood ratio", ylabel="pairs at or above, %", xlim=(-8, 8))
ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
fig.tight_layout()
