"""What holds of every quantity, however it is written."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from headroom.core.amounts import amount, format_amount, format_resources, parse_resources
from headroom.core.quantity import QuantityError, parse_quantity
from headroom.core.resources import Resources
from tests.samples import examples

# Up to T only: larger ones reach the bounds of int64, which have tests of their own.
_POWERS = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    **{suffix: Fraction(1000) ** power for power, suffix in enumerate("kMGT", start=1)},
    **{f"{suffix}i": Fraction(1024) ** power for power, suffix in enumerate("KMGT", start=1)},
    **{f"e{power}": Fraction(10) ** power for power in range(-9, 10)},
}
_DIGITS = st.text("0123456789", min_size=1, max_size=6)
_NUMBERS = st.one_of(
    _DIGITS,
    st.builds("{}.{}".format, _DIGITS, st.text("0123456789", max_size=14)),
    st.builds(".{}".format, _DIGITS),
)
_SIGNS = st.sampled_from(["", "", "+", "-"])
_SUFFIXES = st.sampled_from(sorted(_POWERS))
_TEXTS = st.builds("{}{}{}".format, _SIGNS, _NUMBERS, _SUFFIXES)
_NAMES = st.sampled_from(["cpu", "memory", "ephemeral-storage", "pods", "example.com/gpu"])
_AMOUNTS = st.integers(min_value=0, max_value=2**53)


def exact(text: str) -> Fraction:
    """The number a text means, worked out the slow way and rounded up to billionths."""
    suffix = max((one for one in _POWERS if text.endswith(one)), key=len)
    number = Fraction(text.removesuffix(suffix).rstrip(".")) * _POWERS[suffix]
    scaled = abs(number) * 10**9
    rounded = Fraction(-(-scaled.numerator // scaled.denominator), 10**9)
    return -rounded if number < 0 else rounded


@given(_TEXTS)
@examples(150)
def test_a_quantity_is_exactly_the_number_that_was_written(text: str) -> None:
    quantity = parse_quantity(text)
    assert quantity.unscaled * Fraction(10) ** quantity.exponent == exact(text)


@given(_TEXTS)
@examples(150)
def test_printing_loses_nothing(text: str) -> None:
    quantity = parse_quantity(text)
    for printed in (str(quantity), quantity.canonical()):
        again = parse_quantity(printed)
        assert again.unscaled * Fraction(10) ** again.exponent == exact(text)


@given(_TEXTS)
@examples(150)
def test_printing_what_was_printed_changes_nothing(text: str) -> None:
    printed = str(parse_quantity(text))
    canonical = parse_quantity(text).canonical()
    assert str(parse_quantity(printed)) == printed
    assert parse_quantity(canonical).canonical() == canonical


@given(_TEXTS, _TEXTS)
@examples(150)
def test_a_larger_number_never_counts_less(one: str, other: str) -> None:
    smaller, larger = sorted((one, other), key=exact)
    assert parse_quantity(smaller).value() <= parse_quantity(larger).value()
    assert parse_quantity(smaller).milli_value() <= parse_quantity(larger).milli_value()


@given(_TEXTS)
@examples(150)
def test_rounding_goes_away_from_zero_by_less_than_one(text: str) -> None:
    number, value = abs(exact(text)), abs(parse_quantity(text).value())
    assert number <= value < number + 1


@given(st.text(max_size=8))
@examples(200)
def test_no_text_does_worse_than_to_be_refused(text: str) -> None:
    with suppress(QuantityError):
        parse_quantity(text)


@given(st.text("+-.0123456789eEinumkKMGTP", max_size=8))
@examples(300)
def test_any_text_of_the_right_letters_reads_back_or_is_refused(text: str) -> None:
    try:
        quantity = parse_quantity(text)
    except QuantityError:
        return
    assert str(parse_quantity(str(quantity))) == str(quantity)


@given(_NAMES, _AMOUNTS)
@examples(150)
def test_an_amount_reads_back_as_it_was_printed(name: str, units: int) -> None:
    assert amount(name, format_amount(name, units)) == units


@given(st.dictionaries(_NAMES, _AMOUNTS))
@examples(100)
def test_a_vector_reads_back_as_it_was_printed(amounts: dict[str, int]) -> None:
    vector = Resources(amounts)
    assert parse_resources(format_resources(vector)) == vector
