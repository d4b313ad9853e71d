"""From pictures to faces with vectors: engines, alignment, quality, covers, many files, video."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
