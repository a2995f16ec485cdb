"""The notebook of the first five minutes runs, is small, shows four charts; the magic says what it needs."""

import json
import runpy
from decimal import Decimal
from pathlib import Path

import pandas
import pytest

import discreet as dp
from discreet.apps.magic import read_line, run_cell

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "make-notebook"))
COMMITTED = ROOT / "examples" / "five_minutes.ipynb"
QUESTION = "SELECT city, COUNT(*) AS n FROM people GROUP BY city"


def shown(book):
    outputs = [output for cell in book["cells"] for output in cell.get("outputs", [])]
    assert all(output["output_type"] != "error" for output in outputs)
    return ["".join(output.get("data", {}).get("text/html", "")) for output in outputs]


@pytest.mark.slow
def test_the_notebook_runs_from_its_first_cell_to_its_last():
    book = SCRIPT["run"](SCRIPT["build"]())
    found = shown(book)
    assert sum("<svg" in each for each in found) >= 4
    assert sum("price epsilon" in each and "remaining epsilon" in each for each in found) >= 3
    assert "violated" in found[-1]
    assert len(json.dumps(book)) < 300_000


def test_the_committed_notebook_is_that_of_today_and_small():
    book = json.loads(COMMITTED.read_text(encoding="utf-8"))
    assert ["".join(cell["source"]) for cell in book["cells"]] == SCRIPT["CELLS"], "run scripts/make-notebook"
    assert sum("<svg" in each for each in shown(book)) >= 4
    assert COMMITTED.stat().st_size < 300_000


@pytest.fixture
def names(tmp_path):
    frame = pandas.DataFrame({"person": range(100), "city": ["Ottawa", "Toronto"] * 50})
    curator = dp.Curator.open(
        frame, name="people", unit="person", budget=1, keys={"city": ["Ottawa", "Toronto"]},
        ledger=tmp_path / "people.ledger",
    )  # fmt: skip
    return {"bank": curator, "price": Decimal("0.25")}


def test_a_cell_asks_at_its_price_and_keeps_the_answer(names):
    answer = run_cell("bank epsilon=price into=cities", QUESTION, names)
    assert names["cities"] is answer
    assert names["bank"].remaining.epsilon == Decimal("0.75")
    assert run_cell("epsilon=0.25", f"\n{QUESTION}\n", names).rows == answer.rows  # the only curator; free
    assert names["bank"].remaining.epsilon == Decimal("0.75")


def test_a_cell_explains_for_nothing(names):
    plan = run_cell("explain epsilon=0.25", QUESTION, names)
    assert isinstance(plan, dp.Plan)
    assert names["bank"].remaining.epsilon == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("bank", r"must name its price; epsilon 1, .* %%discreet epsilon=0\.1"),
        ("nobody epsilon=0.1", "must name one curator"),
        ("bank epsilon=lots", "epsilon must be a number or a variable"),
        ("bank epsilom=0.1", "got 'epsilom'"),
        ("bank other epsilon=0.1", "got 'other'"),
        ("bank epsilon=0.1 into=1x", "got '1x'"),
    ],
)
def test_a_line_that_is_wrong_is_told_the_right_one(names, line, said):
    with pytest.raises(dp.InvalidParameter, match=said):
        run_cell(line, QUESTION, names)
    assert names["bank"].remaining.epsilon == 1


def test_several_curators_have_to_be_told_apart(names):
    names["other"] = names["bank"].for_analyst("eve")
    with pytest.raises(dp.InvalidParameter, match=r"must name one curator \(bank, other\)"):
        run_cell("epsilon=0.1", QUESTION, names)


def test_a_quoted_word_is_one_word():
    assert read_line("'my bank' epsilon=1").curator == "my bank"
