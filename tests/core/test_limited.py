"""Whether the limits of its namespace allow a hold a guardian, from frozen facts."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.hold_state.limited import beyond_limit, limited, permit_of
from headroom.core.hold_state.memory import HoldMemory, Permit
from headroom.core.hold_state.view import HoldView, Obstacles
from headroom.core.index_entries import By, Entry, usage_entries
from headroom.core.quotas.namespaces import Usage, parse_limits
from tests.builders import NOON, hold, pod, resources

ONE_SLOT = parse_limits("slots=1")
HOLD = hold("nightly", cpu=2)


def asked(view: HoldView, others: Usage) -> tuple[str, Permit | None]:
    permit = view.memory.permit
    return limited(view, lambda: beyond_limit(view.hold, permit, ONE_SLOT, others))


def test_a_hold_within_the_limits_gets_a_permit_and_asking_again_changes_nothing() -> None:
    why, permit = asked(HoldView(HOLD), Usage())
    assert (why, permit) == ("", permit_of(HOLD))
    again = HoldView(HOLD, memory=HoldMemory(permit=permit))
    assert asked(again, Usage()) == ("", permit)


def test_a_hold_beyond_the_limits_is_held_up_and_gets_none() -> None:
    why, permit = asked(HoldView(HOLD), Usage(slots=1))
    assert "slots=1, of which 1 are in use" in why
    assert permit is None
    assert Obstacles(limit=why, node_limit="no more nodes").limit_refusal == why


def test_who_has_a_permit_keeps_it_while_others_come() -> None:
    view = HoldView(HOLD, memory=HoldMemory(permit=permit_of(HOLD)))
    assert asked(view, Usage(slots=1)) == ("", permit_of(HOLD))


def test_another_shape_needs_another_permit() -> None:
    before = replace(permit_of(HOLD), shape="as before the template was changed")
    view = HoldView(HOLD, memory=HoldMemory(permit=before))
    why, permit = asked(view, Usage(slots=1))
    assert why
    assert permit == before


def test_a_hold_that_is_over_gives_its_permit_back() -> None:
    over = replace(HOLD, deleted=NOON)
    view = HoldView(over, memory=HoldMemory(permit=permit_of(HOLD)))
    assert asked(view, Usage()) == ("", None)


def test_a_hold_counts_once_with_the_largest_of_what_it_has_and_may_have() -> None:
    pods = (pod("old", cpu=3, memory=1), pod("new", cpu=1), pod("ended", cpu=9, phase="Failed"))
    counted = usage_entries(permit_of(HOLD), pods)
    room = resources(cpu=3, memory=HOLD.template.pod.requests["memory"])
    assert counted == (Entry(By.USING, "default", room),)
    assert usage_entries(None, ()) == ()
