"""The shell completes commands, options and their choices, as the shell itself says."""

import shutil
import subprocess
import sys

import pytest

from discreet.apps.cli import COMMANDS


def script(shell):
    ran = [sys.executable, "-m", "discreet", "completion", shell]
    return subprocess.run(ran, capture_output=True, text=True, check=True).stdout


def completed(*words, folder):
    """What bash offers for the last word."""
    (folder / "discreet.bash").write_text(script("bash"))
    asked = f"""
    source {folder / "discreet.bash"}
    COMP_WORDS=({" ".join(f"'{word}'" for word in words)})
    COMP_CWORD={len(words) - 1}
    _discreet
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    ran = subprocess.run(["bash", "--norc", "-c", asked], capture_output=True, text=True, check=True)
    return {line.strip() for line in ran.stdout.splitlines()}


@pytest.mark.slow
def test_bash_completes_commands_options_and_commands_inside_commands(tmp_path):
    assert set(COMMANDS) <= completed("discreet", "", folder=tmp_path)
    assert completed("discreet", "expl", folder=tmp_path) == {"explain"}
    assert "--epsilon" in completed("discreet", "ask", "--eps", folder=tmp_path)
    assert {"init", "check"} <= completed("discreet", "policy", "", folder=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script_that_knows_every_command(shell):
    said = script(shell)
    for command in COMMANDS:
        assert command in said
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=said, text=True, check=True)
