"""The probability of the truth in randomised response, against its parameter, for every way to choose it."""

from collections.abc import Callable, Sequence

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis
from discreet.apps.pictures.traces import dots, line
from discreet.kernel.mechanisms import RandomizedResponse

# Name in the legend, and the mechanism at a parameter.
WAYS: Sequence[tuple[str, Callable[[float], RandomizedResponse]]] = (
    ("eᵋ/(1 + eᵋ), the tightest", lambda epsilon: RandomizedResponse(epsilon=epsilon)),
    ("(1 + ε)/(2 + ε)", RandomizedResponse.linear),
    ("second degree", RandomizedResponse.quadratic),
    ("1 − min(1, 1/ε)/2", RandomizedResponse.coin),
)
RIGHT = {"xaxis": "x2", "yaxis": "y2", "showlegend": False}
PARAMETERS = tuple(0.05 * i for i in range(1, 101))


def truth_probability() -> Picture:
    """θ(ε) of all parametrisations on the left; on the right the loss that each really has, ln(θ/(1 − θ))."""
    traces: list[dict[str, Json]] = []
    for index, (name, respond) in enumerate(WAYS):
        mechanisms = [respond(round(parameter, 2)) for parameter in PARAMETERS]
        truths = [float(mechanism.truth) for mechanism in mechanisms]
        losses = [mechanism.loss.epsilon(delta=0) for mechanism in mechanisms]
        traces.append(line(PARAMETERS, truths, name=name, index=index))
        traces.append(line(PARAMETERS, losses, name=name, index=index, **RIGHT))
    coins = RandomizedResponse(truth=0.75)
    loss = coins.loss.epsilon(delta=0)
    traces.append(dots([loss], [0.75], name="3/4", index=4))
    traces.append(dots([loss], [loss], name="", index=4, **RIGHT))
    return Picture(
        title="Randomised response: how often to tell the truth",
        subtitle="left: the probability θ of the truth; right: the loss that this θ really has",
        traces=traces,
        axes={
            "xaxis": axis("parameter ε", domain=[0, 0.45], range=[0, 5]),
            "yaxis": axis("probability of the truth θ", range=[0.48, 1.02]),
            "xaxis2": axis("parameter ε", domain=[0.56, 1], anchor="y2", range=[0, 5]),
            "yaxis2": axis("loss ln(θ / (1 − θ))", anchor="x2", range=[0, 5.1]),
        },
    )
