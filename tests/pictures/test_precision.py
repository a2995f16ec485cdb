import discreet as dp
from discreet.apps.pictures import accuracy


def test_errors_fall_as_epsilon_grows_and_zero_is_a_gap():
    laplace, gaussian = accuracy(epsilons=(0.1, 1.0, 10.0)).to_json()["data"]
    assert laplace["y"] == [dp.Laplace(epsilon=e, sensitivity=1).error() for e in (0.1, 1.0)] + [None]
    assert gaussian["y"] == sorted(gaussian["y"], reverse=True)


def test_more_numbers_at_once_need_more_room():
    one, many = (accuracy(epsilons=(0.1,), dimension=k).to_json()["data"][0]["y"][0] for k in (1, 100))
    assert many > one
