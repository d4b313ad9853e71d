"""Folds, strengths and repetitions as tasks of workers: the same numbers, in the same order."""

from __future__ import annotations

import numpy as np
import pytest

from mien._core.parallel import map_tasks
from mien._core.progress import listening
from mien.distributed import use_workers, workers_of
from mien.errors import InputError
from mien.verification import JointBayesian, TransferJointBayesian, Verifier
from tests.near import assert_near


def add(item: int, one: int, other: int) -> int:
    return 100 * item + one + other


def refuse(item: int) -> int:
    raise InputError(f"{item} is refused")


def nested(item: int) -> list[int]:
    return map_tasks(add, [item], 1, 2)


@pytest.mark.parametrize("n_workers", [1, 2])
def test_results_come_in_order(n_workers):
    expected = [100 * k + 5 for k in range(7)]
    assert map_tasks(add, range(7), 2, 3) == expected
    assert map_tasks(add, range(7), 2, 3, threads=True) == expected
    seen: list[tuple[str, int, int | None]] = []
    with use_workers(n_workers=n_workers), listening(lambda *said: seen.append(said)):
        assert map_tasks(add, range(7), 2, 3, words="sums") == expected
        assert map_tasks(nested, [4]) == [[403]]
        with pytest.raises(InputError, match="3 is refused"):
            map_tasks(refuse, [3])
    assert ("sums", 7, 7) in seen


def draw(seed: int, n_people: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(n_people), 4)
    X = 2 * rng.normal(size=(n_people, 6))[people] + rng.normal(size=(4 * n_people, 6))
    return X, people


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_strengths_and_folds_are_those_without_workers():
    source = JointBayesian().fit(*draw(0, 120))
    X, people = draw(1, 30)

    def learn() -> tuple[TransferJointBayesian, Verifier]:
        model = TransferJointBayesian(source, random_state=0).fit(X, people)
        again = TransferJointBayesian(source, model.source_people_)
        settings = {"cross_fit": True, "random_state": 0, "n_splits": 3}
        return model, Verifier(again, (1,), **settings).fit(X, people)

    model, verifier = learn()
    with use_workers(n_workers=2):
        by_workers, checked = learn()
    assert by_workers.source_people_ == model.source_people_
    assert_near(by_workers.strength_path_["cllr"], model.strength_path_["cllr"], 8)
    assert_near(checked.coefficients_, verifier.coefficients_, 8)


@pytest.mark.needs("distributed")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_client_that_was_given_stays_open():
    from distributed import Client

    with Client(processes=False, n_workers=1, dashboard_address=None) as client:
        with workers_of(client) as same:
            assert same is client
            assert map_tasks(add, range(3), 1, 1) == [2, 102, 202]
        assert client.status == "running"
    with workers_of(None) as nobody:
        assert nobody is None
