"""Projections learned from groups without names, and what to do in the projected space."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
