"""What every example shares: the command line, and saving its picture."""

import argparse

from discreet.pictures import Picture


def options(about: str) -> argparse.Namespace:
    """The options of an example, whose docstring is the help text."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--plot", metavar="FILE", help="save the example's picture: .html, .png, .svg or .json"
    )
    return parser.parse_args()


def save(picture: Picture, chosen: argparse.Namespace) -> None:
    """Save the picture where `--plot` says."""
    if chosen.plot:
        print(f"\npicture: {picture.save(chosen.plot)}")
