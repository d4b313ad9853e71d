from ._faces import analyse
from ._fit import collect, fit
from ._neighbours import finding_neighbours
from ._pairs import evaluate_pairs
from ._team import connect, workers_of

__all__ = [
    "analyse",
    "collect",
    "connect",
    "evaluate_pairs",
    "finding_neighbours",
    "fit",
    "workers_of",
]
