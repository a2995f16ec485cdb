"""Pictures: one function makes a figure for a file, a notebook and a page alike."""

from discreet.pictures.city_map import city_map
from discreet.pictures.picture import Picture
from discreet.pictures.spending import budget_over_time

__all__ = ["Picture", "budget_over_time", "city_map"]
