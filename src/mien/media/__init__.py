"""Pictures and videos as files: listing, decoding, frames, times, drawing, tracks and groups."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
