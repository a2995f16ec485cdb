"""An answer as CSV is read back as it was, whatever its labels are, and no spreadsheet runs one."""

import csv
import io
from fractions import Fraction
from itertools import product

import pytest

from discreet.asking.answers import Answer, Receipt
from discreet.asking.planning import plan_asked
from discreet.asking.policy import from_arguments

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
SIGNS = ('"', ",", "\n", "\r", " ", "=", "a", "'", ";", "é")
LABELS = [
    'a "b", c',
    '""',
    '"',
    ",",
    "",
    " ",
    "a\nb",
    "a\r\nb",
    "=1+1",
    '="x"',
    "-5",
    *map("".join, product(SIGNS, repeat=3)),
]


def answer_with(labels):
    policy = from_arguments(
        sources={"t": None},
        id="t",
        unit="person",
        budget={"epsilon": 1},
        keys={"city": labels},
        max_groups=1,
    )
    (plan,) = plan_asked("SELECT city, COUNT(*) AS n FROM t GROUP BY city", policy, epsilon=1)
    groups, numbers = tuple((label,) for label in labels), tuple((index,) for index in range(len(labels)))
    return Answer(plan, ((groups, numbers),), Receipt.of(plan, charge=1, remaining=policy.budget))


def expected(label):
    return f"'{label}" if label[:1] in FORMULAS else label


def test_every_label_is_read_back():
    labels = list(dict.fromkeys(LABELS))
    written = answer_with(labels).to_csv()
    said, _, table = written.partition("\n")
    assert said.startswith("# at most 1 row of a unit in 1 group")
    found = list(csv.reader(io.StringIO(table, newline="")))
    assert found[0] == ["city", "n", "n_lower", "n_upper"]
    assert [row[0] for row in found[1:]] == [expected(label) for label in labels]
    assert [Fraction(row[1]) for row in found[1:]] == list(range(len(labels)))
    assert {len(row) for row in found} == {4}


def test_the_saved_file_is_the_same(tmp_path):
    answer = answer_with(['a "b", c', "a\r\nb"])
    answer.save(tmp_path)
    assert (tmp_path / "answer.csv").read_bytes().decode() == answer.to_csv()
    assert '"a ""b"", c",' in answer.to_csv()


@pytest.mark.parametrize("sign", FORMULAS)
def test_no_label_begins_as_a_formula_does(sign):
    assert answer_with([f"{sign}1"]).to_csv().splitlines()[2].lstrip('"').startswith("'")


def test_notes_are_one_line_each_whatever_they_quote(tmp_path):
    from discreet.asking.answers.shown import Shown

    shown = Shown({"n": "integer"}, ("n",), ("n",), [{"n": 1}], [{"n": None}], 0.95, ("a\r\nb", "=1"))
    assert shown.to_csv() == "# a b\n# =1\nn\n1\n"
