"""discreet completion: commands and options, completed by the shell."""

import sys
from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"]) -> None:
    """Print the completion script of a shell, to be put where it looks for one.

    Example: discreet completion bash > ~/.local/share/bash-completion/completions/discreet

    Parameters
    ----------
    shell
        Your shell: bash, zsh or fish.
    """
    from discreet.apps.cli import build_app

    sys.stdout.write(build_app(listing=True).generate_completion(shell=shell))
