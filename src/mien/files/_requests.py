"""Which metadata an estimator asks for (``set_fit_request``), as plain data of a model file."""

from __future__ import annotations

from typing import Any

from mien.files._vocabulary import Mismatch

__all__ = ["ATTRIBUTE", "read_requests", "write_requests"]

#: Where scikit-learn keeps the requests of an estimator.
ATTRIBUTE = "_metadata_request"
_METHODS = (
    "fit", "partial_fit", "predict", "predict_proba", "predict_log_proba", "decision_function",
    "score", "transform", "inverse_transform", "split",
)  # fmt: skip


def write_requests(model: Any) -> dict[str, dict[str, Any]]:
    """``{"fit": {"groups": True}}``: only what was asked for by the user."""
    held = vars(model).get(ATTRIBUTE)
    if held is None:
        return {}
    every = {method: dict(getattr(held, method).requests) for method in _METHODS}
    return {method: requests for method, requests in every.items() if requests}


def read_requests(model: Any, requests: Any) -> None:
    """Ask for the same metadata again, if the class knows them."""
    from sklearn import config_context

    if not isinstance(requests, dict):
        raise Mismatch("its metadata requests are not a table")
    for method, asked in requests.items():
        setter = getattr(model, f"set_{method}_request", None) if method in _METHODS else None
        if setter is None or not isinstance(asked, dict):
            raise Mismatch(f"it has no metadata for {method!r:.40}")
        for name, value in asked.items():
            known = value is None or isinstance(value, bool)
            if not known and not (isinstance(value, str) and value.isidentifier()):
                raise Mismatch(f"its request of {name!r:.40} is {value!r:.40}")
        with config_context(enable_metadata_routing=True):
            try:
                setter(**asked)
            except TypeError as error:
                raise Mismatch(f"it has no such metadata for {method}") from error
