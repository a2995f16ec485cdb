import pytest

import discreet as dp
from discreet.apps.auditing.neighbours import edges, numbers, tables, vectors


def test_numbers_differ_by_the_sensitivity():
    assert all(second - first == 3 for first, second in numbers(sensitivity=3))
    assert all(0 <= first < second <= 10 for first, second in numbers(sensitivity=3, bounds=(0, 10)))


def test_vectors_move_each_answer_by_at_most_the_sensitivity():
    for first, second in vectors(dimension=5, sensitivity=2):
        assert max(abs(a - b) for a, b in zip(first, second, strict=True)) == 2


def test_monotone_vectors_all_move_one_way():
    for first, second in vectors(dimension=4, scores="monotone"):
        moves = {b - a for a, b in zip(first, second, strict=True)} - {0}
        assert len(moves) == 1


def test_small_tables_are_all_there():
    pairs = tables(["a", "b"], sizes=(0, 1))
    assert pairs[:3] == [([], ["a"]), ([], ["b"]), (["a"], ["a", "a"])]
    assert len(pairs) == 6


def test_replacing_changes_exactly_one_record():
    for first, second in tables([1, 2, 3], sizes=(1, 2, 3), relation="replace"):
        assert len(first) == len(second)
        assert sum(a != b for a, b in zip(first, second, strict=True)) == 1


def test_edges_lie_inside_the_bounds():
    assert all(-1 <= value <= 1 for value in edges((-1, 1)))
    assert 0 in edges((-1, 1))


def test_unknown_relations_and_empty_bounds_are_refused():
    with pytest.raises(dp.InvalidParameter):
        tables([1], relation="local")
    with pytest.raises(dp.InvalidParameter):
        edges((1, 1))
