"""A figure as the pages draw it: its words apart from its marks, because a page sets its own type."""

from typing import get_args

from discreet.errors import InvalidParameter
from discreet.pictures import Picture
from discreet.pictures.theme import Json, Theme

THEMES: tuple[Theme, ...] = get_args(Theme)


def figure_of(picture: Picture, theme: Theme) -> dict[str, Json]:
    """Title, subtitle, marks and layout of a picture, apart."""
    figure = picture.to_json(theme=theme)
    layout = {name: value for name, value in figure["layout"].items() if name != "title"}
    words = {"title": picture.title, "subtitle": picture.subtitle}
    return {**words, "data": figure["data"], "layout": layout}


def in_both_themes(picture: Picture) -> dict[str, Json]:
    """The figure on light and on dark paper, for a page that draws without asking again."""
    return {theme: figure_of(picture, theme) for theme in THEMES}


def read_theme(text: str) -> Theme:
    """The theme of that name."""
    for theme in THEMES:
        if text == theme:
            return theme
    raise InvalidParameter(f"theme must be one of {', '.join(THEMES)}.", parameter="theme")
