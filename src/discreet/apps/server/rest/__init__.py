"""The routes of REST. All of /api needs a bearer token, and nothing else opens it."""

from fastapi import APIRouter

from discreet.apps.server.limits import Limits
from discreet.apps.server.rest import admin, questions


def router(limits: Limits) -> APIRouter:
    """Return all routes; `limits` are part of their schemas."""
    routes = APIRouter()
    routes.include_router(questions.read_router)
    routes.include_router(questions.ask_router(limits))
    routes.include_router(questions.watch_router)
    routes.include_router(admin.router)
    return routes
