"""Two descriptors of the same thing: shared latent variables and super vectors."""

from mien.multiview.bag_classifier import BagClassifier
from mien.multiview.bag_encoder import BagEncoder
from mien.multiview.bags import Bags, check_bags, check_paired_bags, join_views
from mien.multiview.choice import MixtureChoice, choose_mixture
from mien.multiview.fisher_vector import FisherVector
from mien.multiview.mixture_pcca import MixturePCCA
from mien.multiview.super_vector import MixtureGradients, MultiViewSuperVector, mixture_gradients

__all__ = [
    "BagClassifier",
    "BagEncoder",
    "Bags",
    "FisherVector",
    "MixtureChoice",
    "MixtureGradients",
    "MixturePCCA",
    "MultiViewSuperVector",
    "check_bags",
    "check_paired_bags",
    "choose_mixture",
    "join_views",
    "mixture_gradients",
]
