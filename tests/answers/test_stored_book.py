"""What the ledger keeps of a book is small, exact, and read again."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

from discreet.asking.answers import Book, Receipt, restore_book, store_book
from discreet.asking.answers.stored_book import pack, unpack
from planning.test_book_plan import book

LEAST, MOST = -(2**63), 2**63 - 1


@given(st.lists(st.integers(LEAST, MOST), max_size=40))
def test_numbers_are_read_as_they_were_written(numbers):
    assert unpack(pack(np.array(numbers, dtype=np.int64))).tolist() == numbers


def test_a_book_is_read_as_it_was_stored():
    plan = book()
    random, sizes = np.random.default_rng(1), plan.noise.workload.sizes
    measured = {
        columns: random.integers(-(2**40), 2**40, [sizes[each] for each in columns])
        for columns in plan.measured
    }
    stored = store_book(plan, measured, Receipt({"charge": 3}))
    found = restore_book(plan, stored, charged=False)
    assert not found.charged
    assert found.receipt.facts["charge"] == 3
    for columns, table in measured.items():
        assert (found.measured[columns] == table).all()
    assert json.loads(stored)["format"] == 1


@pytest.mark.parametrize("price", [{"rho": 1}, {"rho": None, "epsilon": 1}])
def test_a_book_is_read_by_what_it_was_measured_with_whatever_would_be_measured_now(price):
    before = book(["city", ("city", "active")], **price)
    sizes = before.noise.workload.sizes
    measured = {each: np.ones([sizes[one] for one in each], dtype=np.int64) for each in before.measured}
    stored = store_book(before, measured, Receipt({}))
    now = book({"city": 1000, ("city", "active"): 1}, **price)  # the same tables, other noise
    assert now.noise.scales != before.noise.scales
    found = restore_book(now, stored)
    for columns in before.book.tables:
        assert found.plan.reach(columns) == pytest.approx(before.reach(columns))
        assert (
            found.table(columns).steps.tolist() == Book(before, measured, None).table(columns).steps.tolist()
        )
    old = json.loads(stored)
    for each in old["answers"][0]["book"]:
        del each["scale"]  # as it was kept before
    assert restore_book(before, json.dumps(old).encode()).plan is before


@pytest.mark.parametrize("spread", [2**14, 2**22])
def test_a_measured_cell_takes_little_more_than_its_noise(spread):
    numbers = np.rint(np.random.default_rng(2).normal(0, spread, 100_000)).astype(np.int64)
    bits = 8 * len(pack(numbers)) / 100_000
    assert bits < (np.log2(spread * 4.14) + 5) * 4 / 3
