"""Reports of one of several values: fields, channels, draws, decoding, and the choice between protocols."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import discreet as dp
from discreet.apps.auditing.targets import add, list_directions, multiplication
from discreet.asking.local.choice import Choice
from discreet.asking.local.domain import Domain
from discreet.asking.local.field import Field, is_supported, prime_power
from discreet.asking.local.projective import ProjectiveChoice
from discreet.kernel.losses import channel
from discreet.kernel.numerics import ball, certified_sign
from discreet.testing import Tape

WORD = 1 << 64
PROTOCOLS = [
    Choice(values=range(2), epsilon=1),
    Choice(values=range(7), epsilon=Fraction(1, 2)),
    Choice(values=range(5), epsilon=3, size=2),
    ProjectiveChoice(values=range(9), epsilon=Fraction(1, 2), field=3),
    ProjectiveChoice(values=range(11), epsilon=1, field=4),
    ProjectiveChoice(values=range(20), epsilon=2, field=8),
    ProjectiveChoice(values=range(6), epsilon=1, field=2),
    ProjectiveChoice(values=range(5), epsilon=2, field=9),
]


def name(protocol):
    return f"{protocol.protocol}-{protocol.domain.size}-{protocol._shape()}"


@pytest.mark.parametrize("q", [q for q in range(2, 50) if is_supported(q)])
def test_a_field_is_one_and_agrees_with_a_second_writing(q):
    field, x = Field(q), np.arange(q)
    plus = [[int(field.add(np.int64(a), np.int64(b))) for b in range(q)] for a in range(q)]
    times = field.multiply(x[:, None], x[None, :])
    assert plus == [[add(q, a, b) for b in range(q)] for a in range(q)]
    assert times.tolist() == multiplication(q)
    every = list(range(q))
    assert all(sorted(row) == every for row in plus)
    assert all(sorted(row) == every for row in times[1:].tolist())  # so each element but 0 has an inverse
    if q <= 16:
        a, b, c = (axis.reshape(-1) for axis in np.meshgrid(x, x, x))
        left = field.multiply(a, field.add(b, c))
        assert (left == field.add(field.multiply(a, b), field.multiply(a, c))).all()
        assert (field.multiply(a, field.multiply(b, c)) == field.multiply(field.multiply(a, b), c)).all()


def test_prime_powers_are_told_from_other_numbers():
    found = [q for q in range(200) if prime_power(q)]
    powers = {p**r for p in range(2, 200) if all(p % d for d in range(2, p)) for r in range(1, 8)}
    assert found == sorted(q for q in powers if q < 200)
    with pytest.raises(dp.InternalError):
        Field(6)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=name)
def test_the_whole_channel_keeps_the_price_and_is_what_the_protocol_says(protocol):
    """Every probability exactly: rows, likelihood ratios, support, loss. Nothing is sampled."""
    rows = protocol.channel()
    assert all(sum(row) == 1 for row in rows)
    ratio = max(a / b for column in zip(*rows, strict=True) for a in column for b in column)
    assert certified_sign(lambda: ball(protocol.epsilon).exp() - ball(ratio)) == 1
    more = protocol.threshold + 1  # the next threshold would be too much
    assert (
        certified_sign(lambda: ball(more * protocol.odds / (WORD - more)) - ball(protocol.epsilon).exp()) == 1
    )
    stated = protocol.loss.epsilon(delta=0)
    assert math.log(ratio) <= stated <= protocol.epsilon
    assert stated == pytest.approx(float(protocol.epsilon), rel=1e-12)
    slow = channel(rows, relation="local")
    for epsilon in (0, float(protocol.epsilon) / 3, float(protocol.epsilon) / 2):
        assert protocol.loss.delta(epsilon=epsilon) == pytest.approx(slow.delta(epsilon=epsilon), rel=1e-9)
    likely = [{j for j, p in enumerate(row) if p == max(row)} for row in rows]
    for x, row in enumerate(rows):
        for v, supporting in enumerate(likely):
            assert sum(row[j] for j in supporting) == (protocol.own if v == x else protocol.other)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=name)
def test_what_is_drawn_has_the_law_of_the_channel(protocol):
    """Each report's frequency within 7.5 standard deviations: false alarms below 1e-12 each."""
    size, k = 20_000, protocol.domain.size
    rows = protocol.channel()
    for value in (0, k - 1):
        drawn = number(protocol, protocol.randomize_many([value] * size))
        counts = np.bincount(drawn, minlength=len(rows[0]))
        assert close(counts, rows[value], size)
        assert not close(counts, rows[(value + 1) % k], size)


def number(protocol, reports):
    """Reports as columns of the channel."""
    if protocol.protocol == "projective":
        return reports
    from itertools import combinations

    column = {held: j for j, held in enumerate(combinations(range(protocol.domain.size), protocol.size))}
    return np.array([column[tuple(np.atleast_1d(report).tolist())] for report in reports])


