"""Quantities read and print as in Kubernetes; the tables agree with apimachinery 0.36.4."""

from __future__ import annotations

import pytest

from headroom.core.quantity import MAX_INT64, Format, QuantityError, milli_of, parse_quantity


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("1500m", "1500m"),
        ("1.5", "1500m"),
        (".5", "500m"),
        ("5.", "5."),
        ("0.500", "500m"),
        ("2000m", "2"),
        ("1000k", "1M"),
        ("100k", "100k"),
        ("1000000", "1M"),
        ("12e6", "12e6"),
        ("12E6", "12E6"),
        ("1e4", "10e3"),
        ("1e-1", "100e-3"),
        ("-1.5", "-1500m"),
        ("1Ki", "1Ki"),
        ("1024", "1024"),
        ("1024Ki", "1Mi"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("1000Ki", "1000Ki"),
        ("0.1Ki", "102400m"),
        ("16Gi", "16Gi"),
        ("1E", "1E"),
        ("1Ei", "1Ei"),
    ],
)
def test_a_quantity_is_printed_in_its_canonical_form(text: str, printed: str) -> None:
    assert str(parse_quantity(text)) == printed


@pytest.mark.parametrize("text", ["+5", "007", "1.500", "1.001k", "+1Ki", "1.Ki", "1e+3", "1e03"])
def test_kubernetes_repeats_a_text_it_takes_for_canonical(text: str) -> None:
    assert str(parse_quantity(text)) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("+5", "5"), ("1.500", "1500m"), ("+1Ki", "1Ki"), ("1e03", "1e3"), ("007", "7")],
)
def test_the_canonical_form_is_there_for_the_asking(text: str, canonical: str) -> None:
    assert parse_quantity(text).canonical() == canonical


@pytest.mark.parametrize("text", ["+", "-", ".", "Ki", "m", "e5", "-.", "000"])
def test_a_number_without_digits_is_zero_where_the_api_server_says_so(text: str) -> None:
    assert str(parse_quantity(text)) == "0"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "x",
        "1x",
        "1K",
        "1i",
        "1mi",
        "1 k",
        "1.2.3",
        "1..2",
        "--1",
        "+-1",
        "1e",
        "1e+",
        "1ee3",
        "1e3.5",
        "1+3",
        "1Zi",
        "0x10",
        "1_000",
        "1,5",
        "inf",
        "nan",
        "true",
        "1\n",
        "\t1",
        "١",
        "Ei",
        "-Pi",
        ".Ei",
        "e-10",
        "1e9223372036854775808",
    ],
)
def test_what_the_api_server_refuses_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(text)


def test_a_refusal_names_the_text_and_shows_how_it_is_done() -> None:
    with pytest.raises(QuantityError, match=r"'1,5' is not a quantity; write for example 500m"):
        parse_quantity("1,5")


def test_a_wrong_suffix_is_named() -> None:
    with pytest.raises(QuantityError, match="its suffix 'K' is not one of n u m k"):
        parse_quantity("16K")


def test_spaces_around_a_quantity_are_no_part_of_it() -> None:
    assert str(parse_quantity(" 5 ")) == "5"


def test_finer_than_a_billionth_is_rounded_up() -> None:
    assert str(parse_quantity("0.1n")) == "1n"
    assert str(parse_quantity("1.0000000001")) == "1000000001n"
    assert str(parse_quantity("1e-2000000000")) == "1e-9"
    assert str(parse_quantity("-0.1n")) == "-1n"


def test_binary_quantities_are_capped_at_the_largest_int64() -> None:
    assert str(parse_quantity("8Ei")) == str(MAX_INT64)
    assert str(parse_quantity("-100Ei")) == str(-MAX_INT64)


def test_decimal_quantities_are_not_capped() -> None:
    assert str(parse_quantity("10E")) == "10E"
    assert str(parse_quantity("1e30")) == "1e30"


def test_past_the_last_suffix_kubernetes_prints_none() -> None:
    assert str(parse_quantity("1000E")) == "1"


def test_a_huge_exponent_costs_nothing() -> None:
    quantity = parse_quantity("12345678901234567890e2000000000")
    assert quantity.value() == MAX_INT64
    assert str(quantity) == "1234567890123456789e2000000001"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("9" * 5000, MAX_INT64),
        ("9" * 5000 + "Ki", MAX_INT64),
        ("0" * 5000 + "3", 3),
        ("0." + "0" * 5000 + "1", 1),
        ("1" + "0" * 5000 + "e-5000", 1),
        ("2." + "0" * 5000 + "Ki", 2048),
    ],
)
def test_thousands_of_digits_are_read_by_their_size(text: str, whole: int) -> None:
    assert parse_quantity(text).value() == whole


@pytest.mark.parametrize("text", ["1" * 100_000 + "x", "0" * 100_000 + "x", "1e" + "9" * 100_000])
def test_a_long_text_that_is_no_quantity_is_refused_at_once(text: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_quantity(text)
    assert len(str(caught.value)) < 300


def test_the_format_is_remembered() -> None:
    assert parse_quantity("1Gi").format is Format.BINARY_SI
    assert parse_quantity("1G").format is Format.DECIMAL_SI
    assert parse_quantity("1e9").format is Format.DECIMAL_EXPONENT
    assert parse_quantity("0.0001Ki").format is Format.DECIMAL_SI


@pytest.mark.parametrize(
    ("text", "whole", "thousandths"),
    [
        ("0", 0, 0),
        ("1", 1, 1000),
        ("1m", 1, 1),
        ("1u", 1, 1),
        ("1500m", 2, 1500),
        ("1.0001", 2, 1001),
        ("-1500m", -2, -1500),
        ("1Ki", 1024, 1024000),
        ("0.1Ki", 103, 102400),
        ("1e3", 1000, 1000000),
        ("9223372036854775807", MAX_INT64, MAX_INT64),
        ("100E", MAX_INT64, MAX_INT64),
        ("-100E", -MAX_INT64, -MAX_INT64),
    ],
)
def test_amounts_are_rounded_up_and_never_overflow(text: str, whole: int, thousandths: int) -> None:
    quantity = parse_quantity(text)
    assert (quantity.value(), quantity.milli_value()) == (whole, thousandths)


@pytest.mark.parametrize("written", ["2", 2, 2.0, "2000m", "2e0"])
def test_a_quantity_of_a_manifest_is_a_text_or_a_number(written: object) -> None:
    assert milli_of(written) == 2000
