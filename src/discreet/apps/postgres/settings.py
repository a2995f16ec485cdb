"""Settings of a session, and how transactions undo them. Prices are settings: SET discreet.epsilon = 0.1."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import discreet
from discreet.apps.postgres.failures import Refused
from discreet.apps.postgres.statements import Statement, Token
from discreet.apps.server.request_bodies import form_numbers

PREFIX = "discreet."
PRICES = ("epsilon", "rho", "within")
NUMBERS = ("epsilon", "rho", "delta", "confidence")
OWN = (*NUMBERS, "within", "intervals", "bounds")
SERVER_VERSION = f"14.0 (discreet {discreet.__version__})"
FIXED = {
    "server_version": SERVER_VERSION,
    "server_version_num": "140000",
    "server_encoding": "UTF8",
    "integer_datetimes": "on",
    "in_hot_standby": "off",
    "is_superuser": "off",
    "default_transaction_read_only": "on",
    "transaction_read_only": "on",
    "max_identifier_length": "63",
}
DEFAULTS = {
    "application_name": "",
    "client_encoding": "UTF8",
    "datestyle": "ISO, MDY",
    "intervalstyle": "postgres",
    "timezone": "UTC",
    "standard_conforming_strings": "on",
    "search_path": "public",
    "client_min_messages": "notice",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "transaction_isolation": "read committed",
    "default_transaction_isolation": "read committed",
    "statement_timeout": "0",
    "lc_collate": "C",
    "lc_ctype": "C",
    "lc_messages": "C",
}
REPORTED = (
    "server_version", "server_encoding", "client_encoding", "application_name", "is_superuser",
    "DateStyle", "IntervalStyle", "TimeZone", "integer_datetimes", "standard_conforming_strings",
    "in_hot_standby", "default_transaction_read_only", "session_authorization",
)  # fmt: skip
MOST_SETTINGS, LONGEST_VALUE = 128, 500
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?")


class Settings:
    """The values that a client set, in a transaction or for the session."""

    def __init__(self, default_price: Mapping[str, str]) -> None:
        self._default_price = dict(default_price)
        self._session: dict[str, str] = {}
        self._local: dict[str, str] = {}
        self._kept: list[
            tuple[str, dict[str, str], dict[str, str]]
        ] = []  # of the transaction, and savepoints
        self._startup: dict[str, str] = {}
        self.status, self.user = "I", ""

    def keep_defaults(self) -> None:
        """Make the present values what RESET returns to: those of the start-up message."""
        self._startup = dict(self._session)

    # --- transactions --------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin a transaction, unless one is open."""
        if self.status == "I":
            self.status = "T"
            self._keep("")

    def end(self, *, undo: bool) -> bool:
        """End the transaction; return whether its settings stay. A failed one can only be undone."""
        undone = undo or self.status == "E"
        if self._kept and undone:
            _, self._session, self._local = self._kept[0]
        self.status, self._kept, self._local = "I", [], {}
        return not undone

    def savepoint(self, name: str) -> None:
        """Mark a point in the transaction."""
        self._check_open()
        if len(self._kept) >= MOST_SETTINGS:
            raise Refused("54000", f"A transaction may have at most {MOST_SETTINGS} savepoints.")
        self._keep(name)

    def back_to(self, name: str) -> None:
        """Undo what was set since a savepoint, and go on from there."""
        place = self._find(name)
        _, session, local = self._kept[place]
        self._session, self._local = dict(session), dict(local)
        del self._kept[place + 1 :]
        self.status = "T"

    def release(self, name: str) -> None:
        """Forget a savepoint and those after it."""
        del self._kept[self._find(name) :]

    def fail(self) -> None:
        """Mark an open transaction as failed."""
        if self.status == "T":
            self.status = "E"

    def _keep(self, name: str) -> None:
        self._kept.append((name, dict(self._session), dict(self._local)))

    def _check_open(self) -> None:
        if self.status == "I":
            raise Refused("25P01", "There is no transaction. Begin one first.")

    def _find(self, name: str) -> int:
        self._check_open()
        for place in range(len(self._kept) - 1, 0, -1):
            if self._kept[place][0] == name:
                return place
        raise Refused("3B001", "There is no such savepoint.")

    # --- values --------------------------------------------------------------------------------------------

    def set(self, name: str, value: str | None, *, local: bool = False) -> str:
        """Set a value, or its default for None; return the name in lower case."""
        name = name.lower()
        if not _NAME.fullmatch(name) or len(name) > 63:
            raise Refused("42704", "A setting's name must be letters, digits and underscores.")
        if name in FIXED and name not in ("default_transaction_read_only", "transaction_read_only"):
            raise Refused("55P02", f"{name} cannot be changed.")
        if value is not None:
            value = _checked(name, value)
        if len(self._session) + len(self._local) >= MOST_SETTINGS:
            raise Refused("54000", f"A session may have at most {MOST_SETTINGS} settings.")
        target = self._local if local else self._session
        if local and self.status == "I":
            return name  # as in PostgreSQL: it would end at once
        if name[len(PREFIX) :] in PRICES and name.startswith(PREFIX):  # one price at a time: the last
            for each in PRICES:
                self._drop(PREFIX + each, target, local=local)
        self._drop(name, target, local=local)
        kept = self._startup.get(name) if value is None else value
        if kept is not None:
            target[name] = kept
        return name

    def _drop(self, name: str, target: dict[str, str], *, local: bool) -> None:
        target.pop(name, None)
        if local and name in self._session:
            target[name] = ""  # hides the session's value until the transaction ends
        if not local:
            self._local.pop(name, None)

    def reset(self) -> None:
        """Set everything to its default."""
        self._session, self._local = dict(self._startup), {}

    def show(self, name: str) -> str:
        """Return a value; raise if there is no such setting."""
        name = name.lower()
        for values in (self._local, self._session, FIXED, DEFAULTS):
            if name in values:
                return values[name]
        if name == "session_authorization":
            return self.user
        if name.startswith(PREFIX) and name[len(PREFIX) :] in OWN:
            return self._default_price.get(name[len(PREFIX) :], "")
        raise Refused("42704", "There is no such setting.")

    def every(self) -> dict[str, str]:
        """Return all settings and their values."""
        own = {PREFIX + name: self.show(PREFIX + name) for name in OWN}
        return {**FIXED, **DEFAULTS, **own, **self._session, **self._local}

    def reported(self) -> dict[str, str]:
        """Return the settings that clients are told of."""
        return {name: self.show(name) for name in REPORTED}

    @property
    def intervals(self) -> bool:
        """Whether answers have the ends of their intervals as columns."""
        return self.show(f"{PREFIX}intervals") == "on"

    def terms(self) -> dict[str, Any]:
        """Return the price and the other terms of a question; raise if no price is set."""
        texts = {name: self.show(PREFIX + name) for name in (*NUMBERS, "within", "bounds")}
        if any(self._has(name) for name in PRICES):  # the default price counts only as a whole
            texts |= {name: "" for name in (*PRICES, "delta") if not self._has(name)}
        if not any(texts[name] for name in PRICES):
            raise Refused(
                "22023",
                "A question must have a price. Write SET discreet.epsilon = 0.1, or SET discreet.within = 50 "
                "for the largest error to allow; EXPLAIN then shows what it costs, free.",
            )
        found: dict[str, Any] = dict(form_numbers(texts, NUMBERS))
        if texts["within"]:
            found["within"] = read_within(texts["within"])
        return found | ({"bounds": "auto"} if texts["bounds"] else {})

    def _has(self, name: str) -> bool:
        return bool(self._local.get(PREFIX + name, self._session.get(PREFIX + name, "")))


