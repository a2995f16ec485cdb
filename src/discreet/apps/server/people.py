"""Users of the server: owners and analysts, with tokens that are shown once and stored only as digests."""

import hashlib
import hmac
import re
import secrets
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias, get_args

from discreet.apps.server.records import Records, make_tables
from discreet.apps.server.scram import Salts, Verifier, make_verifier
from discreet.errors import InvalidParameter, PolicyViolation

Role: TypeAlias = Literal["owner", "analyst"]
ROLES: tuple[Role, ...] = get_args(Role)

TOKEN_BYTES = 32
TOKEN = re.compile(r"dp_[A-Za-z0-9_-]{43}")
LONGEST_NAME = 64
BETWEEN = " ._@-'’"  # in a name, and not at its start
DAYS, MOST_DAYS = 90, 3660

_TABLES = (
    "CREATE TABLE IF NOT EXISTS people (name TEXT PRIMARY KEY, role TEXT NOT NULL, since TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS tokens (id TEXT PRIMARY KEY, person TEXT NOT NULL,"
    " digest TEXT NOT NULL UNIQUE, made TEXT NOT NULL, expires TEXT NOT NULL, revoked TEXT)",
    "CREATE TABLE IF NOT EXISTS verifiers (token TEXT PRIMARY KEY, verifier TEXT NOT NULL)",
)
_VALID = (
    "SELECT people.name, people.role, tokens.id{more}"
    " FROM tokens JOIN people ON people.name = tokens.person{join}"
    " WHERE {which} AND tokens.revoked IS NULL AND tokens.expires > ?"
)


@dataclass(frozen=True)
class Person:
    """A user, identified by a token. An analyst's name is the `analyst` of the ledger's charges."""

    name: str
    role: Role
    token: str = field(default="", compare=False)  # the id of the token that was shown

    @property
    def is_owner(self) -> bool:
        """Whether this user sees all charges and manages users."""
        return self.role == "owner"


@dataclass(frozen=True)
class Token:
    """What is stored about a token after it was shown: never the token itself."""

    id: str
    person: str
    made: str
    expires: str
    revoked: str | None

    def to_json(self) -> dict[str, str | None]:
        return {"id": self.id, "made": self.made, "expires": self.expires, "revoked": self.revoked}


