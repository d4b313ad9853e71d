"""
A pipeline with a grid search by person
=======================================

A verifier at the end of a scikit-learn pipeline, its parameters chosen by cross-validation in
which nobody is on both sides, judged by the rate that matters.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mien.datasets import make_faces
from mien.evaluation import PairScorer, PersonKFold
from mien.verification import JointBayesian

faces = make_faces(60, 6, size=32, random_state=0)
pixels = faces.images.reshape(len(faces), -1)

# %%
search = GridSearchCV(
    make_pipeline(PCA(random_state=0), JointBayesian()),
    {"pca__n_components": [4, 8, 16, 32, 48]},
    scoring={"eer": PairScorer("eer"), "cllr": PairScorer("cllr")},
    refit="eer",
    cv=PersonKFold(4, random_state=0),
).fit(pixels, faces.people)
print(search.best_params_)

# %%
sizes = np.array(search.param_grid["pca__n_components"])
fig, axes = plt.subplots(1, 2, figsize=(7.5, 3.2))
for ax, name, unit in zip(axes, ("eer", "cllr"), ("equal error rate", "Cllr, bits"), strict=True):
    mean = -search.cv_results_[f"mean_test_{name}"]
    spread = search.cv_results_[f"std_test_{name}"]
    ax.errorbar(sizes, mean, yerr=spread, marker="o", capsize=3)
    ax.set(xlabel="components", ylabel=unit, ylim=(0, None))
fig.tight_layout()
