from ._fastfood import Fastfood
from ._hadamard import hadamard_transform
from ._kitchen_sinks import RandomKitchenSinks

__all__ = ["Fastfood", "RandomKitchenSinks", "hadamard_transform"]
