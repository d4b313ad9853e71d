from ._faces import analyse
from ._fit import collect, fit
from ._neighbours import finding_neighbours
from ._pairs import evaluate_pairs
from ._tasks import use_workers, workers_of
from ._team import connect

__all__ = [
    "analyse",
    "collect",
    "connect",
    "evaluate_pairs",
    "finding_neighbours",
    "fit",
    "use_workers",
    "workers_of",
]
