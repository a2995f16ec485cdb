"""The accountants of training runs, each at the setting it is given.

The accountants of Opacus and of TensorFlow Privacy compute with numpy, scipy and dp-accounting alone: their
modules are taken from the packages as published, without what the packages load first (torch, TensorFlow).
"""

import importlib
import importlib.util
import math
import sys
import time
import types

import numpy as np


def _without_start(name):
    """Enter a package that can be imported from, whose own __init__ is not run."""
    if name not in sys.modules:
        package = types.ModuleType(name)
        package.__path__ = list(importlib.util.find_spec(name).submodule_search_locations)
        sys.modules[name] = package


def _opacus():
    _without_start("opacus")
    optimizers = sys.modules.setdefault("opacus.optimizers", types.ModuleType("opacus.optimizers"))
    optimizers.DPOptimizer = object  # a name in a signature
    return importlib.import_module("opacus.accountants")


def _tensorflow():
    for name in ("tensorflow_privacy", "tensorflow_privacy.privacy", "tensorflow_privacy.privacy.analysis"):
        _without_start(name)
    return importlib.import_module("tensorflow_privacy.privacy.analysis.compute_dp_sgd_privacy_lib")


def _run_event(sigma, rate, steps):
    from dp_accounting import dp_event

    step = dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(sigma))
    return dp_event.SelfComposedDpEvent(step, steps)


def google(run, setting):
    """dp-accounting: a privacy loss distribution on a grid of this interval."""
    from dp_accounting.pld import PLDAccountant

    event = _run_event(run["sigma"], run["rate"], run["steps"])
    return lambda: (
        PLDAccountant(value_discretization_interval=setting).compose(event).get_epsilon(run["delta"])
    )


def microsoft(run, setting):
    """prv-accountant: its upper end, at this error of epsilon."""
    from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    def work():
        law = PoissonSubsampledGaussianMechanism(
            noise_multiplier=run["sigma"], sampling_probability=run["rate"]
        )
        accountant = PRVAccountant(
            prvs=[law],
            max_self_compositions=[run["steps"]],
            eps_error=setting,
            delta_error=run["delta"] / 1000,
        )
        return np.asarray(accountant.compute_epsilon(run["delta"], [run["steps"]]))[2]

    return work


def opacus(run, setting):
    """Opacus' accountant by numbers: its upper end, at this error of epsilon."""
    accountants = _opacus()

    def work():
        accountant = accountants.PRVAccountant()
        accountant.history = [(run["sigma"], run["rate"], run["steps"])]
        return accountant.get_epsilon(run["delta"], eps_error=setting, delta_error=run["delta"] / 1000)

    return work


def opacus_renyi(run, setting):
    """Opacus' default, by Rényi divergences; it has no setting."""
    accountants = _opacus()

    def work():
        accountant = accountants.RDPAccountant()
        accountant.history = [(run["sigma"], run["rate"], run["steps"])]
        return accountant.get_epsilon(run["delta"])

    return work


def tensorflow(run, setting):
    """TensorFlow Privacy's number for a run, or for a person with several examples; no setting."""
    library = _tensorflow()
    return lambda: library._compute_dp_sgd_user_privacy(
        run["steps"] * run["rate"],
        run["sigma"],
        run["delta"],
        max_examples_per_user=run.get("people", 1),
        used_microbatching=False,
        poisson_subsampling_probability=run["rate"],
    )


def google_group(run, setting):
    """dp-accounting: a mixture of Gaussians, for a group of whom each is in the sample by chance."""
    from dp_accounting import dp_event
    from dp_accounting.pld import PLDAccountant

    people, rate = run["people"], run["rate"]
    chances = [math.comb(people, i) * rate**i * (1 - rate) ** (people - i) for i in range(people + 1)]
    step = dp_event.MixtureOfGaussiansDpEvent(run["sigma"], [float(i) for i in range(people + 1)], chances)
    event = dp_event.SelfComposedDpEvent(step, run["steps"])
    return lambda: (
        PLDAccountant(value_discretization_interval=setting).compose(event).get_epsilon(run["delta"])
    )


def google_fixed(run, setting):
    """dp-accounting: batches of one size under replace, by Rényi divergences; no setting."""
    from dp_accounting import dp_event
    from dp_accounting.privacy_accountant import NeighboringRelation
    from dp_accounting.rdp import RdpAccountant

    step = dp_event.SampledWithoutReplacementDpEvent(
        run["of"], run["batch"], dp_event.GaussianDpEvent(run["sigma"])
    )
    event = dp_event.SelfComposedDpEvent(step, run["steps"])

    def work():
        accountant = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
        return accountant.compose(event).get_epsilon(run["delta"])

    return work


def google_calibrated(run, setting):
    """dp-accounting's search for the noise, to a ten-thousandth."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    return lambda: dp_accounting.calibrate_dp_mechanism(
        lambda: PLDAccountant(value_discretization_interval=setting),
        lambda sigma: _run_event(sigma, run["rate"], run["steps"]),
        run["epsilon"],
        run["delta"],
        tol=1e-4,
    )


def opacus_calibrated(run, setting):
    """Opacus' search for the noise, by its accountant by numbers."""
    _opacus()
    utils = importlib.import_module("opacus.accountants.utils")
    return lambda: utils.get_noise_multiplier(
        target_epsilon=run["epsilon"],
        target_delta=run["delta"],
        sample_rate=run["rate"],
        steps=run["steps"],
        accountant="prv",
        epsilon_tolerance=run["epsilon"] / 10_000,
        eps_error=setting,
    )


def answer(rival, run, setting):
    """What a rival answers, or the words in which it refuses."""
    try:
        found = float(globals()[rival](run, setting)())
    except (ValueError, RuntimeError, MemoryError, NotImplementedError) as error:
        return [f"refuses: {str(error).split('.')[0][:80]}"]
    return [found if math.isfinite(found) else "infinity"]


def coarsest(rival, run, settings, truth, within):
    """The first setting whose answer is this near to the truth, the answer and the processor's seconds."""
    found = None
    for setting in settings:
        start = time.process_time()
        (found,) = answer(rival, run, setting)
        if isinstance(found, float) and abs(found / truth - 1) <= within:
            return [setting, found, time.process_time() - start]
    return [None, found, None]
