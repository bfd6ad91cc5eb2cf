"""The ledger after any history is the ledger that only ever saw the end of it."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headroom.core.derived_names import guardian_name
from headroom.core.holds import Hold
from headroom.core.names import (
    CLAIM_GATE,
    CLAIMED_ANNOTATION,
    CLAIMED_UID_ANNOTATION,
    CLAIMS_ANNOTATION,
    PARENT_ANNOTATION,
    ROLE_GUARDIAN,
    ROLE_LABEL,
    ROLE_LATCH,
    SCHEDULER_NAME,
)
from headroom.core.objects import Key, OwnerReference, Pod
from headroom.core.pod_memory import PodMemory
from headroom.core.policy import Policy
from headroom.engine.agenda import Agenda
from headroom.engine.assumptions import LIFETIME, Assumed, Assumptions
from headroom.engine.freeze import unsettled_on
from headroom.engine.latch_controller import latched
from headroom.engine.ledger import Ledger
from headroom.engine.observation.pods import lose_pod, see_pod
from headroom.ports import Event, Lost, Seen
from tests.builders import NOON, hold, node, pod
from tests.samples import examples

HOLDS = (hold("h", allocate_once=False), hold("i", owners="api"))
NODES = ("a", "b")
PLACES = st.sampled_from(("", "a", "b"))


def _claim(which: int) -> dict[str, str]:
    parent = HOLDS[which].parent
    return {CLAIMED_ANNOTATION: str(parent), CLAIMED_UID_ANNOTATION: parent.uid}


def _owner(name: str, where: str, nominated: str, claim: int, door: int) -> Pod:
    return pod(
        name,
        cpu=1,
        labels={"app": "web"},
        node=where,
        nominated="" if where else nominated,
        annotations=_claim(claim) if claim < len(HOLDS) else {},
        gates=(CLAIM_GATE,) if door == 1 and not where else (),
        scheduler=SCHEDULER_NAME if door == 2 else "default-scheduler",
    )


def _guardian(which: int, uid: str, where: str) -> Pod:
    parent = HOLDS[which].parent
    reference = OwnerReference(parent.api_version, parent.kind, parent.name, parent.uid, True)
    return pod(
        guardian_name(HOLDS[which]),
        cpu=1,
        uid=uid,
        labels={ROLE_LABEL: ROLE_GUARDIAN},
        annotations={PARENT_ANNOTATION: str(parent)},
        owners=(reference,),
        node=where,
    )


def _latch(nominated: str, owner: str, which: int) -> Pod:
    """A latch of ours; it names an owner only of the hold that is for such pods."""
    line = f"default/{owner}/uid-of-{owner} {HOLDS[0].parent} {HOLDS[0].parent.uid}"
    claims = {CLAIMS_ANNOTATION: line} if which == 0 else {}
    return pod(
        "latch",
        cpu=1,
        labels={ROLE_LABEL: ROLE_LATCH},
        annotations={PARENT_ANNOTATION: str(HOLDS[which].parent), **claims},
        nominated=nominated,
        gates=("headroom.dev/latch",),
    )


OWNERS = st.sampled_from(("p", "q"))
things = st.one_of(
    st.builds(_owner, OWNERS, PLACES, PLACES, st.integers(0, 2), st.integers(0, 2)),
    st.builds(_guardian, st.integers(0, 1), st.sampled_from(("g1", "g2")), PLACES),
    st.builds(_latch, PLACES, OWNERS, st.integers(0, 1)),
)
events = st.one_of(
    things.map(Seen),
    things.map(Seen),
    things.map(Lost),
    st.sampled_from(HOLDS).map(Seen),
    st.sampled_from(HOLDS).map(Lost),
)
histories = st.lists(events, max_size=25)


def replayed(history: list[Event]) -> Ledger:
    ledger = Ledger(Policy(), Agenda())
    for name in NODES:
        ledger.see_node(node(name))
    for event in history:
        match event:
            case Seen(Pod() as seen):
                see_pod(ledger, seen, NOON)
            case Seen(thing):
                ledger.see_hold(thing)  # type: ignore[arg-type]  # only pods and holds are drawn
            case Lost(Pod(key=key, uid=uid)):
                lose_pod(ledger, key, uid, NOON)
            case Lost(Hold(parent=parent)):
                ledger.lose_hold(str(parent))
            case _:
                raise AssertionError(event)
    return ledger


def facts(ledger: Ledger) -> dict[str, Any]:
    """Everything that decisions are made from, in an order of its own."""
    state = ledger.state
    return {
        "pods": dict(sorted(ledger.pods.items())),
        "holds": sorted(ledger.holds),
        "latches": sorted(ledger.latches),
        "waiting": sorted(ledger.waiting),
        "since": {key: _memory(ledger, key).since for key in sorted(ledger.waiting)},
        "guardians": {str(h.parent): _keys(ledger.guardians_of(h)) for h in HOLDS},
        "claimants": {str(h.parent): _keys(ledger.claimants_of(h)) for h in HOLDS},
        "kept by": {str(h.parent): _keys(ledger.latches_of(h)) for h in HOLDS},
        "expects_owner": {str(h.parent): ledger.expects_owner(h) for h in HOLDS},
        "latched": {key: latched(ledger, each) for key, each in sorted(ledger.pods.items())},
        "unsettled": {name: unsettled_on(ledger, name) for name in NODES},
        "nominated": {name: sorted(p.key for p in state.nominated_on(name)) for name in NODES},
        "bound": {
            name: sorted(p.key for p in state.pods_on_row(state.table.row_of[name]))
            for name in NODES
        },
    }


def _memory(ledger: Ledger, key: Key) -> PodMemory:
    return ledger.pod_memory[ledger.pods[key].uid]


def _keys(pods: tuple[Pod, ...]) -> list[Key]:
    return sorted(each.key for each in pods)


def rebuilt(ledger: Ledger) -> Ledger:
    seen: list[Event] = [Seen(each) for each in ledger.holds.values()]
    return replayed(seen + [Seen(each) for each in ledger.pods.values()])


@examples(150)
@given(histories)
def test_indexes_are_those_of_a_ledger_that_saw_only_the_end(history: list[Event]) -> None:
    ledger = replayed(history)
    assert facts(ledger) == facts(rebuilt(ledger))


@examples(60)
@given(histories)
def test_events_told_twice_change_nothing(history: list[Event]) -> None:
    twice = [event for event in history for _ in range(2)]
    assert facts(replayed(twice)) == facts(replayed(history))


@examples(60)
@given(histories, st.randoms(use_true_random=False))
def test_the_order_across_objects_is_no_matter(history: list[Event], random: Any) -> None:
    streams: dict[Any, list[Event]] = {}
    for event in history:
        streams.setdefault(_whose(event), []).append(event)
    shuffled: list[Event] = []
    while streams:
        whose = random.choice(sorted(streams, key=str))
        shuffled.append(streams[whose].pop(0))
        if not streams[whose]:
            del streams[whose]
    assert facts(replayed(shuffled)) == facts(replayed(history))


def _whose(event: Event) -> Key | str:
    match event:
        case Seen(Pod(key=key)) | Lost(Pod(key=key)):
            return key
        case Seen(thing) | Lost(thing):
            return str(getattr(thing, "parent", ""))
        case _:
            raise AssertionError(event)


@given(
    st.lists(
        st.tuples(st.sampled_from(("", "a", "b")), st.booleans(), st.integers(0, 4)), max_size=8
    )
)
def test_no_assumption_outlives_its_time(steps: list[tuple[str, bool, int]]) -> None:
    assumptions, now = Assumptions(), NOON
    seen = pod("p")
    for where, gone, seconds in steps:
        assumptions.note("uid-of-p", now, Assumed(now + LIFETIME, gone=gone, nominated=where))
        now += timedelta(seconds=seconds)
        assumptions.over(seen, now)
    assert assumptions.over(seen, now + LIFETIME) is seen


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_a_latch_makes_an_owner_known_in_whatever_order_they_are_seen(
    order: tuple[int, ...],
) -> None:
    """The rules have changed since the handover: nothing but the latch says who the owner is."""
    changed = hold("h", owners="api")
    seen: list[Event] = [Seen(changed), Seen(_latch("a", "p", 0)), Seen(_owner("p", "a", "", 0, 1))]
    ledger = replayed([seen[each] for each in order])
    assert _keys(ledger.claimants_of(changed)) == [Key("default", "p")]
