"""Latches: finished where somebody still waits, taken away where nobody does."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from headroom.core.actions import (
    Action,
    Bind,
    CreateGuardian,
    DeletePod,
    Denied,
    Gone,
    Invalid,
    MoveLatch,
    Nominate,
    Outcome,
    Unavailable,
    WriteHoldStatus,
)
from headroom.core.claims import claim_of
from headroom.core.names import SCHEDULER_NAME
from headroom.core.objects import Pod
from tests.builders import hold, node, pod
from tests.engine.play import Play


def owner(name: str = "owner", cpu: int = 2) -> Pod:
    return pod(name, cpu=cpu, labels={"app": "web"}, scheduler=SCHEDULER_NAME)


def lost(*kinds: type[Action]) -> Play:
    """A held hold whose owner comes while such actions are never answered."""
    play = Play(node("a", cpu=2), hold("h", cpu=2, memory=0))
    play.run()
    play.answer = lambda action: Unavailable("timed out") if isinstance(action, kinds) else None
    play.put(owner())
    play.round()
    play.answer = None
    return play


def test_a_handover_that_stopped_before_the_bind_is_finished() -> None:
    play = lost(Bind)
    assert play.ours("guardian") == []
    play.run()
    assert play.pod("owner").node == "a"
    assert play.hold("h").status.phase == "Succeeded"
    assert play.ours("latch") == []


def test_another_operator_finishes_from_what_it_sees() -> None:
    for kind in (Nominate, DeletePod, Bind):
        play = lost(kind)
        play.restart()
        play.run()
        assert play.pod("owner").node == "a", kind
        assert play.ours("latch") == [], kind
        assert play.hold("h").status.phase == "Succeeded", kind


def test_a_latch_whose_owner_is_gone_goes_and_the_hold_is_held_again() -> None:
    play = lost(Bind)
    play.toy.remove(play.pod("owner"))
    play.run()
    assert play.ours("latch") == []
    assert [each.node for each in play.ours("guardian")] == ["a"]
    assert play.hold("h").status.phase == "Available"


def test_a_hold_made_anew_owes_nothing_to_the_owner_of_the_old_one() -> None:
    """A latch named its hold by name alone, and gave away one that had promised nothing."""
    play = lost(Bind)
    old = play.hold("h")
    play.toy.remove(old)
    anew = hold("h", cpu=1, memory=0, owners="api")
    play.put(replace(anew, parent=replace(anew.parent, uid="another")))
    play.run()
    assert play.pod("owner").node == "a"
    assert claim_of(play.pod("owner")) is None
    assert play.hold("h").status.owners == ()


def test_an_owner_that_became_too_large_for_the_room_does_not_get_it() -> None:
    play = lost(Bind)
    play.put(pod("rival", cpu=1, node="a", phase="Running"))
    play.run()
    assert play.pod("owner").node == ""
    assert play.ours("latch") == []


def test_three_owners_on_free_room_for_two_do_not_block_each_other() -> None:
    play = Play(node("a", cpu=2))
    play.put(*(owner(f"p{number}", cpu=1) for number in range(3)))
    play.run(60)
    placed = [name for name in ("p0", "p1", "p2") if play.pod(name).node == "a"]
    assert len(placed) == 2
    assert play.ours("latch") == []


def test_a_latch_that_still_serves_its_own_pod_is_lent_to_nobody() -> None:
    """Its pod did not fit, so it waited for another use; then its pod fits after all."""
    play = Play(node("b", cpu=2), hold("h", cpu=2, memory=0))
    play.run()
    play.put(node("a", cpu=2), pod("late", cpu=2, scheduler=SCHEDULER_NAME))
    play.run(0.3, scheduling=False)
    (latch,) = play.ours("latch")
    rival = pod("rival", cpu=2, node="a", phase="Running")
    play.put(rival)
    play.run(1.1, scheduling=False)
    play.toy.remove(rival)
    play.put(owner(), replace(play.pod("late"), annotations={"any": "change"}))
    actions = [action for each in play.plan() for step in each.steps for action in step]
    bound = [action.key.name for action in actions if isinstance(action, Bind)]
    assert sorted(bound) == ["late", "owner"]
    assert [each for each in actions if isinstance(each, MoveLatch) and each.key == latch.key] == []


def shared(pods: int = 110) -> Play:
    """A hold of three CPUs for many, held on a node with so many places for pods."""
    play = Play(node("a", cpu=4, pods=pods), hold("h", cpu=3, memory=0, allocate_once=False))
    play.run()
    return play


def test_a_latch_stays_until_every_cycle_sees_the_guardian_that_was_bound_under_it() -> None:
    """It went half a second after the owner was bound; the guardian had come later (seed 20)."""
    play = shared()
    play.put(owner())
    play.run(0.3, scheduling=False)
    (rest,) = play.ours("guardian")
    play.toy.remove(rest)
    play.run(0.85, scheduling=False)
    assert [each.requests["cpu"] for each in play.ours("guardian")] == [1000]
    assert len(play.ours("latch")) == 1
    play.run(0.5, scheduling=False)
    assert play.ours("latch") == []


def test_a_guardian_does_not_go_while_the_latch_for_the_rest_of_its_hold_is_missing() -> None:
    """Where places are scarce there are two latches; one was gone, and its part bare (seed 67)."""
    play = shared(pods=4)
    play.put(owner(cpu=1))
    play.run(0.3, scheduling=False)
    keeps_rest = max(play.ours("latch"), key=lambda latch: latch.requests["cpu"])
    play.toy.remove(keeps_rest)
    for _ in range(40):
        play.run(0.1, scheduling=False)
        kept = [*play.ours("guardian"), *play.ours("latch")]
        used = play.pod("owner").requests["cpu"] if play.pod("owner").node else 0
        assert used + sum(each.requests["cpu"] for each in kept) >= 3000
    assert play.pod("owner").node == "a"


def test_a_hold_says_that_it_is_not_held_before_its_latch_goes() -> None:
    """The owner may not go to a cordoned node, and its hold said Available (seeds 1749, 2294)."""
    play = lost(Bind)
    (latch,) = play.ours("latch")
    play.put(node("a", cpu=2, unschedulable=True))
    play.done.clear()
    play.run(30)
    told = [
        each
        for each in play.done
        if isinstance(each, WriteHoldStatus)
        or (isinstance(each, DeletePod) and each.key == latch.key)
    ]
    phases = [each.status.phase if isinstance(each, WriteHoldStatus) else "gone" for each in told]
    assert phases[:2] == ["Pending", "gone"]


def test_a_status_that_is_refused_keeps_the_latch() -> None:
    play = lost(Bind)
    play.put(node("a", cpu=2, unschedulable=True))
    play.answer = lambda action: (
        Unavailable("timed out") if isinstance(action, WriteHoldStatus) else None
    )
    play.run(60)
    assert len(play.ours("latch")) == 1
    play.answer = None
    play.run(60)
    assert play.ours("latch") == []


def test_a_status_that_is_refused_for_good_does_not_keep_the_latch() -> None:
    """A latch stood for ever beside a hold of which the API server takes no status."""
    for outcome in (Denied("forbidden"), Invalid("too long"), Gone()):
        play = lost(Bind)
        play.put(node("a", cpu=2, unschedulable=True))
        play.answer = partial(refuse_statuses, outcome)
        play.run(60)
        assert play.ours("latch") == [], outcome


def test_a_status_that_nobody_answers_keeps_the_latch_for_a_bounded_time() -> None:
    play = lost(Bind)
    play.put(node("a", cpu=2, unschedulable=True))
    play.answer = partial(refuse_statuses, Unavailable("timed out"))
    play.run(180)
    assert play.ours("latch") == []
    play.answer = None
    play.run(300)
    assert play.hold("h").status.phase == "Pending"


def refuse_statuses(outcome: Outcome, action: Action) -> Outcome | None:
    return outcome if isinstance(action, WriteHoldStatus) else None


def test_a_hold_whose_owner_may_not_have_it_goes_elsewhere_and_the_owner_with_it() -> None:
    play = lost(Bind)
    play.put(node("a", cpu=2, unschedulable=True), node("b", cpu=2))
    play.run(30)
    assert play.pod("owner").node == "b"
    assert play.ours("latch") == []


def test_what_owners_return_while_a_latch_stands_is_held_again_soon() -> None:
    """The latch waits for a guardian of the hold, and the hold must not wait for its end."""
    for taken in (1, 2):  # With one, the latch keeps a part of the hold; with two, nothing.
        play = shared()
        play.put(owner("first", cpu=1))
        play.run()
        play.answer = lambda action: (
            Unavailable("timed out") if isinstance(action, CreateGuardian) else None
        )
        play.put(owner("next", cpu=taken))
        play.run(0.2, scheduling=False)
        assert play.pod("next").node == "a"
        play.answer = None
        play.toy.remove(play.pod("first"))
        play.run(10, scheduling=False)
        kept = [each.requests["cpu"] for each in play.ours("guardian")]
        assert (kept, play.ours("latch")) == ([3000 - 1000 * taken], [])


def test_a_latch_that_came_after_the_end_of_its_guardian_is_not_trusted_at_once() -> None:
    """kube-scheduler was giving the room to another pod, and a guardian was bound (seed 873)."""
    play = Play(node("a", cpu=2), hold("h", cpu=2, memory=0))
    play.run()
    (guardian,) = play.ours("guardian")

    def in_between(action: Action) -> Outcome | None:
        if isinstance(action, Nominate) and guardian.key in play.toy.pods:
            play.toy.remove(guardian)
        return None

    play.answer = in_between
    play.put(owner())
    play.round()
    assert len(play.ours("latch")) == 1
    play.toy.remove(play.pod("owner"))
    play.run(0.4, scheduling=False)
    assert play.ours("guardian") == []
    play.run(1, scheduling=False)
    assert [each.node for each in play.ours("guardian")] == ["a"]


def test_a_latch_that_took_over_from_its_guardian_is_trusted_at_once() -> None:
    play = lost(Bind)
    play.toy.remove(play.pod("owner"))
    play.run(0.1, scheduling=False)
    assert [each.node for each in play.ours("guardian")] == ["a"]
