from ._app import create_app
from ._keys import ROLES, KeyRecord, KeyStore
from ._serve import make_link, serve
from ._settings import Limits, Settings
from ._state import State, open_state

__all__ = [
    "ROLES",
    "KeyRecord",
    "KeyStore",
    "Limits",
    "Settings",
    "State",
    "create_app",
    "make_link",
    "open_state",
    "serve",
]
