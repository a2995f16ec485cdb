"""A wire between a client and PostgreSQL that breaks at a COMMIT, in one of three ways."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

COMMIT = b"COMMIT\0"
LATE_S = 0.5


class Wire:
    """Forwards everything, until the next COMMIT of a charge is to go wrong."""

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.fate = ""  # what befalls the next COMMIT: "unheard", "unanswered" or "late"
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def _start(self, work: Callable[..., None], *arguments: socket.socket) -> None:
        self._threads.append(threading.Thread(target=work, args=arguments, daemon=True))
        self._threads[-1].start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(("127.0.0.1", self._server_port))
                self._sockets += [client, server]
                self._start(self._forward, client, server)
                self._start(self._forward, server, client)

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while part := source.recv(1 << 16):
                if self.fate and part.endswith(COMMIT):
                    fate, self.fate = self.fate, ""
                    self._break(fate, part, source, target)
                    return
                target.sendall(part)
        _hang_up(source, target)

    def _break(self, fate: str, part: bytes, client: socket.socket, server: socket.socket) -> None:
        """The client loses the connection; the server hears the COMMIT, or not, or later."""
        _hang_up(client)
        if fate == "late":
            time.sleep(LATE_S)
        if fate != "unheard":
            server.sendall(part)
            time.sleep(0.2)
        _hang_up(server)

    def close(self) -> None:
        _hang_up(self._listening, *self._sockets)
        for thread in self._threads:
            thread.join(10)
        for each in (self._listening, *self._sockets):
            each.close()


def _hang_up(*sockets: socket.socket) -> None:
    for each in sockets:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


@contextmanager
def wire_to(port: int) -> Iterator[Wire]:
    wire = Wire(port)
    try:
        yield wire
    finally:
        wire.close()
