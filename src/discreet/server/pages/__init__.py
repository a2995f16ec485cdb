"""The pages of the service: rendered here, with a little script, everything from the package.

`sessions.py` and `auth.py` say who is there; `login.py`, `datasets.py`, `asking.py`, `watches.py`,
`history.py` and `owner.py` are the pages; `standing.py`, `figures.py` and `rendering.py` what they are
made of.
"""

from fastapi import APIRouter

from discreet.server.pages import asking, datasets, history, login, owner, watches
from discreet.server.pages.session_auth import SessionAuth
from discreet.server.service import Service

PARTS = (
    login.routes,
    datasets.routes,
    asking.pages,
    asking.answers,
    watches.routes,
    history.routes,
    owner.routes,
)


def router(service: Service) -> APIRouter:
    """All pages of a service."""
    auth, routes = SessionAuth(service), APIRouter(include_in_schema=False)
    for part in PARTS:
        routes.include_router(part(auth))
    return routes
