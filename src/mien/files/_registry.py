"""The classes that a model file may hold; nothing else is ever constructed from one."""

from __future__ import annotations

import importlib
from typing import Any

from mien.errors import InputError, ModelFormatError

__all__ = ["REGISTRY", "RUNTIME", "find_class", "registered_name"]

#: Name in the file -> where the class is. A name stays for ever: old files are read by it.
REGISTRY: dict[str, str] = {
    "mien.AutoCompleter": "mien.completion:AutoCompleter",
    "mien.BagClassifier": "mien.multiview:BagClassifier",
    "mien.BagEncoder": "mien.multiview:BagEncoder",
    "mien.BlendCompleter": "mien.completion:BlendCompleter",
    "mien.ClassDependenceFeatures": "mien.subspace:ClassDependenceFeatures",
    "mien.Committee": "mien.committee:Committee",
    "mien.ConstrainedClustering": "mien.subspace:ConstrainedClustering",
    "mien.DictionaryCompleter": "mien.completion:DictionaryCompleter",
    "mien.Eigenfaces": "mien.subspace:Eigenfaces",
    "mien.ExportedRows": "mien.gallery._export:ExportedRows",
    "mien.FaceCompleter": "mien.completion:FaceCompleter",
    "mien.FaceModel": "mien.gallery:FaceModel",
    "mien.Fastfood": "mien.kernelmaps:Fastfood",
    "mien.FastfoodCompleter": "mien.completion:FastfoodCompleter",
    "mien.FeatureRidgeCompleter": "mien.completion:FeatureRidgeCompleter",
    "mien.FisherVector": "mien.multiview:FisherVector",
    "mien.Fisherfaces": "mien.subspace:Fisherfaces",
    "mien.GridLBP": "mien.features:GridLBP",
    "mien.GroupStatistics": "mien.subspace:GroupStatistics",
    "mien.JointBayesian": "mien.verification:JointBayesian",
    "mien.KSVD": "mien.sparse:KSVD",
    "mien.KernelNullSpaceProjection": "mien.subspace:KernelNullSpaceProjection",
    "mien.KernelRelevantComponents": "mien.subspace:KernelRelevantComponents",
    "mien.LandmarkLBP": "mien.features:LandmarkLBP",
    "mien.LightNormalizer": "mien.features:LightNormalizer",
    "mien.LogisticCalibration": "mien.evaluation:LogisticCalibration",
    "mien.LowRankCompleter": "mien.completion:LowRankCompleter",
    "mien.MixtureCompleter": "mien.completion:MixtureCompleter",
    "mien.MixturePCCA": "mien.multiview:MixturePCCA",
    "mien.MultiViewSuperVector": "mien.multiview:MultiViewSuperVector",
    "mien.NearestNeighbourIdentifier": "mien.subspace:NearestNeighbourIdentifier",
    "mien.NullSpaceLDA": "mien.subspace:NullSpaceLDA",
    "mien.NullSpaceProjection": "mien.subspace:NullSpaceProjection",
    "mien.PCACompleter": "mien.completion:PCACompleter",
    "mien.PairedDescriptors": "mien.features:PairedDescriptors",
    "mien.PixelFeatures": "mien.features:PixelFeatures",
    "mien.RandomKitchenSinks": "mien.kernelmaps:RandomKitchenSinks",
    "mien.RandomSamplingLDA": "mien.committee:RandomSamplingLDA",
    "mien.RelevantComponents": "mien.subspace:RelevantComponents",
    "mien.RidgeCompleter": "mien.completion:RidgeCompleter",
    "mien.ThresholdTable": "mien.verification:ThresholdTable",
    "mien.TransferJointBayesian": "mien.verification:TransferJointBayesian",
    "mien.Verifier": "mien.verification:Verifier",
    "mien.WeightedKSVD": "mien.sparse:WeightedKSVD",
    "sklearn.GaussianMixture": "sklearn.mixture:GaussianMixture",
    "sklearn.KMeans": "sklearn.cluster:KMeans",
    "sklearn.LDA": "sklearn.discriminant_analysis:LinearDiscriminantAnalysis",
    "sklearn.LabelBinarizer": "sklearn.preprocessing:LabelBinarizer",
    "sklearn.LinearSVC": "sklearn.svm:LinearSVC",
    "sklearn.LogisticRegression": "sklearn.linear_model:LogisticRegression",
    "sklearn.MinMaxScaler": "sklearn.preprocessing:MinMaxScaler",
    "sklearn.Normalizer": "sklearn.preprocessing:Normalizer",
    "sklearn.OneVsRestClassifier": "sklearn.multiclass:OneVsRestClassifier",
    "sklearn.PCA": "sklearn.decomposition:PCA",
    "sklearn.Pipeline": "sklearn.pipeline:Pipeline",
    "sklearn.StandardScaler": "sklearn.preprocessing:StandardScaler",
}

#: Parameters and attributes that say how a model is run, not what it is: paths, caches, numbers
#: of jobs. They are neither written to a file nor taken from one; the class's defaults are used.
RUNTIME = (
    "callback",
    "checkpoint",
    "memory",
    "n_jobs",
    "verbose",
    "verbose_interval",
    "_n_threads",
    "_sklearn_output_config",
)


def registered_name(value: Any, where: str) -> str:
    cls = type(value)
    for name, place in REGISTRY.items():
        if place.rpartition(":")[2] == cls.__qualname__ and find_class(place) is cls:
            return name
    raise InputError(
        f"{where} is a {cls.__module__}.{cls.__qualname__}, which is not registered for model "
        f"files; registered are {', '.join(sorted(REGISTRY))}"
    )


def find_class(place: str) -> type:
    module, _, name = place.partition(":")
    found = getattr(importlib.import_module(module), name)
    if not isinstance(found, type):
        raise ModelFormatError(f"{place} is not a class")
    return found
