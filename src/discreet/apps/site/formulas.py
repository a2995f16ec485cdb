"""Formulas as MathML, from the plain text in which the theory is written: w = ⌊τ·2ᴷ / max(n, τ)⌋.

Browsers set MathML without a script and screen readers speak it, and in the source a formula stays readable.
A fraction stands where there is a slash: between two factors, or between what is around it where it has
spaces; superscripts are ^ and ², subscripts _ and ₙ; words of several letters stay upright.

Tested by: tests/site/test_formulas.py
"""

import re
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

_UP = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱᴷᵈᵏˢᵀ", "0123456789+−niKdksT", strict=True))
_DOWN = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ₙᵢᵥⱼₖₘ", "0123456789+−nivjkm", strict=True))
_OPEN = {"(": ")", "[": "]", "{": "}", "⌊": "⌋", "⌈": "⌉"}
_LARGE = ("Σ", "∏", "∫", "sup", "max", "min", "inf")  # what stands under them in a formula of its own
_FUNCTIONS = (*_LARGE, "ln", "log", "exp", "Pr", "Var", "Bin", "Lap", "floor", "tanh", "sinh", "cosh")
_SPELLED = {"<=": "≤", ">=": "≥", "-": "−", "'": "′", "!=": "≠"}
_WIDE = "=<>≤≥≠~≈∝∈∣,;"
_TOKEN = re.compile(rf"""
    (?P<space>\s+) | (?P<tag>\*\*\([\w']+\)\*\*|\(\d\)(?=\s*$))
  | (?P<up>[{"".join(_UP)}]+) | (?P<down>[{"".join(_DOWN)}]+) | (?P<number>\d+(?:[.,]\d+)*)
  | (?P<name>(?:{"|".join(sorted(_FUNCTIONS, key=len, reverse=True))})(?![A-Za-z])) | (?P<word>[A-Za-z]{{2,}})
  | (?P<letter>[^\W\d_]) | (?P<sign><=|>=|!=|.)
""", re.VERBOSE)  # fmt: skip


class Token(NamedTuple):
    """A piece of a formula, and whether space was before it."""

    kind: str
    text: str
    apart: bool


def typeset(text: str) -> str:
    """Return lines of formulas as MathML, one block a line.

    >>> typeset("a/b").replace('<math display="block">', "")
    '<mrow><mfrac><mi>a</mi><mi>b</mi></mfrac></mrow></math>'
    """
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return "\n".join(f'<math display="block">{_Reader(line).row()}</math>' for line in lines)


