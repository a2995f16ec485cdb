"""The routes of REST. A bearer token opens all of /api; nothing else does."""

from fastapi import APIRouter

from discreet.server.rest import admin, monitoring, people, questions, reads
from discreet.server.rest.bearer_auth import BearerAuth
from discreet.server.service import Service


def router(service: Service) -> APIRouter:
    """All routes of a service."""
    routes, auth = APIRouter(), BearerAuth(service)
    for part in (monitoring, reads, questions, admin, people):
        part.add_routes(routes, service, auth)
    return routes
