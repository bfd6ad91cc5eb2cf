"""Parse Kubernetes quantities (`500m`, `1Gi`, `2e3`) exactly, and print them as Kubernetes does.

The rules are those of apimachinery's `resource.Quantity`, including its surprises: this module
accepts and refuses what the API server accepts and refuses, and `str()` gives the text that the API
server would answer. No floats are used. `amounts` converts quantities to whole numbers of named
resources and back. This module also parses plain counts in texts of others (`whole_number`): Python
refuses thousands of digits, and accepts the digits of every script.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

MAX_INT64 = 2**63 - 1
_NANO = -9
_MILLI = -3
_SHORT_DIGITS = 18  # as many decimal digits always fit into an int64
_MOST_DIGITS = 1000  # read exactly; of more, the first hundred say enough
_KEPT_DIGITS = 100
_LONGEST_SUFFIX = 25  # an exponent of an int64, with its sign
_LONGEST_SHOWN = 60
LONGEST_REMEMBERED = 64  # Longer texts are read anew each time: memory is not theirs to fill.

_DECIMAL_SUFFIXES = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_DECIMAL_NAMES = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_BINARY_NAMES = {power // 10: suffix for suffix, power in _BINARY_SUFFIXES.items()}

# Possessive: a text that is none must not be tried in every way it could be cut.
_PARTS = re.compile(r"([+-]?)0*+([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+[+-]?[0-9]*+)")
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)")


class QuantityError(ValueError):
    """A text that the API server would not take as a quantity."""


class Format(Enum):
    """Which family of suffixes a quantity was written in, and is printed in again."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


@dataclass(frozen=True, slots=True)
class Quantity:
    """The number `unscaled` × 10^`exponent`.

    `kept` is the text as it was written, where Kubernetes repeats it instead of the canonical form.
    """

    unscaled: int
    exponent: int = 0
    format: Format = Format.DECIMAL_SI
    kept: str = ""

    def __str__(self) -> str:
        return self.kept or self.canonical()

    def canonical(self) -> str:
        """Print without fraction and with the largest suffix that loses nothing."""
        if self.unscaled == 0:
            return "0"
        if self.format is Format.BINARY_SI and self._prints_binary():
            number, power = _without_factors(self.unscaled * 10**self.exponent, 1024)
            return f"{number}{_BINARY_NAMES.get(power, '')}"
        number, exponent = _without_factors(self.unscaled, 10)
        exponent += self.exponent
        number *= 10 ** (exponent % 3)
        exponent -= exponent % 3
        if self.format is Format.DECIMAL_EXPONENT:
            return f"{number}e{exponent}" if exponent else str(number)
        # Beyond E there is no suffix, and Kubernetes then prints none: 1000E becomes 1.
        return f"{number}{_DECIMAL_NAMES.get(exponent, '')}"

    def _prints_binary(self) -> bool:
        """Whether it is a whole number of at least 1024; any other is printed in decimals."""
        return self.exponent >= 0 and abs(self.unscaled) * 10**self.exponent >= 1024

    def value(self) -> int:
        """The number, rounded away from zero to a whole one, at most ±(2^63-1)."""
        return self._scaled(self.exponent)

    def milli_value(self) -> int:
        """The number of thousandths, rounded away from zero to a whole one, at most ±(2^63-1)."""
        return self._scaled(self.exponent - _MILLI)

    @property
    def huge(self) -> bool:
        """Whether so many thousandths are more than can be counted; then it is taken for whole."""
        return abs(self.milli_value()) == MAX_INT64

    def _scaled(self, exponent: int) -> int:
        # Saturating is our own: past 2^63-1 the API's numbers wrap around or turn to zero, and a
        # pod that asks for too much should fit nowhere rather than everywhere.
        if exponent < 0:
            scaled = _divided(self.unscaled, 10**-exponent)
        else:
            # A larger power overflows all the same, and might take for ever to work out.
            scaled = self.unscaled * 10 ** min(exponent, 20)
        return max(-MAX_INT64, min(MAX_INT64, scaled))


def parse_quantity(text: str) -> Quantity:
    """Read a quantity; QuantityError says what is wrong with it.

    Like the API server it takes a sign, point or suffix without digits (`+`, `.`, `Ki`) for zero
    where its fast path reads them, and not where its slow path does (`Ei`).
    """
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else _parsed(text)


def milli_of(written: object) -> int:
    """The thousandths of a quantity that a manifest has as a text or as a number."""
    return parse_quantity(str(written)).milli_value()


def _parsed(text: str) -> Quantity:
    text = text.strip(" ")
    parts = _PARTS.fullmatch(text) if text else None
    if parts is None:
        shown = text[:_LONGEST_SHOWN]
        raise QuantityError(f"{shown!r} is not a quantity; write for example 500m, 2, 1.5Gi or 1e3")
    sign, digits, fraction, suffix = parts.groups(default="")
    if len(suffix) > _LONGEST_SUFFIX:
        raise QuantityError(f"a quantity with a suffix of {len(suffix)} characters is none")
    if len(digits) + len(fraction) > _MOST_DIGITS:
        return _endless(sign, digits, fraction, suffix)
    power, quantity_format = _read_suffix(suffix, text)
    binary = quantity_format is Format.BINARY_SI
    digits = digits or "0"
    exponent = (0 if binary else power) - len(fraction)
    unscaled = int(f"{sign}{digits}{fraction}")
    if _is_short(len(digits), len(fraction), power, binary):
        kept = text if _is_kept(digits + fraction, exponent, binary) else ""
        return Quantity(unscaled << power if binary else unscaled, exponent, quantity_format, kept)
    if not any(character.isdigit() for character in text.removesuffix(suffix)):
        raise QuantityError(f"{text!r} is not a quantity: it has no digits")
    if binary:
        return _long_binary(unscaled << power, exponent)
    return Quantity(*_rounded_to_nano(unscaled, exponent), quantity_format)


