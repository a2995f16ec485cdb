"""An answer is an Arrow stream for any library, with types, missing values and wide numbers."""

import datetime

import polars
import pyarrow
import pytest

from discreet.asking.answers.arrow import as_stream

TYPES = {
    "n": "integer",
    "x": "number",
    "t": "text",
    "b": "boolean",
    "d": "date",
    "s": "timestamp",
}
DAY, MOMENT = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30, 1)
ROWS = [
    {"n": 2**62, "n_lower": -1.5, "x": 0.1, "t": 'a"b', "b": True, "d": DAY, "s": MOMENT},
    {"n": None, "n_lower": None, "x": None, "t": None, "b": None, "d": None, "s": None},
]


def read(types, rows):
    return pyarrow.RecordBatchReader.from_stream(as_stream(types, rows)).read_all()


def test_every_type_and_every_missing_value_arrives():
    table = read(TYPES, ROWS)
    assert table.to_pylist() == ROWS
    assert str(table.schema.field("n").type) == "int64"
    assert str(table.schema.field("d").type) == "date32[day]"


def test_no_rows_are_a_table_with_its_columns():
    assert read(TYPES, []).schema.names == list(TYPES)


@pytest.mark.parametrize("name", ['odd "name"', "select", "ß", "a b"])
def test_columns_may_have_any_name(name):
    assert read({name: "text"}, [{name: "x"}]).to_pylist() == [{name: "x"}]


def test_numbers_beyond_64_bits_become_floats():
    assert read({"n": "integer"}, [{"n": 2**70}]).to_pylist() == [{"n": 2.0**70}]


def test_polars_reads_the_stream():
    stream = as_stream(TYPES, ROWS)
    assert polars.DataFrame(Holder(stream)).to_dicts() == ROWS


class Holder:
    """What offers a stream and nothing else."""

    def __init__(self, stream):
        self._stream = stream

    def __arrow_c_stream__(self, schema=None):
        return self._stream.__arrow_c_stream__(schema)
