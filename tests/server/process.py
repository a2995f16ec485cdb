"""`discreet serve` as a process of its own."""

import json
import signal
import subprocess
import sys
from pathlib import Path


class Process:
    """A served policy; its port is known once it listens."""

    def __init__(self, *words: str | Path) -> None:
        command = [sys.executable, "-m", "discreet", "serve", *map(str, words), "--port", "0", "--json"]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        self.facts = json.loads(line)
        self.port = int(self.facts["address"].rsplit(":", 1)[1])

    def kill(self) -> None:
        """kill -9: nothing is finished, nothing is tidied up."""
        self._process.kill()
        self._wait()

    def stop(self) -> int:
        """Ask it to stop, and wait until it has."""
        self._process.send_signal(signal.SIGTERM)
        return self._wait()

    def _wait(self) -> int:
        assert self._process.stdout is not None
        code = self._process.wait(60)
        self._process.stdout.close()
        return code

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.kill()