_remembered = lru_cache(maxsize=8192)(_parsed)


def _endless(sign: str, digits: str, fraction: str, suffix: str) -> Quantity:
    """Read a number of thousands of digits, rounded up to its first hundred.

    The API server takes such texts, so a pod may carry one; it must not pass for a pod that cannot
    be read, and it must not take for ever.
    """
    power, quantity_format = _read_suffix(suffix, suffix)
    binary = quantity_format is Format.BINARY_SI
    written = (digits + fraction).lstrip("0")
    dropped = max(0, len(written) - _KEPT_DIGITS)
    unscaled = int(written[:_KEPT_DIGITS] or "0")
    if written[_KEPT_DIGITS:].strip("0"):
        unscaled += 1
    unscaled = -unscaled if sign == "-" else unscaled
    exponent = dropped - len(fraction) + (0 if binary else power)
    if not binary:
        return Quantity(*_rounded_to_nano(unscaled, exponent), quantity_format)
    if exponent > 0:
        unscaled, exponent = unscaled * 10 ** min(exponent, _KEPT_DIGITS), 0
    return _long_binary(unscaled << power, exponent)


def _read_suffix(suffix: str, text: str) -> tuple[int, Format]:
    """Give the power (of two for binary suffixes, else of ten) and the format."""
    if suffix in _DECIMAL_SUFFIXES:
        return _DECIMAL_SUFFIXES[suffix], Format.DECIMAL_SI
    if suffix in _BINARY_SUFFIXES:
        return _BINARY_SUFFIXES[suffix], Format.BINARY_SI
    written = _EXPONENT.fullmatch(suffix)
    power = int(written[1]) if written else None
    if power is None or not -MAX_INT64 - 1 <= power <= MAX_INT64:
        raise QuantityError(
            f"{text!r} is not a quantity: its suffix {suffix!r} is not one of n u m k M G T P E, "
            "Ki Mi Gi Ti Pi Ei, or an exponent such as e3"
        )
    # Kubernetes keeps the exponent in an int32 and lets it wrap around.
    return (power + 2**31) % 2**32 - 2**31, Format.DECIMAL_EXPONENT


def _is_short(digits: int, fraction: int, power: int, binary: bool) -> bool:
    """Whether Kubernetes reads such a number on its fast path, as an int64."""
    if binary:
        return fraction == 0 and digits + power * 3 // 10 < 15
    return digits + fraction <= _SHORT_DIGITS and power - fraction >= _NANO


def _is_kept(shifted: str, exponent: int, binary: bool) -> bool:
    """Whether Kubernetes takes the text of a short number for canonical, and so repeats it."""
    if binary:
        return int(shifted) % 8 != 0
    return exponent % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0"


def _long_binary(unscaled: int, exponent: int) -> Quantity:
    """Round up to billionths and cap at 2^63-1, as only binary quantities are."""
    unscaled, exponent = _rounded_to_nano(unscaled, exponent)
    limit = MAX_INT64 * 10**-exponent
    if abs(unscaled) > limit:
        unscaled, exponent = (-MAX_INT64 if unscaled < 0 else MAX_INT64), 0
    if 0 < abs(unscaled) < 10**-exponent:
        return Quantity(unscaled, exponent, Format.DECIMAL_SI)
    number, power = _without_factors(unscaled, 10) if exponent else (unscaled, 0)
    # What is whole must be seen to be whole: 1.50Ki is 1536.
    shift = min(power, -exponent)
    return Quantity(number * 10 ** (power - shift), exponent + shift, Format.BINARY_SI)


def _rounded_to_nano(unscaled: int, exponent: int) -> tuple[int, int]:
    if exponent >= _NANO or unscaled == 0:
        return unscaled, max(exponent, _NANO)
    surplus = _NANO - exponent
    # Past the last digit nothing but the rounding up is left.
    return _divided(unscaled, 10 ** min(surplus, len(str(unscaled)))), _NANO


def _divided(number: int, divisor: int) -> int:
    """Divide, rounding away from zero."""
    return -(-number // divisor) if number > 0 else number // divisor


def _without_factors(number: int, factor: int) -> tuple[int, int]:
    """Divide by `factor` as often as it goes; give what is left and how often."""
    times = 0
    while number and number % factor == 0:
        number //= factor
        times += 1
    return number, times


def whole_number(text: str, most: int) -> int | None:
    """Read a number from 0 to `most` in plain digits; None for anything else."""
    if not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0") or "0"
    if len(digits) > len(str(most)):
        return None
    number = int(digits)
    return number if number <= most else None


def shown(text: str, longest: int = 60) -> str:
    """A text as it is quoted in a message: cut where it is too long to be read."""
    return repr(text) if len(text) <= longest else f"{text[:longest]!r}…"
