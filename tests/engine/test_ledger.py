"""The ledger: pods by role, whom an event touches, and what is known better than it is seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headroom.core.actions import (
    Bind,
    CreateGuardian,
    CreateLatch,
    DeletePod,
    Disclaim,
    Done,
    Nominate,
    Ungate,
)
from headroom.core.claims import claim_of
from headroom.core.derived_names import guardian_name
from headroom.core.holds import Hold
from headroom.core.names import (
    CLAIM_GATE,
    CLAIMED_ANNOTATION,
    CLAIMED_UID_ANNOTATION,
    ROLE_GUARDIAN,
    ROLE_LABEL,
    SCHEDULER_NAME,
)
from headroom.core.objects import Key, Pod
from headroom.core.policy import Policy
from headroom.core.subjects import ANY_ROOM, hold_subject
from headroom.engine.agenda import Agenda
from headroom.engine.assumptions import MOST_ENDED
from headroom.engine.effects import assume
from headroom.engine.ledger import Ledger
from headroom.engine.observation.pods import lose_pod, see_pod
from tests.builders import NOON, hold, node, pod, resources
from tests.subjects import subject

H = hold("h", cpu=2)
MADE = CreateGuardian(guardian_name(H), H, resources(cpu=2))
GUARDIAN = Key("default", MADE.name)


def ledger_with(*holds: Hold) -> Ledger:
    ledger = Ledger(Policy(), Agenda())
    for each in holds:
        ledger.see_hold(each)
    ledger.see_node(node("a"))
    ledger.agenda.take(NOON)
    return ledger


def guarded(uid: str = "g1") -> Ledger:
    ledger = ledger_with(H)
    assume(ledger, MADE, Done(uid), NOON)
    ledger.agenda.take(NOON)
    return ledger


def claiming(name: str, **parts: Any) -> Pod:
    claim = {CLAIMED_ANNOTATION: str(H.parent), CLAIMED_UID_ANNOTATION: H.parent.uid}
    return pod(name, cpu=1, labels={"app": "web"}, annotations=claim, **parts)


def test_a_guardian_that_we_made_is_known_before_it_is_seen() -> None:
    assert [each.uid for each in guarded().guardians_of(H)] == ["g1"]


def test_the_answer_to_a_creation_does_not_overwrite_what_the_watch_has_shown() -> None:
    ledger = guarded()
    seen = replace(ledger.pods[GUARDIAN], node="a", version="9")
    see_pod(ledger, seen, NOON)
    assume(ledger, MADE, Done("g1"), NOON)
    assert ledger.pods[GUARDIAN] == seen


def test_a_pod_that_was_gone_before_the_answer_does_not_come_back() -> None:
    ledger = guarded()
    lose_pod(ledger, GUARDIAN, "g1", NOON)
    assume(ledger, MADE, Done("g1"), NOON)
    assert ledger.guardian_of(H) is None


def test_only_so_many_ends_are_remembered() -> None:
    ledger = guarded("first")
    lose_pod(ledger, GUARDIAN, "first", NOON)
    for number in range(MOST_ENDED):
        assume(ledger, MADE, Done(f"g{number}"), NOON)
        lose_pod(ledger, GUARDIAN, f"g{number}", NOON)
    assume(ledger, MADE, Done("first"), NOON)
    assert ledger.guardian_of(H) is not None


def test_a_pod_that_only_says_it_is_a_guardian_is_none() -> None:
    ledger = ledger_with(H)
    liar = pod("liar", labels={ROLE_LABEL: ROLE_GUARDIAN}, node="a")
    see_pod(ledger, liar, NOON)
    assert ledger.guardians_of(H) == ()


def test_a_claim_with_another_uid_is_not_one_of_ours() -> None:
    ledger = ledger_with(H)
    stale = claiming("old")
    see_pod(
        ledger,
        replace(stale, annotations={**stale.annotations, CLAIMED_UID_ANNOTATION: "another"}),
        NOON,
    )
    assert ledger.claimants_of(H) == ()


def test_a_claim_taken_off_a_pod_touches_the_hold_that_it_was_on() -> None:
    """A hold believed to be promised was never looked at again."""
    ledger = ledger_with(H)
    see_pod(ledger, claiming("p"), NOON)
    ledger.agenda.take(NOON)
    see_pod(ledger, replace(claiming("p"), annotations={}), NOON)
    assert hold_subject(H.parent) in ledger.agenda.take(NOON)


def test_a_repeated_event_touches_nobody() -> None:
    ledger = ledger_with(H)
    see_pod(ledger, claiming("p"), NOON)
    ledger.agenda.take(NOON)
    see_pod(ledger, claiming("p"), NOON)
    assert ledger.agenda.take(NOON) == ()


def test_a_heartbeat_touches_nobody() -> None:
    ledger = ledger_with(H)
    ledger.agenda.wait(subject("pod default/p"), on=ANY_ROOM)
    ledger.see_node(replace(node("a"), version="2"))
    assert ledger.agenda.take(NOON) == ()


def test_room_that_is_freed_wakes_who_waits_for_room() -> None:
    ledger = ledger_with()
    ledger.agenda.wait(subject("pod default/p"), on=ANY_ROOM)
    see_pod(ledger, pod("other", cpu=1, node="a"), NOON)
    ledger.agenda.take(NOON)
    lose_pod(ledger, Key("default", "other"), "uid-of-other", NOON)
    assert ledger.agenda.take(NOON) == (subject("pod default/p"),)


def test_the_end_of_an_older_namesake_changes_nothing() -> None:
    ledger = ledger_with()
    see_pod(ledger, pod("p", uid="new"), NOON)
    lose_pod(ledger, Key("default", "p"), "old", NOON)
    assert ledger.pods[Key("default", "p")].uid == "new"


def test_each_pod_waits_at_its_own_door_or_at_none() -> None:
    ledger = ledger_with()
    assert ledger.door(pod("p", gates=(CLAIM_GATE,))) == 1
    assert ledger.door(pod("p", scheduler=SCHEDULER_NAME)) == 2
    assert ledger.door(pod("p", scheduler=SCHEDULER_NAME, gates=("example.com/x",))) == 0
    assert ledger.door(pod("p")) == 0
    assert ledger.door(pod("p", gates=(CLAIM_GATE,), node="a")) == 0
    assert ledger.door(pod("p", gates=(CLAIM_GATE,), deleted=NOON)) == 0


def test_a_hold_made_anew_is_another_hold() -> None:
    ledger = guarded()
    see_pod(ledger, claiming("p", node="a"), NOON)
    anew = replace(H, parent=replace(H.parent, uid="another"))
    ledger.see_hold(anew)
    assert ledger.guardians_of(anew) == ()
    assert ledger.claimants_of(anew) == ()


def test_every_write_counts_before_it_is_seen() -> None:
    ledger = ledger_with(H)
    see_pod(ledger, pod("p", cpu=1, labels={"app": "web"}, gates=(CLAIM_GATE,)), NOON)
    key = Key("default", "p")
    assume(ledger, Nominate(key, "uid-of-p", "a", H.parent), Done(), NOON)
    assert (ledger.pods[key].nominated, claim_of(ledger.pods[key])) == (
        "a",
        (str(H.parent), H.parent.uid),
    )
    assume(ledger, Ungate(key, "uid-of-p", CLAIM_GATE, 0), Done(), NOON)
    assert ledger.pods[key].gates == ()
    assume(ledger, Disclaim(key, "uid-of-p", nominated=True), Done(), NOON)
    assert (ledger.pods[key].nominated, claim_of(ledger.pods[key])) == ("", None)
    assume(ledger, Bind(key, "uid-of-p", "a", H.parent), Done(), NOON)
    assert ledger.pods[key].node == "a"
    assume(ledger, DeletePod(key, "uid-of-p"), Done(), NOON)
    see_pod(ledger, pod("p", cpu=1, node="a"), NOON)
    assert key not in ledger.pods


def test_a_latch_in_another_namespace_is_not_ours() -> None:
    ledger = ledger_with(H)
    assume(ledger, CreateLatch(Key("default", "l"), H.parent, resources(cpu=1), "a"), Done(), NOON)
    assume(ledger, CreateLatch(Key("other", "l"), H.parent, resources(cpu=1), "a"), Done(), NOON)
    assert list(ledger.latches) == [Key("default", "l")]
