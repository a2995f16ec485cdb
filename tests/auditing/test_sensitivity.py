import math

import pytest

import discreet as dp
from discreet.apps.auditing import check_sensitivity

DEBT = (0, 10_000_000)
MAP = [(25, 50), (-125, -65)]  # latitudes and longitudes
CITIES = [(35.1, -90.0), (40.7, -74.0), (41.9, -87.6)]


def centre(people):
    return tuple(sum(axis) / len(people) for axis in zip(*people, strict=True))


def inverse_distance(people):
    return [1 / math.dist(centre(people), city) for city in CITIES]


def bounded_distance(people):
    if not people:
        return [0.0] * len(CITIES)
    return [-min(math.dist(centre(people), city), 20.0) for city in CITIES]


def test_the_naive_scale_of_a_sum_of_debts_is_found():
    report = check_sensitivity(sum, bounds=DEBT, sensitivity=1)
    assert report.verdict == "violated"
    assert report.lower_bound == pytest.approx(10_000_000)


def test_scaling_by_the_largest_debt_in_the_data_is_found():
    assert check_sensitivity(sum, bounds=DEBT, sensitivity=max).verdict == "violated"


def test_the_global_sensitivity_of_a_bounded_sum_holds():
    report = check_sensitivity(sum, bounds=DEBT, sensitivity=10_000_000)
    assert (report.verdict, report.exhaustive) == ("not refuted", False)


def test_inverse_distance_has_no_bounded_sensitivity():
    for declared in (1, 1000, 10**6):
        report = check_sensitivity(
            inverse_distance, bounds=MAP, sensitivity=declared, sizes=(1, 2, 3), norm="max"
        )
        assert report.verdict == "violated"


def test_a_bounded_distance_has_one():
    report = check_sensitivity(bounded_distance, bounds=MAP, sensitivity=20, norm="max")
    assert report.verdict == "not refuted"
    assert report.lower_bound > 19


def test_small_domains_are_searched_whole():
    report = check_sensitivity(sum, values=[-3, 0, 5], sensitivity=5)
    assert (report.exhaustive, report.lower_bound, report.verdict) == (True, 5, "not refuted")
    assert check_sensitivity(sum, values=[-3, 0, 5], sensitivity=5, relation="replace").lower_bound == 8


@pytest.mark.parametrize(("norm", "reached"), [("l1", 2), ("l2", math.sqrt(2)), ("max", 1)])
def test_a_histogram_under_replace_moves_two_cells(norm, reached):
    def histogram(data):
        return [data.count("a"), data.count("b")]

    found = check_sensitivity(
        histogram, values=["a", "b"], sensitivity=1, relation="replace", norm=norm, sizes=(1, 2)
    )
    assert found.lower_bound == pytest.approx(reached)


def test_a_function_that_is_undefined_on_one_neighbour_is_refuted():
    report = check_sensitivity(lambda data: sum(data) / len(data), values=[0, 1], sensitivity=1)
    assert (report.verdict, report.lower_bound) == ("violated", math.inf)


def test_a_change_of_length_is_an_unbounded_change():
    assert check_sensitivity(sorted, values=[0, 1], sensitivity=1).lower_bound == math.inf


def test_the_search_is_the_same_in_every_run():
    reports = [check_sensitivity(sum, bounds=(-1, 3), sensitivity=2) for _ in range(2)]
    assert reports[0] == reports[1]


@pytest.mark.parametrize("domain", [{}, {"values": [1], "bounds": (0, 1)}, {"bounds": (1, 0)}])
def test_a_domain_must_be_given_once(domain):
    with pytest.raises(dp.InvalidParameter):
        check_sensitivity(sum, sensitivity=1, **domain)
