"""Pages, tables and figures from numbers; the only package that knows matplotlib.

Every ``plot_`` function takes plain arrays and returns a ``matplotlib.figure.Figure``; nothing is
shown and no global state is touched. The colours can be told apart by colour-blind readers and the
lines also differ by their dashes. In a :class:`Report` the figures follow the reader's light or
dark mode.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