def read_within(text: str) -> Any:
    """Return the errors to allow: one number, or numbers by column.

    >>> read_within("5"), read_within("n = 5, total=100")
    (5, {'n': 5, 'total': 100})
    """
    if "=" not in text:
        return form_numbers({"within": text}, ["within"])["within"]
    pairs = [part.partition("=") for part in text.split(",")]
    named = {name.strip(): value.strip() for name, _, value in pairs}
    if len(named) != len(pairs) or not all(named) or not all(named.values()):
        raise Refused("22023", "within must be a number, or a number for each column: 'n = 5, total = 100'.")
    return dict(form_numbers(named, named))


def _checked(name: str, value: str) -> str:
    """Return a value as it is kept; raise for what has no meaning here."""
    if len(value) > LONGEST_VALUE or not value.isprintable():
        raise Refused("22023", f"A setting's value must be at most {LONGEST_VALUE} printable characters.")
    if name == "client_encoding":
        if re.sub("['_-]", "", value.upper()) not in ("UTF8", "UNICODE", "SQLASCII", "AUTO"):
            raise Refused("22023", "client_encoding must be UTF8. Set PGCLIENTENCODING=UTF8.")
        return "UTF8"
    if name == "datestyle":
        if "ISO" not in value.upper():
            raise Refused("22023", "DateStyle must be ISO.")
        return DEFAULTS[name]
    return _checked_own(name, value) if name.startswith(PREFIX) else value


