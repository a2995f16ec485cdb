"""The pages of the house: server-rendered, a little script, everything from the package."""

from fastapi import APIRouter

from discreet.server.house import House


def router(house: House) -> APIRouter:
    return APIRouter()
