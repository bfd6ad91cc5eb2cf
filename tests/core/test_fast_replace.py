"""Copies of values with other fields are what `dataclasses.replace` gives."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import pytest

from headroom.core.fast_dataclass import replace
from headroom.core.hold_state.memory import NOTHING
from headroom.core.hold_state.view import HoldView
from headroom.core.objects import Condition
from tests.builders import hold, pod


@dataclass(frozen=True, slots=True)
class Counted:
    name: str
    also: int = 0
    made: int = field(default=0, init=False)


@dataclass
class Loose:
    name: str
    also: int = 0


@pytest.mark.parametrize(
    ("value", "changes"),
    [
        (pod("p"), {"node": "n", "phase": "Running"}),
        (hold("h"), {"version": "7"}),
        (HoldView(hold("h")), {"node": "n", "expects_owner": True}),
        (NOTHING, {"node": "n"}),
        (NOTHING, {}),
        (Counted("c"), {"also": 2}),
        (Loose("l"), {"also": 2}),
    ],
)
def test_a_copy_is_equal_to_one_of_the_standard_library(value: Any, changes: Any) -> None:
    copied = replace(value, **changes)
    assert copied == dataclasses.replace(value, **changes)
    assert type(copied) is type(value)


def test_the_original_stays_as_it_was() -> None:
    before = pod("p")
    replace(before, node="n")
    assert before == pod("p")


def test_what_a_class_checks_when_it_is_made_is_checked() -> None:
    long = replace(Condition("Ready", "True", "Held"), message="x" * 100_000)
    assert long == Condition("Ready", "True", "Held", message="x" * 100_000)
    assert len(long.message) < 100_000


def test_a_field_that_does_not_exist_is_refused() -> None:
    wrong: Any = {"nodes": "n"}
    with pytest.raises(TypeError, match="nodes"):
        replace(pod("p"), **wrong)
