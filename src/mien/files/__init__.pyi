from ._decode import FORMAT
from ._models import describe, load, load_bytes, save, save_bytes
from ._registry import REGISTRY

__all__ = ["FORMAT", "REGISTRY", "describe", "load", "load_bytes", "save", "save_bytes"]
