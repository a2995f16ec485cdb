"""A column as its owner declares it: type, bounds, public keys, whether values may be missing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from discreet.errors import InvalidParameter
from discreet.tables.types import Bound, Type, Value, check_type, read_bound, read_value, spell, type_of

MOST_KEYS = 100_000


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a table; `bounds` and `keys` are promises of the owner, never read from the data.

    >>> Column.read("debt", bounds=(0, 10_000_000)).type
    'number'
    """

    name: str
    type: Type = "text"
    bounds: tuple[Bound, Bound] | None = None
    keys: tuple[Value, ...] | None = None
    nullable: bool = True
    missing: tuple[str, ...] = ()  # words that mean "no value" in a CSV file, beside the empty field
    declared: bool = True  # whether the owner named the type; otherwise a schema may still name it

    @classmethod
    def read(
        cls,
        name: str,
        *,
        type: object = None,  # noqa: A002  # the word of the policy file
        bounds: object = None,
        keys: object = None,
        nullable: object = True,
        missing: object = (),
    ) -> "Column":
        """A column from the words of a policy; what is not said of the type follows from bounds and keys."""
        where = f"column {name!r}"
        kind = check_type(type, name=f"type of {where}") if type is not None else _guess(bounds, keys)
        if not isinstance(nullable, bool):
            raise InvalidParameter(f"nullable of {where} must be true or false, got {nullable!r}.")
        return cls(
            name=name,
            type=kind,
            bounds=None if bounds is None else _read_bounds(bounds, kind, where),
            keys=None if keys is None else _read_keys(keys, kind, where),
            nullable=nullable,
            missing=_read_words(missing, where),
            declared=type is not None or keys is not None,
        )

    def with_schema_type(self, kind: Type) -> "Column":
        """The same promises on the type that the data's schema names, unless the owner named one."""
        if self.declared or kind == self.type:
            return self
        promises: dict[str, object] = {"bounds": self.bounds, "keys": self.keys}
        return Column.read(self.name, type=kind, nullable=self.nullable, missing=self.missing, **promises)

    def to_json(self) -> dict[str, object]:
        """All that matters of the column, exactly."""
        return {
            "type": self.type,
            "bounds": None if self.bounds is None else [spell(end) for end in self.bounds],
            "keys": None if self.keys is None else [spell(key) for key in self.keys],
            "nullable": self.nullable,
            "missing": list(self.missing),
        }


def read_columns(
    *,
    types: Mapping[str, object],
    bounds: Mapping[str, object],
    keys: Mapping[str, object],
) -> tuple[Column, ...]:
    """Columns from three mappings of promises by column name."""
    names = dict.fromkeys([*types, *bounds, *keys])
    return tuple(
        Column.read(name, type=types.get(name), bounds=bounds.get(name), keys=keys.get(name))
        for name in names
    )


def _guess(bounds: object, keys: object) -> Type:
    """Keys say their own type; bounds alone say a number (1.56 may be a debt though 0 and 100 are whole)."""
    if isinstance(keys, Iterable) and not isinstance(keys, str):
        kinds = {type_of(key) for key in keys}
        if kinds <= {"integer", "number"} and kinds:
            return "number" if "number" in kinds else "integer"
        return kinds.pop() or "text" if len(kinds) == 1 else "text"
    if isinstance(bounds, list | tuple) and bounds:
        kind = type_of(bounds[0])
        return kind if kind in ("date", "timestamp") else "number"
    return "text"


def _read_bounds(value: object, kind: Type, where: str) -> tuple[Bound, Bound]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InvalidParameter(f"bounds of {where} must be two ends (lower, upper), got {value!r}.")
    lower, upper = (read_bound(end, kind, name=f"a bound of {where}") for end in value)
    if not lower < upper:  # type: ignore[operator]  # both ends were read as the same type
        raise InvalidParameter(f"bounds of {where} must have lower < upper, got {value[0]} and {value[1]}.")
    return lower, upper


def _read_keys(value: object, kind: Type, where: str) -> tuple[Value, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidParameter(f"keys of {where} must be a list, got {value!r}.")
    keys = tuple(read_value(key, kind, name=f"a key of {where}") for key in value)
    if not 0 < len(keys) <= MOST_KEYS:
        raise InvalidParameter(f"keys of {where} must be 1 to {MOST_KEYS:,} values, got {len(keys):,}.")
    if len(set(keys)) != len(keys):
        raise InvalidParameter(f"keys of {where} must differ, got {_twice(keys)!r} twice.")
    return keys


def _twice(keys: tuple[Value, ...]) -> Value:
    return next(key for index, key in enumerate(keys) if key in keys[:index])


def _read_words(value: object, where: str) -> tuple[str, ...]:
    if isinstance(value, list | tuple) and all(isinstance(word, str) for word in value):
        return tuple(sorted(set(value)))
    raise InvalidParameter(f"missing of {where} must be a list of words, got {value!r}.")
