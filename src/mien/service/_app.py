"""The application: routes, errors, and what lives as long as the server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

import mien
from mien.errors import MienError
from mien.service import (
    _compreface,
    _deepstack,
    _page,
    _routes_changes,
    _routes_corrections,
    _routes_galleries,
    _routes_jobs,
    _routes_people,
    _routes_photos,
    _routes_pictures,
    _routes_review,
    _routes_server,
    _routes_session,
    _routes_streams,
    _routes_view,
)
from mien.service._backend import Backend
from mien.service._jobs import JobRunner
from mien.service._middleware import Guard, log
from mien.service._openapi import make_document
from mien.service._problems import Problem, answer_problem, problem_of
from mien.service._settings import Settings
from mien.service._streams import Streams

__all__ = ["create_app"]

_ABOUT = """
Recognise, verify and group faces, with rates that are stated and "unknown" as an answer.

Every face of a picture is answered. Errors are problem details (RFC 9457). Lists are read in
pages by `limit` and `cursor`. Writes take an `Idempotency-Key`.
"""


def create_app(settings: Settings) -> FastAPI:
    """The service as an ASGI application.

    Parameters
    ----------
    settings : Settings
        Where the galleries are, limits, rates.

    Examples
    --------
    >>> from pathlib import Path
    >>> from mien.service import Settings, create_app
    >>> app = create_app(Settings(Path("people.gallery"), Path("state")))  # doctest: +SKIP
    """
    backend = Backend(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await backend.start()
        runner = JobRunner(
            backend.jobs,
            lambda name: backend.tenant(name).path,
            settings.secret_key,
            settings.limits.keep_seconds,
            hide=backend.hide_places,
        )
        runner.start()
        app.state.runner = runner
        app.state.streams = Streams(backend)
        app.state.streams.start()
        try:
            yield
        finally:
            await app.state.streams.close()
            await runner.close()
            await backend.close()

    app = FastAPI(
        title="mien",
        version=mien.__version__,
        description=_ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
    )
    app.state.backend = backend
    app.add_middleware(
        Guard, limits=settings.limits, metrics=backend.metrics, answer=_answer_as_asked
    )
    # The first that fits is taken, one after the other: what is asked most stands first.
    for routes in (
        _routes_pictures,
        _routes_streams,
        _page,
        _routes_session,
        _routes_view,
        _routes_changes,
        _routes_review,
        _routes_photos,
        _routes_server,
        _routes_galleries,
        _routes_corrections,
        _routes_people,
        _routes_jobs,
    ):
        app.include_router(routes.router)
    app.include_router(_compreface.router)
    app.include_router(_deepstack.router)
    _handle_errors(app)
    app.openapi = make_document(app)
    return app


def _answer_as_asked(request: Request, problem: Problem) -> Response:
    """A problem in the words of the API that was spoken to, without paths of this machine."""
    problem.detail = request.app.state.backend.hide_places(problem.detail)
    if request.url.path.startswith("/api/v1/"):
        return _compreface.answer_problem(problem)
    if request.url.path.startswith("/v1/vision/"):
        return _deepstack.answer_problem(problem)
    return answer_problem(request, problem)


def _handle_errors(app: FastAPI) -> None:
    """What is raised on purpose; anything else is answered by the outermost layer."""

    @app.exception_handler(Problem)
    async def _(request: Request, error: Problem) -> Response:
        return _answer_as_asked(request, error)

    @app.exception_handler(MienError)
    async def _(request: Request, error: MienError) -> Response:
        problem = problem_of(error)
        if problem.status >= 500:
            log.error("request %s: %s", request.state.request_id, type(error).__name__)
        return _answer_as_asked(request, problem)

    @app.exception_handler(RequestValidationError)
    async def _(request: Request, error: RequestValidationError) -> Response:
        wrong = "; ".join(
            f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()
        )
        return _answer_as_asked(request, Problem(422, "invalid-request", wrong[:2000]))

    @app.exception_handler(HTTPException)
    async def _(request: Request, error: HTTPException) -> Response:
        code = {404: "no-route", 405: "wrong-method"}.get(error.status_code, "http-error")
        problem = Problem(
            error.status_code, code, str(error.detail), headers=dict(error.headers or {})
        )
        return _answer_as_asked(request, problem)
