"""The HTTP server: a REST API and web pages over the data sets that an owner serves.

    service = Service.open(["bank.toml"])      # data sets, users, limits, the journal
    app = make_app(service)                    # a FastAPI application

- `service.py` holds what is served; `dataset.py` is one data set and everything a user may do with it. REST
  and pages both go through it, so roles, limits and deadlines are enforced in one place.
- `people.py` and `approvals.py` are stored in `records.py`.
- `rest/` has the routes of /api, `pages/` and `lab/` the HTML pages.
- `deadlines.py` and `worker_pool.py` run questions in other processes and answer at fixed times.

/api reads tokens only from the Authorization header; pages use a session cookie and CSRF tokens.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

from fastapi import FastAPI

import discreet
from discreet.apps.server import lab, pages, rest
from discreet.apps.server.http_errors import handle_failures
from discreet.apps.server.journal import HideInternalErrors, JournalRequests, SecurityHeaders
from discreet.apps.server.limits import Limits
from discreet.apps.server.pages.session_auth import SessionAuth, error_page
from discreet.apps.server.people import People, Person
from discreet.apps.server.service import Service

__all__ = ["People", "Person", "Service", "describe_rest", "make_app"]


class Listener(Protocol):
    """Another way to reach the same service, which lives as long as the application."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...


def make_app(service: Service, *, also: Listener | None = None) -> FastAPI:
    """Return an ASGI application that serves until it stops, and then closes the service."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if also is not None:
            await also.start()
        yield
        if also is not None:
            await also.stop()
        await service.close()

    app = FastAPI(
        title="discreet",
        version=discreet.__version__,
        description="Private answers about people, with their error and their price.",
        lifespan=lifespan,
        docs_url=None,  # that page would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    handle_failures(app, show=error_page)
    app.add_middleware(HideInternalErrors)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(JournalRequests, journal=service.journal)
    app.state.service, app.state.session_auth = service, SessionAuth(service)
    app.include_router(rest.router(service.limits))
    app.include_router(pages.router)
    app.include_router(lab.router())
    return app


def describe_rest() -> dict[str, Any]:
    """Return the OpenAPI description of the REST routes, without a service."""
    app = FastAPI(title="discreet", version=discreet.__version__)
    app.include_router(rest.router(Limits()))
    return app.openapi()
