"""`explain headroom/NAME`: what is wished for, what stands, what is missing and why, in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headroom.cli.views.answers import Explanation
from headroom.cli.views.headrooms import explain_headroom
from headroom.cli.views.prose import MOST_ROWS, prose
from headroom.cli.views.slots import State, slots_of
from headroom.core.demand.followers import PerVolume
from headroom.core.headrooms.headrooms import NODE_CHUNK, Headroom, HeadroomStatus, Limits, Window
from headroom.core.holds import PREEMPTIBLE, Problem
from headroom.core.names import (
    CLAIMED_ANNOTATION,
    CLAIMED_SLOT_ANNOTATION,
    CLAIMED_UID_ANNOTATION,
)
from headroom.core.objects import Condition
from headroom.core.policy import Policy
from headroom.core.promise.achieved import MissedShare
from headroom.core.promise.report import Price, PromiseStatus
from headroom.core.sizes.adaptive import Adaptive
from headroom.core.sizes.follow import Follow
from headroom.core.sizes.kind import Size
from headroom.core.sizes.per_node import PerNode
from headroom.core.sizes.percent import Percent
from headroom.core.sizes.replicas import Replicas
from headroom.core.sizes.utilization import Utilization
from tests.builders import NOON, node, pod, taint
from tests.cli.slot_builder import keeper, world
from tests.core.headroom_builder import headroom, web

OFFICE = Window("0 8 * * 1-5", timedelta(hours=10), "Europe/Zurich", timedelta(minutes=5))
NODES = (node("a"), node("b"), node("c"))


def told(of: Headroom, *things: object, about: str = "") -> Explanation:
    there = world(of, *things)  # type: ignore[arg-type]  # any mixture of things
    return explain_headroom(there, of, Policy(), about)


def fact(explanation: Explanation, topic: str) -> str:
    return "; ".join(each.text for each in explanation.facts if each.topic == topic)


def states(explanation: Explanation) -> list[tuple[str, str, str]]:
    return [(each.slot, each.state, each.node) for each in explanation.slots]


def test_a_headroom_with_all_its_slots_says_where_they_stand() -> None:
    of = headroom(Replicas(2))
    found = told(of, *NODES, keeper(of, "0", "a"), keeper(of, "1", "b"))
    assert found.summary == "headroom default/burst wants 2 slots and has 2."
    assert states(found) == [("0", "held", "a"), ("1", "held", "b")]
    assert fact(found, "size") == "2 slots"
    assert fact(found, "shape") == "cpu 1"
    assert found.next_step == ""


def test_a_slot_that_waits_is_told_in_its_schedulers_own_words() -> None:
    of = headroom(Replicas(2))
    said = "0/3 nodes are available: 3 Insufficient cpu."
    waits = keeper(of, "1", unschedulable_message=said)
    found = told(of, *NODES, keeper(of, "0", "a"), waits)
    assert "wants 2 slots and has 1: 1 waiting for room" in found.summary
    assert found.slots[1].why == said
    assert [each.room.node for each in found.nodes] == ["a", "b", "c"]


def test_a_slot_without_a_guardian_asks_whether_an_operator_runs() -> None:
    found = told(headroom(Replicas(1)), *NODES)
    assert states(found) == [("0", "missing", "")]
    assert "lease" in found.next_step


def test_a_guardian_that_is_refused_is_told_as_the_condition_has_it() -> None:
    refused = Condition("Degraded", "True", "GuardianRefused", "pods is forbidden: quota")
    of = headroom(Replicas(1), status=HeadroomStatus(conditions=(refused,)))
    assert told(of, *NODES).slots[0].why == "pods is forbidden: quota"


def test_a_slot_that_is_not_wished_for_any_more_is_said_to_leave() -> None:
    of = headroom(Replicas(1))
    found = told(of, *NODES, keeper(of, "0", "a"), keeper(of, "7", "b"))
    assert found.summary.endswith("has 1; 1 slot more to be given back.")
    assert states(found)[1] == ("7", "leaving", "b")


def test_an_owner_on_its_way_is_named() -> None:
    of = headroom(Replicas(1))
    claims = {CLAIMED_ANNOTATION: of.parent.whole, CLAIMED_SLOT_ANNOTATION: "0"}
    found = told(of, *NODES, keeper(of, "0", "a"), pod("web-1", annotations=claims))
    assert found.slots[0].state == "handover"
    assert "default/web-1" in found.slots[0].why


def test_every_node_hears_which_rule_keeps_it_out() -> None:
    of = headroom(PerNode())
    cordoned = node("b", unschedulable=True)
    tainted = node("c", taints=(taint("gpu", "yes"),))
    found = told(of, node("a"), cordoned, tainted, node("d", ready=False), keeper(of, "a", "a"))
    answers = {each.room.node: each.answer for each in found.nodes}
    assert answers["a"] == "held"
    assert answers["b"] == "is cordoned (spec.unschedulable)"
    assert answers["c"] == "has the taint gpu=yes:NoSchedule, which the slot does not tolerate"
    assert answers["d"] == "is not Ready"
    assert fact(found, "nodes") == (
        "3 of 4 nodes left out: 1 cordoned, 1 not Ready, "
        "1 with a taint that the slot does not tolerate"
    )


def test_one_node_can_be_asked_alone() -> None:
    of = headroom(PerNode())
    found = told(of, node("a"), node("b", unschedulable=True), about="b")
    assert found.summary == "headroom default/burst, node b: is cordoned (spec.unschedulable)."
    assert [each.room.node for each in found.nodes] == ["b"]
    held = told(headroom(Replicas(1)), *NODES, keeper(headroom(Replicas(1)), "0", "a"), about="a")
    assert held.summary == "headroom default/burst, node a: slot 0 held."


def test_a_limit_says_how_much_it_lets_through_and_who_goes_without() -> None:
    of = headroom(PerNode(), limits=Limits(nodes=2))
    found = told(of, *NODES, keeper(of, "a", "a"), keeper(of, "b", "b"))
    assert fact(found, "limit") == "spec.limits.nodes allows 2 of 3 slots"
    assert found.nodes[2].answer == "eligible, but no slot is wanted here"


def test_an_open_window_says_since_when_and_until_when() -> None:
    of = headroom(Replicas(3), schedule=(OFFICE,))
    found = told(of, *NODES)
    assert fact(found, "schedule") == (
        "0 8 * * 1-5 (Europe/Zurich) is open: since Mon 2027-01-04 07:55 (5h5m ago), "
        "until Mon 2027-01-04 18:00 (in 5h); "
        "next start Tue 2027-01-05 08:00 (in 19h), held 5m earlier"
    )


def test_outside_its_windows_a_headroom_is_off_until_the_next_start() -> None:
    of = headroom(Replicas(3), schedule=(replace(OFFICE, replicas=20),))
    found = explain_headroom(world(of, *NODES, now=NOON + timedelta(hours=8)), of, Policy())
    assert found.summary == ("headroom default/burst is off: no window of spec.schedule is open.")
    assert "is closed, for 20 slots; next start Tue 2027-01-05 08:00" in fact(found, "schedule")
    assert found.slots == ()


def test_a_window_that_can_never_open_promises_nothing_and_names_the_field() -> None:
    of = headroom(Replicas(3), schedule=(replace(OFFICE, time_zone="Europe/Zuerich"),))
    found = told(of, *NODES)
    assert "promises nothing: spec.schedule[0].timeZone" in found.summary
    assert "never opens" in fact(found, "schedule")
    assert found.next_step == "fix its spec"


def test_a_window_in_no_time_zone_does_not_keep_the_next_start_from_being_told() -> None:
    odd = replace(OFFICE, time_zone=".")
    found = told(headroom(Replicas(2), schedule=(odd, OFFICE)), *NODES)
    assert "never opens" in prose(found)
    assert fact(found, "next start")


def test_an_invalid_spec_is_told_with_its_field() -> None:
    of = headroom(Replicas(1), problems=(Problem("spec.owners", "is missing"),))
    assert told(of).summary == "headroom default/burst promises nothing: spec.owners: is missing."


def test_a_missing_workload_is_named_and_a_present_one_gives_the_size() -> None:
    of = headroom(Percent(20))
    assert "there is no Deployment/web in this namespace" in told(of, *NODES).summary
    found = told(of, *NODES, web(11))
    assert "wants 3 slots" in found.summary
    assert fact(found, "size") == "20 % of the 11 replicas of Deployment/web, rounded up"
    assert fact(found, "shape") == "like the pods of Deployment/web, cpu 1"


def test_a_slot_is_kept_while_it_is_not_known_what_is_wanted_and_says_why() -> None:
    missing = headroom(Percent(20))
    (slot,) = told(missing, *NODES, keeper(missing, "0", "a")).slots
    assert (slot.state, slot.node) == ("held", "a")
    assert slot.why == "kept for now: spec.slot.from: there is no Deployment/web in this namespace"


def test_paused_and_preemptible_are_said() -> None:
    of = headroom(Replicas(3), paused=True, mode=PREEMPTIBLE)
    found = told(of, *NODES, keeper(of, "0", "a"))
    assert found.summary == "headroom default/burst is paused and keeps the 1 slot that it has."
    assert "anything more important" in fact(found, "mode")


def test_a_part_of_each_node_says_so() -> None:
    found = told(headroom(PerNode(percent=10), cpu=None), node("a"), node("b", cpu=8))
    assert fact(found, "size") == "a slot of 10 % of each eligible node"
    assert "as each node has room" in fact(found, "shape")


def test_slots_as_large_as_a_node_are_told_in_pieces() -> None:
    of = headroom(Replicas(6))
    found = told(replace(of, slot=replace(of.slot, chunk=NODE_CHUNK)), *NODES)
    assert fact(found, "chunk").startswith("Node: held in 2 pieces")
    assert fact(found, "shape") == "cpu 4"


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (Utilization(850), "enough to keep requests under 85 % of what nodes have"),
        (Follow("example.com/gate"), "1 slot next to each pod that is gated by example.com/gate"),
        (
            Follow("x/y", PerVolume("s3.csi.aws.com")),
            "a slot for each volume of s3.csi.aws.com next to each pod that is gated by x/y",
        ),
        (
            Adaptive(timedelta(seconds=2), 0.99),
            "as much as lets 99 % of pods start within 2s",
        ),
    ],
)
def test_every_size_has_its_words(size: Size, words: str) -> None:
    assert size.words(headroom(), None) == words


def test_a_promise_is_told_with_what_decided_its_size_and_the_price_of_the_next_nine() -> None:
    within = timedelta(seconds=2)
    promise = PromiseStatus(
        0.99,
        within,
        last_hour=MissedShare(10, 1),
        last_day=MissedShare(200, 1),
        lead_time=timedelta(seconds=90),
        size=2,
        decided_by="Learnt",
        why="1.0 pods expected",
        next_nine=Price(0.999, 5, 3.5),
    )
    kept = Condition("PromiseKept", "True", "Kept", "199 of 200 owners")
    status = HeadroomStatus(promise=promise, conditions=(kept,))
    of = headroom(Adaptive(within, 0.99), status=status)
    found = told(of, *NODES)
    words = fact(found, "promise")
    assert "99 % of owners within 2 s; last hour 9 of 10 (90.00 %)" in words
    assert "week nobody" in words
    assert "kept (Kept): 199 of 200 owners" in words
    assert "needs 2 slots now (Learnt): 1.0 pods expected" in words
    assert "a slot takes 90 s to be held" in words
    assert "the next nine (99.9 %) would need 5 slots now and leave 3.5 unused" in words
    assert "wants 2 slots" in found.summary


def test_a_table_of_thousands_is_cut_for_people_only_and_begins_with_trouble() -> None:
    of = headroom(PerNode())
    names = [f"n{number:03}" for number in range(MOST_ROWS + 2)]
    found = told(of, *map(node, names), *(keeper(of, name, name) for name in names[:-1]))
    text = prose(found)
    assert text.splitlines()[-MOST_ROWS - 1].startswith(f"{names[-1]} ")
    assert text.count("… and 2 more: -o json has them all") == 1
    assert len(found.nodes) == MOST_ROWS + 2


def test_a_slot_whose_owner_is_on_its_way_is_handed_over_though_it_is_not_wished_for() -> None:
    """The operator gives it back only when its owner has another place."""
    made = headroom(Replicas(1))
    claim = {
        CLAIMED_ANNOTATION: made.parent.whole,
        CLAIMED_UID_ANNOTATION: made.parent.uid,
        CLAIMED_SLOT_ANNOTATION: "2",
    }
    there = world(
        node("a"),
        made,
        keeper(made, "0", on="a"),
        keeper(made, "1", on="a"),
        keeper(made, "2", on="a"),
        pod("owner", cpu=1, annotations=claim),
    )
    found = {view.name: view.state for view in slots_of(there, made)}
    assert found == {"0": State.HELD, "1": State.LEAVING, "2": State.HANDOVER}
