from ._app import create_app
from ._keys import ROLES, KeyRecord, KeyStore
from ._mqtt import MqttPublisher
from ._serve import make_link, serve
from ._settings import Limits, Settings
from ._state import State, open_state
from ._webhooks import Webhook, check_webhook, sign_webhook

__all__ = [
    "ROLES",
    "KeyRecord",
    "KeyStore",
    "Limits",
    "MqttPublisher",
    "Settings",
    "State",
    "Webhook",
    "check_webhook",
    "create_app",
    "make_link",
    "open_state",
    "serve",
    "sign_webhook",
]
