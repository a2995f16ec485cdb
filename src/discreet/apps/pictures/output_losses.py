"""What one output says about one person: the privacy loss over the output axis, for two neighbours."""

import math

from discreet.apps.pictures.law import Law, noise_laws
from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis
from discreet.apps.pictures.traces import dots, line


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
