"""The picture of a dry run: what limits cut, what noise adds, and nothing else."""

import re

import pytest

import discreet as dp
from discreet.apps.server.pages import ask_page
from discreet.apps.server.pages.ask_page import DRAWS
from discreet.asking.dry_run import (
    Belief,
    columns_to_draw,
    complete,
    draw_dry_runs,
    rehearse_often,
    say_effects,
)
from discreet.asking.planning import plan_asked
from discreet.asking.policy import from_arguments

TIMES = 30


def tried(sql, *, beyond=0, **more):
    policy = from_arguments(
        sources={"t": None}, id="t", unit="person", budget={"epsilon": 100, "delta": 1e-6},
        bounds={"debt": (0, 100)}, keys={"city": ["Ottawa", "<b>Toronto"]}, population=1000, **more,
    )  # fmt: skip
    (plan,) = plan_asked(sql, complete(policy), epsilon=100)
    belief = Belief.read(people=None, rows=None, beyond=beyond, policy=plan.policy)
    return rehearse_often(plan, belief, times=TIMES)


def test_many_draws_are_of_the_same_people_and_of_fresh_noise():
    runs = tried("SELECT city, SUM(debt) AS s FROM t GROUP BY city", max_groups=1, max_rows=1)
    exact = {tuple(cell.bounded for cell in run.cells) for run in runs}
    assert len(exact) == 1
    # 60 draws of a noise of standard deviation of about a unit's debt: all alike with a chance below 1e-9
    assert len({tuple(cell.released for cell in run.cells) for run in runs}) > 1


def test_each_group_has_a_dot_a_draw_one_tick_and_one_ring_and_labels_are_text():
    runs = tried("SELECT city, COUNT(*) AS n FROM t GROUP BY city", max_groups=1, max_rows=1)
    assert columns_to_draw(runs[0]) == ("n",)
    drawing = draw_dry_runs(runs, "n").markup()
    body = drawing[drawing.index("every row") :]
    assert len(re.findall("fill-opacity=.0.28", body)) == 2 * TIMES
    assert len(re.findall("every row: ", body)) == 2
    assert "&lt;b&gt;Toronto" in drawing
    assert "<b>" not in drawing


def test_what_limits_cut_and_what_noise_adds_are_told_apart():
    one, two = (
        tried("SELECT COUNT(*) AS n FROM t", max_groups=1, max_rows=rows)[0].cells[0] for rows in (1, 20)
    )
    assert one.bounded == 1000 <= one.every_row
    cut = tried("SELECT SUM(debt) AS s FROM t", max_groups=1, max_rows=1, beyond=0.5)
    free = tried("SELECT COUNT(*) AS n FROM t", max_groups=1, max_rows=1)
    assert "limits and bounds cut nothing" in say_effects(free, "n")
    assert "limits and bounds move a value by up to" in say_effects(cut, "s")
    assert two.bounded > 1000


def test_a_column_of_labels_is_not_drawn():
    runs = tried("SELECT MODE(city) AS most FROM t", max_groups=1, max_rows=1)
    assert columns_to_draw(runs[0]) == ()
    with pytest.raises(dp.InvalidParameter, match="must have a number"):
        draw_dry_runs(runs, "most")


@pytest.mark.parametrize(("groups", "draws"), [(1, DRAWS), (100, DRAWS), (1000, 3), (3000, 1), (3001, 0)])
def test_a_page_draws_no_more_cells_than_a_planner_has_a_second_for(groups, draws, monkeypatch):
    """Whoever tries a question takes one of the few threads that plan for everybody."""
    policy = from_arguments(
        sources={"t": None}, id="t", unit="person", budget={"epsilon": 1}, types={"person": "integer"},
        keys={"k": list(range(groups))},
    )  # fmt: skip
    (plan,) = plan_asked("SELECT k, COUNT(*) AS n FROM t GROUP BY k", policy, epsilon=1)
    drawn = []
    monkeypatch.setattr(ask_page, "rehearse_often", lambda *_, times: drawn.append(times) or [None])
    monkeypatch.setattr(ask_page, "columns_to_draw", lambda _: ())
    assert ask_page.draw_tried(plan, policy) == []
    assert plan.work.cells * sum(drawn) <= ask_page.MOST_DRAWN
    assert sum(drawn) == draws
