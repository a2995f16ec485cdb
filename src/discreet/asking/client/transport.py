"""HTTP requests with the standard library: certificates verified, retries that cannot charge twice."""

import http.client
import ipaddress
import json
import re
import ssl
import time
from collections.abc import Mapping
from decimal import Context, Decimal
from typing import Any
from urllib.parse import quote, urlsplit

from discreet import errors
from discreet.errors import DiscreetError, EngineFailure, InternalError, InvalidParameter
from discreet.kernel.numerics import Real, exact
from discreet.kernel.numerics.rational import MAX_BITS

LONGEST_REPLY = 256 * 1024 * 1024
TOKEN = re.compile(r"[A-Za-z0-9_~+/.=-]{1,500}")
PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0
_ENOUGH = Context(prec=2 * MAX_BITS)  # exact for every number that is accepted

# The library's errors by code; errors that only a server raises are mapped to the nearest of them.
_KINDS: dict[str, type[DiscreetError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, DiscreetError)
} | {"internal": InternalError, "not_found": InvalidParameter, "too_large": InvalidParameter}


class Transport:
    """Requests to one server with one token. Each opens a connection of its own, so threads may share it."""

    def __init__(self, url: str, *, token: str, timeout_s: float, patience_s: float) -> None:
        parts = urlsplit(url)
        _check_address(url, parts.scheme, parts.hostname)
        if not isinstance(token, str) or not TOKEN.fullmatch(token):
            raise InvalidParameter(
                "token must be the text that the server's owner gave you: dp_...", parameter="token"
            )
        assert parts.hostname is not None
        self._host, self._port, self._secure = parts.hostname, parts.port, parts.scheme == "https"
        self._root, self._token = parts.path.rstrip("/"), token
        self._timeout_s, self._patience_s = timeout_s, patience_s

    def get(self, *path: str) -> Any:
        """Send GET, and return the reply."""
        return self._ask("GET", path, None, {})[1]

    def delete(self, *path: str) -> Any:
        """Send DELETE, and return the reply."""
        return self._ask("DELETE", path, None, {})[1]

    def post(self, *path: str, body: bytes, key: str | None = None, seconds: float = 0.0) -> tuple[int, Any]:
        """Send POST, and return status and reply. The server may take `seconds` to answer.

        With a key, a request without a reply is retried: the server answers each key once. Without a key,
        only a request that was refused because the server is busy is retried.
        """
        headers = {"content-type": "application/json"} | ({"idempotency-key": key} if key else {})
        return self._ask("POST", path, body, headers, seconds=seconds, again=key is not None)

    def _ask(
        self,
        method: str,
        path: tuple[str, ...],
        body: bytes | None,
        headers: dict[str, str],
        *,
        seconds: float = 0.0,
        again: bool = True,
    ) -> tuple[int, Any]:
        until, pause = time.monotonic() + self._patience_s, PAUSE_S
        while True:
            try:
                status, reply = self._once(method, path, body, headers, self._timeout_s + seconds)
            except (OSError, http.client.HTTPException):
                if not again or time.monotonic() + pause > until:
                    raise EngineFailure(
                        "Could not reach the server. Try again later; the same key= is not charged twice."
                    ) from None
            else:
                if not _may_pass(status, reply) or time.monotonic() + pause > until:
                    return status, _checked(status, reply)
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    def _once(
        self, method: str, path: tuple[str, ...], body: bytes | None, headers: dict[str, str], timeout: float
    ) -> tuple[int, Any]:
        connection = self._connect(timeout)
        try:
            target = "/".join([self._root, *(quote(part, safe="") for part in path)])
            connection.request(
                method, target, body=body, headers={"authorization": f"Bearer {self._token}", **headers}
            )
            response = connection.getresponse()
            text = response.read(LONGEST_REPLY + 1)
        finally:
            connection.close()
        try:
            return response.status, json.loads(text[:LONGEST_REPLY])
        except ValueError:
            raise InternalError("The server did not answer in JSON. Check its address.") from None

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        if self._secure:
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=timeout, context=ssl.create_default_context()
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)


def _check_address(url: str, scheme: str, host: str | None) -> None:
    if not host or scheme not in ("http", "https"):
        raise InvalidParameter(
            f"url must begin with https:// and name a host, got {url[:60]!r}.", parameter="url"
        )
    if scheme == "http" and not _is_here(host):
        raise InvalidParameter(
            "url must begin with https:// if the server is another machine, because the token would be "
            "readable on the way.",
            parameter="url",
        )


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _may_pass(status: int, reply: Any) -> bool:
    """Return whether the same request may succeed later: the server is busy, or our questions still run."""
    if status == 429:
        return True
    error = reply.get("error", {}) if isinstance(reply, dict) else {}
    return status in (403, 409) and error.get("fields", {}).get("state") == "running"


def _checked(status: int, reply: Any) -> Any:
    """Return the reply, or raise the error that it carries."""
    if status < 300 and isinstance(reply, dict):
        return reply
    error = reply.get("error") if isinstance(reply, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("fields", {}), dict):
        raise InternalError("The server did not answer as discreet does. Check its address.")
    kind = _KINDS.get(str(error.get("code")), EngineFailure)
    raise kind(str(error.get("message", "")), **{str(name): each for name, each in error["fields"].items()})


def write_object(facts: Mapping[str, Any]) -> bytes:
    """Write a JSON object; each number is written as the exact decimal it stands for.

    >>> write_object({"sql": "SELECT 1", "epsilon": 0.1, "within": {"n": Decimal("0.125")}})
    b'{"sql":"SELECT 1","epsilon":0.1,"within":{"n":0.125}}'
    """
    return _written(facts).encode()


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(name)}:{_written(each)}" for name, each in value.items()) + "}"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_written, value)) + "]"
    return _decimal(value)


def _decimal(value: Real) -> str:
    number = exact(value, name="a number")
    odd = number.denominator
    for prime in (2, 5):
        while odd % prime == 0:
            odd //= prime
    if odd != 1:
        raise InvalidParameter(
            f"a number must be a finite decimal to be sent, got {number}. Round it to the safe side."
        )
    written = _ENOUGH.divide(Decimal(number.numerator), Decimal(number.denominator))
    return str(written.normalize(_ENOUGH)).replace("E", "e")
