"""The HTML pages, rendered on the server with a little script; everything they load is in the package."""

from fastapi import APIRouter

from discreet.server.pages import asking, datasets, login, owner, watches

router = APIRouter(include_in_schema=False)
for _part in (
    login.router,
    datasets.router,
    asking.page_router,
    asking.json_router,
    watches.router,
    owner.router,
):
    router.include_router(_part)
