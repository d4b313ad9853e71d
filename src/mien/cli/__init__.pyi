from ._app import main
from ._display import console, errors, note, print_json, showing_progress

__all__ = ["console", "errors", "main", "note", "print_json", "showing_progress"]
