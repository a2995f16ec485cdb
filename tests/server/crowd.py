"""Sixty-four clients that explain and ask, a second of thought between, and what they saw."""

import http.client
import json
import secrets
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

THINK_S = 1.0


@dataclass
class Seen:
    """Everything that the crowd saw."""

    explains_s: list[float] = field(default_factory=list)
    statuses: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    charges: dict[int, Fraction] = field(default_factory=dict)
    lost: int = 0  # requests whose reply never came: the server was gone
    lock: threading.Lock = field(default_factory=threading.Lock)

    def quantile(self, part: float) -> float:
        """The latency that this part of the explains stayed below."""
        ordered = sorted(self.explains_s)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


class Client(threading.Thread):
    """One analyst: mostly explains, asks anew, asks again what it knows."""

    def __init__(self, number: int, ports: list[int], token: str, seen: Seen, until: float) -> None:
        super().__init__(daemon=True)
        self._number, self._ports, self._token, self._seen, self._until = number, ports, token, seen, until
        self._connection: http.client.HTTPConnection | None = None

    def run(self) -> None:
        time.sleep(THINK_S * self._number / 64)
        turn = 0
        while time.monotonic() < self._until:
            path = ("explain", "ask", "explain", "again")[(turn + self._number) % 4]
            threshold = turn if path != "again" else 0
            self._send("ask" if path == "again" else path, f"c{self._number}", threshold, turn)
            turn += 1
            time.sleep(THINK_S)
        self._hang_up()

    def _send(self, path: str, alias: str, threshold: int, turn: int) -> None:
        sql = f"SELECT city, COUNT(*) AS {alias} FROM town WHERE debt > {threshold} GROUP BY city"
        body = json.dumps({"sql": sql, "epsilon": 0.03})
        headers = {"authorization": f"Bearer {self._token}", "idempotency-key": secrets.token_hex(8)}
        start = time.monotonic()
        try:
            status, reply = self._once(turn, f"/api/datasets/town/{path}", body, headers)
        except (OSError, http.client.HTTPException):
            self._hang_up()
            with self._seen.lock:
                self._seen.lost += 1
            return
        with self._seen.lock:
            if path == "explain":
                self._seen.explains_s.append(time.monotonic() - start)
            self._seen.statuses[path, status, reply.get("error", {}).get("code", "")] += 1
            if reply.get("charged"):
                self._seen.charges[reply["receipt"]["charge"]] = Fraction(3, 100)

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _once(self, turn: int, path: str, body: str, headers: dict[str, str]) -> tuple[int, Any]:
        if self._connection is None:
            port = self._ports[(turn + self._number) % len(self._ports)]
            self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._connection.request("POST", path, body, headers)
        response = self._connection.getresponse()
        return response.status, json.loads(response.read())


def crowd(ports: list[int], tokens: list[str], *, seconds: float, clients: int = 64) -> Seen:
    """Let them all ask for so many seconds."""
    seen, until = Seen(), time.monotonic() + seconds
    every = [Client(number, ports, tokens[number % len(tokens)], seen, until) for number in range(clients)]
    for client in every:
        client.start()
    for client in every:
        client.join(seconds + 60)
    return seen
