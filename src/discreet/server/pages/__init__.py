"""The pages of the house: rendered here, with a little script, everything from the package.

`sessions.py` and `door.py` say who is there; `entrance.py`, `datasets.py`, `asking.py`, `watches.py`,
`history.py` and `owner.py` are the pages; `standing.py`, `figures.py` and `rendering.py` what they are
made of.
"""

from fastapi import APIRouter

from discreet.server.house import House
from discreet.server.pages import asking, datasets, entrance, history, owner, watches
from discreet.server.pages.door import PageDoor

PARTS = (
    entrance.routes,
    datasets.routes,
    asking.pages,
    asking.answers,
    watches.routes,
    history.routes,
    owner.routes,
)


def router(house: House) -> APIRouter:
    """All pages of a house."""
    door, routes = PageDoor(house), APIRouter(include_in_schema=False)
    for part in PARTS:
        routes.include_router(part(door))
    return routes
