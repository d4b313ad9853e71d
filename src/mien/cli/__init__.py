"""The command line: each verb a thin skin over one function."""

from mien.cli._app import main

__all__ = ["main"]
