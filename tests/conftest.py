"""Fixtures for all tests."""

import os
from pathlib import Path

import pytest

_SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(autouse=True, scope="session")
def _own_state_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What mien keeps for a user, such as the key of indexes, is not the developer's own."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def data_home() -> Path:
    """The folder of real data: MIEN_DATA, or the one beside a developer's checkout."""
    home = Path(os.environ.get("MIEN_DATA", _SHARED))
    if not home.is_dir():
        pytest.skip("the real data are not here: set MIEN_DATA to their folder")
    return home
