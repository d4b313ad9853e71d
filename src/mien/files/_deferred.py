"""Objects of a model file whose values are checked, and which are constructed when needed."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

__all__ = ["Deferred"]


class Deferred:
    """The checked values of an object in a file, before the object is constructed.

    What only decides reads arrays from :meth:`values`; what learns asks :meth:`build` for the
    estimator.

    Parameters
    ----------
    name : str
        Registered name of the class.
    params, state : dict
        Its parameters and its fitted attributes, which satisfy the statement of the class.
    construct : callable
        Makes the object from these three.
    """

    def __init__(
        self,
        name: str,
        params: dict[str, Any],
        state: dict[str, Any],
        construct: Callable[[str, dict[str, Any], dict[str, Any]], Any],
    ) -> None:
        self._name = name
        self._params = params
        self._state = state
        self._construct = construct

    @property
    def class_name(self) -> str:
        """Name of the class that it will be."""
        return self._name.rpartition(".")[2]

    def values(self) -> SimpleNamespace:
        """The parameters and the fitted attributes, by name."""
        every = self._params | self._state
        return SimpleNamespace(
            **{name: v.values() if isinstance(v, Deferred) else v for name, v in every.items()}
        )

    def build(self) -> Any:
        """The object itself."""
        values = [
            {name: v.build() if isinstance(v, Deferred) else v for name, v in held.items()}
            for held in (self._params, self._state)
        ]
        return self._construct(self._name, *values)
