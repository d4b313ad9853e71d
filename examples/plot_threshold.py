"""
Choosing a threshold
====================

A threshold that lets one in a thousand impostors through cannot be found with a hundred impostors.
How wide the interval of the realised rate is tells how much one may promise.
"""

# %%
# Scores of a system, and the threshold for a false accept rate of 1 % from ever more of them.
import matplotlib.pyplot as plt
import numpy as np

from mien.errors import NotEnoughDataError
from mien.evaluation import clopper_pearson_interval, threshold_at_far

rng = np.random.default_rng(0)
many = rng.normal(size=1_000_000)  # impostors whom nobody has seen yet
counts = [50, 150, 500, 1500, 5000, 15000]
realised: list[list[float]] = []
for n in counts:
    rates = []
    for _ in range(30):
        try:
            threshold = threshold_at_far(rng.normal(size=n), 0.01)
        except NotEnoughDataError:
            continue
        rates.append(float(np.mean(many >= threshold)))
    realised.append(rates)
    print(f"{n:6d} impostors: {len(rates)} of 30 promise a rate of 1 %")

# %%
# What was realised, and the interval that one run of that size can state for itself.
fig, ax = plt.subplots(figsize=(6.4, 3.8))
for n, rates in zip(counts, realised, strict=True):
    ax.scatter([n] * len(rates), 100 * np.array(rates), s=8, color="C0", alpha=0.5)
    low, high = clopper_pearson_interval(round(0.01 * n), n)
    ax.plot([n * 1.2] * 2, [100 * low, 100 * high], color="C1", lw=2)
ax.axhline(1, color="0.5", ls=":", lw=1)
ax.set(
    xscale="log", yscale="log", xlabel="impostor scores for the choice", ylabel="realised rate, %"
)
fig.tight_layout()
