"""Exact audits: from the laws that mechanisms state, to what they prove."""

from fractions import Fraction
from math import exp, log

import pytest

import discreet as dp
from discreet.apps.auditing import audit
from discreet.apps.auditing.claim import Claim, verify
from discreet.kernel.laws import (
    DiscreteGaussianLaw,
    GaussianLaw,
    LaplaceLaw,
    ResponseLaw,
    StaircaseLaw,
    TruncatedLaplaceLaw,
    compute_transcripts,
)
from discreet.kernel.numerics import ball, working_precision

WIDTH, QUARTER = Fraction(7, 12), Fraction(1, 4)
NOISES = [
    LaplaceLaw(WIDTH, QUARTER),
    GaussianLaw(WIDTH, QUARTER),
    DiscreteGaussianLaw(WIDTH, QUARTER),
    StaircaseLaw(Fraction(1, 2), stairs=4, width=2, step=QUARTER),
    TruncatedLaplaceLaw(WIDTH, QUARTER, most=9),
]


def shifted(noise):
    """The law of a number of one step or none, in blocks."""
    return lambda value: noise.blocks(int(value / noise.step), first=0, last=1)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_a_lattice_law_sums_to_one(noise):
    with working_precision(160):
        total = sum(noise.blocks(1, first=0, last=4).values(), ball(0))
    assert total.contains(1)
    assert float(total.rad()) < 1e-30


def test_the_discrete_laplace_law_has_the_stated_probabilities():
    law = LaplaceLaw(Fraction(1)).blocks(0, first=0, last=1)
    q = exp(-1)
    for k in (-3, 0, 2):
        assert float(law[k]) == pytest.approx((1 - q) / (1 + q) * q ** abs(k))


def test_the_staircase_law_has_the_stated_probabilities():
    noise = StaircaseLaw(Fraction(1), stairs=3, width=1)
    with working_precision(160):
        mass = [float(noise.mass(k)) for k in range(-7, 8)]
    stated = [exp(-(abs(k) // 3) - (abs(k) % 3 >= 1)) for k in range(-7, 8)]
    for found, wanted in zip(mass, stated, strict=True):
        assert found / mass[7] == pytest.approx(wanted)


def test_randomised_response_has_exactly_its_loss():
    response = ResponseLaw(2, truth=Fraction(3, 4))
    finding = verify(
        lambda truth: response.table(("yes", "no"), truth), [("yes", "no")], Claim.read(1)
    ).finding
    assert finding.lower_bound == pytest.approx(log(3), abs=1e-15)
    assert finding.lower_bound <= log(3)


def transcripts(answers):
    """A sparse vector of epsilon 1 on step 1, with its threshold drawn once for so many answers."""
    noises = {"threshold": LaplaceLaw(Fraction(2)), "query": LaplaceLaw(Fraction(4))}
    return lambda values: compute_transcripts(values, **noises, answers=answers, count=answers)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_above_threshold_keeps_its_claim_on_the_crossed_halves(k):
    pair = ([0] * k + [1] * k, [1] * k + [0] * k)
    assert verify(transcripts(1), [pair], Claim.read(1)).finding.excess <= 0


def test_a_sparse_vector_without_limit_is_refuted_exactly():
    pair = ([0] * 3 + [1] * 3, [1] * 3 + [0] * 3)
    assert verify(transcripts(6), [pair], Claim.read(1)).finding.excess > 0.03


@pytest.mark.parametrize("make", [dp.Laplace, dp.Gaussian])
def test_our_additive_mechanisms_are_verified_exactly(make):
    scale = {"scale": 2} if make is dp.Laplace else {"sigma": 2}
    mechanism = make(sensitivity=1, **scale)
    report = audit(mechanism, claim=mechanism.loss, samples=1000)
    assert (report.method, report.verdict) == ("exact", "not refuted")
    assert report.lower_bound >= report.claimed * 0.99


def test_a_smaller_claim_is_refuted_without_sampling():
    mechanism = dp.Laplace(epsilon=1, sensitivity=1)
    report = audit(mechanism, claim=0.999)
    assert (report.verdict, report.samples) == ("violated", 0)


def test_a_fine_lattice_is_verified_in_blocks():
    mechanism = dp.Laplace(epsilon=0.5, sensitivity=0.1)
    assert audit(mechanism, claim=0.4999).verdict == "violated"


def test_discrete_gaussian_noise_is_not_gaussian_dp():
    law = shifted(DiscreteGaussianLaw(Fraction(1)))
    assert verify(law, [(0, 1)], Claim.read(dp.GDP(1))).finding.excess > 0.03
    assert verify(law, [(0, 1)], Claim.read(dp.ZCDP(0.5))).finding.excess <= 0


def test_given_neighbours_of_a_finite_law_are_enumerated_too():
    response = dp.RandomizedResponse(truth=0.75, values=["a", "b", "c"])
    report = audit(response, claim=1, neighbours=("a", "c"))
    assert (report.method, report.verdict, report.samples) == ("exact", "violated", 0)
    with pytest.raises(dp.InvalidParameter):
        audit(response, claim=1, neighbours=("a", "z"))


def test_an_unbounded_loss_is_reported_as_such():
    report = audit(dp.RandomizedResponse(truth=1), claim=1)
    assert report.lower_bound == float("inf")
    assert '"infinity"' in report.to_json()
