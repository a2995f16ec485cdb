"""Pictures: one function makes a figure for a file, a notebook and a page alike."""

from discreet.apps.pictures.answers import Chart, answer, check_answer, city_map, shares
from discreet.apps.pictures.course import leaks, stream, truth_probability, views
from discreet.apps.pictures.curves import composition, trade_off
from discreet.apps.pictures.densities import density, neighbours, privacy_loss
from discreet.apps.pictures.loss_variables import loss_variable, tail
from discreet.apps.pictures.picture import Picture, check_file
from discreet.apps.pictures.precision import (
    accuracy,
    budget,
    budget_over_time,
    convergence,
    draw_spending,
    forecast,
)

__all__ = [
    "Chart",
    "Picture",
    "accuracy",
    "answer",
    "budget",
    "budget_over_time",
    "check_answer",
    "check_file",
    "city_map",
    "composition",
    "convergence",
    "density",
    "draw_spending",
    "forecast",
    "leaks",
    "loss_variable",
    "neighbours",
    "privacy_loss",
    "shares",
    "stream",
    "tail",
    "trade_off",
    "truth_probability",
    "views",
]


def __dir__() -> list[str]:
    return list(__all__)
