"""Pictures: one function makes a figure for a file, a notebook and a page alike."""

from discreet.apps.pictures.attacks import trade_off
from discreet.apps.pictures.compositions import composition
from discreet.apps.pictures.convergence import convergence
from discreet.apps.pictures.densities import density
from discreet.apps.pictures.experiments import views
from discreet.apps.pictures.forecasts import forecast
from discreet.apps.pictures.leaks import leaks
from discreet.apps.pictures.local_shares import shares
from discreet.apps.pictures.loss_variables import loss_variable
from discreet.apps.pictures.maps import city_map
from discreet.apps.pictures.neighbours import neighbours
from discreet.apps.pictures.output_losses import privacy_loss
from discreet.apps.pictures.picture import Picture, check_file
from discreet.apps.pictures.precision import accuracy
from discreet.apps.pictures.released import Chart, answer, check_answer
from discreet.apps.pictures.responses import truth_probability
from discreet.apps.pictures.spending import budget, budget_over_time
from discreet.apps.pictures.streams import stream
from discreet.apps.pictures.tails import tail

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
