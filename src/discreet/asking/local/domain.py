"""The public values that an answer may have, and the place of each answer among them."""

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.kernel.mechanisms.inputs import Labels, check_values
from discreet.kernel.numerics import Real, exact_whole

MOST_VALUES = 1 << 24


@dataclass(frozen=True)
class Domain:
    """Listed values, the whole numbers below `size`, or with a seed any text, hashed to one of `size` places.

    The seed is public and chosen by the collector for all: a client that chose its own hash could tell its
    value by the choice.

    >>> Domain.of(values=["tea", "coffee"]).places(["coffee"]).tolist()
    [1]
    >>> Domain.of(domain=1000, seed="june").places(["tea"]).tolist()
    [367]
    """

    size: int
    values: tuple[Hashable, ...] | range
    seed: str | None = None

    @classmethod
    def of(
        cls,
        *,
        values: Sequence[Hashable] | None = None,
        domain: Real | None = None,
        seed: str | None = None,
    ) -> "Domain":
        """Return the domain of these parameters, of which exactly one of values and domain is given."""
        if (values is None) == (domain is None):
            raise InvalidParameter("exactly one of values and domain must be given.", parameter="values")
        if values is not None:
            if seed is not None:
                raise InvalidParameter("seed must be given with domain, not with values.", parameter="seed")
            listed = check_values(values)
            if not all(isinstance(value, str | int | bool) for value in listed):
                raise InvalidParameter(
                    "values must be text or whole numbers, so that reports are JSON.", parameter="values"
                )
            size, known = len(listed), listed
        else:
            size = exact_whole(domain or 0, name="domain", least=2)
            known = range(size)  # type: ignore[assignment]
        if size > MOST_VALUES:
            raise InvalidParameter(
                f"domain must be at most {MOST_VALUES}, got {size}. Hash the values with a seed.",
                parameter="domain",
            )
        if seed is not None and not is_text(seed):
            raise InvalidParameter("seed must be text.", parameter="seed")
        return cls(size, known, seed)

    @cached_property
    def labels(self) -> Labels:
        """The listed values with their places."""
        return Labels(tuple(self.values))

    def places(self, given: Any) -> NDArray[np.int64]:
        """Return the place of each given value; what was not declared is refused without being quoted."""
        if self.seed is not None:
            return np.array([self._hash(text) for text in _as_list(given)], dtype=np.int64)
        if isinstance(self.values, range):
            return self._whole(given)
        return np.array(self.labels.places(_as_list(given)), dtype=np.int64)

    def named(self, reported: Any) -> NDArray[np.int64]:
        """Return the place of each value that reports name; where texts are hashed they name the place."""
        return self.places(reported) if self.seed is None else self._whole(reported)

    def _hash(self, text: Any) -> int:
        """The first 8 bytes of SHA-256(seed, 0, text), modulo the size."""
        if not is_text(text):
            raise InvalidParameter("value must be text where values are hashed.", parameter="value")
        digest = hashlib.sha256(f"{self.seed}\0{text}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % self.size

    def _whole(self, given: Any) -> NDArray[np.int64]:
        # A list of mixed types becomes an array of text or objects and is refused; True and 1.0 equal 1.
        try:
            array = np.asarray(given).reshape(-1)
        except (ValueError, OverflowError):  # lists of different lengths, or too deep
            array = np.array([None])
        if array.dtype.kind == "f" and array.size and not (array == np.floor(array)).all():
            array = np.array([None])
        if array.dtype.kind not in "biuf" or (
            array.size and not (array.min() >= 0 and array.max() < self.size)
        ):
            raise InvalidParameter("value must be one of the declared values.", parameter="value")
        return array.astype(np.int64)

    def table(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        """Return the values at these places, as an array."""
        if isinstance(self.values, range):
            return codes
        named: NDArray[Any] = self.labels.table(np.dtype(np.int64))[codes]
        return named

    def to_json(self) -> dict[str, Any]:
        """Return the fields that `from_json` reads."""
        if isinstance(self.values, tuple):
            return {"values": list(self.values)}
        return {"domain": self.size} | ({} if self.seed is None else {"seed": self.seed})

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "Domain":
        """Return the domain that was stored."""
        return cls.of(values=fields.get("values"), domain=fields.get("domain"), seed=fields.get("seed"))


def is_text(value: Any) -> bool:
    """Whether this is text that can be written as UTF-8: half of a surrogate pair cannot."""
    try:
        return isinstance(value, str) and bool(value.encode() or True)
    except UnicodeEncodeError:
        return False


def _as_list(given: Any) -> list[Any]:
    return list(given.reshape(-1).tolist()) if isinstance(given, np.ndarray) else list(given)
