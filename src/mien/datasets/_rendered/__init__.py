"""People who do not exist, drawn by numbers: at any scale and without anyone's photographs."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
