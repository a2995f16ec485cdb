"""Any outputs as columns: numbers where there are numbers, labels for everything that can only be equal or
not.

A label is a 64-bit code of a canonical text, the same in every run, so that an event chosen on some samples
means the same on others. Exceptions are outcomes like any other.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter

Column: TypeAlias = NDArray[Any]
Codes: TypeAlias = NDArray[np.uint64]

MOST_POSITIONS = 64  # numeric positions followed in one irregular output


@dataclass(frozen=True)
class Label:
    """A column of codes; `text(i)` says in words what row i holds."""

    codes: Codes
    text: Callable[[int], str]


@dataclass(frozen=True)
class Outcomes:
    """n outputs: `numbers` by position (float64 or int64, NaN where absent), `labels` by aspect."""

    size: int
    numbers: Mapping[str, Column]
    labels: Mapping[str, Label]
    cache: dict[str, Column] = field(default_factory=dict, repr=False, compare=False)

    def number(self, name: str) -> Column:
        """The column of a position; NaN throughout where these outputs have no such position."""
        found = self.numbers.get(name)
        return np.full(self.size, np.nan) if found is None else found

    def rows(self, start: int, stop: int) -> "Outcomes":
        """The outputs from `start` to `stop`."""
        window = slice(start, min(stop, self.size))
        labels = {name: _window(label, start, window) for name, label in self.labels.items()}
        numbers = {name: column[window] for name, column in self.numbers.items()}
        return Outcomes(window.stop - start, numbers, labels)


def _window(label: Label, start: int, window: slice) -> Label:
    return Label(label.codes[window], lambda row: label.text(row + start))


def read_outcomes(*samples: Any) -> list[Outcomes]:
    """The columns of several samples of outputs, read alike: each an array (first axis: outputs) or a list
    of objects.

    Where all outputs have one shape they are read as arrays, fast; where any differs, all of them object by
    object: a label must mean the same in every sample.

    >>> [sorted(outcomes.numbers) for outcomes in read_outcomes([(1, "a"), (2, "b")])]
    [['output[0]', 'the length of output', 'the length of output[1]']]
    """
    regular = [_as_regular(outputs) for outputs in samples]
    found = [pair for pair in regular if pair is not None]
    if len(found) == len(samples) and len({shape for _, shape in found}) == 1:
        return [_from_array(array, shape) for array, shape in found]
    return [_from_objects(list(outputs)) for outputs in samples]


def _as_regular(outputs: Any) -> tuple[Column, str] | None:
    """An array and the shape of one output, if all are numbers of one type, or rows of them."""
    if isinstance(outputs, np.ndarray):
        plain = outputs.dtype.kind in "biuf" and len(outputs)
        return (outputs, shape_of(outputs[0])) if plain else None
    kinds = set(map(type, outputs))
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if issubclass(kind, bool | int | float | np.number | np.bool_):
        array = np.array(outputs)
        return (array, kind.__name__) if array.dtype.kind in "biuf" else None
    return _as_rows(outputs) if kind in (tuple, list) else None


def _as_rows(outputs: Sequence[Any]) -> tuple[Column, str] | None:
    if len(set(map(len, outputs))) != 1 or not outputs[0]:
        return None
    types = [set(map(type, position)) for position in zip(*outputs, strict=True)]
    if not all(len(found) == 1 and found <= {bool, int, float} for found in types):
        return None
    array = np.array(outputs, dtype=None if len(set.union(*types)) == 1 else np.float64)
    return (array, shape_of(outputs[0])) if array.dtype.kind in "biuf" else None


def _from_array(array: Column, shape: str) -> Outcomes:
    size = len(array)
    flat = array.reshape(size, -1)
    flat = flat.astype(np.float64 if flat.dtype.kind == "f" else np.int64, copy=False)
    single = array.ndim == 1
    numbers = {"output" if single else f"output[{i}]": flat[:, i] for i in range(flat.shape[1])}
    whole = Label(_mix(flat), lambda row: str(array[row].tolist()))
    return Outcomes(size, numbers, {"the whole output": whole, "the shape": _constant(shape, size)})


def _mix(flat: Column) -> Codes:
    """One code per row: its bits, mixed. Scalars never collide, rows with probability about 2^-64."""
    bits = np.ascontiguousarray(flat).view(np.uint64)
    code = np.zeros(len(bits), dtype=np.uint64)
    for column in bits.T:
        code = (code ^ column) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
    return code


def code_of(text: str) -> int:
    """The 64-bit code of a text, the same in every run."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _constant(text: str, size: int) -> Label:
    return Label(np.full(size, code_of(text), dtype=np.uint64), lambda row: text)


