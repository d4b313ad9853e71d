from ._decode import FORMAT
from ._deferred import Deferred
from ._models import describe, load, load_bytes, save, save_bytes
from ._registry import REGISTRY

__all__ = ["FORMAT", "REGISTRY", "Deferred", "describe", "load", "load_bytes", "save", "save_bytes"]
