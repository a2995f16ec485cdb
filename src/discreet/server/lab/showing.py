"""An exhibit at some settings, as JSON for the page; drawings are kept, because sliders go back and forth."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from discreet.pictures.theme import Json, Theme
from discreet.server.lab.controls import read_settings
from discreet.server.lab.drawings import Drawing
from discreet.server.lab.exhibits import EXHIBITS, Exhibit
from discreet.server.pages.figures import figure_of
from discreet.server.refusals import not_found

KEPT = 512  # drawings


def exhibit_of(name: str) -> Exhibit:
    """The exhibit of this name."""
    found = next((exhibit for exhibit in EXHIBITS if exhibit.name == name), None)
    if found is None:
        raise not_found()
    return found


def show(name: str, given: Mapping[str, str], *, theme: Theme, draw: int = 0) -> dict[str, Json]:
    """The figure and the facts of an exhibit. The number of a draw tells draws apart; it seeds nothing."""
    settings = read_settings(exhibit_of(name).controls, given)
    drawing = _draw(name, tuple(settings.items()), draw)
    facts = [{"label": label, "value": value} for label, value in drawing.facts]
    return {**figure_of(drawing.picture, theme), "facts": facts}


@lru_cache(maxsize=KEPT)
def _draw(name: str, settings: tuple[tuple[str, Any], ...], draw: int) -> Drawing:
    return exhibit_of(name).draw(dict(settings))
