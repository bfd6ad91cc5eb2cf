"""Resource lists read by name, refused by name, and printed as is usual."""

from __future__ import annotations

import pytest

from headroom.core.amounts import (
    amount,
    format_amount,
    format_resources,
    parse_resources,
)
from headroom.core.quantity import QuantityError
from headroom.core.resources import Resources


def test_cpu_counts_in_thousandths_and_everything_else_in_units() -> None:
    assert amount("cpu", "1.5") == 1500
    assert amount("memory", "1.5Ki") == 1536
    assert amount("example.com/gpu", "2") == 2


def test_a_resource_list_may_hold_texts_and_numbers() -> None:
    found = parse_resources({"cpu": 0.5, "memory": "1Gi", "pods": 110})
    assert found == Resources({"cpu": 500, "memory": 2**30, "pods": 110})


def test_an_amount_of_zero_is_not_kept() -> None:
    assert "cpu" not in parse_resources({"cpu": "0", "memory": "1"})


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"cpu": "-1"}, r"cpu: -1 must be greater than or equal to 0"),
        ({"memory": "much"}, r"memory: 'much' is not a quantity"),
        ({"example.com/gpu": "0.5"}, r"example.com/gpu: 0.5 must be an integer"),
        ({"pods": "1.5"}, r"pods: 1.5 must be an integer"),
        ({"cpu": float("nan")}, r"cpu: 'nan' is not a quantity"),
        ({"cpu": True}, r"cpu: 'true' is not a quantity"),
    ],
)
def test_a_bad_amount_is_refused_by_name(texts: dict[str, str], message: str) -> None:
    with pytest.raises(QuantityError, match=message):
        parse_resources(texts)


@pytest.mark.parametrize(
    ("name", "units", "printed"),
    [
        ("cpu", 1500, "1500m"),
        ("cpu", 2000, "2"),
        ("cpu", 2_000_000, "2k"),
        ("memory", 2**30, "1Gi"),
        ("memory", 1_000_000_000, "1000000000"),
        ("memory", 500, "500"),
        ("ephemeral-storage", 3 * 2**20, "3Mi"),
        ("hugepages-2Mi", 2**21, "2Mi"),
        ("pods", 110, "110"),
        ("example.com/gpu", 8, "8"),
        ("cpu", 0, "0"),
    ],
)
def test_an_amount_is_printed_as_is_usual_for_its_resource(
    name: str, units: int, printed: str
) -> None:
    assert format_amount(name, units) == printed


def test_a_vector_is_printed_in_the_order_of_its_names() -> None:
    printed = format_resources(Resources({"memory": 2**30, "cpu": 500}))
    assert list(printed.items()) == [("cpu", "500m"), ("memory", "1Gi")]