def _from_objects(values: Sequence[Any]) -> Outcomes:
    """Irregular outputs: each distinct one is read once."""
    try:
        texts = [canonical(value) for value in values]
    except RecursionError:
        raise InvalidParameter("target must return outputs that do not contain themselves.") from None
    first: dict[str, int] = {}
    which = np.array([first.setdefault(text, len(first)) for text in texts], dtype=np.int64)
    seen: dict[int, Any] = {}
    for index, value in zip(which.tolist(), values, strict=True):
        seen.setdefault(index, value)
    distinct = list(seen.values())
    leaves = [dict(_leaves(value, "output")) for value in distinct]
    names = list(dict.fromkeys(name for found in leaves for name in found))[:MOST_POSITIONS]
    numbers = {
        name: np.array([found.get(name, np.nan) for found in leaves], dtype=np.float64)[which]
        for name in names
    }
    aspects = {"the whole output": list(first), "the shape": [shape_of(value) for value in distinct]}
    aspects["the pattern"] = ["".join(map(_character_class, text)) for text in first]
    return Outcomes(len(values), numbers, {name: _label(said, which) for name, said in aspects.items()})


def _label(said: list[str], which: NDArray[np.int64]) -> Label:
    codes = np.array([code_of(text) for text in said], dtype=np.uint64)[which]
    return Label(codes, lambda row: said[which[row]])


def _character_class(character: str) -> str:
    return "9" if character.isdigit() else "a" if character.isalpha() else character


def canonical(value: Any) -> str:
    """A text that is equal for equal outputs: repr, with exceptions and arrays spelled out."""
    if isinstance(value, BaseException):
        return f"raises {type(value).__name__}: {value}"
    if isinstance(value, np.ndarray):
        return f"array {value.dtype} {value.tolist()!r}"
    return _spell(value, canonical, repr)


def shape_of(value: Any) -> str:
    """Type and structure, without the values: what may never depend on the data."""
    if isinstance(value, BaseException):
        return f"raises {type(value).__name__}"
    if isinstance(value, np.ndarray):
        return f"array of {value.dtype}, shape {value.shape}"
    return _spell(value, shape_of, lambda leaf: type(leaf).__name__)


def _spell(value: Any, inside: Callable[[Any], str], leaf: Callable[[Any], str]) -> str:
    """Collections in order, keys included, and objects by their fields; everything else by `leaf`."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {inside(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(inside, value))})"
    found = _fields(value)
    if found is not None:
        parts = ", ".join(f"{name}={inside(item)}" for name, item in found.items())
        return f"{type(value).__name__}({parts})"
    return leaf(value)


def _fields(value: Any) -> Mapping[str, Any] | None:
    """The fields of an object whose words may hide them: a data class, or one described by its address."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    described: Any = type(value).__repr__
    if described is object.__repr__:
        return dict(getattr(value, "__dict__", {}))
    return None


def _leaves(value: Any, path: str) -> Iterable[tuple[str, float]]:
    """The numbers inside an output, with the length of every text and collection."""
    if isinstance(value, complex | np.complexfloating):
        yield from ((f"{path}.real", float(value.real)), (f"{path}.imag", float(value.imag)))
    elif isinstance(value, bool | int | float | np.number | np.bool_):
        yield path, _as_float(value)
    elif isinstance(value, str | bytes):
        yield f"the length of {path}", float(len(value))
    elif (items := _items(value)) is not None:
        if isinstance(value, Sized):
            yield f"the length of {path}", float(len(value))
        for step, item in items:
            yield from _leaves(item, f"{path}{step}")


def _items(value: Any) -> Iterable[tuple[str, Any]] | None:
    """What stands inside a collection or an object, and how it is reached."""
    if isinstance(value, Mapping):
        return ((f"[{key!r}]", item) for key, item in value.items())
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
        return ((f"[{place}]", item) for place, item in enumerate(value))
    if isinstance(value, set | frozenset):
        return ((f"[{item!r}]", 1) for item in value)
    found = _fields(value)
    return None if found is None else ((f".{name}", item) for name, item in found.items())


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
