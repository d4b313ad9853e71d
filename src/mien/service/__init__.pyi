from ._app import create_app
from ._keys import ROLES, KeyRecord, KeyStore, open_state
from ._serve import serve
from ._settings import Limits, Settings

__all__ = [
    "ROLES",
    "KeyRecord",
    "KeyStore",
    "Limits",
    "Settings",
    "create_app",
    "open_state",
    "serve",
]
