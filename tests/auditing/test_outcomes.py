import copy
from dataclasses import dataclass

import numpy as np
import pytest

from discreet.apps.auditing.features import last_bits, lowest_bit
from discreet.apps.auditing.outcomes import read_outcomes
from discreet.errors import InvalidParameter


def test_arrays_and_lists_of_numbers_are_read_fast():
    (outcomes,) = read_outcomes(np.arange(6).reshape(3, 2))
    assert list(outcomes.numbers) == ["output[0]", "output[1]"]
    assert outcomes.numbers["output[1]"].tolist() == [1, 3, 5]


def test_an_odd_output_in_one_sample_changes_how_all_are_read():
    alone = read_outcomes([1, 2, 3])[0].labels["the whole output"].codes
    first, second = read_outcomes([1, 2, 3], [1, "x"])
    code = first.labels["the whole output"].codes[0]
    assert code == second.labels["the whole output"].codes[0]
    assert code != alone[0]


def test_equal_outputs_have_equal_labels_in_every_run():
    first, second = (read_outcomes([("a", 1.5), None])[0] for _ in range(2))
    for name in first.labels:
        assert first.labels[name].codes.tolist() == second.labels[name].codes.tolist()


def test_types_are_told_apart():
    (outcomes,) = read_outcomes([1, 1.0, True, "1", None, ValueError("1")])
    assert len(set(outcomes.labels["the shape"].codes.tolist())) == 6


def test_the_numbers_inside_mappings_and_rows_are_found():
    (outcomes,) = read_outcomes([{"city": "Ottawa", "people": 3}, {"city": "Toronto"}])
    assert outcomes.numbers["output['people']"][0] == 3
    assert np.isnan(outcomes.numbers["output['people']"][1])


@dataclass
class Answer:
    values: np.ndarray


class Plain:
    def __init__(self, value):
        self.value = value


def test_objects_are_read_by_their_fields():
    # Their own words would hide the middle of a long array, or be an address that is new each time.
    long, other = np.zeros(5000), np.zeros(5000)
    other[2500] = 1
    for first, second in [(Answer(long), Answer(other)), (Plain(1), Plain(2)), (Plain(Plain(1)), Plain(1))]:
        (outcomes,) = read_outcomes([first, copy.deepcopy(first), second])
        codes = outcomes.labels["the whole output"].codes
        assert codes[0] == codes[1] != codes[2]
    (outcomes,) = read_outcomes([Plain(7), Plain(Answer(np.array([3.0])))])
    assert outcomes.numbers["output.value"][0] == 7
    assert outcomes.numbers["output.value.values[0]"][1] == 3


def test_a_complex_number_has_two_parts():
    (outcomes,) = read_outcomes(np.array([1 + 2j, 3 + 4j]))
    assert outcomes.numbers["output.imag"].tolist() == [2, 4]


def test_an_output_that_contains_itself_is_refused():
    endless = Plain(None)
    endless.value = endless
    with pytest.raises(InvalidParameter, match="contain themselves"):
        read_outcomes([endless])


def test_exceptions_carry_their_message():
    (outcomes,) = read_outcomes([ValueError("3 rows"), ValueError("4 rows")])
    label = outcomes.labels["the whole output"]
    assert label.text(0) == "raises ValueError: 3 rows"
    assert label.codes[0] != label.codes[1]


def test_a_window_of_rows_keeps_its_words():
    (outcomes,) = read_outcomes(["a", "b", "c", 4])
    assert outcomes.rows(1, 3).labels["the whole output"].text(0) == "'b'"


def test_the_lowest_bit_names_the_lattice():
    values = np.array([0.0, 1.0, 0.5, 3 * 2.0**-53, np.nan, np.inf])
    found = lowest_bit(values).tolist()
    assert found[1:4] == [0, -1, -53]
    assert found[0] == found[4] == found[5] < -1000
    assert lowest_bit(np.array([0, 12, -8])).tolist()[1:] == [2, 3]


def test_the_last_bits_of_an_integer_are_its_residue():
    assert last_bits(np.array([256, 257, -1])).tolist() == [0, 1, 255]
