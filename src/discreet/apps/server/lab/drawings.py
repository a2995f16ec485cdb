"""The pictures of the exhibits and the numbers shown with them, all computed by the library."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.apps import pictures
from discreet.apps.pictures import Picture
from discreet.apps.pictures.course import someone_leaks
from discreet.apps.pictures.loss_variables import loss_tail
from discreet.apps.pictures.theme import scientific
from discreet.kernel.losses import PrivacyLoss
from discreet.kernel.mechanisms import Gaussian, Laplace, RandomizedResponse, Sparse
from discreet.kernel.numerics import short_up

Settings: TypeAlias = Mapping[str, Any]
CONFIDENCE = Fraction(95, 100)
QUESTIONS = 100  # of the sparse vector's stream


@dataclass(frozen=True)
class Drawing:
    """A picture with its facts, as (label, value)."""

    picture: Picture
    facts: tuple[tuple[str, str], ...]


def neighbours(settings: Settings) -> Drawing:
    """Draw the output distributions on two neighbours."""
    mechanism = _noise(settings)
    ratio = "unbounded" if isinstance(mechanism, Gaussian) else f"{math.exp(settings['epsilon']):.4g}"
    return Drawing(
        pictures.neighbours(mechanism),
        (
            ("noise scale", _short(mechanism.sigma if isinstance(mechanism, Gaussian) else mechanism.scale)),
            ("error at 95%", f"± {mechanism.error(confidence=CONFIDENCE):.4g}"),
            ("largest ratio of likelihoods", ratio),
        ),
    )


def output_loss(settings: Settings) -> Drawing:
    """Draw the privacy loss of each output."""
    mechanism = _noise(settings)
    loss = mechanism.loss
    return Drawing(
        pictures.privacy_loss(mechanism),
        (
            ("largest loss", _epsilon(loss.epsilon(delta=0), promised=settings["epsilon"])),
            ("exact ε at this δ", _epsilon(loss.epsilon(delta=settings["delta"]))),
            ("error at 95%", f"± {mechanism.error(confidence=CONFIDENCE):.4g}"),
        ),
    )


def loss_distribution(settings: Settings) -> Drawing:
    """Draw the distribution of the loss, with the part beyond ε that δ counts."""
    width, far, epsilon = settings["scale"], settings["sensitivity"], settings["epsilon"]
    mechanism = (
        Gaussian(sigma=width, sensitivity=far)
        if settings["noise"] == "Gaussian"
        else Laplace(scale=width, sensitivity=far)
    )
    loss = mechanism.loss
    return Drawing(
        pictures.loss_variable(mechanism, epsilon=epsilon),
        (
            ("tail Pr[L > ε]", scientific(loss_tail(loss, [float(epsilon)])[0])),
            ("exact δ(ε)", scientific(loss.delta(epsilon=epsilon))),
            ("mean loss (KL)", f"{loss.distribution().mean:.4g}"),
        ),
    )


def composition(settings: Settings) -> Drawing:
    """Draw ε after k releases, by every composition rule."""
    loss: PrivacyLoss = Laplace(epsilon=settings["epsilon"], sensitivity=1).loss
    picture = pictures.composition(loss, delta=settings["delta"], times=settings["k"])
    basic, advanced, exact = (trace["y"][-1] for trace in picture.traces)
    return Drawing(
        picture,
        (("basic", _epsilon(basic)), ("advanced", _epsilon(advanced)), ("exact", _epsilon(exact))),
    )


def randomised_response(settings: Settings) -> Drawing:
    """Draw estimates from more and more reports."""
    response = RandomizedResponse(epsilon=settings["epsilon"])
    truth, said = float(response.truth), response.expected(settings["share"])
    error = math.sqrt(said * (1 - said) / settings["n"]) / (2 * truth - 1)
    return Drawing(
        pictures.convergence(response, share=settings["share"], people=settings["n"]),
        (
            ("probability of truth θ", f"{truth:.4g}"),
            ("expected share of yes said", f"{said:.4g}"),
            ("standard error from n", f"{error:.3g}"),
        ),
    )


def sparse_vector(settings: Settings) -> Drawing:
    """Draw a stream of counts, asked until the sparse vector is finished."""
    sparse = Sparse(
        epsilon=settings["epsilon"],
        threshold=settings["threshold"],
        sensitivity=settings["sensitivity"],
        count=settings["count"],
        split="optimal",
    )
    far = sparse.sensitivity
    return Drawing(
        pictures.stream(sparse, [_level(i) for i in range(QUESTIONS)]),
        (
            ("noise on the threshold", f"Lap({_short(far * sparse.noise.threshold)})"),
            ("noise on each value", f"Lap({_short(far * sparse.noise.query)})"),
            ("correct at 95% when this far away", f"{sparse.margin(queries=QUESTIONS):.4g}"),
            ("price of the whole stream", f"ε = {_short(settings['epsilon'])}"),
        ),
    )


def extreme_deltas(settings: Settings) -> Drawing:
    """Draw what publishing all rows, or each row, with probability δ means."""
    delta, people = settings["delta"], settings["n"]
    return Drawing(
        pictures.leaks(delta=delta, people=people),
        (
            ("all rows published", scientific(float(delta))),
            ("some row published", f"{someone_leaks(delta, people=people):.4g}"),
            ("expected rows published", f"{float(delta * people):.4g}"),
        ),
    )


def _noise(settings: Settings) -> Laplace | Gaussian:
    epsilon, far = settings["epsilon"], settings["sensitivity"]
    if settings["noise"] == "Gaussian":
        return Gaussian(epsilon=epsilon, delta=settings["delta"], sensitivity=far)
    return Laplace(epsilon=epsilon, sensitivity=far)


def _level(question: int) -> float:
    """Return a value of an invented stream: two waves and a slow rise, twice well above a hundred."""
    return round(60 + 30 * math.sin(question / 7) + 25 * math.sin(question / 17 + 4) + question / 3, 0)


def _short(value: Fraction | float) -> str:
    return f"{float(value):.4g}"


def _epsilon(value: float, promised: Fraction | None = None) -> str:
    """Return a loss rounded up; the promised number itself where they differ by a float's rounding alone."""
    if math.isnan(value):
        return "no bound"
    if promised is not None and math.isclose(value, promised, rel_tol=1e-12):
        return _short(promised)
    return short_up(Fraction(value)) if math.isfinite(value) else "unbounded"
