from ._app import main
from ._display import console, errors, print_json, showing_progress

__all__ = ["console", "errors", "main", "print_json", "showing_progress"]
