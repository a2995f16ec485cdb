"""A picture as an image, drawn by a Chromium without a network."""

from pathlib import Path

from discreet.apps.pictures.page import script_file
from discreet.apps.pictures.theme import Json
from discreet.errors import InvalidParameter

SCALE = 1.5  # device pixels per unit: sharp in a page, small in a repository


def render(figure: Json, path: Path, *, width: int, height: int) -> bytes:
    """The bytes of the image that the file's name asks for."""
    try:
        import kaleido
        from kaleido.errors import ChromeNotFoundError
    except ImportError:
        raise InvalidParameter(
            f"an image must be drawn by Kaleido, and it is not installed for {path.name!r}. "
            "Run: pip install 'discreet[pictures]', or save a page: a name that ends in .html.",
            parameter="path",
        ) from None
    # Ours as a file: Kaleido would otherwise look for another package's, and then for one on the network.
    drawn_by = kaleido.PageGenerator(plotly=(script_file().as_uri(), "utf-8"), mathjax=False)

    options = {"format": path.suffix[1:], "width": width, "height": height, "scale": SCALE}
    try:
        # Kaleido starts Chromium without its sandbox, so that root (a container, CI) can draw; it only ever
        # loads the figure and Plotly's own script.
        image: bytes = kaleido.calc_fig_sync(figure, options, kopts={"page_generator": drawn_by})
    except ChromeNotFoundError:
        raise InvalidParameter(
            f"an image must be drawn by a Chromium, and none was found for {path.name!r}. "
            "Install one (Debian: apt-get install chromium), or save a page: a name that ends in .html.",
            parameter="path",
        ) from None
    return image
