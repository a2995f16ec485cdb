import numpy as np
import pytest

from discreet.apps.auditing.events import Training, choose_events, put_in_words
from discreet.apps.auditing.features import list_features
from discreet.apps.auditing.learned import learn_features
from discreet.apps.auditing.outcomes import read_outcomes

rng = np.random.default_rng()


def difference(first, second):
    return (first - second) / 5000


def best(first, second, *, learned=False):
    outcomes = read_outcomes(first[:5000], second[:5000], first[5000:], second[5000:])
    training = Training((outcomes[0], outcomes[1]), (outcomes[2], outcomes[3]))
    plain = list_features(*training.shape)
    features = learn_features(plain, *training.shape) if learned else plain
    events = [e for f in features for e in choose_events(f, training, (difference, difference))]
    return put_in_words(max(events, key=lambda event: event.promise), training), outcomes


def test_a_shift_is_found_as_a_threshold_and_said_in_words():
    event, outcomes = best(rng.normal(0, 1, 10_000), rng.normal(3, 1, 10_000))
    # One end may lie beyond all but a few samples: then it is a threshold in all but words.
    assert any(words in event.words for words in ("is at most", "is at least", "is between"))
    shares = [event.count(part) / 5000 for part in outcomes[2:]]
    assert abs(shares[0] - shares[1]) == pytest.approx(0.866, abs=0.03)  # 2Φ(1.5) - 1


@pytest.mark.parametrize("kinds", [2, 5, 300])
def test_an_event_counts_what_its_bins_hold(kinds):
    # Labels and numbers, few and many pieces, values that training never saw: each has its own way to count.
    outputs = [rng.integers(0, kinds, (10_000, 2)) ** 2 % 97 for _ in range(2)]
    outcomes = read_outcomes(*(part[:2000] for part in outputs), *(part[2000:] for part in outputs))
    training = Training((outcomes[0], outcomes[1]), (outcomes[0], outcomes[1]))
    for feature in list_features(*training.shape):
        for event in choose_events(feature, training, (difference, difference)):
            for part in outcomes:
                assert event.count(part) == np.count_nonzero(event.inside[event.bins.place(feature(part))])


def test_trees_find_what_no_single_position_shows():
    rows = rng.normal(size=(20_000, 2))
    rows[:10_000, 1] = np.abs(rows[:10_000, 1]) * np.sign(rows[:10_000, 0])
    event, outcomes = best(rows[:10_000] + 0.0, rows[10_000:], learned=True)
    shares = [event.count(part) / 5000 for part in outcomes[2:]]
    assert abs(shares[0] - shares[1]) > 0.4  # one in two of the independent rows has opposite signs


def test_a_linear_combination_without_noise_is_found():
    noise = rng.integers(-50, 50, (20_000, 3))
    noise[:, 2] = -2 * noise[:, 0] - 5 * noise[:, 1]
    noise[:10_000, 0] += 1
    event, outcomes = best(noise[:10_000], noise[10_000:], learned=True)
    shares = [event.count(part) / 5000 for part in outcomes[2:]]
    assert abs(shares[0] - shares[1]) > 0.9
