"""The two doors: nothing goes before what keeps its room stands."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.actions import (
    Action,
    Bind,
    CreateGuardian,
    CreateLatch,
    DeletePod,
    MoveLatch,
    Nominate,
    Ungate,
)
from headroom.core.claims import Offer
from headroom.core.handover import (
    Claim,
    bind_guardian,
    delete_unless_placed,
    finish_gate,
    grow,
    latch_free_room,
    shrink,
    through_gate,
    through_latch,
    ungate,
)
from headroom.core.latches import claims_text
from headroom.core.names import CLAIM_GATE
from headroom.core.objects import Pod
from headroom.core.plan import Sequence
from headroom.core.resources import EMPTY, Resources
from tests.builders import hold, pod, resources


def claim(name: str, cpu: int = 1, kept: Resources = EMPTY) -> Claim:
    """A pod `name` that gets the hold of the same name."""
    guardian = pod(f"guardian-of-{name}", cpu=2, node="a")
    return pod(name, cpu=cpu, gates=(CLAIM_GATE,)), Offer(hold(name, cpu=2), guardian, kept)


def kinds(sequence: Sequence) -> list[list[str]]:
    return [[type(action).__name__ for action in step] for step in sequence.steps]


def only(sequence: Sequence, kind: type[Action]) -> list[Action]:
    return [action for step in sequence.steps for action in step if isinstance(action, kind)]


def through(*claims: Claim, one_each: bool = False) -> Sequence:
    return through_latch(claims, "home", one_each)


def latch_of(sequence: Sequence) -> CreateLatch:
    (latch,) = only(sequence, CreateLatch)
    assert isinstance(latch, CreateLatch)
    return latch


def test_only_our_gate_is_removed_and_by_its_own_place() -> None:
    gated = pod("p", gates=("example.com/first", CLAIM_GATE))
    assert ungate(gated) == Ungate(gated.key, gated.uid, CLAIM_GATE, 1)


def test_through_the_gate_all_are_nominated_before_any_guardian_goes() -> None:
    assert kinds(through_gate([claim("p"), claim("q")], "home")) == [
        ["Nominate", "Nominate"],
        ["DeletePod", "DeletePod"],
        ["Ungate", "Ungate"],
    ]


def test_through_the_gate_what_stays_held_is_latched_first() -> None:
    sequence = through_gate([claim("p", kept=resources(cpu=1))], "home")
    assert kinds(sequence) == [["CreateLatch"], ["Nominate", "Nominate"], ["DeletePod"], ["Ungate"]]
    assert latch_of(sequence).requests == resources(cpu=1)
    assert latch_of(sequence).key.namespace == "home"


def test_the_claim_is_written_with_the_nomination() -> None:
    (nominate,) = only(through_gate([claim("p")], "home"), Nominate)
    assert isinstance(nominate, Nominate)
    assert (nominate.node, str(nominate.claimed)) == ("a", "Hold/default/p")


def test_through_the_latch_one_latch_stands_for_all() -> None:
    sequence = through(claim("p"), claim("q"))
    assert kinds(sequence) == [
        ["CreateLatch"],
        ["Nominate"],
        ["DeletePod", "DeletePod"],
        ["Bind", "Bind"],
    ]
    assert latch_of(sequence).requests == resources(cpu=4)


def test_where_places_are_scarce_each_pod_to_come_has_a_latch_of_its_own() -> None:
    sequence = through(claim("p"), claim("q", kept=resources(cpu=1)), one_each=True)
    assert kinds(sequence) == [
        ["CreateLatch"] * 3,
        ["Nominate"] * 3,
        ["DeletePod", "DeletePod"],
        ["Bind", "Bind", "CreateGuardian"],
    ]
    latches = [latch for latch in only(sequence, CreateLatch) if isinstance(latch, CreateLatch)]
    sizes = [latch.requests for latch in latches]
    assert sizes == [resources(cpu=2), resources(cpu=1), resources(cpu=1)]
    owners = [latch.claims[0][0] for latch in latches]
    assert owners == ["default/p/uid-of-p", "default/q/uid-of-q", "default/q/uid-of-q"]
    assert len({latch.key for latch in latches}) == 3


def test_through_the_latch_the_smaller_guardian_comes_bound_with_the_owner() -> None:
    sequence = through(claim("p", kept=resources(cpu=1)))
    assert kinds(sequence)[-1] == ["Bind", "CreateGuardian"]
    (smaller,) = only(sequence, CreateGuardian)
    assert isinstance(smaller, CreateGuardian)
    assert (smaller.bound, smaller.node, smaller.requests) == (True, "a", resources(cpu=1))


def test_owners_of_one_hold_replace_its_guardian_once() -> None:
    room = hold("h", cpu=4, allocate_once=False)
    guardian = pod("guardian-of-h", cpu=4, node="a")
    owners = [pod("p", cpu=1), pod("q", cpu=2)]
    sequence = through(*((owner, Offer(room, guardian, EMPTY)) for owner in owners))
    assert kinds(sequence)[2:] == [["DeletePod"], ["Bind", "Bind", "CreateGuardian"]]
    assert latch_of(sequence).requests == resources(cpu=4)
    (smaller,) = only(sequence, CreateGuardian)
    assert isinstance(smaller, CreateGuardian)
    assert smaller.requests == resources(cpu=1)
    assert len(set(sequence.subjects)) == len(sequence.subjects)


def test_a_spare_latch_is_moved_instead_of_made() -> None:
    spare = pod("spare", cpu=2, namespace="home")
    spares = {resources(cpu=2): [spare]}
    sequence = through_latch([claim("p")], "home", spares=lambda size: iter(spares[size]))
    assert kinds(sequence) == [["MoveLatch"], ["DeletePod"], ["Bind"]]
    (move,) = only(sequence, MoveLatch)
    assert isinstance(move, MoveLatch)
    assert (move.key, move.uid, move.node) == (spare.key, spare.uid, "a")


def test_a_spare_latch_is_moved_once() -> None:
    spare = pod("spare", cpu=1, namespace="home")
    claims = (claim("p", cpu=2), claim("q", cpu=2))
    alike = [(owner, replace(offer, kept=EMPTY)) for owner, offer in claims]
    sequence = through_latch(alike, "home", scarce=True, spares=lambda _: iter((spare,)))
    assert kinds(sequence)[:2] == [["CreateLatch"], ["Nominate", "MoveLatch"]]


def test_an_owner_larger_than_its_guardian_gets_a_latch_as_large_as_itself() -> None:
    sequence = through(claim("p", cpu=3))
    assert kinds(sequence) == [["CreateLatch"], ["Nominate"]]
    assert latch_of(sequence).requests == resources(cpu=3)


def test_a_latch_says_who_was_to_get_which_very_hold() -> None:
    text = claims_text(latch_of(through(claim("p"))).claims)
    assert text == "default/p/uid-of-p Hold/default/p uid-of-p"


def test_a_latch_on_free_room_names_no_hold() -> None:
    sequence = latch_free_room(pod("p", cpu=1), "a", "home")
    assert claims_text(latch_of(sequence).claims) == "default/p/uid-of-p"


def test_the_same_handover_tried_again_asks_for_the_same_name() -> None:
    one, two = claim("p"), claim("q")
    first = latch_of(through(one, two)).key
    assert latch_of(through(two, one)).key == first
    assert latch_of(through(one)).key != first


def test_everybody_concerned_is_left_alone_meanwhile() -> None:
    sequence = through(claim("p"))
    latch = latch_of(sequence)
    assert set(map(str, sequence.subjects)) == {
        "node a",
        f"pod {latch.key}",
        "pod default/p",
        "hold Hold/default/p",
    }


def test_a_half_done_gate_is_finished_guardians_first() -> None:
    owner: Pod = claim("p")[0]
    assert kinds(finish_gate([(owner, pod("g"))])) == [["DeletePod"], ["Ungate"]]
    assert kinds(finish_gate([(owner, None)])) == [["Ungate"]]


def test_a_guardian_shrinks_under_a_latch_of_its_own_size() -> None:
    guardian = pod("g", cpu=2, node="a")
    sequence = shrink(hold("h", cpu=2), guardian, resources(cpu=1), "home")
    assert kinds(sequence) == [["CreateLatch"], ["Nominate"], ["DeletePod"], ["CreateGuardian"]]
    assert latch_of(sequence).requests == guardian.requests


def test_a_guardian_does_not_grow_before_its_latch_has_stood() -> None:
    sequence = grow(hold("h", cpu=2), "a", resources(cpu=2), "home")
    assert kinds(sequence) == [["CreateLatch"], ["Nominate"]]


def test_a_guardian_is_put_back_bound() -> None:
    sequence = bind_guardian(hold("h"), "a", resources(cpu=1), pod("old"))
    assert kinds(sequence) == [["DeletePod"], ["CreateGuardian"]]
    assert not only(sequence, Bind)
    assert only(sequence, DeletePod) == [DeletePod(pod("old").key, "uid-of-old")]


def test_a_pod_of_ours_that_waits_is_deleted_only_as_it_was_seen() -> None:
    waits, placed = pod("waits", version="7"), pod("placed", version="7", node="a")
    gated = pod("gated", version="7", gates=("headroom.dev/latch",))
    assert [delete_unless_placed(each).version for each in (waits, placed, gated)] == ["7", "", ""]
