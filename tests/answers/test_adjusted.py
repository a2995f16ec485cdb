"""Post-processing is labelled, keeps what was released, and moves no count away from the truth."""

import json
from fractions import Fraction

from discreet.asking.answers import Answer, Receipt
from planning.frozen import plan_of

PLAN = plan_of(
    "SELECT city, COUNT(*) AS n, SUM(debt) AS s, COUNT(*) - 5 AS less FROM accounts GROUP BY city", epsilon=1
)
GROUPS = (("Ottawa",), ("Toronto",), ("Québec",))
RAW = Answer(
    PLAN, ((GROUPS, ((-7, -100), (3, 50), (4000, 9))),), Receipt.of(PLAN, charge=1, remaining=PLAN.price)
)
RAISED = RAW.non_negative()


def test_counts_are_raised_to_0_and_nothing_else_is_changed():
    assert [row["n"] for row in RAISED.rows] == [0, 3, 4000]
    assert [row["s"] for row in RAISED.rows] == [row["s"] for row in RAW.rows]
    assert [row["less"] for row in RAISED.rows] == [-12, -2, 3995]  # no COUNT itself
    assert RAISED.raw is RAW
    assert [row["n"] for row in RAW.rows] == [-7, 3, 4000]


def test_intervals_are_cut_at_0_and_still_hold_every_count_that_the_raw_ones_hold():
    for raw, raised in zip(RAW.intervals, RAISED.intervals, strict=True):
        assert raised["n"].lower == max(0, raw["n"].lower)
        assert raised["n"].upper == max(0, raw["n"].upper)
        assert raised["s"] == raw["s"]
    wide = RAW.non_negative().records(confidence=Fraction(99, 100))
    assert all(row["n_lower"] >= 0 for row in wide)


def test_an_adjusted_answer_says_so_everywhere(tmp_path):
    assert "raised to 0" in str(RAISED)
    assert "raised to 0" in RAISED.to_json()["post_processing"]
    assert "post_processing" not in RAW.to_json()
    RAISED.save(tmp_path)
    assert "raised to 0" in (tmp_path / "dictionary.md").read_text(encoding="utf-8")
    assert (tmp_path / "raw.csv").read_text(encoding="utf-8") == RAW.to_csv()
    assert json.loads((tmp_path / "receipt.json").read_text()) == RAW.receipt.to_json()
