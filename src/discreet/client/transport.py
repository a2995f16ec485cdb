"""Requests over HTTP: the standard library alone, certificates verified, retries that cannot charge twice."""

import http.client
import ipaddress
import json
import re
import ssl
import time
from typing import Any
from urllib.parse import quote, urlsplit

from discreet import errors
from discreet.errors import DiscreetError, EngineFailure, InternalError, InvalidParameter

LONGEST_REPLY = 256 * 1024 * 1024
TOKEN = re.compile(r"[A-Za-z0-9_~+/.=-]{1,500}")
PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0

# The library's errors by code; what only a server refuses is the nearest of them.
_KINDS: dict[str, type[DiscreetError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, DiscreetError)
} | {"internal": InternalError, "not_found": InvalidParameter, "too_large": InvalidParameter}


class Transport:
    """One server, one token. A connection is made for each request: a transport may be shared by threads."""

    def __init__(self, url: str, *, token: str, timeout_s: float, patience_s: float) -> None:
        parts = urlsplit(url)
        _check_address(url, parts.scheme, parts.hostname)
        if not isinstance(token, str) or not TOKEN.fullmatch(token):
            raise InvalidParameter(
                "token must be the text that the server's owner gave you.", parameter="token"
            )
        assert parts.hostname is not None
        self._host, self._port, self._secure = parts.hostname, parts.port, parts.scheme == "https"
        self._root, self._token = parts.path.rstrip("/"), token
        self._timeout_s, self._patience_s = timeout_s, patience_s

    def get(self, *path: str) -> Any:
        """What a path shows."""
        return self._ask("GET", path, None, {})[1]

    def delete(self, *path: str) -> Any:
        """End what a path stands for."""
        return self._ask("DELETE", path, None, {})[1]

    def post(self, *path: str, body: bytes, key: str | None = None, seconds: float = 0.0) -> tuple[int, Any]:
        """Status and reply of a request whose answer may take so many seconds.

        With a key it is tried again where no reply came: the server gives one answer to one key. Without,
        only a refusal to begin is.
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
                    raise EngineFailure("the server must answer, and it does not. Ask again later.") from None
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
            raise InternalError(
                "the server must answer in JSON, and it does not. Is this its address?"
            ) from None

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
            "url must begin with https:// where the server is another machine: a token would be readable "
            "on the way.",
            parameter="url",
        )


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _may_pass(status: int, reply: Any) -> bool:
    """Whether the same request may do better later: too much at once, or our own questions still run."""
    if status == 429:
        return True
    error = reply.get("error", {}) if isinstance(reply, dict) else {}
    return status in (403, 409) and error.get("fields", {}).get("state") == "running"


def _checked(status: int, reply: Any) -> Any:
    """The reply, or the error that it is."""
    if status < 300 and isinstance(reply, dict):
        return reply
    error = reply.get("error") if isinstance(reply, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("fields", {}), dict):
        raise InternalError("the server must answer as discreet does, and it does not. Is this its address?")
    kind = _KINDS.get(str(error.get("code")), EngineFailure)
    raise kind(str(error.get("message", "")), **{str(name): each for name, each in error["fields"].items()})
