"""The same learners and numbers over the processes of a machine, or the workers of Dask."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
