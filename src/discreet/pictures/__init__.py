"""Pictures: one function makes a figure for a file, a notebook and a page alike."""

from discreet.pictures.attacks import trade_off
from discreet.pictures.compositions import composition
from discreet.pictures.convergence import convergence
from discreet.pictures.densities import density
from discreet.pictures.experiments import views
from discreet.pictures.forecasts import forecast
from discreet.pictures.leaks import leaks
from discreet.pictures.local_shares import shares
from discreet.pictures.loss_variables import loss_variable
from discreet.pictures.maps import city_map
from discreet.pictures.neighbours import neighbours
from discreet.pictures.output_losses import privacy_loss
from discreet.pictures.picture import Picture, check_file
from discreet.pictures.precision import accuracy
from discreet.pictures.released import answer, check_answer
from discreet.pictures.responses import truth_probability
from discreet.pictures.spending import budget, budget_over_time
from discreet.pictures.streams import stream
from discreet.pictures.tails import tail

__all__ = [
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
