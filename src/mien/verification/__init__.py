"""Is it the same person? Likelihood ratios that carry over to your own domain."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
