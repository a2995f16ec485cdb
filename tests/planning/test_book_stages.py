"""The stage of a book: it adds up cells, and its noise is made for what one unit moves."""

from dataclasses import replace

import numpy as np
import pytest

from discreet.asking.planning import CellArrays, ExactTable
from discreet.errors import InternalError
from planning.test_book_plan import book

STAGES = {stage.axes: stage for stage in book([("city", "active"), "city", ()]).stages}


def test_a_table_is_the_sum_of_its_cells():
    stage = STAGES[0, 1]
    sizes = stage.plan.sizes
    full = np.arange(np.prod(sizes)).reshape(sizes)
    codes = np.flatnonzero(full.reshape(-1))
    given = ExactTable((), (), cells=CellArrays.of(codes[::-1], full.reshape(-1)[codes[::-1]]))
    for axes, each in STAGES.items():
        away = tuple(axis for axis in range(len(sizes)) if axis not in axes)
        assert each.take([given], None).tolist() == full.sum(axis=away).reshape(-1).tolist()


def test_a_table_of_groups_is_not_taken():
    with pytest.raises(InternalError, match="from cells"):
        STAGES[0, 1].take([ExactTable((), ())], None)


def test_moves_are_measured_in_the_norm_of_the_noise():
    stage = STAGES[0,]
    far = int(stage.mechanism.sensitivity)
    (move,) = stage.moves([np.array([far, 0, 0, 0])], [np.array([0, 0, 0, 0])], "a table")
    assert move.part == 1
    (two,) = stage.moves([np.array([far, far, 0, 0])], [np.array([0, 0, 0, 0])], "a table")
    assert two.part == pytest.approx(2**0.5)
    (more,) = stage.moves([np.zeros(4)], [np.zeros(5)], "a table")
    assert more.part > 1


def test_it_is_a_draw_that_shows_no_keys_and_needs_delta_where_it_is_gaussian():
    assert STAGES[0,].needs_delta
    assert not STAGES[0,].shows_keys
    laplace = book(rho=None, epsilon=1).stages[0]
    assert not laplace.needs_delta
    assert not replace(laplace, mechanism=replace_relation(laplace)).fits("add/remove")
    assert "Laplace" in laplace.sentence


def replace_relation(stage):
    return type(stage.mechanism)(
        scale=stage.mechanism.scale, sensitivity=stage.mechanism.sensitivity, step=1, relation="replace"
    )
