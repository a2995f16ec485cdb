"""What a visitor of the lab may set: sliders over listed values, and choices of a word."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from discreet.errors import InvalidParameter

Setting: TypeAlias = Fraction | int | str
_NUMBER = re.compile(r"[0-9]{1,10}(\.[0-9]{1,12})?(e-?[0-9]{1,2})?")


@dataclass(frozen=True, kw_only=True)
class Slider:
    """A number between the first and the last of its values; a whole one where all of them are."""

    name: str
    label: str
    symbol: str
    values: tuple[str, ...]
    start: str
    only: str = ""  # the word of a choice without which this slider says nothing

    @property
    def position(self) -> int:
        """Where the slider starts."""
        return self.values.index(self.start)

    def read(self, text: str) -> Fraction | int:
        """The number that a text spells, exactly.

        >>> Slider(name="epsilon", label="", symbol="ε", values=("0.1", "5"), start="5").read("0.3")
        Fraction(3, 10)
        """
        least, most = Fraction(self.values[0]), Fraction(self.values[-1])
        value = Fraction(Decimal(text)) if _NUMBER.fullmatch(text) else None
        if value is None or not least <= value <= most:
            raise InvalidParameter(
                f"{self.name} must be a number from {self.values[0]} to {self.values[-1]}.",
                parameter=self.name,
            )
        if not all(Fraction(each).denominator == 1 for each in self.values):
            return value
        if value.denominator != 1:
            raise InvalidParameter(f"{self.name} must be a whole number.", parameter=self.name)
        return int(value)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One of a few words."""

    name: str
    label: str
    values: tuple[str, ...]
    start: str

    def read(self, text: str) -> str:
        """The word, if it is one of them."""
        if text not in self.values:
            raise InvalidParameter(
                f"{self.name} must be one of {', '.join(self.values)}.", parameter=self.name
            )
        return text


Control: TypeAlias = Slider | Choice


def read_settings(controls: tuple[Control, ...], given: Mapping[str, str]) -> dict[str, Setting]:
    """What was set, and where each other control starts; a word that no control has is refused."""
    unknown = set(given) - {control.name for control in controls}
    if unknown:
        names = ", ".join(control.name for control in controls)
        raise InvalidParameter(f"a setting must be one of {names}.", parameter="settings")
    return {control.name: control.read(given.get(control.name, control.start)) for control in controls}
