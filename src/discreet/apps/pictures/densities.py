"""The density of a mechanism's output around the truth."""

import numpy as np

from discreet.apps.pictures.law import Law, noise_laws
from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis
from discreet.apps.pictures.traces import bars, dots, line
from discreet.kernel.mechanisms import RandomizedResponse


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
