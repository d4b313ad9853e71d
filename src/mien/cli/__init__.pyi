from ._app import main
from ._consoles import console, errors
from ._display import note, print_json, showing_progress

__all__ = ["console", "errors", "main", "note", "print_json", "showing_progress"]
