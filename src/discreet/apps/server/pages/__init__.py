"""The HTML pages, rendered on the server with a little script; everything they load is in the package."""

from fastapi import APIRouter

from discreet.apps.server.pages import (
    answer_page,
    ask_page,
    dataset_pages,
    owner,
    session_auth,
    setup_page,
    waiting_page,
    watch_page,
)

router = APIRouter(include_in_schema=False)
for _part in (
    session_auth.login_router,
    dataset_pages.router,
    answer_page.file_router,
    answer_page.page_router,
    ask_page.page_router,
    ask_page.json_router,
    watch_page.router,
    owner.router,
    setup_page.router,
    setup_page.json_router,
    waiting_page.router,
):
    router.include_router(_part)