class People:
    """All users. Several processes may share the records; a revocation takes effect in all at once."""

    def __init__(self, records: Records) -> None:
        self._records = records
        make_tables(records, _TABLES)
        self.salts = Salts(records)

    def identify(self, token: str) -> Person | None:
        """Return the owner of a valid token, or None for any other text, whatever is wrong with it.

        A token has 256 random bits: it cannot be guessed, nor found from its digest.
        """
        if not TOKEN.fullmatch(token):
            return None
        digest = _digest(token)
        found = self._records.rows(
            "SELECT tokens.digest, tokens.expires, tokens.revoked, people.name, people.role, tokens.id"
            " FROM tokens JOIN people ON people.name = tokens.person WHERE tokens.digest = ?",
            digest,
        )
        for kept, expires, revoked, *who in found:
            if hmac.compare_digest(kept, digest) and revoked is None and now() < expires:
                return Person(*who)
        return None

    def holder(self, token: str) -> Person | None:
        """Return the owner of the token with this id, if it is still valid."""
        found = self._records.rows(_VALID.format(which="tokens.id = ?", more="", join=""), token, now())
        return Person(*found[0]) if found else None

    def verifiers(self, name: str) -> list[tuple[Person, Verifier]]:
        """Return a user's valid tokens that can be proved without being sent, newest first."""
        join = " JOIN verifiers ON verifiers.token = tokens.id"
        query = _VALID.format(which="people.name = ?", more=", verifiers.verifier", join=join)
        found = self._records.rows(f"{query} ORDER BY tokens.made DESC, tokens.id", name, now())
        return [(Person(*who), Verifier.from_text(text)) for *who, text in found]

    def has_older_tokens(self) -> bool:
        """Return whether a valid token was made before there were verifiers, so that it must be sent."""
        join = " LEFT JOIN verifiers ON verifiers.token = tokens.id"
        query = _VALID.format(which="verifiers.token IS NULL", more="", join=join)
        return bool(self._records.rows(f"{query} LIMIT 1", now()))

    def add(self, name: str, role: str, *, days: int = DAYS) -> str:
        """Add a user and return the first token, which is shown only this once."""
        check_name(name)
        if role not in ROLES:
            raise InvalidParameter(f"role must be one of {', '.join(ROLES)}.", parameter="role")
        _check_days(days)
        if not self._records.change("INSERT INTO people VALUES (?, ?, ?)", name, role, now()):
            raise InvalidParameter("name must be new, and this one is taken.", parameter="name")
        return self._add_token(name, days)

    def find(self, name: str) -> Person | None:
        """Return the user of this name, or None."""
        found = self._records.rows("SELECT name, role FROM people WHERE name = ?", name)
        return Person(*found[0]) if found else None

    def everyone(self) -> tuple[Person, ...]:
        """Return all users by name, also those whose tokens are all revoked: their charges remain."""
        return tuple(
            Person(*row) for row in self._records.rows("SELECT name, role FROM people ORDER BY name")
        )

    def tokens(self, name: str) -> tuple[Token, ...]:
        """Return what is stored about a user's tokens, oldest first."""
        rows = self._records.rows(
            "SELECT id, person, made, expires, revoked FROM tokens WHERE person = ? ORDER BY made, id", name
        )
        return tuple(Token(*row) for row in rows)

    def new_token(self, name: str, *, days: int = DAYS) -> str:
        """Return another token for a known user, shown only this once."""
        if self.find(name) is None:
            raise InvalidParameter("name must be a known user. Add the user first.", parameter="name")
        return self._add_token(name, days)

    def revoke(self, name: str, *, token: str | None = None) -> int:
        """Revoke a user's tokens, or the one with this id, and return how many. Past charges stay.

        The last valid tokens of owners stay: without one, no owner could be added here.
        """
        which, values = (" AND id = ?", [token]) if token is not None else ("", [])
        mine = f"person = ? AND revoked IS NULL{which}"
        moment = now()
        changed = self._records.change(
            f"UPDATE tokens SET revoked = ? WHERE {mine} AND (expires <= ?"  # noqa: S608  constants
            " OR person NOT IN (SELECT name FROM people WHERE role = 'owner')"
            " OR EXISTS (SELECT 1 FROM tokens AS others JOIN people ON people.name = others.person"
            "  WHERE people.role = 'owner' AND others.revoked IS NULL AND others.expires > ?"
            f"  AND NOT (others.person = ?{which.replace('id', 'others.id')})))",
            *(moment, name, *values, moment, moment, name, *values),
        )
        if not changed and self._records.rows(f"SELECT id FROM tokens WHERE {mine}", name, *values):  # noqa: S608
            raise PolicyViolation(
                "the last owner must keep a token, and this would revoke it. Add another owner first.",
                parameter="name",
            )
        return changed

    def _add_token(self, name: str, days: int) -> str:
        token = "dp_" + secrets.token_urlsafe(TOKEN_BYTES)
        ends = _time(datetime.now(UTC) + timedelta(days=_check_days(days)))
        number, verifier = secrets.token_hex(8), make_verifier(token, self.salts.of(name))
        self._records.change("INSERT INTO verifiers VALUES (?, ?)", number, verifier.to_text())
        self._records.change(
            "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, NULL)", number, name, _digest(token), now(), ends
        )
        return token


def check_name(name: object) -> str:
    """Return a name: letters, digits and marks of any script, in one spelling of its accents.

    >>> check_name("Zoë Müller"), check_name("O'Brien"), check_name("हिन्दी")
    ('Zoë Müller', "O'Brien", 'हिन्दी')
    """
    if (
        not isinstance(name, str)
        or not 0 < len(name) <= LONGEST_NAME
        or unicodedata.normalize("NFC", name) != name
        or not all(each in BETWEEN or unicodedata.category(each)[0] in "LMN" for each in name)
        or unicodedata.category(name[0])[0] not in "LN"
        or name.endswith(" ")
        or "  " in name
    ):
        raise InvalidParameter(
            f"name must be 1 to {LONGEST_NAME} letters and digits of any script, with spaces and . _ @ - ' "
            "between them, starting with a letter or digit.",
            parameter="name",
        )
    return name


def _check_days(days: object) -> int:
    if isinstance(days, bool) or not isinstance(days, int) or not 0 < days <= MOST_DAYS:
        raise InvalidParameter(f"days must be a whole number from 1 to {MOST_DAYS}.", parameter="days")
    return days


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def now() -> str:
    """Return the current time in UTC, as records write it."""
    return _time(datetime.now(UTC))


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
