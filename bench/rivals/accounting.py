"""The rivals' accountants, each at the setting it is given."""

import numpy as np


def _events(what):
    from dp_accounting import dp_event

    if what == "laplace":
        return [(dp_event.LaplaceDpEvent(10.0), 10_000)]
    if what == "gaussian":
        return [(dp_event.GaussianDpEvent(20.0), 10_000)]
    if what == "sampled":
        return [(dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(1.0)), 10_000)]
    if what == "rare":
        return [(dp_event.PoissonSampledDpEvent(0.001, dp_event.GaussianDpEvent(0.7)), 10_000)]
    return [(dp_event.LaplaceDpEvent(float(b)), 1) for b in range(10, 110)]


def google(what, interval, delta):
    """dp-accounting: a privacy loss distribution on a grid of this interval."""
    from dp_accounting.pld import PLDAccountant

    def work():
        accountant = PLDAccountant(value_discretization_interval=interval)
        for event, count in _events(what):
            accountant.compose(event, count)
        return accountant.get_epsilon(delta)

    return work


def microsoft(what, error, delta):
    """prv-accountant: its upper bound, at this error of epsilon."""
    from prv_accountant import (
        GaussianMechanism,
        LaplaceMechanism,
        PoissonSubsampledGaussianMechanism,
        PRVAccountant,
    )

    laws = {
        "laplace": [(LaplaceMechanism(0.1), 10_000)],
        "gaussian": [(GaussianMechanism(20.0), 10_000)],
        "sampled": [
            (PoissonSubsampledGaussianMechanism(noise_multiplier=1.0, sampling_probability=0.01), 10_000)
        ],
        "rare": [
            (PoissonSubsampledGaussianMechanism(noise_multiplier=0.7, sampling_probability=0.001), 10_000)
        ],
        "distinct": [(LaplaceMechanism(1 / b), 1) for b in range(10, 110)],
    }[what]

    def work():
        counts = [count for _, count in laws]
        accountant = PRVAccountant(
            prvs=[law for law, _ in laws],
            max_self_compositions=counts,
            eps_error=error,
            delta_error=delta / 1000,
        )
        return np.asarray(accountant.compute_epsilon(delta, counts))[2]

    return work


def answer(rival, what, setting, delta):
    """What a rival answers, or the words in which it refuses."""
    try:
        found = float({"google": google, "microsoft": microsoft}[rival](what, setting, delta)())
    except ValueError as error:
        return [f"refuses: {str(error).split('.')[0]}"]
    return ["infinity" if np.isinf(found) else found]
