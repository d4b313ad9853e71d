from ._app import main
from ._consoles import console, errors
from ._display import note, print_json, showing_progress
from ._lazy import PlainCommand

__all__ = ["PlainCommand", "console", "errors", "main", "note", "print_json", "showing_progress"]
