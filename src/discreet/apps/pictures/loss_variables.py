"""The privacy loss random variable, with its atoms."""

import math
from dataclasses import replace

from discreet.apps.pictures.loss_law import LossLaw, loss_law, loss_of, loss_tail
from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis, scientific, series
from discreet.apps.pictures.traces import line, stems
from discreet.kernel.losses import PrivacyLoss
from discreet.kernel.numerics import Real, exact_epsilon


def loss_variable(mechanism: object, *, epsilon: Real | None = None) -> Picture:
    """The law of L = ln(Pr[M(D) = t] / Pr[M(D′) = t]), t ~ M(D), for one release: a mechanism or its loss.

    E[L] is the Kullback–Leibler divergence of M(D) from M(D′). With an epsilon, what lies beyond is marked:
    of each loss l > ε the part 1 − e^(ε−l), which adds up to δ(ε).
    """
    loss = loss_of(mechanism)
    law = loss_law(loss)
    if epsilon is not None:
        return _with_tail(loss, law, float(exact_epsilon(epsilon)))
    mean = (
        f"mean {law.mean:.4g}" if math.isfinite(law.mean) else f"infinite with probability {law.infinite:.3g}"
    )
    return Picture(
        title="The privacy loss as a random variable",
        subtitle=f"L = ln( Pr[M(D) = t] / Pr[M(D′) = t] ), t drawn from M(D); {mean}; {_bound(loss)}",
        traces=law_traces(law),
        axes={"xaxis": axis("privacy loss L (nats)"), **law_axes(law), "showlegend": True},
    )


def _with_tail(loss: PrivacyLoss, law: LossLaw, epsilon: float) -> Picture:
    beyond, delta = loss_tail(loss, [epsilon])[0], loss.delta(epsilon=epsilon)
    line_at = {"type": "line", "x0": epsilon, "x1": epsilon, "yref": "paper", "y0": 0, "y1": 1}
    return Picture(
        title="The privacy loss, and what lies beyond ε",
        subtitle=f"Pr[L > ε] = {scientific(beyond)}; the shaded part of it is δ(ε) = {scientific(delta)}",
        traces=[*law_traces(law), *law_traces(_beyond(law, epsilon), name="counts towards δ", index=1)],
        axes={
            "xaxis": axis("privacy loss L (nats)"),
            **law_axes(law),
            "showlegend": True,
            "shapes": [{**line_at, "line": {"color": "@ink", "width": 1.5, "dash": "dash"}}],
            "annotations": [
                {"text": f"ε = {epsilon:g}", "x": epsilon, "xanchor": "left", "xshift": 6,
                 "yref": "paper", "y": 1, "yanchor": "top", "showarrow": False},
            ],
        },
    )  # fmt: skip


def _beyond(law: LossLaw, epsilon: float) -> LossLaw:
    """Of each loss l > ε, the part 1 − e^(ε−l)."""
    parts = [-math.expm1(min(epsilon - loss, 0.0)) for loss in law.grid]
    density = tuple(height * part for height, part in zip(law.density, parts, strict=True))
    atoms = tuple((loss, -mass * math.expm1(epsilon - loss)) for loss, mass in law.atoms if loss > epsilon)
    return replace(law, density=density, atoms=atoms)


def _bound(loss: PrivacyLoss) -> str:
    largest = loss.epsilon(delta=0)
    return f"at most {largest:.4g}" if math.isfinite(largest) else "without bound"


def law_traces(law: LossLaw, *, name: str = "", index: int = 0) -> list[dict[str, Json]]:
    """A density as an area, atoms on their stalks (on the right axis where there is a density too)."""
    traces = []
    if law.grid:
        area = line(law.grid, law.density, name=name or "density", index=index, fill="tozeroy")
        area["fillcolor"] = f"{series(index)}/{0.6 if name else 0.18}"
        area["line"]["dash"] = "solid"
        traces.append(area)
    if law.atoms:
        places, masses = zip(*law.atoms, strict=True)
        atoms = stems(places, masses, name=name or "atoms", index=index + 1)
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
