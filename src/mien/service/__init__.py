"""mien over HTTP: our own routes, and those of CompreFace and DeepStack."""

from typing import Any as _Any

import lazy_loader as _lazy

_getattr, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
_PACKAGES = {
    "fastapi", "httptools", "multipart", "prometheus_client", "python_multipart", "sse_starlette",
    "starlette", "uvicorn",
}  # fmt: skip


def __getattr__(name: str) -> _Any:
    try:
        return _getattr(name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _PACKAGES:
            raise
        from mien.errors import MissingDependencyError

        raise MissingDependencyError(str(error.name), "service", "the service") from error
