"""The application: REST, pages and lab, under one set of headers and errors."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

import discreet
from discreet.server import lab, pages, rest
from discreet.server.failures import Sheltered, handle_failures
from discreet.server.headers import SecurityHeaders
from discreet.server.house import House
from discreet.server.journal import Observed
from discreet.server.pages.door import error_page


def make_app(house: House) -> FastAPI:
    """An ASGI application that serves this house until it stops, and then closes it."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await house.close()

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
    app.add_middleware(Sheltered)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Observed, journal=house.journal)
    app.include_router(rest.router(house))
    app.include_router(pages.router(house))
    app.include_router(lab.router())
    return app