class _Reader:
    """Reads one line from left to right."""

    def __init__(self, line: str) -> None:
        self._tokens, apart = list[Token](), False
        for found in _TOKEN.finditer(line):
            kind = str(found.lastgroup)
            if kind == "space":
                apart = True
                continue
            self._tokens.append(Token(_kind_of(kind, found[0]), found[0], apart))
            apart = False
        self._at = 0

    def row(self, until: str = "") -> str:
        """Return what stands before a closing bracket, or the end, as one row."""
        items: list[str] = []
        since = 0  # where the terms begin that a wide slash divides
        while (token := self._peek()) is not None and token.text != until:
            if token.text == "/" and items:
                self._take()
                first = since if token.apart else len(items) - 1
                above = items[first] if len(items) == first + 1 else _row(items[first:])
                items[first:] = [f"<mfrac>{_bare(above)}{_bare(self._factor())}</mfrac>"]
            elif token.kind == "sign":
                items.append(self._sign())
                since = since if token.text == "·" else len(items)
            elif token.kind == "word":
                items.append(self._words())
            else:
                items.append(self._factor())
        return _row(items)

    def _sign(self) -> str:
        text = self._take().text
        text = _SPELLED.get(text, text)
        return f"<mo>{escape(text)}</mo>" + ('<mspace width="0.4em"/>' if text == "," else "")

    def _words(self) -> str:
        """Return words of a sentence as text, with the spaces between them."""
        said = [self._take().text]
        while (token := self._peek()) is not None and token.kind == "word":
            said.append(self._take().text)
        return f"<mtext>&#160;{escape(' '.join(said))}&#160;</mtext>"

    def _factor(self) -> str:
        """Return an atom with its scripts, and the brackets that follow it at once."""
        token = self._take()
        large = token.text in _LARGE
        base = self._atom(token)
        base = self._scripts(base, under=large)
        while (
            (following := self._peek()) is not None and following.text in ("(", "[") and not following.apart
        ):
            if token.kind not in ("letter", "name", "number"):
                break
            base = f"<mrow>{base}{self._scripts(self._atom(self._take()), under=False)}</mrow>"
        if (
            large
            and (following := self._peek()) is not None
            and following.kind in ("name", "letter", "number")
        ):
            return f'<mrow>{base}<mspace width="0.2em"/></mrow>'
        return base

    def _atom(self, token: Token) -> str:
        if token.text in _OPEN:
            close = _OPEN[token.text]
            inside = self.row(close)
            if self._peek() is not None:
                self._take()
            return _fenced(token.text, inside, close)
        if token.text == "√":
            return f"<msqrt>{_bare(self._factor())}</msqrt>"
        if token.kind == "number":
            return f"<mn>{token.text}</mn>"
        if token.kind == "tag":
            return f'<mspace width="3em"/><mtext>{escape(token.text.strip("*"))}</mtext>'
        if token.kind == "name" or token.text in "Σ∏∫":
            kind = "mo" if token.text in "Σ∏∫" else "mi"
            return f"<{kind}>{token.text}</{kind}>"
        return f"<mi>{escape(token.text)}</mi>"

    def _scripts(self, base: str, *, under: bool) -> str:
        up, down = "", ""
        while (token := self._peek()) is not None:
            if token.kind == "up" and not token.apart:
                up += _small(self._take().text, _UP)
            elif token.kind == "down" and not token.apart:
                down += _small(self._take().text, _DOWN)
            elif token.text in "′'*″" and not token.apart and token.kind == "prime":
                up += f"<mo>{escape(_SPELLED.get(self._take().text, token.text))}</mo>"
            elif token.text in ("^", "_") and not token.apart:
                self._take()
                found = self._script()
                up, down = (up + found, down) if token.text == "^" else (up, down + found)
            else:
                break
        return _scripted(base, up, down, under=under)

    def _script(self) -> str:
        """Return what a ^ or _ raises or lowers: an atom, brackets without themselves, or |x|."""
        token = self._take()
        if token.text == "|":
            inside = self.row("|")
            self._take()
            return f"<mo>|</mo>{inside}<mo>|</mo>"
        if token.text in ("-", "−"):
            return f"<mo>−</mo>{self._script()}"
        if token.text not in _OPEN:
            return self._atom(token)
        inside = self.row(_OPEN[token.text])
        self._take()
        return inside

    def _peek(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self) -> Token:
        token = self._tokens[self._at] if self._at < len(self._tokens) else Token("letter", "", False)
        self._at += 1
        return token


def _kind_of(kind: str, text: str) -> str:
    if kind == "sign":
        return "bracket" if text in _OPEN or text == "√" else "prime" if text in "′'*″" else "sign"
    return kind


def _small(text: str, table: dict[str, str]) -> str:
    plain = "".join(table[letter] for letter in text)
    parts = re.findall(r"\d+|[^\d]", plain)
    return "".join(
        f"<mn>{part}</mn>" if part.isdigit() else f"<mo>{part}</mo>" if part in "+−" else f"<mi>{part}</mi>"
        for part in parts
    )


def _scripted(base: str, up: str, down: str, *, under: bool) -> str:
    ups, downs = (f"<mrow>{part}</mrow>" for part in (up, down))
    if up and down:
        name = "munderover" if under else "msubsup"
        return f"<{name}>{base}{downs}{ups}</{name}>"
    if down:
        return f"<munder>{base}{downs}</munder>" if under else f"<msub>{base}{downs}</msub>"
    return f"<msup>{base}{ups}</msup>" if up else base


def _row(items: Sequence[str]) -> str:
    return f"<mrow>{''.join(items)}</mrow>"


def _fenced(opening: str, inside: str, closing: str) -> str:
    """Return brackets around a row; they grow where a fraction or a large sign is inside."""
    grow = any(f"<{tall}>" in inside for tall in ("mfrac", "munder", "munderover", "msqrt"))
    ends = [f'<mo stretchy="{str(grow).lower()}">{escape(end)}</mo>' for end in (opening, closing)]
    return f"<mrow>{ends[0]}{inside}{ends[1]}</mrow>"


_BRACKETED = re.compile(r'<mrow><mo stretchy="\w+">\(</mo>(.*)<mo stretchy="\w+">\)</mo></mrow>')


def _bare(markup: str) -> str:
    """Return a bracketed row without its brackets: a fraction or a root shows what belongs together."""
    found = _BRACKETED.fullmatch(markup)
    if found is None:
        return markup
    inside, depth = found[1], 0
    for mark in re.findall(r'<mo stretchy="\w+">(.)</mo>', inside):  # (a)(b) is no single pair
        depth += 1 if mark == "(" else -1 if mark == ")" else 0
        if depth < 0:
            return markup
    return inside
