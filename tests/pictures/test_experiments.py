import math

import numpy as np
import pytest

import discreet as dp
from discreet.apps.pictures import views
from discreet.kernel.accounting import Experiment, Round

TRUTH = 0.62
EPSILON = math.log(TRUTH / (1 - TRUTH))
GAME = Experiment(adversary=lambda coins, answers: Round([TRUTH, 0.38], [0.38, TRUTH]), rounds=30)


def test_every_play_ends_where_its_terms_add_up_and_azumas_bound_is_the_theorems():
    drawn = views(GAME, epsilon=round(EPSILON + 1e-6, 6), slack=0.01, plays=5).to_json()["data"]
    plays = [trace for trace in drawn if trace["name"] == "plays"]
    assert len(plays) == 5
    assert all(np.abs(np.diff(trace["y"])) == pytest.approx(EPSILON) for trace in plays)
    azuma = next(trace for trace in drawn if trace["name"] == "Azuma's bound")["y"]
    assert azuma[30] == pytest.approx(
        30 * EPSILON * math.expm1(EPSILON) + EPSILON * math.sqrt(60 * math.log(100)), rel=1e-5
    )


def test_the_plays_have_one_entry_in_the_legend():
    drawn = views(GAME, epsilon=round(EPSILON + 1e-6, 6), plays=3).to_json()["data"]
    assert [trace.get("showlegend", True) for trace in drawn].count(True) == 4


def test_a_round_that_costs_more_than_was_said_is_refused():
    with pytest.raises(dp.InvalidParameter, match="a round exceeded it"):
        views(GAME, epsilon=0.1)
