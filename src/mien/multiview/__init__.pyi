from ._bag_classifier import BagClassifier
from ._bag_encoder import BagEncoder
from ._bags import Bags, check_bags, check_paired_bags, join_views
from ._choice import MixtureChoice, choose_mixture
from ._fisher_vector import FisherVector
from ._mixture_pcca import MixturePCCA
from ._super_vector import MixtureGradients, MultiViewSuperVector, mixture_gradients

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
