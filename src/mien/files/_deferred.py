"""Objects of a model file whose values are checked, and which are constructed when needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Deferred"]


class Deferred:
    """The checked values of an object in a file; they can be read as its attributes.

    What only decides reads arrays from here; what learns asks :meth:`build` for the estimator.

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

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            for values in (self._state, self._params):
                if name in values:
                    return values[name]
        raise AttributeError(f"a {self.class_name} in a model file has no {name!r}")

    @property
    def class_name(self) -> str:
        """Name of the class that it will be."""
        return self._name.rpartition(".")[2]

    def build(self) -> Any:
        """The object itself."""
        values = [
            {name: v.build() if isinstance(v, Deferred) else v for name, v in held.items()}
            for held in (self._params, self._state)
        ]
        return self._construct(self._name, *values)
