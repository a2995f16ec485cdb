"""Pictures: one function makes a figure for a file, a notebook and a page alike."""

from discreet.pictures.accuracy import accuracy
from discreet.pictures.city_map import city_map
from discreet.pictures.density import density
from discreet.pictures.picture import Picture
from discreet.pictures.privacy_loss import privacy_loss
from discreet.pictures.spending import budget_over_time
from discreet.pictures.trade_off import trade_off

__all__ = [
    "Picture",
    "accuracy",
    "budget_over_time",
    "city_map",
    "density",
    "privacy_loss",
    "trade_off",
]
