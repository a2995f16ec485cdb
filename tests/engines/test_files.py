"""Files as other programs write them."""

import datetime

import pytest

from discreet.asking.engines import DuckDBEngine
from discreet.asking.policy import from_arguments
from discreet.errors import PolicyViolation


def opened(tmp_path, text, **types):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    policy = from_arguments(
        sources={"t": str(tmp_path / "t.csv")},
        id="t",
        unit="id",
        budget={"epsilon": 1},
        types={"id": "integer", **types},
    )
    return DuckDBEngine(policy)


def values(engine, column):
    return [row[column] for row in dict(engine.records())["t"]]


def test_whole_numbers_that_pandas_wrote_beside_missing_ones(tmp_path):
    engine = opened(tmp_path, "id,n\n1,21.0\n2,\n3,-7.00\n4,+5\n", n="integer")
    assert values(engine, "n") == [21, None, -7, 5]


def test_times_that_say_they_are_utc(tmp_path):
    text = "id,m\n1,2017-01-01T06:00:42Z\n2,2017-01-01 06:00:42+00:00\n3,2017-01-01T06:00:42.5\n"
    moment = datetime.datetime(2017, 1, 1, 6, 0, 42)
    found = values(opened(tmp_path, text, m="timestamp"), "m")
    assert found == [moment, moment, moment.replace(microsecond=500_000)]


@pytest.mark.parametrize(
    ("kind", "bad", "remedy"),
    [
        ("integer", "21.5", "declare it as number"),
        ("integer", "1e3", "declare it as number"),
        ("number", "n/a", "Declare it as text"),
        ("timestamp", "2017-01-01T06:00:42+02:00", "in UTC"),
        ("date", "31/12/2024", "2026-11-15"),
        ("boolean", "yes", "true or false"),
    ],
)
def test_the_owner_is_told_the_row_the_column_and_what_to_do(tmp_path, kind, bad, remedy):
    good = {
        "integer": "5",
        "number": "5.5",
        "timestamp": "2017-01-01T00:00:00",
        "date": "2017-01-01",
        "boolean": "true",
    }
    with pytest.raises(PolicyViolation) as caught:
        opened(tmp_path, f"id,v\n1,{good[kind]}\n2,\n3,{bad}\n4,{bad}\n", v=kind)
    message = caught.value.message
    assert "Column 'v'" in message
    assert "row 3 after the header" in message
    assert remedy in message
    assert bad not in message
