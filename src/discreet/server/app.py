"""The application: REST, pages and lab, under one set of headers and errors."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

import discreet
from discreet.server import lab, pages, rest
from discreet.server.http_errors import HideInternalErrors, handle_failures
from discreet.server.journal import JournalRequests
from discreet.server.middleware import SecurityHeaders
from discreet.server.pages.session_auth import error_page
from discreet.server.service import Service


def make_app(service: Service) -> FastAPI:
    """An ASGI application that serves this service until it stops, and then closes it."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await service.close()

    app = FastAPI(
        title="discreet",
        version=discreet.__version__,
        description="Private answers about people, with their error and their price.",
        lifespan=lifespan,
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    handle_failures(app, show=error_page)
    app.add_middleware(HideInternalErrors)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(JournalRequests, journal=service.journal)
    app.include_router(rest.router(service))
    app.include_router(pages.router(service))
    app.include_router(lab.router())
    return app
