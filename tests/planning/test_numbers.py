"""Every number that an asker gives is looked at before anything is planned, charged or read."""

import time
from decimal import Decimal
from fractions import Fraction

import pandas
import pytest

import discreet as dp
from discreet.asking.planning import plan_asked
from discreet.errors import DiscreetError, InvalidParameter, UnsupportedQuery
from queries.bank import BANK

COUNT = "SELECT COUNT(*) AS n FROM accounts"
LONG = [
    10**5000,
    Decimal("1e-700000"),
    Decimal("1e700000"),
    Decimal(f"0.{'1' * 50_000}"),
    Fraction(1, 10**5000),
]
NONE = [float("nan"), float("inf"), Decimal("sNaN"), True, "1", 1j, [1]]


@pytest.mark.parametrize("number", [*LONG, *NONE], ids=lambda number: f"{type(number).__name__}")
@pytest.mark.parametrize("term", ["epsilon", "delta", "rho", "within", "confidence", "split"])
def test_a_term_that_is_no_short_number_is_refused_at_once(term, number):
    price = {} if term in ("epsilon", "rho", "within") else {"epsilon": 1}
    before = time.process_time()
    with pytest.raises(InvalidParameter):
        plan_asked(COUNT, BANK, **price, **{term: {"n": number} if term == "split" else number})
    assert time.process_time() - before < 0.5


@pytest.mark.parametrize(
    "level", [0, 1, 1 - Fraction(1, 10**300), Fraction(1, 10**300), 1 - Fraction(1, 2**61)]
)
def test_a_confidence_keeps_its_distance_from_0_and_1(level):
    with pytest.raises(InvalidParameter, match=r"between 2\^-60 and 1 - 2\^-60"):
        plan_asked(COUNT, BANK, epsilon=1, confidence=level)


@pytest.mark.parametrize("level", [Fraction(1, 2**60), 1 - Fraction(1, 2**60)])
@pytest.mark.parametrize("asked", ["COUNT(*)", "AVG(debt)", "MEDIAN(debt)", "MODE(city)"])
def test_the_last_confidences_have_an_error(asked, level):
    (plan,) = plan_asked(f"SELECT {asked} AS n FROM accounts", BANK, epsilon=1, confidence=level)
    assert plan.to_json()["confidence"] == pytest.approx(float(level))


def test_a_delta_that_noise_could_hardly_be_found_for_is_refused():
    with pytest.raises(InvalidParameter, match="at least 2"):
        plan_asked(COUNT, BANK, epsilon=1, delta=Fraction(1, 10**600))


@pytest.mark.parametrize("asked", [None, 5, {}, b"SELECT", [None], [[COUNT]]])
def test_what_is_no_question_is_refused(asked):
    with pytest.raises(InvalidParameter, match="a question must be SQL text or a builder, got"):
        plan_asked(asked, BANK, epsilon=1)


def test_the_words_of_a_split_tell_columns_apart():
    one = plan_asked(
        "SELECT COUNT(*) AS a, SUM(age) AS b FROM accounts", BANK, epsilon=1, split={"a": 1, "b": 2}
    )
    text = 'SELECT COUNT(*) AS a, SUM(age) AS "a 1, b" FROM accounts'
    other = plan_asked(text, BANK, epsilon=1, split={"a 1, b": 2})
    assert one[0].options.comment == " /* split a 1, b 2 */"
    assert other[0].options.comment == ' /* split "a 1, b" 2 */'
    with pytest.raises(InvalidParameter):
        plan_asked(COUNT, BANK, epsilon=1, split={3: 1})


def test_a_watch_outlives_what_it_cannot_be_asked(tmp_path):
    frame = pandas.DataFrame({"person": range(20)})
    curator = dp.Curator.open(frame, name="t", unit="person", budget={"epsilon": 9}, ledger=tmp_path / "l")
    watch = curator.watch(threshold=10**6, epsilon=1)
    for asked in ("SELECT COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((), ())", None, 5):
        with pytest.raises(DiscreetError):
            watch.test(asked)
    with pytest.raises(UnsupportedQuery, match="one COUNT or SUM"):
        watch.test("SELECT COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((), ())")
    assert watch.test("SELECT COUNT(*) AS n FROM t") is False


def test_nothing_is_charged_for_what_is_refused(tmp_path):
    frame = pandas.DataFrame({"person": range(20)})
    curator = dp.Curator.open(frame, name="t", unit="person", budget={"epsilon": 9}, ledger=tmp_path / "l")
    for asked, terms in (
        (None, {}),
        ("SELECT QUANTILE(person, 1e-400) AS q FROM t", {}),
        (COUNT, {"delta": 2}),
    ):
        with pytest.raises(DiscreetError):
            curator.ask(asked, epsilon=1, **terms)
    assert curator.remaining.epsilon == 9
