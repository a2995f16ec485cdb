"""Start-up and authentication: who connects, to which data set. The token is the password.

SCRAM-SHA-256 proves a token without sending it. An unknown name gets an exchange with the same salt, length
and time as a known one with the wrong token. Tokens that were made before there were verifiers can only be
sent, and only over TLS: as long as such tokens are valid, every client that comes over TLS is asked for its
password, known or not.
"""

import asyncio
import base64
import hmac
import secrets
import struct
from dataclasses import dataclass

from discreet.apps.postgres import wire
from discreet.apps.postgres.failures import Fatal
from discreet.apps.postgres.wire import Fields, ProtocolError, Stream, authentication
from discreet.apps.server.http_errors import Busy
from discreet.apps.server.people import Person
from discreet.apps.server.scram import ITERATIONS, Verifier, mac
from discreet.apps.server.service import Service
from discreet.errors import Unauthenticated

REFUSED_S = 0.25  # when a refusal leaves, counted from the last message of an exchange
TOKENS_TRIED = 8  # the newest of a user; fewer are filled up, so that all take the same time
MOST_PARAMETERS = 64
SASL, SASL_CONTINUE, SASL_FINAL, PASSWORD, OK = 10, 11, 12, 3, 0
MECHANISM = "SCRAM-SHA-256"


@dataclass(frozen=True)
class Startup:
    """What a client says of itself before it is known."""

    user: str
    database: str
    parameters: dict[str, str]


def read_startup(payload: bytes) -> Startup:
    """Read the names and values of a start-up message."""
    fields, found = Fields(payload), dict[str, str]()
    while (name := fields.text()) and len(found) < MOST_PARAMETERS:
        found[name] = fields.text()
    fields.end()
    user = found.pop("user", "")
    if not user:
        raise Fatal("28000", "A start-up message must name a user.")
    return Startup(user, found.pop("database", "") or user, found)


async def authenticate(
    service: Service, stream: Stream, startup: Startup, *, address: str, tls: bool
) -> Person:
    """Return the user whose token was proved, or raise the one error for everything else."""
    people, use = service.people, service.executor.use_people
    if tls and await use(people.has_older_tokens):
        person = await _ask_password(service, stream, startup.user, address)
    else:
        person = await _exchange(service, stream, startup.user, address)
    await stream.send(authentication(OK))
    return person


async def _ask_password(service: Service, stream: Stream, user: str, address: str) -> Person:
    await stream.send(authentication(PASSWORD))
    fields = Fields(await _reply(stream))
    token = fields.text()
    fields.end()
    due = _due()
    try:
        person = await service.executor.use_people(service.admit, token, address=address)
    except (Unauthenticated, Busy):
        person = None
    if person is None or not hmac.compare_digest(person.name.encode(), user.encode()):
        raise await _refusal(due)
    return person


async def _exchange(service: Service, stream: Stream, user: str, address: str) -> Person:
    use, people = service.executor.use_people, service.people
    await stream.send(authentication(SASL, wire.text(MECHANISM) + b"\0"))
    fields = Fields(await _reply(stream))
    if fields.text() != MECHANISM:
        raise Fatal("28000", f"The only mechanism is {MECHANISM}.")
    first = _read_first(fields)
    nonce = first.nonce + base64.b64encode(secrets.token_bytes(18))
    salt = base64.b64encode(people.salts.of(user))
    challenge = b"r=%s,s=%s,i=%d" % (nonce, salt, ITERATIONS)
    await stream.send(authentication(SASL_CONTINUE, challenge))
    last = await _reply(stream)
    due = _due()
    proof = _read_proof(last, first.header, nonce)
    exchange = b",".join((first.bare, challenge, last.rpartition(b",p=")[0]))
    known = await use(people.verifiers, user)
    found = _prove(_filled(service, user, known), exchange, proof)
    if found is None:
        raise await _refusal(due)
    person, verifier = found
    await stream.send(
        authentication(SASL_FINAL, b"v=" + base64.b64encode(mac(verifier.server_key, exchange)))
    )
    return person


@dataclass(frozen=True)
class _First:
    header: bytes  # what says that there is no channel binding
    bare: bytes
    nonce: bytes


def _read_first(fields: Fields) -> _First:
    size = fields.int32()
    text = fields.take(size)
    fields.end()
    parts = text.split(b",", 2)
    if len(parts) < 3 or parts[0] not in (b"n", b"y"):
        raise Fatal("28000", "Channel binding is not supported. Connect with channel_binding=disable.")
    values = parts[2].split(b",")
    if len(values) != 2 or not values[0].startswith(b"n=") or not values[1].startswith(b"r="):
        raise ProtocolError
    nonce = values[1][2:]
    if not 8 <= len(nonce) <= 256:
        raise ProtocolError
    return _First(parts[0] + b"," + parts[1] + b",", parts[2], nonce)


def _read_proof(last: bytes, header: bytes, nonce: bytes) -> bytes:
    before, _, proof = last.rpartition(b",p=")
    expected = b"c=%s,r=%s" % (base64.b64encode(header), nonce)
    try:
        found = base64.b64decode(proof, validate=True)
    except ValueError:
        raise ProtocolError from None
    if not hmac.compare_digest(before, expected) or len(found) != 32:
        raise ProtocolError
    return found


def _filled(
    service: Service, user: str, known: list[tuple[Person, Verifier]]
) -> list[tuple[Person | None, Verifier]]:
    """Return as many verifiers for every name, those of no token last."""
    mocks = [(None, service.people.salts.mock_verifier(user, number)) for number in range(TOKENS_TRIED)]
    return [*known, *mocks][:TOKENS_TRIED]


def _prove(
    tried: list[tuple[Person | None, Verifier]], exchange: bytes, proof: bytes
) -> tuple[Person, Verifier] | None:
    """Return the token that a proof was made with; all of them are tried, whatever is found."""
    accepted = [(person, verifier) for person, verifier in tried if verifier.accepts(exchange, proof)]
    return next(((person, verifier) for person, verifier in accepted if person is not None), None)


async def _reply(stream: Stream) -> bytes:
    kind, payload = await stream.message()
    if kind != b"p":
        raise ProtocolError
    return payload


def _due() -> float:
    return asyncio.get_running_loop().time() + REFUSED_S


async def _refusal(due: float) -> Fatal:
    """Return the one error for every token that is not valid, when it is due."""
    while (left := due - asyncio.get_running_loop().time()) > 0:
        await asyncio.sleep(left)
    return Fatal("28P01", "The user or the token is not valid. The token (dp_...) is the password.")


def key_data(process: int, secret: int) -> bytes:
    """Return what a client sends back to cancel what it waits for."""
    return wire.message(b"K", struct.pack("!iI", process, secret))
