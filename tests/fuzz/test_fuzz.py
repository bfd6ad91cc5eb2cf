"""A sample of what `make fuzz` runs a million of: no odd object breaks anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.__main__ import options_from
from tests.fuzz.basics import Json
from tests.fuzz.cases import DECODED, WAYS, odd_object, run_case
from tests.fuzz.routes import CATALOGUE, READ
from tests.fuzz.samples import OBJECTS
from tests.fuzz.wishes import HEADROOMS
from tests.fuzz.worlds import acceptable

UNDECODED = {"PriorityClass"}

FAST = {
    "read": 250,
    "review": 20,
    "manifest": 15,
    "decided": 25,
    "told": 5,
    "shown": 4,
    "scenario": 5,
}
SAMPLE = {
    "read": 6000,
    "review": 300,
    "manifest": 600,
    "decided": 800,
    "told": 150,
    "shown": 60,
    "scenario": 80,
    "lived": 80,
}


def findings(folder: Path, counts: dict[str, int], first: int) -> list[str]:
    """What goes wrong, each with the command that replays it."""
    found = []
    for route, count in counts.items():
        for case in range(first, first + count):
            _, kind, finding = run_case(case, folder, route)
            if finding is not None:
                again = f"make fuzz ARGS='--case {case} --route {route}'"
                found.append(f"{kind} {route}: {finding.problem}: {again}")
    return found


@pytest.mark.slow
def test_a_few_odd_objects_break_nothing(tmp_path: Path) -> None:
    assert findings(tmp_path, FAST, first=0) == []


@pytest.mark.e2e  # It needs no cluster, but its time.
@pytest.mark.parametrize("route", sorted(SAMPLE))
def test_no_odd_object_breaks_anything(tmp_path: Path, route: str) -> None:
    assert findings(tmp_path, {route: SAMPLE[route]}, first=10_000) == []


def test_make_fuzz_takes_every_route_where_none_is_named() -> None:
    assert (options_from([]).route, options_from([]).count) == ("", 1_000_000)
    assert options_from(["--route", "read,told"]).route == "read,told"
    with pytest.raises(SystemExit):
        options_from(["--route", "elsewhere"])


def test_the_same_case_is_the_same_object() -> None:
    for case in range(50):
        assert repr(odd_object(case)) == repr(odd_object(case))


@pytest.mark.slow
def test_every_kind_and_every_route_is_tried(tmp_path: Path) -> None:
    assert {way.name for way in WAYS} == set(SAMPLE)
    for route, kinds in (("read", DECODED), ("manifest", OBJECTS)):
        tried = {run_case(case, tmp_path, route)[1] for case in range(400)}
        assert tried == {each["kind"] for each in kinds}
    assert {each["kind"] for each in OBJECTS} - {each["kind"] for each in DECODED} <= UNDECODED


def test_every_kind_that_is_read_has_a_sample() -> None:
    """A kind without one is never made odd, and what breaks on it is found by others."""
    assert {kind for _, kind in READ} == {each["kind"] for each in DECODED}


def test_every_sort_of_size_and_of_slot_has_a_sample() -> None:
    """The same for the choices in a Headroom: each is a way of its own through the engine."""
    types = CATALOGUE.types
    specs = [each["spec"] for each in HEADROOMS]
    assert {name for spec in specs for name in spec["size"]} == set(types["HeadroomSize"])
    assert {name for spec in specs for name in spec["slot"]} == set(types["HeadroomSlot"])


def test_most_odd_objects_get_into_the_cluster() -> None:
    odd = [odd_object(case, "lived") for case in range(300)]
    taken = [each for each in odd if takes(each)]
    assert len(taken) > 0.6 * len(odd)


def takes(thing: Json) -> bool:
    try:
        return acceptable(thing) is not None
    except (TypeError, RecursionError):
        return False
