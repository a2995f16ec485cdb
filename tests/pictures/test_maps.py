import pytest

import discreet as dp
from discreet.apps.pictures import city_map
from discreet.apps.pictures.answers import place_labels

PLACES = {"Memphis": (35, -90), "Toronto": (43, -79)}


def test_the_area_of_a_bubble_is_the_probability():
    sizes = city_map(PLACES, {"Memphis": 0.8, "Toronto": 0.2}).to_json()["data"][0]["marker"]["size"]
    assert (sizes[0] / sizes[1]) ** 2 == pytest.approx(4)


def test_a_place_without_a_probability_is_refused():
    with pytest.raises(dp.InvalidParameter, match="one probability for each place"):
        city_map(PLACES, {"Memphis": 1.0})


def test_labels_avoid_what_stands_beside_them():
    sides = place_labels([(0, 0), (0, 6), (0, 75)], ["West", "Middle", "East"], obstacles=[])
    assert sides == ["middle left", "middle right", "middle right"]