def close(counts, law, size):
    return all(
        abs(count - size * p) <= 7.5 * math.sqrt(size * p * (1 - p)) + 1
        for count, p in zip(counts.tolist(), map(float, law), strict=True)
    )


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_decoding_counts_what_a_list_of_all_vectors_counts(data):
    q = data.draw(st.sampled_from([2, 3, 4, 5, 7, 8, 9, 11, 13]))
    k = data.draw(st.integers(2, min(300, q**3)))
    protocol = ProjectiveChoice(domain=Domain.of(domain=k), epsilon=1, field=q)
    reports = data.draw(st.lists(st.integers(0, protocol.reports - 1), min_size=1, max_size=30))
    directions, times = list_directions(q, protocol.digits), multiplication(q)
    assert len(directions) == protocol.directions
    expected = np.zeros(k, dtype=int)
    for report in reports:
        direction = directions[report // q]
        for v in range(k):
            digit = 0
            for i, b in enumerate(direction):
                digit = add(q, digit, times[v // q**i % q][b])
            expected[v] += digit == report % q
    assert protocol.collect(reports).supports.tolist() == expected.tolist()


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=name)
def test_one_person_and_many_are_drawn_alike_from_the_same_words(protocol):
    random = np.random.default_rng()
    for value in range(protocol.domain.size):
        words = [int(word) for word in random.integers(0, WORD, 40, dtype=np.uint64)]
        one = protocol._randomize([value], Tape(words))
        assert one == protocol._randomize_many(np.array([value]), Tape(words)).tolist()
        truthful = [words[0], protocol.threshold - 1] if protocol.protocol == "projective" else [0]
        held = protocol.collect(protocol._randomize([value], Tape([*truthful, *words]))).supports
        assert held[value] == 1


@pytest.mark.parametrize("k", [2, 100, 10**4, 10**6])
@pytest.mark.parametrize("epsilon", [Fraction(n, 10) for n in range(5, 41, 5)])
def test_the_chosen_protocol_errs_within_a_fiftieth_of_the_least_in_few_bytes(k, epsilon):
    chosen = dp.local.choice(domain=k, epsilon=epsilon)
    best = Choice(domain=Domain.of(domain=k), epsilon=epsilon)
    assert chosen.variance <= Fraction(102, 100) * best.variance
    e = math.exp(epsilon)
    assert best.variance <= 4 * e / (e - 1) ** 2
    if k == 10**6:
        assert chosen.bits <= 24
        longest = json.dumps(chosen.reports - 1)
        assert len(longest) <= 24


def test_the_choice_falls_on_each_kind_where_it_is_best():
    assert dp.local.choice(values="abc", epsilon=2).size == 1
    assert dp.local.choice(domain=100, epsilon=1).size == 27
    assert dp.local.choice(domain=10**5, epsilon=1).field == 4
    assert dp.local.choice(domain=10**6, epsilon=10).size == 45  # a field of 22,000 would need 10^8 reports
    with pytest.raises(dp.InvalidParameter):
        dp.local.choice(domain=1 << 25, epsilon=1)


@pytest.mark.parametrize(("k", "epsilon"), [(10**4, 0.5), (10**4, 4), (10**5, 1), (10**5, 2)])
def test_the_measured_variance_is_the_stated_one(k, epsilon):
    """n·Var over the values that nobody holds. Their estimates are nearly uncorrelated, so the ratio has a
    standard deviation of about √(2/k) ≤ 0.015; it is off by 0.15 with probability below 1e-12."""
    protocol, n = dp.local.choice(domain=k, epsilon=epsilon), 20_000
    found = protocol.collect(protocol.randomize_many(np.zeros(n, dtype=np.int64)))
    measured = n * float(np.mean(found.raw[1:] ** 2))
    assert measured == pytest.approx(float(protocol.variance), rel=0.15)
    assert found.raw[0] == pytest.approx(
        1, abs=8 * math.sqrt(float(protocol.support.variance(Fraction(1), n)))
    )


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=name)
def test_a_protocol_is_read_back_and_an_altered_one_refused(protocol):
    stored = json.loads(json.dumps(protocol.to_json()))
    assert dp.local.from_json(stored) == protocol
    with pytest.raises(dp.InvalidParameter, match="threshold"):
        dp.local.from_json(stored | {"threshold": str(protocol.threshold + 1)})
    if protocol.protocol == "projective":
        for wrong in ({"field": 6}, {"digits": 40}, {"field": 1}):
            with pytest.raises(dp.InvalidParameter):
                dp.local.from_json(stored | wrong)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2**60), Fraction(1, 2**40), Fraction(1, 1000), 50, 10**4])
@pytest.mark.parametrize("k", [2, 3, 100, 1000, 10**6])
def test_extreme_prices_are_kept(k, epsilon):
    protocol = dp.local.choice(domain=k, epsilon=epsilon)
    assert protocol.own > protocol.other
    assert protocol.loss.epsilon(delta=0) <= float(epsilon)
    lower, upper = protocol.collect(protocol.randomize([0, 1, k - 1])).intervals(simultaneous=True)
    assert (lower <= upper).all()


def test_a_protocol_that_an_older_version_wrote_is_read():
    old = {"protocol": "choice", "version": 1, "epsilon": "1", "values": list(range(100))}
    assert dp.local.from_json(old) == Choice(values=range(100), epsilon=1)


