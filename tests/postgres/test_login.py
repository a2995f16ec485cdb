"""Who is let in: SCRAM, a mock exchange for unknown users, TLS, and one constant refusal at one time."""

import datetime
import ipaddress
import socket
import ssl
import statistics
import struct
import time

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from discreet.apps.postgres import PostgresServer, authentication, open_tls
from discreet.apps.server.scram import Verifier
from discreet.errors import InvalidParameter
from postgres.raw import SSL_REQUEST, Raw, error_of, errors, message, query, rows, startup, text
from server.running import promptly, write_policy


def make_certificate(folder):
    """A certificate of this machine's, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName(
        [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    )
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "cert.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    private.write_bytes(key.private_bytes(*form))
    return certificate, private


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    folder = tmp_path_factory.mktemp("town")
    with promptly(write_policy(folder), tls=open_tls(*make_certificate(folder))) as served:
        yield served


def refused(town, user, token):
    """The error, and how long it took after the last message."""
    with Raw(town.postgres.port) as client:
        client.send(startup(user)).prove(token)
        return errors(client.until(b"E")), time.monotonic() - client.sent


def test_an_unknown_user_with_an_empty_password_is_refused_like_everyone_else(town):
    """What pg-mimic lets in."""
    gone = town.service.people.add("gone", "analyst")
    town.service.people.revoke("gone")
    tries = [
        ("nobody", ""), ("nobody", "x"), ("ann", ""), ("ann", "dp_" + "A" * 43), ("gone", gone), ("gone", ""),
        ("ann", town.tokens["bob"]), ("", town.tokens["ann"]), ("ann' OR '1'='1", ""), ("n" * 300, ""),
    ]  # fmt: skip
    found = [refused(town, *each) for each in tries if each[0]]
    assert len({str(error) for error, _ in found}) == 1
    assert found[0][0][0]["C"] == "28P01"
    assert all(took >= authentication.REFUSED_S for _, took in found)
    with Raw(town.postgres.port) as client:
        assert errors(client.send(startup("")).until(b"E"))[0]["S"] == "FATAL"


def test_the_attack_is_seen_where_a_verifier_accepts_everything(town, monkeypatch):
    """A planted fault: without it no test above could fail."""
    monkeypatch.setattr(Verifier, "accepts", lambda *_: True)
    with Raw(town.postgres.port) as client:
        client.log_in("ann", "")
        assert rows(client.ask(query("SELECT 1"))) == [("1",)]


def test_a_name_has_one_salt_whether_it_is_known_or_not(town):
    salts = {}
    for user in ("ann", "nobody", "ann", "nobody"):
        with Raw(town.postgres.port) as client:
            client.send(startup(user)).message()
            first = b"n,,n=,r=abcdefghijkl"
            client.send(message(b"p", text("SCRAM-SHA-256") + struct.pack("!i", len(first)) + first))
            _, challenge = client.message()
            salt, iterations = challenge[4:].split(b",")[1:]
            salts.setdefault(user, set()).add((salt, iterations, len(challenge)))
    assert all(len(each) == 1 for each in salts.values())
    (known,), (unknown,) = salts["ann"], salts["nobody"]
    assert known[0] != unknown[0]
    assert known[1:] == unknown[1:]


def test_wrong_tokens_take_equal_time_known_or_not(town):
    """Medians of refusals are a fixed time, whoever asks: they differ by less than the clock's own noise."""
    took = {user: [refused(town, user, "x")[1] for _ in range(7)] for user in ("ann", "nobody")}
    known, unknown = (statistics.median(each) for each in took.values())
    assert abs(known - unknown) < 0.1
    assert min(known, unknown) >= authentication.REFUSED_S


def test_any_of_a_users_tokens_logs_in_and_an_expired_one_does_not(town):
    second = town.service.people.new_token("bob")
    for token in (town.tokens["bob"], second):
        with Raw(town.postgres.port) as client:
            client.log_in("bob", token)
    expired = town.service.people.new_token("bob")
    town.service.people._records.change(
        "UPDATE tokens SET expires = '2020-01-01T00:00:00Z' WHERE person = 'bob' AND id = (SELECT token FROM "
        "verifiers ORDER BY rowid DESC LIMIT 1)"
    )
    with Raw(town.postgres.port) as client, pytest.raises(PermissionError):
        client.log_in("bob", expired)


def encrypted(town, client):
    client.send(SSL_REQUEST)
    assert client.read(1) == b"S"
    context = ssl.create_default_context(cafile=town.folder / "cert.pem")
    client.socket = context.wrap_socket(client.socket, server_hostname="localhost")
    return client


def test_over_tls_a_token_is_proved_too(town):
    with Raw(town.postgres.port) as client:
        encrypted(town, client).log_in("ann", town.tokens["ann"])
        assert rows(client.ask(query("SELECT 1"))) == [("1",)]


def test_bytes_sent_before_tls_are_never_taken_for_bytes_within_it(town):
    """A man in the middle who puts a start-up message behind the request for TLS."""
    with Raw(town.postgres.port) as client:
        client.send(SSL_REQUEST + startup("ann"))
        assert client.read(1) == b"S"
        context = ssl.create_default_context(cafile=town.folder / "cert.pem")
        with pytest.raises((ssl.SSLError, ConnectionError)):
            context.wrap_socket(client.socket, server_hostname="localhost")


def test_an_older_token_is_sent_over_tls_and_everyone_is_asked_alike(tmp_path):
    with promptly(write_policy(tmp_path), tls=open_tls(*make_certificate(tmp_path))) as town:
        people = town.service.people
        people._records.change(
            "DELETE FROM verifiers WHERE token IN (SELECT id FROM tokens WHERE person = 'ann')"
        )
        for user, token, known in (
            ("ann", "ann", True),
            ("bob", "bob", True),
            ("ann", "bob", False),
            ("nobody", "ann", False),
            ("nobody", "", False),
        ):
            with Raw(town.postgres.port) as client:
                encrypted(town, client).send(startup(user))
                assert client.message() == (b"R", struct.pack("!i", 3))
                client.send(message(b"p", text(town.tokens.get(token, token))))
                kind, payload = client.message()
                assert (kind == b"R") == known
                if not known:
                    assert error_of(payload)["C"] == "28P01"
        with Raw(town.postgres.port) as client, pytest.raises(PermissionError):
            client.log_in("ann", town.tokens["ann"])  # without TLS it is proved, or not at all


def test_without_tls_it_listens_on_this_machine_only(town):
    with (
        socket.create_server(("0.0.0.0", 0)) as listening,
        pytest.raises(InvalidParameter, match="--tls-cert"),
    ):
        PostgresServer(town.service, listening)


def test_a_request_for_gss_and_tls_where_there_is_none_is_answered_no(tmp_path):
    with promptly(write_policy(tmp_path)) as town, Raw(town.postgres.port) as client:
        client.send(struct.pack("!ii", 8, 80877104))
        assert client.read(1) == b"N"
        client.send(SSL_REQUEST)
        assert client.read(1) == b"N"
        client.log_in("ann", town.tokens["ann"])


def test_an_unknown_data_set_is_named_only_after_the_token_is_proved(town):
    with Raw(town.postgres.port) as client, pytest.raises(PermissionError, match="Not found"):
        client.log_in("ann", town.tokens["ann"], database="other")
    with Raw(town.postgres.port) as client, pytest.raises(PermissionError, match="not valid"):
        client.log_in("ann", "wrong", database="other")
