"""The PostgreSQL protocol server: it listens, negotiates TLS, and serves each connection in a task.

The first bytes of a connection are read from the socket itself, exactly as many as belong to the request, so
that nothing sent before TLS is ever taken for something sent within it.
"""

import asyncio
import contextlib
import hmac
import ipaddress
import itertools
import secrets
import socket
import ssl
import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from discreet.apps.postgres import wire
from discreet.apps.postgres.authentication import Startup, authenticate, key_data, read_startup
from discreet.apps.postgres.catalogue import Catalogue
from discreet.apps.postgres.client_session import Running, Session
from discreet.apps.postgres.failures import Fatal, as_refused, error_message
from discreet.apps.postgres.message_loop import Connection
from discreet.apps.postgres.settings import Settings, startup_settings
from discreet.apps.postgres.wire import Gone, ProtocolError, Stream
from discreet.apps.server.dataset import Dataset
from discreet.apps.server.http_errors import not_found
from discreet.apps.server.service import Service
from discreet.errors import InvalidParameter

LOGIN_S = 15.0
IDLE_S = 3600.0


@dataclass
class Client:
    """A connection that may be cancelled by the two numbers it was given."""

    secret: int
    session: Session


class PostgresServer:
    """Serves a service's data sets to clients of PostgreSQL. Without TLS it answers this machine only."""

    def __init__(
        self, service: Service, listening: socket.socket, *, tls: ssl.SSLContext | None = None
    ) -> None:
        host = listening.getsockname()[0]
        if tls is None and not is_loopback(host):
            raise InvalidParameter(
                f"the PostgreSQL protocol needs TLS at {host}. Give --tls-cert and --tls-key, or listen on "
                "127.0.0.1.",
                parameter="postgres",
            )
        self._service, self._listening, self._tls = service, listening, tls
        self._running, self._catalogues = Running(), dict[tuple[str, tuple[str, ...]], Catalogue]()
        self._clients: dict[int, Client] = {}
        self._numbers = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._by_address: Counter[str] = Counter()
        self._accepting: asyncio.Task[None] | None = None
        listening.setblocking(False)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._listening.getsockname()[1])

    async def start(self) -> None:
        """Begin to accept connections."""
        self._accepting = asyncio.ensure_future(self._accept())

    async def stop(self) -> None:
        """Accept nothing new and end all connections. Questions under way are the executor's to finish."""
        if self._accepting is not None:
            self._accepting.cancel()
        self._listening.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=2)
        for catalogue in self._catalogues.values():
            catalogue.close()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connected, address = await loop.sock_accept(self._listening)
            except OSError:  # no file descriptor left: clients wait in the queue meanwhile
                await asyncio.sleep(0.1)
                continue
            task = asyncio.ensure_future(self._serve(connected, str(address[0])))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, connected: socket.socket, address: str) -> None:
        limits = self._service.limits
        self._by_address[address] += 1
        try:
            if (
                len(self._tasks) > limits.connections
                or self._by_address[address] > limits.connections_of_an_address
            ):
                return
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            with contextlib.suppress(Gone, OSError, ssl.SSLError, TimeoutError, ProtocolError):
                await self._negotiate(connected, address)
        finally:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]
            connected.close()

    # --- before it is known who connects -------------------------------------------------------------------

    async def _negotiate(self, connected: socket.socket, address: str) -> None:
        """Read requests for encryption, and then go on over TLS or without it."""
        loop, stream = asyncio.get_running_loop(), None
        async with asyncio.timeout(LOGIN_S):
            length, code = await _read_head(connected)
            for _ in range(2):  # one request for each kind of encryption
                if code not in (wire.SSL, wire.GSS) or length != wire.SHORTEST_STARTUP or stream is not None:
                    break
                if code == wire.SSL and self._tls is not None:
                    await loop.sock_sendall(connected, b"S")
                    stream = await _open(connected, self._service.limits.body_s, tls=self._tls)
                    length, code = struct.unpack("!iI", await stream.read(8, seconds=LOGIN_S))
                else:
                    await loop.sock_sendall(connected, b"N")
                    length, code = await _read_head(connected)
        tls = stream is not None
        stream = stream or await _open(connected, self._service.limits.body_s)
        try:
            await self._begin(stream, length, code, address, tls=tls)
        finally:
            stream.writer.close()
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(1):
                    await stream.writer.wait_closed()
            stream.writer.transport.abort()  # before the socket is closed, which another may then reuse

    async def _begin(self, stream: Stream, length: int, code: int, address: str, *, tls: bool) -> None:
        if code == wire.CANCEL and length == 16:
            process, secret = struct.unpack("!iI", await stream.read(8, seconds=LOGIN_S))
            self._cancel(process, secret)
            return
        if not wire.SHORTEST_STARTUP < length <= wire.LONGEST_STARTUP:
            return
        number = next(self._numbers) & 0x7FFFFFFF
        try:
            async with asyncio.timeout(LOGIN_S):
                payload = await stream.read(length - 8, seconds=LOGIN_S)
                session = await self._log_in(stream, code, payload, address, tls=tls)
                client = Client(secrets.randbits(32), session)
                reported = session.settings.reported()
                told = [wire.parameter_status(name, value) for name, value in reported.items()]
                await stream.send(*told, key_data(number, client.secret), wire.ready("I"))
            self._clients[number] = client
            await Connection(stream, session).serve()
        except ProtocolError:
            await stream.send(
                error_message(Fatal("08P01", "This is not PostgreSQL's protocol, or too long."))
            )
        except Fatal as error:
            if error.state.startswith("28"):
                self._service.journal.write("POSTGRES", "login", 401)
            await stream.send(error_message(error))
        except (Gone, TimeoutError, OSError):
            raise
        except Exception as error:  # noqa: BLE001  a text that is ours, whatever failed
            refused = as_refused(error)
            await stream.send(error_message(Fatal(refused.state, refused.message)))
        finally:
            self._clients.pop(number, None)

    async def _log_in(self, stream: Stream, code: int, payload: bytes, address: str, *, tls: bool) -> Session:
        if code >> 16 != 3:
            raise Fatal("0A000", "Only version 3 of the protocol is supported.")
        if not tls and not is_loopback(address):
            raise Fatal("28000", "Connections from elsewhere must use TLS. Connect with sslmode=require.")
        startup = read_startup(payload)
        unknown = [name for name in startup.parameters if name.startswith("_pq_.")]
        if code != wire.PROTOCOL or unknown:
            names = b"".join(map(wire.text, unknown))
            await stream.send(wire.message(b"v", struct.pack("!ii", 0, len(unknown)) + names))
        person = await authenticate(self._service, stream, startup, address=address, tls=tls)
        self._service.journal.write("POSTGRES", "login", 200, person=person.name)
        dataset = self._find(startup)
        catalogue = await self._catalogue(dataset)
        settings = Settings(dataset.default_price)
        session = Session(self._service, dataset, person, address, catalogue, self._running, settings)
        settings.user = person.name
        for name, value in startup_settings(startup.parameters).items():
            settings.set(name, value)
        settings.keep_defaults()
        return session

    def _find(self, startup: Startup) -> Dataset:
        """Return the data set that a client names as database; the only one if it names none."""
        if startup.database in self._service.datasets:
            return self._service.datasets[startup.database]
        if startup.database in (startup.user, "postgres") and len(self._service.datasets) == 1:
            return next(iter(self._service.datasets.values()))
        raise Fatal("3D000", not_found().message, "The database is the data set's id.")

    async def _catalogue(self, dataset: Dataset) -> Catalogue:
        """Return the catalogue of today's policy: an owner may have changed it, or opened more data sets.

        One that was made before stays for the sessions that have it.
        """
        policy, names = dataset.policy, tuple(self._service.datasets)
        known = policy.digest, names
        if known not in self._catalogues:
            made = await self._service.executor.plan(lambda: Catalogue(policy, names))
            self._catalogues.setdefault(known, made)
        return self._catalogues[known]

    def _cancel(self, process: int, secret: int) -> None:
        client = self._clients.get(process)
        if client is not None and hmac.compare_digest(
            client.secret.to_bytes(4, "big"), (secret & 0xFFFFFFFF).to_bytes(4, "big")
        ):
            client.session.cancelled.set()


async def _read_head(connected: socket.socket) -> tuple[int, int]:
    """Return the length and the code of a first message, and read not a byte more."""
    loop, found = asyncio.get_running_loop(), b""
    while len(found) < 8:
        part = await loop.sock_recv(connected, 8 - len(found))
        if not part:
            raise Gone
        found += part
    length, code = struct.unpack("!iI", found)
    return length, code


async def _open(connected: socket.socket, body_s: float, *, tls: ssl.SSLContext | None = None) -> Stream:
    """Return the two ends of an accepted socket, over TLS if there is a context."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=wire.CHUNK, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.connect_accepted_socket(lambda: protocol, connected, ssl=tls)
    transport.set_write_buffer_limits(high=wire.CHUNK)
    return Stream(reader, asyncio.StreamWriter(transport, protocol, reader, loop), body_s, IDLE_S)


def is_loopback(host: str) -> bool:
    """Return whether an address is of this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def open_tls(certificate: Path, key: Path | None) -> ssl.SSLContext:
    """Return the TLS settings of a certificate; versions before 1.2 are refused."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError):
        raise InvalidParameter(
            "--tls-cert and --tls-key must be readable files in PEM form that belong together.",
            parameter="tls_cert",
        ) from None
    return context
