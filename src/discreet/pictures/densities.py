"""The density of a mechanism's output around the truth."""

import numpy as np

from discreet.pictures.law import Law, noise_law
from discreet.pictures.picture import Picture
from discreet.pictures.theme import Json, axis
from discreet.pictures.traces import dots, line


def density(*mechanisms: object) -> Picture:
    """How likely each output is, for one mechanism or several beside each other, when the truth is 0.

    Pr[output = k·step] for noise whose single outputs can be seen, its density for a finer lattice.
    """
    laws = [noise_law(mechanism) for mechanism in mechanisms]
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
