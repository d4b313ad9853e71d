"""The verbs on cut-out faces and on vectors: no face is looked for, pictures are used whole."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
