"""The sparse vector on a stream: which values were called above, and where it stopped."""

from collections.abc import Iterator, Sequence

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import axis
from discreet.apps.pictures.traces import dots, line
from discreet.errors import InvalidParameter
from discreet.kernel.mechanisms import AboveThreshold, Sparse


def stream(sparse: Sparse | AboveThreshold, values: Sequence[float]) -> Picture:
    """Put the values to the sparse vector, one by one, until it is finished, and draw what it said.

    The values are shown too: this is a picture for learning, and not a release.
    """
    if sparse.finished or not values:
        raise InvalidParameter(
            "a stream's picture must begin with an open sparse vector and values.", parameter="sparse"
        )
    said = list(_said(sparse, values))
    above = [i for i, answer in enumerate(said) if answer]
    below = [i for i, answer in enumerate(said) if not answer]
    threshold = float(sparse.threshold)
    stopped = f"it stopped at {len(said)}" if sparse.finished else "it did not stop"
    return Picture(
        title="Which values are above the threshold?",
        subtitle=f"“above” {len(above)} times of at most {sparse.count}; {stopped} of {len(values)}",
        traces=[
            {
                **line(range(1, len(values) + 1), values, name="true values", opacity=0.55),
                "line": {"color": "@muted", "width": 1.5},
            },
            {
                **line([1, len(values)], [threshold, threshold], name="threshold"),
                "line": {"color": "@ink", "width": 1.5, "dash": "dash"},
            },
            _answers(
                [i + 1 for i in below], [values[i] for i in below], name="said “below”", index=0, size=6
            ),
            _answers(
                [i + 1 for i in above], [values[i] for i in above], name="said “above”", index=1, size=14
            ),
        ],
        axes={"xaxis": axis("question", range=[0, len(values) + 1]), "yaxis": axis("value")},
    )


def _said(sparse: Sparse | AboveThreshold, values: Sequence[float]) -> Iterator[bool]:
    for value in values:
        yield sparse.test(value)
        if sparse.finished:
            return


def _answers(
    x: Sequence[float], y: Sequence[float], *, name: str, index: int, size: int
) -> dict[str, object]:
    marks = dots(x, y, name=name, index=index)
    return {**marks, "marker": {**marks["marker"], "size": size}}
