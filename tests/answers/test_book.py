"""Books: charged once, free afterwards, equal totals everywhere, intervals that hold, and files."""

import csv
import json
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.asking.answers import REST
from discreet.asking.planning import CellArrays, ExactTable
from discreet.errors import BudgetExceeded, InvalidParameter, PolicyViolation

CITIES, AGES = ["Ottawa", "Toronto", "Québec"], list(range(8))
TABLES = ["city", ("city", "age"), ("age", "sex"), ()]


@pytest.fixture
def frame():
    import pandas

    random = np.random.default_rng(1)
    return pandas.DataFrame(
        {
            "person": np.arange(4000) % 3000,
            "city": random.choice([*CITIES, "Moncton"], 4000),
            "age": random.integers(0, 9, 4000),
            "sex": random.choice(["f", "m"], 4000),
        }
    )


@pytest.fixture
def open_book(frame, tmp_path):
    def make(**more):
        keys = {"city": CITIES, "age": AGES, "sex": ["f", "m"]}
        plain = {"name": "people", "unit": "person", "budget": {"rho": 2}, "limit": 2, "keys": keys}
        return dp.Curator.open(frame, ledger=tmp_path / "x.ledger", **(plain | more))

    return make


@pytest.fixture
def curator(open_book):
    with open_book() as opened:
        yield opened


def test_a_book_is_charged_once_and_free_afterwards(curator):
    first = curator.book(TABLES, rho=0.5)
    assert first.charged
    assert curator.remaining.rho == Fraction(3, 2)
    again = curator.book(TABLES, rho=0.5, confidence=0.5)
    assert not again.charged
    assert curator.remaining.rho == Fraction(3, 2)
    for one, other in zip(first, again, strict=True):
        assert (one.steps == other.steps).all()
        assert one.reach > other.reach
    assert curator.book(TABLES[:2], rho=0.5).charged
    with pytest.raises(BudgetExceeded):
        curator.book(TABLES, rho=1.5)


def test_every_total_is_the_sum_of_its_parts_exactly(curator):
    book = curator.book([("city", "age"), ("age", "sex"), ("city", "sex")], rho=0.5)
    for table in book:
        for axis, name in enumerate(table.columns):
            rest = tuple(each for each in table.columns if each != name)
            assert (table.steps.sum(axis=axis) == book[rest].steps).all()
            assert (table.values.sum(axis=axis) == book[rest].values).all()
    assert book["age", "city"] is not None
    assert book["city", "age"].columns == ("city", "age")


def test_counts_are_near_the_truth_and_rows_without_a_label_are_the_rest(curator, frame):
    book = curator.book(TABLES, rho=0.5)
    assert book["city"].labels == ((*CITIES, REST),)
    # Nobody has more rows than two: nothing is cut. One in 10^9: 6.1 standard deviations.
    for city, count in frame.city.value_counts().items():
        name = city if city in CITIES else REST
        assert abs(book["city"][name] - count) < 6.2 * book["city"].variance ** 0.5
    assert abs(book[()][()] - 4000) < 6.2 * book[()].variance ** 0.5


def test_explaining_touches_neither_data_nor_budget(curator):
    plan = curator.explain_book(TABLES, rho=0.5)
    assert curator.remaining.rho == 2
    book = curator.book(TABLES, rho=0.5)
    assert plan.errors == {table.name: table.reach for table in book}
    assert book.receipt.facts["plan"] == plan.sentences()


def test_a_question_with_cube_is_a_book(curator):
    book = curator.book(["SELECT city, sex, COUNT(*) AS n FROM people GROUP BY CUBE (city, sex)"], rho=0.5)
    assert {table.name for table in book} == {"city x sex", "city", "sex", "total"}


def test_a_limit_that_is_not_known_is_asked_for(open_book):
    with open_book(limit=None) as curator:
        with pytest.raises(PolicyViolation, match="limit=1"):
            curator.book(TABLES, rho=0.5)
        assert curator.remaining.rho == 2
        assert curator.book(TABLES, rho=0.5, limit=1).plan.limit == 1


@pytest.mark.parametrize("terms", [{"rho": 0.1}, {"epsilon": 0.4}, {"epsilon": 0.4, "delta": 1e-7}])
def test_every_price_pays_for_a_book(open_book, terms):
    budget = {"rho": 1} if "rho" in terms else {"epsilon": 1, "delta": 1e-6}
    with open_book(budget=budget) as curator:
        book = curator.book(TABLES, **terms)
        assert book.charged
        assert not curator.book(TABLES, **terms).charged
        assert book.receipt.facts["price"]


def test_a_failure_is_counted_and_nothing_is_refunded(curator, monkeypatch):
    def broken(*_):
        raise ValueError("Ottawa 17")

    monkeypatch.setattr("discreet.asking.release.run_charged", broken)
    with pytest.raises(dp.errors.InternalError) as told:
        curator.book(TABLES, rho=0.5)
    assert "17" not in str(told.value)
    assert curator.remaining.rho == Fraction(3, 2)


