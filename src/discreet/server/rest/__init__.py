"""The routes of REST. A bearer token opens all of /api; nothing else does."""

from fastapi import APIRouter

from discreet.server.house import House
from discreet.server.rest import house as of_the_house, looks, owners, people, questions
from discreet.server.rest.door import Door


def router(house: House) -> APIRouter:
    """All routes of a house."""
    routes, door = APIRouter(), Door(house)
    for part in (of_the_house, looks, questions, owners, people):
        part.add_routes(routes, house, door)
    return routes
