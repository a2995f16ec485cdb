"""The density of a mechanism's output around the truth."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis, bars, dots, line, series
from discreet.errors import InvalidParameter
from discreet.kernel.mechanisms import RandomizedResponse, additive_noise, list_additive

# The law of a mechanism's noise, as numbers to draw.
#
# Float arithmetic is good enough for the eye; guarantees never come from here.

Masses = NDArray[np.float64]
MOST_POINTS = 401  # more outputs than this look continuous, and are thinned
SHOWN = 0.98  # of the noise lies inside a picture


@dataclass(frozen=True)
class Law:
    """ln Pr[noise = k·step] for whole k: `log_mass(k)`; `reach` is how far a picture has to go."""

    name: str
    step: float
    reach: float
    sensitivity: float
    log_mass: Callable[[NDArray[Any]], Masses]

    @property
    def looks_discrete(self) -> bool:
        """Whether a reader could see the single outputs."""
        return 2 * self.reach / self.step + 1 <= MOST_POINTS

    def outputs(self, low: float, high: float) -> NDArray[np.float64]:
        """Lattice points from low to high, all of them or evenly thinned, in steps."""
        first, last = math.floor(low / self.step), math.ceil(high / self.step)
        count = min(last - first + 1, MOST_POINTS)
        return np.unique(np.round(np.linspace(first, last, count)))


def noise_laws(mechanisms: Sequence[object]) -> list[Law]:
    """The laws of mechanisms given one by one, or as one list."""
    only = mechanisms[0] if len(mechanisms) == 1 else mechanisms
    listed = only if isinstance(only, Sequence) else [only]
    if not listed:
        raise InvalidParameter("a picture must be that of at least one mechanism.", parameter="mechanisms")
    return [noise_law(mechanism) for mechanism in listed]


def noise_law(mechanism: Any) -> Law:
    """Return the law of the noise that a mechanism adds."""
    noise = additive_noise(mechanism)
    if noise is None:
        known = ", ".join(kind.__name__ for kind in list_additive())
        raise InvalidParameter(
            f"a picture must be that of a mechanism that adds noise ({known}), "
            f"got {type(mechanism).__name__}.",
            parameter="mechanism",
        )
    return Law(
        name=f"{type(mechanism).__name__}, {noise.symbol}",
        step=float(noise.step),
        reach=float(mechanism.error(confidence=SHOWN)),
        sensitivity=float(mechanism.sensitivity),
        log_mass=noise.log_masses,
    )


def density(*mechanisms: object) -> Picture:
    """How likely each output is, for one mechanism or several beside each other, when the truth is 0.

    Pr[output = k·step] for noise whose single outputs can be seen, its density for a finer lattice; the
    probability of each answer for randomised response.
    """
    if len(mechanisms) == 1 and isinstance(mechanisms[0], RandomizedResponse):
        return _answers(mechanisms[0])
    laws = noise_laws(mechanisms)
    reach = max(law.reach for law in laws)
    whole = all(law.looks_discrete and law.step == 1 for law in laws)
    return Picture(
        title="Noise that hides one person",
        subtitle="wider noise, stronger privacy; the released value is the truth plus this noise",
        traces=[trace for index, law in enumerate(laws) for trace in _traces(law, reach, index)],
        axes={
            "xaxis": axis("released value − true value"),
            "yaxis": axis("probability" if whole else "probability density", rangemode="tozero"),
            "showlegend": True,
        },
    )


def _traces(law: Law, reach: float, index: int) -> list[dict[str, Json]]:
    outputs = law.outputs(-reach, reach)
    heights = np.exp(law.log_mass(outputs)) / law.step
    x = outputs * law.step
    if not law.looks_discrete or 2 * reach / law.step > 150:
        return [line(x, heights, name=law.name, index=index)]
    curve = line(x, heights, name=law.name, index=index, showlegend=False, hoverinfo="skip")
    curve["line"]["width"] = 1
    return [curve, dots(x, heights, name=law.name, index=index)]


def _answers(response: RandomizedResponse) -> Picture:
    lie = (1 - float(response.truth)) / (len(response.values) - 1)
    names = [str(value) for value in response.values]
    traces = [
        bars(
            names,
            [float(response.truth) if j == i else lie for j in range(len(names))],
            name=f"truth {name}",
            index=i,
        )
        for i, name in enumerate(names)
    ]
    return Picture(
        title="Randomised response: the answers that each truth gives",
        subtitle=f"the truth with probability {float(response.truth):.4g}",
        traces=traces,
        axes={"xaxis": axis("answer", type="category"), "yaxis": axis("probability", range=[0, 1])},
    )


# Two neighbours side by side: how likely each output is with a person, and without.


def neighbours(mechanism: object, *, value: float = 50) -> Picture:
    """Pr[M(D) = y] and Pr[M(D′) = y] over the outputs y, where D has one person more than D′.

    The query is `value` on D′ and `value` plus the sensitivity on D: the closer the curves, the less an
    output tells.
    """
    law = noise_law(mechanism)
    with_person = value + law.sensitivity
    return Picture(
        title="An output, with and without one person",
        subtitle=f"the query is {with_person:g} on D and {value:g} on D′; {law.name}",
        traces=[
            *_curve(law, value=value, at=with_person, name="D, with the person", index=0),
            *_curve(law, value=value, at=value, name="D′, without", index=1),
        ],
        axes={
            "xaxis": axis("output y"),
            "yaxis": axis("probability" if law.looks_discrete else "probability density", rangemode="tozero"),
            "showlegend": True,
        },
    )


def _curve(law: Law, *, value: float, at: float, name: str, index: int) -> list[dict[str, Json]]:
    """The law around `at`, over the outputs that a picture around `value` shows."""
    outputs = law.outputs(-law.reach, law.reach + law.sensitivity)
    shift = round((at - value) / law.step)
    heights = np.exp(law.log_mass(outputs - shift)) / (1 if law.looks_discrete else law.step)
    x = value + outputs * law.step
    curve = line(x, heights, name=name, index=index, fill="tozeroy", fillcolor=f"{series(index)}/0.12")
    if len(outputs) > 80:
        return [curve]
    curve["line"]["width"] = 1
    return [{**curve, "showlegend": False, "hoverinfo": "skip"}, dots(x, heights, name=name, index=index)]


# What one output says about one person: the privacy loss over the output axis, for two neighbours.


def privacy_loss(*mechanisms: object, value: float = 50) -> Picture:
    """ln(Pr[M(D) = y] / Pr[M(D′) = y]) for every output y, where D has one person more than D′.

    The query is `value` on D′ and `value` plus the sensitivity on D. A flat curve is a bounded loss.
    """
    laws = noise_laws(mechanisms)
    far = max(law.sensitivity for law in laws)
    # Beyond a few sensitivities the curves only go on: narrow noise beside wide noise stays readable.
    reach = min(max(law.reach for law in laws), 6 * far + min(law.reach for law in laws))
    return Picture(
        title="What an output y reveals: ln( Pr[M(D) = y] / Pr[M(D′) = y] )",
        subtitle=f"the query is {value + far:g} on D and {value:g} on D′: one person more",
        traces=[_trace(law, value, reach, index) for index, law in enumerate(laws)],
        axes={
            "xaxis": axis("output y"),
            "yaxis": axis("privacy loss (nats)"),
            "showlegend": True,
        },
    )


def _trace(law: Law, value: float, reach: float, index: int) -> dict[str, Json]:
    shift = math.ceil(law.sensitivity / law.step)
    noise = law.outputs(-reach, reach + law.sensitivity)  # the output's distance from D′'s value, in steps
    losses = law.log_mass(noise - shift) - law.log_mass(noise)
    x = value + noise * law.step
    if len(noise) <= 60:
        return dots(x, losses, name=law.name, index=index, mode="lines+markers", line={"width": 1})
    return line(x, losses, name=law.name, index=index)
