"""Section of the demo: two kinds of descriptor, encoded apart, side by side and together."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from mien.datasets import split_pictures
from mien.demo._data import DemoData
from mien.errors import NotEnoughDataError
from mien.evaluation import bootstrap_mean_interval
from mien.features import PairedDescriptors
from mien.multiview import FisherVector, MixturePCCA, MultiViewSuperVector, join_views
from mien.reports import Report, plot_curves

__all__ = ["compare_two_views"]

_PEOPLE = 30
_PICTURES = 6
_TRAIN = 3


def compare_two_views(data: DemoData, report: Report) -> None:
    """Name people by gradients and LBP of patches."""
    names, counts = np.unique(data.train.people, return_counts=True)
    names = names[counts > _TRAIN][:_PEOPLE]
    if names.size < 3:
        raise NotEnoughDataError(f"three people with more than {_TRAIN} pictures are needed")
    rows = np.concatenate([np.flatnonzero(data.train.people == p)[:_PICTURES] for p in names])
    faces = data.train.select(rows)
    train, test = next(split_pictures(faces.people, _TRAIN, 1, data.random_state))
    seed = data.random_state
    describe = PairedDescriptors(step=8, n_components=16, random_state=seed)
    describe.fit(faces.images[train])
    learn, tell = (describe.transform(faces.images[part]) for part in (train, test))
    options: dict[str, Any] = {"max_descriptors": 8000, "random_state": seed}
    mixture = MixturePCCA(8, 4, tol=1e-2, max_iter=20, floor=1e-4, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one, two = (FisherVector(8, max_iter=20, **options).fit(view) for view in learn)
        joint = FisherVector(8, max_iter=20, **options).fit(join_views(*learn))
        both = MultiViewSuperVector(mixture, **options).fit(*learn)
        encoded = {
            "Fisher vector of gradients": [one.transform(part[0]) for part in (learn, tell)],
            "Fisher vector of LBP": [two.transform(part[1]) for part in (learn, tell)],
            "joint Fisher vector": [joint.transform(join_views(*part)) for part in (learn, tell)],
            "super vector": [both.transform(*part) for part in (learn, tell)],
        }
        found, people = {}, faces.people
        for name, (known, new) in encoded.items():
            machine = LinearSVC(C=10.0, random_state=0).fit(known, people[train])
            hits = machine.predict(new) == people[test]
            interval = bootstrap_mean_interval(
                hits, people[test], n_bootstrap=300, random_state=seed
            )
            found[name] = (float(hits.mean()), *interval)
    report.heading("Two views: gradients and LBP")
    report.text(
        f"Each picture is a bag of patches with two descriptors each. {_TRAIN} pictures of "
        f"{names.size} people are learned, {len(test)} others named by linear support vector "
        "machines. The super vector holds what both descriptors share and what each has alone."
    )
    report.table(
        "Naming people by encoded patches",
        [
            {"encoding": name, "numbers": encoded[name][0].shape[1], "named rightly": value}
            for name, value in found.items()
        ],
        "In brackets: 95 % intervals, people resampled.",
    )
    z = both.mixture_.bound_
    report.figure(
        plot_curves(
            {"mean log-likelihood": (np.arange(1, len(z) + 1), z)},
            "Iteration",
            "Mean log-likelihood of a pair",
            "EM of the mixture of probabilistic CCA",
        ),
        "The likelihood never falls.",
    )
    data.add_result("super vector of gradients and LBP", "named rightly", found["super vector"])
