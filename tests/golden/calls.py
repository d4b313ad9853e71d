"""How each golden model is used: name of its file -> function (model, inputs) -> outputs.

When a class or a method is renamed, its line here follows; the files and the expected outputs
never change. Inputs and outputs are dicts of arrays, as ``expected.json`` holds them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]


def _transform(model: Any, given: Arrays) -> Arrays:
    Z = model.transform(given["X"])
    return {"transform": Z.toarray() if hasattr(Z, "toarray") else Z}


def _pictures(model: Any, given: Arrays) -> Arrays:
    """Features of pictures: large, so that a few places and the sums stand for all."""
    Z = np.asarray(model.transform(given["X"]))
    return {"some": Z[:, ::37], "norms": np.linalg.norm(Z, axis=1)}


def _predict(model: Any, given: Arrays) -> Arrays:
    return {"predict": model.predict(given["X"])}


def _proba(model: Any, given: Arrays) -> Arrays:
    return {"proba": model.predict_proba(given["X"]), "predict": model.predict(given["X"])}


def _complete(model: Any, given: Arrays) -> Arrays:
    done = model.complete(given["faces"], details=True)
    return {"faces": done.faces, "confidence": done.confidence}


def _pairs(model: Any, given: Arrays) -> Arrays:
    return {"pairs": model.score_pairs(given["X"][::2], given["X"][1::2])}


def _sets(verifier: Any, given: Arrays) -> Arrays:
    X = given["X"]
    return {
        "pairs": verifier.score_pairs(X[::2], X[1::2]),
        "sets": verifier.score_sets([X[:1], X[6:8]], [X[1:4], X[7:10]]),
        "threshold": np.asarray([verifier.threshold(fpir=0.1, n_people=2)]),
    }


def _face_verifier(model: Any, given: Arrays) -> Arrays:
    return _sets(model.verifier, given) | {"card": np.asarray([model.card["people"]])}


def _group_statistics(statistics: Any, given: Arrays) -> Arrays:
    return {
        "within": statistics.within_scatter(),
        "between": statistics.between_scatter(),
        "total": statistics.scatter(),
    }


def _bayesian_statistics(statistics: Any, given: Arrays) -> Arrays:
    from mien.verification import JointBayesian

    counts = np.asarray([statistics.n_groups, statistics.n_samples])
    return {"counts": counts} | _pairs(JointBayesian(prior_people=0).fit(statistics), given)


CALLS: dict[str, Callable[[Any, Arrays], Arrays]] = {
    "BagClassifier": lambda m, g: {"decision": m.decision_function(list(g["bags"]))},
    "BagEncoder": lambda m, g: {"transform": m.transform(g["pictures"])[:, ::5]},
    "CalibratedVerifier": _pairs,
    "ClassDependenceFeatures": _transform,
    "Committee": _proba,
    "ConstrainedClustering": lambda m, g: {"labels": m.labels_},
    "Eigenfaces": _transform,
    "FaceHallucinator-blend": _complete,
    "FaceHallucinator-dw-ksvd": _complete,
    "FaceHallucinator-fastfood": _complete,
    "FaceHallucinator-feature-ridge": _complete,
    "FaceHallucinator-ksvd": _complete,
    "FaceHallucinator-low-rank": _complete,
    "FaceHallucinator-mixture-pcca": _complete,
    "FaceHallucinator-pca": _complete,
    "FaceHallucinator-ridge": _complete,
    "FaceVerifier": _face_verifier,
    "FaceVerifier-transfer": _face_verifier,
    "Fastfood": lambda m, g: _transform(m, g) | {"back": m.inverse_transform(m.transform(g["X"]))},
    "FisherVector": lambda m, g: {"transform": m.transform(list(g["bags"]))},
    "Fisherfaces": _transform,
    "GridLBP": _pictures,
    "GroupStatistics": _group_statistics,
    "JointBayesian": _pairs,
    "JointBayesianStatistics": _bayesian_statistics,
    "KSVD": _transform,
    "KernelNullSpaceProjection": _transform,
    "KernelRelevantComponents": _transform,
    "LandmarkLBP": lambda m, g: {
        "norms": np.linalg.norm(m.transform(g["X"], landmarks=g["landmarks"]), axis=1)
    },
    "LogisticCalibration": lambda m, g: {"transform": m.transform(g["scores"])},
    "MixturePCCA": lambda m, g: {"view": m.predict_view(g["X"]), "proba": m.predict_proba(g["X"])},
    "MultiViewSuperVector": lambda m, g: {"transform": m.transform(list(g["bags"]), list(g["Y"]))},
    "NearestNeighbourIdentifier": _predict,
    "NullSpaceLDA": _transform,
    "NullSpaceProjection": _transform,
    "OpenSetVerifier": _sets,
    "PairedDescriptors": lambda m, g: {
        "first": m.transform(g["pictures"])[0][0][::5],
        "second": m.transform(g["pictures"])[1][0][::5],
    },
    "PixelFeatures": _pictures,
    "RandomKitchenSinks": _transform,
    "RandomSamplingLDA": _proba,
    "RelevantComponents": _transform,
    "TransferJointBayesian": _pairs,
    "WeightedKSVD": lambda m, g: (
        _transform(m, g)
        | {"visible": m.transform_visible(g["X"][:, : g["X"].shape[1] // 2]).toarray()}
    ),
    "sklearn-GaussianMixture": _predict,
    "sklearn-KMeans": _predict,
    "sklearn-LDA": _proba,
    "sklearn-LabelBinarizer": lambda m, g: {"transform": m.transform(g["y"])},
    "sklearn-LinearSVC": _predict,
    "sklearn-LogisticRegression": _proba,
    "sklearn-MinMaxScaler": _transform,
    "sklearn-Normalizer": _transform,
    "sklearn-OneVsRestClassifier": _predict,
    "sklearn-PCA": _transform,
    "sklearn-Pipeline": _predict,
    "sklearn-SVC": _predict,
    "sklearn-StandardScaler": _transform,
}
