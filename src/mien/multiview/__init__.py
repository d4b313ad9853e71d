"""Two descriptors of the same thing: shared latent variables and super vectors."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
