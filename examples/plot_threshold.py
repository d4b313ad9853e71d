"""
Choosing a threshold
====================

A threshold that accepts one in a hundred impostors cannot be chosen with fifty impostors:
:func:`~mien.evaluation.threshold_at_far` refuses. With more impostors it chooses one, and this
example shows how close the rate on new impostors is to the stated one.
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
# Blue: the rate that each of 30 thresholds has on a million new impostors. Orange: the 95 %
# interval that a single run of that size can state for itself. With 50 and 150 impostors no
# threshold was given.
fig, ax = plt.subplots(figsize=(6.4, 3.8))
for n, rates in zip(counts, realised, strict=True):
    ax.scatter([n] * len(rates), 100 * np.array(rates), s=8, color="C0", alpha=0.5)
    low, high = clopper_pearson_interval(round(0.01 * n), n)
    ax.plot([n * 1.2] * 2, [100 * low, 100 * high], color="C1", lw=2)
ax.scatter([], [], s=8, color="C0", label="rate on new impostors, 30 draws")
ax.plot([], [], color="C1", lw=2, label="95 % interval of one draw")
ax.axhline(1, color="0.5", ls=":", lw=1, label="stated rate")
ax.set(xscale="log", yscale="log", xlabel="impostor scores to choose from", ylabel="rate, %")
ax.set_ylim(0.1, 10)
ax.set_yticks([0.1, 0.3, 1, 3, 10], ["0.1", "0.3", "1", "3", "10"])
ax.set_xticks(counts, [f"{n:,}" for n in counts])
ax.minorticks_off()
ax.legend(frameon=False)
fig.tight_layout()
