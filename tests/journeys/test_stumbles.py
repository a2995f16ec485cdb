"""What a new user types first, and what is said back."""

import inspect
import re
import subprocess
import sys

import numpy as np
import pandas
import pytest

import discreet as dp

FRAME = pandas.DataFrame({"person": range(100), "city": ["Ottawa", "Toronto"] * 50})


@pytest.fixture
def curator(tmp_path):
    return dp.Curator.open(
        FRAME,
        name="people",
        unit="person",
        budget=1,
        keys={"city": ["Ottawa", "Toronto"]},
        ledger=tmp_path / "people.ledger",
        version=str(tmp_path),
    )


def test_objects_show_what_they_are_in_a_line(curator):
    assert repr(curator) == "Curator('people', epsilon 1, duckdb)"
    answer = curator.ask("SELECT city, COUNT(*) AS n FROM people GROUP BY city", epsilon=0.25)
    assert repr(curator) == "Curator('people', epsilon 0.75 of 1 left, duckdb)"
    assert repr(answer) == str(answer)
    assert re.fullmatch(
        r"<Receipt \d+ of 'people': epsilon 0.25; remaining epsilon 0.75>", repr(answer.receipt)
    )
    plan = curator.explain("SELECT COUNT(*) AS n FROM people", epsilon=0.1)
    assert repr(plan) == "<Plan of 'SELECT COUNT(*) AS n FROM people': epsilon 0.1>"
    assert len(repr(curator.history[0])) < 120
    assert repr(dp.audit(lambda data, n: [data] * n, claim=1, neighbours=(0, 1), samples=100))[:22] == (
        "<AuditReport: violated"
    )
    for shown in (curator, answer, plan, answer.receipt, curator.remaining):
        assert len(shown._repr_html_()) < 10_000
        assert len(repr(shown)) < 300


def test_a_question_in_a_plan_cannot_break_out_of_a_notebook(curator):
    plan = curator.explain('SELECT COUNT(*) AS "<img src=x onerror=alert(1)>" FROM people', epsilon=0.1)
    assert "<img" not in plan._repr_html_()


@pytest.mark.parametrize("given", [(1, 2), pandas.Series([1, 2]), [1, 2], np.array([1, 2])])
def test_any_sequence_of_numbers_is_released(given):
    released = dp.Laplace(epsilon=100, sensitivity=1).release(given)
    assert len(released) == 2
    assert isinstance(released, np.ndarray if hasattr(given, "dtype") else list)


def test_a_float_on_a_whole_step_is_told_what_to_declare():
    with pytest.raises(dp.InvalidParameter, match=r"step=2\*\*-20"):
        dp.Laplace(epsilon=1, sensitivity=1).release(5.0)


def test_a_wrong_budget_or_name_is_told_the_right_one(tmp_path, curator):
    with pytest.raises(dp.InvalidParameter, match="got nothing"):
        dp.Curator.open(FRAME, name="x", unit="person", budget=[])
    with pytest.raises(dp.InvalidParameter, match="did you mean budget="):
        dp.Curator.open(FRAME, name="x", unit="person", epsilon=1)
    with pytest.raises(dp.InvalidParameter, match="did you mean epsilon="):
        curator.ask("SELECT COUNT(*) FROM people", epsilom=0.1)
    with pytest.raises(dp.InvalidParameter, match=r"dp\.count\(ages > 40"):
        dp.count([1, 2, 3], epsilon=1)
    with pytest.raises(AttributeError, match="Did you mean 'bounded_sum'"):
        dp.sum([1, 2])
    with pytest.raises(AttributeError, match="Did you mean 'Laplace'"):
        dp.Laplac  # noqa: B018


def test_a_quantile_is_positional_and_a_median_has_a_name():
    values = list(range(100))
    assert 0 <= dp.quantile(values, 0.25, bounds=(0, 100), epsilon=1) <= 100
    assert 0 <= dp.median(values, bounds=(0, 100), epsilon=1) <= 100


def test_a_mechanism_is_audited_against_its_own_claim():
    assert dp.audit(dp.Laplace(epsilon=1, sensitivity=1), samples=2000).verdict == "not refuted"
    with pytest.raises(dp.InvalidParameter, match="claim must be given for a function"):
        dp.audit(lambda data, n: [data] * n, neighbours=(0, 1))


def test_estimates_are_numbers_and_losses_have_no_order():
    estimate = dp.mean([1, 2, 3], bounds=(0, 4), epsilon=1)
    assert float(estimate) == estimate.value
    small, large = dp.PureDP(1).loss, dp.PureDP(2).loss
    for compare in (lambda: small < large, lambda: small >= large):
        with pytest.raises(dp.InvalidParameter, match=r"a\.epsilon\(delta=1e-6\)"):
            compare()
    with pytest.raises(TypeError):
        small < 1  # noqa: B015


@pytest.mark.parametrize("notion", [dp.PureDP, dp.GDP])
def test_an_unknown_relation_is_refused_at_once(notion):
    with pytest.raises(dp.InvalidParameter, match="relation must be one of"):
        notion(1, "foo")


def test_dir_lists_what_is_public_and_nothing_else():
    assert set(dir(dp)) == {*dp.__all__, "__version__"}
    for package in (dp.losses, dp.pictures, dp.accounting, dp.auditing, dp.local):
        assert set(dir(package)) == set(package.__all__)


def test_opening_has_a_signature_and_its_parameters_are_documented():
    for function in (dp.Curator.open, dp.Curator.ask, dp.Curator.dry_run, dp.Curator.watch):
        named = [
            name for name in inspect.signature(function).parameters if name not in ("self", "cls", "unknown")
        ]
        words = re.findall(r"[\w]+", inspect.getdoc(function).partition("Parameters")[2])
        assert set(named) <= set(words)


def test_bounds_that_are_dates_say_so_themselves(tmp_path):
    table = tmp_path / "visits.csv"
    table.write_text("person,day\n" + "".join(f"{i},2024-01-0{1 + i % 9}\n" for i in range(90)))
    curator = dp.Curator.open(table, unit="person", budget=1, bounds={"day": ("2024-01-01", "2024-01-31")})
    found = curator.ask("SELECT COUNT(*) AS n FROM visits WHERE day < DATE '2024-01-05'", epsilon=1)
    assert len(found) == 1


@pytest.mark.parametrize("command", ["ask", "explain"])
def test_help_has_no_options_that_nobody_needs(command):
    shown = subprocess.run(
        [sys.executable, "-m", "discreet", command, "--help"], capture_output=True, text=True, check=True
    )
    assert "--empty-" not in shown.stdout
    assert "--no-" not in shown.stdout
