"""A picture as an image, drawn by a Chromium without a network."""

from pathlib import Path

from discreet.errors import InvalidParameter
from discreet.pictures.page import plotly_folder
from discreet.pictures.theme import Json

SCALE = 1.5  # device pixels per unit: sharp in a page, small in a repository


def render(figure: Json, path: Path, *, width: int, height: int) -> bytes:
    """The bytes of the image that the file's name asks for."""
    plotly_folder()
    import kaleido
    from kaleido.errors import ChromeNotFoundError

    options = {"format": path.suffix[1:], "width": width, "height": height, "scale": SCALE}
    try:
        # Kaleido starts Chromium without its sandbox, so that root (a container, CI) can draw; it only ever
        # loads the figure and Plotly's own script.
        image: bytes = kaleido.calc_fig_sync(
            figure, options, kopts={"page_generator": kaleido.PageGenerator(mathjax=False)}
        )
    except ChromeNotFoundError:
        raise InvalidParameter(
            f"an image must be drawn by a Chromium, and none was found for {path.name!r}. "
            "Install one (Debian: apt-get install chromium), or save a page: a name that ends in .html.",
            parameter="path",
        ) from None
    return image