def test_a_folder_holds_tables_pictures_dictionary_and_receipt(curator, tmp_path):
    book = curator.book(TABLES, rho=0.5)
    book.save(tmp_path / "book")
    names = {each.name for each in (tmp_path / "book").iterdir()}
    tables = ["001-city", "002-city-age", "003-age-sex", "004-total"]
    drawn = {f"{name}.svg" for name in tables[:3]} | {f"{name}.csv" for name in tables}
    assert names == drawn | {"dictionary.md", "receipt.json", "receipt.txt"}
    with (tmp_path / "book" / "002-city-age.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    table = book["city", "age"]
    assert len(rows) == len(table) == 36
    assert [float(row["count"]) for row in rows] == table.values.reshape(-1).tolist()
    assert [float(row["count_upper"]) for row in rows] == table.upper.reshape(-1).tolist()
    assert rows[-1]["city"] == rows[-1]["age"] == REST
    kept = json.loads((tmp_path / "book" / "receipt.json").read_text())
    assert kept["price"]["rho"] == "0.5"
    assert "002-city-age.csv" in (tmp_path / "book" / "dictionary.md").read_text()


def test_a_tidy_book_is_whole_and_agrees_and_the_raw_one_stays(curator, tmp_path):
    book = curator.book(TABLES, rho=0.5)
    before = book["city", "age"].steps.copy()
    tidy = book.tidy()
    assert (tidy["city", "age"].sum(axis=1) == tidy["city"]).all()
    assert (tidy["age", "sex"].sum(axis=1) == tidy["city", "age"].sum(axis=0)).all()
    assert tidy["city"].sum() == tidy[()]
    assert (tidy["city", "age"] >= 0).all()
    assert (book["city", "age"].steps == before).all()
    book.save(tmp_path / "book", tidy=True)
    lines = (tmp_path / "book" / "tidy" / "001-city.csv").read_text().splitlines()
    assert lines[0] == "city,count"
    assert [int(line.split(",")[1]) for line in lines[1:]] == tidy["city"].tolist()
    assert "no interval" in (tmp_path / "book" / "tidy" / "README.txt").read_text()


def test_frames_rows_and_json_hold_the_same_numbers(curator):
    book = curator.book(TABLES, rho=0.5)
    table = book["city"]
    frame = table.to_pandas()
    assert list(frame["count"]) == [row["count"] for row in table.rows] == table.values.tolist()
    assert list(frame["city"]) == list(table.labels[0])
    assert book[()].to_pandas()["count"].tolist() == [float(book[()].values)]
    facts = json.loads(json.dumps(book.to_json()))
    assert facts["tables"][0]["values"] == table.values.tolist()
    assert "price delta 0, rho 0.5" in str(book)


def test_what_is_not_in_the_book_is_refused(curator):
    book = curator.book(TABLES, rho=0.5)
    for wrong in ("nothing", ("city", "sex"), ("city", "city")):
        with pytest.raises(InvalidParameter, match="one of the book"):
            book[wrong]
    with pytest.raises(InvalidParameter, match="by a label"):
        book["city"]["Paris"]


def test_a_label_like_the_rest_is_told_apart(open_book):
    with open_book(keys={"city": [REST, "Ottawa"]}) as curator:
        (labels,) = curator.book(["city"], rho=0.5)["city"].labels
    assert len(set(labels)) == 3


@pytest.mark.parametrize("terms", [{"rho": 0.5}, {"epsilon": 1}])
def test_intervals_hold_as_often_as_they_say(open_book, terms):
    # 400 books. A cell's share of 400 is below 0.85 less than once in 10^11, that of any of 68 in 10^9. The
    # mean of four tables' shares has a standard error below 0.0034 (the total, one cell, has most of it), so
    # 0.021 from 0.95 is beyond 6 of them; a reach that is a tenth short gives 0.922.
    budget = {"rho": 2} if "rho" in terms else {"epsilon": 2}
    with open_book(budget=budget) as curator:
        plan = curator.explain_book(TABLES, **terms)
    sizes = plan.noise.workload.sizes
    cells = int(np.prod(sizes))
    one = ExactTable((), (), cells=CellArrays.of(np.arange(cells), np.full(cells, 7 * plan.noise.one)))
    from discreet.asking.answers import Book
    from discreet.kernel.randomness import fresh_source

    source, held = fresh_source(), {table: [] for table in plan.book.tables}
    for _ in range(400):
        measured = {}
        for columns, stage in zip(plan.measured, plan.stages, strict=True):
            numbers = stage.draw(stage.take([one], None), source).numbers
            measured[columns] = np.array(numbers).reshape([sizes[each] for each in columns])
        book = Book(plan, measured, None)
        for columns, shares in held.items():
            table = book.table(columns)
            truth = 7 * cells / len(table)
            shares.append((np.abs(table.values - truth) <= table.reach).reshape(-1))
    for shares in held.values():
        each = np.mean(shares, axis=0)
        assert each.min() > 0.85
    assert abs(np.mean([np.mean(shares) for shares in held.values()]) - 0.95) < 0.021
