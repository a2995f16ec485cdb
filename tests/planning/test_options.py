"""The division of a price: equal unless told, in proportion to weights where told."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.asking.planning import plan_asked
from queries.bank import BANK

SQL = "SELECT COUNT(*) AS n, SUM(debt) AS total, AVG(debt) AS mean, MEDIAN(age) AS m FROM accounts"


def epsilons(**more):
    (plan,) = plan_asked(SQL, BANK, epsilon=1, **more)
    (each,) = plan.sets
    return plan, [step.loss.epsilon(delta=0) for step in each.columns]


def test_every_number_gets_an_equal_part_unless_told():
    _, parts = epsilons()
    assert parts == pytest.approx([1 / len(parts)] * len(parts))


def test_weights_divide_the_price_in_proportion():
    plan, parts = epsilons(split={"m": 3, "n": Fraction(1, 2)})
    assert sum(parts) == pytest.approx(1)
    count, total, known, median = parts
    assert (count / total, median / total) == pytest.approx((1 / 2, 3))
    assert known == pytest.approx(total)  # AVG needs it, with weight 1
    assert plan.loss.epsilon(delta=0) <= 1
    assert "split m 3, n 1/2" in plan.asked


def test_a_shared_number_has_the_largest_weight_that_it_is_given():
    """SUM and AVG use one sum, whichever of their columns comes first."""
    for split in ({"mean": 5}, {"total": 5, "mean": 2}, {"total": 2, "mean": 5}):
        _, (count, total, known, _) = epsilons(split=split)
        assert total / count == pytest.approx(5)
        assert known / count == pytest.approx(split["mean"])


@pytest.mark.parametrize("split", [{"n": 5, "half": 2}, {"n": 2, "half": 5}, {"half": 5}])
def test_an_aggregate_that_two_columns_name_has_the_larger_weight(split):
    sql = "SELECT COUNT(*) AS n, COUNT(*) / 2 AS half, SUM(debt) AS total FROM accounts"
    (plan,) = plan_asked(sql, BANK, epsilon=1, split=split)
    count, total = (step.mechanism.loss.epsilon(delta=0) for step in plan.sets[0].columns)
    assert count / total == pytest.approx(5)


def test_another_division_is_another_question(tmp_path):
    import pandas

    frame = pandas.DataFrame({"person": range(50), "x": [1] * 50})
    with dp.Curator.open(
        frame, name="t", unit="person", budget={"epsilon": 9}, ledger=tmp_path / "t.ledger"
    ) as curator:
        sql = "SELECT COUNT(*) AS a, COUNT(x) AS b FROM t"
        for split in ({"a": 3}, {"b": 3}, {"a": 3}):
            curator.ask(sql, epsilon=1, split=split)
        assert curator.remaining.epsilon == 7


@pytest.mark.parametrize(
    "split", [{"nobody": 1}, {"n": 0}, {"n": -1}, {"n": float("nan")}, {"n": True}, "n=1"]
)
def test_weights_are_positive_and_name_columns(split):
    with pytest.raises(dp.InvalidParameter):
        epsilons(split=split)


@pytest.mark.parametrize("rho", [5e-324, 1e-308, Fraction(1, 2**1100), Fraction(1, 2**122)], ids=float)
def test_a_rho_whose_noise_no_double_holds_is_refused(rho):
    with pytest.raises(dp.InvalidParameter) as error:
        plan_asked(SQL, BANK, rho=rho)
    assert error.value.fields["parameter"] == "rho"
