"""Groups of verbs whose modules are imported when a verb is run or asked for its help."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, NamedTuple, get_args

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

__all__ = ["PlainCommand", "Verb", "make_group_class"]

#: What help shows in place of a type of Python.
_WORDS = {int: "N", float: "NUMBER", str: "TEXT", Path: "PATH"}


class Verb(NamedTuple):
    """Where a verb is, and its line in the list of verbs.

    Attributes
    ----------
    place : str or dict of Verb
        ``"module"``, whose function ``run`` is the verb; ``"module:function"``; or the verbs of a
        group.
    about : str
        One sentence. The help of the verb itself is the docstring of its function.
    """

    place: str | dict[str, Any]
    about: str


def _say_plainly(params: list[Any]) -> list[Any]:
    """Let help name values in words: nothing behind a switch, and no types of Python."""
    for param in params:
        if isinstance(param, TyperArgument):
            param.display_type_rich = lambda ctx: None  # type: ignore[method-assign]
        elif param.metavar is None:
            kind = getattr(param.type_descriptor, "annotation", str)
            kind = (get_args(kind) or (kind,))[0]
            param.metavar = "" if param.is_flag else _WORDS.get(kind, "TEXT")
    return params


class PlainCommand(TyperCommand):
    """A verb whose help speaks of names and numbers."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _say_plainly(super().get_params(ctx))


class _LazyGroup(TyperGroup):
    """A group that knows the names of its verbs, and loads one of them at a time."""

    verbs: dict[str, Verb]
    _listing = False

    def get_params(self, ctx: Any) -> list[Any]:
        return _say_plainly(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.verbs)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        verb = self.verbs.get(cmd_name)
        if verb is None:
            return None
        if self._listing:
            return TyperCommand(name=cmd_name, help=verb.about)
        if isinstance(verb.place, dict):
            group = make_group_class(verb.place)
            return group(name=cmd_name, help=verb.about, no_args_is_help=True)
        module, _, function = verb.place.partition(":")
        single = typer.Typer(add_completion=False, rich_markup_mode="rich")
        run = getattr(importlib.import_module(module), function or "run")
        single.command(cmd_name, cls=PlainCommand)(run)
        return typer.main.get_command(single)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """List the verbs by their lines in the table: none of them is imported for it."""
        self._listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listing = False


def make_group_class(verbs: dict[str, Verb]) -> type[TyperGroup]:
    """A class of group for a table of verbs, as ``typer.Typer(cls=…)`` takes it."""
    return type("LazyGroup", (_LazyGroup,), {"verbs": verbs})
