"""One file a paper: data, pipeline, protocol, published number; the demo; other people's scores.

Import what you need from its module, such as :mod:`mien.experiments.demo` or
:mod:`mien.experiments.scores`: each loads only the rooms that it uses.
"""

__all__: list[str] = []
