"""What every example shares: the command line, and saving its picture."""

import argparse

from discreet.pictures import Picture


def parser(about: str) -> argparse.ArgumentParser:
    """What every example understands; its docstring is the help text."""
    known = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    known.add_argument("--plot", metavar="FILE", help="save the picture: .html, .png, .svg or .json")
    return known


def options(about: str) -> argparse.Namespace:
    """The options given to an example that has no others."""
    return parser(about).parse_args()


def save(picture: Picture, chosen: argparse.Namespace) -> None:
    """Save the picture where `--plot` says."""
    if chosen.plot:
        print(f"\npicture: {picture.save(chosen.plot)}")
