from ._decode import FORMAT
from ._deferred import Deferred
from ._models import check_replaceable, describe, load, load_bytes, save, save_bytes
from ._registry import REGISTRY

__all__ = [
    "FORMAT",
    "REGISTRY",
    "Deferred",
    "check_replaceable",
    "describe",
    "load",
    "load_bytes",
    "save",
    "save_bytes",
]
