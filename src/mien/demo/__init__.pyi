from ._album import make_demo_album
from ._data import DemoData, load_demo_data
from ._run import SECTIONS, DemoResult, run_demo
from ._warm import warm_kernels

__all__ = [
    "SECTIONS",
    "DemoData",
    "DemoResult",
    "load_demo_data",
    "make_demo_album",
    "run_demo",
    "warm_kernels",
]