def _checked_own(name: str, value: str) -> str:
    """Return the value of one of our own settings as it is kept."""
    own = name[len(PREFIX) :]
    if own not in OWN:
        known = ", ".join(PREFIX + each for each in OWN)
        raise Refused("42704", f"{name} is not a setting. There are {known}.")
    if own == "intervals":
        on = value.lower() in ("on", "true", "1", "yes")
        if not on and value.lower() not in ("off", "false", "0", "no", ""):
            raise Refused("22023", "discreet.intervals must be on or off.")
        return "on" if on else "off"
    if own in NUMBERS:
        for number in form_numbers({own: value}, [own]).values():
            if own in PRICES and not number > 0:
                raise Refused("22023", f"{name} must be > 0, got {number}.")
    if own == "within" and value:
        read_within(value)
    if own == "bounds" and value not in ("", "auto"):
        raise Refused("22023", "discreet.bounds must be auto or empty. Declare other bounds in the policy.")
    return value


def read_set(statement: Statement) -> tuple[str, str | None, bool]:
    """Return the name and the value of a SET, None for its default, and whether it is for the transaction."""
    tokens = list(statement.tokens[1:])
    local = bool(tokens) and tokens[0].upper == "LOCAL"
    if tokens and tokens[0].upper in ("LOCAL", "SESSION"):
        del tokens[0]
    upper = [each.upper for each in tokens]
    if "TRANSACTION" in upper[:3] or upper[:1] == ["CHARACTERISTICS"]:
        return "transaction_isolation", None, False
    if upper[:2] == ["TIME", "ZONE"]:
        return "timezone", _value(tokens[2:]), local
    if upper[:1] == ["NAMES"]:
        return "client_encoding", _value(tokens[1:]), local
    place = next((n for n, each in enumerate(tokens) if each.text == "=" or each.upper == "TO"), 0)
    if not place or place + 1 >= len(tokens):
        raise Refused("42601", "Write SET name = value.")
    return "".join(each.text for each in tokens[:place]), _value(tokens[place + 1 :]), local


def _value(tokens: Sequence[Token]) -> str | None:
    if len(tokens) == 1 and tokens[0].upper in ("DEFAULT", "LOCAL"):
        return None
    return "".join(f"{each.text} " if each.text == "," else each.text for each in tokens)


def name_of(statement: Statement) -> str:
    """Return the name that SHOW, RESET, SAVEPOINT, ROLLBACK TO or RELEASE carries."""
    skipped = ("SAVEPOINT", "TRANSACTION", "WORK", "TO", "SESSION")
    left = [each for each in statement.tokens[1:] if each.upper not in skipped]
    if [each.upper for each in left[:2]] == ["TIME", "ZONE"]:
        return "timezone"
    if [each.upper for each in left[:2]] == ["ISOLATION", "LEVEL"]:
        return "transaction_isolation"
    return "".join(each.text if each.quoted else each.text.lower() for each in left)


def startup_settings(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a start-up message: its own names, and those in `options` (-c name=value)."""
    found = {name: value for name, value in parameters.items() if name != "options" and name[:4] != "_pq_"}
    words = parameters.get("options", "").replace("\\ ", "\0").split()
    for before, word in zip(["", *words], words, strict=False):
        text = word if before == "-c" else word[2:] if word.startswith(("-c", "--")) and len(word) > 2 else ""
        name, sign, value = text.partition("=")
        if sign:
            found[name.replace("-", "_") if word.startswith("--") else name] = value.replace("\0", " ")
    return found
