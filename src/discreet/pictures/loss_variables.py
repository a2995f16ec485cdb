"""The privacy loss random variable, with its atoms."""

import math

from discreet.losses import PrivacyLoss
from discreet.pictures.loss_law import LossLaw, loss_law, loss_of
from discreet.pictures.picture import Picture
from discreet.pictures.theme import Json, axis
from discreet.pictures.traces import line, stems


def loss_variable(mechanism: object) -> Picture:
    """The law of L = ln(Pr[M(D) = t] / Pr[M(D′) = t]), t ~ M(D), for one release: a mechanism or its loss.

    E[L] is the Kullback–Leibler divergence of M(D) from M(D′).
    """
    loss = loss_of(mechanism)
    law = loss_law(loss)
    mean = (
        f"mean {law.mean:.4g}" if math.isfinite(law.mean) else f"infinite with probability {law.infinite:.3g}"
    )
    return Picture(
        title="The privacy loss as a random variable",
        subtitle=f"L = ln( Pr[M(D) = t] / Pr[M(D′) = t] ), t drawn from M(D); {mean}; {_bound(loss)}",
        traces=law_traces(law),
        axes={"xaxis": axis("privacy loss L (nats)"), **law_axes(law), "showlegend": True},
    )


def _bound(loss: PrivacyLoss) -> str:
    largest = loss.epsilon(delta=0)
    return f"at most {largest:.4g}" if math.isfinite(largest) else "without bound"


def law_traces(law: LossLaw) -> list[dict[str, Json]]:
    """A density as an area, atoms on their stalks (on the right axis where there is a density too)."""
    traces = []
    if law.grid:
        area = line(law.grid, law.density, name="density", fill="tozeroy", fillcolor="@0/0.18")
        traces.append(area)
    if law.atoms:
        places, masses = zip(*law.atoms, strict=True)
        atoms = stems(places, masses, name="atoms", index=1)
        traces.append({**atoms, "yaxis": "y2"} if law.grid else atoms)
    return traces


def law_axes(law: LossLaw) -> dict[str, Json]:
    """One vertical axis for the density, another for the atoms, as there are."""
    atoms = axis("probability of an atom", range=[0, 1.15 * max((mass for _, mass in law.atoms), default=1)])
    if not law.grid:
        return {"yaxis": atoms}
    density = axis("density", range=[0, 1.15 * max(law.density)])
    if not law.atoms:
        return {"yaxis": density}
    return {
        "yaxis": density,
        "yaxis2": {**atoms, "overlaying": "y", "side": "right", "showgrid": False, "tickmode": "auto"},
    }
