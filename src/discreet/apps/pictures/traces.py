"""The marks that pictures are made of, as Plotly traces."""

from collections.abc import Iterable, Sequence

from discreet.apps.pictures.theme import DASHES, Json, series

Numbers = Iterable[float]


def line(x: Numbers, y: Numbers, *, name: str, index: int = 0, **more: Json) -> dict[str, Json]:
    """A curve; colour and dash both tell series apart."""
    stroke = {"color": series(index), "width": 2.5, "dash": DASHES[index % len(DASHES)]}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": _floats(x),
        "y": _floats(y),
        "name": name,
        "line": stroke,
        **more,
    }


def dots(x: Numbers, y: Numbers, *, name: str, index: int = 0, **more: Json) -> dict[str, Json]:
    """Points that stand for themselves."""
    marker = {"color": series(index), "size": 9, "symbol": SYMBOLS[index % len(SYMBOLS)]}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": _floats(x),
        "y": _floats(y),
        "name": name,
        "marker": marker,
        **more,
    }


def stems(x: Numbers, y: Numbers, *, name: str, index: int = 0) -> dict[str, Json]:
    """Atoms of a law: a dot on a stalk for each."""
    heights = _floats(y)
    return dots(
        x,
        heights,
        name=name,
        index=index,
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [0.0] * len(heights),
            "arrayminus": heights,
            "width": 0,
            "thickness": 2,
            "color": series(index),
        },
    )


def bars(x: Sequence[float | str], y: Numbers, *, name: str, index: int = 0, **more: Json) -> dict[str, Json]:
    """Columns, for counts and probabilities."""
    return {
        "type": "bar",
        "x": list(x),
        "y": _floats(y),
        "name": name,
        "marker": {"color": series(index)},
        **more,
    }


SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross")


def _floats(values: Numbers) -> list[float]:
    return [float(value) for value in values]
