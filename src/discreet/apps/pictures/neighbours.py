"""Two neighbours side by side: how likely each output is with a person, and without."""

import numpy as np

from discreet.apps.pictures.law import Law, noise_law
from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis, series
from discreet.apps.pictures.traces import dots, line


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