@pytest.mark.parametrize("reports", [[-1], [10**9], [True], [0.5], ["0"], [None], [[1]], "0", []])
def test_reports_that_a_field_cannot_make_are_refused(reports):
    with pytest.raises(dp.InvalidParameter):
        ProjectiveChoice(values=range(9), epsilon=1, field=3).estimate(reports)


@pytest.mark.parametrize("value", [[1, [2]], -1, 50, 0.5, "0", None, math.nan])
def test_a_value_outside_the_domain_is_refused_without_being_quoted(value):
    protocol = dp.local.choice(domain=50, epsilon=1)
    with pytest.raises(dp.InvalidParameter) as caught:
        protocol.randomize([value])
    assert str(value) not in caught.value.message.replace("None", "")


def test_text_of_an_unknown_domain_is_hashed_by_a_public_seed():
    protocol = dp.local.choice(domain=1 << 16, epsilon=4, seed="june")
    again = dp.local.from_json(protocol.to_json())
    assert again == protocol
    assert again.domain.places(["tea"]) == protocol.domain.places(["tea"])
    other = dp.local.choice(domain=1 << 16, epsilon=4, seed="july")
    assert other.domain.places(["tea", "milk"]).tolist() != protocol.domain.places(["tea", "milk"]).tolist()
    reports = protocol.randomize_many(["tea"] * 3000 + ["coffee"] * 1000)
    found = protocol.collect(reports)
    assert found.estimate("tea", confidence=1 - 1e-9).interval.lower > 0.5
    assert found.estimate("water", confidence=1 - 1e-9).interval.upper < 0.2
    with pytest.raises(dp.InvalidParameter):
        protocol.randomize(3)


@pytest.mark.parametrize(("places", "epsilon"), [(20, 1), (1000, 8), (1 << 16, 1)], ids=str)
def test_texts_are_hashed_once_whatever_a_report_holds(places, epsilon):
    """Several places, one, or a point of the geometry: each is a place already, and is read as one."""
    protocol = dp.local.choice(domain=places, epsilon=epsilon, seed="june")
    reports = protocol.randomize(["tea"] * 3000)
    for sent in (reports, json.loads(json.dumps(reports))):
        found = protocol.collect(sent)
        assert found.estimate("tea", confidence=1 - 1e-9).interval.lower > 0.6
    protocol.check(reports[0])
    with pytest.raises(dp.InvalidParameter):
        protocol.check("tea")


# --- planted faults: each must be found ------------------------------------------------------------------


class HashChosenByTheClient(ProjectiveChoice):
    """The direction depends on the value: it tells it."""

    def _draw(self, codes, source):
        drawn = super()._draw(codes, source)
        return codes % self.directions * self.field + drawn % self.field


class BiasedDraw(ProjectiveChoice):
    """The truth is told as if there were two digits, whatever the field."""

    @property
    def threshold(self):
        return int(WORD * 0.5 * (1 + math.tanh(float(self.epsilon) / 2)))


class CoinReused(Choice):
    """One coin for all: whoever sees two reports of one person knows whether both were true."""

    def _supports_truth(self, source, size):
        return np.repeat(super()._supports_truth(source, 1), size)


def test_a_planted_fault_of_a_client_is_found():
    for fault in (HashChosenByTheClient, BiasedDraw):
        broken = fault(values=range(9), epsilon=1, field=3)
        report = dp.audit(
            lambda data, n, broken=broken: broken.randomize_many([data] * n),
            claim=1,
            neighbours=[(0, 5)],
            samples=20_000,
        )
        assert report.verdict == "violated", fault
    honest = ProjectiveChoice(values=range(9), epsilon=1, field=3)
    assert dp.audit(honest, claim=1, samples=20_000).verdict == "not refuted"


def test_a_coin_that_is_reused_is_found_where_two_reports_are_seen():
    def twice(protocol):
        def run(data, n):
            return [tuple(protocol.randomize([data, data])) for _ in range(n)]

        return run

    broken, honest = (kind(values=range(10), epsilon=1, size=1) for kind in (CoinReused, Choice))
    setting = {"claim": 2, "neighbours": [(0, 1)], "samples": 5_000}
    assert dp.audit(twice(broken), **setting).verdict == "violated"
    assert dp.audit(twice(honest), **setting).verdict == "not refuted"


def test_a_threshold_from_floats_breaks_the_price_and_is_found_by_the_exact_channel():
    """Rounded to the nearest, a float lies above e^ε/(e^ε + q - 1) for about half of all prices."""
    over = 0
    for n in range(1, 60):
        protocol = ProjectiveChoice(values=range(9), epsilon=Fraction(n, 10), field=3)
        e = math.exp(n / 10)
        rounded = int(Fraction(e / (e + 2)) * WORD)
        assert abs(rounded - protocol.threshold) < 1 << 13
        over += rounded > protocol.threshold
        with pytest.raises(dp.InvalidParameter):
            dp.local.from_json(protocol.to_json() | {"threshold": str(rounded)})
    assert over > 10
