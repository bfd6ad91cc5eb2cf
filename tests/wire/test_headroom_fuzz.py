"""Whatever a Headroom says, reading it ends with a value, and its problems name a field."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headroom.wire.objects.headrooms import headroom_from
from headroom.wire.objects.workloads import workload_from
from tests.wire.headroom_cases import EVERYTHING, FROM, GOOD
from tests.wire.test_decode_fuzz import JSON, MANY, OBJECTS, places, put, trouble

SPECS = (
    EVERYTHING,
    {**EVERYTHING, "slot": {"from": FROM}, "size": {"percent": 5}},
    {**EVERYTHING, "size": {"perNode": {"percent": 5}}},
    {**EVERYTHING, "size": {"adaptive": {"startWithin": "2s", "ratio": 0.9}}},
)


@MANY
@given(st.sampled_from(SPECS), st.data(), JSON)
def test_a_headroom_with_anything_anywhere_in_its_spec_is_read(
    spec: dict[str, Any], data: st.DataObject, value: Any
) -> None:
    path = data.draw(st.sampled_from(places(spec)))
    made = headroom_from({**GOOD, "spec": put(spec, path, value)})
    assert all(problem.path.startswith("spec") and problem.message for problem in made.problems)


@MANY
@given(OBJECTS)
def test_any_object_read_as_a_headroom_or_workload_is_a_value_or_a_decode_error(
    thing: dict[str, Any],
) -> None:
    for read in (headroom_from, workload_from):
        error = trouble(read, thing)
        assert error is None or error.problem
