"""Random features that stand for a kernel, and the way back."""

from mien.kernelmaps.fastfood import Fastfood
from mien.kernelmaps.hadamard import hadamard_transform
from mien.kernelmaps.kitchen_sinks import RandomKitchenSinks

__all__ = ["Fastfood", "RandomKitchenSinks", "hadamard_transform"]
